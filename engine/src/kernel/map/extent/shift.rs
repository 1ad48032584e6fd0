//! Moving extents along the file, and walking a whole tree.

use super::node::{self, Node};
use super::path::{self, END};
use super::{check, convert, insert};
use crate::event::What;
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Moves all extents from block `from` on by `by` blocks.
pub(in super::super) fn shift(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    from: u64,
    by: i64,
) -> Result<()> {
    if from >= END || by == 0 {
        return Ok(());
    }
    if by % i64::from(vol.geo.cluster_blocks) != 0 {
        return Err(Errno::EINVAL);
    }
    if by > 0 {
        check_end(vol, inode, by)?;
        convert::split_same(vol, inode, from)?;
    } else {
        check_gap(vol, inode, from, by)?;
    }
    let mut walk = Walk {
        from: from as u32,
        by,
        left: vol.geo.blocks,
    };
    walk.node(vol, inode, None)?;
    let nr = inode.nr;
    vol.events.emit(|| What::ExtentsShifted {
        inode: nr,
        from: Lblk(from as u32),
        by,
    });
    if by < 0 {
        join(vol, inode, from.saturating_add_signed(by) as u32)?;
    }
    Ok(())
}

/// The last extent must not leave the file.
fn check_end(vol: &mut Volume, inode: &InodeInfo, by: i64) -> Result<()> {
    let last = path::find(vol, inode, u32::MAX)?.extent;
    let end = last.map_or(0, |e| e.end());
    if end.saturating_add_signed(by) > END {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// What is moved back must find a hole.
fn check_gap(vol: &mut Volume, inode: &InodeInfo, from: u64, by: i64) -> Result<()> {
    let gap = from.checked_add_signed(by).ok_or(Errno::EINVAL)? as u32;
    let path = path::find(vol, inode, gap)?;
    if path.holding(gap).is_some() || path.next_mapped(gap) < from {
        return Err(Errno::EINVAL);
    }
    Ok(())
}

/// What now meets becomes one extent where it can.
fn join(vol: &mut Volume, inode: &mut InodeInfo, at: u32) -> Result<()> {
    let path = path::find(vol, inode, at)?;
    let slot = path.leaf().slot;
    if slot == 0 || path.extent.is_none_or(|e| e.lblk != at) {
        return Ok(());
    }
    let left = path::reload(vol, inode, &path, path.depth)?.extent(slot - 1);
    left.map_or(Ok(()), |l| insert::merge_right(vol, inode, l.lblk))
}

struct Walk {
    from: u32,
    by: i64,
    /// Nodes that may still be visited: a tree has no more than there are blocks.
    left: u64,
}

impl Walk {
    /// Moves what is below a node, and gives its new first key.
    fn node(
        &mut self,
        vol: &mut Volume,
        inode: &mut InodeInfo,
        place: Option<(BlockNr, usize)>,
    ) -> Result<Option<u32>> {
        let node = load(vol, inode, place, &mut self.left)?;
        let depth = node.depth();
        let at = node.place();
        let mut keys = Vec::with_capacity(node.entries());
        for slot in node.locate(self.from)..node.entries() {
            let (Some(key), Some(child)) = (node.key(slot), node.child(slot)) else {
                break;
            };
            let new = if depth > 0 {
                let new = self.node(vol, inode, Some((child, depth - 1)))?;
                new.unwrap_or(key)
            } else {
                self.moved(key)
            };
            if new != key {
                keys.push((slot, new));
            }
        }
        let first = node.key(0);
        drop(node);
        let first = keys.iter().find(|(s, _)| *s == 0).map(|k| k.1).or(first);
        if !keys.is_empty() {
            node::edit(vol, inode, at, |n| {
                for (slot, key) in keys {
                    n.set_key(slot, key);
                }
            })?;
        }
        Ok(first)
    }

    fn moved(&self, key: u32) -> u32 {
        if key < self.from {
            return key;
        }
        let moved = i64::from(key).saturating_add(self.by);
        moved.clamp(0, END.cast_signed()) as u32
    }
}

fn load(
    vol: &mut Volume,
    inode: &InodeInfo,
    place: Option<(BlockNr, usize)>,
    left: &mut u64,
) -> Result<Node> {
    let Some((at, depth)) = place else {
        return check::root(vol, inode);
    };
    if *left == 0 {
        return Err(check::damage(
            vol,
            inode,
            None,
            "has a map of more nodes than there are blocks",
        ));
    }
    *left -= 1;
    check::load(vol, inode, at, depth)
}

/// The blocks of all nodes below the root, each before those below it.
pub(in super::super) fn nodes(vol: &mut Volume, inode: &InodeInfo) -> Result<Vec<BlockNr>> {
    let mut all = Vec::new();
    let mut left = vol.geo.blocks;
    let mut todo = vec![None];
    while let Some(place) = todo.pop() {
        let node = load(vol, inode, place, &mut left)?;
        all.extend(node.place());
        if node.depth() > 0 {
            let below = |slot| Some(Some((node.child(slot)?, node.depth() - 1)));
            todo.extend((0..node.entries()).rev().filter_map(below));
        }
    }
    Ok(all)
}
