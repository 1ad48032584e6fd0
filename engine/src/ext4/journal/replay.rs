//! The revoke and replay passes: what each copy of the log comes to.

use super::later;
use super::log::Log;
use super::scan::{ScanEnd, ScanStop};
use super::transaction::{CopyFate, LogBlockKind, LogCopy, Transaction, TransactionState};
use crate::ext4::{Place, Problem};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a replay would do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// The journal is clean.
    Clean,
    /// The log holds no complete transaction.
    Nothing,
    /// It would write blocks home.
    Replay {
        /// First transaction.
        first: u32,
        /// Last transaction.
        last: u32,
        /// Blocks of the filesystem that get new contents.
        homes: u64,
        /// Copies left out because their blocks were freed since.
        revoked: u64,
        /// Copies left out because they are damaged: Linux writes the rest, and then fails
        /// the mount.
        damaged: u64,
    },
    /// Linux would refuse to replay it.
    Refused(Problem),
}

/// What a home block gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Replayed {
    /// The transaction.
    pub sequence: u32,
    /// The journal's block that holds the copy.
    pub journal_block: u32,
    /// Its first four bytes stand for the journal's magic.
    pub escaped: bool,
}

/// Decides on every copy of the scanned transactions; `refusal`: why Linux would not even
/// look at the log.
pub fn replay(
    log: &Log,
    end: &ScanEnd,
    transactions: &mut [Transaction],
    refusal: Option<Problem>,
) -> (Outcome, BTreeMap<u64, Replayed>) {
    let refusal = refusal
        .or_else(|| refused_by_scan(end))
        .or_else(|| bad_count(transactions));
    if let Some(problem) = refusal {
        for t in transactions
            .iter_mut()
            .filter(|t| t.state == TransactionState::Replay)
        {
            t.state = TransactionState::Refused;
        }
        return (Outcome::Refused(problem), BTreeMap::new());
    }
    if end.why == ScanStop::Clean {
        return (Outcome::Clean, BTreeMap::new());
    }
    let revokes = revokes(transactions);
    let mut pass = Pass {
        log,
        revokes,
        homes: BTreeMap::new(),
        revoked: 0,
        damaged: 0,
    };
    for t in transactions
        .iter_mut()
        .filter(|t| t.state == TransactionState::Replay)
    {
        pass.transaction(t);
    }
    let homes = pass.homes;
    supersede(transactions, &homes);
    let mut numbers = transactions
        .iter()
        .filter(|t| t.state == TransactionState::Replay)
        .map(|t| t.sequence);
    let Some(first) = numbers.next() else {
        return (Outcome::Nothing, homes);
    };
    let outcome = Outcome::Replay {
        first,
        last: numbers.next_back().unwrap_or(first),
        homes: homes.len() as u64,
        revoked: pass.revoked,
        damaged: pass.damaged,
    };
    (outcome, homes)
}

fn refused_by_scan(end: &ScanEnd) -> Option<Problem> {
    let place = Place::JournalBlock(end.block);
    let words = match &end.why {
        ScanStop::Unreadable(problem) => return Some(problem.clone()),
        ScanStop::Corrupt => format!(
            "ends transaction {}, in which a descriptor or revoke block has a wrong checksum",
            end.sequence
        ),
        ScanStop::Endless => {
            "is where the log has gone around the whole journal without an end".into()
        }
        ScanStop::TooMuch => {
            let most = super::MOST_REVOKES;
            format!("brings the log to more than {most} revoked blocks, which is fslab's limit")
        }
        _ => return None,
    };
    Some(Problem::other(place, words))
}

/// A revoke block whose count cannot be: the revoke pass fails with it.
fn bad_count(transactions: &[Transaction]) -> Option<Problem> {
    let replayed = transactions
        .iter()
        .filter(|t| t.state == TransactionState::Replay);
    let mut blocks = replayed.flat_map(|t| &t.blocks);
    let bad = blocks.find(|b| {
        matches!(
            b.kind,
            LogBlockKind::Revoke {
                count_ok: false,
                ..
            }
        )
    })?;
    let words = "is a revoke block with an r_count that does not fit the block";
    Some(Problem::other(Place::JournalBlock(bad.block), words))
}

/// Each revoked block with the last transaction that revoked it.
fn revokes(transactions: &[Transaction]) -> BTreeMap<u64, u32> {
    let mut out = BTreeMap::new();
    for t in transactions
        .iter()
        .filter(|t| t.state == TransactionState::Replay)
    {
        for block in t.revoked() {
            let by = out.entry(block).or_insert(t.sequence);
            if later(t.sequence, *by) {
                *by = t.sequence;
            }
        }
    }
    out
}

struct Pass<'a> {
    log: &'a Log,
    revokes: BTreeMap<u64, u32>,
    homes: BTreeMap<u64, Replayed>,
    revoked: u64,
    damaged: u64,
}

impl Pass<'_> {
    fn transaction(&mut self, t: &mut Transaction) {
        for b in &mut t.blocks {
            let LogBlockKind::Copy(copy) = &mut b.kind else {
                continue;
            };
            copy.fate = self.fate(copy, t.sequence);
            match copy.fate {
                CopyFate::Replayed => {
                    let (sequence, escaped) = (t.sequence, copy.escaped);
                    let new = Replayed {
                        sequence,
                        journal_block: b.block,
                        escaped,
                    };
                    self.homes.insert(copy.home, new);
                }
                CopyFate::Revoked { .. } => self.revoked += 1,
                _ => self.damaged += 1,
            }
        }
    }

    /// In the order in which jbd2 asks: reading fails before anything else, and a revoked
    /// copy's checksum does not matter.
    fn fate(&self, copy: &LogCopy, sequence: u32) -> CopyFate {
        if copy.fate == CopyFate::Unreadable {
            return CopyFate::Unreadable;
        }
        match self.revokes.get(&copy.home) {
            Some(&by) if !later(sequence, by) => CopyFate::Revoked { by },
            _ if copy.checksum_ok == Some(false) => CopyFate::BadChecksum,
            _ if copy.home >= self.log.fs_blocks => CopyFate::OutOfRange,
            _ => CopyFate::Replayed,
        }
    }
}

/// Marks the copies that a later one of the same block overwrites.
fn supersede(transactions: &mut [Transaction], homes: &BTreeMap<u64, Replayed>) {
    for b in transactions.iter_mut().flat_map(|t| &mut t.blocks) {
        let LogBlockKind::Copy(copy) = &mut b.kind else {
            continue;
        };
        let Some(last) = homes.get(&copy.home) else {
            continue;
        };
        if copy.fate == CopyFate::Replayed && last.journal_block != b.block {
            copy.fate = CopyFate::Superseded { by: last.sequence };
        }
    }
}
