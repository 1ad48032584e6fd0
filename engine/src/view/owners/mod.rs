//! Who owns each block: a map of the whole filesystem as runs, made by a scan that can
//! be stepped, watched and stopped.

mod claims;
mod kind;
mod merge;
mod names;
mod scan;

pub use claims::Claim;
pub use kind::{Flags, Kind};
pub use names::Names;
pub use scan::{Scan, ScanOptions, ScanProgress};

use crate::ext4::Problem;

/// Neighbouring blocks of one kind and one owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MapRun {
    /// First block.
    pub start: u64,
    /// Blocks; at least 1.
    pub len: u32,
    /// Inode that owns them; 0 for none.
    pub inode: u32,
    /// What they are.
    pub kind: Kind,
    /// What else is known of them.
    pub flags: Flags,
}

impl MapRun {
    /// One past the last block.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

/// The map of a filesystem: runs that cover every block once, in order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct BlockMap {
    /// The runs.
    pub runs: Vec<MapRun>,
    /// Everybody who claims a block that is owned twice, in the order of blocks.
    pub conflicts: Vec<Claim>,
    /// What the scan found wrong; at most [`BlockMap::MOST_PROBLEMS`].
    pub problems: Vec<Problem>,
    /// Problems beyond those listed.
    pub more_problems: u64,
}

impl BlockMap {
    /// Most problems that a map lists.
    pub const MOST_PROBLEMS: usize = 1000;

    /// The run that holds a block.
    pub fn at(&self, block: u64) -> Option<&MapRun> {
        let after = self.runs.partition_point(|r| r.start <= block);
        self.runs[..after].last().filter(|r| block < r.end())
    }

    /// The runs that touch blocks `from` to `to` (the latter not included).
    pub fn between(&self, from: u64, to: u64) -> &[MapRun] {
        let first = self.runs.partition_point(|r| r.end() <= from);
        let last = self.runs.partition_point(|r| r.start < to);
        &self.runs[first..last.max(first)]
    }

    /// Blocks of each kind, by [`Kind::index`].
    pub fn totals(&self) -> [u64; Kind::COUNT] {
        self.totals_between(0, u64::MAX)
    }

    /// Blocks of each kind among blocks `from` to `to` (the latter not included).
    pub fn totals_between(&self, from: u64, to: u64) -> [u64; Kind::COUNT] {
        let mut totals = [0; Kind::COUNT];
        for run in self.between(from, to) {
            totals[run.kind.index()] += run.end().min(to) - run.start.max(from);
        }
        totals
    }

    /// Everybody who claims a block.
    pub fn claimants(&self, block: u64) -> impl Iterator<Item = &Claim> {
        self.conflicts
            .iter()
            .filter(move |c| c.start <= block && block < c.end())
    }

    /// Every run of an inode.
    pub fn of_inode(&self, inode: u32) -> impl Iterator<Item = &MapRun> {
        self.runs.iter().filter(move |r| r.inode == inode)
    }
}
