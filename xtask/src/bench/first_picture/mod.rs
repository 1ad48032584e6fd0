//! From choosing an image of 20 GiB to the picture of it, in a browser: the whole page,
//! with a file of this machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, anyhow, bail, ensure};

use super::{Measure, script};
use crate::server::{Server, Site};
use crate::site::{self, Profile};
use crate::test::driver::Driver;
use crate::test::{browser, steps};
use crate::tool;
use crate::workspace::Workspace;

const SCRIPT: &str = include_str!("watch.js");
const IMAGE_BYTES: u64 = 20 << 30;
/// What the design allows, ms.
const LIMIT: f64 = 1000.0;

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    let browser = browser::find_or_install().map_err(|reason| anyhow!(reason))?;
    let image = image(workspace)?;
    let folder = workspace.scratch("site")?.join("first-picture");
    site::build(workspace, Profile::Release, &folder)?;
    script::put_before_page(&folder, "first-picture.js", SCRIPT)?;
    let server = Server::start(
        0,
        Site {
            folder,
            prefix: "/".into(),
            reload: None,
        },
    )?;
    let driver = Driver::start(&browser.driver, &workspace.scratch("e2e")?)?;

    let mut visitor = workspace.cargo();
    visitor.args([
        "run",
        "--quiet",
        "--package=fslab-e2e",
        "--example=first_picture",
    ]);
    visitor.arg(&image);
    steps::give_addresses(&mut visitor, workspace, &browser, &server, &driver)?;
    measures(&tool::output(&mut visitor)?)
}

/// From what the visitor prints: a line a visit, with the milliseconds until the image was
/// open, until its first map was there, and until that was drawn.
fn measures(visits: &str) -> Result<Vec<Measure>> {
    let mut best = [f64::INFINITY; 3];
    for line in visits.lines() {
        let times: Vec<f64> = serde_json::from_str(line)?;
        ensure!(times.len() == best.len(), "The visitor prints {line}");
        // What disturbs a visit only ever slows it.
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time);
        }
    }
    let measure = |what: &str, value, unit, limit| Measure {
        what: what.into(),
        value,
        unit,
        limit,
    };
    let [opened, map, drawn] = best;
    Ok(vec![
        measure("20 GiB chosen, until it is open", opened, "ms", None),
        measure("until the map's first state is there", map, "ms", None),
        measure("until that is drawn", drawn, "ms", None),
        measure("drawn / a second", drawn / LIMIT, "times", Some(1.0)),
    ])
}

/// An ext4 of 20 GiB as mke2fs makes it, sparse, made once.
fn image(workspace: &Workspace) -> Result<PathBuf> {
    let image = workspace.scratch("bench")?.join("twenty-gib.img");
    if !image.exists() {
        let half = image.with_extension("half-made");
        make(&half)?;
        fs::rename(half, &image)?;
    }
    Ok(image)
}

fn make(at: &Path) -> Result<()> {
    File::create(at)?.set_len(IMAGE_BYTES)?;
    let made = Command::new("mke2fs")
        .args(["-q", "-F", "-t", "ext4"])
        .arg(at)
        .status()
        .context("mke2fs did not start; install e2fsprogs.")?;
    if !made.success() {
        bail!("mke2fs ended with {made}.");
    }
    Ok(())
}
