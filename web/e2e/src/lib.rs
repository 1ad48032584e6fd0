//! What a test of the page in a real browser needs.
//!
//! `cargo xtask test --only browser-tests` builds and serves the page, starts
//! chromedriver and says by environment variables where they are. Without these
//! a test prints `skipped: …` and passes.
//!
//! ```ignore
//! #[tokio::test]
//! async fn the_map_opens() -> anyhow::Result<()> {
//!     fslab_e2e::run("", async |page| {
//!         page.click("button", "Map").await?;
//!         page.wait_for_text("block groups").await?;
//!         page.screenshots("map").await
//!     })
//!     .await
//! }
//! ```
//!
//! After each test the browser's console is read: an error or a panic, in the
//! page or in the worker, fails the test whatever else it found.
#![forbid(unsafe_code)]

mod accessible;
mod console;
mod emulate;
mod page;
mod settings;
mod wait;

pub use emulate::{SCHEMES, SIZES, Scheme, Size};
pub use page::Page;
pub use wait::until;

use anyhow::{Context as _, Result};
use settings::Settings;
use thirtyfour::WebDriver;

/// Opens the page at `address` (what follows the site's own, such as
/// `#sample=small`; may be empty) in a browser of its own and runs `test` on it.
pub async fn run(address: &str, test: impl AsyncFnOnce(&Page) -> Result<()>) -> Result<()> {
    let Some(settings) = Settings::from_environment()? else {
        eprintln!("skipped: no browser; `cargo xtask test --only browser-tests` has one");
        return Ok(());
    };
    let driver = WebDriver::new(&settings.driver, settings.capabilities.clone())
        .await
        .context("The browser does not start.")?;
    driver
        .run_and_quit(async |driver| {
            // As wide as the page is meant to be seen; tests of other sizes ask for them.
            driver.set_window_rect(0, 0, 1440, 900).await?;
            let page = Page::new(driver, settings);
            page.open(address).await?;
            let verdict = test(&page).await;
            finish(&page, verdict).await
        })
        .await
        .map_err(unwrap_failure)
}

/// Joins what the test found with what the console tells.
async fn finish(page: &Page, verdict: Result<()>) -> Result<()> {
    if verdict.is_err() {
        // For whoever looks into it; that this fails too is no news.
        let _ = page.save_picture("failed").await;
    }
    let console = page.check_console().await;
    match (verdict, console) {
        (Err(failure), Err(console)) => Err(failure.context(console)),
        (verdict, console) => verdict.and(console),
    }
}

/// The test's own error, rather than the library's wrapping of it.
fn unwrap_failure(error: thirtyfour::WebDriverRunError<anyhow::Error>) -> anyhow::Error {
    use thirtyfour::WebDriverRunError as E;
    match error {
        E::Body(error) | E::BodyAndCleanup { body: error, .. } => error,
        E::Cleanup(error) => anyhow::Error::new(error).context("The browser did not close."),
        _ => anyhow::anyhow!("The browser failed in a way unknown to the harness."),
    }
}
