//! Where a file's contents are: extents and indirect blocks.

mod cluster;
mod extent;
mod goal;
mod indirect;
mod meta;
#[cfg(test)]
mod tests;

use super::{Errno, InodeInfo, Result, Volume};
use crate::event::Reason;
use crate::ext4::layout::{Incompat, InodeFlags, RoCompat};
use crate::units::{BlockNr, Lblk};

/// What is behind blocks of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Nothing.
    Hole,
    /// Blocks with contents.
    Written,
    /// Blocks that read as zeros.
    Unwritten,
}

/// Blocks of a file in a row that are alike and lie together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mapped {
    /// First block of the file.
    pub lblk: Lblk,
    /// Blocks; at least 1 where any were asked for.
    pub len: u32,
    /// First block on disk; 0 for a hole.
    pub start: BlockNr,
    /// What they are.
    pub state: State,
    /// They were allocated by this call.
    pub new: bool,
}

/// What to do about blocks that are not there.
#[derive(Clone, Copy, Debug)]
pub struct Create {
    /// New blocks are unwritten (extents only).
    pub unwritten: bool,
    /// They keep the promise made to delayed blocks.
    pub reserved: bool,
    /// Blocks reserved for root may be used.
    pub root: bool,
    /// What they are for.
    pub reason: Reason,
    /// Blocks that are there but unwritten become written: their contents come now.
    pub write: bool,
}

impl Create {
    /// For blocks that a directory or the filesystem itself writes at once.
    pub fn metadata() -> Self {
        Self {
            unwritten: false,
            reserved: false,
            root: false,
            reason: Reason::Metadata,
            write: true,
        }
    }
}

/// Makes an inode's map empty: an extent tree where the filesystem has the feature.
pub fn init(vol: &Volume, inode: &mut InodeInfo) {
    let extents = vol.has_incompat(Incompat::EXTENTS);
    inode.set_flag(InodeFlags::EXTENTS, extents);
    inode.set_i_block([0; 60]);
    if extents {
        extent::init(inode);
    }
}

/// What is at a block of a file, and for how many blocks on, at most `len`: an extent's
/// rest, or a hole up to the next block that is mapped. Contents inside the inode have no
/// blocks.
pub fn lookup(vol: &mut Volume, inode: &InodeInfo, lblk: Lblk, len: u32) -> Result<Mapped> {
    if inode.has(InodeFlags::INLINE_DATA) {
        return Ok(Mapped {
            lblk,
            len,
            start: BlockNr(0),
            state: State::Hole,
            new: false,
        });
    }
    if inode.uses_extents() {
        extent::lookup(vol, inode, lblk.0, len)
    } else {
        indirect::lookup(vol, inode, lblk.0, len)
    }
}

/// Gives a block of a file, and up to `len` after it, a place; what is there already
/// stays. One piece is done: its length says how far it goes.
pub fn map_blocks(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: Lblk,
    len: u32,
    how: &Create,
) -> Result<Mapped> {
    if len == 0 {
        return Err(Errno::EINVAL);
    }
    let max = max_blocks(vol, inode);
    if u64::from(lblk.0) >= max {
        return Err(Errno::EFBIG);
    }
    let len = u64::from(len).min(max - u64::from(lblk.0)) as u32;
    if inode.uses_extents() {
        extent::map_blocks(vol, inode, lblk.0, len, how)
    } else {
        indirect::map_blocks(vol, inode, lblk.0, len, how)
    }
}

/// Gives blocks of a file without any the ones at `start`, which are marked as used.
pub(super) fn place(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: Lblk,
    start: BlockNr,
    len: u32,
    unwritten: bool,
) -> Result<()> {
    extent::place(vol, inode, lblk.0, start, len, unwritten)
}

/// Makes unwritten blocks written, once their contents are on disk. Holes stay holes.
pub fn convert_unwritten(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: Lblk,
    len: u32,
) -> Result<()> {
    if !inode.uses_extents() {
        return Ok(());
    }
    extent::set_range(vol, inode, lblk.0, len, false)
}

/// Makes written blocks read as zeros. Holes stay holes.
pub fn mark_unwritten(vol: &mut Volume, inode: &mut InodeInfo, lblk: Lblk, len: u32) -> Result<()> {
    if !inode.uses_extents() {
        return Err(Errno::EOPNOTSUPP);
    }
    extent::set_range(vol, inode, lblk.0, len, true)
}

/// Frees the blocks from `from` up to `to`, and nodes that map nothing any more.
pub fn remove(vol: &mut Volume, inode: &mut InodeInfo, from: u64, to: u64) -> Result<()> {
    let to = to.min(max_blocks(vol, inode));
    if from >= to || inode.has(InodeFlags::INLINE_DATA) {
        return Ok(());
    }
    if inode.uses_extents() {
        extent::remove(vol, inode, from, to)
    } else {
        indirect::remove(vol, inode, from, to)
    }
}

/// Moves everything from block `from` on by `by` blocks. Backwards, there must be a hole
/// to move into (collapse range); forwards leaves one (insert range).
pub fn shift(vol: &mut Volume, inode: &mut InodeInfo, from: u64, by: i64) -> Result<()> {
    if !inode.uses_extents() {
        return Err(Errno::EOPNOTSUPP);
    }
    extent::shift(vol, inode, from, by)
}

/// The blocks that the map itself takes.
pub fn nodes(vol: &mut Volume, inode: &InodeInfo) -> Result<Vec<BlockNr>> {
    if inode.has(InodeFlags::INLINE_DATA) {
        return Ok(Vec::new());
    }
    if inode.uses_extents() {
        extent::nodes(vol, inode)
    } else {
        indirect::nodes(vol, inode)
    }
}

/// How many blocks the largest file has that is mapped as this one.
pub fn max_blocks(vol: &Volume, inode: &InodeInfo) -> u64 {
    if inode.uses_extents() {
        max_extent_blocks(vol)
    } else {
        let huge = vol.has_ro_compat(RoCompat::HUGE_FILE);
        indirect::max_blocks(vol.geo.block_size, huge)
    }
}

/// Blocks of the largest file with extents, which is the largest on the filesystem.
pub fn max_extent_blocks(vol: &Volume) -> u64 {
    let most = u64::from(u32::MAX);
    if vol.has_ro_compat(RoCompat::HUGE_FILE) {
        return most;
    }
    // `i_blocks` must hold the count of sectors.
    most / u64::from(vol.geo.block_size / 512)
}

/// Clusters to be promised to a block that is to be delayed: none where its cluster is
/// there or promised already.
pub fn reserve_needed(vol: &mut Volume, inode: &InodeInfo, lblk: Lblk) -> Result<u32> {
    cluster::reserve_needed(vol, inode, lblk)
}
