//! Extent trees.

mod check;
mod convert;
mod insert;
mod node;
mod path;
mod remove;
mod room;
mod shift;

pub(super) use convert::set_range;
pub(super) use node::Extent;
pub(super) use remove::remove;
pub(super) use shift::{nodes, shift};

use super::{Create, Mapped, State, cluster, goal};
use crate::ext4::layout::InodeFlags;
use crate::kernel::alloc::{self, Near, Want};
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};
use node::{MAX_UNWRITTEN, MAX_WRITTEN};

/// Makes the root an empty leaf.
pub(super) fn init(inode: &mut InodeInfo) {
    inode.set_flag(InodeFlags::EXTENTS, true);
    inode.set_i_block(node::empty_root());
}

fn hole(lblk: u32, len: u64) -> Mapped {
    Mapped {
        lblk: Lblk(lblk),
        len: len as u32,
        start: BlockNr(0),
        state: State::Hole,
        new: false,
    }
}

/// The part of an extent from a block of the file on, at most `len` blocks.
fn part(e: &Extent, lblk: u32, len: u32) -> Mapped {
    let left = e.end() - u64::from(lblk);
    Mapped {
        lblk: Lblk(lblk),
        len: left.min(len.into()) as u32,
        start: BlockNr(e.at(lblk.into())),
        state: if e.unwritten {
            State::Unwritten
        } else {
            State::Written
        },
        new: false,
    }
}

pub(super) fn lookup(vol: &mut Volume, inode: &InodeInfo, lblk: u32, len: u32) -> Result<Mapped> {
    let path = path::find(vol, inode, lblk)?;
    if let Some(e) = path.holding(lblk) {
        check::extent(vol, inode, &e)?;
        return Ok(part(&e, lblk, len));
    }
    // Where the root's entries end, a hole goes on to the last block there can be.
    let next = path.next_mapped(lblk).max(u64::from(lblk) + 1);
    Ok(hole(lblk, (next - u64::from(lblk)).min(len.into())))
}

/// Maps blocks that are known, where nothing is mapped.
pub(super) fn place(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: u32,
    start: BlockNr,
    len: u32,
    unwritten: bool,
) -> Result<()> {
    let most = if unwritten {
        MAX_UNWRITTEN
    } else {
        MAX_WRITTEN
    };
    let mut done = 0;
    while done < len {
        let new = Extent {
            lblk: lblk.saturating_add(done),
            len: (len - done).min(most),
            start: start.plus(done.into()).0,
            unwritten,
        };
        insert::insert(vol, inode, new, true)?;
        done += new.len;
    }
    Ok(())
}

pub(super) fn map_blocks(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: u32,
    len: u32,
    how: &Create,
) -> Result<Mapped> {
    let path = path::find(vol, inode, lblk)?;
    if let Some(e) = path.holding(lblk) {
        check::extent(vol, inode, &e)?;
        let mapped = part(&e, lblk, len);
        if !e.unwritten || !how.write {
            return Ok(mapped);
        }
        convert::write(vol, inode, e, lblk, mapped.len)?;
        return Ok(Mapped {
            state: State::Written,
            ..mapped
        });
    }
    let most = if how.unwritten {
        MAX_UNWRITTEN
    } else {
        MAX_WRITTEN
    };
    let gap = path.next_mapped(lblk).saturating_sub(lblk.into());
    let len = gap.min(len.min(most).into()) as u32;
    let space = Space {
        left: path.left(lblk),
        right: path.right(vol, inode, lblk)?,
        goal: goal::beside(vol, inode, path.extent, path.leaf().at, lblk),
    };
    let (start, len, clusters) = allocate(vol, inode, &space, lblk, len, how)?;
    let new = Extent {
        lblk,
        len,
        start: start.0,
        unwritten: how.unwritten,
    };
    if let Err(e) = insert::insert_at(vol, inode, path, new, true) {
        if let Some((at, blocks)) = clusters {
            alloc::free_blocks(vol, inode, at, blocks, cluster::has_buffers(inode))?;
        }
        return Err(e);
    }
    Ok(Mapped {
        new: true,
        ..part(&new, lblk, len)
    })
}

/// A hole to be filled, and what is around it.
struct Space {
    left: Option<Extent>,
    right: Option<Extent>,
    goal: BlockNr,
}

impl Space {
    /// The blocks next to the hole.
    fn near(&self) -> Near {
        let last = |e: Extent| {
            let last = e.end().saturating_sub(1);
            (Lblk(last as u32), BlockNr(e.at(last)))
        };
        Near {
            left: self.left.map(last),
            right: self.right.map(|e| (Lblk(e.lblk), BlockNr(e.start))),
        }
    }
}

/// Finds blocks: those of a cluster that a neighbour has already, else new ones. Gives the
/// first, how many, and what was newly taken.
#[allow(clippy::type_complexity)]
fn allocate(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    space: &Space,
    lblk: u32,
    len: u32,
    how: &Create,
) -> Result<(BlockNr, u32, Option<(BlockNr, u64)>)> {
    let mut want = Want {
        goal: space.goal,
        lblk: Lblk(lblk),
        len,
        reason: how.reason,
        reserved: how.reserved,
        root: how.root,
    };
    let per = vol.geo.cluster_blocks;
    if per == 1 {
        let (start, got) = alloc::new_blocks_near(vol, inode, &want, &space.near())?;
        let got = got.min(len);
        return Ok((start, got, Some((start, got.into()))));
    }
    if let Some((start, len)) = cluster::implied(per, space.left, space.right, lblk, len) {
        return Ok((BlockNr(start), len, None));
    }
    let len = cluster::clip(per, space.right, lblk, len);
    let into = lblk % per;
    want.lblk = Lblk(lblk - into);
    want.goal = BlockNr(space.goal.0 - space.goal.0 % u64::from(per));
    want.len = (into + len).next_multiple_of(per);
    let (start, got) = alloc::new_blocks_near(vol, inode, &want, &space.near())?;
    let whole = u64::from(got.next_multiple_of(per));
    let len = len.min(got.saturating_sub(into));
    Ok((start.plus(into.into()), len, Some((start, whole))))
}
