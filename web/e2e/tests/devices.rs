//! A visitor looks inside a device at work: a disk, an SSD, a first-generation SSD, a card.

mod common;

use anyhow::{Result, ensure};
use common::{recorded, wait_for_text_in};
use fslab_e2e::{Page, until};

const END: &str = "\u{e010}";
const RIGHT: &str = "\u{e014}";
const ENTER: &str = "\u{e007}";

async fn keys(page: &Page, keys: &[&str]) -> Result<()> {
    let keys = keys.concat();
    let chain = page.driver.action_chain();
    Ok(chain.send_keys(keys.as_str()).perform().await?)
}

/// How many different colours the picture of the flash has.
async fn colours(page: &Page) -> Result<u64> {
    page.evaluate(
        "const c = document.querySelector('.flash canvas');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
        return seen.size",
    )
    .await
}

#[tokio::test]
async fn a_disk_shows_its_arm_over_zones() -> Result<()> {
    fslab_e2e::run("#lab&l=database-on-a-disk&at=3400", async |page| {
        recorded(page).await?;
        wait_for_text_in(page, ".platters", "The arm is over cylinder").await?;
        let rings: u64 = page
            .evaluate("return document.querySelectorAll('.platter .zone').length")
            .await?;
        ensure!(rings >= 1);
        let arm = "return document.querySelector('.platter .arm').getAttribute('cx')";
        let before: String = page.evaluate(arm).await?;
        // The arm is elsewhere at some other event.
        for at in [3640, 3200, 3300, 4200, 4250] {
            page.open(&format!("#lab&l=database-on-a-disk&at={at}"))
                .await?;
            until("the event", async || {
                let there = format!(
                    "return document.querySelector('.lanes canvas').getAttribute('aria-valuenow') === '{at}'"
                );
                Ok(page.evaluate::<bool>(&there).await?.then_some(()))
            })
            .await?;
            let now: String = page.evaluate(arm).await?;
            if now != before {
                return page.screenshots("device-disk").await;
            }
        }
        anyhow::bail!("The arm does not move")
    })
    .await
}

#[tokio::test]
async fn an_ssd_collects_and_a_page_leads_to_its_writer() -> Result<()> {
    fslab_e2e::run("#lab&l=garbage-collection", async |page| {
        recorded(page).await?;
        keys(page, &[END]).await?;
        wait_for_text_in(page, ".flash", "write amplification").await?;
        // Every colouring paints something, and has a legend.
        let names: Vec<String> = page
            .evaluate("return [...document.querySelectorAll('#flash-colours option')].map(o => o.textContent)")
            .await?;
        ensure!(names.len() >= 12, "{names:?}");
        for (i, name) in names.iter().enumerate() {
            let script = format!(
                "const s = document.querySelector('#flash-colours'); s.selectedIndex = {i};
                s.dispatchEvent(new Event('change', {{ bubbles: true }}))"
            );
            page.evaluate::<()>(&script).await?;
            until("colours", async || Ok((colours(page).await? >= 2).then_some(()))).await?;
            let legend: u64 = page.evaluate("return document.querySelectorAll('.flash-keys li').length").await?;
            ensure!(legend >= 2, "{name} has no legend");
        }
        page.evaluate::<()>("const s = document.querySelector('#flash-colours'); s.selectedIndex = 0;
            s.dispatchEvent(new Event('change', { bubbles: true }))").await?;
        // By keys: to a page, then choose it; it says what it is.
        page.evaluate::<()>("document.querySelector('.flash canvas').focus()").await?;
        keys(page, &[RIGHT, RIGHT, ENTER]).await?;
        wait_for_text_in(page, ".flash-page", "Page").await?;
        ensure!(page.evaluate::<bool>("return !!document.querySelector('.flash-over .chosen')").await?);
        // A block that is chosen elsewhere is shown where it is in the flash.
        page.screenshots("device-ssd").await
    })
    .await
}

#[tokio::test]
async fn a_collection_is_shown_as_pages_that_move() -> Result<()> {
    fslab_e2e::run("#lab&l=garbage-collection", async |page| {
        recorded(page).await?;
        keys(page, &[END]).await?;
        let input = page.select("#condition").await?;
        input.send_keys("kind=FlashErased").await?;
        page.click("button", "Find previous").await?;
        until("moves", async || {
            let there = "return document.querySelectorAll('.flash-over .moves rect').length > 0";
            Ok(page.evaluate::<bool>(there).await?.then_some(()))
        })
        .await?;
        page.screenshots("device-collection").await
    })
    .await
}

#[tokio::test]
async fn a_card_tells_its_open_segments() -> Result<()> {
    fslab_e2e::run("#lab&l=card", async |page| {
        recorded(page).await?;
        keys(page, &[END]).await?;
        wait_for_text_in(page, ".open-segments", "old place").await?;
        wait_for_text_in(page, ".open-segments", "1 of 1 that can be").await?;
        // Measured: flashbench's probe of open segments, two lines at least.
        page.evaluate::<()>("document.querySelector('.measures').open = true")
            .await?;
        page.click("button", "Open segments (flashbench --open-au)")
            .await?;
        until("a plot", async || {
            let lines = "return document.querySelectorAll('.measured .series').length >= 2";
            Ok(page.evaluate::<bool>(lines).await?.then_some(()))
        })
        .await?;
        page.screenshots("device-card").await
    })
    .await
}

#[tokio::test]
async fn a_first_generation_ssd_rewrites_its_blocks() -> Result<()> {
    fslab_e2e::run("", async |page| {
        recorded(page).await?;
        let text = "fslab = 1\nshow = [\"medium\"]\n[device]\nkind = \"block-mapped\"\nsize = \"16M\"\n[mkfs]\noptions = \"-t ext2 -b 4096\"\n[[process]]\nprogram = '''\nrandom_writes(\"/a\", 1M, 4k, 10, true)\n'''\n";
        page.evaluate::<()>(&format!(
            "const area = document.querySelector('#workload'); area.value = {text:?};
            area.dispatchEvent(new InputEvent('input', {{ bubbles: true }}))"
        ))
        .await?;
        page.click("button", "Run the changed text").await?;
        wait_for_text_in(page, ".flash", "a map of erase blocks").await?;
        recorded(page).await?;
        keys(page, &[END]).await?;
        wait_for_text_in(page, ".flash .map-foot", "copied").await?;
        page.screenshots("device-block-mapped").await
    })
    .await
}
