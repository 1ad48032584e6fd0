//! The superblock of ext2, ext3 and ext4, as far as naming it needs.
//!
//! Format: `struct ext4_super_block` of Linux's `fs/ext4/ext4.h`.

use super::{Identity, Kind, Peek};

/// How much of the superblock must make sense.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// Only the magic number.
    Magic,
    /// Also the block size, the counts and the revision.
    Plausible,
}

const COMPAT_HAS_JOURNAL: u32 = 0x4;
const INCOMPAT_JOURNAL_DEV: u32 = 0x8;
/// Incompatible features that ext3 knows: filetype, recover, meta_bg.
const INCOMPAT_EXT3: u32 = 0x2 | 0x4 | 0x10;
/// Read-only compatible features that ext3 knows: sparse_super, large_file, btree_dir.
const RO_COMPAT_EXT3: u32 = 0x1 | 0x2 | 0x4;

/// Names the filesystem whose superblock lies at byte 1024.
pub(super) fn superblock(peek: &Peek<'_>, trust: Trust) -> Option<Identity> {
    if peek.le16(1024 + 56)? != 0xef53 {
        return None;
    }
    if trust == Trust::Plausible && !plausible(peek).unwrap_or(false) {
        return None;
    }
    let word = |at: u64| peek.le32(1024 + at).unwrap_or(0);
    let (compat, incompat, ro_compat) = (word(92), word(96), word(100));
    if incompat & INCOMPAT_JOURNAL_DEV != 0 {
        return Some(Identity::new(
            Kind::ExtJournal,
            "jbd",
            "the external journal of an ext3 or ext4 filesystem",
            "; the filesystem itself is on another device",
        ));
    }
    let (id, name) = if incompat & !INCOMPAT_EXT3 != 0 || ro_compat & !RO_COMPAT_EXT3 != 0 {
        ("ext4", "an ext4 filesystem")
    } else if compat & COMPAT_HAS_JOURNAL != 0 {
        ("ext3", "an ext3 filesystem")
    } else {
        ("ext2", "an ext2 filesystem")
    };
    Some(Identity::new(Kind::Ext, id, name, ""))
}

fn plausible(peek: &Peek<'_>) -> Option<bool> {
    let word = |at: u64| peek.le32(1024 + at);
    let (inodes, blocks) = (word(0)?, word(4)?);
    let (log_block_size, revision) = (word(24)?, word(76)?);
    let journal = word(96)? & INCOMPAT_JOURNAL_DEV != 0;
    Some(
        log_block_size <= 6
            && revision <= 1
            && (journal || inodes > 0)
            && (blocks > 0 || word(0x150)? > 0),
    )
}
