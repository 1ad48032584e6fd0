//! Superblocks, descriptors and the file itself.

use super::Expect;
use super::bench::{Bench, Done, pattern, text};
use std::fs::OpenOptions;

const PLAIN: &str = "-t ext4 -b 1024 -O ^metadata_csum,^has_journal";
const SUPER: u64 = 1024;

/// A clean filesystem with one file; of 8 MiB it has one group and no backups.
fn clean(bench: &Bench, mib: u64, words: &str) -> Done<Vec<u8>> {
    bench.mkfs(mib, words)?;
    let contents = pattern(9, 3000);
    bench.put("file", &contents)?;
    Ok(contents)
}

/// 1 where it must be 0: every group is a block further on than it is.
pub fn first_data_block(bench: &Bench) -> Done<Expect> {
    clean(bench, 24, "-t ext4 -b 4096 -O ^metadata_csum,^has_journal")?;
    bench.patch(SUPER + 20, &1u32.to_le_bytes())?;
    Ok(Expect {
        opens: None,
        note: "the kernel refuses it: first_data_block is 1 with blocks of 4 KiB".to_owned(),
        ..Expect::default()
    })
}

/// Nothing is left of the first superblock and descriptors.
pub fn backup_only(bench: &Bench) -> Done<Expect> {
    let contents = clean(bench, 24, PLAIN)?;
    // The copies are not kept up to date while writing: by e2fsck they are.
    let words = ["-fy".as_ref(), bench.image.as_os_str()];
    super::super::tools::output(&mut super::super::tools::limited(30, "e2fsck", &words))?;
    bench.patch(SUPER, &[0; 2048])?;
    let expect = Expect::opened("from the copy in block 8193, saying so");
    Ok(expect.content("file", &contents))
}

pub fn zero_geometry(bench: &Bench) -> Done<Expect> {
    clean(bench, 8, "-t ext2 -b 1024")?;
    // Blocks and inodes in a group.
    bench.patch(SUPER + 32, &[0; 12])?;
    let note = "no blocks in a group, and no copy to open from".to_owned();
    Ok(Expect {
        opens: Some(false),
        note,
        ..Expect::default()
    })
}

pub fn huge_block_size(bench: &Bench) -> Done<Expect> {
    clean(bench, 8, "-t ext2 -b 1024")?;
    bench.patch(SUPER + 24, &60u32.to_le_bytes())?;
    let note = "blocks of 2^70 bytes, and no copy to open from".to_owned();
    Ok(Expect {
        opens: Some(false),
        note,
        ..Expect::default()
    })
}

pub fn descriptor_128(bench: &Bench) -> Done<Expect> {
    let contents = clean(bench, 24, "-t ext4 -b 1024 -O 64bit -E desc_size=128")?;
    let size = bench.bytes(SUPER + 254, 2)?;
    if size != [128, 0] {
        return Err(format!("mke2fs made descriptors of {size:?} bytes"));
    }
    Ok(Expect::opened("128-byte descriptors").content("file", &contents))
}

/// Half of the file is gone; what is in the first half can be read.
pub fn truncated(bench: &Bench) -> Done<Expect> {
    let contents = clean(bench, 24, PLAIN)?;
    let file = OpenOptions::new()
        .write(true)
        .open(&bench.image)
        .map_err(text)?;
    file.set_len(12 << 20).map_err(text)?;
    Ok(Expect::opened("12 of 24 MiB").content("file", &contents))
}

/// Descriptors that point past the end.
pub fn blocks_beyond(bench: &Bench) -> Done<Expect> {
    clean(bench, 24, PLAIN)?;
    // The second group's bitmaps and inode table.
    let size = u64::from(u16::from_le_bytes(two(&bench.bytes(SUPER + 254, 2)?)));
    bench.patch(2048 + size.max(32), &0x7FFF_FFFFu32.to_le_bytes().repeat(3))?;
    Ok(Expect {
        opens: None,
        note: "group 1 is past the end".to_owned(),
        ..Expect::default()
    })
}

fn two(bytes: &[u8]) -> [u8; 2] {
    [bytes[0], bytes[1]]
}

pub fn unknown_incompat(bench: &Bench) -> Done<Expect> {
    clean(bench, 24, PLAIN)?;
    let now = bench.bytes(SUPER + 96, 4)?;
    bench.patch(SUPER + 99, &[now[3] | 0x40])?;
    let note = "an incompatible feature without a name, bit 30".to_owned();
    Ok(Expect {
        opens: None,
        note,
        ..Expect::default()
    })
}

/// An orphan's next orphan, kept in its deletion time, is itself.
pub fn orphan_loop(bench: &Bench) -> Done<Expect> {
    let contents = clean(bench, 24, PLAIN)?;
    let (number, _) = bench.stat("file")?;
    bench.debugfs(&[
        &format!("ssv last_orphan {number}"),
        &format!("sif file dtime @0x{number:x}"),
    ])?;
    Ok(Expect::opened("the orphan list ends in itself").content("file", &contents))
}
