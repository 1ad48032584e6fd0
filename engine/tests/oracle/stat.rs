//! Reading what `debugfs stat` prints.

use super::debugfs::{Debugfs, find};
use super::truth::{Entry, Extent, Time, merged};
use std::path::Path;

/// An inode by `debugfs stat`: its xattrs, target and contents not yet looked up.
#[derive(Clone, Debug, Default)]
pub struct Stat {
    pub entry: Entry,
    pub extents: Vec<Extent>,
    /// Kept in the inode itself, if debugfs shows it.
    pub fast_target: Option<Vec<u8>>,
    pub has_xattrs: bool,
}

pub fn stats(image: &Path, inodes: &[u32]) -> Result<Vec<Stat>, String> {
    let commands: Vec<String> = inodes.iter().map(|ino| format!("stat <{ino}>")).collect();
    let answers = Debugfs::new(image).ask(&commands)?;
    let pairs = inodes.iter().zip(&answers);
    let read = |(ino, answer): (&u32, &Vec<u8>)| {
        let words = || format!("stat <{ino}>: {}", String::from_utf8_lossy(answer));
        parse(answer).ok_or_else(words)
    };
    pairs.map(read).collect()
}

fn parse(answer: &[u8]) -> Option<Stat> {
    let text = String::from_utf8_lossy(answer);
    let mut entry = Entry {
        mode: kind(word(&text, "Type: ", "    Mode:")?)? | octal(word(&text, "Mode:", "Flags:")?)?,
        flags: hex(word(&text, "Flags: 0x", "\n")?)?,
        generation: word32(&text, "Generation: ")?,
        uid: word32(&text, "User: ")?,
        gid: word32(&text, "Group: ")?,
        project: word32(&text, "Project: ").unwrap_or(0),
        size: number(&text, "Size: ")?,
        file_acl: number(&text, "File ACL: ")?,
        nlink: number(&text, "Links: ")?,
        sectors: number(&text, "Blockcount: ")?,
        atime: time(&text, "atime: ")?,
        mtime: time(&text, "mtime: ")?,
        ctime: time(&text, "ctime: ")?,
        crtime: time(&text, "crtime: "),
        ..Entry::default()
    };
    entry.rdev = device(&text).unwrap_or_default();
    let size = usize::try_from(entry.size).ok()?;
    Some(Stat {
        fast_target: fast_target(answer, size),
        has_xattrs: text.contains("Extended attributes:"),
        extents: merged(extents(&text)),
        entry,
    })
}

fn word<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after).map_or(rest, |(word, _)| word).trim())
}

fn number<T: std::str::FromStr>(text: &str, before: &str) -> Option<T> {
    let (_, rest) = text.split_once(before)?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Some of the inode's unsigned numbers are printed as signed ones.
fn word32(text: &str, before: &str) -> Option<u32> {
    let number: i64 = number(text, before)?;
    u32::try_from(number & 0xFFFF_FFFF).ok()
}

fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 16).ok()
}

fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text, 8).ok()
}

fn kind(name: &str) -> Option<u32> {
    Some(match name {
        "FIFO" => 0o010_000,
        "character special" => 0o020_000,
        "directory" => 0o040_000,
        "block special" => 0o060_000,
        "regular" => 0o100_000,
        "symlink" => 0o120_000,
        "socket" => 0o140_000,
        _ => return None,
    })
}

/// `0x6b0e1d2c:5061a654 -- …`: seconds, then two more bits of them and the
/// nanoseconds; `0x6b0e1d2c -- …` where the inode is too small for these.
fn time(text: &str, before: &str) -> Option<Time> {
    let stamp = word(text, before, " --")?.strip_prefix("0x")?;
    let (seconds, extra) = stamp.split_once(':').unwrap_or((stamp, "0"));
    let extra = hex(extra)?;
    let seconds = i64::from(hex(seconds)?.cast_signed()) + (i64::from(extra & 3) << 32);
    Some((seconds, extra >> 2))
}

/// Old numbers are printed as `08:01`, new ones as `300:70000`; both decimal.
fn device(text: &str) -> Option<(u32, u32)> {
    let numbers = word(text, "evice major/minor number: ", " (")?;
    let (major, minor) = numbers.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn fast_target(answer: &[u8], size: usize) -> Option<Vec<u8>> {
    let before = b"Fast link dest: \"";
    let start = find(answer, before)? + before.len();
    answer.get(start..start + size).map(<[u8]>::to_vec)
}

/// `(0-4):1171-1175, (IND):33, (5[u]):40`: names in place of numbers are the
/// blocks of the map itself.
fn extents(text: &str) -> Vec<Extent> {
    let list = ["\nEXTENTS:\n", "\nBLOCKS:\n"]
        .iter()
        .find_map(|title| word(text, title, "\n"));
    let items = list.unwrap_or_default().split(", ");
    items.filter_map(extent).collect()
}

fn extent(item: &str) -> Option<Extent> {
    let (logical, physical) = item.strip_prefix('(')?.split_once("):")?;
    let unwritten = logical.ends_with("[u]");
    let (first, last) = range(logical.trim_end_matches("[u]"))?;
    let (physical, _) = range(physical)?;
    Some(Extent {
        logical: first,
        physical,
        len: last - first + 1,
        unwritten,
    })
}

fn range(text: &str) -> Option<(u64, u64)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}
