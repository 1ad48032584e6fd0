//! Directories, symlinks, inline data and attributes that are not what they say.

use super::Expect;
use super::bench::{Bench, Done, pattern};

const BLOCK: u64 = 1024;
const PLAIN: &str = "-t ext4 -b 1024 -O ^metadata_csum,^has_journal";

pub fn symlink_length(bench: &Bench) -> Done<Expect> {
    bench.mkfs(8, PLAIN)?;
    let slow = "s".repeat(100);
    bench.debugfs(&[
        "symlink good target",
        "symlink fast target",
        "symlink fast-huge target",
        &format!("symlink slow {slow}"),
        &format!("symlink slow-huge {slow}"),
        "sif fast size 200",
        "sif fast-huge size 0x10000000000",
        "sif slow size 5000",
        "sif slow-huge size 0x7fffffffffff",
    ])?;
    let expect = Expect::opened("lengths beyond inode and block").damaged("fast");
    Ok(expect
        .damaged("fast-huge")
        .damaged("slow")
        .damaged("slow-huge"))
}

/// Sizes that the inode and its attribute cannot hold, and one below the 60
/// bytes that the inode always holds.
pub fn inline_length(bench: &Bench) -> Done<Expect> {
    bench.mkfs(
        8,
        "-t ext4 -b 1024 -O inline_data,^metadata_csum,^has_journal",
    )?;
    let (short, long) = (pattern(1, 40), pattern(2, 120));
    for (name, bytes) in [
        ("short", &short),
        ("long", &long),
        ("cut", &long),
        ("over", &long),
    ] {
        bench.put(name, bytes)?;
    }
    bench.debugfs(&[
        "sif cut size 30",
        "sif over size 1000",
        "mkdir dir",
        "sif dir size 4000",
    ])?;
    let expect = Expect::opened("size 30 and 1000 of 120 bytes inline");
    let expect = expect
        .content("short", &short)
        .content("long", &long)
        .content("cut", &long[..30]);
    Ok(expect.tolerated("over").tolerated("dir"))
}

pub fn directory_loop(bench: &Bench) -> Done<Expect> {
    bench.mkfs(8, PLAIN)?;
    bench.debugfs(&["mkdir a", "mkdir a/b", "ln a a/b/up", "ln <2> a/root"])?;
    Ok(Expect::opened("a/b/up is a, a/root is the root")
        .tolerated("a/b/up")
        .tolerated("a/root"))
}

/// Record lengths of 0, 4 and past the block; a name longer than its record.
pub fn bad_entries(bench: &Bench) -> Done<Expect> {
    bench.mkfs(8, PLAIN)?;
    let mut expect = Expect::opened("records of lengths that cannot be");
    for (name, length, name_length) in [
        ("zero", 0u16, 1u8),
        ("four", 4, 1),
        ("past", 2000, 1),
        ("name", 12, 200),
    ] {
        bench.debugfs(&[&format!("mkdir {name}"), &format!("symlink {name}/x y")])?;
        let (_, stat) = bench.stat(name)?;
        let start = stat.extents.first().ok_or("no block")?.physical * BLOCK;
        // After `.` and `..`, of twelve bytes each: inode, length, name length.
        let third = start + 24;
        bench.patch(third + 4, &length.to_le_bytes())?;
        bench.patch(third + 6, &[name_length])?;
        expect = expect.damaged(name);
    }
    Ok(expect)
}

/// A directory with an index, whose root's entries are to the root itself.
pub fn htree_loop(bench: &Bench) -> Done<Expect> {
    bench.mkfs(16, PLAIN)?;
    let mut commands = vec!["mkdir dir".to_owned(), "cd dir".to_owned()];
    commands.extend((0..200).map(|number| format!("symlink name-{number:04} target")));
    let words: Vec<&str> = commands.iter().map(String::as_str).collect();
    bench.debugfs(&words)?;
    let fsck = ["-fyD".as_ref(), bench.image.as_os_str()];
    super::super::tools::output(&mut super::super::tools::limited(30, "e2fsck", &fsck))?;
    let (_, stat) = bench.stat("dir")?;
    if stat.entry.flags & 0x1000 == 0 {
        return Err("e2fsck -D made no index".to_owned());
    }
    let root = stat.extents.first().ok_or("no block")?.physical * BLOCK;
    // dx_root: two entries of 12 bytes, 8 bytes of info, limit and count, then
    // the block of the first entry; hash and block of the others.
    let count = bench.bytes(root + 34, 2)?;
    let count = u64::from(u16::from_le_bytes([count[0], count[1]]));
    for index in 0..count {
        bench.patch(root + 32 + 8 * index + 4, &0u32.to_le_bytes())?;
    }
    // One level more than there is, so that entries are taken for nodes.
    bench.patch(root + 30, &[1])?;
    Ok(Expect::opened("linear reading still finds all 200 names").tolerated("dir"))
}

fn with_xattr_block(bench: &Bench, words: &str, value: &[u8]) -> Done {
    bench.mkfs(16, words)?;
    bench.put("file", b"contents")?;
    let input = bench.beside(value)?;
    bench
        .debugfs(&[&format!("ea_set -f {} file user.big", input.display())])
        .map(drop)
}

pub fn bad_xattr_block(bench: &Bench) -> Done<Expect> {
    with_xattr_block(bench, PLAIN, &pattern(3, 400))?;
    let block = bench.stat("file")?.1.entry.file_acl;
    if block == 0 {
        return Err("no attribute block".to_owned());
    }
    // The header is 32 bytes; the first entry's value offset is at 2 in it, its
    // length at 8.
    bench.patch(block * BLOCK + 32 + 2, &0xFFF0u16.to_le_bytes())?;
    bench.patch(block * BLOCK + 32 + 8, &0xFFFF_FFFFu32.to_le_bytes())?;
    let expect = Expect::opened("an attribute's value is past its block");
    Ok(expect.content("file", b"contents"))
}

/// The value's inode number is that of an ordinary file.
pub fn bad_ea_inode(bench: &Bench) -> Done<Expect> {
    with_xattr_block(
        bench,
        "-t ext4 -b 1024 -O ea_inode,^metadata_csum,^has_journal",
        &pattern(3, 5000),
    )?;
    let (number, stat) = bench.stat("file")?;
    let start = if stat.entry.file_acl != 0 {
        stat.entry.file_acl * BLOCK + 32
    } else {
        in_inode(bench, number)?
    };
    bench.patch(start + 4, &number.to_le_bytes())?;
    let expect = Expect::opened("the value is said to be in the file itself");
    Ok(expect.content("file", b"contents"))
}

/// Where the first attribute in an inode is: after its 160 bytes and the magic.
fn in_inode(bench: &Bench, number: u32) -> Done<u64> {
    let said = bench.debugfs(&[&format!("imap <{number}>")])?;
    let said = String::from_utf8_lossy(&said[0]).into_owned();
    // `located at block 147, offset 0x0a00`
    let after = said
        .split_once("located at block ")
        .map(|(_, rest)| rest.trim());
    let (block, offset) = after
        .and_then(|rest| rest.split_once(", offset 0x"))
        .ok_or(said.clone())?;
    let block: u64 = block.parse().map_err(|_| said.clone())?;
    let offset = u64::from_str_radix(offset, 16).map_err(|_| said.clone())?;
    Ok(block * BLOCK + offset + 160 + 4)
}
