//! Where bitmaps and inode tables go. Places are mke2fs 1.47's, found out from its
//! output and its sources; what is searched first, and how far, decides them.

use super::error::MkfsError;
use super::plan::{FIRST_INO, Plan};
use super::space::Space;
use crate::ext4::layout::GroupFlags;

/// A group as its descriptor will tell it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Group {
    pub(super) block_bitmap: u64,
    pub(super) inode_bitmap: u64,
    pub(super) inode_table: u64,
    pub(super) flags: GroupFlags,
    pub(super) free_inodes: u32,
    pub(super) used_dirs: u32,
    pub(super) itable_unused: u32,
}

const FAILED: MkfsError = MkfsError::NoSpace("while trying to allocate filesystem tables");

/// Groups with nothing placed in them yet; superblocks and descriptors are marked.
pub(super) fn empty_groups(p: &Plan, space: &mut Space) -> Vec<Group> {
    let checksums = p.features.group_checksums();
    let group = |g: u32| {
        for (at, n) in p.heads(g) {
            space.mark(at, n);
        }
        let mut group = Group {
            free_inodes: p.inodes_per_group,
            ..Group::default()
        };
        if checksums {
            let reserved = if g == 0 { FIRST_INO } else { 0 };
            group.itable_unused = p.inodes_per_group.saturating_sub(reserved);
            group.flags = GroupFlags::INODE_UNINIT;
            // The last group's bitmap needs its padding.
            group.flags.set(GroupFlags::BLOCK_UNINIT, g + 1 != p.groups);
        }
        group
    };
    (0..p.groups).map(group).collect()
}

/// Placing, group by group.
pub(super) struct Tables<'a> {
    pub(super) p: &'a Plan,
    pub(super) space: &'a mut Space,
    pub(super) groups: &'a mut [Group],
}

impl Tables<'_> {
    /// Everything at the beginning of the filesystem, kind after kind.
    pub(super) fn pack(&mut self) -> Result<(), MkfsError> {
        let mut goal = 0;
        for g in 0..self.groups.len() {
            goal = self.take(self.find(goal, self.p.blocks, 1), 1, true)?;
            self.groups[g].block_bitmap = goal;
        }
        for g in 0..self.groups.len() {
            goal = self.take(self.find(goal, self.p.blocks, 1), 1, true)?;
            self.groups[g].inode_bitmap = goal;
        }
        let len = self.p.itable_blocks;
        for g in 0..self.groups.len() {
            goal = self.take(self.find(goal, self.p.blocks - 1, len), len, true)?;
            self.groups[g].inode_table = goal;
        }
        Ok(())
    }

    /// Each group's in the group, or all of a flex group's in its first groups.
    pub(super) fn place(&mut self, stride: u16) -> Result<(), MkfsError> {
        for g in 0..self.p.groups {
            if self.p.log_flex > 0 {
                self.place_flex(g)?;
            } else {
                self.place_alone(g, u64::from(stride))?;
            }
        }
        Ok(())
    }

    fn find(&self, start: u64, finish: u64, len: u64) -> Option<u64> {
        self.space.free_run(start, finish, len)
    }

    /// Marks what was found. Blocks that a flex group takes in another group are in use
    /// there for reasons that its descriptor does not tell: its bitmap must be written.
    fn take(&mut self, at: Option<u64>, len: u64, tell: bool) -> Result<u64, MkfsError> {
        let at = at.ok_or(FAILED)?;
        self.space.mark(at, len);
        if tell {
            for g in self.p.group_of(at)..=self.p.group_of(at + len - 1) {
                if let Some(group) = self.groups.get_mut(g as usize) {
                    group.flags.remove(GroupFlags::BLOCK_UNINIT);
                }
            }
        }
        Ok(at)
    }

    fn place_alone(&mut self, g: u32, stride: u64) -> Result<(), MkfsError> {
        let (first, last) = (self.p.group_first(g), self.p.group_end(g) - 1);
        let len = self.p.itable_blocks;
        let mut start = first;
        if stride > 0 {
            start = self.find(first, last, 1).ok_or(FAILED)? + len;
            if start <= last {
                start += (stride * u64::from(g)) % (last - start + 1);
            }
            if start >= last {
                start = first;
            }
        }
        let one = |t: &mut Self| {
            let at = t.find(start, last, 1).or_else(|| t.find(first, last, 1));
            t.take(at, 1, false)
        };
        let block_bitmap = one(self)?;
        let inode_bitmap = one(self)?;
        let inode_table = self.take(self.find(first, last, len), len, false)?;
        let group = &mut self.groups[g as usize];
        (group.block_bitmap, group.inode_bitmap) = (block_bitmap, inode_bitmap);
        group.inode_table = inode_table;
        Ok(())
    }

    fn place_flex(&mut self, g: u32) -> Result<(), MkfsError> {
        let size = 1u32 << self.p.log_flex.min(31);
        let last_group = (g | (size - 1)).min(self.p.groups - 1);
        let last = self.p.group_end(last_group) - 1;
        let first = self.p.group_first(g);
        let before = (!g.is_multiple_of(size)).then(|| self.groups[g as usize - 1]);
        let left = u64::from(last_group - g + 1);
        // In the last flex group the tables of a kind follow each other closely.
        let mut offset = u64::from(size);
        if before.is_none() && last_group == self.p.groups - 1 {
            offset = match last_group & (size - 1) {
                0 => u64::from(size),
                n => u64::from(n) + 1,
            };
        }
        let len = self.p.itable_blocks;
        let one = |t: &mut Self, goal: u64| {
            let start = t.flex_start(g, goal, left, 1);
            let at = t.find(start, last, 1).or_else(|| t.find(first, last, 1));
            t.take(at, 1, true)
        };
        let block_bitmap = one(self, before.map_or(0, |b| b.block_bitmap + 1))?;
        let goal = before.map_or(block_bitmap + offset, |b| b.inode_bitmap + 1);
        let inode_bitmap = one(self, goal)?;
        let goal = before.map_or(inode_bitmap + offset, |b| b.inode_table + len);
        let start = self.flex_start(g, goal, left, len);
        let inode_table = self.take(self.find(start, last, len), len, true)?;
        let group = &mut self.groups[g as usize];
        (group.block_bitmap, group.inode_bitmap) = (block_bitmap, inode_bitmap);
        group.inode_table = inode_table;
        Ok(())
    }

    /// Where to start looking for room for `left` elements: after the one before, past
    /// minor obstacles, else where all fit together, else where one does.
    fn flex_start(&self, g: u32, goal: u64, left: u64, element: u64) -> u64 {
        let size = 1u32 << self.p.log_flex.min(31);
        let all = (left * element).min(self.p.blocks_per_group / 4);
        if goal > 0
            && goal < self.p.blocks
            && let Some(at) = self.find(goal, goal + all, element)
        {
            return at;
        }
        let first = self.p.group_first(g & !(size - 1));
        let last_group = (g | (size - 1)).min(self.p.groups - 1);
        let last = self.p.group_end(last_group) - 1;
        self.find(first, last, all)
            .or_else(|| self.find(first, last, element))
            .or_else(|| self.find(0, last, element))
            .unwrap_or(0)
    }
}
