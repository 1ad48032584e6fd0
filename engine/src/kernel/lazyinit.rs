//! The thread that zeroes what mkfs left of the inode tables, a group at a time.

use super::{Mount, Result};
use crate::disk::Data;
use crate::ext4::layout::GroupFlags;
use crate::units::{GroupNr, SimTime};

/// Where the thread is.
#[derive(Clone, Debug)]
pub(super) struct LazyInit {
    /// The group to look at next.
    group: u32,
    /// When it works next.
    pub(super) next: SimTime,
}

/// Time between two groups. Linux waits ten times as long as the last group took
/// (`init_itable=10`); an ideal device takes none, so that a fixed time stands for it.
const PAUSE: u64 = 1_000_000_000;

impl LazyInit {
    /// A thread that starts a pause after the mount.
    pub(super) fn new(now: SimTime) -> Self {
        Self {
            group: 0,
            next: SimTime(now.0.saturating_add(PAUSE)),
        }
    }

    /// Whether there are groups left to look at.
    pub(super) fn is_done(&self, groups: u32) -> bool {
        self.group >= groups
    }
}

impl Mount {
    /// Zeroes the table of the next group that needs it.
    pub(super) fn zero_next_table(&mut self) -> Result<()> {
        self.lazy.next.0 = self.lazy.next.0.saturating_add(PAUSE);
        if self.vol.read_only || !self.vol.sb.has_group_checksum() {
            self.lazy.group = self.vol.geo.groups;
            return Ok(());
        }
        while !self.lazy.is_done(self.vol.geo.groups) {
            let g = GroupNr(self.lazy.group);
            self.lazy.group += 1;
            if !self.vol.desc(g)?.flags().contains(GroupFlags::INODE_ZEROED) {
                return self.zero_table(g);
            }
        }
        Ok(())
    }

    fn zero_table(&mut self, g: GroupNr) -> Result<()> {
        let mut desc = self.vol.desc(g)?;
        let geo = *self.vol.geometry();
        let per_group = geo.inodes_per_group;
        let unused = if desc.flags().contains(GroupFlags::INODE_UNINIT) {
            per_group
        } else {
            desc.itable_unused().min(per_group)
        };
        let used = u64::from(per_group - unused) * u64::from(geo.inode_size);
        let skip = used.div_ceil(geo.block_size.into());
        let blocks = u64::from(geo.itable_blocks).saturating_sub(skip);
        let first = desc.inode_table().plus(skip);
        if blocks > 0 && geo.holds(first, blocks) {
            for block in first.0..first.0 + blocks {
                self.vol.forget_if_kept(block.into());
            }
            let zeros = vec![(Data::Zero, u64::from(geo.block_size)); blocks as usize];
            self.vol.write(first, zeros)?;
        }
        desc.set_bg_flags(desc.bg_flags() | GroupFlags::INODE_ZEROED.bits());
        self.vol.set_desc(g, &desc)
    }
}
