//! A file that changes on the disk after it was chosen.

mod common;

use std::io::Write as _;

use anyhow::Result;
use common::{find, folder, have, mke2fs, open_image};

#[tokio::test]
async fn a_file_that_changed_is_to_be_chosen_again() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    // Larger than what the worker keeps, 16 MiB.
    let image = mke2fs(
        &folder,
        "changing.img",
        "96M",
        &["-t", "ext4", "-b", "4096"],
    )?;
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        open_image(page, &image).await?;
        let mut file = std::fs::OpenOptions::new().append(true).open(&image)?;
        file.write_all(b"more")?;
        drop(file);
        find(page, "block 20000").await?;
        page.wait_for_text("the file has changed or gone since it was chosen; choose it again")
            .await?;
        page.screenshots("changed-file").await
    })
    .await
}
