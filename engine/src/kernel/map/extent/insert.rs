//! Adding an extent: beside a neighbour, into a leaf with room, or after making room.

use super::node::{self, Extent};
use super::path::{self, Path};
use super::{check, room};
use crate::event::What;
use crate::ext4::layout::EXTENT_MAX_DEPTH;
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Adds an extent where nothing is mapped. With `join` it becomes part of a neighbour
/// where it can.
pub(super) fn insert(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    new: Extent,
    join: bool,
) -> Result<()> {
    let path = path::find(vol, inode, new.lblk)?;
    insert_at(vol, inode, path, new, join)
}

/// The same, with the way to its place known.
pub(super) fn insert_at(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: Path,
    new: Extent,
    join: bool,
) -> Result<()> {
    let clash = path.holding(new.lblk).is_some() || path.next_mapped(new.lblk) < new.end();
    if clash || new.len == 0 {
        let words = format!("maps block {} a second time", new.lblk);
        return Err(check::damage(vol, inode, path.leaf().at, words));
    }
    if join && join_neighbour(vol, inode, &path, new)? {
        return room::merge_up(vol, inode);
    }
    add_entry(vol, inode, path, new)?;
    if join {
        room::merge_up(vol, inode)?;
    }
    Ok(())
}

/// Makes an extent part of the one before or after it in the leaf.
fn join_neighbour(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    new: Extent,
) -> Result<bool> {
    let leaf = path.leaf();
    let left = path.left(new.lblk);
    let (right, right_slot) = match left {
        Some(_) => (path.after, leaf.slot + 1),
        None => (path.extent, leaf.slot),
    };
    if let Some(left) = left.filter(|l| l.joins(&new)) {
        let grown = Extent {
            len: left.len + new.len,
            ..left
        };
        set(vol, inode, path, leaf.slot, grown)?;
        merged(vol, inode, grown);
        merge_right(vol, inode, new.lblk)?;
        return Ok(true);
    }
    if let Some(right) = right.filter(|r| new.joins(r)) {
        let grown = Extent {
            len: new.len + right.len,
            ..new
        };
        set(vol, inode, path, right_slot, grown)?;
        merged(vol, inode, grown);
        if right_slot == 0 {
            path::fix_indexes(vol, inode, path, path.depth)?;
        }
        return Ok(true);
    }
    Ok(false)
}

/// Overwrites an entry of a leaf.
pub(super) fn set(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    slot: usize,
    extent: Extent,
) -> Result<()> {
    let raw = extent.encode();
    node::edit(vol, inode, path.leaf().at, |n| n.set(slot, &raw))
}

pub(super) fn merged(vol: &mut Volume, inode: &InodeInfo, e: Extent) {
    let nr = inode.nr;
    vol.events.emit(|| What::ExtentMerged {
        inode: nr,
        lblk: Lblk(e.lblk),
        len: e.len,
    });
}

/// Joins the extent that a block of the file is in with those after it in its leaf.
pub(super) fn merge_right(vol: &mut Volume, inode: &mut InodeInfo, lblk: u32) -> Result<()> {
    let path = path::find(vol, inode, lblk)?;
    let (Some(e), Some(next)) = (path.extent, path.after) else {
        return Ok(());
    };
    if !e.joins(&next) {
        return Ok(());
    }
    let grown = Extent {
        len: e.len + next.len,
        ..e
    };
    let leaf = path.leaf();
    let raw = grown.encode();
    node::edit(vol, inode, leaf.at, |n| {
        n.set(leaf.slot, &raw);
        n.cut(leaf.slot + 1, leaf.slot + 2);
    })?;
    merged(vol, inode, grown);
    Ok(())
}

/// Joins the extent that a block of the file is in with its neighbours in the leaf, and
/// the leaf with the root where it is the only one and small enough.
pub(super) fn merge_around(vol: &mut Volume, inode: &mut InodeInfo, lblk: u32) -> Result<()> {
    let path = path::find(vol, inode, lblk)?;
    let leaf = path.leaf();
    if leaf.slot > 0 {
        let node = path::reload(vol, inode, &path, path.depth)?;
        if let Some(left) = node.extent(leaf.slot - 1) {
            drop(node);
            merge_right(vol, inode, left.lblk)?;
        }
    }
    merge_right(vol, inode, lblk)?;
    room::merge_up(vol, inode)
}

/// Adds an entry to a leaf, splitting nodes where they are full.
fn add_entry(vol: &mut Volume, inode: &mut InodeInfo, mut path: Path, new: Extent) -> Result<()> {
    // Each round gives room at one level more, or a level more.
    for _ in 0..=2 * (usize::from(EXTENT_MAX_DEPTH) + 1) {
        if !path.leaf().is_full() {
            let slot = match path.left(new.lblk) {
                Some(_) => path.leaf().slot + 1,
                None => path.leaf().slot,
            };
            return put(vol, inode, &path, slot, new);
        }
        if let Some(next) = roomy_next_leaf(vol, inode, &path, new)? {
            return put(vol, inode, &next, 0, new);
        }
        room::make(vol, inode, &path, new.lblk)?;
        path = path::find(vol, inode, new.lblk)?;
    }
    Err(Errno::ENOSPC)
}

/// The next leaf, where the extent goes behind all of this one and that has room.
fn roomy_next_leaf(
    vol: &mut Volume,
    inode: &InodeInfo,
    path: &Path,
    new: Extent,
) -> Result<Option<Path>> {
    if path.after.is_some() || path.left(new.lblk).is_none() {
        return Ok(None);
    }
    let Some(next) = path.next_leaf() else {
        return Ok(None);
    };
    let next = path::find(vol, inode, next)?;
    let before_all = next
        .extent
        .is_none_or(|e| next.leaf().slot == 0 && e.lblk > new.lblk);
    Ok((before_all && !next.leaf().is_full()).then_some(next))
}

fn put(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    slot: usize,
    new: Extent,
) -> Result<()> {
    let raw = new.encode();
    node::edit(vol, inode, path.leaf().at, |n| n.insert(slot, &raw))?;
    let nr = inode.nr;
    vol.events.emit(|| What::ExtentInserted {
        inode: nr,
        lblk: Lblk(new.lblk),
        len: new.len,
        start: BlockNr(new.start),
        unwritten: new.unwritten,
    });
    if slot == 0 {
        path::fix_indexes(vol, inode, path, path.depth)?;
    }
    Ok(())
}
