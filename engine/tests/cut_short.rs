//! Images that claim more than they hold cost what they hold.

mod exercise;

use fslab_engine::ext4::layout::Superblock;
use fslab_engine::ext4::read::Fs;
use fslab_engine::view::owners::Kind;
use std::process::Command;

/// A small filesystem made by mke2fs, as bytes.
fn small(options: &[&str]) -> Option<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("image");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(4 << 20)
        .unwrap();
    let made = Command::new("mke2fs")
        .args(["-q", "-F", "-b", "1024"])
        .args(options)
        .arg(&path)
        .status();
    if !made.is_ok_and(|s| s.success()) {
        eprintln!("skipped: mke2fs is absent");
        return None;
    }
    Some(std::fs::read(path).unwrap())
}

#[test]
fn a_superblock_may_claim_terabytes() {
    let Some(mut image) = small(&[
        "-t",
        "ext4",
        "-O",
        "^has_journal,^resize_inode,^sparse_super",
    ]) else {
        return;
    };
    Superblock(&mut image[1024..2048]).set_s_blocks_count_lo(u32::MAX);
    let map = exercise::everything(&image).unwrap();
    // 4 MiB are 4096 blocks; past group 0, whose descriptors would go on, nothing is known.
    let rest = map.between(8193, u32::MAX.into());
    assert!(
        rest.iter().all(|r| r.kind == Kind::Unknown),
        "{:?}",
        &rest[..rest.len().min(5)]
    );
    assert!(map.runs.len() < 100, "{} runs", map.runs.len());
}

#[test]
fn an_image_cut_in_half_shows_its_half() {
    let Some(mut image) = small(&["-t", "ext4", "-g", "1024", "-G", "1", "-O", "^has_journal"])
    else {
        return;
    };
    image.truncate(2 << 20);
    let fs = Fs::open(&image).unwrap();
    assert!(
        fs.problems()
            .iter()
            .any(|p| p.to_string().contains("ends after 2097152"))
    );
    let map = exercise::everything(&image).unwrap();
    // 2 MiB are blocks 0 to 2047; mke2fs has put nothing at the end of group 1.
    assert_eq!(map.at(2047).unwrap().kind, Kind::Free);
    assert_eq!(map.at(2048).unwrap().kind, Kind::Unknown);
    assert_eq!(map.at(4000).unwrap().kind, Kind::Unknown);
}
