//! The running journal, as jbd2 keeps it: transactions from running to checkpointed.
//!
//! Plain data without a device: whoever owns a [`Journal`] asks it what to write, writes
//! it, and tells it what is done. One visible phase is one step:
//!
//! *running* collects blocks of metadata; *locked* takes no more; *flush* writes the
//! contents of files that ordered mode promises; *commit* writes revoke blocks,
//! descriptors and copies; *commit record* ends it, behind a flush of the device;
//! *committed*: a crash replays it; *checkpointed*: its blocks are home, its room in the
//! log is free.

mod checkpoint;
mod encode;
mod ring;
mod transaction;

pub use checkpoint::{Checkpoint, LogWrite};
pub use encode::{Encoded, Encoder, Part};
pub use ring::Ring;
pub use transaction::{Committing, Frozen, Phase, Running};

use crate::event::EventId;
use crate::ext4::journal::{self as log_reader, Format, Log};
use crate::ext4::layout::{JournalIncompat, JournalSuperblock};
use crate::units::{BlockNr, SimTime};
use std::collections::VecDeque;
use std::sync::Arc;

/// The journal of a mounted filesystem.
#[derive(Clone, Debug)]
pub struct Journal {
    /// Where its blocks are.
    log: Arc<Log>,
    format: Format,
    sb: JournalSuperblock<Box<[u8]>>,
    ring: Ring,
    /// Where the oldest transaction that is not home begins, and its number.
    tail: (u32, u32),
    /// The number of the next transaction.
    next: u32,
    running: Option<Running>,
    committing: Option<Committing>,
    checkpoints: VecDeque<Checkpoint>,
    /// The superblock on disk says that the log is empty.
    marked_empty: bool,
}

impl Journal {
    /// A journal with an empty log, as after a clean unmount or a recovery. `first`: the
    /// number of its first transaction.
    pub fn new(read: &log_reader::Journal, first: u32) -> Option<Self> {
        let log = read.log().clone();
        let (start, end) = log.ring();
        if start >= end {
            return None;
        }
        let ring = Ring::new(start, end, start);
        Some(Self {
            format: *log.format(),
            sb: read.superblock().clone(),
            log: Arc::new(log),
            tail: (ring.head, first),
            ring,
            next: first,
            running: None,
            committing: None,
            checkpoints: VecDeque::new(),
            marked_empty: true,
        })
    }

    /// How its blocks are written.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// Changes how blocks are written from now on: what Linux sets at a mount. `v1`: commit
    /// blocks carry a checksum of their transaction.
    pub fn set_features(&mut self, on: JournalIncompat, v1: u32) {
        let set = JournalIncompat::CSUM_V2
            | JournalIncompat::CSUM_V3
            | JournalIncompat::ASYNC_COMMIT
            | JournalIncompat::BIT64;
        let now = JournalIncompat::from_bits_retain(self.sb.s_feature_incompat());
        let bits = (now - set) | on;
        self.sb.set_s_feature_incompat(bits.bits());
        self.sb
            .set_s_feature_compat(self.sb.s_feature_compat() & !1 | v1);
        if bits.contains(JournalIncompat::CSUM_V3) {
            self.sb.set_s_checksum_type(4);
        }
        self.format = log_reader::format_of(&self.sb, self.format.block_size);
    }

    /// Blocks of metadata that a transaction may hold: a quarter of the log.
    pub fn max_transaction(&self) -> u32 {
        self.ring.len() / 4
    }

    /// The number of the next transaction to be started.
    pub fn next_tid(&self) -> u32 {
        self.next
    }

    /// The transaction that is running.
    pub fn running(&self) -> Option<&Running> {
        self.running.as_ref()
    }

    /// The transaction that is being committed.
    pub fn committing(&self) -> Option<&Committing> {
        self.committing.as_ref()
    }

    /// Committed transactions whose blocks are not all home, oldest first.
    pub fn checkpoints(&self) -> impl Iterator<Item = &Checkpoint> {
        self.checkpoints.iter()
    }

    /// The ring.
    pub fn ring(&self) -> Ring {
        self.ring
    }

    /// Where the oldest transaction that is not home begins, and its number.
    pub fn tail(&self) -> (u32, u32) {
        self.tail
    }

    /// The transaction that changes join; one is started where none is running.
    pub fn join(&mut self, now: SimTime) -> &mut Running {
        let next = &mut self.next;
        self.running.get_or_insert_with(|| {
            let tid = *next;
            *next = next.wrapping_add(1);
            Running::new(tid, now)
        })
    }

    /// A block of metadata changes: it joins the running transaction. Whether it was not
    /// part of it before.
    pub fn dirty(&mut self, at: BlockNr, cause: Option<EventId>, now: SimTime) -> bool {
        self.join(now).dirty(at, cause)
    }

    /// A block of metadata was freed: what the running transaction has of it is dropped,
    /// and earlier transactions may not be replayed onto it.
    pub fn revoke(&mut self, at: BlockNr, now: SimTime) {
        self.join(now).revoke(at);
        if !self.has_revoke() {
            let bits = self.sb.s_feature_incompat() | JournalIncompat::REVOKE.bits();
            self.sb.set_s_feature_incompat(bits);
        }
        for old in &mut self.checkpoints {
            old.home(at);
        }
    }

    fn has_revoke(&self) -> bool {
        JournalIncompat::from_bits_retain(self.sb.s_feature_incompat())
            .contains(JournalIncompat::REVOKE)
    }

    /// Whether a block is part of a transaction that is not committed yet: it may not be
    /// written home.
    pub fn holds_back(&self, at: BlockNr) -> bool {
        self.running.as_ref().is_some_and(|t| t.holds(at))
            || self.committing.as_ref().is_some_and(|t| t.holds(at))
    }

    /// Whether a number is that of a transaction which is not committed.
    pub fn is_pending(&self, tid: u32) -> bool {
        self.running.as_ref().is_some_and(|t| t.tid == tid)
            || self.committing.as_ref().is_some_and(|t| t.tid == tid)
    }
}
