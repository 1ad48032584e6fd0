//! The journal's superblock: what it says, and whether Linux would take it.

use super::block::{Format, checksum_of};
use super::log::{JournalPlace, Log};
use crate::ext4::checksum::crc32c;
use crate::ext4::layout::{
    JOURNAL_MAGIC, JournalBlockType, JournalCompat, JournalIncompat, JournalSuperblock,
};
use crate::ext4::read::Run;
use crate::ext4::{Flaw, Place, Problem};

/// Least blocks of a log (`JBD2_MIN_JOURNAL_BLOCKS`).
pub const LEAST_BLOCKS: u32 = 1024;
/// Blocks of the fast-commit area where `s_num_fc_blks` is 0.
const DEFAULT_FC_BLOCKS: u32 = 256;
/// `s_checksum_type` of crc32c.
const CRC32C: u8 = 4;

type Sb = JournalSuperblock<Box<[u8]>>;

/// Whether the magic and type are those of a journal's superblock.
pub fn is_one(sb: &Sb) -> bool {
    use JournalBlockType::{SuperblockV1, SuperblockV2};
    let kind = JournalBlockType::from_disk(sb.h_blocktype());
    sb.h_magic() == JOURNAL_MAGIC && matches!(kind, Some(SuperblockV1 | SuperblockV2))
}

/// The first version of the superblock ends before the feature words.
pub fn has_features(sb: &Sb) -> bool {
    JournalBlockType::from_disk(sb.h_blocktype()) == Some(JournalBlockType::SuperblockV2)
}

fn features(sb: &Sb) -> (JournalCompat, JournalIncompat) {
    if !has_features(sb) {
        return Default::default();
    }
    (
        JournalCompat::from_bits_retain(sb.s_feature_compat()),
        JournalIncompat::from_bits_retain(sb.s_feature_incompat()),
    )
}

/// The superblock's own checksum: over its 1024 bytes, the field itself taken as zeros.
pub fn checksum(sb: &Sb) -> u32 {
    let (before, rest) = sb.0.split_at(0xFC);
    crc32c(crc32c(crc32c(!0, before), &[0; 4]), &rest[4..])
}

/// Where a log is and what bounds it from outside.
pub struct Bounds {
    pub place: JournalPlace,
    pub runs: Vec<Run>,
    /// Bytes of a block of the inode or device.
    pub block_size: u32,
    /// The journal's block that holds the superblock.
    pub sb_block: u32,
    /// Blocks of the inode or device.
    pub total: u32,
    /// Blocks of the filesystem.
    pub fs_blocks: u64,
}

/// How a journal's blocks are written, by its superblock's features.
pub fn format_of(sb: &Sb, block_size: u32) -> Format {
    let (compat, incompat) = features(sb);
    Format {
        block_size,
        checksum: checksum_of(compat.contains(JournalCompat::CHECKSUM), incompat),
        wide: incompat.contains(JournalIncompat::BIT64),
        async_commit: incompat.contains(JournalIncompat::ASYNC_COMMIT),
        seed: crc32c(!0, &sb.s_uuid().0),
    }
}

/// The log by its superblock, with the fast-commit area (its first block and length) at
/// its end.
pub fn log(sb: &Sb, bounds: Bounds) -> (Log, Option<(u32, u32)>) {
    let (_, incompat) = features(sb);
    let format = format_of(sb, bounds.block_size);
    let total = bounds.total.min(sb.s_maxlen()).min(super::MOST_BLOCKS);
    let area = fast_commit_area(sb, incompat, total);
    let least = bounds.sb_block.saturating_add(1);
    let first = sb.s_first().clamp(least, total.max(least));
    let log = Log {
        place: bounds.place,
        runs: bounds.runs,
        format,
        sb_block: bounds.sb_block,
        first,
        // A length of nothing leaves a ring of nothing: it never ends before it begins.
        last: area.map_or(total, |(start, _)| start).max(first),
        total,
        fs_blocks: bounds.fs_blocks,
    };
    (log, area)
}

/// The blocks kept for fast commits, at the journal's end; none where they would leave
/// too short a log.
fn fast_commit_area(sb: &Sb, incompat: JournalIncompat, total: u32) -> Option<(u32, u32)> {
    if !incompat.contains(JournalIncompat::FAST_COMMIT) {
        return None;
    }
    let blocks = match sb.s_num_fc_blks() {
        0 => DEFAULT_FC_BLOCKS,
        n => n,
    };
    let start = total.checked_sub(blocks)?;
    (start >= LEAST_BLOCKS).then_some((start, blocks))
}

/// What of the superblock makes Linux refuse the journal. `total`: blocks of the inode
/// or device.
pub fn refusals(sb: &Sb, log: &Log, total: u32) -> Vec<Problem> {
    let mut out = Vec::new();
    let mut value = |field: &str, found: u32, expected: String| {
        out.push(Problem::value(
            Place::JournalSuperblock,
            field,
            found,
            expected,
        ));
    };
    let block_size = log.format.block_size;
    if sb.s_blocksize() != block_size {
        value("s_blocksize", sb.s_blocksize(), block_size.to_string());
    }
    let maxlen = sb.s_maxlen();
    if maxlen > total {
        value(
            "s_maxlen",
            maxlen,
            format!("at most {total}, the blocks that the journal has"),
        );
    }
    let (first, last) = (sb.s_first(), log.last);
    let least = log.sb_block + 1;
    if first < least || first >= last {
        value(
            "s_first",
            first,
            format!("{least} to {}", last.saturating_sub(1)),
        );
    }
    check_features(sb, &mut out);
    out
}

/// A log with fewer blocks than jbd2 works with: it is replayed, but not used.
pub fn too_short(sb: &Sb) -> Option<Problem> {
    let least = sb.s_first().saturating_add(LEAST_BLOCKS - 1);
    (sb.s_maxlen() < least).then(|| {
        let expected = format!("at least {least}");
        Problem::value(
            Place::JournalSuperblock,
            "s_maxlen",
            sb.s_maxlen(),
            expected,
        )
    })
}

/// What else is wrong: a replay finds its own way with it.
pub fn oddities(sb: &Sb, log: &Log) -> Vec<Problem> {
    let mut out = Vec::new();
    if let Some(problem) = too_short(sb) {
        out.push(problem);
    }
    let mut value = |field: &str, found: u32, expected: String| {
        out.push(Problem::value(
            Place::JournalSuperblock,
            field,
            found,
            expected,
        ));
    };
    if sb.s_maxlen() > super::MOST_BLOCKS {
        let expected = format!(
            "at most {}, which is as far as fslab looks",
            super::MOST_BLOCKS
        );
        value("s_maxlen", sb.s_maxlen(), expected);
    }
    let start = sb.s_start();
    if start != 0 && (start < log.first || start >= log.last) {
        let last = log.last.saturating_sub(1);
        value("s_start", start, format!("0, or {} to {last}", log.first));
    }
    out
}

fn check_features(sb: &Sb, out: &mut Vec<Problem>) {
    if !has_features(sb) {
        return;
    }
    let (compat, incompat) = features(sb);
    let mut other = |words: String| out.push(Problem::other(Place::JournalSuperblock, words));
    if incompat.unknown() != 0 {
        let names = JournalIncompat::from_bits_retain(incompat.unknown()).names();
        other(format!(
            "asks for features that jbd2 does not know ({})",
            names.join(", ")
        ));
    }
    let read_only = sb.s_feature_ro_compat();
    if read_only != 0 {
        other(format!(
            "asks for features that jbd2 does not know (s_feature_ro_compat = {read_only:#x})"
        ));
    }
    let sums = [
        compat.contains(JournalCompat::CHECKSUM),
        incompat.contains(JournalIncompat::CSUM_V2),
        incompat.contains(JournalIncompat::CSUM_V3),
    ];
    if sums.iter().filter(|on| **on).count() > 1 {
        other(
            "has more than one of the features checksum v1, v2 and v3, which exclude each other"
                .into(),
        );
    }
    if !(sums[1] || sums[2]) {
        return;
    }
    if sb.s_checksum_type() != CRC32C {
        other(format!(
            "has s_checksum_type = {}; expected {CRC32C}, crc32c",
            sb.s_checksum_type()
        ));
    }
    let (found, expected) = (sb.s_checksum(), checksum(sb));
    if found != expected {
        out.push(Problem::new(
            Place::JournalSuperblock,
            Flaw::Checksum { found, expected },
        ));
    }
}
