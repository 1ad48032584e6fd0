//! What is no image, or one that means harm: a sentence each time, and nothing of the image
//! before stays on the screen.

mod common;

use std::path::Path;

use anyhow::{Result, ensure};
use common::{INPUT, filled, folder, have, mke2fs, open_image, wait_for_text_in};
use fslab_e2e::Page;

/// Opens a good image, then a bad one; the page must say `words`, and show neither tree nor
/// map of the good one.
async fn refused(page: &Page, bad: &Path, words: &str) -> Result<()> {
    page.find("tree", "Files").await?;
    page.upload(INPUT, bad).await?;
    wait_for_text_in(page, ".refused", "cannot be opened").await?;
    let text = page.text().await?;
    ensure!(
        text.to_lowercase().contains(words),
        "The page does not say “{words}”, but: {text}"
    );
    let left: bool = page
        .evaluate("return !!document.querySelector('.tree, canvas, .selection')")
        .await?;
    ensure!(!left, "Pictures of the image before are still there.");
    Ok(())
}

#[tokio::test]
async fn an_empty_file_is_refused_in_words() -> Result<()> {
    let folder = folder()?;
    let file = folder.path().join("empty.img");
    std::fs::write(&file, [])?;
    fslab_e2e::run("#explore", async |page| {
        refused(page, &file, "empty").await?;
        page.screenshots("refused").await
    })
    .await
}

#[tokio::test]
async fn a_picture_is_refused_by_its_name() -> Result<()> {
    let folder = folder()?;
    let file = folder.path().join("photo.jpg");
    let mut bytes = vec![0xff, 0xd8, 0xff, 0xe0, 0, 16];
    bytes.extend(b"JFIF\0\x01\x01");
    bytes.resize(70_000, 0x5a);
    std::fs::write(&file, bytes)?;
    fslab_e2e::run("#explore", async |page| refused(page, &file, "jpeg").await).await
}

#[tokio::test]
async fn a_truncated_image_still_shows_what_is_there() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    let image = mke2fs(&folder, "cut.img", "16M", &["-t", "ext4", "-b", "4096"])?;
    std::fs::OpenOptions::new()
        .write(true)
        .open(&image)?
        .set_len(5 << 20)?;
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        page.upload(INPUT, &image).await?;
        wait_for_text_in(page, ".what", "cut.img").await?;
        // Opened with problems, or refused in words: either says that the file ends early.
        fslab_e2e::until("words on what is missing", async || {
            let text = page.text().await?.to_lowercase();
            let told = [
                "ends",
                "short",
                "truncated",
                "cut",
                "past the end",
                "problem",
            ];
            Ok(told.iter().any(|word| text.contains(word)).then_some(()))
        })
        .await?;
        page.screenshots("truncated").await
    })
    .await
}

#[tokio::test]
async fn a_scan_is_cancelled() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    // Sparse: on disk it takes some tens of MiB.
    let options = [
        "-t",
        "ext4",
        "-b",
        "1024",
        "-E",
        "lazy_itable_init=1",
        "-i",
        "16384",
    ];
    let image = mke2fs(&folder, "huge.img", "20G", &options)?;
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        page.upload(INPUT, &image).await?;
        wait_for_text_in(page, ".what", "20 GiB").await?;
        let ended = fslab_e2e::until("the scan to be under way", async || {
            let script = "const b = [...document.querySelectorAll('.map button')].find(b => b.innerText === 'Cancel');
                if (b) { b.click(); return 'cancelled'; }
                return document.querySelector('.map .progress') ? '' : 'complete';";
            let state: String = page.evaluate(script).await?;
            Ok((!state.is_empty()).then_some(state))
        })
        .await?;
        if ended == "complete" {
            eprintln!("skipped: the scan was over before it could be cancelled");
            return Ok(());
        }
        wait_for_text_in(page, ".map", "The scan was cancelled").await?;
        // The rest still works, and the scan can be taken up again.
        wait_for_text_in(page, ".tree", "lost+found").await?;
        page.screenshots("cancelled").await?;
        page.click("button", "Scan again").await
    })
    .await
}

#[tokio::test]
async fn names_with_markup_are_text() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    let image = mke2fs(&folder, "names.img", "8M", &["-t", "ext4"])?;
    let fill = |at: &Path| {
        std::fs::write(
            at.join("<img src=x onerror=alert(1)>"),
            "<script>alert(2)</script>\x1b[31m",
        )?;
        std::fs::write(at.join("two\nlines"), "")?;
        Ok(())
    };
    if filled(&folder, &image, fill)?.is_none() {
        return Ok(());
    }
    fslab_e2e::run("#explore", async |page| {
        open_image(page, &image).await?;
        wait_for_text_in(page, ".tree", "<img src=x onerror=alert(1)>").await?;
        wait_for_text_in(page, ".tree", "two\\nlines").await?;
        let script = "const line = [...document.querySelectorAll('.tree .line')].find(l => l.innerText.includes('<img'));
            line.click();";
        page.evaluate::<()>(script).await?;
        page.click("button", "Open contents").await?;
        wait_for_text_in(page, ".contents pre", "<script>alert(2)</script>␛[31m").await?;
        let images: usize = page.evaluate("return document.images.length").await?;
        ensure!(images == 0, "Markup in a name became markup of the page.");
        page.screenshots("markup").await
    })
    .await
}

#[tokio::test]
async fn an_address_that_names_nothing_is_answered_in_words() -> Result<()> {
    // The sample has 8192 blocks, 512 inodes, 8 groups; see its README.
    let cases = [
        ("g=8", "#selection", "Group 8 is outside the filesystem"),
        ("i=513", "#selection", "Inode 513 is outside the filesystem"),
        (
            "i=4294967295&v=contents",
            ".contents",
            "Inode 4294967295 is outside",
        ),
        (
            "b=8192",
            "#selection",
            "Block 8192 is outside the filesystem",
        ),
        // No bytes, and more of them than there are.
        ("i=2&x=0+0", "#selection .say", "root directory"),
        (
            "i=2&x=4294967295+4294967295",
            "#selection .say",
            "root directory",
        ),
        (
            "b=18446744073709551615",
            "#selection",
            "Block 18446744073709551615 is outside",
        ),
    ];
    fslab_e2e::run("#s=small", async |page| {
        page.find("tree", "Files").await?;
        for (place, css, words) in cases {
            page.evaluate::<()>(&format!("location.hash = '#s=small&{place}'"))
                .await?;
            wait_for_text_in(page, css, words).await?;
        }
        // The block before and after that last one.
        page.driver.action_chain().send_keys("][").perform().await?;
        common::wait_for_address(page, "b=18446744073709551614").await
    })
    .await
}

#[tokio::test]
async fn names_deep_in_the_tree_are_in_sight() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    let image = mke2fs(&folder, "deep.img", "8M", &["-t", "ext4"])?;
    let path: String = (0..40).map(|nr| format!("/deep{nr}")).collect();
    let fill = |at: &Path| {
        let within = at.join(path.trim_start_matches('/'));
        std::fs::create_dir_all(&within)?;
        Ok(std::fs::write(within.join("bottom"), "")?)
    };
    if filled(&folder, &image, fill)?.is_none() {
        return Ok(());
    }
    fslab_e2e::run("#explore", async |page| {
        open_image(page, &image).await?;
        common::find(page, &format!("{path}/bottom")).await?;
        wait_for_text_in(page, ".tree .selected", "bottom").await?;
        // The width of the name that is within the tree.
        let script =
            "const name = document.querySelector('.tree .selected .name').getBoundingClientRect();
            const tree = document.querySelector('.tree').getBoundingClientRect();
            return Math.min(name.right, tree.right) - name.left";
        let seen: f64 = page.evaluate(script).await?;
        ensure!(seen > 30.0, "{seen} pixels of the name are in sight.");
        page.screenshots("deep").await
    })
    .await
}

/// Keeps hold of the page's workers, so that a test can make one fail.
const HOLD_WORKERS: &str = "const Real = Worker; window.workers = [];
    window.Worker = class extends Real { constructor(...all) { super(...all); workers.push(this); } };";

#[tokio::test]
async fn the_engine_is_started_again_after_it_stopped() -> Result<()> {
    fslab_e2e::run("#s=small", async |page| {
        let hold = serde_json::json!({ "source": HOLD_WORKERS });
        let method = "Page.addScriptToEvaluateOnNewDocument";
        page.driver.cdp().send_raw(method, hold).await?;
        page.open("#s=small&i=2").await?;
        page.reload().await?;
        wait_for_text_in(page, "#selection .say", "root directory").await?;
        let fail = "workers[0].dispatchEvent(new ErrorEvent('error', { message: 'made to fail' }))";
        page.evaluate::<bool>(&format!("return {fail}")).await?;
        wait_for_text_in(page, ".banner", "The engine stopped").await?;
        page.save_picture("engine-stopped").await?;
        page.click("button", "Restart the engine").await?;
        // What was open is open again, at the same place.
        fslab_e2e::until("the banner to go", async || {
            Ok((!page.text().await?.contains("The engine stopped")).then_some(()))
        })
        .await?;
        page.find("tree", "Files").await?;
        wait_for_text_in(page, "#selection .say", "root directory").await?;
        common::wait_for_address(page, "i=2").await
    })
    .await
}
