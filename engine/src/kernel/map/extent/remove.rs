//! Taking blocks out of the tree.

use super::node::{self, Extent};
use super::path::{self, END, Path};
use super::{check, convert, room};
use crate::event::What;
use crate::kernel::map::cluster;
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::Lblk;

/// Frees the blocks from `from` up to `to`, leaf by leaf from the last to the first.
pub(in super::super) fn remove(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    from: u64,
    to: u64,
) -> Result<()> {
    let to = to.min(END);
    if to < END {
        // An extent that goes on at both sides is cut first: that may need a node.
        let over = path::find(vol, inode, to as u32)?.holding(to as u32);
        if let Some(e) = over.filter(|e| u64::from(e.lblk) < from) {
            convert::split(vol, inode, to, e.unwritten)?;
        }
    }
    let mut end = to;
    while end > from {
        let path = path::find(vol, inode, (end - 1) as u32)?;
        let begin = path.leaf_begin().map_or(0, u64::from);
        clear_leaf(vol, inode, &path, from, to)?;
        // Each leaf begins before the one after it: this ends.
        end = begin.min(end - 1);
    }
    Ok(())
}

/// What becomes of a leaf.
#[derive(Default)]
struct Cut {
    gone: Vec<Extent>,
    /// Entries that stay in part.
    kept: Vec<(usize, Extent)>,
    /// Entries that go, from a slot up to another.
    slots: Option<(usize, usize)>,
}

impl Cut {
    fn new(node: &node::Node, from: u64, to: u64) -> Self {
        let mut cut = Self::default();
        let first = node.locate(from as u32);
        for slot in first..node.entries() {
            let Some(e) = node.extent(slot) else {
                break;
            };
            let begin = u64::from(e.lblk);
            if begin >= to {
                break;
            }
            if e.end() <= from {
                continue;
            }
            cut.gone.push(e.part(begin.max(from), e.end().min(to)));
            if begin < from {
                cut.kept.push((slot, e.part(begin, from)));
            } else if e.end() > to {
                cut.kept.push((slot, e.part(to, e.end())));
            } else {
                let start = cut.slots.map_or(slot, |s| s.0);
                cut.slots = Some((start, slot + 1));
            }
        }
        cut
    }
}

fn clear_leaf(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    from: u64,
    to: u64,
) -> Result<()> {
    let node = path::reload(vol, inode, path, path.depth)?;
    let cut = Cut::new(&node, from, to);
    let entries = node.entries();
    drop(node);
    if cut.gone.is_empty() {
        return Ok(());
    }
    for e in &cut.gone {
        check::extent(vol, inode, e)?;
    }
    let (first, last) = cut.slots.unwrap_or_default();
    node::edit(vol, inode, path.leaf().at, |n| {
        for (slot, e) in &cut.kept {
            n.set(*slot, &e.encode());
        }
        n.cut(first, last);
    })?;
    if entries == last - first {
        room::drop_node(vol, inode, path, path.depth)?;
    } else {
        path::fix_indexes(vol, inode, path, path.depth)?;
    }
    for e in &cut.gone {
        let (nr, lblk, len) = (inode.nr, Lblk(e.lblk), e.len);
        vol.events.emit(|| What::ExtentRemoved {
            inode: nr,
            lblk,
            len,
        });
    }
    cluster::free(vol, inode, &cut.gone)
}
