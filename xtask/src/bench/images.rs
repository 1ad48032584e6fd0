//! The time `fslab map` takes on each of e2fsprogs' own test images, most of them
//! damaged, against the time e2fsck takes.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use flate2::read::GzDecoder;

use super::Measure;
use crate::tool;
use crate::workspace::Workspace;

/// Runs of each; the fastest counts.
const ROUNDS: u32 = 9;
/// How much longer than e2fsck we may take.
const LIMIT: f64 = 2.0;

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    let Some(e2fsck) = tool::find("e2fsck") else {
        bail!("e2fsck is not here; install e2fsprogs.")
    };
    let shared = workspace.root.join("../shared/e2fsprogs/images");
    if !shared.is_dir() {
        eprintln!("skipped: {} is absent", shared.display());
        return Ok(Vec::new());
    }
    tool::run(
        workspace
            .cargo()
            .args(["build", "--release", "--package", "fslab-engine"]),
    )?;
    let fslab = workspace.target.join("release/fslab");
    let mut worst = (0.0, String::new());
    let (mut ours_all, mut theirs_all) = (Duration::ZERO, Duration::ZERO);
    for image in unpacked(&shared, &workspace.scratch("bench/images")?)? {
        // Some images make e2fsck ask without end.
        let theirs = fastest(
            Command::new("timeout")
                .args(["-k", "1", "10"])
                .arg(&e2fsck)
                .arg("-fn")
                .arg(&image),
        )?;
        let ours = fastest(Command::new(&fslab).arg("map").arg(&image))?;
        ours_all += ours;
        theirs_all += theirs;
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        if ratio > worst.0 {
            let name = image.file_name().unwrap_or_default().to_string_lossy();
            worst = (ratio, name.into_owned());
        }
    }
    let all = ours_all.as_secs_f64() / theirs_all.as_secs_f64();
    let measure = |what: String, value, limit| Measure {
        what,
        value,
        unit: "times e2fsck",
        limit,
    };
    Ok(vec![
        measure("fslab map, all images together".into(), all, None),
        measure(format!("worst: {}", worst.1), worst.0, Some(LIMIT)),
    ])
}

fn fastest(command: &mut Command) -> Result<Duration> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        // Damage makes both end with codes of their own: only the time counts here.
        command.status().with_context(|| tool::describe(command))?;
        best = best.min(start.elapsed());
    }
    Ok(best)
}

fn unpacked(from: &Path, to: &Path) -> Result<Vec<PathBuf>> {
    let mut images = Vec::new();
    for entry in fs::read_dir(from)? {
        let packed = entry?.path();
        if packed.extension().is_some_and(|e| e == "gz") {
            let image = to.join(packed.file_stem().unwrap_or_default());
            if !image.exists() {
                let mut out = File::create(&image)?;
                std::io::copy(&mut GzDecoder::new(File::open(&packed)?), &mut out)?;
            }
            images.push(image);
        }
    }
    images.sort();
    Ok(images)
}
