//! Names looked for in one block after another.

use super::block::{self, Blocks, DirBlock, Expect};
use super::entry::{self, New};
use super::grow;
use crate::ext4::layout::{Compat, InodeFlags};
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::Lblk;

/// Looks for a name in all blocks.
pub(super) fn find(
    vol: &mut Volume,
    dir: &InodeInfo,
    name: &[u8],
) -> Result<Option<(DirBlock, entry::Place)>> {
    let size = vol.block_size();
    let exact = find_in(vol, dir, |bytes| entry::find(bytes, name, size))?;
    if exact.is_some() || !dir.has(InodeFlags::CASEFOLD) {
        return Ok(exact);
    }
    find_in(vol, dir, |bytes| {
        entry::find_by(bytes, size, |n| n.eq_ignore_ascii_case(name))
    })
}

fn find_in(
    vol: &mut Volume,
    dir: &InodeInfo,
    find: impl Fn(&[u8]) -> Option<entry::Place>,
) -> Result<Option<(DirBlock, entry::Place)>> {
    let mut blocks = Blocks::from(vol, dir, 0);
    while let Some(block) = blocks.next(vol, dir, Expect::Any)? {
        if let Some(place) = find(&block.bytes) {
            return Ok(checked(vol, dir, &block, place).then_some((block, place)));
        }
    }
    Ok(None)
}

/// Looks for `.` or `..`, which can be nowhere but in the first block.
pub(super) fn find_dot(
    vol: &mut Volume,
    dir: &InodeInfo,
    name: &[u8],
) -> Result<Option<(DirBlock, entry::Place)>> {
    let block = block::read(vol, dir, Lblk(0), Expect::Any)?;
    let place = entry::find(&block.bytes, name, vol.block_size());
    let place = place.filter(|&p| checked(vol, dir, &block, p));
    Ok(place.map(|place| (block, place)))
}

/// Whether a found entry is sound. Linux notes one that is not, and finds nothing.
fn checked(vol: &mut Volume, dir: &InodeInfo, block: &DirBlock, place: entry::Place) -> bool {
    let flaw = place.slot.flaw(vol.block_size(), vol.geo.inodes);
    if let Some(words) = flaw {
        block::bad_entry(vol, dir, block.lblk, place.slot.at, words);
    }
    flaw.is_none()
}

/// Adds a name to the first block with room, to a new one, or makes an index; the answer
/// is the block that it went to. `ignored`: there is an index that makes no sense.
pub(super) fn add(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    new: New<'_>,
    ignored: bool,
) -> Result<Lblk> {
    let single = block::blocks(vol, dir) == 1;
    let mut blocks = Blocks::from(vol, dir, 0);
    while let Some(block) = blocks.next(vol, dir, Expect::Any)? {
        if let Some(slot) = grow::room(vol, dir, &block, new.name)? {
            let DirBlock { lblk, at, .. } = block;
            drop(block.bytes);
            block::insert(vol, dir, at, slot, new)?;
            return Ok(lblk);
        }
        if single && !ignored && vol.has_compat(Compat::DIR_INDEX) {
            return grow::make_index(vol, dir, block, new);
        }
    }
    let (lblk, at, slot) = grow::empty_leaf(vol, dir)?;
    block::insert(vol, dir, at, slot, new)?;
    Ok(lblk)
}

/// Whether there is nothing but `.` and `..`. Damage makes a directory not empty.
pub(super) fn is_empty(vol: &mut Volume, dir: &InodeInfo) -> Result<bool> {
    let (size, inodes) = (vol.block_size(), vol.geo.inodes);
    let mut blocks = Blocks::from(vol, dir, 0);
    let mut first = true;
    while let Some(block) = blocks.next(vol, dir, Expect::Any)? {
        let mut slots = entry::Slots::new(&block.bytes, size);
        if first {
            let sound = |s: &entry::Slot| s.flaw(size, inodes).is_none();
            let dot = slots
                .next()
                .is_some_and(|s| sound(&s) && s.inode == dir.nr.0 && s.name(&block.bytes) == b".");
            let dots = slots
                .next()
                .is_some_and(|s| sound(&s) && s.inode != 0 && s.name(&block.bytes) == b"..");
            if !(block.lblk.0 == 0 && dot && dots) {
                block::damaged(vol, dir, block.lblk, "does not begin with . and ..");
                return Ok(false);
            }
            first = false;
        }
        for slot in slots {
            if let Some(words) = slot.flaw(size, inodes) {
                block::bad_entry(vol, dir, block.lblk, slot.at, words);
                return Ok(false);
            }
            if slot.inode != 0 {
                return Ok(false);
            }
        }
    }
    Ok(!first)
}
