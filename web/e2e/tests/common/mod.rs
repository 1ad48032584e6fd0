//! Images for the tests of the page, made here by mke2fs and the kernel, and steps that
//! many tests take.

// Each test binary uses its own part of this.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use fslab_e2e::{Page, until};
use tempfile::TempDir;

/// The page's one file input.
pub const INPUT: &str = "#image-file";

/// Waits until a run of the Lab is recorded to its end and an instant is shown.
pub async fn recorded(page: &Page) -> Result<()> {
    until("a run", async || {
        let done: bool = page
            .evaluate("return !!document.querySelector('.where[data-complete]')")
            .await?;
        Ok(done.then_some(()))
    })
    .await
}

/// A folder for a test's files, gone after it.
pub fn folder() -> Result<TempDir> {
    Ok(tempfile::tempdir()?)
}

/// Whether a program is here; says that the test is skipped if not.
pub fn have(program: &str) -> bool {
    let there = Command::new(program)
        .arg("-V")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok();
    if !there {
        eprintln!("skipped: no {program}");
    }
    there
}

/// Runs a program; what it says goes into the error.
pub fn run(program: &str, args: &[&str]) -> Result<()> {
    let output = Command::new(program)
        .args(args)
        .output()
        .with_context(|| format!("{program} does not run."))?;
    ensure!(
        output.status.success(),
        "{program} {args:?} failed: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// An empty filesystem; `size` as mke2fs reads it.
pub fn mke2fs(folder: &TempDir, name: &str, size: &str, options: &[&str]) -> Result<PathBuf> {
    let image = folder.path().join(name);
    let path = image.to_string_lossy().into_owned();
    let mut args = vec!["-q", "-F"];
    args.extend(options);
    args.extend([path.as_str(), size]);
    run("mke2fs", &args)?;
    Ok(image)
}

/// A filesystem that was filled by the kernel; `None`, said so, where it cannot be mounted.
pub fn filled(
    folder: &TempDir,
    image: &Path,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<Option<()>> {
    let point = folder.path().join("mounted");
    std::fs::create_dir_all(&point)?;
    let (image, at) = (image.to_string_lossy(), point.to_string_lossy());
    if let Err(why) = run("mount", &["-o", "loop", &image, &at]) {
        eprintln!("skipped: no loop mount ({why})");
        return Ok(None);
    }
    let filled = fill(&point);
    let unmounted = run("umount", &[&at]);
    filled?;
    unmounted?;
    Ok(Some(()))
}

/// Opens an image of this machine and waits until the scan is complete.
pub async fn open_image(page: &Page, image: &Path) -> Result<()> {
    page.upload(INPUT, image).await?;
    page.find("tree", "Files").await?;
    scanned(page).await
}

/// Waits until every owner is known.
pub async fn scanned(page: &Page) -> Result<()> {
    fslab_e2e::until("the scan to end", async || {
        let busy: bool = page
            .evaluate("return !document.querySelector('.map') || !!document.querySelector('.map .progress')")
            .await?;
        Ok((!busy).then_some(()))
    })
    .await
}

/// Types into the search box and finds.
pub async fn find(page: &Page, text: &str) -> Result<()> {
    let input = page.select("#search").await?;
    input.clear().await?;
    input.send_keys(text).await?;
    page.click("button", "Find").await
}

/// Waits until the address holds a text.
pub async fn wait_for_address(page: &Page, part: &str) -> Result<()> {
    fslab_e2e::until(&format!("“{part}” in the address"), async || {
        Ok(page.fragment().await?.contains(part).then_some(()))
    })
    .await
}

/// The text of what an element shows.
pub async fn text_of(page: &Page, css: &str) -> Result<String> {
    Ok(page.select(css).await?.text().await?)
}

/// Waits until an element shows a text.
pub async fn wait_for_text_in(page: &Page, css: &str, text: &str) -> Result<()> {
    fslab_e2e::until(&format!("“{text}” in {css}"), async || {
        let script = format!("return document.querySelector({css:?})?.innerText ?? ''");
        let shown: String = page.evaluate(&script).await?;
        Ok(shown.contains(text).then_some(()))
    })
    .await
}

/// Waits for a file that the browser saves.
pub async fn downloaded(path: &Path, bytes: u64) -> Result<Vec<u8>> {
    fslab_e2e::until(&format!("{}", path.display()), async || {
        let there = std::fs::metadata(path).is_ok_and(|meta| meta.len() == bytes);
        Ok(there.then_some(()))
    })
    .await?;
    tokio::time::sleep(Duration::from_millis(50)).await;
    Ok(std::fs::read(path)?)
}
