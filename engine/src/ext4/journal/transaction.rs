//! What a transaction is made of.

use crate::ext4::layout::Timestamp;
use serde::{Deserialize, Serialize};

/// A transaction, as far as its blocks are in the log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Transaction {
    /// Its number.
    pub sequence: u32,
    /// The journal's block where it starts.
    pub start: u32,
    /// Its blocks, in the log's order.
    pub blocks: Vec<LogBlock>,
    /// Its commit block; `None` where the log breaks off before.
    pub commit: Option<CommitInfo>,
    /// What becomes of it.
    pub state: TransactionState,
}

/// A block of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogBlock {
    /// Its number in the journal.
    pub block: u32,
    /// What it is.
    pub kind: LogBlockKind,
}

/// What a block of a transaction is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum LogBlockKind {
    /// Says where the blocks after it belong.
    Descriptor {
        /// Whether its checksum holds; `None` where it has none.
        checksum_ok: Option<bool>,
    },
    /// New contents of a block of the filesystem.
    Copy(LogCopy),
    /// Blocks that no earlier transaction may be replayed onto.
    Revoke {
        /// Whether its checksum holds; `None` where it has none.
        checksum_ok: Option<bool>,
        /// The blocks.
        revoked: Vec<u64>,
        /// Whether `r_count` is one that fits the block.
        count_ok: bool,
    },
    /// Ends the transaction.
    Commit,
}

/// A copy of a block of the filesystem.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogCopy {
    /// The block it is of.
    pub home: u64,
    /// Its first four bytes stand for the journal's magic.
    pub escaped: bool,
    /// `t_flags` of its tag.
    pub flags: u16,
    /// Whether the tag's checksum holds; `None` where it has none, or the copy cannot be
    /// read.
    pub checksum_ok: Option<bool>,
    /// What a replay does with it.
    pub fate: CopyFate,
}

/// What a replay does with a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum CopyFate {
    /// Nothing: its transaction is not replayed.
    Stays,
    /// Goes home.
    Replayed,
    /// Goes home, and is overwritten there by a later transaction's copy.
    Superseded {
        /// That transaction.
        by: u32,
    },
    /// Left out: freed since.
    Revoked {
        /// The transaction that revoked it.
        by: u32,
    },
    /// Left out: its checksum does not hold.
    BadChecksum,
    /// Left out: its home is past the filesystem's end.
    OutOfRange,
    /// Left out: it cannot be read.
    Unreadable,
}

/// A commit block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CommitInfo {
    /// The journal's block.
    pub block: u32,
    /// When it was written.
    pub time: Timestamp,
    /// Whether the checksum holds; `None` where there is none.
    pub checksum_ok: Option<bool>,
    /// The checksum holds only with all bytes past the commit header taken as zeros: the
    /// first sector of the block is new, the rest is not. Linux takes it as good.
    pub cut_short: bool,
}

/// What becomes of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TransactionState {
    /// Complete, and would be replayed.
    Replay,
    /// Its commit block is missing: it never happened.
    Torn,
    /// A checksum does not hold: it does not count, and the log ends before it.
    BadChecksum,
    /// Complete, but after the log's end.
    AfterEnd,
    /// Complete, but the journal is in a state in which Linux refuses to replay it.
    Refused,
    /// Old, complete: left over in blocks that the log has not come back to.
    History,
    /// Old, without its end: overwritten, or never completed.
    HistoryTorn,
}

impl Transaction {
    /// An empty one that starts at a block.
    pub(super) fn new(sequence: u32, start: u32) -> Self {
        Self {
            sequence,
            start,
            blocks: Vec::new(),
            commit: None,
            state: TransactionState::Torn,
        }
    }

    pub(super) fn push(&mut self, block: u32, kind: LogBlockKind) {
        self.blocks.push(LogBlock { block, kind });
    }

    /// Its copies with the journal's blocks that hold them.
    pub fn copies(&self) -> impl Iterator<Item = (u32, &LogCopy)> {
        self.blocks.iter().filter_map(|b| match &b.kind {
            LogBlockKind::Copy(copy) => Some((b.block, copy)),
            _ => None,
        })
    }

    /// The blocks it revokes.
    pub fn revoked(&self) -> impl Iterator<Item = u64> {
        self.blocks
            .iter()
            .flat_map(|b| match &b.kind {
                LogBlockKind::Revoke { revoked, .. } => revoked.as_slice(),
                _ => &[],
            })
            .copied()
    }
}
