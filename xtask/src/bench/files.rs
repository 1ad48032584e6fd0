//! The time that fslab's kernel takes for workloads of many files, against the real
//! kernel's ext4 on an image in memory.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::Measure;
use crate::tool;
use crate::workspace::Workspace;

/// Bytes of the filesystem.
const BYTES: u64 = 2 << 30;
/// Runs of each; the fastest counts.
const ROUNDS: u32 = 3;
/// How much longer than the real kernel we may take.
const LIMIT: f64 = 1.0;
/// Bytes of memory that a file may cost, its contents left out.
const MEMORY: f64 = 1024.0;

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    if !Path::new("/dev/loop-control").exists() || tool::find("mke2fs").is_none() {
        eprintln!("skipped: no loop devices or no mke2fs");
        return Ok(Vec::new());
    }
    tool::run(workspace.cargo().args([
        "build",
        "--release",
        "--package",
        "fslab-engine",
        "--example",
        "workloads",
    ]))?;
    let program = workspace.target.join("release/examples/workloads");
    let mut best: Vec<(String, f64, f64)> = Vec::new();
    for _ in 0..ROUNDS {
        let ours = lines(Command::new(&program).arg("fslab").arg(BYTES.to_string()))?;
        let theirs = on_the_real_one(workspace, &program)?;
        for (i, ((name, ours), (_, theirs))) in ours.into_iter().zip(theirs).enumerate() {
            match best.get_mut(i) {
                Some(b) => *b = (name, b.1.min(ours), b.2.min(theirs)),
                None => best.push((name, ours, theirs)),
            }
        }
    }
    let (what, bytes) = lines(Command::new(&program).arg("memory").arg(BYTES.to_string()))?
        .pop()
        .context("no memory was told")?;
    let memory = Measure {
        what,
        value: bytes,
        unit: "bytes",
        limit: Some(MEMORY),
    };
    let times = best.into_iter().map(|(name, ours, theirs)| Measure {
        what: format!("{name} ({:.0} ms to {:.0} ms)", ours / 1e6, theirs / 1e6),
        value: ours / theirs,
        unit: "times the real kernel",
        limit: Some(LIMIT),
    });
    Ok(times.chain([memory]).collect())
}

/// Runs the workloads on a loop mount of a fresh image in a tmpfs.
fn on_the_real_one(workspace: &Workspace, program: &Path) -> Result<Vec<(String, f64)>> {
    let scratch = workspace.scratch("bench/files")?;
    let (memory, mount) = (scratch.join("memory"), scratch.join("mount"));
    std::fs::create_dir_all(&memory)?;
    std::fs::create_dir_all(&mount)?;
    tool::run(
        Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=3g", "tmpfs"])
            .arg(&memory),
    )?;
    let done = (|| {
        let image = memory.join("image");
        std::fs::File::create(&image)?.set_len(BYTES)?;
        tool::run(
            Command::new("mke2fs")
                .args(["-q", "-F", "-t", "ext4"])
                .arg(&image),
        )?;
        tool::run(
            Command::new("mount")
                .args(["-o", "loop"])
                .arg(&image)
                .arg(&mount),
        )?;
        let times = lines(Command::new(program).arg("real").arg(&mount));
        tool::run(Command::new("umount").arg(&mount))?;
        times
    })();
    tool::run(Command::new("umount").arg(&memory))?;
    done
}

/// A name and a number of nanoseconds from each line.
fn lines(command: &mut Command) -> Result<Vec<(String, f64)>> {
    let output = command.output().with_context(|| tool::describe(command))?;
    if !output.status.success() {
        bail!(
            "{}: {}",
            tool::describe(command),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let text = String::from_utf8(output.stdout)?;
    let line = |line: &str| -> Result<(String, f64)> {
        let (name, time) = line.split_once('\t').context("a line without a time")?;
        Ok((name.to_string(), time.parse()?))
    };
    text.lines().map(line).collect()
}
