//! A visitor runs a workload and goes through what happened.

mod common;

use anyhow::{Result, ensure};
use common::{downloaded, folder, have, recorded, run, wait_for_address, wait_for_text_in};
use fslab_e2e::{Page, until};

// Keys as WebDriver writes them.
const RIGHT: &str = "\u{e014}";
const LEFT: &str = "\u{e012}";
const HOME: &str = "\u{e011}";
const END: &str = "\u{e010}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

/// The state that is shown, as far as it is words.
const STATE: &str =
    "return ['.now .risk, .now .pad', '.memory', '.lives', '.device .page-body', '.variables']
    .map(css => document.querySelector(css)?.innerText ?? '').join('\\n')";

async fn event(page: &Page) -> Result<u64> {
    page.evaluate(
        "return Number(document.querySelector('.lanes canvas').getAttribute('aria-valuenow'))",
    )
    .await
}

async fn wait_for_event(page: &Page, wanted: impl Fn(u64) -> bool) -> Result<u64> {
    until("another event", async || {
        Ok(Some(event(page).await?).filter(|at| wanted(*at)))
    })
    .await
}

async fn keys(page: &Page, keys: &[&str]) -> Result<()> {
    let keys = keys.concat();
    Ok(page
        .driver
        .action_chain()
        .send_keys(keys.as_str())
        .perform()
        .await?)
}

/// Puts a text into the editor, as typing it would.
async fn write(page: &Page, text: &str) -> Result<()> {
    let script = format!(
        "const area = document.querySelector('#workload'); area.value = {text:?};
        area.dispatchEvent(new InputEvent('input', {{ bubbles: true }}))"
    );
    page.evaluate(&script).await
}

#[tokio::test]
async fn a_first_visit_shows_a_lab_ready_to_play() -> Result<()> {
    fslab_e2e::run("", async |page| {
        recorded(page).await?;
        // It says what one will see, and there is something to see.
        wait_for_text_in(page, ".about", "writes").await?;
        page.select(".map canvas").await?;
        page.find("button", "▶ Play").await?;
        ensure!(
            event(page).await? == 0,
            "It does not begin at its beginning."
        );
        wait_for_address(page, "#lab&l=").await?;
        page.screenshots("lab-first-visit").await
    })
    .await
}

#[tokio::test]
async fn stepping_back_shows_what_was_there() -> Result<()> {
    fslab_e2e::run("#lab&l=fsync&at=120", async |page| {
        recorded(page).await?;
        wait_for_event(page, |at| at == 120).await?;
        keys(page, &[RIGHT]).await?;
        let on = wait_for_event(page, |at| at > 120).await?;
        let there: String = page.evaluate(STATE).await?;
        for _ in 0..3 {
            let before = event(page).await?;
            keys(page, &[RIGHT]).await?;
            wait_for_event(page, |at| at > before).await?;
        }
        for _ in 0..3 {
            let before = event(page).await?;
            keys(page, &[LEFT]).await?;
            wait_for_event(page, |at| at < before).await?;
        }
        ensure!(event(page).await? == on);
        let again: String = page.evaluate(STATE).await?;
        ensure!(there == again, "{there}\nbecame\n{again}");
        page.screenshots("lab-middle").await
    })
    .await
}

#[tokio::test]
async fn the_next_commit_is_found() -> Result<()> {
    fslab_e2e::run("", async |page| {
        recorded(page).await?;
        page.click("button", "Find next").await?;
        wait_for_text_in(page, ".where", "committed").await?;
        let commit = event(page).await?;
        // What caused it and what it led to is told.
        wait_for_text_in(page, ".now", "In this step").await?;
        page.click("button", "Find previous").await?;
        wait_for_text_in(page, ".where", "none that way").await?;
        ensure!(event(page).await? == commit);
        // A condition that is none is told in a sentence.
        let input = page.select("#condition").await?;
        input.send_keys("kind=Sneeze").await?;
        page.click("button", "Find next").await?;
        wait_for_text_in(page, ".where", "no kind of event named").await
    })
    .await
}

#[tokio::test]
async fn a_mistake_is_told_at_its_line() -> Result<()> {
    fslab_e2e::run("", async |page| {
        recorded(page).await?;
        write(page, "fslab = 1\n[[process]]\nname = \"p\"\nprogram = '''\nopen(\"/x\", O_CREAT)\nwrote(3, 1k)\n'''\n").await?;
        page.click("button", "Run the changed text").await?;
        wait_for_text_in(page, "#line-6 .wrong-words", "wrote").await?;
        wait_for_text_in(page, "#mistakes", "Line 6").await?;
        page.screenshots("lab-mistake").await
    })
    .await
}

#[tokio::test]
async fn a_link_leads_to_the_same_event_of_the_same_run() -> Result<()> {
    let hash = "return document.querySelector('.where').dataset.hash";
    fslab_e2e::run("#lab&l=two-processes", async |page| {
        recorded(page).await?;
        let text: String = page
            .evaluate("return document.querySelector('#workload').value")
            .await?;
        write(page, &format!("# mine\n{text}")).await?;
        page.click("button", "Run the changed text").await?;
        wait_for_address(page, "#lab=1.").await?;
        recorded(page).await?;
        page.click("button", "Find next").await?;
        let there = wait_for_event(page, |at| at > 0).await?;
        wait_for_address(page, &format!("at={there}")).await?;
        let ours: String = page.evaluate(hash).await?;
        let address = page.fragment().await?;
        page.open("#explore").await?;
        page.wait_for_text("See inside an ext2").await?;
        page.open(&address).await?;
        page.reload().await?;
        recorded(page).await?;
        wait_for_event(page, |at| at == there).await?;
        let theirs: String = page.evaluate(hash).await?;
        ensure!(ours == theirs && ours.len() == 16, "{ours} became {theirs}");
        wait_for_text_in(page, ".lane-names", "").await
    })
    .await
}

#[tokio::test]
async fn a_damaged_link_says_so_and_opens_something_else() -> Result<()> {
    fslab_e2e::run("#lab=1.abc%%&at=5", async |page| {
        wait_for_text_in(page, ".where", "The link cannot be opened").await
    })
    .await
}

#[tokio::test]
async fn an_endless_program_stops_at_its_limit() -> Result<()> {
    fslab_e2e::run("", async |page| {
        recorded(page).await?;
        write(page, "fslab = 1\n[limits]\ncalls = 200\n[[process]]\nname = \"p\"\nprogram = '''\nwhile true { stat(\"/\") }\n'''\n").await?;
        page.click("button", "Run the changed text").await?;
        recorded(page).await?;
        keys(page, &[END]).await?;
        wait_for_text_in(page, ".ending", "limit of 200 calls").await
    })
    .await
}

#[tokio::test]
async fn the_disk_is_saved_as_an_image() -> Result<()> {
    if !have("e2fsck") {
        return Ok(());
    }
    let folder = folder()?;
    fslab_e2e::run("", async |page| {
        let path = folder.path().to_string_lossy().into_owned();
        page.driver
            .cdp()
            .send_raw(
                "Browser.setDownloadBehavior",
                serde_json::json!({ "behavior": "allow", "downloadPath": path }),
            )
            .await?;
        recorded(page).await?;
        keys(page, &[END]).await?;
        wait_for_event(page, |at| at > 0).await?;
        page.click("button", "Save…").await?;
        page.click("button", "The disk at this event, as an image")
            .await?;
        let image = folder.path().join("disk.img");
        downloaded(&image, 64 << 20).await?;
        // Unmounted at the end: clean, and every file whole.
        run("e2fsck", &["-fn", &image.to_string_lossy()])
    })
    .await
}

#[tokio::test]
async fn everything_goes_by_keys() -> Result<()> {
    fslab_e2e::run("", async |page| {
        recorded(page).await?;
        keys(page, &[" "]).await?;
        wait_for_event(page, |at| at > 8).await?;
        keys(page, &[" "]).await?;
        page.find("button", "▶ Play").await?;
        let there = event(page).await?;
        keys(page, &[HOME]).await?;
        wait_for_event(page, |at| at < there).await?;
        keys(page, &["/"]).await?;
        keys(page, &["kind=Transaction", ENTER]).await?;
        wait_for_text_in(page, ".where", "Transaction").await?;
        keys(page, &[ESCAPE]).await?;
        // Pictures come and go by their numbers.
        keys(page, &["3", "7"]).await?;
        page.find("listbox", "Events").await?;
        keys(page, &["t", "b", "z"]).await?;
        page.find("button", "Several").await?;
        keys(page, &["?"]).await?;
        wait_for_text_in(page, "dialog.help", "Fork here").await?;
        page.screenshots("lab-keys").await?;
        keys(page, &[ESCAPE]).await?;
        until("the help to be gone", async || {
            let gone: bool = page
                .evaluate("return !document.querySelector('dialog.help')?.open")
                .await?;
            Ok(gone.then_some(()))
        })
        .await?;
        keys(page, &["f"]).await?;
        wait_for_text_in(page, ".runs", "from run 1").await
    })
    .await
}

#[tokio::test]
async fn rooms_are_gone_between_without_loss() -> Result<()> {
    fslab_e2e::run("", async |page| {
        recorded(page).await?;
        keys(page, &[END]).await?;
        let end = wait_for_event(page, |at| at > 0).await?;
        page.click("link", "Explore").await?;
        page.find("tree", "Files").await?;
        wait_for_address(page, "#s=").await?;
        page.click("link", "Lab").await?;
        page.select(".map canvas").await?;
        ensure!(wait_for_event(page, |at| at > 0).await? == end);
        Ok(())
    })
    .await
}
