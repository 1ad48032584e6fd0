//! The shape of the filesystem, decided before any block is placed: sizes, counts and
//! features as mke2fs 1.47 derives them from its options.

use super::features::Features;
use super::options::{JournalOptions, MkfsError, Options};
use super::profile::{Profile, profile};
use crate::ext4::layout::{Compat, Incompat, RoCompat};

/// First inode that is not reserved.
pub(super) const FIRST_INO: u32 = 11;

/// Sizes and counts of a filesystem to be.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) features: Features,
    pub(super) revision: u32,
    pub(super) block_size: u32,
    /// Blocks of a cluster.
    pub(super) ratio: u64,
    pub(super) blocks: u64,
    /// First data block.
    pub(super) first: u64,
    pub(super) blocks_per_group: u64,
    pub(super) groups: u32,
    pub(super) desc_size: u32,
    pub(super) desc_blocks: u64,
    pub(super) inode_size: u32,
    pub(super) inodes_per_group: u32,
    pub(super) itable_blocks: u64,
    pub(super) reserved_gdt: u32,
    pub(super) reserved_blocks: u64,
    pub(super) log_flex: u8,
    pub(super) backups: [u32; 2],
    /// Blocks of the journal and of its fast-commit area.
    pub(super) journal: Option<(u64, u64)>,
}

/// What the options ask for, before the groups are laid out.
struct Asked {
    profile: Profile,
    revision: u32,
    block_size: u32,
    ratio: u64,
    blocks: u64,
    inode_size: u32,
    inodes: u64,
    reserved_gdt: u32,
    backups: [u32; 2],
}

/// Decides everything for a filesystem of at most `bytes`.
pub(super) fn plan(o: &Options, bytes: u64) -> Result<Plan, MkfsError> {
    let mut asked = ask(o, bytes)?;
    check_combinations(o, &mut asked)?;
    let mut plan = lay_out(o, &asked)?;
    plan.log_flex = flex(o, &asked.profile.features)?;
    place_backups(&mut plan, asked.backups);
    plan.journal = journal(&o.journal, &mut plan)?;
    if plan.features.has_compat(Compat::ORPHAN_FILE) && plan.journal.is_none() {
        return Err(MkfsError::OrphanFileNeedsJournal);
    }
    Ok(plan)
}

fn ask(o: &Options, bytes: u64) -> Result<Asked, MkfsError> {
    let revision = o.revision.unwrap_or(1);
    if revision > 1 {
        return Err(MkfsError::Revision(revision));
    }
    let mut profile = profile(o.fs_type, &o.usage, bytes, revision == 0)?;
    o.features
        .iter()
        .try_for_each(|list| profile.features.edit(list))?;
    let block_size = o.block_size.unwrap_or(profile.block_size);
    if !(1024..=65536).contains(&block_size) || !block_size.is_power_of_two() {
        return Err(MkfsError::BlockSize(block_size));
    }
    let blocks = bytes / u64::from(block_size);
    too_big(&mut profile.features, blocks, block_size)?;
    let f = &mut profile.features;
    if revision == 0 && *f != Features::default() {
        return Err(MkfsError::FeaturesNeedRevision1);
    }
    if o.journal.wanted || o.journal.megabytes.is_some() {
        if revision == 0 {
            return Err(MkfsError::JournalNeedsRevision1);
        }
        f.compat |= Compat::HAS_JOURNAL;
    }
    let reserved = o.reserved_percent.unwrap_or(5.0);
    if !(0.0..=50.0).contains(&reserved) {
        return Err(MkfsError::Reserved(reserved));
    }
    if f.has_incompat(Incompat::BIT64) && !f.has_incompat(Incompat::EXTENTS) {
        return Err(MkfsError::WideNeedsExtents);
    }
    let ratio = cluster_ratio(o, f, block_size)?;
    Ok(Asked {
        revision,
        block_size,
        ratio,
        blocks,
        inode_size: 0,
        inodes: 0,
        reserved_gdt: 0,
        backups: [0, 0],
        profile,
    })
}

fn too_big(f: &mut Features, blocks: u64, block_size: u32) -> Result<(), MkfsError> {
    if blocks > u64::from(u32::MAX) {
        if !f.has_incompat(Incompat::BIT64) {
            return Err(MkfsError::TooBigFor32Bits { blocks, block_size });
        }
        f.compat.remove(Compat::RESIZE_INODE);
    }
    // 2^32 groups of as many blocks as a block has bits.
    if blocks > (1 << (block_size.ilog2() + 3 + 32)) - 1 {
        return Err(MkfsError::TooBig { blocks, block_size });
    }
    Ok(())
}

fn cluster_ratio(o: &Options, f: &Features, block_size: u32) -> Result<u64, MkfsError> {
    if !f.has_ro(RoCompat::BIGALLOC) {
        return match o.cluster_size {
            Some(_) => Err(MkfsError::ClusterNeedsBigalloc),
            None => Ok(1),
        };
    }
    let size = o.cluster_size.unwrap_or(block_size * 16);
    if size <= 1024 || size > 512 << 20 || !size.is_power_of_two() {
        return Err(MkfsError::ClusterSize(size));
    }
    if size < block_size {
        return Err(MkfsError::ClusterBelowBlock);
    }
    Ok(u64::from(size / block_size))
}

fn check_combinations(o: &Options, a: &mut Asked) -> Result<(), MkfsError> {
    a.reserved_gdt = resize(o, a)?;
    let f = &mut a.profile.features;
    for (unsupported, name) in [
        (f.has_ro(RoCompat::QUOTA), "the quota feature"),
        (f.has_incompat(Incompat::JOURNAL_DEV), "a journal device"),
    ] {
        if unsupported {
            return Err(MkfsError::Unsupported(name.into()));
        }
    }
    if f.has_ro(RoCompat::METADATA_CSUM) {
        f.ro.remove(RoCompat::GDT_CSUM);
    } else if f.has_incompat(Incompat::CSUM_SEED) {
        return Err(MkfsError::SeedNeedsChecksums);
    }
    if f.has_ro(RoCompat::BIGALLOC) && !f.has_incompat(Incompat::EXTENTS) {
        return Err(MkfsError::BigallocNeedsExtents);
    }
    if f.has_compat(Compat::RESIZE_INODE) {
        if f.has_incompat(Incompat::META_BG) {
            return Err(MkfsError::MetaBgAndResizeInode);
        }
        if !f.has_ro(RoCompat::SPARSE_SUPER) {
            return Err(MkfsError::ResizeNeedsSparse);
        }
    }
    if let Some(n) = o.blocks_per_group {
        if n % 8 != 0 {
            return Err(MkfsError::GroupNotMultipleOf8);
        }
        if !(256..=8 * a.block_size).contains(&n) {
            return Err(MkfsError::GroupRange);
        }
    }
    if f.has_compat(Compat::SPARSE_SUPER2) {
        a.backups = match o.backups.unwrap_or(2) {
            0 => [0, 0],
            1 => [1, 0],
            2 => [1, u32::MAX],
            n => return Err(MkfsError::Backups(n)),
        };
    }
    a.inode_size = inode_size(o, a)?;
    a.inodes = inodes(o, a)?;
    Ok(())
}

/// Descriptor blocks to reserve for `-E resize`, which also sets the feature.
fn resize(o: &Options, a: &mut Asked) -> Result<u32, MkfsError> {
    let Some(resize) = o.resize else {
        return Ok(0);
    };
    if resize <= a.blocks {
        return Err(MkfsError::ResizeTooSmall);
    }
    let per_group = u64::from(o.blocks_per_group.unwrap_or(a.block_size * 8));
    let wide = a.profile.features.has_incompat(Incompat::BIT64);
    let per_block = u64::from(a.block_size) / if wide { 64 } else { 32 };
    let blocks = |n: u64| n.div_ceil(per_group).div_ceil(per_block);
    let more = blocks(resize).saturating_sub(blocks(a.blocks));
    if more == 0 {
        return Ok(0);
    }
    if a.revision == 0 {
        return Err(MkfsError::ResizeNeedsRevision1);
    }
    a.profile.features.compat |= Compat::RESIZE_INODE;
    Ok(more.min(u64::from(a.block_size / 4)) as u32)
}

fn inode_size(o: &Options, a: &Asked) -> Result<u32, MkfsError> {
    let f = &a.profile.features;
    let mut size = o.inode_size.unwrap_or(a.profile.inode_size);
    if f.has_ro(RoCompat::PROJECT) {
        match o.inode_size {
            Some(128) => return Err(MkfsError::ProjectNeedsSpace),
            Some(_) => {}
            None => size = size.max(256),
        }
    }
    if a.revision == 0 {
        return Ok(128);
    }
    if !(128..=a.block_size).contains(&size) || !size.is_power_of_two() {
        return Err(MkfsError::InodeSize {
            size,
            block_size: a.block_size,
        });
    }
    if f.has_incompat(Incompat::INLINE_DATA) && size == 128 {
        return Err(MkfsError::InlineNeedsSpace);
    }
    Ok(size)
}

fn inodes(o: &Options, a: &Asked) -> Result<u64, MkfsError> {
    if let Some(ratio) = o.inode_ratio
        && !(1024..=65536 * 1024).contains(&ratio)
    {
        return Err(MkfsError::InodeRatio(ratio));
    }
    let most = u64::from(u32::MAX);
    let size = u64::from(a.block_size);
    let ratio = match o.inode_ratio {
        Some(ratio) => u64::from(ratio),
        None => u64::from(a.profile.inode_ratio)
            .max(size)
            .max(size * a.ratio),
    };
    let count = match o.inodes {
        Some(n) if n > most => return Err(MkfsError::TooManyInodes(n)),
        Some(n) if n > 0 => n,
        _ => match a.blocks * size / ratio {
            n if n <= most => n,
            _ if a.profile.features.has_incompat(Incompat::BIT64) => most,
            n => return Err(MkfsError::TooManyByRatio(n)),
        },
    };
    let asked = o.inode_size.unwrap_or(a.profile.inode_size);
    if count * u64::from(asked) >= a.blocks * size {
        return Err(MkfsError::TablesTooBig {
            inode_size: asked,
            inodes: count,
            blocks: a.blocks,
        });
    }
    Ok(count)
}

fn flex(o: &Options, f: &Features) -> Result<u8, MkfsError> {
    match o.flex_groups {
        None if f.has_incompat(Incompat::FLEX_BG) => Ok(4),
        None => Ok(0),
        Some(n) if !n.is_power_of_two() => Err(MkfsError::FlexPower),
        Some(_) if !f.has_incompat(Incompat::FLEX_BG) => Err(MkfsError::FlexNeedsFeature),
        Some(n) => Ok(n.ilog2() as u8),
    }
}

/// Groups and inode tables. What does not come out even is tried again with the last
/// group dropped, or with shorter groups.
fn lay_out(o: &Options, a: &Asked) -> Result<Plan, MkfsError> {
    let size = u64::from(a.block_size);
    let bigalloc = a.profile.features.has_ro(RoCompat::BIGALLOC);
    // Descriptors count free blocks in 16 bits.
    let most = (1 << 16) - 8;
    let per_group = u64::from(o.blocks_per_group.unwrap_or(a.block_size * 8)).min(most);
    let percent = o.reserved_percent.unwrap_or(5.0);
    let wide = a.profile.features.has_incompat(Incompat::BIT64);
    let mut p = Plan {
        features: a.profile.features,
        revision: a.revision,
        block_size: a.block_size,
        ratio: a.ratio,
        blocks: a.blocks - a.blocks % a.ratio,
        first: u64::from(a.block_size == 1024 && a.ratio == 1),
        blocks_per_group: per_group * a.ratio,
        groups: 0,
        desc_size: if wide { 64 } else { 32 },
        desc_blocks: 0,
        inode_size: a.inode_size,
        inodes_per_group: 0,
        itable_blocks: 0,
        reserved_gdt: 0,
        reserved_blocks: (percent * a.blocks as f64 / 100.0) as u64,
        log_flex: 0,
        backups: [0, 0],
        journal: None,
    };
    if p.blocks <= p.first {
        return Err(MkfsError::InvalidArgument);
    }
    loop {
        let groups = (p.blocks.saturating_sub(p.first)).div_ceil(p.blocks_per_group);
        if groups == 0 {
            return Err(MkfsError::TooSmall);
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
            return Ok(p);
        }
        let rest = (p.blocks - p.first) % p.blocks_per_group;
        p.blocks -= rest;
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

/// Blocks of the journal by the size of the filesystem; `None` where it is too small for
/// one.
fn default_journal(blocks: u64) -> Option<u64> {
    let steps: [(u64, u64); 7] = [
        (32768, 1024),
        (256 << 10, 4096),
        (512 << 10, 8192),
        (4096 << 10, 16384),
        (8192 << 10, 32768),
        (16384 << 10, 65536),
        (32768 << 10, 131_072),
    ];
    if blocks < 2048 {
        return None;
    }
    let step = steps.iter().find(|(below, _)| blocks < *below);
    Some(step.map_or(262_144, |s| s.1))
}

fn journal(o: &JournalOptions, p: &mut Plan) -> Result<Option<(u64, u64)>, MkfsError> {
    if !p.features.has_compat(Compat::HAS_JOURNAL) {
        return Ok(None);
    }
    let kilobytes = u64::from(p.block_size / 1024);
    let fast = p.features.has_compat(Compat::FAST_COMMIT);
    let default = default_journal(p.blocks);
    let asked = o.megabytes.is_some() || (fast && o.fast_commit_kilobytes.is_some());
    if !asked {
        // A filesystem too small for a journal is made without one.
        let Some(n) = default else {
            p.features.compat.remove(Compat::HAS_JOURNAL);
            return Ok(None);
        };
        return Ok(Some((n, if fast { n / 64 } else { 0 })));
    }
    let main = match o.megabytes {
        Some(n) => n.saturating_mul(1024) / kilobytes,
        None => default.unwrap_or(0),
    };
    let fc = match o.fast_commit_kilobytes {
        _ if !fast => 0,
        Some(n) => n / kilobytes,
        None => default.map_or(main / 64, |n| n / 64),
    };
    let blocks = main + fc;
    if !(1024..=10_240_000).contains(&blocks) {
        return Err(MkfsError::JournalRange { blocks });
    }
    if blocks > p.free_at_first() / 2 {
        return Err(MkfsError::JournalTooBig);
    }
    Ok(Some((main, fc)))
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

    /// Free blocks as mke2fs counts them before anything is placed.
    fn free_at_first(&self) -> u64 {
        (0..self.groups)
            .map(|g| {
                let heads = self.heads(g).iter().map(|(_, n)| n).sum::<u64>();
                let tables = if self.log_flex > 0 {
                    0
                } else {
                    2 + self.itable_blocks
                };
                (self.group_end(g) - self.group_first(g)).saturating_sub(heads + tables)
            })
            .sum()
    }

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
