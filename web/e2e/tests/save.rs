//! A file's contents come out of an image as they went in.

mod common;

use anyhow::{Result, ensure};
use common::{downloaded, filled, find, folder, have, mke2fs, open_image, wait_for_text_in};
use serde_json::json;

#[tokio::test]
async fn a_saved_file_has_the_bytes_that_were_written() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    let image = mke2fs(&folder, "save.img", "32M", &["-t", "ext4"])?;
    // More than one piece of 4 MiB, with a hole, and an end inside a block.
    let mut contents: Vec<u8> = (0..9_000_001_u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    contents[1_000_000..3_000_000].fill(0);
    let wanted = contents.clone();
    // Text without an extension, to which a browser might add one.
    let notes = b"some notes\n";
    let fill = |at: &std::path::Path| {
        std::fs::write(at.join("notes"), notes)?;
        Ok(std::fs::write(at.join("data.bin"), contents)?)
    };
    if filled(&folder, &image, fill)?.is_none() {
        return Ok(());
    }
    let downloads = folder.path().join("downloads");
    std::fs::create_dir(&downloads)?;
    fslab_e2e::run("#explore", async |page| {
        let wish = json!({ "behavior": "allow", "downloadPath": downloads.to_string_lossy() });
        page.driver
            .cdp()
            .send_raw("Browser.setDownloadBehavior", wish)
            .await?;
        open_image(page, &image).await?;
        find(page, "/data.bin").await?;
        wait_for_text_in(page, "#selection", "9,000,001 bytes").await?;
        page.click("button", "Save…").await?;
        let saved = downloaded(&downloads.join("data.bin"), wanted.len() as u64).await?;
        ensure!(
            saved == wanted,
            "The saved file differs from the one that was written."
        );
        find(page, "/notes").await?;
        wait_for_text_in(page, "#selection", "of 11 bytes").await?;
        page.click("button", "Save…").await?;
        let saved = downloaded(&downloads.join("notes"), notes.len() as u64).await?;
        ensure!(saved == notes, "The notes differ from those written.");
        Ok(())
    })
    .await
}
