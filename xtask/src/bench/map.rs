//! `fslab map` against `e2fsck -fn` on the same image, in turns.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::Measure;
use crate::tool;
use crate::workspace::Workspace;

const FOLDERS: u32 = 100;
const FILES: u32 = 1000;
/// Runs of each; the fastest counts, as what disturbs a run only ever slows it.
const ROUNDS: u32 = 9;
/// What the design allows, MiB.
const MEMORY: f64 = 32.0;

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    let Some(e2fsck) = tool::find("e2fsck") else {
        bail!("e2fsck is not here; install e2fsprogs.")
    };
    let image = image(workspace)?;
    tool::run(
        workspace
            .cargo()
            .args(["build", "--release", "--package", "fslab-engine"]),
    )?;
    let fslab = workspace.target.join("release/fslab");
    let (mut ours, mut theirs, mut memory) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        theirs = theirs.min(timed(Command::new(&e2fsck).arg("-fn").arg(&image), &mut 0)?);
        ours = ours.min(timed(
            Command::new(&fslab).arg("map").arg(&image),
            &mut memory,
        )?);
    }
    let ms = |time: Duration| time.as_secs_f64() * 1000.0;
    let measure = |what: &str, value, unit, limit| Measure {
        what: what.into(),
        value,
        unit,
        limit,
    };
    Ok(vec![
        measure("e2fsck -fn, 100,000 files", ms(theirs), "ms", None),
        measure("fslab map, the same image", ms(ours), "ms", None),
        measure(
            "fslab map / e2fsck -fn",
            ms(ours) / ms(theirs),
            "times",
            Some(1.0),
        ),
        measure(
            "memory of fslab map",
            memory as f64 / 1024.0,
            "MiB",
            Some(MEMORY),
        ),
    ])
}

/// Wall time of a command; raises `peak` to the most memory it was seen to use, KiB.
fn timed(command: &mut Command, peak: &mut u64) -> Result<Duration> {
    let start = Instant::now();
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let status = Path::new("/proc")
        .join(child.id().to_string())
        .join("status");
    loop {
        if let Some(exit) = child.try_wait()? {
            let time = start.elapsed();
            if !exit.success() {
                bail!("{} ended with {exit}.", tool::describe(command));
            }
            return Ok(time);
        }
        // The kernel keeps the mark, so only what is used in the last instant is missed.
        *peak = high_water(&status).unwrap_or(0).max(*peak);
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn high_water(status: &Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A filesystem of 1 GiB with 100,000 files, made once.
fn image(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.scratch("bench")?;
    let image = folder.join("hundred-thousand-files.img");
    if image.exists() {
        return Ok(image);
    }
    let source = folder.join("source");
    for i in 0..FOLDERS {
        let inside = source.join(format!("folder-{i:03}"));
        fs::create_dir_all(&inside)?;
        for j in 0..FILES {
            // Lengths from one byte to two blocks.
            let len = 1 + (j * 37 + i) % 8000;
            fs::write(
                inside.join(format!("file-{j:04}")),
                vec![b'x'; len as usize],
            )?;
        }
    }
    let half = folder.join("half-made.img");
    fs::File::create(&half)?.set_len(1 << 30)?;
    let made = Command::new("mke2fs")
        .args(["-q", "-F", "-t", "ext4", "-N", "131072", "-d"])
        .arg(&source)
        .arg(&half)
        .status()
        .context("mke2fs did not start; install e2fsprogs.")?;
    fs::remove_dir_all(&source)?;
    if !made.success() {
        bail!("mke2fs ended with {made}.");
    }
    fs::rename(half, &image)?;
    Ok(image)
}
