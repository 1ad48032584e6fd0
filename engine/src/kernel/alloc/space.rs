//! How much there is left, and for whom.

use super::{State, Want, bits, group};
use crate::event::{Reason, What};
use crate::ext4::layout::{Incompat, Superblock};
use crate::ext4::read::Geometry;
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::GroupNr;

/// The clusters that the kernel keeps for itself (`s_resv_clusters`): a fiftieth, at most
/// 4096. Without extents it never needs any.
pub(super) fn pool(sb: &Superblock<Box<[u8]>>, geo: &Geometry) -> u64 {
    if !sb.incompat().contains(Incompat::EXTENTS) {
        return 0;
    }
    ((geo.blocks / u64::from(geo.cluster_blocks)) / 50).min(4096)
}

/// Clusters that are neither in use nor promised.
fn unpromised(vol: &Volume) -> u64 {
    vol.free_clusters.saturating_sub(vol.reserved_clusters)
}

/// Who asks, by what is open to him.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    /// What is kept for nobody.
    Anyone,
    /// What is kept for the super-user too.
    Root,
    /// And what the kernel keeps for itself.
    Kernel,
}

impl Who {
    /// Who wants blocks.
    pub(super) fn of(vol: &Volume, want: &Want) -> Self {
        match (want.root, want.reason) {
            (true, Reason::Metadata) => Self::Kernel,
            (true, Reason::Data) => Self::Root,
            (false, _) => Self::calling(vol),
        }
    }

    fn calling(vol: &Volume) -> Self {
        if vol.privileged {
            Self::Root
        } else {
            Self::Anyone
        }
    }
}

/// Whether `clusters` more can be had.
pub(super) fn has_free(vol: &Volume, clusters: u64, who: Who) -> bool {
    let root = vol.sb.reserved_blocks_count() / u64::from(vol.geo.cluster_blocks);
    let floor = match who {
        Who::Anyone => root.saturating_add(vol.alloc.pool),
        Who::Root => vol.alloc.pool,
        Who::Kernel => 0,
    };
    unpromised(vol) >= floor.saturating_add(clusters)
}

/// Promises blocks (clusters, with bigalloc) to delayed pages of an inode.
pub fn reserve(vol: &mut Volume, inode: &mut InodeInfo, blocks: u32) -> Result<()> {
    if !has_free(vol, blocks.into(), Who::calling(vol)) {
        return Err(Errno::ENOSPC);
    }
    vol.reserved_clusters += u64::from(blocks);
    inode.delayed = inode.delayed.saturating_add(blocks);
    let nr = inode.nr;
    vol.events.emit(|| What::Reserved { inode: nr, blocks });
    Ok(())
}

/// Takes a promise back: it was kept, or is no longer needed.
pub fn release(vol: &mut Volume, inode: &mut InodeInfo, blocks: u32) {
    let blocks = blocks.min(inode.delayed);
    if blocks == 0 {
        return;
    }
    vol.reserved_clusters = vol.reserved_clusters.saturating_sub(blocks.into());
    inode.delayed -= blocks;
    let nr = inode.nr;
    vol.events.emit(|| What::Released { inode: nr, blocks });
}

/// What `statfs` tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Statfs {
    /// Bytes of a block.
    pub block_size: u32,
    /// Blocks, without the filesystem's own.
    pub blocks: u64,
    /// Free blocks.
    pub free: u64,
    /// Free blocks that anyone may use.
    pub available: u64,
    /// Inodes.
    pub inodes: u64,
    /// Free inodes.
    pub free_inodes: u64,
    /// Longest name, bytes.
    pub name_len: u32,
}

/// What there is and what is left of it. Promised blocks are not free.
pub fn statfs(vol: &Volume) -> Statfs {
    let per = u64::from(vol.geo.cluster_blocks);
    let free = unpromised(vol) * per;
    let kept = vol.sb.reserved_blocks_count() + vol.alloc.pool * per;
    Statfs {
        block_size: vol.geo.block_size,
        blocks: vol.geo.blocks.saturating_sub(overhead(vol)),
        free,
        available: free.saturating_sub(kept),
        inodes: vol.geo.inodes.into(),
        free_inodes: vol.free_inodes.into(),
        name_len: 255,
    }
}

/// Blocks that metadata takes from the start: as the superblock says, else the boot block,
/// what groups have, and the journal.
fn overhead(vol: &Volume) -> u64 {
    let known = u64::from(vol.sb.s_overhead_clusters()) * u64::from(vol.geo.cluster_blocks);
    if known != 0 && known <= vol.geo.blocks {
        return known;
    }
    let groups: u64 = vol.zones().iter().map(|z| z.1 - z.0).sum();
    let per = u64::from(vol.geo.cluster_blocks);
    let journal = journal_blocks(vol).next_multiple_of(per);
    groups.next_multiple_of(per) + vol.geo.first_data_block + journal
}

/// Blocks of a journal inside the filesystem: its size is in the superblock's copy of its
/// inode (`s_jnl_blocks`: 15 words of `i_block`, then the size's high and low half).
fn journal_blocks(vol: &Volume) -> u64 {
    if vol.sb.s_journal_inum() == 0 || vol.sb.s_jnl_backup_type() != 1 {
        return 0;
    }
    let raw = vol.sb.s_jnl_blocks().0;
    let word = |i: usize| {
        let bytes = raw.get(i * 4..i * 4 + 4).unwrap_or_default();
        bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
    };
    let bytes = word(15) << 32 | word(16);
    (bytes / u64::from(vol.geo.block_size)).min(vol.geo.blocks)
}

/// Tells the device of free blocks in a range of bytes (FITRIM): runs of at least `min`
/// bytes. Gives the bytes told. Groups where nothing was freed since the last time are
/// passed over, unless shorter runs count now.
pub fn trim(vol: &mut Volume, from: u64, len: u64, min: u64) -> Result<u64> {
    let size = u64::from(vol.geo.block_size);
    let min = (min / size).div_ceil(vol.geo.cluster_blocks.into()).max(1);
    let most = u64::from(group::clusters_per_group(vol));
    if from / size >= vol.geo.blocks || len < size || min > most {
        return Err(Errno::EINVAL);
    }
    let first = (from / size).max(vol.geo.first_data_block);
    let end = (from.saturating_add(len) / size).min(vol.geo.blocks);
    let mut told = 0;
    for g in (0..vol.geo.groups).map(GroupNr) {
        let start = vol.geo.group_start(g).0;
        let last = start + u64::from(vol.geo.group_len(g));
        let (a, b) = (first.max(start), end.min(last));
        let known = vol.alloc.has_mark(g, State::TRIMMED) && min >= vol.alloc.trimmed_min;
        if a >= b || known {
            continue;
        }
        told += trim_group(vol, g, a, b, min)?;
        if a == start && b == last {
            vol.alloc.mark(g, State::TRIMMED);
        }
    }
    vol.alloc.trimmed_min = min;
    Ok(told * size)
}

/// Tells of free runs of `min` clusters and more in a part of a group; gives the blocks.
fn trim_group(vol: &mut Volume, g: GroupNr, from: u64, to: u64, min: u64) -> Result<u64> {
    let Some(map) = super::mb::Groups::usable_map(vol, g.0) else {
        return Ok(0);
    };
    let per = u64::from(vol.geo.cluster_blocks);
    let start = vol.geo.group_start(g);
    let stop = ((to - start.0).div_ceil(per)) as u32;
    let mut bit = bits::next_zero(&map, ((from - start.0) / per) as u32, stop);
    let mut told = 0;
    while bit < stop {
        let next = bits::next_one(&map, bit, stop);
        if u64::from(next - bit) >= min {
            let at = start.plus(u64::from(bit) * per);
            // The filesystem may end within its last cluster.
            let blocks = (u64::from(next - bit) * per).min(vol.geo.blocks - at.0);
            vol.discard(at, blocks)?;
            told += blocks;
        }
        bit = bits::next_zero(&map, next, stop);
    }
    Ok(told)
}
