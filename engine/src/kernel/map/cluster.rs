//! bigalloc: blocks are given out in clusters, and blocks of a file that are in one
//! cluster of the file are in one cluster on disk, at the same place in it.

use super::extent::Extent;
use super::{State, lookup};
use crate::event::What;
use crate::ext4::layout::InodeFlags;
use crate::kernel::alloc;
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Where a block must go because a neighbour has its cluster, and how many blocks from it
/// on go there too.
pub(super) fn implied(
    per: u32,
    left: Option<Extent>,
    right: Option<Extent>,
    lblk: u32,
    len: u32,
) -> Option<(u64, u32)> {
    let mine = lblk / per;
    let first_of = |e: Extent, lblk: u64| {
        let at = e.at(lblk);
        at - at % u64::from(per)
    };
    let shared = left
        .filter(|e| (e.end().saturating_sub(1) / u64::from(per)) == u64::from(mine))
        .map(|e| first_of(e, e.end() - 1))
        .or_else(|| {
            right
                .filter(|e| e.lblk / per == mine && e.lblk > lblk)
                .map(|e| first_of(e, e.lblk.into()))
        })?;
    let into = lblk % per;
    Some((shared + u64::from(into), len.min(per - into)))
}

/// How many blocks can be given new clusters before the one that the extent to the right
/// begins in.
pub(super) fn clip(per: u32, right: Option<Extent>, lblk: u32, len: u32) -> u32 {
    match right {
        Some(e) if e.lblk > lblk => {
            let border = e.lblk - e.lblk % per;
            len.min(border.saturating_sub(lblk))
        }
        _ => len,
    }
}

/// Frees the blocks of extents that have left the map, in the order of the file; with
/// bigalloc, those clusters of which nothing is mapped any more.
pub(super) fn free(vol: &mut Volume, inode: &mut InodeInfo, gone: &[Extent]) -> Result<()> {
    let per = u64::from(vol.geo.cluster_blocks);
    let buffered = has_buffers(inode);
    let mut freed = 0;
    for e in gone {
        if per == 1 {
            alloc::free_blocks(vol, inode, BlockNr(e.start), e.len.into(), buffered)?;
            continue;
        }
        let home = u64::from(e.lblk) / per;
        let (mut first, mut end) = (home, e.end().div_ceil(per));
        if first < freed || is_mapped(vol, inode, first)? {
            first += 1;
        }
        if first < end && is_mapped(vol, inode, end - 1)? {
            end -= 1;
        }
        if first >= end {
            continue;
        }
        freed = end;
        // At the same place in the cluster on disk as in the file.
        let start = e.start.saturating_sub(u64::from(e.lblk) % per) + (first - home) * per;
        let len = (end - first) * per;
        let len = len.min(vol.geo.blocks.saturating_sub(start));
        alloc::free_blocks(vol, inode, BlockNr(start), len, buffered)?;
        promise_again(vol, inode, first, end - 1);
    }
    Ok(())
}

/// Whether the blocks of an inode are kept as buffers, not as pages.
pub(super) fn has_buffers(inode: &InodeInfo) -> bool {
    !inode.is_file() || inode.has(InodeFlags::EA_INODE)
}

/// Delayed blocks relied on clusters that are gone now: they are promised new ones, which
/// cannot be refused.
fn promise_again(vol: &mut Volume, inode: &mut InodeInfo, first: u64, last: u64) {
    let (head, tail) = (first, (last > first).then_some(last));
    for cluster in std::iter::once(head).chain(tail) {
        if has_delayed(vol, inode, cluster) {
            vol.reserved_clusters = vol.reserved_clusters.saturating_add(1);
            inode.delayed = inode.delayed.saturating_add(1);
            let nr = inode.nr;
            vol.events.emit(|| What::Reserved {
                inode: nr,
                blocks: 1,
            });
        }
    }
}

fn has_delayed(vol: &Volume, inode: &InodeInfo, cluster: u64) -> bool {
    let per = u64::from(vol.geo.cluster_blocks);
    let mut pages = inode.pages.range(cluster * per, (cluster + 1) * per);
    pages.any(|(_, p)| p.delayed)
}

/// Whether any block of a cluster of the file is mapped.
fn is_mapped(vol: &mut Volume, inode: &InodeInfo, cluster: u64) -> Result<bool> {
    let per = u64::from(vol.geo.cluster_blocks);
    let (mut at, end) = (cluster * per, (cluster + 1) * per);
    let end = end.min(u32::MAX.into());
    while at < end {
        let run = lookup(vol, inode, Lblk(at as u32), (end - at) as u32)?;
        if run.state != State::Hole {
            return Ok(true);
        }
        at += u64::from(run.len.max(1));
    }
    Ok(false)
}

pub(super) fn reserve_needed(vol: &mut Volume, inode: &InodeInfo, lblk: Lblk) -> Result<u32> {
    let per = u64::from(vol.geo.cluster_blocks);
    if per == 1 {
        return Ok(1);
    }
    let cluster = u64::from(lblk.0) / per;
    let there = has_delayed(vol, inode, cluster) || is_mapped(vol, inode, cluster)?;
    Ok(u32::from(!there))
}
