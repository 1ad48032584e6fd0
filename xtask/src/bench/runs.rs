//! What a recording of a million events costs: to make, to look into, to keep.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::Measure;
use crate::tool;
use crate::workspace::Workspace;

/// Microseconds that an event may take: 300,000 a second.
const EVENT_US: f64 = 1e6 / 300_000.0;
/// Milliseconds until any instant is there.
const LOOK_MS: f64 = 10.0;
/// MiB that all of it may take.
const MIB: f64 = 256.0;

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    tool::run(workspace.cargo().args([
        "build",
        "--release",
        "--package=fslab-engine",
        "--example=runs",
    ]))?;
    let output = Command::new(workspace.target.join("release/examples/runs"))
        .output()
        .context("the measuring program does not run")?;
    ensure!(
        output.status.success(),
        "the measuring program failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let of = |name: &str| -> Result<f64> {
        let line = text.lines().find(|l| l.split(' ').next() == Some(name));
        let value = line.and_then(|l| l.split(' ').nth(1)?.parse().ok());
        value.with_context(|| format!("{name} was not told"))
    };
    let measure = |what: String, value, unit, limit| Measure {
        what,
        value,
        unit,
        limit: Some(limit),
    };
    Ok(vec![
        measure(
            format!("recording {} events, each", of("events")?),
            1e6 / of("rate")?,
            "us",
            EVENT_US,
        ),
        measure(
            format!(
                "an instant of them, the slowest of 300 (mean {} ms)",
                of("look-mean")?
            ),
            of("look-worst")?,
            "ms",
            LOOK_MS,
        ),
        measure(
            "memory of the whole process at most".to_owned(),
            of("memory")? / 1_048_576.0,
            "MiB",
            MIB,
        ),
    ])
}
