//! Blocks for files.

use super::mb::{self, Run};
use super::{State, group, simple, space};
use crate::event::{Actor, Reason, What};
use crate::ext4::layout::Incompat;
use crate::ext4::{Place, Problem};
use crate::kernel::{AllocatorKind, DirPolicy, Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, GroupNr, Lblk};

/// A flex group of at least so many groups keeps its first for directories.
const FLEX_DIR_SCHEME: u32 = 4;
/// Parts of a group that processes begin in.
const COLOURS: u64 = 16;

/// What is asked of the allocator.
#[derive(Clone, Copy, Debug)]
pub struct Want {
    /// Where it would be best; 0 for no idea.
    pub goal: BlockNr,
    /// For which block of the file.
    pub lblk: Lblk,
    /// Blocks at most.
    pub len: u32,
    /// For what.
    pub reason: Reason,
    /// It keeps a promise made to delayed blocks, which is thereby taken back; metadata
    /// that such blocks need has none, but is not refused either.
    pub reserved: bool,
    /// Reserved blocks may be used, whoever calls; for metadata, the kernel's own too.
    pub root: bool,
}

/// Groups of a flex group; 1 without flex groups.
pub(super) fn flex_size(vol: &Volume) -> u32 {
    if !vol.has_incompat(Incompat::FLEX_BG) {
        return 1;
    }
    1 << u32::from(vol.sb.s_log_groups_per_flex()).min(31)
}

/// Whether the first group of each flex group is left to directories.
pub(super) fn packs_dirs(vol: &Volume) -> bool {
    vol.options.dir_policy == DirPolicy::Packed && flex_size(vol) >= FLEX_DIR_SCHEME
}

/// Where an inode's first block should go: the start of its group, for a regular file of
/// its flex group's second. Without delayed allocation, processes that write at once begin
/// in different parts of the group.
pub fn goal_for(vol: &Volume, inode: &InodeInfo) -> BlockNr {
    let (mut g, _) = vol.geo.inode_home(inode.nr);
    if packs_dirs(vol) {
        g.0 &= !(flex_size(vol) - 1);
        if inode.is_file() {
            g.0 = g.0.saturating_add(1);
        }
    }
    let start = vol.geo.group_start(g);
    if delays(vol) {
        return start;
    }
    let last = vol.geo.blocks.saturating_sub(1);
    let room = u64::from(vol.geo.blocks_per_group).min(last.saturating_sub(start.0));
    let pid = match vol.events.actor {
        Actor::Process(pid) => u64::from(pid),
        _ => 0,
    };
    start.plus(pid % COLOURS * (room / COLOURS))
}

/// Whether blocks are allocated when contents are written back.
fn delays(vol: &Volume) -> bool {
    let usual = vol.has_incompat(Incompat::EXTENTS);
    vol.options.delalloc.unwrap_or(usual)
}

/// What the file has around the block that is wanted: the nearest mapped block before it,
/// the nearest after it, and where they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Near {
    /// Before.
    pub left: Option<(Lblk, BlockNr)>,
    /// After.
    pub right: Option<(Lblk, BlockNr)>,
}

/// Takes up to `want.len` blocks in a row, at least one. Where the goal is not only
/// [`goal_for`]'s, it is taken to follow the block before.
pub fn new_blocks(vol: &mut Volume, inode: &mut InodeInfo, want: &Want) -> Result<(BlockNr, u32)> {
    let mut near = Near::default();
    if want.goal.0 > 1 && want.lblk.0 > 0 && want.goal != goal_for(vol, inode) {
        near.left = Some((Lblk(want.lblk.0 - 1), BlockNr(want.goal.0 - 1)));
    }
    new_blocks_near(vol, inode, want, &near)
}

/// The same, for one who knows what is around. With bigalloc, whole clusters are taken:
/// the block given is the one of them that `want.lblk` is in.
pub fn new_blocks_near(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    want: &Want,
    near: &Near,
) -> Result<(BlockNr, u32)> {
    vol.check_writable()?;
    let per = vol.geo.cluster_blocks;
    // A node of a map has its cluster for itself; contents are at the same place in their
    // cluster on disk as in the file.
    let skip = match want.reason {
        Reason::Data => want.lblk.0 % per,
        Reason::Metadata => 0,
    };
    let mut want = *want;
    want.lblk.0 -= skip;
    want.len = want.len.max(1).saturating_add(skip);
    if !want.reserved {
        want.len = affordable(vol, &want)?;
    }
    let goal = match want.goal.0 {
        0 => goal_for(vol, inode),
        at => BlockNr(at.saturating_sub(skip.into())),
    };
    let run = find(vol, inode, &want, goal, near)?;
    let g = GroupNr(run.group);
    group::mark_clusters(vol, g, run.bit, run.len, true)?;
    let start = block_at(vol, run);
    let len = run.len.saturating_mul(per);
    if want.reserved && want.reason == Reason::Data {
        space::release(vol, inode, run.len);
    }
    inode.add_blocks(vol, len.into());
    let (nr, reason) = (inode.nr, want.reason);
    vol.events.emit(|| What::Allocated {
        inode: nr,
        group: g,
        start,
        len,
        reason,
    });
    Ok((start.plus(skip.into()), len.min(want.len) - skip))
}

/// Blocks of a request that may be taken: half and half again, until there are so many.
fn affordable(vol: &Volume, want: &Want) -> Result<u32> {
    let per = vol.geo.cluster_blocks;
    let mut clusters = want.len.div_ceil(per);
    while !space::has_free(vol, clusters.into(), space::Who::of(vol, want)) {
        clusters /= 2;
        if clusters == 0 {
            return Err(Errno::ENOSPC);
        }
    }
    Ok(want.len.min(clusters.saturating_mul(per)))
}

fn block_at(vol: &Volume, run: Run) -> BlockNr {
    let per = u64::from(vol.geo.cluster_blocks);
    vol.geo
        .group_start(GroupNr(run.group))
        .plus(u64::from(run.bit) * per)
}

/// A block's group, and its cluster's bit there.
pub(super) fn place(vol: &Volume, at: BlockNr) -> Option<(GroupNr, u32)> {
    let g = vol.geo.group_of(at)?;
    let offset = at.0 - vol.geo.group_start(g).0;
    Some((g, (offset / u64::from(vol.geo.cluster_blocks)) as u32))
}

/// Finds clusters, by the allocator that the mount has.
fn find(
    vol: &mut Volume,
    inode: &InodeInfo,
    want: &Want,
    goal: BlockNr,
    near: &Near,
) -> Result<Run> {
    let clusters = want.len.div_ceil(vol.geo.cluster_blocks);
    match vol.alloc.kind {
        AllocatorKind::Ext2 => {
            simple::ext2(vol, inode, want.reason == Reason::Data, goal, clusters)
        }
        AllocatorKind::ReuseFirst => simple::reuse_first(vol, clusters),
        _ => mb::find(vol, inode, want, goal, near),
    }
}

/// Gives blocks back. With bigalloc these are whole clusters: the first begins one, and
/// the last may be cut short. Damage is noted and passed over.
pub fn free_blocks(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    start: BlockNr,
    len: u64,
    metadata: bool,
) -> Result<()> {
    if !vol.data_blocks_valid(start, len) {
        let words = format!("and {len} blocks from it on were to be freed, but are not a file's");
        vol.corrupt(Problem::other(Place::Block(start), words));
        return Ok(());
    }
    if metadata {
        for at in start.0..start.0 + len {
            vol.forget(BlockNr(at));
        }
    }
    let (mut at, end) = (start.0, start.0 + len);
    while at < end {
        let Some(g) = vol.geo.group_of(BlockNr(at)) else {
            break;
        };
        let stop = end.min(vol.geo.group_start(g).0 + u64::from(vol.geo.group_len(g)));
        free_in_group(vol, inode, g, at, stop)?;
        at = stop;
    }
    Ok(())
}

fn free_in_group(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    g: GroupNr,
    at: u64,
    stop: u64,
) -> Result<()> {
    let per = u64::from(vol.geo.cluster_blocks);
    let first = vol.geo.group_start(g).0;
    let bit = (at - first) / per;
    let clusters = (stop - first).div_ceil(per) - bit;
    inode.add_blocks(vol, -((clusters * per).cast_signed()));
    let run = Run {
        group: g.0,
        bit: bit as u32,
        len: clusters as u32,
    };
    mb::discard_overlapping(vol, inode.nr, run);
    if vol.alloc.is_bad(g) {
        return Ok(());
    }
    // With a journal, what is freed stays in use for the allocators until the transaction
    // is committed: after a crash before that it is still the file's.
    let held = vol.journal.is_some() && mb::Groups::look_into(vol, g)?;
    match group::mark_clusters(vol, g, run.bit, run.len, false) {
        Err(Errno::EFSCORRUPTED) => return Ok(()),
        other => other?,
    }
    let (nr, len) = (inode.nr, (stop - at) as u32);
    vol.events.emit(|| What::Freed {
        inode: nr,
        group: g,
        start: BlockNr(at),
        len,
    });
    let now = vol.events.now;
    match &mut vol.journal {
        Some(journal) if held => {
            journal.join(now).free(BlockNr(at), stop - at);
            Ok(())
        }
        _ => usable_again(vol, BlockNr(at), stop - at),
    }
}

/// Blocks of one group may be taken again.
fn usable_again(vol: &mut Volume, start: BlockNr, len: u64) -> Result<()> {
    let Some((g, bit)) = place(vol, start) else {
        return Ok(());
    };
    let clusters = len.div_ceil(vol.geo.cluster_blocks.into()) as u32;
    if !vol.alloc.groups.give(g.0, bit, clusters) {
        vol.alloc.mark(g, State::BAD_BLOCKS);
    }
    if vol.options.discard {
        vol.discard(start, len)?;
    }
    Ok(())
}

/// Blocks of one group that a transaction freed may be taken again: it is committed.
pub fn release_freed(vol: &mut Volume, start: BlockNr, len: u64) -> Result<()> {
    usable_again(vol, start, len)
}
