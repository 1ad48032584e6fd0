//! What the options ask for together, refused in the order in which mke2fs refuses it.

use super::error::{MkfsError, Warning};
use super::features::Features;
use super::inode_count::{inode_size, inodes};
use super::options::Options;
use super::profile::{Profile, is_defined, profile};
use crate::ext4::layout::{Compat, Incompat, RoCompat};

/// What the options ask for, before the groups are laid out.
pub(super) struct Asked {
    pub(super) profile: Profile,
    pub(super) revision: u32,
    pub(super) block_size: u32,
    /// Blocks of a cluster.
    pub(super) ratio: u64,
    pub(super) blocks: u64,
    pub(super) inode_size: u32,
    pub(super) inodes: u64,
    pub(super) desc_size: u32,
    /// Descriptor blocks to reserve, where `-E resize` says so.
    pub(super) reserved_gdt: u32,
    /// Groups with backups (sparse_super2).
    pub(super) backups: [u32; 2],
    /// Groups of a flex group, as a power of two.
    pub(super) log_flex: u8,
    pub(super) warnings: Vec<Warning>,
}

/// Asks for a filesystem of at most `bytes`.
pub(super) fn ask(o: &Options, bytes: u64) -> Result<Asked, MkfsError> {
    let mut asked = begin(o, bytes)?;
    extended(o, &mut asked)?;
    combined(o, &mut asked)?;
    asked.log_flex = flex(o, &asked.profile.features)?;
    asked.inode_size = inode_size(o, &asked)?;
    asked.inodes = inodes(o, &asked)?;
    Ok(asked)
}

fn begin(o: &Options, bytes: u64) -> Result<Asked, MkfsError> {
    let revision = o.revision.unwrap_or(1);
    if revision > 1 {
        return Err(MkfsError::Revision(revision));
    }
    let mut profile = profile(o.fs_type, &o.usage, bytes, revision == 0)?;
    o.features
        .iter()
        .try_for_each(|list| profile.features.edit(list))?;
    let block_size = block_size(o, &profile)?;
    let blocks = bytes / u64::from(block_size);
    too_big(&mut profile.features, blocks, block_size)?;
    let f = &mut profile.features;
    if revision == 0 && *f != Features::default() {
        return Err(MkfsError::FeaturesNeedRevision1);
    }
    if o.journal.wanted || o.journal.megabytes.is_some_and(|n| n > 0) {
        if revision == 0 {
            return Err(MkfsError::JournalNeedsRevision1);
        }
        f.compat |= Compat::HAS_JOURNAL;
    }
    let reserved = o.reserved_percent.unwrap_or(5.0);
    if !(0.0..=50.0).contains(&reserved) {
        return Err(MkfsError::Reserved(reserved));
    }
    let wide = f.has_incompat(Incompat::BIT64);
    if wide && !f.has_incompat(Incompat::EXTENTS) {
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
        desc_size: if wide { 64 } else { 32 },
        reserved_gdt: 0,
        backups: [0, 0],
        log_flex: 0,
        warnings: warnings(o, block_size),
        profile,
    })
}

/// What is not a power of two is made less, as by mke2fs.
fn block_size(o: &Options, profile: &Profile) -> Result<u32, MkfsError> {
    let size = match o.block_size {
        Some(size) => size,
        None => profile.block_size.max(o.min_block_size),
    };
    if !(1024..=65536).contains(&size) {
        return Err(MkfsError::BlockSize(size));
    }
    Ok(1 << size.ilog2())
}

fn warnings(o: &Options, block_size: u32) -> Vec<Warning> {
    let unknown = o.usage.iter().filter(|name| !is_defined(name));
    let mut warnings: Vec<Warning> = unknown.cloned().map(Warning::UnknownUsage).collect();
    if block_size > 4096 {
        warnings.push(Warning::BlockSize(block_size));
    }
    if o.stride > 0 && !o.stripe_width.is_multiple_of(u32::from(o.stride)) {
        let (width, stride) = (o.stripe_width, o.stride);
        warnings.push(Warning::Stripe { width, stride });
    }
    warnings
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
    let size = o.cluster_size.unwrap_or(block_size * 16);
    if size <= 1024 || size > 512 << 20 {
        return Err(MkfsError::ClusterSize(size));
    }
    if !f.has_ro(RoCompat::BIGALLOC) {
        return match o.cluster_size {
            Some(_) => Err(MkfsError::ClusterNeedsBigalloc),
            None => Ok(1),
        };
    }
    // What is not a power of two is made less.
    let size = 1 << size.ilog2();
    if size < block_size {
        return Err(MkfsError::ClusterBelowBlock);
    }
    Ok(u64::from(size / block_size))
}

/// `-E`.
fn extended(o: &Options, a: &mut Asked) -> Result<(), MkfsError> {
    if !o.desc_size_late {
        desc_size(o, a)?;
    }
    a.reserved_gdt = resize(o, a)?;
    if o.desc_size_late {
        desc_size(o, a)?;
    }
    let backups = match o.backups.unwrap_or(2) {
        0 => [0, 0],
        1 => [1, 0],
        2 => [1, u32::MAX],
        n => return Err(MkfsError::Backups(n)),
    };
    let f = &mut a.profile.features;
    if f.has_compat(Compat::SPARSE_SUPER2) {
        a.backups = backups;
    }
    if o.encoding {
        f.incompat |= Incompat::CASEFOLD;
    }
    if o.quota_types.is_some_and(|types| types.projects) {
        f.ro |= RoCompat::PROJECT;
    }
    Ok(())
}

fn desc_size(o: &Options, a: &mut Asked) -> Result<(), MkfsError> {
    let Some(size) = o.desc_size else {
        return Ok(());
    };
    if a.desc_size == 32 {
        return Err(MkfsError::DescNeedsWide);
    }
    if a.reserved_gdt != 0 {
        return Err(MkfsError::DescAfterResize(a.reserved_gdt));
    }
    // mke2fs takes shorter and longer ones, and fails later or makes what none can read.
    if !size.is_power_of_two() || !(64..=1024).contains(&size) {
        return Err(MkfsError::DescSize(size));
    }
    a.desc_size = size;
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
    let per_group = u64::from(o.blocks_per_group.unwrap_or(a.block_size * 8).max(1));
    let per_block = u64::from(a.block_size / a.desc_size);
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

/// Features that need or exclude each other.
fn combined(o: &Options, a: &mut Asked) -> Result<(), MkfsError> {
    let f = &mut a.profile.features;
    if f.has_incompat(Incompat::JOURNAL_DEV) {
        return Err(MkfsError::Unsupported("a journal device".into()));
    }
    if f.has_ro(RoCompat::PROJECT) && o.inode_size == Some(128) {
        return Err(MkfsError::ProjectNeedsSpace);
    }
    if f.has_ro(RoCompat::METADATA_CSUM) {
        f.ro.remove(RoCompat::GDT_CSUM);
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
    if f.has_incompat(Incompat::MMP) && o.mmp_interval > 300 {
        return Err(MkfsError::MmpInterval);
    }
    Ok(())
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
