//! The blocks of a transaction as they go into the log: revoke blocks, descriptors with
//! the copies after them, the commit block. What reads them is `ext4::journal`.

use crate::ext4::checksum::crc32c;
use crate::ext4::journal::{Format, JournalChecksum, TransactionSum};
use crate::ext4::layout::{
    CommitBlock, JOURNAL_MAGIC, JournalBlockTail, JournalBlockType, JournalHeader, JournalTag,
    JournalTag3, RevokeHeader, TagFlags, Timestamp,
};
use crate::units::BlockNr;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes of a UUID after a descriptor's first tag.
const UUID: usize = 16;

/// What a block of the log is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Part {
    /// Says where the blocks after it belong.
    Descriptor,
    /// A block of metadata: its home.
    Copy(BlockNr),
    /// Blocks that earlier transactions may not be replayed onto.
    Revoke,
    /// The end.
    Commit,
}

/// A block for the log.
pub type Encoded = (Part, Arc<[u8]>);

fn kind(kind: JournalBlockType) -> u32 {
    match kind {
        JournalBlockType::Descriptor => 1,
        JournalBlockType::Commit => 2,
        JournalBlockType::SuperblockV1 => 3,
        JournalBlockType::SuperblockV2 => 4,
        JournalBlockType::Revoke => 5,
    }
}

/// How one transaction is written.
#[derive(Clone, Copy, Debug)]
pub struct Encoder<'a> {
    /// The journal's format.
    pub format: &'a Format,
    /// The transaction's number.
    pub tid: u32,
    /// Identity of the filesystem, after each descriptor's first tag.
    pub uuid: [u8; UUID],
}

impl Encoder<'_> {
    fn block(&self, part: JournalBlockType) -> Vec<u8> {
        let mut bytes = vec![0; self.format.block_size as usize];
        let mut head = JournalHeader(&mut bytes[..JournalHeader::SIZE]);
        head.set_h_magic(JOURNAL_MAGIC);
        head.set_h_blocktype(kind(part));
        head.set_h_sequence(self.tid);
        bytes
    }

    fn tail(&self) -> usize {
        if self.format.has_block_checksums() {
            JournalBlockTail::SIZE
        } else {
            0
        }
    }

    fn close(&self, bytes: &mut [u8]) {
        if self.tail() > 0 {
            let sum = crc32c(self.format.seed, bytes);
            let at = bytes.len() - JournalBlockTail::SIZE;
            JournalBlockTail(&mut bytes[at..]).set_t_checksum(sum);
        }
    }

    /// Tags that fit in a descriptor: jbd2 ends one when the next tag with a UUID might
    /// not fit.
    pub fn tags(&self) -> usize {
        let (step, tail) = (self.format.tag_bytes(), self.tail());
        let room = self.format.block_size as usize - JournalHeader::SIZE;
        // The first costs its UUID too; another goes in while step + UUID + tail are left.
        1 + room.saturating_sub(step + UUID + tail + UUID) / step
    }

    /// Blocks that a revoke block names at most.
    pub fn records(&self) -> usize {
        let room = self.format.block_size as usize - RevokeHeader::SIZE - self.tail();
        room / self.record_bytes()
    }

    fn record_bytes(&self) -> usize {
        if self.format.wide { 8 } else { 4 }
    }

    /// Revoke blocks for these blocks.
    pub fn revokes(&self, blocks: &[u64]) -> Vec<Encoded> {
        let one = |some: &[u64]| {
            let mut bytes = self.block(JournalBlockType::Revoke);
            let size = self.record_bytes();
            let used = RevokeHeader::SIZE + some.len() * size;
            RevokeHeader(&mut bytes[..RevokeHeader::SIZE]).set_r_count(used as u32);
            let slots = bytes[RevokeHeader::SIZE..used].chunks_exact_mut(size);
            for (slot, block) in slots.zip(some) {
                slot.copy_from_slice(&block.to_be_bytes()[8 - size..]);
            }
            self.close(&mut bytes);
            (Part::Revoke, bytes.into())
        };
        blocks.chunks(self.records().max(1)).map(one).collect()
    }

    /// Descriptors, each followed by the copies that it tells of.
    pub fn copies(&self, blocks: &[(BlockNr, Arc<[u8]>)]) -> Vec<Encoded> {
        let mut all = Vec::new();
        for some in blocks.chunks(self.tags().max(1)) {
            let copies: Vec<(bool, Arc<[u8]>)> = some.iter().map(|(_, b)| escaped(b)).collect();
            let mut bytes = self.block(JournalBlockType::Descriptor);
            let mut at = JournalHeader::SIZE;
            for (i, ((home, _), (escape, copy))) in some.iter().zip(&copies).enumerate() {
                let mut flags = TagFlags::empty();
                flags.set(TagFlags::ESCAPE, *escape);
                flags.set(TagFlags::SAME_UUID, i > 0);
                flags.set(TagFlags::LAST_TAG, i + 1 == some.len());
                self.put_tag(&mut bytes[at..], *home, flags, copy);
                at += self.format.tag_bytes();
                if i == 0 {
                    bytes[at..at + UUID].copy_from_slice(&self.uuid);
                    at += UUID;
                }
            }
            self.close(&mut bytes);
            all.push((Part::Descriptor, bytes.into()));
            let copies = some.iter().zip(copies);
            all.extend(copies.map(|((home, _), (_, copy))| (Part::Copy(*home), copy)));
        }
        all
    }

    fn put_tag(&self, out: &mut [u8], home: BlockNr, flags: TagFlags, copy: &[u8]) {
        let sum = || crc32c(crc32c(self.format.seed, &self.tid.to_be_bytes()), copy);
        let (low, high) = ((home.0 & 0xFFFF_FFFF) as u32, (home.0 >> 32) as u32);
        match self.format.checksum {
            JournalChecksum::V3 => {
                let mut tag = JournalTag3(&mut out[..JournalTag3::SIZE]);
                tag.set_t_blocknr(low);
                tag.set_t_flags(flags.bits());
                tag.set_t_blocknr_high(if self.format.wide { high } else { 0 });
                tag.set_t_checksum(sum());
            }
            checksum => {
                let len = self.format.tag_bytes();
                let mut tag = JournalTag(&mut out[..len]);
                tag.set_t_blocknr(low);
                tag.set_t_flags((flags.bits() & 0xFFFF) as u16);
                if checksum == JournalChecksum::V2 {
                    tag.set_t_checksum((sum() & 0xFFFF) as u16);
                }
                if self.format.wide {
                    tag.set_t_blocknr_high(high);
                }
            }
        }
    }

    /// The commit block. `before`: everything of the transaction that stands before it.
    pub fn commit(&self, before: &[Encoded], at: Timestamp) -> Encoded {
        let mut bytes = self.block(JournalBlockType::Commit);
        let mut commit = CommitBlock(&mut bytes[..CommitBlock::SIZE]);
        commit.set_h_commit_sec(at.secs.max(0).cast_unsigned());
        commit.set_h_commit_nsec(at.nanos);
        match self.format.checksum {
            JournalChecksum::None => {}
            JournalChecksum::V1 => {
                let mut sum = TransactionSum::default();
                let counted = |part: &Part| matches!(part, Part::Descriptor | Part::Copy(_));
                for (_, block) in before.iter().filter(|(part, _)| counted(part)) {
                    sum.add(block);
                }
                commit.set_h_chksum_type(1);
                commit.set_h_chksum_size(4);
                commit.set_h_chksum_0(sum.value());
            }
            JournalChecksum::V2 | JournalChecksum::V3 => {
                let sum = crc32c(self.format.seed, &bytes);
                CommitBlock(&mut bytes[..CommitBlock::SIZE]).set_h_chksum_0(sum);
            }
        }
        (Part::Commit, bytes.into())
    }
}

/// A copy as it goes into the log: one that begins like a block of the journal's own loses
/// its first four bytes, and its tag says so.
fn escaped(block: &Arc<[u8]>) -> (bool, Arc<[u8]>) {
    if !block.starts_with(&JOURNAL_MAGIC.to_be_bytes()) {
        return (false, block.clone());
    }
    let mut copy = block.to_vec();
    copy[..4].fill(0);
    (true, copy.into())
}
