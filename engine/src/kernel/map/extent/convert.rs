//! Unwritten extents become written and back, cut where only a part does.

use super::node::{Extent, MAX_UNWRITTEN, MAX_WRITTEN};
use super::path::{self, END};
use super::{check, insert};
use crate::disk::Data;
use crate::event::What;
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Makes what is mapped of a range unwritten or written.
pub(in super::super) fn set_range(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: u32,
    len: u32,
    unwritten: bool,
) -> Result<()> {
    let end = (u64::from(lblk) + u64::from(len)).min(END);
    let mut at = u64::from(lblk);
    while at < end {
        let path = path::find(vol, inode, at as u32)?;
        let Some(e) = path.holding(at as u32) else {
            at = path.next_mapped(at as u32).max(at + 1);
            continue;
        };
        let mut to = e.end().min(end);
        if e.unwritten != unwritten {
            // As Linux does: half the longest, so that the rest is no sliver.
            if unwritten && to - at > u64::from(MAX_UNWRITTEN) {
                to = at + u64::from(MAX_UNWRITTEN / 2);
            }
            check::extent(vol, inode, &e)?;
            let may_zero = !unwritten && e.end() <= eof(vol, inode, to);
            change(vol, inode, e, at, to, may_zero)?;
        }
        at = to;
    }
    Ok(())
}

/// Makes `len` blocks from `lblk` on, which are in the unwritten extent `e`, written, for
/// contents that come now: takes the border to a written neighbour, zeroes small rests on
/// the disk, or cuts the extent.
pub(super) fn write(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    e: Extent,
    lblk: u32,
    len: u32,
) -> Result<()> {
    let (mut from, mut to) = (u64::from(lblk), u64::from(lblk) + u64::from(len));
    if move_border(vol, inode, e, from, to)? {
        return Ok(());
    }
    let may_zero = e.end() <= eof(vol, inode, to);
    let max = zero_limit(vol);
    let rest = e.end() - from;
    if may_zero && max > 0 && rest > u64::from(len) {
        if rest <= max {
            zero(vol, inode, &e.part(to, e.end()))?;
            to = e.end();
        }
        if to - u64::from(e.lblk) < max {
            zero(vol, inode, &e.part(e.lblk.into(), from))?;
            from = e.lblk.into();
        }
    }
    change(vol, inode, e, from, to, may_zero)
}

/// Blocks up to the file's end, or the end of what is being written past it.
fn eof(vol: &Volume, inode: &InodeInfo, to: u64) -> u64 {
    inode
        .disk_size()
        .div_ceil(vol.geo.block_size.into())
        .max(to)
}

/// Blocks that are zeroed rather than cut off, at most.
fn zero_limit(vol: &Volume) -> u64 {
    u64::from(vol.options.max_zeroout_kb) / u64::from(vol.geo.block_size / 1024)
}

/// Writes zeros to blocks of a file.
fn zero(vol: &mut Volume, inode: &InodeInfo, e: &Extent) -> Result<()> {
    if e.len == 0 {
        return Ok(());
    }
    let (nr, lblk, block, len) = (inode.nr, Lblk(e.lblk), BlockNr(e.start), e.len);
    vol.events.emit(|| What::ZeroedOut {
        inode: nr,
        lblk,
        block,
        len,
    });
    let size = u64::from(vol.geo.block_size);
    vol.write(block, vec![(Data::Zero, size); len as usize])
}

/// Gives the blocks at one end of an unwritten extent to the written one beside it, so
/// that writing in order needs no new entries.
fn move_border(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    e: Extent,
    from: u64,
    to: u64,
) -> Result<bool> {
    let (begin, end) = (u64::from(e.lblk), e.end());
    if to - from >= u64::from(e.len) {
        return Ok(false);
    }
    let path = path::find(vol, inode, e.lblk)?;
    let slot = path.leaf().slot;
    let given = Extent {
        unwritten: false,
        ..e.part(from, to)
    };
    let (at, grown) = if from == begin && slot > 0 {
        let node = path::reload(vol, inode, &path, path.depth)?;
        match node.extent(slot - 1).filter(|l| l.joins(&given)) {
            Some(left) => (
                slot - 1,
                Extent {
                    len: left.len + given.len,
                    ..left
                },
            ),
            None => return Ok(false),
        }
    } else if to == end {
        match path.after.filter(|r| given.joins(r)) {
            Some(right) => (
                slot + 1,
                Extent {
                    len: given.len + right.len,
                    ..given
                },
            ),
            None => return Ok(false),
        }
    } else {
        return Ok(false);
    };
    // Linux stops one short of the longest extent here.
    if grown.len >= MAX_WRITTEN {
        return Ok(false);
    }
    let rest = if from == begin {
        e.part(to, end)
    } else {
        e.part(begin, from)
    };
    insert::set(vol, inode, &path, slot, rest)?;
    insert::set(vol, inode, &path, at, grown)?;
    changed(vol, inode, &given);
    insert::merged(vol, inode, grown);
    Ok(true)
}

/// Turns the part of an extent from `from` up to `to` into the other state.
fn change(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    e: Extent,
    from: u64,
    to: u64,
    may_zero: bool,
) -> Result<()> {
    match cut_and_set(vol, inode, e, from, to) {
        Err(Errno::ENOSPC) if may_zero => zero_rest(vol, inode, from, to)?,
        other => other?,
    }
    insert::merge_around(vol, inode, from as u32)
}

fn cut_and_set(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    e: Extent,
    from: u64,
    to: u64,
) -> Result<()> {
    if to < e.end() {
        split(vol, inode, to, e.unwritten)?;
    }
    let part = Extent {
        unwritten: !e.unwritten,
        ..e.part(from, to)
    };
    if from > u64::from(e.lblk) {
        split(vol, inode, from, part.unwritten)?;
    } else {
        let path = path::find(vol, inode, part.lblk)?;
        insert::set(vol, inode, &path, path.leaf().slot, part)?;
    }
    changed(vol, inode, &part);
    Ok(())
}

/// There is no room for more nodes: what would have been cut off is zeroed, and the extent
/// becomes written as a whole.
fn zero_rest(vol: &mut Volume, inode: &mut InodeInfo, from: u64, to: u64) -> Result<()> {
    let path = path::find(vol, inode, from as u32)?;
    let Some(e) = path.holding(from as u32) else {
        return Err(Errno::ENOSPC);
    };
    zero(vol, inode, &e.part(e.lblk.into(), from))?;
    // The end may have been cut off already.
    zero(vol, inode, &e.part(to.min(e.end()), e.end()))?;
    let whole = Extent {
        unwritten: false,
        ..e
    };
    insert::set(vol, inode, &path, path.leaf().slot, whole)?;
    changed(vol, inode, &whole);
    Ok(())
}

fn changed(vol: &mut Volume, inode: &InodeInfo, e: &Extent) {
    let (inode, lblk, len) = (inode.nr, Lblk(e.lblk), e.len);
    vol.events.emit(|| {
        if e.unwritten {
            What::ExtentUnwritten { inode, lblk, len }
        } else {
            What::ExtentConverted { inode, lblk, len }
        }
    });
}

/// Cuts the extent that goes over a block of the file in two there; the second part is
/// unwritten or not, as told.
pub(super) fn split(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    at: u64,
    unwritten: bool,
) -> Result<()> {
    let path = path::find(vol, inode, at as u32)?;
    let Some(e) = path.left(at as u32).filter(|e| at < e.end()) else {
        return Ok(());
    };
    let second = Extent {
        unwritten,
        ..e.part(at, e.end())
    };
    insert::set(
        vol,
        inode,
        &path,
        path.leaf().slot,
        e.part(e.lblk.into(), at),
    )?;
    let nr = inode.nr;
    vol.events.emit(|| What::ExtentSplit {
        inode: nr,
        lblk: Lblk(second.lblk),
    });
    if let Err(error) = insert::insert(vol, inode, second, false) {
        let path = path::find(vol, inode, e.lblk)?;
        insert::set(vol, inode, &path, path.leaf().slot, e)?;
        return Err(error);
    }
    Ok(())
}

/// Cuts the extent that goes over a block of the file in two there, both parts as it was.
pub(super) fn split_same(vol: &mut Volume, inode: &mut InodeInfo, at: u64) -> Result<()> {
    match path::find(vol, inode, at as u32)?.holding(at as u32) {
        Some(e) => split(vol, inode, at, e.unwritten),
        None => Ok(()),
    }
}
