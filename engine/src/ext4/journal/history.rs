//! What older transactions left in the log. A ring is overwritten from one side only, so
//! most of what was ever logged since the last lap is still there, though a replay never
//! looks at it.

use super::block::{TransactionSum, part};
use super::log::Log;
use super::scan::{commit_info, read_copy};
use super::transaction::{CopyFate, LogBlockKind, Transaction, TransactionState};
use super::{Journal, MOST_REVOKES};
use crate::disk::ReadAt;
use crate::ext4::layout::{JournalBlockType, JournalHeader};
use crate::ext4::{Place, Problem};
use serde::{Deserialize, Serialize};

/// Most blocks of the log that are looked at for history: 4 GiB of 4 KiB blocks.
pub const MOST_HISTORY: u32 = 1 << 20;
/// Blocks between two reports of progress.
const REPORT: u32 = 4096;

/// Old transactions, as far as they were looked for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct History {
    /// Oldest first, by their numbers.
    pub transactions: Vec<Transaction>,
    /// Blocks of the ring that were looked at.
    pub looked_at: u32,
    /// The whole ring was looked at.
    pub complete: bool,
    /// Where the blocks begin that the scan did not pass.
    rest: u32,
}

impl History {
    pub(super) fn starting_at(rest: u32) -> Self {
        Self {
            rest,
            ..Self::default()
        }
    }
}

impl Journal {
    /// Looks through the blocks that a replay does not pass for older transactions.
    /// `progress` is told how many blocks of how many were looked at, and answers whether
    /// to go on.
    pub fn read_history<R: ReadAt + ?Sized>(
        &mut self,
        medium: &R,
        progress: &mut dyn FnMut(u32, u32) -> bool,
    ) {
        let mut search = HistorySearch::new(self, medium);
        let total = self.log.ring_len();
        while search.step(self, medium, REPORT) && progress(search.done, total) {}
        search.finish(self);
    }
}

/// The search for older transactions as a state machine: for those who have something
/// else to do in between.
#[derive(Clone, Debug)]
pub struct HistorySearch {
    live: Live,
    /// The block to look at next.
    at: u32,
    /// Blocks looked at.
    done: u32,
    got: Got,
}

impl HistorySearch {
    /// A search that has looked at nothing yet.
    pub fn new<R: ReadAt + ?Sized>(journal: &Journal, medium: &R) -> Self {
        let log = &journal.log;
        Self {
            live: Live::of(log, medium, &journal.transactions),
            at: journal.history.rest.clamp(log.first, log.last),
            done: 0,
            got: Got::default(),
        }
    }

    /// Looks at about `blocks` more; whether there are any left.
    pub fn step<R: ReadAt + ?Sized>(&mut self, journal: &Journal, medium: &R, blocks: u32) -> bool {
        let log = &journal.log;
        let (total, most) = (log.ring_len(), most_of(log));
        let until = self.done.saturating_add(blocks.max(1)).min(most);
        let mut walk = Walk {
            log,
            medium,
            live: &self.live,
            got: &mut self.got,
        };
        while self.done < until {
            if self.at >= log.last {
                self.at = log.first;
            }
            let passed = walk.at(self.at).min(total - self.done).max(1);
            self.done += passed;
            self.at = advance(log, self.at, passed);
        }
        self.done < most
    }

    /// Blocks that were looked at, and how many are to be in all.
    pub fn progress(&self, journal: &Journal) -> (u32, u32) {
        (self.done, most_of(&journal.log))
    }

    /// Hands over what was found.
    pub fn finish(self, journal: &mut Journal) {
        let (total, most) = (journal.log.ring_len(), most_of(&journal.log));
        let mut transactions = self.got.finish();
        let newest = journal.sb.s_sequence();
        transactions.sort_by_key(|t| (t.sequence.wrapping_sub(newest).cast_signed(), t.start));
        journal.history.transactions = transactions;
        journal.history.looked_at = self.done;
        journal.history.complete = self.done >= total;
        if self.done == most && most < total {
            let words = format!(
                "ends the search for old transactions: fslab looks at {most} of the {total} blocks"
            );
            journal
                .problems
                .push(Problem::other(Place::JournalBlock(self.at), words));
        }
    }
}

/// Blocks of the ring that are looked at.
fn most_of(log: &Log) -> u32 {
    log.ring_len().min(MOST_HISTORY)
}

/// The block `n` further on in the ring.
fn advance(log: &Log, at: u32, n: u32) -> u32 {
    let ring = u64::from(log.ring_len().max(1));
    let from_first = u64::from(at.saturating_sub(log.first)) + u64::from(n);
    log.first + (from_first % ring) as u32
}

/// The blocks that the scan gave to transactions, a bit each.
#[derive(Clone, Debug)]
struct Live(Vec<u64>);

impl Live {
    fn of<R: ReadAt + ?Sized>(log: &Log, medium: &R, transactions: &[Transaction]) -> Self {
        let mut bits = vec![0; log.total as usize / 64 + 1];
        for t in transactions {
            for b in &t.blocks {
                // What a torn transaction announces may never have been written: there,
                // a block that begins a part of a transaction is an older one's.
                let is_copy = matches!(b.kind, LogBlockKind::Copy(_));
                let torn = t.state == TransactionState::Torn;
                if !(torn && is_copy && part_at(log, medium, b.block).is_some()) {
                    bits[b.block as usize / 64] |= 1u64 << (b.block % 64);
                }
            }
        }
        Self(bits)
    }

    fn holds(&self, block: u32) -> bool {
        self.0
            .get(block as usize / 64)
            .is_some_and(|w| w & (1 << (block % 64)) != 0)
    }
}

/// Type and sequence of a block that begins a part of a transaction.
fn part_at<R: ReadAt + ?Sized>(
    log: &Log,
    medium: &R,
    block: u32,
) -> Option<(JournalBlockType, u32)> {
    let mut head = [0; JournalHeader::SIZE];
    log.read(medium, block, &mut head).ok()?;
    part(&head)
}

struct Walk<'a, R: ?Sized> {
    log: &'a Log,
    medium: &'a R,
    live: &'a Live,
    got: &'a mut Got,
}

/// What a walk has found.
#[derive(Clone, Debug, Default)]
struct Got {
    /// The transaction being put together, and the block where it would go on.
    open: Option<(Transaction, u32)>,
    /// Those that are done, with the block where an unfinished one would go on.
    found: Vec<(Transaction, u32)>,
    sum: TransactionSum,
    revokes: u64,
}

impl<R: ReadAt + ?Sized> Walk<'_, R> {
    /// Looks at a block; how many of the ring it tells about.
    fn at(&mut self, block: u32) -> u32 {
        if self.live.holds(block) {
            return 1;
        }
        let blank = self.log.blank(self.medium, block);
        if blank > 0 {
            return blank;
        }
        let Some((kind, sequence)) = part_at(self.log, self.medium, block) else {
            return 1;
        };
        let Ok(bytes) = self.log.block(self.medium, block) else {
            return 1;
        };
        self.follow(sequence, block);
        match kind {
            JournalBlockType::Descriptor => self.descriptor(block, sequence, &bytes),
            JournalBlockType::Commit => {
                self.commit(block, &bytes);
                1
            }
            _ => {
                self.revoke(block, &bytes);
                1
            }
        }
    }

    /// Makes the transaction that the block belongs to the open one.
    fn follow(&mut self, sequence: u32, block: u32) {
        let goes_on = |(t, next): &(Transaction, u32)| t.sequence == sequence && *next == block;
        if self.got.open.as_ref().is_some_and(goes_on) {
            return;
        }
        self.got.close();
        self.got.open = Some((Transaction::new(sequence, block), block));
    }

    fn push(&mut self, block: u32, kind: LogBlockKind) {
        if let Some((t, next)) = &mut self.got.open {
            t.push(block, kind);
            *next = self.log.after(block);
        }
    }

    fn descriptor(&mut self, block: u32, sequence: u32, bytes: &[u8]) -> u32 {
        let checksum_ok = self.log.format.tail_ok(bytes);
        self.got.sum.add_if(&self.log.format, bytes);
        self.push(block, LogBlockKind::Descriptor { checksum_ok });
        let (mut at, mut passed) = (self.log.after(block), 1);
        for tag in self.log.format.tags(bytes) {
            // Overwritten since, or never written: the rest of the copies is gone.
            let gone =
                self.live.holds(at) || at == block || part_at(self.log, self.medium, at).is_some();
            if gone || passed >= self.log.ring_len() {
                break;
            }
            let mut copy = read_copy(self.log, self.medium, at, sequence, &tag, &mut self.got.sum);
            copy.fate = CopyFate::Stays;
            self.push(at, LogBlockKind::Copy(copy));
            at = self.log.after(at);
            passed += 1;
        }
        passed
    }

    fn revoke(&mut self, block: u32, bytes: &[u8]) {
        let checksum_ok = self.log.format.tail_ok(bytes);
        let (mut revoked, count_ok) = self.log.format.revoked(bytes);
        self.got.revokes += revoked.len() as u64;
        if self.got.revokes > MOST_REVOKES {
            revoked = Vec::new();
        }
        self.push(
            block,
            LogBlockKind::Revoke {
                checksum_ok,
                revoked,
                count_ok,
            },
        );
    }

    fn commit(&mut self, block: u32, bytes: &[u8]) {
        let info = commit_info(self.log, block, bytes, &self.got.sum);
        self.push(block, LogBlockKind::Commit);
        if let Some((t, _)) = &mut self.got.open {
            t.commit = Some(info);
        }
        self.got.close();
    }
}

impl Got {
    fn close(&mut self) {
        self.sum = TransactionSum::default();
        let Some((mut t, next)) = self.open.take() else {
            return;
        };
        t.state = state_of(&t);
        self.found.push((t, next));
    }

    /// All that was found; a transaction that goes over the ring's end is joined with the
    /// part of it that the walk met first.
    fn finish(mut self) -> Vec<Transaction> {
        self.close();
        if let Some((last, next)) = self.found.pop() {
            let start =
                |(t, _): &(Transaction, u32)| t.start == next && t.sequence == last.sequence;
            match self.found.iter().position(start) {
                Some(i) if last.commit.is_none() => {
                    let (rest, end) = self.found.remove(i);
                    let mut whole = last;
                    whole.blocks.extend(rest.blocks);
                    whole.commit = rest.commit;
                    whole.state = state_of(&whole);
                    self.found.push((whole, end));
                }
                _ => self.found.push((last, next)),
            }
        }
        self.found.into_iter().map(|(t, _)| t).collect()
    }
}

fn state_of(t: &Transaction) -> TransactionState {
    if t.commit.is_some() {
        TransactionState::History
    } else {
        TransactionState::HistoryTorn
    }
}
