//! Reads a filesystem from a medium, without a mount, without a journal replay.
//!
//! What is damaged is reported as a [`Problem`]; what can be read around it is read.
//! Every walk is bounded by the geometry, so a hostile image costs no more than an
//! honest one of its size.

mod acl;
mod dir;
mod file;
mod geometry;
mod groups;
mod hash;
mod htree;
mod inode;
mod map;
mod open;
mod orphan;
mod path;
mod xattr;

pub use dir::{DirBlock, DirBlockKind, DirEntry};
pub use file::{FileContent, MAX_SYMLINK};
pub use geometry::Geometry;
pub use groups::{GroupInfo, MetaKind, MetaRun};
pub use hash::{HashVersion, name_hash};
pub use htree::{DxNodeInfo, Htree};
pub use inode::InodeBuf;
pub use map::{MapVisitor, NodeInfo, NodeKind, Run, Runs};
pub use open::{SuperblockAt, ext_magic_at};
pub use orphan::{Orphan, OrphanSource};
pub use xattr::{Xattr, XattrHome};
pub(crate) use {
    acl::acl_to_linux,
    dir::{RawEntry, each_entry},
    xattr::{each_xattr, inode_region},
};

use super::layout::Superblock;
use super::{Error, Place, Problem};
use crate::disk::ReadAt;
use crate::units::BlockNr;

/// "1 block", "2 blocks".
fn counted(n: impl Into<u64>, one: &str) -> String {
    let n = n.into();
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// An opened filesystem.
#[derive(Debug)]
pub struct Fs<R> {
    medium: R,
    sb: Superblock<Box<[u8]>>,
    sb_at: SuperblockAt,
    geo: Geometry,
    /// All descriptors, `desc_size` bytes each.
    descs: Vec<u8>,
    /// They are a backup's, as old as the filesystem's making or last check.
    stale_descs: bool,
    seed: u32,
    problems: Vec<Problem>,
}

impl<R: ReadAt> Fs<R> {
    /// The superblock in use.
    pub fn superblock(&self) -> &Superblock<Box<[u8]>> {
        &self.sb
    }

    /// Where the superblock in use was read from.
    pub fn superblock_at(&self) -> SuperblockAt {
        self.sb_at
    }

    /// Sizes and counts.
    pub fn geometry(&self) -> &Geometry {
        &self.geo
    }

    /// What was found wrong while opening.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The medium under the filesystem.
    pub fn medium(&self) -> &R {
        &self.medium
    }

    /// Seed of crc32c checksums.
    pub fn checksum_seed(&self) -> u32 {
        self.seed
    }

    /// Fills `buf` (at most a block is usual) from the start of a block on.
    pub fn read_blocks(&self, at: BlockNr, buf: &mut [u8]) -> Result<(), Error> {
        self.geo.check_block(at)?;
        let offset = at.0.saturating_mul(u64::from(self.geo.block_size));
        self.medium
            .read_at(offset, buf)
            .map_err(|e| Error::unreadable(Place::Block(at), e))
    }

    /// The bytes of one block.
    pub fn block(&self, at: BlockNr) -> Result<Vec<u8>, Error> {
        let mut buf = vec![0; self.geo.block_size as usize];
        self.read_blocks(at, &mut buf)?;
        Ok(buf)
    }
}
