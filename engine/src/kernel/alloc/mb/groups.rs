//! What the multiblock allocator knows of all groups: free counts, buddies of those it has
//! looked into, and lists by which it finds a group without a walk through all.

use super::buddy::{Buddy, MAX_ORDERS, orders};
use super::prealloc::Preallocations;
use crate::kernel::alloc::group;
use crate::kernel::{Result, Volume};
use crate::units::GroupNr;
use imbl::{OrdSet, Vector};
use std::sync::Arc;

/// In no list.
const NONE: u8 = u8::MAX;

#[derive(Clone, Debug)]
struct Info {
    /// Free clusters; preallocated ones are not.
    free: u32,
    /// The lists that it is in.
    order: u8,
    fragment: u8,
    buddy: Option<Arc<Buddy>>,
}

/// All groups.
#[derive(Clone, Debug, Default)]
pub(in crate::kernel::alloc) struct Groups {
    infos: Vector<Info>,
    orders: u32,
    /// Groups by the order of their largest free chunk.
    by_order: Vec<OrdSet<u32>>,
    /// Groups by the mean length of their free runs.
    by_fragment: Vec<OrdSet<u32>>,
    /// Groups with anything free.
    nonfull: OrdSet<u32>,
    /// Where the last large file's blocks came from.
    pub(super) stream: u32,
    pub(in crate::kernel::alloc) kept: Preallocations,
}

/// Which list a mean length of free runs belongs to.
pub(super) fn fragment_order(len: u32, orders: u32) -> u32 {
    len.max(1).ilog2().saturating_sub(1).min(orders - 1)
}

impl Groups {
    /// Fills the lists from the descriptors, the first time.
    pub(in crate::kernel::alloc) fn prepare(vol: &mut Volume) -> Result<()> {
        if !vol.alloc.groups.infos.is_empty() {
            return Ok(());
        }
        let mut groups = Self {
            orders: orders(vol.block_size()),
            by_order: vec![OrdSet::new(); MAX_ORDERS],
            by_fragment: vec![OrdSet::new(); MAX_ORDERS],
            ..Self::default()
        };
        for g in (0..vol.geo.groups).map(GroupNr) {
            let most = vol.geo.clusters_in(g);
            let bad = vol.alloc.is_bad(g);
            let free = vol.desc(g)?.free_blocks().min(most);
            groups.infos.push_back(Info {
                free: if bad { 0 } else { free },
                order: NONE,
                fragment: NONE,
                buddy: None,
            });
            groups.relist(g.0);
        }
        vol.alloc.groups = groups;
        Ok(())
    }

    /// Free clusters of a group.
    pub(in crate::kernel::alloc) fn free(&self, g: u32) -> u32 {
        self.infos.get(g as usize).map_or(0, |i| i.free)
    }

    /// A group's buddy, where it has been made.
    pub(super) fn buddy(&self, g: u32) -> Option<&Arc<Buddy>> {
        self.infos.get(g as usize)?.buddy.as_ref()
    }

    /// Orders of chunks.
    pub(super) fn orders(&self) -> u32 {
        self.orders
    }

    /// The first group with anything free from one on, before `end`.
    pub(in crate::kernel::alloc) fn next_nonfull(&self, from: u32, end: u32) -> Option<u32> {
        next(&self.nonfull, from, end)
    }

    /// The first group in a list by largest chunk.
    pub(super) fn next_by_order(&self, order: u32, from: u32, end: u32) -> Option<u32> {
        next(self.by_order.get(order as usize)?, from, end)
    }

    /// The first group in a list by mean length.
    pub(super) fn next_by_fragment(&self, order: u32, from: u32, end: u32) -> Option<u32> {
        next(self.by_fragment.get(order as usize)?, from, end)
    }

    /// Looks into a group's bitmap, if that was not done before. Without a sound bitmap
    /// the group counts as full.
    pub(super) fn load(vol: &mut Volume, g: u32) -> bool {
        match vol.alloc.groups.infos.get(g as usize) {
            None => return false,
            Some(info) if info.buddy.is_some() => return true,
            Some(_) => {}
        }
        let Ok(map) = group::block_bitmap(vol, GroupNr(g)) else {
            vol.alloc.groups.lose(g);
            return false;
        };
        let buddy = Buddy::new(&map, vol.geo.clusters_in(GroupNr(g)));
        let groups = &mut vol.alloc.groups;
        if let Some(info) = groups.infos.get_mut(g as usize) {
            info.free = buddy.free;
            info.buddy = Some(Arc::new(buddy));
        }
        groups.relist(g);
        true
    }

    /// Looks into a group before its bitmap changes behind the buddy's back; whether that
    /// could be done.
    pub(in crate::kernel::alloc) fn look_into(vol: &mut Volume, g: GroupNr) -> Result<bool> {
        Self::prepare(vol)?;
        Ok(Self::load(vol, g.0))
    }

    /// A group's bitmap, in which what a transaction freed that is not committed counts as
    /// in use.
    pub(in crate::kernel::alloc) fn usable_map(vol: &mut Volume, g: u32) -> Option<Arc<[u8]>> {
        if vol.journal.is_none() {
            return group::block_bitmap(vol, GroupNr(g)).ok();
        }
        Self::load(vol, g).then_some(())?;
        Some(vol.alloc.groups.buddy(g)?.map().into())
    }

    /// A group is not to be used any more.
    pub(in crate::kernel::alloc) fn lose(&mut self, g: u32) {
        if let Some(info) = self.infos.get_mut(g as usize) {
            info.free = 0;
            info.buddy = None;
            self.relist(g);
        }
    }

    /// What is kept in a group is not to be used any more either.
    pub(in crate::kernel::alloc) fn forget_kept(&mut self, g: u32) {
        self.kept.lose(g);
    }

    /// Clusters were taken. `false` where they were not free.
    pub(in crate::kernel::alloc) fn take(&mut self, g: u32, bit: u32, len: u32) -> bool {
        self.change(
            g,
            len,
            |b| b.take(bit, len),
            |free| free.saturating_sub(len),
        )
    }

    /// Clusters were given back. `false` where they were free.
    pub(in crate::kernel::alloc) fn give(&mut self, g: u32, bit: u32, len: u32) -> bool {
        self.change(
            g,
            len,
            |b| b.give(bit, len),
            |free| free.saturating_add(len),
        )
    }

    fn change(
        &mut self,
        g: u32,
        len: u32,
        buddy: impl FnOnce(&mut Buddy) -> bool,
        free: impl FnOnce(u32) -> u32,
    ) -> bool {
        let Some(info) = self.infos.get_mut(g as usize).filter(|_| len > 0) else {
            return true;
        };
        let done = match &mut info.buddy {
            Some(b) => {
                let b = Arc::make_mut(b);
                let done = buddy(b);
                info.free = b.free;
                done
            }
            None => {
                info.free = free(info.free);
                true
            }
        };
        self.relist(g);
        done
    }

    /// Puts a group into the lists where it belongs now. One that was not looked into is
    /// taken for a single free run.
    fn relist(&mut self, g: u32) {
        let orders = self.orders;
        let Some(info) = self.infos.get_mut(g as usize) else {
            return;
        };
        let (order, fragment) = match &info.buddy {
            _ if info.free == 0 => (NONE, NONE),
            Some(b) => (
                b.largest().unwrap_or(0) as u8,
                fragment_order(b.free / b.fragments.max(1), orders) as u8,
            ),
            None => (
                info.free.ilog2().min(orders - 1) as u8,
                fragment_order(info.free, orders) as u8,
            ),
        };
        let before = (info.order, info.fragment);
        (info.order, info.fragment) = (order, fragment);
        if before.0 != order {
            move_to(&mut self.by_order, g, before.0, order);
        }
        if before.1 != fragment {
            move_to(&mut self.by_fragment, g, before.1, fragment);
        }
        if (before.0 == NONE) != (order == NONE) {
            if order == NONE {
                self.nonfull.remove(&g);
            } else {
                self.nonfull.insert(g);
            }
        }
    }
}

fn move_to(lists: &mut [OrdSet<u32>], g: u32, from: u8, to: u8) {
    if let Some(list) = lists.get_mut(usize::from(from)) {
        list.remove(&g);
    }
    if let Some(list) = lists.get_mut(usize::from(to)) {
        list.insert(g);
    }
}

fn next(set: &OrdSet<u32>, from: u32, end: u32) -> Option<u32> {
    if from >= end {
        return None;
    }
    set.range(from..end).next().copied()
}

#[cfg(test)]
impl Groups {
    /// Buddies, lists and what is kept agree with `clusters` free ones on disk.
    pub(in crate::kernel::alloc) fn check(&self, clusters: u64) {
        if self.infos.is_empty() {
            return;
        }
        let free: u64 = self.infos.iter().map(|i| u64::from(i.free)).sum();
        assert_eq!(free + self.kept.total(), clusters, "free and kept clusters");
        for (g, info) in (0..).zip(&self.infos) {
            assert_eq!(self.nonfull.contains(&g), info.free > 0);
            if let Some(b) = &info.buddy {
                assert_eq!(b.free, info.free);
                let order = b.largest();
                let listed = (0..self.orders).filter(|&o| self.by_order[o as usize].contains(&g));
                assert!(
                    listed.eq(order),
                    "group {g} is in the list of its largest chunk"
                );
            }
        }
    }
}
