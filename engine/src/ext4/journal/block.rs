//! The blocks of the log that are not copies: how they are written, and whether their
//! checksums hold.

use crate::ext4::checksum::crc32c;
use crate::ext4::layout::{
    CommitBlock, JOURNAL_MAGIC, JournalBlockTail, JournalBlockType, JournalHeader, JournalIncompat,
    JournalTag, JournalTag3, RevokeHeader, TagFlags, Timestamp,
};
use serde::{Deserialize, Serialize};

/// Bytes of a UUID after a tag.
const UUID: usize = 16;
/// `h_chksum_type` of a crc32, and its `h_chksum_size`.
const CRC32: (u8, u8) = (1, 4);

/// The crc32 of the checksums of version 1: most significant bit first, not inverted at
/// its end (the kernel's `crc32_be` started at all ones).
static CRC32_BE: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_MPEG_2);

/// Which checksums a journal carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JournalChecksum {
    /// None.
    None,
    /// A crc32 of the whole transaction, in its commit block.
    V1,
    /// crc32c of every block; 16 bits of it in tags.
    V2,
    /// crc32c of every block.
    V3,
}

/// How a journal's blocks are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Format {
    /// Bytes of a block.
    pub block_size: u32,
    /// Checksums.
    pub checksum: JournalChecksum,
    /// Block numbers have 64 bits.
    pub wide: bool,
    /// Commit blocks may be on disk before their transaction.
    pub async_commit: bool,
    /// Seed of checksums of version 2 and 3: the crc32c of the journal's UUID.
    pub seed: u32,
}

/// A tag of a descriptor block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tag {
    pub home: u64,
    pub flags: TagFlags,
    pub checksum: u32,
    /// Byte in the descriptor block.
    pub offset: u32,
}

/// Type and sequence of a block that begins like one of the journal's own.
pub fn head(block: &[u8]) -> Option<(u32, u32)> {
    let head = JournalHeader(block);
    (head.h_magic() == JOURNAL_MAGIC).then(|| (head.h_blocktype(), head.h_sequence()))
}

/// Type and sequence of a block that begins a part of a transaction.
pub fn part(block: &[u8]) -> Option<(JournalBlockType, u32)> {
    use JournalBlockType::{Commit, Descriptor, Revoke};
    let (kind, sequence) = head(block)?;
    JournalBlockType::from_disk(kind)
        .filter(|kind| matches!(kind, Descriptor | Commit | Revoke))
        .map(|kind| (kind, sequence))
}

impl Format {
    /// Whether blocks carry checksums of their own.
    pub fn has_block_checksums(&self) -> bool {
        matches!(self.checksum, JournalChecksum::V2 | JournalChecksum::V3)
    }

    /// Bytes of a tag, without a UUID after it.
    pub fn tag_bytes(&self) -> usize {
        let short = match self.checksum {
            JournalChecksum::V3 => return JournalTag3::SIZE,
            // Two bytes more than its fields: so jbd2 has it.
            JournalChecksum::V2 => 10,
            JournalChecksum::None | JournalChecksum::V1 => 8,
        };
        short + if self.wide { 4 } else { 0 }
    }

    /// Bytes of a descriptor or revoke block before its tail.
    fn body(&self) -> usize {
        let tail = if self.has_block_checksums() {
            JournalBlockTail::SIZE
        } else {
            0
        };
        (self.block_size as usize).saturating_sub(tail)
    }

    /// The tags of a descriptor block, as far as they fit.
    pub(super) fn tags(&self, block: &[u8]) -> Vec<Tag> {
        let (step, end) = (self.tag_bytes(), self.body().min(block.len()));
        let (mut at, mut tags) = (JournalHeader::SIZE, Vec::new());
        while at + step <= end {
            let tag = self.tag(&block[at..], at);
            tags.push(tag);
            at += step;
            if !tag.flags.contains(TagFlags::SAME_UUID) {
                at += UUID;
            }
            if tag.flags.contains(TagFlags::LAST_TAG) {
                break;
            }
        }
        tags
    }

    fn tag(&self, raw: &[u8], offset: usize) -> Tag {
        let old = JournalTag(raw);
        let (checksum, high) = match self.checksum {
            JournalChecksum::V3 => {
                let tag = JournalTag3(raw);
                (tag.t_checksum(), tag.t_blocknr_high())
            }
            _ => (old.t_checksum().into(), old.t_blocknr_high()),
        };
        let high = if self.wide { u64::from(high) << 32 } else { 0 };
        Tag {
            home: high | u64::from(old.t_blocknr()),
            // jbd2 reads these 16 bits of either kind of tag.
            flags: TagFlags::from_bits_retain(old.t_flags().into()),
            checksum,
            offset: offset as u32,
        }
    }

    /// The blocks that a revoke block names, and whether its count is one that fits;
    /// where not, as many as fit.
    pub(super) fn revoked(&self, block: &[u8]) -> (Vec<u64>, bool) {
        let count = RevokeHeader(block).r_count() as usize;
        let room = self.body().min(block.len());
        let records = block
            .get(RevokeHeader::SIZE..count.min(room))
            .unwrap_or_default();
        let be = |raw: &[u8]| raw.iter().fold(0, |n, b| n << 8 | u64::from(*b));
        let size = if self.wide { 8 } else { 4 };
        (records.chunks_exact(size).map(be).collect(), count <= room)
    }

    /// Whether the checksum at the end of a descriptor or revoke block holds.
    pub(super) fn tail_ok(&self, block: &[u8]) -> Option<bool> {
        if !self.has_block_checksums() {
            return None;
        }
        let (body, tail) = block.split_at_checked(self.body())?;
        let sum = crc32c(crc32c(self.seed, body), &[0; JournalBlockTail::SIZE]);
        Some(JournalBlockTail(tail).t_checksum() == sum)
    }

    /// Whether a tag's checksum is that of its copy.
    pub(super) fn copy_ok(&self, tag: &Tag, sequence: u32, copy: &[u8]) -> Option<bool> {
        if !self.has_block_checksums() {
            return None;
        }
        let sum = crc32c(crc32c(self.seed, &sequence.to_be_bytes()), copy);
        Some(match self.checksum {
            JournalChecksum::V3 => tag.checksum == sum,
            _ => tag.checksum == sum & 0xFFFF,
        })
    }

    /// Whether a commit block's checksum holds, and whether only with the bytes after
    /// the header taken as zeros. `transaction` is the checksum of version 1.
    pub(super) fn commit_ok(&self, block: &[u8], transaction: u32) -> (Option<bool>, bool) {
        let commit = CommitBlock(block);
        let found = commit.h_chksum_0();
        match self.checksum {
            JournalChecksum::None => (None, false),
            JournalChecksum::V1 => {
                let kind = (commit.h_chksum_type(), commit.h_chksum_size());
                let unused = kind == (0, 0) && found == 0;
                (
                    Some(unused || (kind == CRC32 && found == transaction)),
                    false,
                )
            }
            JournalChecksum::V2 | JournalChecksum::V3 => {
                if found == self.commit_sum(block) {
                    return (Some(true), false);
                }
                let mut start = vec![0; block.len()];
                let head = block.len().min(CommitBlock::SIZE.next_multiple_of(8));
                start[..head].copy_from_slice(&block[..head]);
                let cut = found == self.commit_sum(&start);
                (Some(cut), cut)
            }
        }
    }

    fn commit_sum(&self, block: &[u8]) -> u32 {
        const FIELD: std::ops::Range<usize> = 0x10..0x14;
        let before = block.get(..FIELD.start).unwrap_or_default();
        let after = block.get(FIELD.end..).unwrap_or_default();
        crc32c(crc32c(crc32c(self.seed, before), &[0; 4]), after)
    }
}

/// When a commit block was written.
pub fn commit_time(block: &[u8]) -> Timestamp {
    let commit = CommitBlock(block);
    Timestamp {
        secs: i64::try_from(commit.h_commit_sec()).unwrap_or(i64::MAX),
        nanos: commit.h_commit_nsec(),
    }
}

/// The checksum of version 1, over a transaction's descriptor blocks and copies.
#[derive(Clone, Debug)]
pub struct TransactionSum(u32);

impl Default for TransactionSum {
    fn default() -> Self {
        Self(!0)
    }
}

impl TransactionSum {
    pub fn add(&mut self, block: &[u8]) {
        // The crate takes an initial value in the algorithm's bit order, which is this one's.
        let mut digest = CRC32_BE.digest_with_initial(self.0);
        digest.update(block);
        self.0 = digest.finalize();
    }

    pub fn value(&self) -> u32 {
        self.0
    }
}

/// What a journal's feature bits say of its format.
pub fn checksum_of(v1: bool, incompat: JournalIncompat) -> JournalChecksum {
    if incompat.contains(JournalIncompat::CSUM_V3) {
        JournalChecksum::V3
    } else if incompat.contains(JournalIncompat::CSUM_V2) {
        JournalChecksum::V2
    } else if v1 {
        JournalChecksum::V1
    } else {
        JournalChecksum::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(checksum: JournalChecksum, wide: bool) -> Format {
        Format {
            block_size: 1024,
            checksum,
            wide,
            async_commit: false,
            seed: 7,
        }
    }

    /// `journal_tag_bytes()`: 16 with v3; else the 12 of the structure, 2 more with v2,
    /// 4 fewer without 64bit.
    #[test]
    fn tags_have_the_sizes_that_jbd2_gives_them() {
        use JournalChecksum::{None, V1, V2, V3};
        for (checksum, narrow, wide) in [(None, 8, 12), (V1, 8, 12), (V2, 10, 14), (V3, 16, 16)] {
            assert_eq!(format(checksum, false).tag_bytes(), narrow);
            assert_eq!(format(checksum, true).tag_bytes(), wide);
        }
    }

    /// CRC-32/MPEG-2's check value in the catalogue of parametrised CRCs, whole and in
    /// two parts.
    #[test]
    fn crc32_be_goes_on_where_it_stopped() {
        let mut sum = TransactionSum::default();
        sum.add(b"12345");
        sum.add(b"6789");
        assert_eq!(sum.value(), 0x0376_E6E7);
    }

    #[test]
    fn tags_without_a_last_one_end_with_the_block() {
        let mut block = vec![0xFF; 1024];
        // Flags 2: SAME_UUID in every tag; 8-byte tags from byte 12 on: (1024 - 12) / 8.
        for at in (12..1020).step_by(8) {
            block[at + 6..at + 8].copy_from_slice(&2u16.to_be_bytes());
        }
        block[1018..1020].copy_from_slice(&2u16.to_be_bytes());
        let tags = format(JournalChecksum::None, false).tags(&block);
        assert_eq!(tags.len(), 126);
        assert_eq!(tags[0].home, u64::from(u32::MAX));
    }

    #[test]
    fn a_revoke_count_past_the_block_is_told() {
        let mut block = vec![0; 1024];
        block[12..16].copy_from_slice(&65_535u32.to_be_bytes());
        block[16..20].copy_from_slice(&259u32.to_be_bytes());
        let (blocks, fits) = format(JournalChecksum::None, false).revoked(&block);
        assert!(!fits);
        assert_eq!((blocks.len(), blocks[0]), (252, 259));
        block[12..16].copy_from_slice(&24u32.to_be_bytes());
        let (blocks, fits) = format(JournalChecksum::None, true).revoked(&block);
        assert_eq!((blocks, fits), (vec![259 << 32], true));
    }
}
