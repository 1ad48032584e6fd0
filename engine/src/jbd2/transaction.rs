//! A transaction on its way to the log.

use super::checkpoint::LogWrite;
use super::encode::Encoded;
use crate::event::EventId;
use crate::units::{BlockNr, InodeNr, SimTime};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The transaction that changes join.
#[derive(Clone, Debug)]
pub struct Running {
    /// Its number.
    pub tid: u32,
    /// When it was started.
    pub started: SimTime,
    /// Blocks of metadata, with the call that first changed each.
    blocks: imbl::OrdMap<u64, Option<EventId>>,
    /// Blocks that earlier transactions may not be replayed onto.
    revoked: BTreeSet<u64>,
    /// Inodes whose contents have to be on disk first (ordered mode).
    pub ordered: BTreeSet<InodeNr>,
    /// Blocks freed in it (first, count): not used again before it is committed.
    pub(super) freed: Vec<(BlockNr, u64)>,
    freed_blocks: u64,
}

impl Running {
    pub(super) fn new(tid: u32, started: SimTime) -> Self {
        Self {
            tid,
            started,
            blocks: imbl::OrdMap::new(),
            revoked: BTreeSet::new(),
            ordered: BTreeSet::new(),
            freed: Vec::new(),
            freed_blocks: 0,
        }
    }

    /// Blocks were freed: not used again before it is committed.
    pub fn free(&mut self, start: BlockNr, len: u64) {
        self.freed.push((start, len));
        self.freed_blocks = self.freed_blocks.saturating_add(len);
    }

    /// How many blocks were freed in it.
    pub fn freed_blocks(&self) -> u64 {
        self.freed_blocks
    }

    pub(super) fn dirty(&mut self, at: BlockNr, cause: Option<EventId>) -> bool {
        if self.blocks.contains_key(&at.0) {
            return false;
        }
        // What is written anew may be replayed again.
        self.revoked.remove(&at.0);
        self.blocks.insert(at.0, cause);
        true
    }

    pub(super) fn revoke(&mut self, at: BlockNr) {
        self.blocks.remove(&at.0);
        self.revoked.insert(at.0);
    }

    /// Whether a block is part of it.
    pub fn holds(&self, at: BlockNr) -> bool {
        self.blocks.contains_key(&at.0)
    }

    /// Blocks of metadata, with the call that first changed each.
    pub fn blocks(&self) -> impl Iterator<Item = (BlockNr, Option<EventId>)> {
        self.blocks.iter().map(|(b, c)| (BlockNr(*b), *c))
    }

    /// How many blocks of metadata.
    pub fn len(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// Whether it has changed nothing.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.revoked.is_empty()
    }

    /// Blocks that earlier transactions may not be replayed onto.
    pub fn revoked(&self) -> &BTreeSet<u64> {
        &self.revoked
    }
}

/// Where a commit is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Phase {
    /// It takes no more changes.
    Locked,
    /// Contents of files go first.
    Flush,
    /// Revoke blocks, descriptors and copies.
    Commit,
    /// The commit block.
    CommitRecord,
    /// A crash replays it.
    Committed,
}

/// The transaction that is being committed.
#[derive(Clone, Debug)]
pub struct Committing {
    /// Its number.
    pub tid: u32,
    /// Where it is.
    pub phase: Phase,
    /// Blocks of metadata as they were when it was locked, with the call that first changed
    /// each.
    pub(super) blocks: Arc<Vec<Frozen>>,
    pub(super) revoked: Vec<u64>,
    /// Inodes whose contents have to be on disk first.
    pub ordered: BTreeSet<InodeNr>,
    /// Blocks that may be used again once it is committed.
    pub(super) freed: Vec<(BlockNr, u64)>,
    pub(super) freed_blocks: u64,
    /// Its first block in the log.
    pub(super) start: u32,
    /// What was written of it, for the commit block's checksum.
    pub(super) written: Arc<Vec<Encoded>>,
    /// Copies whose checksums are computed, but that are not sent yet.
    pub(super) late: Vec<LogWrite>,
}

/// A block of metadata at the moment its transaction was locked.
#[derive(Clone, Debug)]
pub struct Frozen {
    /// Its home.
    pub home: BlockNr,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// The call that first changed it.
    pub cause: Option<EventId>,
}

impl Committing {
    /// Whether a block is part of it.
    pub fn holds(&self, at: BlockNr) -> bool {
        self.blocks.binary_search_by_key(&at, |b| b.home).is_ok()
    }

    /// How many blocks were freed in it.
    pub fn freed_blocks(&self) -> u64 {
        self.freed_blocks
    }

    /// Its first block in the log.
    pub fn start(&self) -> u32 {
        self.start
    }

    /// Its blocks, by their homes.
    pub fn blocks(&self) -> &[Frozen] {
        &self.blocks
    }
}
