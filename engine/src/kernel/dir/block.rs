//! A directory's blocks: found, checked, changed, appended.

use super::entry::{self, Slot};
use super::node;
use crate::event::Meta;
use crate::ext4::layout::{Compat, InodeFlags};
use crate::ext4::{Flaw, Place, Problem};
use crate::kernel::buffer::Block;
use crate::kernel::map::{self, Create, State};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Entry types are kept on disk (the filetype feature).
pub(super) fn stored_type(vol: &Volume, file_type: u8) -> u8 {
    if vol.has_incompat(crate::ext4::layout::Incompat::FILETYPE) {
        file_type
    } else {
        0
    }
}

/// Where entries end in a block: before its tail.
pub(super) fn entries_end(vol: &Volume) -> usize {
    let tail = if vol.has_csum() { entry::TAIL } else { 0 };
    vol.block_size() - tail
}

/// Whether a directory has an htree.
pub(super) fn is_indexed(vol: &Volume, dir: &InodeInfo) -> bool {
    vol.has_compat(Compat::DIR_INDEX) && dir.has(InodeFlags::INDEX)
}

/// Notes damage in a directory's block.
pub(super) fn damaged(
    vol: &mut Volume,
    dir: &InodeInfo,
    lblk: Lblk,
    words: impl Into<String>,
) -> Errno {
    vol.corrupt(Problem::other(
        Place::DirBlock(dir.nr, lblk.0.into()),
        words,
    ))
}

/// Notes damage in an entry.
pub(super) fn bad_entry(
    vol: &mut Volume,
    dir: &InodeInfo,
    lblk: Lblk,
    at: usize,
    words: &str,
) -> Errno {
    damaged(vol, dir, lblk, format!("has an entry at byte {at} {words}"))
}

/// What a block of a directory is expected to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Expect {
    /// Either.
    Any,
    /// Entries.
    Leaf,
    /// A node of the htree.
    Node,
}

/// A block of a directory, in memory.
#[derive(Clone, Debug)]
pub(super) struct DirBlock {
    pub lblk: Lblk,
    pub at: BlockNr,
    pub bytes: Block,
    /// It is a node of the htree.
    pub is_node: bool,
}

/// Reads a block that a directory must have.
pub(super) fn read(
    vol: &mut Volume,
    dir: &InodeInfo,
    lblk: Lblk,
    expect: Expect,
) -> Result<DirBlock> {
    let mapped = map::lookup(vol, dir, lblk, 1)?;
    if mapped.state != State::Written || u64::from(lblk.0) >= blocks(vol, dir) {
        return Err(damaged(vol, dir, lblk, "is missing"));
    }
    read_at(vol, dir, lblk, mapped.start, expect)
}

/// Reads a block of a directory from where the map says it is.
pub(super) fn read_at(
    vol: &mut Volume,
    dir: &InodeInfo,
    lblk: Lblk,
    at: BlockNr,
    expect: Expect,
) -> Result<DirBlock> {
    let (seed, csum, indexed) = (dir.seed, vol.has_csum(), is_indexed(vol, dir));
    let is_node = |bytes: &[u8]| indexed && (lblk.0 == 0 || node::looks_like(bytes));
    let holds = |bytes: &[u8]| {
        !csum
            || if is_node(bytes) {
                node::holds(bytes, seed)
            } else {
                entry::tail_holds(bytes, seed)
            }
    };
    let Some(bytes) = vol.verified_block(at, holds)? else {
        return Err(damaged(vol, dir, lblk, "has a checksum that does not hold"));
    };
    let is_node = is_node(&bytes);
    if expect == Expect::Node && !is_node {
        return Err(damaged(
            vol,
            dir,
            lblk,
            "has entries where a node of the htree was expected",
        ));
    }
    Ok(DirBlock {
        lblk,
        at,
        bytes,
        is_node,
    })
}

/// Changes a block of entries and its checksum.
pub(super) fn change_leaf<T>(
    vol: &mut Volume,
    dir: &InodeInfo,
    at: BlockNr,
    change: impl FnOnce(&mut [u8]) -> T,
) -> Result<T> {
    let csum = vol.has_csum();
    let bytes = vol.change(at, Meta::Directory, dir.nr)?;
    let answer = change(bytes);
    if csum {
        entry::seal(bytes, dir.seed);
    }
    Ok(answer)
}

/// Changes a node of the htree and its checksum.
pub(super) fn change_node<T>(
    vol: &mut Volume,
    dir: &InodeInfo,
    at: BlockNr,
    change: impl FnOnce(&mut [u8]) -> T,
) -> Result<T> {
    let csum = vol.has_csum();
    let bytes = vol.change(at, Meta::Htree, dir.nr)?;
    let answer = change(bytes);
    if csum {
        node::seal(bytes, dir.seed);
    }
    Ok(answer)
}

/// Changes a block that is either.
pub(super) fn change_any<T>(
    vol: &mut Volume,
    dir: &InodeInfo,
    (at, is_node): (BlockNr, bool),
    change: impl FnOnce(&mut [u8]) -> T,
) -> Result<T> {
    if is_node {
        change_node(vol, dir, at, change)
    } else {
        change_leaf(vol, dir, at, change)
    }
}

/// Puts a new entry into room that was found in a block of entries.
pub(super) fn insert(
    vol: &mut Volume,
    dir: &InodeInfo,
    at: BlockNr,
    slot: Slot,
    new: entry::New<'_>,
) -> Result<()> {
    let size = vol.block_size();
    change_leaf(vol, dir, at, |bytes| entry::insert(bytes, slot, new, size))
}

/// Blocks of a directory, by its size.
pub(super) fn blocks(vol: &Volume, dir: &InodeInfo) -> u64 {
    let blocks = dir.size / vol.block_size() as u64;
    blocks.min(u64::from(u32::MAX))
}

/// Gives a directory one more block, whose bytes are still to be made.
pub(super) fn append(vol: &mut Volume, dir: &mut InodeInfo) -> Result<(Lblk, BlockNr)> {
    let most = vol.options.max_dir_size_kb;
    if most != 0 && dir.size >> 10 >= u64::from(most) {
        return Err(Errno::ENOSPC);
    }
    let lblk = Lblk(blocks(vol, dir) as u32);
    if map::lookup(vol, dir, lblk, 1)?.state != State::Hole {
        return Err(damaged(
            vol,
            dir,
            lblk,
            "is past the end, but has a block on disk",
        ));
    }
    let how = Create::metadata();
    let mapped = map::map_blocks(vol, dir, lblk, 1, &how)?;
    if mapped.state == State::Hole || mapped.len == 0 {
        return Err(Errno::ENOSPC);
    }
    set_size(dir, (u64::from(lblk.0) + 1) * vol.block_size() as u64);
    Ok((lblk, mapped.start))
}

/// Sets a directory's size.
pub(super) fn set_size(dir: &mut InodeInfo, size: u64) {
    dir.size = size;
    dir.set_disk_size(size);
}

/// Goes through a directory's blocks in order. Holes are left out.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    next: u64,
    end: u64,
    /// What is left of a run: blocks, and where it goes on.
    run: (u32, BlockNr),
    /// Blocks that may still come: a map that names one block often ends here.
    budget: u64,
}

impl Blocks {
    pub fn from(vol: &Volume, dir: &InodeInfo, from: u64) -> Self {
        Self {
            next: from,
            end: blocks(vol, dir),
            run: (0, BlockNr(0)),
            budget: vol.geo.blocks,
        }
    }

    pub fn next(
        &mut self,
        vol: &mut Volume,
        dir: &InodeInfo,
        expect: Expect,
    ) -> Result<Option<DirBlock>> {
        while self.run.0 == 0 {
            if self.next >= self.end {
                return Ok(None);
            }
            let left = (self.end - self.next).min(u64::from(u32::MAX)) as u32;
            let mapped = map::lookup(vol, dir, Lblk(self.next as u32), left)?;
            if mapped.state == State::Written {
                self.run = (mapped.len.max(1), mapped.start);
            } else {
                self.next += u64::from(mapped.len.max(1));
            }
        }
        if self.budget == 0 {
            let flaw = Flaw::Other("is a directory with more blocks than there are".into());
            return Err(vol.corrupt(Problem::new(Place::Inode(dir.nr), flaw)));
        }
        let lblk = Lblk(self.next as u32);
        let at = self.run.1;
        self.run = (self.run.0 - 1, at.plus(1));
        self.next += 1;
        self.budget -= 1;
        read_at(vol, dir, lblk, at, expect).map(Some)
    }
}
