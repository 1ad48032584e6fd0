//! Marks for what a replayed fast commit says is in use. Nobody asks for a place here: it
//! is known, and may be marked already.

use super::inodes::take;
use super::{bits, group};
use crate::ext4::{Place, Problem};
use crate::kernel::{Result, Volume};
use crate::units::{BlockNr, InodeNr};

/// Marks those of a file's blocks as used that are not.
pub(in crate::kernel) fn mark_blocks(vol: &mut Volume, start: BlockNr, len: u64) -> Result<()> {
    if !vol.data_blocks_valid(start, len) {
        let words = "is given to a file by a fast commit, but is not a file's";
        return Err(vol.corrupt(Problem::other(Place::Block(start), words)));
    }
    let per = u64::from(vol.geo.cluster_blocks);
    let (mut at, end) = (start.0, start.0.saturating_add(len));
    while at < end {
        let Some(g) = vol.geo.group_of(BlockNr(at)) else {
            break;
        };
        let first = vol.geo.group_start(g).0;
        let stop = end.min(first + u64::from(vol.geo.group_len(g)));
        let (from, to) = ((at - first) / per, (stop - first).div_ceil(per));
        let mut bit = from as u32;
        let map = group::block_bitmap(vol, g)?;
        while u64::from(bit) < to {
            let free = bits::next_zero(&map, bit, to as u32);
            bit = bits::next_one(&map, free, to as u32);
            if bit > free {
                group::mark_clusters(vol, g, free, bit - free, true)?;
            }
        }
        at = stop;
    }
    Ok(())
}

/// Marks an inode as used, if it is not.
pub(in crate::kernel) fn mark_inode(vol: &mut Volume, nr: InodeNr, mode: u16) -> Result<()> {
    vol.inode_place(nr)?;
    let (g, bit) = vol.geo.inode_home(nr);
    let used = bits::test(&group::inode_bitmap(vol, g)?, bit);
    if used {
        Ok(())
    } else {
        take(vol, g, bit, mode).map(drop)
    }
}
