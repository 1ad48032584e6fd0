//! A filesystem whose journal is in another file.

mod common;

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use common::{INPUT, folder, have, mke2fs, open_image, run, wait_for_text_in};

/// A file as a block device, which mke2fs asks for; gone when this is.
struct Loop(String);

impl Loop {
    /// `None`, said so, where there are none.
    fn over(file: &Path) -> Result<Option<Self>> {
        let output = Command::new("losetup")
            .args(["-f", "--show"])
            .arg(file)
            .output()
            .context("losetup does not run.")?;
        if !output.status.success() {
            eprintln!("skipped: no loop device");
            return Ok(None);
        }
        let name = String::from_utf8(output.stdout)?;
        Ok(Some(Self(name.trim().into())))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Err(why) = run("losetup", &["-d", &self.0]) {
            eprintln!("{why}");
        }
    }
}

#[tokio::test]
async fn a_journal_on_another_device_is_added_and_not_forgotten() -> Result<()> {
    if !have("mke2fs") || !have("losetup") {
        return Ok(());
    }
    let folder = folder()?;
    let journal = mke2fs(
        &folder,
        "journal.img",
        "4M",
        &["-b", "1024", "-O", "journal_dev"],
    )?;
    let Some(device) = Loop::over(&journal)? else {
        return Ok(());
    };
    let with = format!("device={}", device.0);
    let image = mke2fs(
        &folder,
        "far.img",
        "16M",
        &["-t", "ext4", "-b", "1024", "-J", &with],
    )?;
    let other = mke2fs(&folder, "other.img", "4M", &["-t", "ext2"])?;
    drop(device);
    fslab_e2e::run("#explore", async |page| {
        open_image(page, &image).await?;
        page.click("tab", "Journal").await?;
        // Another file than it is asked for, then the right one.
        let said = ".pictures";
        page.upload("#journal-file", &other).await?;
        wait_for_text_in(page, said, "not an external journal").await?;
        page.upload("#journal-file", &journal).await?;
        wait_for_text_in(page, said, "in a device of its own").await?;
        // Away from the image and back.
        page.upload(INPUT, &other).await?;
        wait_for_text_in(page, ".what", "other.img").await?;
        page.driver.back().await?;
        wait_for_text_in(page, ".what", "far.img").await?;
        wait_for_text_in(page, said, "in a device of its own").await?;
        ensure!(page.fragment().await?.contains("v=journal"));
        Ok(())
    })
    .await
}
