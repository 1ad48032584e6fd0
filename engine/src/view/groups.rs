use super::GroupRow;
use super::fields::group_flag_names;
use crate::disk::ReadAt;
use crate::ext4::read::Fs;
use crate::units::GroupNr;
use std::ops::Range;

/// Most groups that are given at once.
const MOST: u32 = 65_536;

/// The groups of a range, as far as they exist; at most 65,536. Where metadata carries
/// checksums, each group's bitmaps are read.
pub fn group_rows<R: ReadAt>(fs: &Fs<R>, range: Range<u32>) -> Vec<GroupRow> {
    let end = range
        .end
        .min(fs.geometry().groups)
        .min(range.start.saturating_add(MOST));
    (range.start..end)
        .filter_map(|g| row(fs, GroupNr(g)))
        .collect()
}

fn row<R: ReadAt>(fs: &Fs<R>, g: GroupNr) -> Option<GroupRow> {
    let info = fs.group(g).ok()?;
    let (block_bitmap_ok, inode_bitmap_ok) = fs.bitmap_checksums(g).unwrap_or_default();
    // Without a checksum over descriptors, the flags mean nothing.
    let flags = if fs.superblock().has_group_checksum() {
        group_flag_names(info.flags)
    } else {
        Vec::new()
    };
    Some(GroupRow {
        has_super: fs.has_super(g),
        flags,
        block_bitmap_ok,
        inode_bitmap_ok,
        info,
    })
}
