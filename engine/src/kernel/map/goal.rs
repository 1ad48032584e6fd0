//! Where a file's next block would be best, as ext4 finds it.

use super::extent::Extent;
use crate::kernel::{InodeInfo, Volume, alloc};
use crate::units::BlockNr;

/// Beside an extent, as if the file were written in order and lay in one piece; else at
/// the leaf's own block; else where the inode is.
pub(super) fn beside(
    vol: &Volume,
    inode: &InodeInfo,
    extent: Option<Extent>,
    leaf: Option<BlockNr>,
    lblk: u32,
) -> BlockNr {
    if let Some(e) = extent {
        let by = i64::from(lblk) - i64::from(e.lblk);
        return BlockNr(e.start.saturating_add_signed(by));
    }
    leaf.unwrap_or_else(|| alloc::goal_for(vol, inode))
}
