//! What of the map is chosen.

use std::ops::Range;
use std::rc::Rc;

use crate::owner_map::OwnerMap;

/// What of the map is chosen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Highlight {
    /// A block.
    pub block: Option<u64>,
    /// Blocks of the chosen inode, in order; see [`blocks_of`].
    pub blocks: Rc<[Range<u64>]>,
    /// A group.
    pub group: Option<u64>,
}

/// The blocks of an inode, neighbours joined. Looks through the whole map.
pub fn blocks_of(map: &OwnerMap, inode: u32) -> Rc<[Range<u64>]> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (row, &owner) in map.inodes.iter().enumerate() {
        if owner != inode || inode == 0 {
            continue;
        }
        let Some(run) = map.row(row) else { continue };
        let end = run.start + u64::from(run.len);
        match ranges.last_mut() {
            Some(last) if last.end == run.start => last.end = end,
            _ => ranges.push(run.start..end),
        }
    }
    ranges.into()
}

impl Highlight {
    /// The chosen ranges that touch blocks `from` to `to` (the latter not included).
    pub fn between(&self, from: u64, to: u64) -> &[Range<u64>] {
        let first = self.blocks.partition_point(|range| range.end <= from);
        let last = self.blocks.partition_point(|range| range.start < to);
        self.blocks.get(first..last).unwrap_or_default()
    }

    /// The first block of it, to bring in sight.
    pub fn first(&self) -> Option<u64> {
        self.block
            .or_else(|| self.blocks.first().map(|range| range.start))
    }
}
