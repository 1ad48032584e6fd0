//! Sizes of screens and wishes of visitors.

use std::fmt;

use anyhow::Result;
use serde_json::json;
use thirtyfour::WebDriver;

/// A screen, in CSS pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl Size {
    /// A telephone, told by its width.
    fn is_mobile(self) -> bool {
        self.width < 600
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Light => "light",
            Self::Dark => "dark",
        })
    }
}

/// The sizes that every view must look good at.
pub const SIZES: [Size; 3] = [
    Size {
        width: 1440,
        height: 900,
    },
    Size {
        width: 1024,
        height: 768,
    },
    Size {
        width: 390,
        height: 844,
    },
];

pub const SCHEMES: [Scheme; 2] = [Scheme::Light, Scheme::Dark];

/// Shows the page in that size and scheme, and waits until it is drawn.
pub async fn look(driver: &WebDriver, size: Size, scheme: Scheme) -> Result<()> {
    let metrics = json!({
        "width": size.width,
        "height": size.height,
        "deviceScaleFactor": 1,
        "mobile": size.is_mobile(),
    });
    driver
        .cdp()
        .send_raw("Emulation.setDeviceMetricsOverride", metrics)
        .await?;
    prefer(driver, "prefers-color-scheme", &scheme.to_string()).await?;
    settle(driver).await
}

pub async fn motion(driver: &WebDriver, reduce: bool) -> Result<()> {
    let wish = if reduce { "reduce" } else { "no-preference" };
    prefer(driver, "prefers-reduced-motion", wish).await
}

/// Back to the browser's own size and wishes.
pub async fn reset(driver: &WebDriver) -> Result<()> {
    driver
        .cdp()
        .send_raw("Emulation.clearDeviceMetricsOverride", json!({}))
        .await?;
    driver
        .cdp()
        .send_raw("Emulation.setEmulatedMedia", json!({ "features": [] }))
        .await?;
    settle(driver).await
}

async fn prefer(driver: &WebDriver, feature: &str, value: &str) -> Result<()> {
    let features = json!({ "features": [{ "name": feature, "value": value }] });
    driver
        .cdp()
        .send_raw("Emulation.setEmulatedMedia", features)
        .await?;
    Ok(())
}

/// Two frames: one in which the page learns of a change, one that shows it.
async fn settle(driver: &WebDriver) -> Result<()> {
    let script = "const done = arguments[0];
        requestAnimationFrame(() => requestAnimationFrame(() => done()));";
    driver.execute_async(script, Vec::new()).await?;
    Ok(())
}
