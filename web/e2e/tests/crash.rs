//! A visitor pulls the plug, thinks, looks, opens a state and sends it to somebody.

mod common;

use anyhow::{Result, ensure};
use common::{recorded, wait_for_address, wait_for_text_in};
use fslab_e2e::{Page, until};

/// An instant of the lesson at which the empty file is committed and nothing else is.
const EMPTY: &str = "#lab&l=truncate-and-write&at=209";

/// The share of a page's states that are of each outcome, as it is told.
const OUTCOMES: &str = "return [...document.querySelectorAll('.outcome')].map(o => o.innerText.replace(/\\s+/g, ' ')).join('|')";

async fn outcomes(page: &Page) -> Result<String> {
    page.evaluate(OUTCOMES).await
}

#[tokio::test]
async fn the_plug_is_pulled_and_the_file_is_empty() -> Result<()> {
    fslab_e2e::run(EMPTY, async |page| {
        recorded(page).await?;
        wait_for_text_in(page, ".where", "event 209").await?;
        page.find("button", "Pull the plug").await?.click().await?;
        // Nothing is told before one has thought.
        wait_for_text_in(page, ".guess", "an empty file").await?;
        ensure!(outcomes(page).await?.is_empty());
        page.select(".guess li:first-child input")
            .await?
            .click()
            .await?;
        page.find("button", "Look").await?.click().await?;
        // Both can be found: the commit block may have been lost.
        wait_for_text_in(page, ".guessed", "the old settings: ✓").await?;
        wait_for_text_in(page, ".guessed", "an empty file: ✕ it can be found").await?;
        wait_for_text_in(page, ".outcomes", "an empty file, breaks").await?;
        page.screenshots("plug-outcomes").await?;
        // A state: its story, its disk before and after recovery.
        page.select(".state-field button").await?.click().await?;
        wait_for_text_in(page, ".state-told", "Everything reached the disk").await?;
        page.find("button", "Open it after recovery")
            .await?
            .click()
            .await?;
        wait_for_text_in(page, ".state-told .note", "after its recovery").await?;
        wait_for_address(page, "plug=0").await?;
        page.screenshots("plug-state").await?;
        page.find("button", "Back to the run")
            .await?
            .click()
            .await?;
        until("the run", async || {
            let gone: bool = page
                .evaluate("return !document.querySelector('.state-told .note')")
                .await?;
            Ok(gone.then_some(()))
        })
        .await
    })
    .await
}

#[tokio::test]
async fn a_state_is_a_link() -> Result<()> {
    fslab_e2e::run(&format!("{EMPTY}&plug=0"), async |page| {
        recorded(page).await?;
        wait_for_text_in(page, ".state-told", "State 0").await?;
        wait_for_text_in(page, ".where", "event 209").await
    })
    .await
}

#[tokio::test]
async fn the_plug_is_pulled_by_a_key() -> Result<()> {
    fslab_e2e::run("#lab&l=fsync", async |page| {
        recorded(page).await?;
        let chain = page.driver.action_chain();
        chain.send_keys("p").perform().await?;
        wait_for_text_in(page, ".plug .covered", "disk").await?;
        // What is not asked for as classes is not asked of the visitor either.
        wait_for_text_in(page, ".outcomes", "as it should be").await
    })
    .await
}
