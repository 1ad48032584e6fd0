//! Groups and their inode tables: how many of each, and how long.

use super::ask::Asked;
use super::error::MkfsError;
use super::options::Options;
use super::plan::{FIRST_INO, Plan};
use crate::ext4::layout::{Compat, Incompat, RoCompat};

/// Groups are gone through one by one and held in memory, some 50 bytes each: 512 TiB of
/// 4 KiB blocks.
const MOST_GROUPS: u64 = 1 << 22;

/// Groups and inode tables. What does not come out even is tried again with the last
/// group dropped, or with shorter groups.
pub(super) fn lay_out(o: &Options, a: &Asked) -> Result<Plan, MkfsError> {
    let size = u64::from(a.block_size);
    let bigalloc = a.profile.features.has_ro(RoCompat::BIGALLOC);
    // Descriptors count free blocks in 16 bits.
    let most = (1 << 16) - 8;
    let per_group = u64::from(o.blocks_per_group.unwrap_or(a.block_size * 8)).min(most);
    let percent = o.reserved_percent.unwrap_or(5.0);
    let mut p = Plan {
        features: a.profile.features,
        revision: a.revision,
        block_size: a.block_size,
        ratio: a.ratio,
        blocks: a.blocks - a.blocks % a.ratio,
        first: u64::from(a.block_size == 1024 && a.ratio == 1),
        blocks_per_group: per_group * a.ratio,
        groups: 0,
        desc_size: a.desc_size,
        desc_blocks: 0,
        inode_size: a.inode_size,
        inodes_per_group: 0,
        itable_blocks: 0,
        reserved_gdt: 0,
        reserved_blocks: (percent * a.blocks as f64 / 100.0) as u64,
        log_flex: a.log_flex,
        backups: [0, 0],
        journal: None,
        warnings: a.warnings.clone(),
    };
    if a.blocks == 0 {
        return Err(MkfsError::InvalidArgument);
    }
    let share = p.reserved_blocks as f64 / a.blocks as f64;
    loop {
        let groups = (p.blocks.saturating_sub(p.first)).div_ceil(p.blocks_per_group);
        if groups == 0 {
            return Err(MkfsError::TooSmall);
        }
        if groups > MOST_GROUPS {
            let what = format!("a filesystem of more than {MOST_GROUPS} groups");
            return Err(MkfsError::Unsupported(what));
        }
        p.groups = groups as u32;
        p.desc_blocks = (groups * u64::from(p.desc_size)).div_ceil(size);
        let inodes = a.inodes.max(u64::from(FIRST_INO) + 1);
        let per_group = inodes.div_ceil(groups);
        if per_group > size * 8 {
            if bigalloc || p.blocks_per_group < 256 {
                return Err(MkfsError::NoRoomForInodes);
            }
            p.blocks_per_group -= 8;
            p.blocks = a.blocks;
            continue;
        }
        p.inode_tables(per_group);
        p.reserve_descriptors(a);
        if p.fits(a.backups)? {
            place_backups(&mut p, a.backups);
            return Ok(p);
        }
        let rest = (p.blocks - p.first) % p.blocks_per_group;
        p.blocks -= rest;
        p.reserved_blocks = (share * p.blocks as f64) as u64;
    }
}

fn place_backups(p: &mut Plan, asked: [u32; 2]) {
    let last = p.groups - 1;
    let mut at = asked.map(|g| g.min(last));
    if at[0] == at[1] {
        at[1] = 0;
    }
    if at[0] > at[1] {
        at.swap(0, 1);
    }
    p.backups = at;
}

impl Plan {
    /// Inodes in each group: tables fill their blocks, counts are multiples of 8.
    fn inode_tables(&mut self, asked: u64) {
        let (size, inode) = (u64::from(self.block_size), u64::from(self.inode_size));
        let mut n = asked.min((1 << 16) - size / inode);
        loop {
            let blocks = (n * inode).div_ceil(size);
            let fill = (blocks * size / inode).max(8) & !7;
            self.itable_blocks = (fill * inode).div_ceil(size);
            self.inodes_per_group = fill as u32;
            if fill * u64::from(self.groups) <= u64::from(u32::MAX) || n <= 8 {
                return;
            }
            n -= 1;
        }
    }

    /// Descriptor blocks reserved so that the filesystem can grow 1024 times, as far as
    /// 32 bits and one indirect block allow.
    fn reserve_descriptors(&mut self, a: &Asked) {
        self.reserved_gdt = a.reserved_gdt;
        if self.features.has_compat(Compat::RESIZE_INODE) && a.reserved_gdt == 0 {
            let most = u64::from(u32::MAX);
            let goal = if self.blocks < most / 1024 {
                self.blocks * 1024
            } else {
                most
            };
            let groups = (goal - self.first).div_ceil(self.blocks_per_group);
            let per_block = u64::from(self.block_size / self.desc_size);
            let more = groups.div_ceil(per_block).saturating_sub(self.desc_blocks);
            self.reserved_gdt = more.min(u64::from(self.block_size / 4)) as u32;
        }
        let kept = self.desc_blocks + u64::from(self.reserved_gdt);
        if kept > self.blocks_per_group * 3 / 4 {
            self.features.incompat |= Incompat::META_BG;
            self.features.compat.remove(Compat::RESIZE_INODE);
            // mke2fs keeps those of -E resize.
            self.reserved_gdt = a.reserved_gdt;
        }
    }

    /// Whether every group has room for its metadata; not so when the last should be
    /// dropped.
    fn fits(&self, backups: [u32; 2]) -> Result<bool, MkfsError> {
        let gdt = if self.features.has_incompat(Incompat::META_BG) {
            1
        } else {
            self.desc_blocks
        };
        let reserved = u64::from(self.reserved_gdt);
        if 3 + self.itable_blocks + gdt + reserved > self.blocks_per_group {
            return Err(MkfsError::NoRoomForInodes);
        }
        let last = self.groups - 1;
        let backup = if self.features.has_compat(Compat::SPARSE_SUPER2) {
            backups[usize::from(self.groups != 2)] != 0
        } else {
            self.has_super(last)
        };
        let head = 1 + self.desc_blocks + reserved;
        let overhead = 2 + self.itable_blocks + if backup { head } else { 0 };
        let rest = (self.blocks - self.first) % self.blocks_per_group;
        if self.groups == 1 && rest > 0 && rest < overhead {
            return Err(MkfsError::TooSmall);
        }
        if self.groups == 1 && rest > 0 && rest < overhead + 50 {
            return Err(MkfsError::TooSmall);
        }
        Ok(rest == 0 || rest >= overhead + 50)
    }
}
