//! Room for entries: splitting nodes, growing the tree in depth, and giving nodes back.

use super::super::{goal, meta};
use super::check;
use super::node::{self, ENTRY, index};
use super::path::{self, Path};
use crate::event::What;
use crate::ext4::layout::EXTENT_MAX_DEPTH;
use crate::kernel::{InodeInfo, Result, Volume, alloc};
use crate::units::BlockNr;

/// Makes room on the way to a full leaf: splits nodes below the deepest one with room, or
/// grows the tree where there is none.
pub(super) fn make(vol: &mut Volume, inode: &mut InodeInfo, path: &Path, lblk: u32) -> Result<()> {
    match (0..path.depth).rev().find(|&l| !path.level(l).is_full()) {
        Some(level) => split(vol, inode, path, level, lblk),
        None => grow(vol, inode, path),
    }
}

/// Splits the leaf and the full nodes above it, up to the node at `level`, which gets the
/// entry for the new ones. What is behind the entry taken moves; a leaf that is full of
/// what comes before `lblk` gets an empty one after it.
fn split(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    level: usize,
    lblk: u32,
) -> Result<()> {
    let border = path.leaf().next.unwrap_or(lblk);
    if path.leaf().key.is_some_and(|k| border <= k) {
        return Err(check::damage(
            vol,
            inode,
            path.leaf().at,
            "has room for one extent",
        ));
    }
    let blocks = new_nodes(vol, inode, path, path.depth - level, lblk)?;
    let mut below: Option<BlockNr> = None;
    for (&at, l) in blocks.iter().zip((level + 1..=path.depth).rev()) {
        let old = path.level(l);
        let node = path::reload(vol, inode, path, l)?;
        let mut entries = below.map_or(Vec::new(), |b| index(border, b).to_vec());
        entries.extend_from_slice(node.raw_from(old.slot + 1));
        drop(node);
        node::create(vol, inode, at, path.depth - l, &entries)?;
        node::edit(vol, inode, old.at, |n| n.cut(old.slot + 1, old.entries))?;
        below = Some(at);
    }
    if let Some(below) = below {
        let top = path.level(level);
        let raw = index(border, below);
        node::edit(vol, inode, top.at, |n| n.insert(top.slot + 1, &raw))?;
    }
    Ok(())
}

/// Allocates blocks for nodes, all or none.
fn new_nodes(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    count: usize,
    lblk: u32,
) -> Result<Vec<BlockNr>> {
    let mut blocks = Vec::with_capacity(count);
    for _ in 0..count {
        let goal = goal::beside(vol, inode, path.extent, path.leaf().at, lblk);
        match meta::allocate(vol, inode, goal, lblk) {
            Ok(at) => blocks.push(at),
            Err(e) => {
                for at in blocks {
                    meta::free(vol, inode, at)?;
                }
                return Err(e);
            }
        }
    }
    Ok(blocks)
}

/// Moves the root's entries to a new node, which becomes the root's only child.
fn grow(vol: &mut Volume, inode: &mut InodeInfo, path: &Path) -> Result<()> {
    if path.depth >= usize::from(EXTENT_MAX_DEPTH) {
        return Err(check::damage(
            vol,
            inode,
            None,
            "has an extent tree full to its last level",
        ));
    }
    let root = check::root(vol, inode)?;
    let first = if path.depth > 0 { root.child(0) } else { None };
    let goal = match first {
        // Before its first child, where that can be.
        Some(at) if at.0 > vol.geo.first_data_block => BlockNr(at.0 - 1),
        _ => alloc::goal_for(vol, inode),
    };
    let key = root.key(0).unwrap_or_default();
    let at = meta::allocate(vol, inode, goal, key)?;
    node::create(vol, inode, at, path.depth, root.raw_from(0))?;
    let raw = index(key, at);
    node::edit(vol, inode, None, |n| {
        n.init(path.depth + 1);
        n.insert(0, &raw);
    })?;
    depth_is(vol, inode, path.depth + 1);
    Ok(())
}

fn depth_is(vol: &mut Volume, inode: &InodeInfo, depth: usize) {
    let nr = inode.nr;
    vol.events.emit(|| What::TreeDepth {
        inode: nr,
        depth: depth as u16,
    });
}

/// Takes the tree's only leaf into the root, where there is but one and it fits.
pub(super) fn merge_up(vol: &mut Volume, inode: &mut InodeInfo) -> Result<()> {
    let root = check::root(vol, inode)?;
    let (1, 1, Some(child)) = (root.depth(), root.entries(), root.child(0)) else {
        return Ok(());
    };
    let leaf = check::load(vol, inode, child, 0)?;
    if leaf.entries() > root.max() {
        return Ok(());
    }
    let entries = leaf.raw_from(0).to_vec();
    debug_assert!(entries.len() <= 4 * ENTRY);
    drop(leaf);
    node::edit(vol, inode, None, |n| {
        n.init(0);
        n.append(&entries);
    })?;
    meta::free(vol, inode, child)?;
    depth_is(vol, inode, 0);
    Ok(())
}

/// Gives back the node at a level, which is empty, and those above that become so. A root
/// without entries is a leaf again.
pub(super) fn drop_node(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    level: usize,
) -> Result<()> {
    for l in (1..=level).rev() {
        let (empty, above) = (path.level(l), path.level(l - 1));
        node::edit(vol, inode, above.at, |n| n.cut(above.slot, above.slot + 1))?;
        if let Some(at) = empty.at {
            meta::free(vol, inode, at)?;
        }
        if above.entries > 1 {
            if above.slot == 0 {
                path::fix_indexes(vol, inode, path, l - 1)?;
            }
            return Ok(());
        }
    }
    node::edit(vol, inode, None, |n| n.init(0))?;
    if path.depth > 0 {
        depth_is(vol, inode, 0);
    }
    Ok(())
}
