//! What `cargo xtask test` tells by the environment.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};
use thirtyfour::Capabilities;

#[derive(Debug, Clone)]
pub struct Settings {
    /// The site's address, ending in `/`.
    pub page: String,
    /// chromedriver's address.
    pub driver: String,
    /// How to start the browser.
    pub capabilities: Capabilities,
    /// Where screenshots go.
    pub screenshots: PathBuf,
}

impl Settings {
    /// None where nobody started a browser.
    pub fn from_environment() -> Result<Option<Self>> {
        let Ok(page) = std::env::var("FSLAB_E2E_PAGE") else {
            return Ok(None);
        };
        Ok(Some(Self {
            page,
            driver: variable("FSLAB_E2E_DRIVER")?,
            capabilities: read_capabilities(&variable("FSLAB_E2E_CAPABILITIES")?)?,
            screenshots: variable("FSLAB_E2E_SCREENSHOTS")?.into(),
        }))
    }
}

fn variable(name: &str) -> Result<String> {
    std::env::var(name).with_context(|| format!("FSLAB_E2E_PAGE is set, but {name} is not."))
}

fn read_capabilities(file: &str) -> Result<Capabilities> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{file} cannot be read."))?;
    let mut map: Map<String, Value> = serde_json::from_str(&text)?;
    map.insert("browserName".into(), json!("chrome"));
    map.insert("goog:loggingPrefs".into(), json!({ "browser": "ALL" }));
    Ok(Capabilities::from(map))
}
