//! Where the log's blocks are, and reading them.

use super::block::Format;
use crate::disk::ReadAt;
use crate::ext4::read::Run;
use crate::ext4::{Flaw, Place, Problem};
use crate::units::{BlockNr, InodeNr};
use serde::{Deserialize, Serialize};

/// Where a journal is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JournalPlace {
    /// In an inode of the filesystem.
    Inode(InodeNr),
    /// In that inode's blocks, by the copy of its map in the superblock: the inode itself
    /// is damaged.
    Backup(InodeNr),
    /// On a device of its own, whose blocks the log counts from the device's start.
    Device,
    /// A file that holds a log and nothing else.
    Bare,
}

/// The log: a ring of blocks.
#[derive(Clone, Debug)]
pub struct Log {
    pub(super) place: JournalPlace,
    /// Where its blocks are on the medium, in filesystem blocks, in the log's order; empty
    /// where they are the medium's own.
    pub(super) runs: Vec<Run>,
    pub(super) format: Format,
    /// The block that holds the superblock.
    pub(super) sb_block: u32,
    /// First block of the ring.
    pub(super) first: u32,
    /// One past the last block of the ring.
    pub(super) last: u32,
    /// Blocks that can be read at all.
    pub(super) total: u32,
    /// Blocks of the filesystem: a home past them is none.
    pub(super) fs_blocks: u64,
}

impl Log {
    /// Where the journal is kept.
    pub fn place(&self) -> JournalPlace {
        self.place
    }

    /// How its blocks are written.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// First block of the ring, one past its last.
    pub fn ring(&self) -> (u32, u32) {
        (self.first, self.last)
    }

    /// The block that holds the superblock.
    pub fn superblock_block(&self) -> u32 {
        self.sb_block
    }

    /// Blocks of the ring.
    pub fn ring_len(&self) -> u32 {
        self.last.saturating_sub(self.first)
    }

    /// The block after another in the ring, as jbd2 counts: from one past the end on, it
    /// goes back by the ring's length.
    pub fn after(&self, block: u32) -> u32 {
        let next = block.saturating_add(1);
        if next >= self.last {
            next.saturating_sub(self.ring_len())
        } else {
            next
        }
    }

    /// The block of the medium that holds a block of the journal.
    pub fn physical(&self, block: u32) -> Option<BlockNr> {
        if block >= self.total {
            return None;
        }
        match self.place {
            JournalPlace::Device | JournalPlace::Bare => Some(BlockNr(block.into())),
            JournalPlace::Inode(_) | JournalPlace::Backup(_) => {
                let run = self.run_of(block)?;
                Some(run.start.plus(u64::from(block - run.lblk.0)))
            }
        }
    }

    fn run_of(&self, block: u32) -> Option<&Run> {
        let after = self.runs.partition_point(|r| r.lblk.0 <= block);
        let run = self.runs[..after].last()?;
        (u64::from(block) < run.end()).then_some(run)
    }

    /// The block of the journal that a block of the medium holds.
    pub fn of_physical(&self, at: BlockNr) -> Option<u32> {
        if matches!(self.place, JournalPlace::Device | JournalPlace::Bare) {
            return u32::try_from(at.0).ok().filter(|b| *b < self.total);
        }
        let run = self
            .runs
            .iter()
            .find(|r| r.start <= at && at.0 - r.start.0 < r.len.into())?;
        Some(run.lblk.0 + (at.0 - run.start.0) as u32).filter(|b| *b < self.total)
    }

    /// Byte of the medium where a block of the journal starts.
    pub fn offset(&self, block: u32) -> Option<u64> {
        self.physical(block)?
            .0
            .checked_mul(self.format.block_size.into())
    }

    /// Fills `buf`, at most a block, from the start of a block of the journal.
    pub fn read<R: ReadAt + ?Sized>(
        &self,
        medium: &R,
        block: u32,
        buf: &mut [u8],
    ) -> Result<(), Problem> {
        let place = Place::JournalBlock(block);
        let Some(offset) = self.offset(block) else {
            let words = if block >= self.total {
                format!(
                    "is past the end of the journal, which has {} blocks",
                    self.total
                )
            } else {
                "is a hole: the journal's inode maps no block there".to_string()
            };
            return Err(Problem::other(place, words));
        };
        medium
            .read_at(offset, buf)
            .map_err(|e| Problem::new(place, Flaw::Unreadable(e)))
    }

    /// The bytes of one block.
    pub fn block<R: ReadAt + ?Sized>(&self, medium: &R, block: u32) -> Result<Vec<u8>, Problem> {
        let mut buf = vec![0; self.format.block_size as usize];
        self.read(medium, block, &mut buf)?;
        Ok(buf)
    }

    /// Whether a block could be read, as far as lengths tell.
    pub(super) fn within<R: ReadAt + ?Sized>(&self, medium: &R, block: u32) -> bool {
        let size = u64::from(self.format.block_size);
        self.offset(block)
            .is_some_and(|at| at <= medium.len().saturating_sub(size))
    }

    /// How many blocks from `block` on need no look: the medium knows them to be zero, or
    /// there are none. At most up to the ring's end.
    pub(super) fn blank<R: ReadAt + ?Sized>(&self, medium: &R, block: u32) -> u32 {
        let size = u64::from(self.format.block_size);
        let left = self.last.saturating_sub(block);
        let (end, start) = match self.place {
            JournalPlace::Device | JournalPlace::Bare => (left, u64::from(block) * size),
            JournalPlace::Inode(_) | JournalPlace::Backup(_) => {
                let Some(run) = self.run_of(block) else {
                    let next = self.runs.partition_point(|r| r.lblk.0 <= block);
                    let next = self.runs.get(next).map_or(self.last, |r| r.lblk.0);
                    return next.saturating_sub(block).min(left);
                };
                let start = run.start.plus(u64::from(block - run.lblk.0)).0;
                let to_end = run.end() - u64::from(block);
                (
                    left.min(to_end.min(u32::MAX.into()) as u32),
                    start.saturating_mul(size),
                )
            }
        };
        if start > medium.len().saturating_sub(size) {
            return end;
        }
        let data = medium.next_data(start);
        (data.saturating_sub(start) / size).min(end.into()) as u32
    }
}
