//! What is left in each flex group (in each group, without flex groups), kept up to date.

use super::State;
use super::blocks::flex_size;
use crate::kernel::{Result, Volume};
use crate::units::GroupNr;
use imbl::Vector;

/// Of one flex group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) free_inodes: u64,
    pub(super) free_clusters: u64,
    pub(super) dirs: u64,
}

/// Changes that a processor keeps to itself before it adds them to a sum
/// (`percpu_counter_batch` of a machine with few processors).
const BATCH: i64 = 32;

/// A sum that lags behind, as Linux's counters do for one who does not add up what each
/// processor has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    known: u64,
    kept: i64,
}

impl Sum {
    fn add(&mut self, n: i64) {
        self.kept = self.kept.saturating_add(n);
        if self.kept.abs() >= BATCH {
            self.known = self.known.saturating_add_signed(self.kept);
            self.kept = 0;
        }
    }

    /// What is known.
    pub(super) fn get(self) -> u64 {
        self.known
    }
}

/// What the search for a directory's group takes for the whole filesystem's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) free_inodes: Sum,
    pub(super) free_clusters: Sum,
    pub(super) dirs: Sum,
}

/// Of all.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// Groups of a flex group; 0 until it is filled.
    size: u32,
    list: Vector<Count>,
}

impl Counts {
    /// Adds up the descriptors, the first time.
    pub(super) fn prepare(vol: &mut Volume) -> Result<()> {
        if vol.alloc.counts.size == 0 {
            vol.alloc.counts = Self::of(vol)?;
            let sum = |known| Sum { known, kept: 0 };
            vol.alloc.sums = Sums {
                free_inodes: sum(vol.free_inodes.into()),
                free_clusters: sum(vol.free_clusters),
                dirs: sum(vol.dirs.into()),
            };
        }
        Ok(())
    }

    /// What the descriptors give.
    pub(super) fn of(vol: &mut Volume) -> Result<Self> {
        let size = flex_size(vol);
        let mut list: Vector<Count> = Vector::new();
        for g in 0..vol.geo.groups {
            let d = vol.desc(GroupNr(g))?;
            if g.is_multiple_of(size) {
                list.push_back(Count::default());
            }
            if let Some(c) = list.back_mut() {
                c.free_inodes += u64::from(d.free_inodes());
                c.free_clusters += u64::from(d.free_blocks());
                c.dirs += u64::from(d.used_dirs());
            }
        }
        Ok(Self { size, list })
    }

    /// Flex groups.
    pub(super) fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// One flex group's.
    pub(super) fn get(&self, flex: u32) -> Count {
        self.list.get(flex as usize).copied().unwrap_or_default()
    }

    fn of_group(&mut self, g: GroupNr) -> Option<&mut Count> {
        let flex = g.0.checked_div(self.size)?;
        self.list.get_mut(flex as usize)
    }

    /// An inode was taken or given back.
    fn inode(&mut self, g: GroupNr, taken: bool, is_dir: bool) {
        if let Some(c) = self.of_group(g) {
            let dirs = u64::from(is_dir);
            if taken {
                c.free_inodes = c.free_inodes.saturating_sub(1);
                c.dirs += dirs;
            } else {
                c.free_inodes += 1;
                c.dirs = c.dirs.saturating_sub(dirs);
            }
        }
    }

    /// Clusters were taken or given back.
    fn clusters(&mut self, g: GroupNr, len: u32, taken: bool) {
        if let Some(c) = self.of_group(g) {
            let len = u64::from(len);
            c.free_clusters = if taken {
                c.free_clusters.saturating_sub(len)
            } else {
                c.free_clusters + len
            };
        }
    }

    #[cfg(test)]
    pub(super) fn list(&self) -> &Vector<Count> {
        &self.list
    }
}

impl State {
    /// An inode was taken or given back.
    pub(super) fn count_inode(&mut self, g: GroupNr, taken: bool, is_dir: bool) {
        self.counts.inode(g, taken, is_dir);
        let sign = if taken { 1 } else { -1 };
        self.sums.free_inodes.add(-sign);
        if is_dir {
            self.sums.dirs.add(sign);
        }
    }

    /// Clusters were taken or given back.
    pub(super) fn count_clusters(&mut self, g: GroupNr, len: u32, taken: bool) {
        self.counts.clusters(g, len, taken);
        let len = i64::from(len);
        self.sums.free_clusters.add(if taken { -len } else { len });
    }
}
