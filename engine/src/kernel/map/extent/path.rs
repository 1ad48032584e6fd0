//! The way from the root to the leaf that a block of the file is in.

use super::check;
use super::node::{self, Extent, Node};
use crate::ext4::layout::EXTENT_MAX_DEPTH;
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::BlockNr;

/// One past the last block of a file: the last number is ext4's for "none".
pub(super) const END: u64 = u32::MAX as u64;

/// One node of the way, and the entry that was taken in it.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Level {
    /// Its block; `None` for the root.
    pub(super) at: Option<BlockNr>,
    pub(super) slot: usize,
    /// Where the entry taken begins, if there is one.
    pub(super) key: Option<u32>,
    /// Where the entry after it begins.
    pub(super) next: Option<u32>,
    pub(super) entries: usize,
    pub(super) max: usize,
}

impl Level {
    fn new(node: &Node, lblk: u32) -> Self {
        let slot = node.locate(lblk);
        Self {
            at: node.place(),
            slot,
            key: node.key(slot),
            next: node.key(slot + 1),
            entries: node.entries(),
            max: node.max(),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.entries >= self.max
    }
}

/// The nodes from the root to a leaf.
#[derive(Debug)]
pub(super) struct Path {
    levels: [Level; EXTENT_MAX_DEPTH as usize + 1],
    /// Levels below the root.
    pub(super) depth: usize,
    /// The last extent of the leaf that starts at or before the block looked for, else the
    /// leaf's first; `None` in an empty leaf.
    pub(super) extent: Option<Extent>,
    /// The one after it in the leaf.
    pub(super) after: Option<Extent>,
}

impl Path {
    pub(super) fn level(&self, depth: usize) -> Level {
        self.levels.get(depth).copied().unwrap_or_default()
    }

    pub(super) fn leaf(&self) -> Level {
        self.level(self.depth)
    }

    /// The extent that a block of the file is in.
    pub(super) fn holding(&self, lblk: u32) -> Option<Extent> {
        self.extent.filter(|e| e.holds(lblk))
    }

    /// The extent of the leaf that begins before a block of the file.
    pub(super) fn left(&self, lblk: u32) -> Option<Extent> {
        self.extent.filter(|e| e.lblk < lblk)
    }

    /// The extent that begins after a block of the file, which is in a hole.
    pub(super) fn right(
        &self,
        vol: &mut Volume,
        inode: &InodeInfo,
        lblk: u32,
    ) -> Result<Option<Extent>> {
        if let Some(e) = self.extent.filter(|e| e.lblk > lblk).or(self.after) {
            return Ok(Some(e));
        }
        match self.next_leaf() {
            Some(next) => Ok(find(vol, inode, next)?.extent),
            None => Ok(None),
        }
    }

    /// Where the next extent after a hole at `lblk` begins.
    pub(super) fn next_mapped(&self, lblk: u32) -> u64 {
        match self.extent {
            Some(e) if e.lblk > lblk => e.lblk.into(),
            _ => self.levels[..=self.depth.min(self.levels.len() - 1)]
                .iter()
                .rev()
                .find_map(|l| l.next)
                .map_or(END, u64::from),
        }
    }

    /// Where the next leaf begins.
    pub(super) fn next_leaf(&self) -> Option<u32> {
        let inner = self.levels.get(..self.depth)?;
        inner.iter().rev().find_map(|l| l.next)
    }

    /// Where this leaf begins; `None` for the first.
    pub(super) fn leaf_begin(&self) -> Option<u32> {
        let inner = self.levels.get(..self.depth)?;
        inner.iter().rev().find(|l| l.slot > 0)?.key
    }
}

/// Finds the leaf for a block of the file.
pub(super) fn find(vol: &mut Volume, inode: &InodeInfo, lblk: u32) -> Result<Path> {
    let mut node = check::root(vol, inode)?;
    let depth = node.depth();
    let mut path = Path {
        levels: Default::default(),
        depth,
        extent: None,
        after: None,
    };
    for (i, level) in path.levels.iter_mut().enumerate().take(depth + 1) {
        *level = Level::new(&node, lblk);
        if i == depth {
            path.extent = node.extent(level.slot);
            path.after = node.extent(level.slot + 1);
            break;
        }
        let Some(child) = node.child(level.slot) else {
            return Err(check::damage(vol, inode, level.at, "leads nowhere"));
        };
        node = check::load(vol, inode, child, depth - i - 1)?;
    }
    Ok(path)
}

/// Reads the node at a level of the way again.
pub(super) fn reload(
    vol: &mut Volume,
    inode: &InodeInfo,
    path: &Path,
    level: usize,
) -> Result<Node> {
    match path.level(level).at {
        None => check::root(vol, inode),
        Some(at) => check::load(vol, inode, at, path.depth.saturating_sub(level)),
    }
}

/// After the first entry of the node at a level changed, says so in the nodes above.
pub(super) fn fix_indexes(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    path: &Path,
    level: usize,
) -> Result<()> {
    let Some(first) = reload(vol, inode, path, level)?.key(0) else {
        return Ok(());
    };
    for above in (0..level).rev() {
        let l = path.level(above);
        if l.key != Some(first) {
            node::edit(vol, inode, l.at, |n| n.set_key(l.slot, first))?;
        }
        if l.slot > 0 {
            break;
        }
    }
    Ok(())
}
