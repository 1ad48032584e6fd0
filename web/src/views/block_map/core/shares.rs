//! What each group is made of, for pictures in which a block is less than a pixel.

use fslab_engine::view::owners::{Flags, Kind};

use super::geometry::Geometry;
use crate::owner_map::OwnerMap;

/// All of a group, in the numbers of a [`Share`].
pub const WHOLE: u32 = u16::MAX as u32;

/// What a group is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// Part of the tile by [`Kind::index`], of [`WHOLE`]; what is there is never 0.
    pub parts: [u16; Kind::COUNT],
    /// Whether a block is owned but free by the bitmap, owned twice, or owned by nobody.
    pub damaged: bool,
}

/// What each group is made of, computed a piece at a time.
#[derive(Clone, Debug)]
pub struct Shares {
    geometry: Geometry,
    groups: Vec<Share>,
    /// Blocks of each kind in the group that is being counted.
    counts: [u64; Kind::COUNT],
    damaged: bool,
    /// Next row of the map, and the next block in it.
    row: usize,
    block: u64,
    partial: bool,
}

impl Shares {
    /// Nothing counted yet. In a `partial` map a block without an owner is no damage.
    pub fn new(geometry: Geometry, partial: bool) -> Self {
        Self {
            geometry,
            groups: Vec::new(),
            counts: [0; Kind::COUNT],
            damaged: false,
            row: 0,
            block: geometry.start(0),
            partial,
        }
    }

    /// Whether all groups are counted.
    pub fn is_complete(&self) -> bool {
        self.groups.len() as u64 >= self.geometry.groups
    }

    /// A group, once it is counted.
    pub fn get(&self, group: u64) -> Option<&Share> {
        self.groups.get(usize::try_from(group).ok()?)
    }

    /// Counts on, through at most so many rows and groups.
    pub fn advance(&mut self, map: &OwnerMap, budget: usize) {
        for _ in 0..budget {
            if self.is_complete() {
                return;
            }
            let group = self.groups.len() as u64;
            let end = self.geometry.end(group);
            let Some(run) = map.row(self.row).filter(|run| run.start < end) else {
                self.finish_group();
                continue;
            };
            let run_end = run.start + u64::from(run.len);
            let until = run_end.min(end);
            let from = run.start.max(self.block);
            self.counts[run.kind.index()] += until.saturating_sub(from);
            self.damaged |= until > from && is_damage(run.kind, run.flags, self.partial);
            self.block = self.block.max(until);
            if run_end <= end {
                self.row += 1;
            } else {
                self.finish_group();
            }
        }
    }

    fn finish_group(&mut self) {
        let group = self.groups.len() as u64;
        let len = self.geometry.most();
        let parts = self.counts.map(|count| match count {
            0 => 0,
            // At most WHOLE, since no group is longer than the fullest.
            count => (count as f64 * f64::from(WHOLE) / len as f64)
                .round()
                .max(1.0) as u16,
        });
        self.groups.push(Share {
            parts,
            damaged: self.damaged,
        });
        self.counts = [0; Kind::COUNT];
        self.damaged = false;
        self.block = self.geometry.end(group);
    }
}

/// Whether a block is damage rather than content.
pub fn is_damage(kind: Kind, flags: Flags, partial: bool) -> bool {
    match kind {
        Kind::Twice => true,
        Kind::Unowned => !partial,
        _ => flags.contains(Flags::MARKED_FREE),
    }
}

/// Blocks of each kind in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Totals {
    /// By [`Kind::index`].
    pub blocks: [u64; Kind::COUNT],
    /// All flags that some block has.
    pub flags: Flags,
}

impl Totals {
    /// Of a map.
    pub fn of(map: &OwnerMap) -> Self {
        let mut totals = Self::default();
        let runs = map.kinds.iter().zip(&map.lengths).zip(&map.flags);
        for ((&kind, &len), &flags) in runs {
            if let Some(count) = totals.blocks.get_mut(usize::from(kind)) {
                *count += u64::from(len);
            }
            totals.flags |= Flags::from_bits_retain(flags);
        }
        totals
    }

    /// Blocks of a kind.
    pub fn get(&self, kind: Kind) -> u64 {
        self.blocks[kind.index()]
    }

    /// Blocks of all kinds.
    pub fn all(&self) -> u64 {
        self.blocks.iter().sum()
    }
}
