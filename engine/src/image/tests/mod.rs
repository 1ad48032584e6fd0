//! Images made by the tools that people use; where a tool is absent, the test says so
//! on a line that starts with `skipped: `.

mod android;
mod expand;
mod hostile;
mod identify;
mod open;
mod partition;
mod qcow2;

use super::Medium;
use crate::disk::ReadAt;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

/// Runs a program; `None`, with a line that says so, where it does not exist.
fn run(program: &str, args: &[&str]) -> Option<std::process::Output> {
    run_in(program, args, b"")
}

/// Like `run`, with `input` on its standard input.
fn run_in(program: &str, args: &[&str], input: &[u8]) -> Option<std::process::Output> {
    let path = std::env::var("PATH").unwrap_or_default() + ":/usr/sbin:/sbin";
    let child = Command::new(program)
        .args(args)
        .env("PATH", &path)
        .env("LC_ALL", "C.UTF-8")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: {program} is not here");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let out = std::thread::scope(|s| {
        s.spawn(move || stdin.write_all(input));
        child.wait_with_output().unwrap()
    });
    assert!(
        out.status.success(),
        "{program} {args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    Some(out)
}

fn medium(bytes: Vec<u8>) -> Medium {
    Rc::new(bytes)
}

fn file(path: &Path) -> Medium {
    medium(std::fs::read(path).unwrap())
}

fn all(medium: &dyn ReadAt) -> Vec<u8> {
    let mut out = vec![0; medium.len() as usize];
    medium.read_at(0, &mut out).unwrap();
    out
}

/// A file of zeros.
fn blank(path: &Path, len: u64) {
    std::fs::File::create(path).unwrap().set_len(len).unwrap();
}

/// Content as disks have it: zeros, repetitions, noise. The same for the same seed.
fn mixed(len: usize, seed: u64) -> Vec<u8> {
    let mut x = seed | 1;
    let mut next = move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    let mut out = Vec::with_capacity(len);
    while out.len() < len {
        let n = (next() % 40_000) as usize + 1;
        match next() % 4 {
            0 | 1 => out.resize(out.len() + n * 4, 0),
            2 => out.extend(std::iter::repeat_n(next() as u8, n)),
            _ => out.extend((0..n / 8).flat_map(|_| next().to_le_bytes())),
        }
    }
    out.truncate(len);
    out
}

/// Reads pieces at odd places and compares them with the whole.
fn same_in_pieces(medium: &dyn ReadAt, want: &[u8]) {
    assert_eq!(medium.len(), want.len() as u64);
    let mut at = 0;
    let mut n = 1;
    while at < want.len() {
        let len = n.min(want.len() - at);
        let mut got = vec![0xa5; len];
        medium.read_at(at as u64, &mut got).unwrap();
        assert!(got == want[at..at + len], "bytes {at} to {}", at + len);
        at += len / 2 + 1;
        n = n * 3 % 100_003 + 1;
    }
    // No hole holds anything.
    let mut at = 0;
    while at < medium.len() {
        let next = medium.next_data(at).min(medium.len());
        assert!(next >= at);
        assert!(want[at as usize..next as usize].iter().all(|&b| b == 0));
        at = next.max(at) + 10_007;
    }
}
