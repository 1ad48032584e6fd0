//! The shape of the filesystem, decided before any block is placed: sizes, counts and
//! features as mke2fs 1.47 derives them from its options.

use super::ask::ask;
use super::error::{MkfsError, Warning};
use super::features::Features;
use super::journal_size::journal_size;
use super::lay_out::lay_out;
use super::options::Options;
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
    pub(super) warnings: Vec<Warning>,
}

/// Decides everything for a filesystem of at most `bytes`.
pub(super) fn plan(o: &Options, bytes: u64) -> Result<Plan, MkfsError> {
    let asked = ask(o, bytes)?;
    let mut plan = lay_out(o, &asked)?;
    let f = &plan.features;
    if f.has_incompat(Incompat::CSUM_SEED) && !f.has_ro(RoCompat::METADATA_CSUM) {
        return Err(MkfsError::SeedNeedsChecksums);
    }
    // Where the journal is then left out, so is this.
    if f.has_compat(Compat::ORPHAN_FILE) && !f.has_compat(Compat::HAS_JOURNAL) {
        return Err(MkfsError::OrphanFileNeedsJournal);
    }
    plan.journal = journal_size(&o.journal, &mut plan)?;
    if plan.groups == 1 && plan.inodes_per_group < FIRST_INO {
        return Err(match plan.features.has_ro(RoCompat::METADATA_CSUM) {
            true => MkfsError::TooFewForReserved,
            false => MkfsError::TooFewForLostFound,
        });
    }
    Ok(plan)
}
