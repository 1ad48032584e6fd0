//! Where groups, superblocks and descriptors are.

use super::plan::Plan;
use crate::ext4::layout::{Compat, Incompat, RoCompat};

impl Plan {
    /// First block of a group.
    pub(super) fn group_first(&self, group: u32) -> u64 {
        self.first + u64::from(group) * self.blocks_per_group
    }

    /// One past the last block of a group.
    pub(super) fn group_end(&self, group: u32) -> u64 {
        (self.group_first(group) + self.blocks_per_group).min(self.blocks)
    }

    /// The group of a block.
    pub(super) fn group_of(&self, block: u64) -> u32 {
        (block.saturating_sub(self.first) / self.blocks_per_group) as u32
    }

    /// Whether a group has a superblock.
    pub(super) fn has_super(&self, group: u32) -> bool {
        if group == 0 {
            return true;
        }
        if self.features.has_compat(Compat::SPARSE_SUPER2) {
            return self.backups.contains(&group);
        }
        if group <= 1 || !self.features.has_ro(RoCompat::SPARSE_SUPER) {
            return true;
        }
        [3, 5, 7].iter().any(|&base| {
            let mut power = base;
            while power < u64::from(group) {
                power *= base;
            }
            power == u64::from(group)
        })
    }

    /// Where a group's superblock is, if it has one.
    pub(super) fn super_block(&self, group: u32) -> Option<u64> {
        // With clusters of 1 KiB blocks the first data block is 0, the superblock in 1.
        let shift = u64::from(group == 0 && self.first == 0 && self.block_size == 1024);
        self.has_super(group)
            .then(|| self.group_first(group) + shift)
    }

    /// Where a group's copy of all descriptors starts, without meta_bg.
    pub(super) fn desc_start(&self, group: u32) -> Option<u64> {
        if self.features.has_incompat(Incompat::META_BG) {
            return None;
        }
        self.super_block(group).map(|at| at + 1)
    }

    /// With meta_bg: the descriptor block that a group holds, and where.
    pub(super) fn meta_desc(&self, group: u32) -> Option<(u64, u64)> {
        if !self.features.has_incompat(Incompat::META_BG) {
            return None;
        }
        let per_block = self.block_size / self.desc_size;
        let place = group % per_block;
        if ![0, 1, per_block - 1].contains(&place) {
            return None;
        }
        let at = match self.super_block(group) {
            Some(at) => at + 1,
            None => self.group_first(group),
        };
        Some((u64::from(group / per_block), at))
    }

    /// Superblock and descriptors in a group: runs of blocks.
    pub(super) fn heads(&self, group: u32) -> Vec<(u64, u64)> {
        let mut runs = Vec::new();
        if let Some(at) = self.super_block(group) {
            runs.push((at, 1));
            // The boot block shares the first cluster.
            if at == 1 && self.first == 0 {
                runs.push((0, 1));
            }
        }
        if let Some(at) = self.desc_start(group) {
            runs.push((at, self.desc_blocks + u64::from(self.reserved_gdt)));
        }
        if let Some((_, at)) = self.meta_desc(group) {
            runs.push((at, 1));
        }
        runs
    }

    /// Groups from 1 on that hold backups of the descriptors.
    pub(super) fn backup_groups(&self) -> impl Iterator<Item = u32> + '_ {
        (1..self.groups).filter(|&g| self.has_super(g))
    }
}
