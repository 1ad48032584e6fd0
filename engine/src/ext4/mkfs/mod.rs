//! Making a filesystem: every block where mke2fs 1.47 puts it.

mod ask;
mod build;
mod error;
mod features;
mod files;
mod geometry;
mod inode_count;
mod journal_size;
mod lay_out;
mod options;
mod orphans;
mod plan;
mod profile;
mod quota;
mod space;
mod tables;
mod write;

pub use error::{MkfsError, Warning};
pub use options::{FsType, JournalMap, JournalOptions, JournalPlacement, Options, QuotaTypes};

use crate::disk::WriteAt;
use crate::ext4::checksum;
use crate::ext4::layout::GroupFlags;
use crate::units::BlockNr;
use build::Build;
use space::Space;
use tables::{Tables, empty_groups};

/// What was made, or would be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Made {
    /// Bytes of a block.
    pub block_size: u32,
    /// Blocks.
    pub blocks: u64,
    /// Inodes.
    pub inodes: u32,
    /// Groups.
    pub groups: u32,
    /// Blocks of the journal; 0 for none.
    pub journal_blocks: u64,
    /// Where backups of the superblock are.
    pub backups: Vec<BlockNr>,
    /// What is doubtful about it.
    pub warnings: Vec<Warning>,
}

fn made(p: &plan::Plan) -> Made {
    let backup = |g: u32| p.super_block(g).map(BlockNr);
    Made {
        block_size: p.block_size,
        blocks: p.blocks,
        inodes: p.inodes_per_group.saturating_mul(p.groups),
        groups: p.groups,
        journal_blocks: p.journal.map_or(0, |(main, fc)| main + fc),
        backups: p.backup_groups().filter_map(backup).collect(),
        warnings: p.warnings.clone(),
    }
}

/// What [`mkfs`] would make of `bytes` bytes (`-n`).
pub fn plan(options: &Options, bytes: u64) -> Result<Made, MkfsError> {
    Ok(made(&plan::plan(options, bytes)?))
}

/// Makes a filesystem in the first `bytes` bytes of a medium; what was there is discarded.
pub fn mkfs<M: WriteAt>(options: &Options, medium: &mut M, bytes: u64) -> Result<Made, MkfsError> {
    let p = plan::plan(options, bytes)?;
    let answer = made(&p);
    let mut space = Space::new(p.first, p.blocks);
    let mut groups = empty_groups(&p, &mut space);
    let mut tables = Tables {
        p: &p,
        space: &mut space,
        groups: &mut groups,
    };
    if options.packed_meta_blocks
        && p.features
            .has_incompat(crate::ext4::layout::Incompat::FLEX_BG)
    {
        tables.pack()?;
    } else {
        tables.place(options.stride)?;
    }
    if options.lazy_itable_init == Some(false) {
        groups
            .iter_mut()
            .for_each(|g| g.flags |= GroupFlags::INODE_ZEROED);
    }
    space.by_clusters(p.ratio);
    let overhead = space.used_between(p.first, p.blocks) / p.ratio;
    let mut build = Build {
        o: options,
        space,
        groups,
        medium,
        seed: checksum::crc32c(!0, &options.uuid),
        inodes: Default::default(),
        overhead,
        journal_copy: None,
        orphan_file: 0,
        quota_inodes: [0; 3],
        costs: Vec::new(),
        next_inode: plan::FIRST_INO + 1,
        mmp_block: 0,
        written: 0,
        p,
    };
    let len = build.p.blocks * u64::from(build.p.block_size);
    build.medium.discard(0, len)?;
    build.first_files()?;
    build.write_all()?;
    Ok(answer)
}
