//! Preallocations: clusters that the buddies count as used and the disk as free, kept for
//! one file by the place in it, or for the small files of a locality group.

use super::Run;
use crate::event::What;
use crate::kernel::Volume;
use crate::kernel::alloc::{bits, group};
use crate::units::{BlockNr, GroupNr, InodeNr, Lblk};
use imbl::{OrdMap, OrdSet};

/// Lists of a locality group, by the order of what is left in them.
const LISTS: usize = 10;
/// A list that grows past this is cut...
const LIST_MOST: usize = 8;
/// ...to this.
const LIST_LEAST: usize = 5;

/// Kept for a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForInode {
    pub(super) run: Run,
    /// Clusters not used yet.
    pub(super) free: u32,
}

/// Everything that is kept.
#[derive(Clone, Debug, Default)]
pub(in crate::kernel::alloc) struct Preallocations {
    /// By inode and its block.
    inodes: OrdMap<(u32, u32), ForInode>,
    /// The same by group.
    groups: OrdSet<(u32, u32, u32)>,
    /// For small files. All of a run is free: what is used leaves it at its start.
    small: [Vec<Run>; LISTS],
}

fn list_of(len: u32) -> usize {
    (len.max(1).ilog2() as usize).min(LISTS - 1)
}

impl Preallocations {
    /// What is kept for an inode at or before a block: its first block there.
    pub(super) fn at_or_before(&self, inode: InodeNr, lblk: u32) -> Option<(u32, ForInode)> {
        let (&(_, start), &pa) = self
            .inodes
            .range((inode.0, 0)..=(inode.0, lblk))
            .next_back()?;
        Some((start, pa))
    }

    /// The same for after a block.
    pub(super) fn after(&self, inode: InodeNr, lblk: u32) -> Option<(u32, ForInode)> {
        let from = (inode.0, lblk.checked_add(1)?);
        let (&(_, start), &pa) = self.inodes.range(from..=(inode.0, u32::MAX)).next()?;
        Some((start, pa))
    }

    /// Keeps clusters for a file.
    pub(super) fn keep(&mut self, inode: InodeNr, lblk: u32, pa: ForInode) {
        self.inodes.insert((inode.0, lblk), pa);
        self.groups.insert((pa.run.group, inode.0, lblk));
    }

    /// Notes that some of what is kept for a file is used; what is all used is forgotten.
    pub(super) fn used(&mut self, inode: InodeNr, lblk: u32, clusters: u32) {
        let key = (inode.0, lblk);
        let Some(pa) = self.inodes.get_mut(&key) else {
            return;
        };
        pa.free = pa.free.saturating_sub(clusters);
        if pa.free == 0 {
            self.remove(key);
        }
    }

    fn remove(&mut self, key: (u32, u32)) -> Option<ForInode> {
        let pa = self.inodes.remove(&key)?;
        self.groups.remove(&(pa.run.group, key.0, key.1));
        Some(pa)
    }

    /// Takes from what is kept for small files, the nearest to a goal.
    pub(super) fn use_small(&mut self, len: u32, goal: (u32, u32)) -> Option<Run> {
        let place = |r: &Run| u64::from(r.group) << 32 | u64::from(r.bit);
        let goal = u64::from(goal.0) << 32 | u64::from(goal.1);
        let candidates = self.small.iter().enumerate().skip(list_of(len));
        let (list, index) = candidates
            .flat_map(|(l, runs)| (0..runs.len()).map(move |i| (l, i, runs[i])))
            .filter(|(_, _, r)| r.len >= len)
            .min_by_key(|(_, _, r)| place(r).abs_diff(goal))
            .map(|(l, i, _)| (l, i))?;
        let run = self.small[list].remove(index);
        self.keep_small(Run {
            bit: run.bit + len,
            len: run.len - len,
            ..run
        });
        Some(Run { len, ..run })
    }

    /// Keeps clusters for small files.
    pub(super) fn keep_small(&mut self, run: Run) {
        if run.len == 0 {
            return;
        }
        let list = &mut self.small[list_of(run.len)];
        let at = list.partition_point(|r| r.len <= run.len);
        list.insert(at, run);
    }

    /// What the lists for small files have too much of, the smallest first.
    fn excess(&mut self) -> Vec<Run> {
        let mut out = Vec::new();
        for list in self.small.iter_mut().filter(|l| l.len() > LIST_MOST) {
            out.extend(list.drain(..list.len() - LIST_LEAST));
        }
        out
    }

    /// The first group from one on in which something is kept.
    fn next_group(&self, from: u32) -> Option<u32> {
        let own = self.groups.range((from, 0, 0)..).next().map(|k| k.0);
        let small = self.small.iter().flatten().map(|r| r.group);
        own.into_iter().chain(small.filter(|&g| g >= from)).min()
    }

    /// Forgets everything in a group, without giving it back: its bitmap is damaged.
    pub(in crate::kernel::alloc) fn lose(&mut self, g: u32) {
        while let Some(&(_, inode, lblk)) = self
            .groups
            .range((g, 0, 0)..=(g, u32::MAX, u32::MAX))
            .next()
        {
            if self.remove((inode, lblk)).is_none() {
                break;
            }
        }
        for list in &mut self.small {
            list.retain(|r| r.group != g);
        }
    }

    /// Clusters that are kept, and not used yet.
    #[cfg(test)]
    pub(in crate::kernel::alloc) fn total(&self) -> u64 {
        let own = self.inodes.values().map(|pa| u64::from(pa.free));
        let small = self.small.iter().flatten().map(|r| u64::from(r.len));
        own.chain(small).sum()
    }

    /// Preallocations of files.
    #[cfg(test)]
    pub(in crate::kernel::alloc) fn count(&self) -> usize {
        self.inodes.len()
    }
}

fn start_of(vol: &Volume, g: u32, bit: u32) -> BlockNr {
    let per = u64::from(vol.geo.cluster_blocks);
    vol.geo.group_start(GroupNr(g)).plus(u64::from(bit) * per)
}

/// Tells of a preallocation that was made or given back.
pub(super) fn tell(vol: &mut Volume, inode: InodeNr, run: Run, made: bool) {
    let start = start_of(vol, run.group, run.bit);
    let len = run.len.saturating_mul(vol.geo.cluster_blocks);
    vol.events.emit(|| {
        if made {
            What::Preallocated { inode, start, len }
        } else {
            What::PreallocationDiscarded { inode, start, len }
        }
    });
}

/// Gives back what the lists for small files have too much of.
pub(super) fn trim_small(vol: &mut Volume) {
    for run in vol.alloc.groups.kept.excess() {
        give(vol, InodeNr(0), run);
    }
}

fn give(vol: &mut Volume, inode: InodeNr, run: Run) -> u32 {
    tell(vol, inode, run, false);
    if !vol.alloc.groups.give(run.group, run.bit, run.len) {
        vol.alloc
            .mark(GroupNr(run.group), super::super::State::BAD_BLOCKS);
        return 0;
    }
    run.len
}

/// Gives back what is left of a file's preallocation: what the disk has as free.
fn release(vol: &mut Volume, key: (u32, u32)) -> u32 {
    let Some(pa) = vol.alloc.groups.kept.remove(key) else {
        return 0;
    };
    let Ok(map) = group::block_bitmap(vol, GroupNr(pa.run.group)) else {
        return 0;
    };
    let end = pa.run.bit.saturating_add(pa.run.len);
    let mut freed = 0;
    let mut at = bits::next_zero(&map, pa.run.bit, end);
    while at < end {
        let stop = bits::next_one(&map, at, end);
        let run = Run {
            bit: at,
            len: stop - at,
            ..pa.run
        };
        freed += give(vol, InodeNr(key.0), run);
        at = bits::next_zero(&map, stop, end);
    }
    freed
}

/// Gives back all that is kept for an inode.
pub(in crate::kernel::alloc) fn discard_inode(vol: &mut Volume, inode: InodeNr) {
    loop {
        let all = (inode.0, 0)..=(inode.0, u32::MAX);
        let Some(key) = vol
            .alloc
            .groups
            .kept
            .inodes
            .range(all)
            .next()
            .map(|(k, _)| *k)
        else {
            break;
        };
        release(vol, key);
    }
}

/// Gives back what is kept for an inode in a run of clusters: its blocks are being freed.
pub(in crate::kernel::alloc) fn discard_overlapping(vol: &mut Volume, inode: InodeNr, run: Run) {
    let all = (inode.0, 0)..=(inode.0, u32::MAX);
    let keys: Vec<(u32, u32)> = vol
        .alloc
        .groups
        .kept
        .inodes
        .range(all)
        .filter(|(_, pa)| pa.run.touches(&run))
        .map(|(k, _)| *k)
        .collect();
    for key in keys {
        release(vol, key);
    }
}

/// Gives back what is kept for anyone, group by group, until there is enough.
pub(super) fn discard_any(vol: &mut Volume, needed: u32) -> u32 {
    let mut freed = 0;
    let mut from = 0;
    while let Some(g) = vol.alloc.groups.kept.next_group(from) {
        let range = (g, 0, 0)..=(g, u32::MAX, u32::MAX);
        let keys: Vec<_> = vol.alloc.groups.kept.groups.range(range).copied().collect();
        for (_, inode, lblk) in keys {
            freed += release(vol, (inode, lblk));
        }
        let mut runs = Vec::new();
        for list in &mut vol.alloc.groups.kept.small {
            runs.extend(list.iter().filter(|r| r.group == g).copied());
            list.retain(|r| r.group != g);
        }
        for run in runs {
            freed += give(vol, InodeNr(0), run);
        }
        if freed >= needed {
            break;
        }
        from = g.saturating_add(1);
    }
    freed
}

/// Takes from what is kept for a file at a block of it: at most `len` clusters.
pub(super) fn use_inode(vol: &mut Volume, inode: InodeNr, lblk: Lblk, len: u32) -> Option<Run> {
    let (start, pa) = vol.alloc.groups.kept.at_or_before(inode, lblk.0)?;
    let offset = (lblk.0 - start) / vol.geo.cluster_blocks;
    if offset >= pa.run.len {
        return None;
    }
    let bit = pa.run.bit + offset;
    let len = len.min(pa.run.len - offset).min(pa.free);
    let map = group::block_bitmap(vol, GroupNr(pa.run.group)).ok()?;
    let len = bits::next_one(&map, bit, bit + len) - bit;
    drop(map);
    if len == 0 {
        // The place has been used, for a block of the file that has gone since.
        release(vol, (inode.0, start));
        return None;
    }
    vol.alloc.groups.kept.used(inode, start, len);
    Some(Run { bit, len, ..pa.run })
}
