//! How a filesystem is cut into groups.

use fslab_engine::view::Summary;

/// How a filesystem is cut into groups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Geometry {
    /// Blocks in all.
    pub blocks: u64,
    /// First block of group 0.
    pub first: u64,
    /// Blocks of a group.
    pub per_group: u64,
    /// Groups.
    pub groups: u64,
    /// Groups of a flex group; 1 without flex groups.
    pub flex: u64,
}

impl Geometry {
    /// Blocks before group 0 that the picture has room for: 1 with blocks of 1 KiB.
    const MOST_BEFORE: u64 = 8;

    /// Of a filesystem. No number can make a geometry that the map cannot draw.
    pub fn new(blocks: u64, first: u64, per_group: u32, flex: u32) -> Self {
        let per_group = u64::from(per_group).max(1);
        // More blocks than an f64 counts exactly cannot be told apart in the map.
        let blocks = blocks.min(1 << 52);
        let first = first.min(blocks);
        Self {
            blocks,
            first,
            per_group,
            groups: (blocks - first).div_ceil(per_group).max(1),
            flex: u64::from(flex).max(1),
        }
    }

    /// Of a filesystem's summary.
    pub fn of(summary: &Summary) -> Self {
        Self::new(
            summary.blocks,
            summary.first_data_block,
            summary.blocks_per_group,
            summary.flex_groups,
        )
    }

    /// The group that a block is in; a block before group 0 counts to it.
    pub fn group_of(&self, block: u64) -> u64 {
        (block.saturating_sub(self.first) / self.per_group).min(self.groups - 1)
    }

    /// First block of a group's tile.
    pub fn start(&self, group: u64) -> u64 {
        match group {
            0 => self.first - self.first.min(Self::MOST_BEFORE),
            _ => (self.first + group * self.per_group).min(self.blocks),
        }
    }

    /// One past the last block of a group.
    pub fn end(&self, group: u64) -> u64 {
        (self.first + (group + 1) * self.per_group).min(self.blocks)
    }

    /// Blocks of a group's tile.
    pub fn len(&self, group: u64) -> u64 {
        self.end(group) - self.start(group)
    }

    /// Blocks of the fullest tile.
    pub fn most(&self) -> u64 {
        self.len(0).max(1)
    }

    /// A block's tile and its place in it; `None` for a block that is in none.
    pub fn place(&self, block: u64) -> Option<(u64, u64)> {
        let group = self.group_of(block);
        let index = block.checked_sub(self.start(group))?;
        (block < self.blocks).then_some((group, index))
    }

    /// The block at a place of a tile.
    pub fn block(&self, group: u64, index: u64) -> Option<u64> {
        (group < self.groups && index < self.len(group)).then(|| self.start(group) + index)
    }
}
