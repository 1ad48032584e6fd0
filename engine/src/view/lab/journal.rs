//! The running journal: its ring and its transactions.

use crate::event::EventId;
use crate::jbd2::{self, Phase, Ring};
use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// Most blocks of a transaction that are listed.
const BLOCKS: usize = 512;

/// Where a transaction is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Stage {
    /// Committed; its blocks are not all home.
    Checkpointing,
    /// Committed, and all of its blocks are home; its room is not free yet.
    Home,
    /// Being committed.
    Committing(Phase),
    /// Collecting changes.
    Running,
}

/// A transaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransactionView {
    /// Its number.
    pub tid: u32,
    /// Where it is.
    pub stage: Stage,
    /// Its first block in the log and how many, as far as they are written.
    pub log: Option<(u32, u32)>,
    /// Blocks that it holds (not home yet, where it is committed): home, and the call that
    /// first changed it.
    pub blocks: Vec<(u64, Option<u64>)>,
    /// Blocks in all.
    pub count: u32,
    /// Blocks of the log that it will take.
    pub needs: u32,
    /// Files whose contents have to be written first.
    pub ordered: Vec<u32>,
    /// When it was started, ns; only the running one's is known.
    pub started_ns: Option<u64>,
}

/// The journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LogView {
    /// First block of the ring.
    pub first: u32,
    /// One past the last.
    pub last: u32,
    /// Where the next block goes.
    pub head: u32,
    /// Where the oldest block that is needed is.
    pub tail: u32,
    /// Free blocks.
    pub free: u32,
    /// Transactions, oldest first.
    pub transactions: Vec<TransactionView>,
    /// When the running transaction is committed at the latest, ns.
    pub commit_ns: Option<u64>,
}

pub(super) fn log(machine: &Machine) -> Option<LogView> {
    let mount = machine.mount();
    let journal = mount.vol.journal.as_ref()?;
    let ring = journal.ring();
    let mut transactions = committed(journal, ring);
    transactions.extend(committing(journal, ring));
    transactions.extend(running(journal));
    Some(LogView {
        first: ring.first,
        last: ring.last,
        head: ring.head,
        tail: journal.tail().0,
        free: ring.free,
        transactions,
        commit_ns: journal.running().and(mount.commit_due()).map(|t| t.0),
    })
}

fn cause(event: Option<EventId>) -> Option<u64> {
    event.map(|e| e.0)
}

fn committed(journal: &jbd2::Journal, ring: Ring) -> Vec<TransactionView> {
    let all: Vec<_> = journal.checkpoints().collect();
    let end = journal.committing().map_or(ring.head, |c| c.start());
    let ends = all.iter().skip(1).map(|c| c.start).chain([end]);
    all.iter()
        .zip(ends)
        .map(|(c, end)| {
            let count = c.left().count() as u32;
            TransactionView {
                tid: c.tid,
                stage: if count == 0 {
                    Stage::Home
                } else {
                    Stage::Checkpointing
                },
                log: Some((c.start, ring.between(c.start, end))),
                blocks: c.left().take(BLOCKS).map(|b| (b.0, None)).collect(),
                count,
                needs: 0,
                ordered: Vec::new(),
                started_ns: None,
            }
        })
        .collect()
}

fn committing(journal: &jbd2::Journal, ring: Ring) -> Option<TransactionView> {
    let c = journal.committing()?;
    let blocks = c.blocks().iter().take(BLOCKS);
    Some(TransactionView {
        tid: c.tid,
        stage: Stage::Committing(c.phase),
        log: Some((c.start(), ring.between(c.start(), ring.head))),
        blocks: blocks.map(|b| (b.home.0, cause(b.cause))).collect(),
        count: c.blocks().len() as u32,
        needs: 0,
        ordered: c.ordered.iter().take(BLOCKS).map(|i| i.0).collect(),
        started_ns: None,
    })
}

fn running(journal: &jbd2::Journal) -> Option<TransactionView> {
    let t = journal.running()?;
    let blocks = t.blocks().take(BLOCKS);
    Some(TransactionView {
        tid: t.tid,
        stage: Stage::Running,
        log: None,
        blocks: blocks.map(|(b, c)| (b.0, cause(c))).collect(),
        count: t.len(),
        needs: journal.blocks_needed(),
        ordered: t.ordered.iter().take(BLOCKS).map(|i| i.0).collect(),
        started_ns: Some(t.started.0),
    })
}
