//! Reads the log that jbd2 wrote: which transactions lie in it, what a replay would do,
//! and how the filesystem would look after one. Nothing is ever written.
//!
//! The three passes of a replay are those of Linux 6 (`fs/jbd2/recovery.c`): *scan*
//! finds where the log ends, *revoke* gathers the blocks that later transactions freed,
//! *replay* writes what is left home. [`scan`] does the first, [`replay`] the others,
//! [`history`] looks at what older transactions left in the blocks between.

mod block;
mod fast_commit;
mod history;
mod log;
mod open;
mod overlay;
mod replay;
mod scan;
mod superblock;
mod transaction;
mod versions;

pub(crate) use block::TransactionSum;
pub use block::{Format, JournalChecksum};
pub use fast_commit::{FastCommits, FcEnd, FcTag, FcValue};
pub use history::{History, HistorySearch};
pub use log::{JournalPlace, Log};
pub use open::JournalHome;
pub use overlay::{Overlay, ReplayMap};
pub use replay::{Outcome, Replayed};
pub use scan::{ScanEnd, ScanStop};
pub(crate) use superblock::{checksum as superblock_checksum, format_of};
pub use transaction::{
    CommitInfo, CopyFate, LogBlock, LogBlockKind, LogCopy, Transaction, TransactionState,
};
pub use versions::Version;

use super::layout::{JournalCompat, JournalIncompat, JournalSuperblock};
use super::{Place, Problem};
use std::collections::BTreeMap;

/// Most blocks of a log that are looked at: more than mke2fs makes a journal of.
pub const MOST_BLOCKS: u32 = 10_240_000;
/// Most revoked block numbers that are kept of one log.
pub const MOST_REVOKES: u64 = 4 << 20;

/// Whether transaction `a` comes after `b`. Numbers wrap, so only their difference tells.
pub fn later(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// A journal, read: plain data. Functions that read its blocks want the medium that it
/// is on (the filesystem's own, or that of the external journal).
#[derive(Clone, Debug)]
pub struct Journal {
    sb: JournalSuperblock<Box<[u8]>>,
    log: Log,
    /// Whether the filesystem says `needs_recovery`; `None` where it is not known.
    wanted: Option<bool>,
    transactions: Vec<Transaction>,
    end: ScanEnd,
    outcome: Outcome,
    replayed: BTreeMap<u64, Replayed>,
    fast_commits: Option<FastCommits>,
    history: History,
    problems: Vec<Problem>,
}

impl Journal {
    /// The journal's superblock.
    pub fn superblock(&self) -> &JournalSuperblock<Box<[u8]>> {
        &self.sb
    }

    /// Where its blocks are, and how they are written.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Names of its features, as `dumpe2fs` prints them.
    pub fn feature_names(&self) -> Vec<String> {
        if !superblock::has_features(&self.sb) {
            return Vec::new();
        }
        let mut names = JournalCompat::from_bits_retain(self.sb.s_feature_compat()).names();
        names.extend(JournalIncompat::from_bits_retain(self.sb.s_feature_incompat()).names());
        names
    }

    /// Whether the filesystem says `needs_recovery`. Linux throws the log away, and
    /// replays nothing, where it does not. `None`: an external journal opened alone.
    pub fn wanted(&self) -> Option<bool> {
        self.wanted
    }

    /// The transactions that a replay's scan meets, in the log's order.
    pub fn transactions(&self) -> &[Transaction] {
        &self.transactions
    }

    /// Where the scan ends, and why.
    pub fn scan_end(&self) -> &ScanEnd {
        &self.end
    }

    /// The commit block whose checksum ends the log. Linux replays what is before it and then
    /// fails the mount; with asynchronous commits it is an ordinary crash.
    pub fn bad_commit(&self) -> Option<Problem> {
        let end = &self.end;
        if end.why != ScanStop::CommitChecksum || self.log.format().async_commit {
            return None;
        }
        let words = format!(
            "is the commit block of transaction {}, but the checksum in it does not hold",
            end.sequence
        );
        Some(Problem::other(Place::JournalBlock(end.block), words))
    }

    /// Why jbd2 could replay the log, but not write to it: fewer blocks than it works with.
    pub fn too_short(&self) -> Option<Problem> {
        superblock::too_short(&self.sb)
    }

    /// What a replay would do.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Every home block that a replay would write, with the copy it would get.
    pub fn replayed(&self) -> &BTreeMap<u64, Replayed> {
        &self.replayed
    }

    /// The fast-commit area, where there is one.
    pub fn fast_commits(&self) -> Option<&FastCommits> {
        self.fast_commits.as_ref()
    }

    /// What older transactions left in the log; empty until [`Journal::read_history`].
    pub fn history(&self) -> &History {
        &self.history
    }

    /// What is wrong.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}
