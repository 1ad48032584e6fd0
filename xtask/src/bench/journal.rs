//! Commits a second, and the recovery of a full journal of 128 MiB against
//! `e2fsck -E journal_only` on the same image (issue "The journal", Speed).

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use super::Measure;
use crate::tool;
use crate::workspace::Workspace;

/// Runs; the fastest counts.
const ROUNDS: u32 = 5;
/// How much longer than e2fsck a recovery may take.
const LIMIT: f64 = 1.0;
const BLOCK: usize = 4096;
/// Transactions in the log, and blocks of each: with descriptors, what 32,768 blocks hold.
const TRANSACTIONS: usize = 32;
const EACH: usize = 1000;
/// The first block that is written: past the log, and free.
const HOMES: usize = 200_000;

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    tool::run(workspace.cargo().args([
        "build",
        "--release",
        "--package",
        "fslab-engine",
        "--example",
        "journal",
    ]))?;
    let program = workspace.target.join("release/examples/journal");
    let mut all = vec![commits(&program)?];
    if tool::find("debugfs").is_none() || !Path::new("/dev/shm").exists() {
        eprintln!("skipped: no debugfs, or no /dev/shm for images in memory");
        return Ok(all);
    }
    let folder = Path::new("/dev/shm").join(format!("fslab-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = recovery(&program, &folder);
    std::fs::remove_dir_all(&folder)?;
    all.extend(measured?);
    Ok(all)
}

fn commits(program: &Path) -> Result<Measure> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let ns = tool::output(Command::new(program).arg("commits"))?;
        best = best.min(ns.trim().parse()?);
    }
    Ok(Measure {
        what: "commits (4 KiB appended, fsync)".into(),
        value: 1e9 / best,
        unit: "a second",
        limit: None,
    })
}

fn recovery(program: &Path, folder: &Path) -> Result<Vec<Measure>> {
    let image = full_journal(folder)?;
    let (mut ours, mut theirs, mut bytes) = (f64::INFINITY, f64::INFINITY, 0.0);
    for _ in 0..ROUNDS {
        let line = tool::output(Command::new(program).arg("recover").arg(&image))?;
        let (written, ns) = line.trim().split_once('\t').context("not two numbers")?;
        bytes = written.parse()?;
        ours = ours.min(ns.parse()?);
        theirs = theirs.min(by_e2fsck(&image, folder)?);
    }
    let speed = Measure {
        what: format!("recovery of {:.0} MB of copies", bytes / 1e6),
        value: bytes / 1e6 / (ours / 1e9),
        unit: "MB/s",
        limit: None,
    };
    let ratio = Measure {
        what: format!("full log ({:.0} ms to {:.0} ms)", ours / 1e6, theirs / 1e6),
        value: ours / theirs,
        unit: "times e2fsck -E journal_only",
        limit: Some(LIMIT),
    };
    Ok(vec![speed, ratio])
}

/// Nanoseconds that e2fsck takes for a copy.
fn by_e2fsck(image: &Path, folder: &Path) -> Result<f64> {
    let copy = folder.join("copy");
    std::fs::copy(image, &copy)?;
    let mut command = Command::new("e2fsck");
    command.args(["-y", "-E", "journal_only"]).arg(&copy);
    let begun = Instant::now();
    let output = command.output()?;
    let took = begun.elapsed().as_nanos() as f64;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() || !text.contains("recovering journal") {
        bail!("{}: {} {text}", tool::describe(&command), output.status);
    }
    Ok(took)
}

/// An image whose journal debugfs filled with transactions.
fn full_journal(folder: &Path) -> Result<PathBuf> {
    let image = folder.join("image");
    std::fs::File::create(&image)?.set_len(1 << 30)?;
    tool::run(
        Command::new("mke2fs")
            .args(["-q", "-F", "-t", "ext4", "-b", "4096", "-J", "size=128"])
            .arg(&image),
    )?;
    let mut script = String::from("jo -c\n");
    let mut state = 1;
    for t in 0..TRANSACTIONS {
        let contents = folder.join(format!("contents-{t}"));
        std::fs::write(&contents, noise(EACH * BLOCK, &mut state))?;
        let (first, last) = (HOMES + t * EACH, HOMES + (t + 1) * EACH - 1);
        writeln!(script, "jw -b {first}-{last} {}", contents.display())?;
    }
    script.push_str("jc\n");
    let commands = folder.join("commands");
    std::fs::write(&commands, script)?;
    tool::output(
        Command::new("debugfs")
            .args(["-w", "-f"])
            .arg(&commands)
            .arg(&image),
    )?;
    Ok(image)
}

/// Bytes of Marsaglia's xorshift64 (Journal of Statistical Software 8(14), 2003).
fn noise(len: usize, state: &mut u64) -> Vec<u8> {
    let mut next = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        state.to_le_bytes()
    };
    (0..len / 8).flat_map(|_| next()).collect()
}
