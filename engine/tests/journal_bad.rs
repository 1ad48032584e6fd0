//! Journals that are damaged in one known way each (issue "The journal", Bad input): fslab
//! mounts where the real kernel does, and to the same tree; where the kernel refuses, fslab
//! does, and says what is wrong and where.

#[allow(dead_code, reason = "other tests use the rest")]
mod left_support;
mod oracle;

use fslab_engine::disk::FileReader;
use fslab_engine::ext4::journal::{Journal, LogBlockKind};
use fslab_engine::ext4::layout::JournalSuperblock;
use fslab_engine::ext4::read::Fs;
use fslab_engine::kernel::{Mount, MountOptions};
use left_support::{Run, by_kernel, compare, left, over, set};
use oracle::{available, skipped};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A block of a transaction.
#[derive(Clone, Copy, Debug)]
enum Part {
    Descriptor,
    Copy,
    Commit,
}

#[derive(Clone, Copy, Debug)]
enum Damage {
    /// These bytes of a part of the transaction that is this far from the first or, from -1
    /// down, from the last.
    Block(Part, i32, usize, &'static [u8]),
    /// The whole block is zeros.
    Lost(Part, i32),
    /// A word of the journal's superblock at this place; its checksum holds again.
    Super(usize, u32),
}

use Damage::{Block, Lost, Super};

/// What both do.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Then {
    Mounts,
    Refuses(&'static str),
}

use Then::{Mounts, Refuses};

/// A number that no block, sequence or length here has.
const FAR: &[u8] = &[0x7F, 0xFF, 0xFF, 0xF0];

/// What is done, to a journal with checksums (v3) or one without, and what comes of it.
const CASES: &[(&str, bool, Damage, Then)] = &[
    // Torn: the transaction never happened.
    (
        "a commit block is missing",
        false,
        Lost(Part::Commit, -1),
        Mounts,
    ),
    (
        "a commit block is missing",
        true,
        Lost(Part::Commit, -1),
        Mounts,
    ),
    (
        "a commit block in the middle is missing",
        false,
        Lost(Part::Commit, 1),
        Mounts,
    ),
    (
        "a commit block's checksum is wrong, at the end",
        true,
        Block(Part::Commit, -1, 16, FAR),
        Refuses("is the commit block"),
    ),
    (
        "a commit block's checksum is wrong, in the middle",
        true,
        Block(Part::Commit, 1, 16, FAR),
        Refuses("is the commit block"),
    ),
    // Descriptors.
    (
        "a descriptor is missing",
        false,
        Lost(Part::Descriptor, 1),
        Mounts,
    ),
    (
        "a descriptor's tags are damaged",
        true,
        Block(Part::Descriptor, 1, 14, FAR),
        Refuses("checksum"),
    ),
    (
        "a descriptor's tags are damaged, at the end",
        true,
        Block(Part::Descriptor, -1, 14, FAR),
        Refuses("checksum"),
    ),
    // Wrong sequence: the log ends there.
    (
        "a descriptor of another transaction",
        false,
        Block(Part::Descriptor, 1, 8, FAR),
        Mounts,
    ),
    (
        "a descriptor of another transaction",
        true,
        Block(Part::Descriptor, 1, 8, FAR),
        Mounts,
    ),
    (
        "a commit block of another transaction",
        false,
        Block(Part::Commit, 1, 8, FAR),
        Mounts,
    ),
    // Tags that point outside, copies that are not what their tags say.
    (
        "a tag points past the end",
        false,
        Block(Part::Descriptor, 0, 12, FAR),
        Refuses("ends before"),
    ),
    (
        "a copy is damaged",
        true,
        Block(Part::Copy, 0, 100, FAR),
        Refuses("checksum"),
    ),
    // The superblock.
    (
        "another magic number",
        false,
        Super(0x00, 0x1234_5678),
        Refuses("superblock"),
    ),
    (
        "an unknown kind of superblock",
        false,
        Super(0x04, 9),
        Refuses("superblock"),
    ),
    (
        "blocks of another size",
        false,
        Super(0x0C, 2048),
        Refuses("s_blocksize"),
    ),
    (
        "longer than its inode",
        false,
        Super(0x10, 1 << 30),
        Refuses("s_maxlen"),
    ),
    (
        "shorter than any journal",
        false,
        Super(0x10, 100),
        Refuses("s_maxlen"),
    ),
    ("no blocks", false, Super(0x10, 0), Refuses("s_first")),
    (
        "begins past its end",
        false,
        Super(0x14, 1 << 20),
        Refuses("s_first"),
    ),
    (
        "begins at its superblock",
        false,
        Super(0x14, 0),
        Refuses("s_first"),
    ),
    (
        "its log starts past its end",
        false,
        Super(0x1C, 1 << 20),
        Refuses("past the end"),
    ),
    (
        "another sequence is expected",
        false,
        Super(0x18, 77),
        Mounts,
    ),
    (
        "an unknown incompatible feature",
        false,
        Super(0x28, 0x8000_0001),
        Refuses("feature"),
    ),
    (
        "an unknown incompatible feature",
        true,
        Super(0x28, 0x8000_0013),
        Refuses("feature"),
    ),
    (
        "an unknown read-only feature",
        false,
        Super(0x2C, 1),
        Refuses("feature"),
    ),
    (
        "two kinds of checksums",
        true,
        Super(0x28, 0x1B),
        Refuses("checksum"),
    ),
    (
        "an unknown checksum",
        true,
        Super(0x50, 0x0900_0000),
        Refuses("checksum"),
    ),
];

fn damage(image: &Path, damage: Damage) {
    let fs = Fs::open(FileReader::open(image).unwrap()).unwrap();
    let journal = Journal::open(&fs).unwrap();
    let file = std::fs::File::options().write(true).open(image).unwrap();
    let at = |block| journal.log().offset(block).unwrap();
    let find = |part: Part, nth: i32| {
        let all = journal.transactions();
        let nth = if nth < 0 { all.len() as i32 + nth } else { nth };
        let t = &all[nth as usize];
        let is = |kind: &LogBlockKind| match part {
            Part::Descriptor => matches!(kind, LogBlockKind::Descriptor { .. }),
            Part::Copy => matches!(kind, LogBlockKind::Copy(_)),
            Part::Commit => matches!(kind, LogBlockKind::Commit),
        };
        let found = t.blocks.iter().find(|b| is(&b.kind)).unwrap();
        at(found.block)
    };
    match damage {
        Block(part, nth, offset, bytes) => {
            file.write_all_at(bytes, find(part, nth) + offset as u64)
                .unwrap();
        }
        Lost(part, nth) => file.write_all_at(&[0; 1024], find(part, nth)).unwrap(),
        Super(offset, word) => {
            let mut raw = journal.superblock().clone();
            raw.0[offset..offset + 4].copy_from_slice(&word.to_be_bytes());
            if journal.log().format().has_block_checksums() {
                let mut sb = JournalSuperblock(&mut raw.0[..]);
                sb.set_s_checksum(0);
                // CRC-32C over all of it, without the inversion at the end.
                let sum = !crc32c::crc32c(sb.0);
                sb.set_s_checksum(sum);
            }
            let place = at(journal.log().superblock_block());
            file.write_all_at(&raw.0, place).unwrap();
        }
    }
}

fn last_copy(csum: bool) -> Run {
    let mkfs = if csum {
        "-t ext4 -J size=4"
    } else {
        "-t ext4 -O ^metadata_csum,^64bit -J size=4"
    };
    let mut run = left(&set(mkfs, 1024, ""), 3, 4);
    run.copies = 0;
    run
}

#[test]
fn damaged_journals_are_taken_as_by_the_kernel() {
    if let Err(why) = available() {
        return skipped::<()>(&why).unwrap_or(());
    }
    let runs = [last_copy(false), last_copy(true)];
    let mut wrong = Vec::new();
    for (name, csum, what, then) in CASES {
        let run = &runs[usize::from(*csum)];
        let source = run.image(2);
        let image = run.image(100);
        std::fs::copy(&source, &image).unwrap();
        damage(&image, *what);
        let kind = if *csum { "v3" } else { "no checksums" };
        let ours = Mount::mount(Box::new(over(&image)), MountOptions::default());
        let words = ours.as_ref().err().map(ToString::to_string);
        eprintln!("{name} ({kind}): {}", words.as_deref().unwrap_or("mounts"));
        let as_expected = match (then, &words) {
            (Mounts, None) => true,
            (Refuses(part), Some(words)) => words.contains(part),
            _ => false,
        };
        if !as_expected {
            wrong.push(format!("{name} ({kind}): {words:?}, expected {then:?}"));
        }
        let kernel = run.image(101);
        std::fs::copy(&image, &kernel).unwrap();
        let theirs = by_kernel(run, &kernel, None);
        if theirs.is_ok() != words.is_none() {
            wrong.push(format!(
                "{name} ({kind}): fslab {words:?}, the kernel {theirs:?}"
            ));
        } else if theirs.is_ok() {
            compare(run, 100, name, true);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
