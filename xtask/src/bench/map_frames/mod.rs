//! Script time of the block map's frames, while it is zoomed and dragged in a browser.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};

use super::Measure;
use crate::server::{Server, Site};
use crate::site::{self, Profile, Program};
use crate::test::browser::{self, FLAGS};
use crate::workspace::Workspace;

/// What the design allows for a frame, ms.
const LIMIT: f64 = 8.0;
const SCRIPT: &str = include_str!("frames.js");
const PATIENCE: Duration = Duration::from_secs(120);

/// Maps to move, as the example's address names them. As many runs as are drawn one by one
/// at once, more than that, and a large disk.
const MAPS: [(&str, &str); 3] = [
    (
        "2 million blocks, 140,000 runs",
        "blocks=2000000&runs=140000",
    ),
    (
        "2 million blocks, 200,000 runs",
        "blocks=2000000&runs=200000",
    ),
    ("1 TiB, a million runs", "blocks=268435456&runs=1000000"),
];

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    let browser = browser::find_or_install().map_err(|reason| anyhow!(reason))?;
    let folder = workspace.scratch("site")?.join("map-frames");
    site::build_program(
        workspace,
        Program::Example("map"),
        Profile::Release,
        &folder,
    )?;
    add_script(&folder)?;
    let server = Server::start(
        0,
        Site {
            folder,
            prefix: "/".into(),
            reload: None,
        },
    )?;
    let mut measures = Vec::new();
    for (name, map) in MAPS {
        let address = format!("{}#{map}", server.address());
        let profile = workspace.scratch("bench")?.join("map-frames-profile");
        let frames = watch(&browser.program, &profile, &address)?;
        measures.extend(summarize(name, frames));
    }
    Ok(measures)
}

/// The script stands before the page's own, whose frames it measures.
fn add_script(folder: &Path) -> Result<()> {
    fs::write(folder.join("frames.js"), SCRIPT)?;
    let index = folder.join("index.html");
    let page = fs::read_to_string(&index)?;
    let boot = "<script id=\"boot\"";
    ensure!(page.contains(boot), "index.html has no {boot}");
    let page = page.replace(boot, &format!("<script src=\"frames.js\"></script>{boot}"));
    fs::write(&index, page).with_context(|| format!("{} cannot be written.", index.display()))
}

/// A browser that ends with us, whatever happens.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Milliseconds of each frame, the fastest of its rounds.
fn watch(program: &Path, profile: &Path, address: &str) -> Result<Vec<f64>> {
    site::remove(profile)?;
    let mut browser = Running(
        Command::new(program)
            .args(FLAGS)
            .args(["--enable-logging=stderr", "--window-size=1440,900"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(address)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .context("The browser does not start.")?,
    );
    let stderr = browser.0.stderr.take().context("The browser is mute.")?;
    let start = Instant::now();
    for line in BufReader::new(stderr).lines() {
        let line = line?;
        if let Some(rounds) = report(&line) {
            let rounds: Vec<Vec<f64>> = serde_json::from_str(rounds)?;
            return Ok(fastest(&rounds));
        }
        ensure!(
            start.elapsed() < PATIENCE && !line.contains("Uncaught"),
            "The map was not measured: {line}"
        );
    }
    Err(anyhow!("The browser ended before the map was measured."))
}

/// The report in a line of the browser's log, which quotes it.
fn report(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("map-frames ")?;
    Some(rest.split_once(" end")?.0)
}

fn fastest(rounds: &[Vec<f64>]) -> Vec<f64> {
    let frames = rounds.iter().map(Vec::len).min().unwrap_or(0);
    (0..frames)
        .map(|i| rounds.iter().map(|round| round[i]).fold(f64::MAX, f64::min))
        .collect()
}

fn summarize(name: &str, mut frames: Vec<f64>) -> Vec<Measure> {
    frames.sort_by(f64::total_cmp);
    let part = |part: f64| {
        let last = frames.len().saturating_sub(1) as f64;
        frames.get((last * part).round() as usize).copied()
    };
    let measure = |what: &str, value: Option<f64>, unit, limit| Measure {
        what: format!("{name}: {what}"),
        value: value.unwrap_or(f64::INFINITY),
        unit,
        limit,
    };
    let worst = part(1.0);
    vec![
        measure("median", part(0.5), "ms", None),
        measure("95 in 100", part(0.95), "ms", None),
        measure("slowest", worst, "ms", None),
        measure(
            "slowest / 8 ms",
            worst.map(|ms| ms / LIMIT),
            "times",
            Some(1.0),
        ),
    ]
}
