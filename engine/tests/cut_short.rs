//! Images that claim more than they hold cost what they hold.

mod exercise;

use fslab_engine::ext4::layout::Superblock;
use fslab_engine::ext4::read::{Fs, SuperblockAt};
use fslab_engine::units::InodeNr;
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

#[test]
fn a_superblock_without_a_backup_is_used_in_spite_of_its_checksum() {
    // 4 MiB of 1 KiB are one group of 8192 blocks: there is no backup.
    let Some(mut image) = small(&["-t", "ext4", "-O", "^has_journal"]) else {
        return;
    };
    assert!(Fs::open(&image).unwrap().problems().is_empty());
    Superblock(&mut image[1024..2048]).set_s_free_inodes_count(1);
    let fs = Fs::open(&image).unwrap();
    assert_eq!(fs.superblock_at(), SuperblockAt::Primary);
    assert!(
        fs.problems()[0]
            .to_string()
            .starts_with("The superblock has checksum")
    );
}

#[test]
fn one_of_a_thing_is_said_in_the_singular() {
    let Some(mut image) = small(&["-t", "ext4", "-O", "^has_journal", "-N", "512"]) else {
        return;
    };
    Superblock(&mut image[1024..2048]).set_s_inodes_count(100);
    let fs = Fs::open(&image).unwrap();
    let said: Vec<String> = fs.problems().iter().map(ToString::to_string).collect();
    assert!(
        said.iter()
            .any(|s| s.ends_with("expected 512, for 1 group of 512")),
        "{said:?}"
    );
    let (block, offset) = fs.inode_place(InodeNr(2)).unwrap();
    // The root's one extent, behind the 12 bytes of its tree's header at 0x28.
    let leaf = block.0 as usize * 1024 + offset + 0x28 + 12;
    let problem_with = |image: &Vec<u8>| {
        let fs = Fs::open(image).unwrap();
        let runs = fs.runs(&fs.inode(InodeNr(2)).unwrap());
        runs.problems.first().map(ToString::to_string)
    };
    assert_eq!(problem_with(&image), None);
    let start = &mut image[leaf + 8..][..4];
    start.copy_from_slice(&4096u32.to_le_bytes());
    assert_eq!(
        problem_with(&image).unwrap(),
        "Inode 2 has ee_start = 4096; expected 1 block of the filesystem, up to 4095"
    );
}

#[test]
fn a_wrong_block_count_is_read_from_the_backup() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("image");
    std::fs::File::create(&path)
        .unwrap()
        .set_len(20 << 20)
        .unwrap();
    let options = ["-q", "-F", "-t", "ext4", "-b", "1024"];
    let made = Command::new("mke2fs").args(options).arg(&path).status();
    if !made.is_ok_and(|s| s.success()) {
        eprintln!("skipped: mke2fs is absent");
        return;
    }
    let mut image = std::fs::read(&path).unwrap();
    Superblock(&mut image[1024..2048]).set_s_blocks_count_lo(5000);
    let fs = Fs::open(&image).unwrap();
    // 20 MiB of 1 KiB; the first backup of groups of 8192 blocks is at block 8193.
    assert_eq!(fs.geometry().blocks, 20480);
    let first = SuperblockAt::Backup {
        group: 1,
        block_size: 1024,
    };
    assert_eq!(fs.superblock_at(), first);
    assert!(
        fs.problems()[0]
            .to_string()
            .starts_with("The superblock has checksum")
    );
}

#[test]
fn files_are_found_though_the_superblock_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (path, source) = (dir.path().join("image"), dir.path().join("source"));
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("here"), b"still here").unwrap();
    std::fs::File::create(&path)
        .unwrap()
        .set_len(20 << 20)
        .unwrap();
    let options = ["-q", "-F", "-t", "ext4", "-b", "1024", "-d"];
    let made = Command::new("mke2fs")
        .args(options)
        .arg(&source)
        .arg(&path)
        .status();
    if !made.is_ok_and(|s| s.success()) {
        eprintln!("skipped: mke2fs is absent");
        return;
    }
    let mut image = std::fs::read(&path).unwrap();
    let read = |image: &Vec<u8>| {
        let fs = Fs::open(image).unwrap();
        let content = fs.content(&fs.resolve(b"/here").unwrap());
        let mut bytes = vec![0; content.size as usize];
        fs.read_content(&content, 0, &mut bytes).unwrap();
        bytes
    };
    // The descriptors in block 2 are newer than their backups, and still hold.
    image[1024..2048].fill(0);
    assert_eq!(read(&image), b"still here");
    // With them gone too, the backup's marks of what is not initialised are from before
    // the file was made: they do not count.
    image[2048..4096].fill(0);
    assert_eq!(read(&image), b"still here");
    let map = exercise::everything(&image).unwrap();
    assert_eq!(map.totals()[Kind::Unowned.index()], 0);
}
