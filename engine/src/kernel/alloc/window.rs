//! Reservation windows, as ext3 got them in 2.6.10 (and ext2 later): a file that is being
//! written has a stretch of the disk that other files' windows keep out of. Nothing marks
//! its blocks as used. Windows double as long as their files use them.

use super::mb::{Groups, Run};
use super::{bits, group};
use crate::kernel::Volume;
use crate::units::{GroupNr, InodeNr};
use imbl::OrdMap;

/// Clusters of a first window (`EXT3_DEFAULT_RESERVE_BLOCKS`).
const FIRST: u32 = 8;
/// Clusters of the longest (`EXT3_MAX_RESERVE_BLOCKS`).
const LONGEST: u32 = 1027;

/// Clusters are counted over all groups: group times clusters of a group, and bit.
#[derive(Clone, Copy, Debug)]
struct Window {
    start: u64,
    /// One past its last; `start` where there is none.
    end: u64,
    /// Clusters of the next one.
    size: u32,
    /// Taken from this one.
    hits: u32,
}

/// All windows.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    by_inode: OrdMap<u32, Window>,
    /// First cluster to one past the last.
    by_start: OrdMap<u64, u64>,
}

impl Windows {
    /// An inode needs its window no more.
    pub(super) fn discard(&mut self, inode: InodeNr) {
        if let Some(w) = self.by_inode.remove(&inode.0) {
            self.by_start.remove(&w.start);
        }
    }

    fn get(&self, inode: InodeNr) -> Window {
        let none = Window {
            start: 0,
            end: 0,
            size: FIRST,
            hits: 0,
        };
        self.by_inode.get(&inode.0).copied().unwrap_or(none)
    }

    fn set(&mut self, inode: InodeNr, w: Window) {
        self.discard(inode);
        if w.end > w.start {
            self.by_start.insert(w.start, w.end);
        }
        self.by_inode.insert(inode.0, w);
    }

    /// The first place from `from` on, before `end`, where `len` clusters are in nobody's
    /// window.
    fn gap(&self, from: u64, end: u64, len: u32) -> Option<u64> {
        let mut at = from;
        if let Some((_, &stop)) = self.by_start.range(..=from).next_back() {
            at = at.max(stop);
        }
        for (&start, &stop) in self.by_start.range(at..) {
            if at >= end || start - at >= len.into() {
                break;
            }
            at = stop;
        }
        (at < end).then_some(at)
    }
}

/// Takes clusters for a file in a group: from its window where the goal is in it and
/// something is free there, else from a new one.
pub(super) fn in_group(
    vol: &mut Volume,
    inode: InodeNr,
    g: u32,
    goal: Option<u32>,
    clusters: u32,
) -> Option<Run> {
    let per = u64::from(group::clusters_per_group(vol));
    let first = u64::from(g) * per;
    let end = vol.geo.clusters_in(GroupNr(g));
    let last = first + u64::from(end);
    let map = Groups::usable_map(vol, g)?;
    let windows = &mut vol.alloc.windows;
    let mut w = windows.get(inode);
    let mut at = goal.map_or(first, |bit| first + u64::from(bit.min(end)));
    let inside = |w: &Window, at: u64| (w.start..w.end).contains(&at);
    if !inside(&w, at) && goal.is_none() && w.start < last && w.end > first {
        at = w.start.max(first);
    }
    if inside(&w, at) {
        let stop = (w.end.min(last) - first) as u32;
        let bit = bits::next_zero(&map, (at - first) as u32, stop);
        if bit < stop {
            let run = run(&map, g, bit, stop, clusters);
            w.hits = w.hits.saturating_add(run.len);
            windows.set(inode, w);
            return Some(run);
        }
        at = w.end.min(last);
    }
    // The last window was used well: the next is twice as long.
    if w.end > w.start && u64::from(w.hits) > (w.end - w.start) / 2 {
        w.size = (w.size * 2).min(LONGEST);
    }
    windows.discard(inode);
    let size = w.size.max(clusters.min(LONGEST));
    let (start, bit) = place(windows, &map, first, at, end, size)?;
    let stop = (start + u64::from(size)).min(last);
    let run = run(&map, g, bit, (stop - first) as u32, clusters);
    let new = Window {
        start,
        end: start + u64::from(size),
        size: w.size,
        hits: run.len,
    };
    windows.set(inode, new);
    Some(run)
}

/// Where a new window can begin, and the first free bit in it.
fn place(
    windows: &Windows,
    map: &[u8],
    first: u64,
    from: u64,
    end: u32,
    size: u32,
) -> Option<(u64, u32)> {
    let last = first + u64::from(end);
    let mut at = from;
    while at < last {
        at = windows.gap(at, last, size)?;
        let bit = bits::next_zero(map, (at - first) as u32, end);
        if bit >= end {
            return None;
        }
        let free = first + u64::from(bit);
        if free < at + u64::from(size) {
            return Some((at, bit));
        }
        at = free;
    }
    None
}

fn run(map: &[u8], g: u32, bit: u32, stop: u32, clusters: u32) -> Run {
    let end = bits::next_one(map, bit, stop.min(bit.saturating_add(clusters)));
    Run {
        group: g,
        bit,
        len: end - bit,
    }
}
