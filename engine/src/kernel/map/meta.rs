//! Blocks that a map itself takes.

use crate::event::{Reason, What};
use crate::kernel::alloc::{self, Near, Want};
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Takes a block for a node. With bigalloc it has its cluster for itself.
///
/// A map may always use the blocks reserved for root: what it is for has its block
/// already, or the promise of one.
pub(super) fn allocate(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    goal: BlockNr,
    lblk: u32,
) -> Result<BlockNr> {
    let want = Want {
        goal,
        lblk: Lblk(lblk),
        len: 1,
        reason: Reason::Metadata,
        reserved: false,
        root: true,
    };
    let (at, _) = alloc::new_blocks_near(vol, inode, &want, &Near::default())?;
    let nr = inode.nr;
    vol.events.emit(|| What::NodeAdded {
        inode: nr,
        block: at,
    });
    Ok(at)
}

/// Gives a node's block back.
pub(super) fn free(vol: &mut Volume, inode: &mut InodeInfo, at: BlockNr) -> Result<()> {
    let nr = inode.nr;
    vol.events.emit(|| What::NodeRemoved {
        inode: nr,
        block: at,
    });
    let cluster = u64::from(vol.geo.cluster_blocks);
    let start = BlockNr(at.0 - at.0 % cluster);
    let len = cluster.min(vol.geo.blocks.saturating_sub(start.0));
    alloc::free_blocks(vol, inode, start, len, true)
}
