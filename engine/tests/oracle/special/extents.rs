//! Extent trees, whole, odd and damaged. Without checksums on metadata, so that
//! the damage meant is the only one.

use super::Expect;
use super::bench::{Bench, Done, pattern};

const BLOCK: u64 = 1024;
const PLAIN: &str = "-t ext4 -b 1024 -O ^metadata_csum,^has_journal";

/// A file with more extents than its inode holds: `count` of them.
fn checkered(bench: &Bench, count: u64) -> Done<Vec<u8>> {
    bench.mkfs(16, PLAIN)?;
    bench.put_checkered("file", BLOCK, count)
}

/// The one leaf says that it is an index, whose only child is itself.
pub fn self_index(bench: &Bench) -> Done<Expect> {
    checkered(bench, 20)?;
    let leaf = bench.tree_block("file", "ETB0")?;
    let index = |depth: u16| {
        let mut bytes = Vec::new();
        for half in [0xF30A, 1, 84, depth, 0, 0] {
            bytes.extend_from_slice(&half.to_le_bytes());
        }
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes.extend_from_slice(&(leaf as u32).to_le_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes
    };
    bench.patch(leaf * BLOCK, &index(1))?;
    Ok(Expect::opened("an index block points at itself").damaged("file"))
}

/// Depths fall as they should, but at each level the same block is met.
pub fn deep_loop(bench: &Bench) -> Done<Expect> {
    self_index(bench)?;
    // The root says five levels; each further one is the block of before.
    bench.debugfs(&["sif file block[1] 0x50004"])?;
    Ok(Expect::opened("five levels, all of one block").damaged("file"))
}

/// A double indirect block whose pointers are to itself.
pub fn indirect_loop(bench: &Bench) -> Done<Expect> {
    bench.mkfs(16, "-t ext2 -b 1024")?;
    let contents = pattern(4, 300 * BLOCK as usize);
    bench.put("file", &contents)?;
    let double = bench.tree_block("file", "DIND")?;
    bench.patch(double * BLOCK, &(double as u32).to_le_bytes().repeat(256))?;
    Ok(Expect::opened("the double indirect block points at itself").tolerated("file"))
}

/// The blocks of unwritten extents hold other bytes, that must not be seen.
pub fn unwritten(bench: &Bench) -> Done<Expect> {
    bench.mkfs(16, PLAIN)?;
    let head = pattern(5, 3 * BLOCK as usize);
    bench.put("file", &head)?;
    bench.debugfs(&["fallocate file 0 19", "sif file size 20480"])?;
    let extents = bench.stat("file")?.1.extents;
    let unwritten: Vec<_> = extents.iter().filter(|extent| extent.unwritten).collect();
    if unwritten.is_empty() {
        return Err("debugfs made no unwritten extent".to_owned());
    }
    for extent in unwritten {
        bench.patch(
            extent.physical * BLOCK,
            &pattern(6, (extent.len * BLOCK) as usize),
        )?;
    }
    let mut wanted = head;
    wanted.resize(20 * BLOCK as usize, 0);
    Ok(Expect::opened("old bytes under unwritten extents").content("file", &wanted))
}

pub fn hole_at_end(bench: &Bench) -> Done<Expect> {
    bench.mkfs(16, PLAIN)?;
    let mut contents = pattern(7, 1500);
    bench.put("file", &contents)?;
    bench.put("empty", b"")?;
    bench.debugfs(&["sif file size 10001", "sif empty size 5000"])?;
    // What is in a block past the size of before is zero here: mke2fs's.
    contents.resize(10_001, 0);
    let expect = Expect::opened("sizes past the last extent");
    Ok(expect
        .content("file", &contents)
        .content("empty", &[0; 5000]))
}

/// Two levels of index: several index nodes below the root.
pub fn index_nodes(bench: &Bench) -> Done<Expect> {
    let contents = checkered(bench, 1200)?;
    bench.tree_block("file", "ETB1")?;
    Ok(Expect::opened("1200 extents").content("file", &contents))
}

/// One leaf of 4 KiB with more entries than 512 bytes hold.
pub fn long_node(bench: &Bench) -> Done<Expect> {
    bench.mkfs(16, "-t ext4 -b 4096 -O ^metadata_csum,^has_journal")?;
    let contents = bench.put_checkered("file", 4096, 300)?;
    Ok(Expect::opened("300 extents in a leaf").content("file", &contents))
}

pub fn empty_index(bench: &Bench) -> Done<Expect> {
    checkered(bench, 20)?;
    bench.debugfs(&["sif file block[0] 0x0000F30A"])?;
    Ok(Expect::opened("depth 1 and no entry").damaged("file"))
}

/// Two extents in the inode, made by a hole between.
fn two_extents(bench: &Bench) -> Done<[u64; 6]> {
    bench.mkfs(16, PLAIN)?;
    bench.put_checkered("file", BLOCK, 2)?;
    let (_, stat) = bench.stat("file")?;
    let first = stat.extents.first().ok_or("no extent")?;
    let second = stat.extents.get(1).ok_or("no second extent")?;
    Ok([
        first.logical,
        first.len,
        first.physical,
        second.logical,
        second.len,
        second.physical,
    ])
}

pub fn out_of_order(bench: &Bench) -> Done<Expect> {
    let [logical, len, physical, logical2, len2, physical2] = two_extents(bench)?;
    set_words(bench, &[logical2, len2, physical2, logical, len, physical])?;
    Ok(Expect::opened("the second extent is first").damaged("file"))
}

pub fn overlap(bench: &Bench) -> Done<Expect> {
    let [logical, _, physical, logical2, len2, physical2] = two_extents(bench)?;
    set_words(bench, &[logical, 5, physical, logical2, len2, physical2])?;
    Ok(Expect::opened("the first extent reaches over the second").damaged("file"))
}

pub fn past_end(bench: &Bench) -> Done<Expect> {
    let [logical, len, physical, logical2, len2, _] = two_extents(bench)?;
    set_words(
        bench,
        &[logical, len, physical, logical2, len2, 0x7FFF_FFFF],
    )?;
    Ok(Expect::opened("the second extent is past the end").damaged("file"))
}

pub fn past_logical(bench: &Bench) -> Done<Expect> {
    let [logical, len, physical, _, _, physical2] = two_extents(bench)?;
    set_words(
        bench,
        &[logical, len, physical, 0xFFFF_FFF0, 0x8000, physical2],
    )?;
    Ok(Expect::opened("an extent past the last logical block").damaged("file"))
}

/// The two entries after the header, word by word.
fn set_words(bench: &Bench, words: &[u64; 6]) -> Done {
    let names = ["3", "4", "5", "6", "7", "8"];
    let set = |(name, value): (&&str, &u64)| format!("sif file block[{name}] {value:#x}");
    let commands: Vec<String> = names.iter().zip(words).map(set).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    bench.debugfs(&commands).map(drop)
}
