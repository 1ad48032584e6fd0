//! Nodes of an htree in the bytes of a directory's block.

use super::entry;
use crate::ext4::checksum;
use crate::ext4::layout::{DxCountLimit, DxEntry, DxRootInfo, DxTail};

/// Bytes of an entry.
const ENTRY: usize = 8;
/// Where a root's and an inner node's entries begin.
pub(super) const ROOT_ENTRIES: usize = 32;
pub(super) const NODE_ENTRIES: usize = 8;
/// Where a root says what kind of tree it is.
const INFO: usize = 24;
/// Bytes at the end that carry the checksum.
const TAIL: usize = 8;
/// The bits of an entry's block that are its number.
const BLOCK_MASK: u32 = 0x0FFF_FFFF;

/// Whether a block begins like an inner node: one unused entry over all of it.
pub(super) fn looks_like(bytes: &[u8]) -> bool {
    entry::Slot::read(bytes, 0, bytes.len())
        .is_some_and(|s| s.inode == 0 && s.rec_len == bytes.len())
}

/// Where the entries begin: by the false directory entries before them.
pub(super) fn start(bytes: &[u8]) -> Option<usize> {
    let first = entry::Slot::read(bytes, 0, bytes.len())?;
    if first.rec_len == bytes.len() {
        return Some(NODE_ENTRIES);
    }
    let second = entry::Slot::read(bytes, entry::DOT, bytes.len())?;
    let is_root = first.rec_len == entry::DOT && second.rec_len + entry::DOT == bytes.len();
    let info = info(bytes)?;
    (is_root && info.reserved_zero() == 0 && info.info_length() == 8).then_some(ROOT_ENTRIES)
}

/// What a root says of its tree.
pub(super) fn info(bytes: &[u8]) -> Option<DxRootInfo<&[u8]>> {
    bytes.get(INFO..INFO + 8).map(DxRootInfo)
}

/// Sets how many inner levels there are below a root.
pub(super) fn set_levels(bytes: &mut [u8], levels: u8) {
    if let Some(info) = bytes.get_mut(INFO..INFO + 8) {
        DxRootInfo(info).set_indirect_levels(levels);
    }
}

/// Entries that fit into a node.
pub(super) fn fits(block_size: usize, start: usize, csum: bool) -> usize {
    let tail = if csum { TAIL } else { 0 };
    block_size.saturating_sub(start + tail) / ENTRY
}

/// Entries that fit and entries in use, as a node has them.
pub(super) fn limit_count(bytes: &[u8], start: usize) -> (usize, usize) {
    let head = DxCountLimit(bytes.get(start..).unwrap_or_default());
    (head.limit().into(), head.count().into())
}

/// An entry's hash; the first stands for all before the second.
pub(super) fn hash(bytes: &[u8], start: usize, i: usize) -> u32 {
    if i == 0 {
        return 0;
    }
    DxEntry(bytes.get(start + i * ENTRY..).unwrap_or_default()).hash()
}

/// The block of the directory that an entry leads to.
pub(super) fn child(bytes: &[u8], start: usize, i: usize) -> u32 {
    DxEntry(bytes.get(start + i * ENTRY..).unwrap_or_default()).block() & BLOCK_MASK
}

/// The last entry whose hash is not above `hash`.
pub(super) fn search(bytes: &[u8], start: usize, count: usize, hash: u32) -> usize {
    let (mut low, mut high) = (1, count);
    while low < high {
        let middle = low.midpoint(high);
        if self::hash(bytes, start, middle) > hash {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low - 1
}

/// Sets entries in use.
pub(super) fn set_count(bytes: &mut [u8], start: usize, count: usize) {
    if let Some(head) = bytes.get_mut(start..start + ENTRY) {
        DxCountLimit(head).set_count(count as u16);
    }
}

/// Makes an entry; the first keeps the limit and count that stand in its hash's place.
fn set(bytes: &mut [u8], start: usize, i: usize, hash: u32, block: u32) {
    let at = start + i * ENTRY;
    if let Some(entry) = bytes.get_mut(at..at + ENTRY) {
        let mut entry = DxEntry(entry);
        if i > 0 {
            entry.set_hash(hash);
        }
        entry.set_block(block);
    }
}

/// Puts a new entry behind entry `after`; `false` where it does not fit.
pub(super) fn insert(bytes: &mut [u8], start: usize, after: usize, hash: u32, block: u32) -> bool {
    let (limit, count) = limit_count(bytes, start);
    let (from, end) = (start + (after + 1) * ENTRY, start + count * ENTRY);
    if count >= limit || after >= count || end + ENTRY > bytes.len() {
        return false;
    }
    bytes.copy_within(from..end, from + ENTRY);
    set(bytes, start, after + 1, hash, block);
    set_count(bytes, start, count + 1);
    true
}

/// The bytes of entries from the `from`th on.
pub(super) fn entries(bytes: &[u8], start: usize, from: usize, count: usize) -> &[u8] {
    bytes
        .get(start + from * ENTRY..start + count * ENTRY)
        .unwrap_or_default()
}

/// Makes an inner node of a block of zeros, with entries taken from another.
pub(super) fn make_inner(bytes: &mut [u8], entries: &[u8], csum: bool) {
    let size = bytes.len();
    entry::set_rec_len(bytes, 0, size, size);
    if let Some(room) = bytes.get_mut(NODE_ENTRIES..NODE_ENTRIES + entries.len()) {
        room.copy_from_slice(entries);
    }
    let limit = fits(size, NODE_ENTRIES, csum);
    set_head(bytes, NODE_ENTRIES, limit, entries.len() / ENTRY);
}

/// Makes a root of a block that begins with `.` and `..`: one entry, which leads to
/// block 1.
pub(super) fn make_root(bytes: &mut [u8], hash_version: u8, csum: bool) {
    let size = bytes.len();
    entry::set_rec_len(bytes, entry::DOT, size.saturating_sub(entry::DOT), size);
    if let Some(rest) = bytes.get_mut(INFO..) {
        rest.fill(0);
        let mut info = DxRootInfo(rest);
        info.set_hash_version(hash_version);
        info.set_info_length(8);
    }
    set_only(bytes, 1, fits(size, ROOT_ENTRIES, csum));
}

/// Leaves a root a single entry, which leads to `block`.
pub(super) fn set_only(bytes: &mut [u8], block: u32, limit: usize) {
    set_head(bytes, ROOT_ENTRIES, limit, 1);
    set(bytes, ROOT_ENTRIES, 0, 0, block);
}

fn set_head(bytes: &mut [u8], start: usize, limit: usize, count: usize) {
    if let Some(head) = bytes.get_mut(start..start + ENTRY) {
        let mut head = DxCountLimit(head);
        head.set_limit(limit as u16);
        head.set_count(count as u16);
    }
}

/// The checksum that a node should have; `None` where its head makes no sense.
fn sum(bytes: &[u8], seed: u32) -> Option<(usize, u32)> {
    let start = start(bytes)?;
    let (limit, count) = limit_count(bytes, start);
    let tail = start + limit * ENTRY;
    let used = bytes.get(..start + count * ENTRY)?;
    let sum = checksum::htree(seed, used, &DxTail(bytes.get(tail..tail + TAIL)?));
    Some((tail, sum))
}

/// Whether a node's checksum holds.
pub(super) fn holds(bytes: &[u8], seed: u32) -> bool {
    sum(bytes, seed).is_some_and(|(tail, sum)| DxTail(&bytes[tail..]).dt_checksum() == sum)
}

/// Puts the right checksum into a node.
pub(super) fn seal(bytes: &mut [u8], seed: u32) {
    if let Some((tail, sum)) = sum(bytes, seed)
        && let Some(tail) = bytes.get_mut(tail..tail + TAIL)
    {
        DxTail(tail).set_dt_checksum(sum);
    }
}
