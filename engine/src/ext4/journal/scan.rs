//! The scan pass: from the log's start on, transaction by transaction, until something
//! is not as expected.

use super::MOST_REVOKES;
use super::block::{self, TransactionSum, commit_time, part};
use super::log::Log;
use super::transaction::{
    CommitInfo, CopyFate, LogBlockKind, LogCopy, Transaction, TransactionState,
};
use crate::disk::ReadAt;
use crate::ext4::Problem;
use crate::ext4::layout::{JournalBlockType, TagFlags};
use serde::{Deserialize, Serialize};

/// Where the scan ends, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScanEnd {
    /// The journal's block that it ends at.
    pub block: u32,
    /// The transaction expected there: the first that is not replayed.
    pub sequence: u32,
    /// Why.
    pub why: ScanStop,
}

/// Why the scan ends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ScanStop {
    /// `s_start` is 0: there is nothing to scan.
    Clean,
    /// The block does not begin with the journal's magic.
    NoMagic,
    /// The block is another transaction's.
    Sequence {
        /// That transaction.
        found: u32,
    },
    /// The block begins with the magic, but is of no kind that a log holds.
    BlockType {
        /// `h_blocktype`.
        found: u32,
    },
    /// The commit block's checksum, or that of the transaction, does not hold.
    CommitChecksum,
    /// A descriptor's or revoke block's checksum does not hold, and the commit block after
    /// it is older than the one before: blocks that an earlier use of the log left.
    Stale,
    /// A descriptor's or revoke block's checksum does not hold in a transaction that is
    /// committed: Linux refuses to replay anything.
    Corrupt,
    /// A block cannot be read: Linux refuses to replay anything.
    Unreadable(Problem),
    /// The log has no end: it goes around the whole ring.
    Endless,
    /// More revoked blocks than fslab keeps.
    TooMuch,
}

impl ScanStop {
    /// Whether a replay fails for it.
    pub fn refuses(&self) -> bool {
        matches!(
            self,
            Self::Corrupt | Self::Unreadable(_) | Self::Endless | Self::TooMuch
        )
    }
}

/// What a scan found.
#[derive(Debug)]
pub struct Scanned {
    pub transactions: Vec<Transaction>,
    pub end: ScanEnd,
    /// Where the blocks that were not looked at begin.
    pub rest: u32,
}

/// Scans from block `start` on, where transaction `sequence` should begin. `all`: copies of
/// a transaction without a commit block are read and verified as well, which no replay does.
pub fn scan<R: ReadAt + ?Sized>(
    log: &Log,
    medium: &R,
    (start, sequence): (u32, u32),
    all: bool,
) -> Scanned {
    let mut scan = Scan {
        log,
        medium,
        all,
        unread: Vec::new(),
        at: start,
        next: sequence,
        left: log.ring_len(),
        revokes: 0,
        open: None,
        done: Vec::new(),
        sum: TransactionSum::default(),
        suspect: false,
        last_commit: 0,
        failed: None,
        stopped_at: None,
    };
    let why = loop {
        if let Err(why) = scan.step() {
            break why;
        }
    };
    scan.finish(why)
}

struct Scan<'a, R: ?Sized> {
    log: &'a Log,
    medium: &'a R,
    /// Everything is read, needed or not.
    all: bool,
    /// Copies of the open transaction that are not verified yet: place among its blocks.
    unread: Vec<(usize, block::Tag)>,
    at: u32,
    next: u32,
    /// Blocks of the ring not passed yet.
    left: u32,
    /// Revoked blocks seen.
    revokes: u64,
    open: Option<Transaction>,
    done: Vec<Transaction>,
    sum: TransactionSum,
    /// A checksum did not hold since the last commit: the commit block's time decides.
    suspect: bool,
    last_commit: i64,
    /// Block and number of the first transaction whose checksum failed, with
    /// asynchronous commits: what follows is looked at, but does not count.
    failed: Option<(u32, u32)>,
    /// The commit block that ended the scan.
    stopped_at: Option<u32>,
}

impl<R: ReadAt + ?Sized> Scan<'_, R> {
    /// One block that is not a copy, with the copies it announces.
    fn step(&mut self) -> Result<(), ScanStop> {
        let bytes = self
            .log
            .block(self.medium, self.at)
            .map_err(ScanStop::Unreadable)?;
        let Some((kind, sequence)) = block::head(&bytes) else {
            return Err(ScanStop::NoMagic);
        };
        if sequence != self.next {
            return Err(ScanStop::Sequence { found: sequence });
        }
        if self.left == 0 {
            return Err(ScanStop::Endless);
        }
        let Some((kind, _)) = part(&bytes) else {
            return Err(ScanStop::BlockType { found: kind });
        };
        match kind {
            JournalBlockType::Descriptor => self.descriptor(&bytes),
            JournalBlockType::Revoke => self.revoke(&bytes),
            _ => self.commit(&bytes),
        }
    }

    /// Adds the block at hand to the open transaction, and goes to the next.
    fn take(&mut self, kind: LogBlockKind) {
        let (at, next) = (self.at, self.next);
        self.open
            .get_or_insert_with(|| Transaction::new(next, at))
            .push(at, kind);
        self.at = self.log.after(at);
        self.left = self.left.saturating_sub(1);
    }

    fn descriptor(&mut self, bytes: &[u8]) -> Result<(), ScanStop> {
        let checksum_ok = self.log.format.tail_ok(bytes);
        self.suspect |= checksum_ok == Some(false);
        self.sum.add_if(&self.log.format, bytes);
        self.take(LogBlockKind::Descriptor { checksum_ok });
        for tag in self.log.format.tags(bytes) {
            if self.left == 0 {
                return Err(ScanStop::Endless);
            }
            let copy = if self.log.format.checksum == block::JournalChecksum::V1 {
                // They are a part of the transaction's sum.
                let (log, medium) = (self.log, self.medium);
                read_copy(log, medium, self.at, self.next, &tag, &mut self.sum)
            } else {
                let place = self.open.as_ref().map_or(0, |t| t.blocks.len());
                self.unread.push((place, tag));
                announced(self.log, self.medium, self.at, &tag)
            };
            self.take(LogBlockKind::Copy(copy));
        }
        Ok(())
    }

    /// Verifies the copies of the open transaction: with its commit block there, they count.
    fn verify(&mut self) {
        let unread = std::mem::take(&mut self.unread);
        let (log, medium, sequence) = (self.log, self.medium, self.next);
        let Some(open) = &mut self.open else {
            return;
        };
        for (place, tag) in unread {
            if let Some(block) = open.blocks.get_mut(place)
                && let LogBlockKind::Copy(copy) = &mut block.kind
            {
                let mut sum = TransactionSum::default();
                *copy = read_copy(log, medium, block.block, sequence, &tag, &mut sum);
            }
        }
    }

    fn revoke(&mut self, bytes: &[u8]) -> Result<(), ScanStop> {
        let checksum_ok = self.log.format.tail_ok(bytes);
        self.suspect |= checksum_ok == Some(false);
        let (revoked, count_ok) = self.log.format.revoked(bytes);
        self.revokes += revoked.len() as u64;
        if self.revokes > MOST_REVOKES {
            return Err(ScanStop::TooMuch);
        }
        self.take(LogBlockKind::Revoke {
            checksum_ok,
            revoked,
            count_ok,
        });
        Ok(())
    }

    fn commit(&mut self, bytes: &[u8]) -> Result<(), ScanStop> {
        let block = self.at;
        let info = commit_info(self.log, block, bytes, &self.sum);
        self.sum = TransactionSum::default();
        self.verify();
        self.take(LogBlockKind::Commit);
        let Some(mut transaction) = self.open.take() else {
            return Ok(());
        };
        transaction.commit = Some(info);
        // The kernel compares the seconds alone, unsigned.
        let older = (info.time.secs as u64) < self.last_commit as u64;
        let bad = info.checksum_ok == Some(false);
        let stop = match (self.suspect, bad, older) {
            (true, _, false) => Some(ScanStop::Corrupt),
            (true, _, true) | (false, true, true) => Some(ScanStop::Stale),
            (false, true, false) => {
                self.failed.get_or_insert((block, self.next));
                (!self.log.format.async_commit).then_some(ScanStop::CommitChecksum)
            }
            (false, false, _) => None,
        };
        if stop.is_some() || bad {
            transaction.state = TransactionState::BadChecksum;
        } else if self.failed.is_some() {
            transaction.state = TransactionState::AfterEnd;
        } else {
            transaction.state = TransactionState::Replay;
        }
        self.done.push(transaction);
        if let Some(why) = stop {
            self.stopped_at = Some(block);
            return Err(why);
        }
        self.last_commit = info.time.secs;
        self.next = self.next.wrapping_add(1);
        Ok(())
    }

    fn finish(mut self, why: ScanStop) -> Scanned {
        // Without a commit block, a transaction never happened.
        if self.all {
            self.verify();
        }
        self.done.extend(self.open.take());
        let end = match self.failed {
            Some((block, sequence)) if !why.refuses() => ScanEnd {
                block,
                sequence,
                why: ScanStop::CommitChecksum,
            },
            _ => ScanEnd {
                block: self.stopped_at.unwrap_or(self.at),
                sequence: self.next,
                why,
            },
        };
        Scanned {
            transactions: self.done,
            end,
            rest: self.at,
        }
    }
}

impl TransactionSum {
    /// Adds a block where the journal has checksums of transactions.
    pub(super) fn add_if(&mut self, format: &block::Format, bytes: &[u8]) {
        if format.checksum == block::JournalChecksum::V1 {
            self.add(bytes);
        }
    }
}

/// The copy that a tag announces in block `at`. It is read only where a checksum is to be
/// verified.
pub fn read_copy<R: ReadAt + ?Sized>(
    log: &Log,
    medium: &R,
    at: u32,
    sequence: u32,
    tag: &block::Tag,
    sum: &mut TransactionSum,
) -> LogCopy {
    let mut copy = announced(log, medium, at, tag);
    if copy.fate == CopyFate::Stays && log.format.checksum != block::JournalChecksum::None {
        match log.block(medium, at) {
            Ok(bytes) => {
                sum.add_if(&log.format, &bytes);
                copy.checksum_ok = log.format.copy_ok(tag, sequence, &bytes);
            }
            Err(_) => copy.fate = CopyFate::Unreadable,
        }
    }
    copy
}

/// The same, not read.
fn announced<R: ReadAt + ?Sized>(log: &Log, medium: &R, at: u32, tag: &block::Tag) -> LogCopy {
    LogCopy {
        home: tag.home,
        escaped: tag.flags.contains(TagFlags::ESCAPE),
        flags: tag.flags.bits() as u16,
        checksum_ok: None,
        fate: match log.within(medium, at) {
            true => CopyFate::Stays,
            false => CopyFate::Unreadable,
        },
    }
}

/// What a commit block says.
pub fn commit_info(log: &Log, block: u32, bytes: &[u8], sum: &TransactionSum) -> CommitInfo {
    let (checksum_ok, cut_short) = log.format.commit_ok(bytes, sum.value());
    CommitInfo {
        block,
        time: commit_time(bytes),
        checksum_ok,
        cut_short,
    }
}
