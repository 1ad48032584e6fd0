//! What a page write costs the flash translation layer (issue "The devices", Speed).

use std::process::Command;

use anyhow::{Context as _, Result};

use super::Measure;
use crate::tool;
use crate::workspace::Workspace;

/// Runs; the fastest counts.
const ROUNDS: u32 = 3;
/// Nanoseconds for a page with events off: 8 million a second.
const OFF: f64 = 125.0;
/// With events on: 2 million a second.
const ON: f64 = 500.0;

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    tool::run(workspace.cargo().args([
        "build",
        "--release",
        "--package",
        "fslab-engine",
        "--example",
        "ftl",
    ]))?;
    let program = workspace.target.join("release/examples/ftl");
    let mut best: Vec<(String, f64)> = Vec::new();
    for _ in 0..ROUNDS {
        let text = tool::output(&mut Command::new(&program))?;
        for (i, line) in text.lines().enumerate() {
            let (name, time) = line.split_once('\t').context("a line without a time")?;
            let time: f64 = time.parse()?;
            match best.get_mut(i) {
                Some(b) => b.1 = b.1.min(time),
                None => best.push((name.to_string(), time)),
            }
        }
    }
    let measure = |(name, ns): (String, f64)| Measure {
        what: format!("page writes, {name} ({:.1} million a second)", 1e3 / ns),
        value: ns,
        unit: "ns a page",
        limit: Some(if name == "events off" { OFF } else { ON }),
    };
    Ok(best.into_iter().map(measure).collect())
}
