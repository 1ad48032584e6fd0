//! Scripts that watch the page from inside.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

/// Puts a script before the page's own, into the site in `folder`.
pub fn put_before_page(folder: &Path, name: &str, script: &str) -> Result<()> {
    fs::write(folder.join(name), script)?;
    let index = folder.join("index.html");
    let page = fs::read_to_string(&index)?;
    let boot = "<script id=\"boot\"";
    ensure!(page.contains(boot), "index.html has no {boot}");
    let page = page.replace(boot, &format!("<script src=\"{name}\"></script>{boot}"));
    fs::write(&index, page).with_context(|| format!("{} cannot be written.", index.display()))
}
