//! jbd2's structures; all are big-endian.

use super::wire::{Bytes, on_disk};
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

/// `h_magic` of every block of the journal that is not a copy of a block.
pub const JOURNAL_MAGIC: u32 = 0xC03B_3998;

on_disk! {
    /// Head of a journal block.
    JournalHeader[12] Big {
        0x0 h_magic: u32, Hex, "0xC03B3998";
        0x4 h_blocktype: u32, Number, "1 descriptor, 2 commit, 3 and 4 superblock, 5 revoke";
        0x8 h_sequence: u32, Number, "transaction";
    }
}

on_disk! {
    /// The journal's superblock.
    JournalSuperblock[1024] Big {
        0x000 h_magic: u32, Hex, "0xC03B3998";
        0x004 h_blocktype: u32, Number, "3 first version, 4 second version";
        0x008 h_sequence: u32, Number, "0";
        0x00C s_blocksize: u32, Number, "bytes of a block";
        0x010 s_maxlen: u32, Number, "blocks of the journal";
        0x014 s_first: u32, Number, "first block of the log";
        0x018 s_sequence: u32, Number, "first transaction expected in the log";
        0x01C s_start: u32, Number, "block where the log starts; 0: nothing to replay";
        0x020 s_errno: u32, Number, "error that stopped the journal";
        0x024 s_feature_compat: u32, Hex, "1: commit blocks carry a checksum";
        0x028 s_feature_incompat: u32, Hex, "1 revoke, 2 64bit, 4 async commit, 8 checksum v2, 16 checksum v3, 32 fast commit";
        0x02C s_feature_ro_compat: u32, Hex, "none known";
        0x030 s_uuid: Bytes<16>, Uuid, "identity of the journal";
        0x040 s_nr_users: u32, Number, "filesystems that share it";
        0x044 s_dynsuper: u32, Number, "block of the dynamic superblock";
        0x048 s_max_transaction: u32, Number, "most blocks in a transaction";
        0x04C s_max_trans_data: u32, Number, "most data blocks in a transaction";
        0x050 s_checksum_type: u8, Number, "1 crc32, 4 crc32c";
        0x051 s_padding2: Bytes<3>, Raw, "padding";
        0x054 s_num_fc_blks: u32, Number, "blocks of the fast-commit area";
        0x058 s_head: u32, Number, "block where the log ended when it was last closed";
        0x05C s_padding: Bytes<160>, Raw, "padding";
        0x0FC s_checksum: u32, Hex, "crc32c of the superblock, this field taken as 0";
        0x100 s_users: Bytes<768>, Raw, "identities of the filesystems that share it";
    }
}

on_disk! {
    /// A commit block: everything of its transaction that stands before it counts.
    CommitBlock[60] Big {
        0x00 h_magic: u32, Hex, "0xC03B3998";
        0x04 h_blocktype: u32, Number, "2";
        0x08 h_sequence: u32, Number, "transaction";
        0x0C h_chksum_type: u8, Number, "1 crc32 of the whole transaction";
        0x0D h_chksum_size: u8, Number, "bytes of the checksum";
        0x0E h_padding: u16, Raw, "padding";
        0x10 h_chksum_0: u32, Hex, "checksum: of the transaction (v1) or of this block (v2, v3)";
        0x14 h_chksum_rest: Bytes<28>, Raw, "room for longer checksums";
        0x30 h_commit_sec: u64, Time, "committed";
        0x38 h_commit_nsec: u32, Number, "nanoseconds of the commit";
    }
}

on_disk! {
    /// Tail of descriptor and revoke blocks, in their last four bytes (checksum v2, v3).
    JournalBlockTail[4] Big {
        0x0 t_checksum: u32, Hex, "crc32c of the block, this field taken as 0";
    }
}

on_disk! {
    /// Head of a revoke block.
    RevokeHeader[16] Big {
        0x0 h_magic: u32, Hex, "0xC03B3998";
        0x4 h_blocktype: u32, Number, "5";
        0x8 h_sequence: u32, Number, "transaction";
        0xC r_count: u32, Number, "bytes of this block in use";
    }
}

on_disk! {
    /// A tag of a descriptor block, without checksum v3. The high half is there with
    /// 64bit only; an UUID follows unless the flags say that it is the same.
    JournalTag[12] Big {
        0x0 t_blocknr: u32, Block, "home of the block, low 32 bits";
        0x4 t_checksum: u16, Hex, "crc32c of the block, low 16 bits (checksum v2)";
        0x6 t_flags: u16, Hex, "1 escaped, 2 same UUID, 4 deleted, 8 last";
        0x8 t_blocknr_high: u32, Block, "home of the block, high 32 bits";
    }
}

on_disk! {
    /// A tag of a descriptor block, with checksum v3.
    JournalTag3[16] Big {
        0x0 t_blocknr: u32, Block, "home of the block, low 32 bits";
        0x4 t_flags: u32, Hex, "1 escaped, 2 same UUID, 4 deleted, 8 last";
        0x8 t_blocknr_high: u32, Block, "home of the block, high 32 bits";
        0xC t_checksum: u32, Hex, "crc32c of the block";
    }
}

on_disk! {
    /// Head of a tag of the fast-commit area. Unlike the rest of the journal these are
    /// ext4's, and little-endian.
    FcTagHead[4] Little {
        0x0 fc_tag: u16, Number, "1 add range, 2 delete range, 3 create, 4 link, 5 unlink, 6 inode, 7 padding, 8 tail, 9 head";
        0x2 fc_len: u16, Number, "bytes of the value that follows";
    }
}

on_disk! {
    /// Value of a fast commit's head.
    FcHead[8] Little {
        0x0 fc_features: u32, Hex, "features a replay must know; none are defined";
        0x4 fc_tid: u32, Number, "transaction that the fast commits follow";
    }
}

on_disk! {
    /// Value of a fast commit's tail, padded to the end of its block.
    FcTail[8] Little {
        0x0 fc_tid: u32, Number, "transaction that the fast commits follow";
        0x4 fc_crc: u32, Hex, "crc32c of the tags since the tail before";
    }
}

on_disk! {
    /// Blocks that a file was given.
    FcAddRange[16] Little {
        0x0 fc_ino: u32, Inode, "inode";
        0x4 fc_ex: Bytes<12>, Raw, "extent";
    }
}

on_disk! {
    /// Blocks that were taken from a file.
    FcDelRange[12] Little {
        0x0 fc_ino: u32, Inode, "inode";
        0x4 fc_lblk: u32, Number, "first block of the file";
        0x8 fc_len: u32, Number, "blocks";
    }
}

on_disk! {
    /// A name made or removed; the name follows.
    FcDentry[8] Little {
        0x0 fc_parent_ino: u32, Inode, "directory";
        0x4 fc_ino: u32, Inode, "inode that the name leads to";
    }
}

on_disk! {
    /// An inode's new contents; its bytes follow.
    FcInode[4] Little {
        0x0 fc_ino: u32, Inode, "inode";
    }
}

bitflags! {
    /// Flags of a tag.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct TagFlags: u32 {
        /// The block began with the journal's magic, which was zeroed in the copy.
        const ESCAPE = 1;
        /// No UUID follows.
        const SAME_UUID = 2;
        /// The block was deleted by this transaction (unused).
        const DELETED = 4;
        /// The last tag of the block.
        const LAST_TAG = 8;
        const _ = !0;
    }
}

bitflags! {
    /// `s_feature_incompat` of the journal.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct JournalIncompat: u32 {
        /// Revoke blocks.
        const REVOKE = 1;
        /// Block numbers of 64 bits.
        const BIT64 = 2;
        /// The commit block is written with the rest, not after it.
        const ASYNC_COMMIT = 4;
        /// crc32c of 16 bits in tags.
        const CSUM_V2 = 8;
        /// crc32c of 32 bits in tags.
        const CSUM_V3 = 16;
        /// A fast-commit area.
        const FAST_COMMIT = 32;
        const _ = !0;
    }
}

bitflags! {
    /// `s_feature_compat` of the journal.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct JournalCompat: u32 {
        /// Commit blocks carry a crc32 of their transaction (v1).
        const CHECKSUM = 1;
        const _ = !0;
    }
}

impl JournalCompat {
    /// The words for the bits that are set, as `dumpe2fs` prints them.
    pub fn names(self) -> Vec<String> {
        words(self.bits(), 'C', &["journal_checksum"])
    }
}

impl JournalIncompat {
    const WORDS: &'static [&'static str] = &[
        "journal_incompat_revoke",
        "journal_64bit",
        "journal_async_commit",
        "journal_checksum_v2",
        "journal_checksum_v3",
        "journal_fast_commit",
    ];

    /// The words for the bits that are set, as `dumpe2fs` prints them (1.47.0 has none for
    /// fast commits).
    pub fn names(self) -> Vec<String> {
        words(self.bits(), 'I', Self::WORDS)
    }

    /// Bits that jbd2 does not know, and so refuses.
    pub fn unknown(self) -> u32 {
        self.bits() & !((1 << Self::WORDS.len()) - 1)
    }
}

/// Words of the bits that are set, lowest first; those without one by letter and number.
fn words(bits: u32, letter: char, known: &[&str]) -> Vec<String> {
    (0..32)
        .filter(|bit| bits & (1 << bit) != 0)
        .map(|bit| match known.get(bit) {
            Some(word) => (*word).to_string(),
            None => format!("FEATURE_{letter}{bit}"),
        })
        .collect()
}

/// What a journal block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JournalBlockType {
    /// Says where the blocks after it belong.
    Descriptor,
    /// Ends a transaction.
    Commit,
    /// First version of the superblock.
    SuperblockV1,
    /// Second version of the superblock.
    SuperblockV2,
    /// Blocks that an earlier transaction may not be replayed onto.
    Revoke,
}

impl JournalBlockType {
    /// From `h_blocktype`.
    pub fn from_disk(n: u32) -> Option<Self> {
        Some(match n {
            1 => Self::Descriptor,
            2 => Self::Commit,
            3 => Self::SuperblockV1,
            4 => Self::SuperblockV2,
            5 => Self::Revoke,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_inside_and_apart() {
        let all: &[(&[crate::ext4::layout::Field], usize)] = &[
            (RevokeHeader::FIELDS, RevokeHeader::SIZE),
            (JournalBlockTail::FIELDS, JournalBlockTail::SIZE),
            (JournalTag::FIELDS, JournalTag::SIZE),
            (JournalTag3::FIELDS, JournalTag3::SIZE),
            (FcTagHead::FIELDS, FcTagHead::SIZE),
            (FcHead::FIELDS, FcHead::SIZE),
            (FcTail::FIELDS, FcTail::SIZE),
            (FcAddRange::FIELDS, FcAddRange::SIZE),
            (FcDelRange::FIELDS, FcDelRange::SIZE),
            (FcDentry::FIELDS, FcDentry::SIZE),
            (FcInode::FIELDS, FcInode::SIZE),
        ];
        for (fields, size) in all {
            let covered: u32 = fields.iter().map(|f| f.len).sum();
            assert_eq!(covered as usize, *size);
        }
    }

    #[test]
    fn features_are_named_as_dumpe2fs_does() {
        let bits = JournalIncompat::from_bits_retain(0x8000_0012);
        let words = ["journal_64bit", "journal_checksum_v3", "FEATURE_I31"];
        assert_eq!(bits.names(), words);
        assert_eq!(bits.unknown(), 0x8000_0000);
    }
}
