//! Allocators that know bitmaps only: ext2's, and one that uses low blocks again and again.

use super::mb::{Groups, Run};
use super::{bits, blocks, window};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, GroupNr};

/// ext2's and ext3's: for a file that is open, from its window; else the goal itself, or a
/// free bit close after it, or eight in a row, or any in the group; else the same in the
/// groups that follow.
pub(super) fn ext2(
    vol: &mut Volume,
    inode: &InodeInfo,
    data: bool,
    goal: BlockNr,
    clusters: u32,
) -> Result<Run> {
    Groups::prepare(vol)?;
    let goal = blocks::place(vol, goal).unwrap_or_default();
    let keeps = data && inode.is_file() && inode.opens > 0;
    if keeps {
        let nr = inode.nr;
        let found = by_groups(vol, goal, |vol, g, bit| {
            window::in_group(vol, nr, g, bit, clusters)
        });
        if let Some(run) = found {
            return taken(vol, run);
        }
    }
    // Other files' windows are no reason to say that there is no space.
    let found = by_groups(vol, goal, |vol, g, bit| in_group(vol, g, bit, clusters));
    found.map_or(Err(Errno::ENOSPC), |run| taken(vol, run))
}

/// Asks the group of the goal, the groups that follow, and at last the first one from its
/// start.
fn by_groups(
    vol: &mut Volume,
    (home, bit): (GroupNr, u32),
    mut find: impl FnMut(&mut Volume, u32, Option<u32>) -> Option<Run>,
) -> Option<Run> {
    if vol.alloc.groups.free(home.0) > 0
        && let Some(run) = find(vol, home.0, Some(bit))
    {
        return Some(run);
    }
    let next = home.0.saturating_add(1);
    for (from, to) in [(next, vol.geo.groups), (0, next)] {
        let mut from = from;
        while let Some(g) = vol.alloc.groups.next_nonfull(from, to) {
            if let Some(run) = find(vol, g, None) {
                return Some(run);
            }
            from = g.saturating_add(1);
        }
    }
    None
}

fn in_group(vol: &mut Volume, g: u32, goal: Option<u32>, clusters: u32) -> Option<Run> {
    let end = vol.geo.clusters_in(GroupNr(g));
    let map = Groups::usable_map(vol, g)?;
    let bit = match goal {
        Some(bit) => after_goal(&map, bit, end),
        None => eight(&map, 0, end).or_else(|| any(&map, 0, end)),
    }?;
    Some(run_at(&map, g, bit, end, clusters))
}

fn run_at(map: &[u8], g: u32, bit: u32, end: u32, clusters: u32) -> Run {
    let stop = bits::next_one(map, bit, end.min(bit.saturating_add(clusters)));
    Run {
        group: g,
        bit,
        len: stop - bit,
    }
}

fn any(map: &[u8], from: u32, end: u32) -> Option<u32> {
    Some(bits::next_zero(map, from, end)).filter(|&n| n < end)
}

/// In the group of the goal: the goal; then up to the next multiple of 64; then eight in a
/// row; then any after the goal.
fn after_goal(map: &[u8], goal: u32, end: u32) -> Option<u32> {
    let goal = goal.min(end);
    let close = (goal.saturating_add(63) & !63).min(end);
    if goal < end && !bits::test(map, goal) {
        return Some(goal);
    }
    any(map, goal, close)
        .or_else(|| eight(map, goal, end))
        .or_else(|| any(map, goal, end))
}

/// A free byte of the bitmap, or the free bits just before it.
fn eight(map: &[u8], from: u32, end: u32) -> Option<u32> {
    let first = from.div_ceil(8) as usize;
    let bytes = map.get(first..end as usize / 8)?;
    let byte = bytes.iter().position(|&b| b == 0)? + first;
    let mut bit = byte as u32 * 8;
    let least = from.max(bit.saturating_sub(7));
    while bit > least && !bits::test(map, bit - 1) {
        bit -= 1;
    }
    Some(bit)
}

/// The lowest free clusters there are, whatever the goal: few erase blocks are ever used.
pub(super) fn reuse_first(vol: &mut Volume, clusters: u32) -> Result<Run> {
    Groups::prepare(vol)?;
    let mut from = 0;
    while let Some(g) = vol.alloc.groups.next_nonfull(from, vol.geo.groups) {
        let end = vol.geo.clusters_in(GroupNr(g));
        if let Some(map) = Groups::usable_map(vol, g)
            && let Some(bit) = any(&map, 0, end)
        {
            let run = run_at(&map, g, bit, end, clusters);
            drop(map);
            return taken(vol, run);
        }
        from = g.saturating_add(1);
    }
    Err(Errno::ENOSPC)
}

fn taken(vol: &mut Volume, run: Run) -> Result<Run> {
    vol.alloc.groups.take(run.group, run.bit, run.len);
    Ok(run)
}
