//! What the browser's console says.

use anyhow::{Context as _, Result};
use thirtyfour::WebDriver;

/// The errors since the last call: `console.error`, uncaught exceptions,
/// panics, and files that were not found.
pub async fn errors(driver: &WebDriver) -> Result<Vec<String>> {
    let entries = driver
        .browser_log()
        .await
        .context("The console cannot be read.")?;
    let severe = entries.into_iter().filter(|entry| entry.level == "SEVERE");
    Ok(severe.map(|entry| entry.message).collect())
}
