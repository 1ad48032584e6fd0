//! Chromium and its driver: found, or installed where that is ours to do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::tool;

/// Debian's packages; the fonts make screenshots readable on a bare machine.
const PACKAGES: [&str; 3] = ["chromium", "chromium-driver", "fonts-dejavu-core"];

const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/// No sandbox, since root cannot have one; and nothing that looks for a network
/// that is not there. The driver gives each session a profile folder of its own.
pub const FLAGS: [&str; 8] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

#[derive(Debug)]
pub struct Browser {
    pub program: PathBuf,
    pub driver: PathBuf,
}

impl Browser {
    /// Writes the WebDriver capabilities that start this browser as we want it.
    pub fn write_capabilities(&self, folder: &Path) -> Result<PathBuf> {
        let capabilities =
            json!({ "goog:chromeOptions": { "binary": self.program, "args": FLAGS } });
        let file = folder.join("webdriver.json");
        fs::write(&file, capabilities.to_string())
            .with_context(|| format!("{} cannot be written.", file.display()))?;
        Ok(file)
    }
}

/// The browser, or the reason why there is none.
pub fn find_or_install() -> Result<Browser, String> {
    if let Some(browser) = find() {
        return Ok(browser);
    }
    let wanted = PACKAGES.join(" ");
    if !may_install() {
        return Err(format!(
            "Chromium or its driver is missing; install {wanted}."
        ));
    }
    println!("Installing {wanted}");
    install().map_err(|error| format!("{wanted} cannot be installed: {error:#}"))?;
    find().ok_or_else(|| format!("Chromium is still missing after installing {wanted}."))
}

fn find() -> Option<Browser> {
    let program = PROGRAMS.into_iter().find_map(tool::find)?;
    Some(Browser {
        program,
        driver: tool::find("chromedriver")?,
    })
}

fn may_install() -> bool {
    let root = tool::output(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    root && tool::find("apt-get").is_some()
}

fn install() -> Result<()> {
    let apt = || {
        let mut command = Command::new("apt-get");
        command
            .env("DEBIAN_FRONTEND", "noninteractive")
            .arg("--quiet");
        command
    };
    tool::run(apt().arg("update"))?;
    tool::run(
        apt()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(PACKAGES),
    )
}
