//! The page under test.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;
use thirtyfour::{By, WebDriver, WebElement};

use crate::emulate::{self, SCHEMES, SIZES};
use crate::settings::Settings;
use crate::{accessible, console, wait};

/// Enough for everything a person does; for the rest there is [`Page::driver`].
#[derive(Debug)]
pub struct Page {
    pub driver: WebDriver,
    settings: Settings,
}

impl Page {
    pub(crate) fn new(driver: WebDriver, settings: Settings) -> Self {
        Self { driver, settings }
    }

    /// Goes to the site's address with `rest` behind it.
    pub async fn open(&self, rest: &str) -> Result<()> {
        self.driver
            .goto(format!("{}{rest}", self.settings.page))
            .await?;
        Ok(())
    }

    pub async fn reload(&self) -> Result<()> {
        Ok(self.driver.refresh().await?)
    }

    /// The part of the address from `#` on; empty if there is none.
    pub async fn fragment(&self) -> Result<String> {
        self.evaluate("return location.hash").await
    }

    /// The element of that role (`button`, `link`, `tab`, …) and accessible
    /// name, as a screen reader would find it; waits until there is one.
    pub async fn find(&self, role: &str, name: &str) -> Result<WebElement> {
        wait::until(&format!("a {role} named “{name}”"), async || {
            accessible::find(&self.driver, role, name).await
        })
        .await
    }

    pub async fn click(&self, role: &str, name: &str) -> Result<()> {
        let element = self.find(role, name).await?;
        element
            .click()
            .await
            .with_context(|| format!("The {role} “{name}” cannot be clicked."))
    }

    /// The first element that a CSS selector names; waits until there is one.
    pub async fn select(&self, css: &str) -> Result<WebElement> {
        wait::until(&format!("an element {css}"), async || {
            Ok(self.driver.find_all(By::Css(css)).await?.into_iter().next())
        })
        .await
    }

    /// Gives a file of this machine to an `<input type=file>`, hidden or not.
    pub async fn upload(&self, css: &str, file: &Path) -> Result<()> {
        let file = file
            .canonicalize()
            .with_context(|| format!("No file {}.", file.display()))?;
        let input = self.select(css).await?;
        Ok(input.send_keys(file.to_string_lossy().as_ref()).await?)
    }

    /// All text that the page shows.
    pub async fn text(&self) -> Result<String> {
        self.evaluate("return document.body.innerText").await
    }

    pub async fn wait_for_text(&self, text: &str) -> Result<()> {
        let found = wait::until(&format!("the text “{text}”"), async || {
            Ok(self.text().await?.contains(text).then_some(()))
        })
        .await;
        match found {
            Ok(()) => Ok(()),
            Err(error) => bail!("{error} The page shows: {}", self.text().await?),
        }
    }

    /// Runs JavaScript in the page and gives what it `return`s.
    pub async fn evaluate<T: DeserializeOwned>(&self, script: &str) -> Result<T> {
        Ok(self
            .driver
            .execute(script, Vec::<Value>::new())
            .await?
            .convert()?)
    }

    /// Lets the page believe that its visitor wants less motion, or not.
    pub async fn reduce_motion(&self, reduce: bool) -> Result<()> {
        emulate::motion(&self.driver, reduce).await
    }

    /// Shows the page in a size of so many CSS pixels from now on.
    pub async fn resize(&self, width: u32, height: u32) -> Result<()> {
        let size = emulate::Size { width, height };
        emulate::look(&self.driver, size, emulate::Scheme::Light).await
    }

    /// Saves the page in every size and colour scheme.
    pub async fn screenshots(&self, name: &str) -> Result<()> {
        for size in SIZES {
            for scheme in SCHEMES {
                emulate::look(&self.driver, size, scheme).await?;
                self.save_picture(&format!("{name}-{size}-{scheme}"))
                    .await?;
            }
        }
        emulate::reset(&self.driver).await
    }

    /// Saves the page as it is now.
    pub async fn save_picture(&self, name: &str) -> Result<PathBuf> {
        let file = self.settings.screenshots.join(format!("{name}.png"));
        self.driver.screenshot(&file).await?;
        Ok(file)
    }

    /// Fails if the console holds an error; empties it.
    pub async fn check_console(&self) -> Result<()> {
        let errors = self.take_console_errors().await?;
        if !errors.is_empty() {
            bail!("The browser's console holds errors:\n{}", errors.join("\n"));
        }
        Ok(())
    }

    /// The errors on the console since the last call, for tests that mean them.
    pub async fn take_console_errors(&self) -> Result<Vec<String>> {
        console::errors(&self.driver).await
    }
}
