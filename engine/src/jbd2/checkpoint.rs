//! Committing, and what follows until a transaction's room in the log is free again.

use super::Journal;
use super::encode::{Encoder, Part};
use super::transaction::{Committing, Frozen, Phase};
use crate::event::EventId;
use crate::ext4::journal as log_reader;
use crate::ext4::layout::Timestamp;
use crate::units::BlockNr;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A committed transaction with blocks that are not home.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Its number.
    pub tid: u32,
    /// Its first block in the log.
    pub start: u32,
    /// Blocks that are not home; each is in the latest transaction that has it.
    left: BTreeSet<u64>,
}

impl Checkpoint {
    /// A block is home, or belongs to a later transaction.
    pub(super) fn home(&mut self, at: BlockNr) {
        self.left.remove(&at.0);
    }

    /// Blocks that are not home.
    pub fn left(&self) -> impl Iterator<Item = BlockNr> {
        self.left.iter().map(|n| BlockNr(*n))
    }
}

/// A block to be written into the log.
#[derive(Clone, Debug)]
pub struct LogWrite {
    /// The journal's block.
    pub block: u32,
    /// Where that is on the medium.
    pub physical: BlockNr,
    /// What it is.
    pub part: Part,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// The call that the copied block was first changed by.
    pub cause: Option<EventId>,
}

impl Journal {
    /// Blocks of the log that the running transaction will take.
    pub fn blocks_needed(&self) -> u32 {
        let Some(t) = self.running() else { return 0 };
        let encoder = self.encoder(t.tid);
        let parts = |n: usize, per: usize| n.div_ceil(per.max(1)) as u32;
        let (copies, revokes) = (t.len() as usize, t.revoked().len());
        t.len() + parts(copies, encoder.tags()) + parts(revokes, encoder.records()) + 1
    }

    fn encoder(&self, tid: u32) -> Encoder<'_> {
        Encoder {
            format: &self.format,
            tid,
            uuid: self.sb.s_uuid().0,
        }
    }

    /// Locks the running transaction: it becomes the one that is committed. `bytes` gives
    /// a block of metadata as it is now. `None` where there is nothing to commit, or a
    /// commit is under way.
    pub fn lock(&mut self, bytes: impl Fn(BlockNr) -> Option<Arc<[u8]>>) -> Option<u32> {
        if self.committing.is_some() {
            return None;
        }
        let t = self.running.take()?;
        let freed_blocks = t.freed_blocks();
        let blocks = t.blocks().filter_map(|(home, cause)| {
            let bytes = bytes(home)?;
            Some(Frozen { home, bytes, cause })
        });
        self.committing = Some(Committing {
            tid: t.tid,
            phase: Phase::Locked,
            blocks: Arc::new(blocks.collect()),
            revoked: t.revoked().iter().copied().collect(),
            ordered: t.ordered,
            freed_blocks,
            freed: t.freed,
            start: self.ring.head,
            written: Arc::default(),
            late: Vec::new(),
        });
        Some(t.tid)
    }

    /// Goes on to the next phase.
    pub fn enter(&mut self, phase: Phase) {
        if let Some(c) = &mut self.committing {
            c.phase = phase;
        }
    }

    /// Blocks that nobody kept from being changed since they were locked: `now` gives their
    /// bytes.
    pub fn take_anew(&mut self, now: impl Fn(BlockNr) -> Option<Arc<[u8]>>) {
        let Some(c) = &mut self.committing else {
            return;
        };
        for block in Arc::make_mut(&mut c.blocks) {
            if let Some(bytes) = now(block.home) {
                block.bytes = bytes;
            }
        }
    }

    /// A copy whose checksum is computed waits to be sent.
    pub fn send_later(&mut self, write: LogWrite) {
        if let Some(c) = &mut self.committing {
            c.late.push(write);
        }
    }

    /// The copies that waited.
    pub fn take_late(&mut self) -> Vec<LogWrite> {
        let late = self.committing.as_mut().map(|c| &mut c.late);
        late.map(std::mem::take).unwrap_or_default()
    }

    /// What the commit phase writes.
    pub fn log_blocks(&mut self) -> Vec<LogWrite> {
        let Some(mut c) = self.committing.take() else {
            return Vec::new();
        };
        let encoder = self.encoder(c.tid);
        let copies: Vec<_> = c.blocks.iter().map(|b| (b.home, b.bytes.clone())).collect();
        let mut parts = encoder.revokes(&c.revoked);
        parts.extend(encoder.copies(&copies));
        c.start = self.ring.head;
        let cause = |part: &Part| match part {
            Part::Copy(home) => {
                let at = c.blocks.binary_search_by_key(home, |b| b.home).ok()?;
                c.blocks[at].cause
            }
            _ => None,
        };
        let causes: Vec<_> = parts.iter().map(|(part, _)| cause(part)).collect();
        let writes = parts
            .iter()
            .zip(causes)
            .filter_map(|((part, bytes), cause)| self.place(*part, bytes.clone(), cause));
        let writes = writes.collect();
        c.written = Arc::new(parts);
        self.committing = Some(c);
        writes
    }

    fn place(&mut self, part: Part, bytes: Arc<[u8]>, cause: Option<EventId>) -> Option<LogWrite> {
        let block = self.ring.take();
        Some(LogWrite {
            physical: self.log.physical(block)?,
            block,
            part,
            bytes,
            cause,
        })
    }

    /// The commit block.
    pub fn commit_record(&mut self, at: Timestamp) -> Option<LogWrite> {
        let c = self.committing.as_ref()?;
        let (part, bytes) = self.encoder(c.tid).commit(&c.written, at);
        self.place(part, bytes, None)
    }

    /// The commit block is safe: the transaction's blocks may go home. Gives the data
    /// blocks that may be used again.
    pub fn committed(&mut self) -> Vec<(BlockNr, u64)> {
        let Some(c) = self.committing.take() else {
            return Vec::new();
        };
        // The newest copy counts: older transactions need not bring these home any more.
        for old in &mut self.checkpoints {
            for block in c.blocks.iter() {
                old.home(block.home);
            }
            for block in &c.revoked {
                old.home(BlockNr(*block));
            }
        }
        let mut left: BTreeSet<u64> = c.blocks.iter().map(|b| b.home.0).collect();
        // What was freed since is nobody's to bring home.
        if let Some(t) = &self.running {
            left.retain(|b| !t.revoked().contains(b));
        }
        self.checkpoints.push_back(Checkpoint {
            tid: c.tid,
            start: c.start,
            left,
        });
        c.freed
    }

    /// A block was written home.
    pub fn wrote_home(&mut self, at: BlockNr) {
        for old in &mut self.checkpoints {
            old.home(at);
        }
    }

    /// Where the log's tail could be: its block and number, where it moved.
    pub fn new_tail(&self) -> Option<(u32, u32)> {
        let first = self.checkpoints.iter().find(|c| !c.left.is_empty());
        let tail = match (first, &self.committing) {
            (Some(c), _) => (c.start, c.tid),
            (None, Some(c)) => (c.start, c.tid),
            (None, None) => {
                let tid = self.running.as_ref().map_or(self.next, |t| t.tid);
                (self.ring.head, tid)
            }
        };
        (tail != self.tail).then_some(tail)
    }

    /// Moves the tail: room is free. The superblock is to be written before that room is
    /// used.
    pub fn move_tail(&mut self, tail: (u32, u32)) {
        let blocks = self.ring.between(self.tail.0, tail.0);
        self.ring.give_back(blocks);
        self.tail = tail;
        let kept = |tid: u32| tid == tail.1 || log_reader::later(tid, tail.1);
        self.checkpoints.retain(|c| kept(c.tid));
    }

    /// Whether the superblock on disk has to be told that the log is not empty any more.
    pub fn must_mark_used(&self) -> bool {
        self.marked_empty
    }

    /// The superblock with the tail as it is; `empty`: nothing is to be replayed. Where it
    /// goes, and its block's first 1024 bytes.
    pub fn superblock(&mut self, empty: bool) -> Option<(BlockNr, Arc<[u8]>)> {
        self.marked_empty = empty;
        self.sb.set_s_sequence(self.tail.1);
        self.sb.set_s_start(if empty { 0 } else { self.tail.0 });
        if empty {
            self.sb.set_s_head(self.ring.head);
        }
        if self.format.has_block_checksums() {
            self.sb
                .set_s_checksum(log_reader::superblock_checksum(&self.sb));
        }
        Some((
            self.log.physical(self.log.superblock_block())?,
            self.sb.0.as_ref().into(),
        ))
    }
}
