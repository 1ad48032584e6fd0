//! A visitor looks into an image: what is shown, and how one gets from one thing to another.

mod common;

use anyhow::{Result, ensure};
use common::{
    filled, find, folder, have, mke2fs, open_image, scanned, wait_for_address, wait_for_text_in,
};
use thirtyfour::Key;

#[tokio::test]
async fn a_first_visit_shows_a_sample() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.wait_for_text("This is a small sample").await?;
        page.find("tree", "Files").await?;
        scanned(page).await?;
        wait_for_address(page, "#s=").await?;
        page.screenshots("first-visit").await
    })
    .await
}

#[tokio::test]
async fn every_sample_opens_from_the_start() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        page.click("button", "Samples").await?;
        page.wait_for_text("See inside an ext2, ext3 or ext4 filesystem")
            .await?;
        page.screenshots("start").await?;
        let count: usize = page
            .evaluate("return document.querySelectorAll('.sample').length")
            .await?;
        ensure!(count > 0, "There are no samples.");
        for nr in 0..count {
            page.evaluate::<()>(&format!(
                "document.querySelectorAll('.sample')[{nr}].click()"
            ))
            .await?;
            page.find("tree", "Files").await?;
            scanned(page).await?;
            page.click("button", "Samples").await?;
            page.wait_for_text("See inside an ext2, ext3 or ext4 filesystem")
                .await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_file_is_followed_to_its_extents_to_its_bytes() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    let image = mke2fs(&folder, "kernel.img", "16M", &["-t", "ext4", "-b", "4096"])?;
    let fill = |at: &std::path::Path| {
        std::fs::create_dir(at.join("notes"))?;
        std::fs::write(
            at.join("notes/first.txt"),
            "the first words of this file\n".repeat(400),
        )?;
        Ok(())
    };
    if filled(&folder, &image, fill)?.is_none() {
        return Ok(());
    }
    fslab_e2e::run("#explore", async |page| {
        open_image(page, &image).await?;
        find(page, "/notes/first.txt").await?;
        wait_for_text_in(page, "#selection", "A regular file of 11,600 bytes").await?;
        // Its one run, drawn as a leaf of the tree.
        page.click("button", "of the file are blocks").await?;
        wait_for_address(page, "&b=").await?;
        wait_for_text_in(page, "#selection .say", "of the file /notes/first.txt").await?;
        // "the firs"
        wait_for_text_in(page, ".bytes", "74 68 65 20 66 69 72 73").await?;
        // The tree of files shows it, though it was found by its path.
        wait_for_text_in(page, ".tree .selected", "first.txt").await?;
        page.screenshots("block").await
    })
    .await
}

#[tokio::test]
async fn a_block_found_by_number_tells_its_owner() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        scanned(page).await?;
        // The root directory's first block, by way of its inode.
        find(page, "inode 2").await?;
        wait_for_text_in(page, "#selection .say", "directory").await?;
        page.click("button", "of the file").await?;
        wait_for_text_in(page, "#selection dl", "directory").await?;
        wait_for_text_in(page, "#selection dl", "inode 2").await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_click_in_the_map_tells_whose_the_block_is() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        scanned(page).await?;
        page.click("tab", "Map").await?;
        page.select(".map canvas").await?;
        // There are gaps between the groups, so one place may be beside all of them.
        for part in [0.15, 0.25, 0.35] {
            let script = format!(
                "const r = document.querySelector('.map canvas').getBoundingClientRect();
                return [Math.round(r.x + r.width * {part}), Math.round(r.y + r.height * {part})]"
            );
            let (x, y): (i64, i64) = page.evaluate(&script).await?;
            page.driver
                .action_chain()
                .move_to(x, y)
                .click()
                .perform()
                .await?;
        }
        // From afar one square may stand for a group.
        fslab_e2e::until("a choice", async || {
            let address = page.fragment().await?;
            Ok((address.contains("&b=") || address.contains("&g=")).then_some(()))
        })
        .await?;
        page.screenshots("chosen-in-the-map").await?;
        // By keys: to the first block, and choose it.
        let keys = format!("{}{}", Key::Home.value(), Key::Enter.value());
        page.driver
            .action_chain()
            .send_keys(keys.as_str())
            .perform()
            .await?;
        wait_for_text_in(page, "#selection .way", "Block 0").await?;
        wait_for_text_in(page, "#selection .say", "Block 0").await
    })
    .await
}

#[tokio::test]
async fn a_field_lights_its_bytes_and_a_byte_its_field() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        find(page, "inode 2").await?;
        page.click("button", "i_links_count").await?;
        // i_links_count is bytes 26 and 27 of an inode.
        wait_for_address(page, "x=26+2").await?;
        let lit: Vec<String> = page
            .evaluate("return [...document.querySelectorAll('.hex-bytes .chosen')].map(e => e.dataset.byte)")
            .await?;
        ensure!(lit == ["26", "27"], "The chosen bytes are {lit:?}.");
        wait_for_text_in(page, ".caption", "i_links_count").await?;
        // The other way round: i_mode is the first two.
        page.evaluate::<()>("document.querySelector('.hex-bytes [data-byte=\"1\"]').click()").await?;
        wait_for_address(page, "x=0+2").await?;
        wait_for_text_in(page, ".field.chosen", "i_mode").await
    })
    .await
}

#[tokio::test]
async fn the_address_brings_everything_back() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        scanned(page).await?;
        find(page, "inode 2").await?;
        wait_for_address(page, "i=2").await?;
        page.click("tab", "Journal").await?;
        wait_for_address(page, "v=journal").await?;
        let address = page.fragment().await?;
        page.reload().await?;
        page.find("tree", "Files").await?;
        ensure!(
            page.fragment().await? == address,
            "The reload changed the address."
        );
        wait_for_text_in(page, "#selection", "Inode 2").await?;
        ensure!(
            page.find("tab", "Journal")
                .await?
                .attr("aria-selected")
                .await?
                .as_deref()
                == Some("true")
        );
        // Back to the picture before, then to no selection.
        page.driver.back().await?;
        fslab_e2e::until("the overview", async || {
            let tab = page.find("tab", "Overview").await?;
            Ok((tab.attr("aria-selected").await?.as_deref() == Some("true")).then_some(()))
        })
        .await?;
        page.driver.back().await?;
        wait_for_text_in(page, "#selection", "filesystem of").await?;
        page.driver.forward().await?;
        wait_for_text_in(page, "#selection", "Inode 2").await
    })
    .await
}

#[tokio::test]
async fn a_file_of_ones_own_is_asked_for_again_after_a_reload() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    let image = mke2fs(&folder, "my disk.img", "4M", &["-t", "ext2"])?;
    fslab_e2e::run("#explore", async |page| {
        open_image(page, &image).await?;
        find(page, "inode 11").await?;
        wait_for_address(page, "#f=my%20disk.img&i=11").await?;
        page.reload().await?;
        page.wait_for_text("Choose my disk.img to go on where the address leads")
            .await?;
        page.upload(common::INPUT, &image).await?;
        wait_for_text_in(page, "#selection", "Inode 11").await?;
        wait_for_address(page, "i=11").await
    })
    .await
}

#[tokio::test]
async fn the_map_is_filtered() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        scanned(page).await?;
        page.click("button", "Journal").await?;
        wait_for_address(page, "k=journal").await?;
        page.screenshots("filtered").await?;
        page.driver.action_chain().send_keys("a").perform().await?;
        fslab_e2e::until("all kinds to be shown", async || {
            Ok((!page.fragment().await?.contains("k=")).then_some(()))
        })
        .await
    })
    .await
}

#[tokio::test]
async fn keys_alone_are_enough() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        scanned(page).await?;
        let press = async |keys: &str| -> Result<()> {
            page.driver.action_chain().send_keys(keys).perform().await?;
            Ok(())
        };
        // Letters do nothing while one types.
        press("/").await?;
        press("inode 2").await?;
        press(&Key::Enter.value().to_string()).await?;
        wait_for_address(page, "i=2").await?;
        press(&Key::Escape.value().to_string()).await?;
        // The input is left; now a digit turns to a picture.
        press("4").await?;
        wait_for_address(page, "v=groups").await?;
        press("1").await?;
        press(&Key::Escape.value().to_string()).await?;
        wait_for_text_in(page, "#selection", "filesystem of").await?;
        // The tree: down from the root, choose.
        page.evaluate::<()>("document.querySelector('[role=tree]').focus()")
            .await?;
        press(&Key::Down.value().to_string()).await?;
        press(&Key::Enter.value().to_string()).await?;
        wait_for_address(page, "i=").await?;
        press("?").await?;
        page.find("dialog", "Commands and keys").await?;
        page.screenshots("commands").await?;
        press(&Key::Escape.value().to_string()).await?;
        fslab_e2e::until("the list of commands to close", async || {
            let open: bool = page
                .evaluate("return document.querySelector('dialog').open")
                .await?;
            Ok((!open).then_some(()))
        })
        .await
    })
    .await
}

#[tokio::test]
async fn every_view_in_every_size() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        scanned(page).await?;
        find(page, "inode 2").await?;
        wait_for_address(page, "i=2").await?;
        for (name, word) in [
            ("Overview", "overview"),
            ("Map", "map"),
            ("File’s blocks", "tree"),
            ("Groups", "groups"),
            ("Journal", "journal"),
            ("Problems", "problems"),
            ("Superblock", "superblock"),
        ] {
            page.click("tab", name).await?;
            page.screenshots(word).await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn nothing_is_cut_off_on_a_narrow_screen() -> Result<()> {
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        scanned(page).await?;
        page.resize(390, 844).await?;
        for pane in ["Files", "Selection", "More", "Map"] {
            page.evaluate::<()>(&format!(
                "[...document.querySelectorAll('.panes button')].find(b => b.innerText === {pane:?}).click()"
            ))
            .await?;
            let wide: bool = page
                .evaluate("return document.documentElement.scrollWidth > innerWidth")
                .await?;
            ensure!(!wide, "The page is wider than the screen in {pane}.");
            page.save_picture(&format!("narrow-{}", pane.to_lowercase())).await?;
        }
        Ok(())
    })
    .await
}

/// A disk with an MBR: two partitions, of which the second holds `image`.
fn disk(folder: &tempfile::TempDir, image: &std::path::Path) -> Result<std::path::PathBuf> {
    const START: usize = 4096;
    let filesystem = std::fs::read(image)?;
    let sectors = u32::try_from(filesystem.len() / 512)?;
    let mut disk = vec![0; START * 512];
    for (nr, kind, first, count) in [(0, 0x0c, 2048, 2048), (1, 0x83, START as u32, sectors)] {
        let entry = &mut disk[446 + nr * 16..][..16];
        entry[4] = kind;
        entry[8..12].copy_from_slice(&first.to_le_bytes());
        entry[12..16].copy_from_slice(&u32::to_le_bytes(count));
    }
    disk[510..512].copy_from_slice(&[0x55, 0xaa]);
    disk.extend(filesystem);
    let path = folder.path().join("disk.img");
    std::fs::write(&path, disk)?;
    Ok(path)
}

#[tokio::test]
async fn a_partition_of_a_disk_is_chosen() -> Result<()> {
    if !have("mke2fs") {
        return Ok(());
    }
    let folder = folder()?;
    let image = mke2fs(&folder, "part.img", "8M", &["-t", "ext4", "-L", "second"])?;
    let disk = disk(&folder, &image)?;
    fslab_e2e::run("#explore", async |page| {
        page.find("tree", "Files").await?;
        page.upload(common::INPUT, &disk).await?;
        page.wait_for_text("disk.img holds 2 partitions").await?;
        page.screenshots("partitions").await?;
        page.click("button", "Open partition 2").await?;
        page.find("tree", "Files").await?;
        wait_for_address(page, "p=2").await?;
        wait_for_text_in(page, "#selection dl", "second").await?;
        // The address names the partition, so that it is not asked for again.
        page.reload().await?;
        page.wait_for_text("Choose disk.img to go on").await?;
        page.upload(common::INPUT, &disk).await?;
        wait_for_text_in(page, "#selection dl", "second").await
    })
    .await
}
