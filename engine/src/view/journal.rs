//! The journal as a picture: its superblock, its transactions, what a replay would do.

use super::fields::{Structure, time_text};
use super::wording::{blocks, count, grouped};
use super::{FieldValue, escape};
use crate::ext4::Problem;
use crate::ext4::journal::{
    CopyFate, FastCommits, FcEnd, FcTag, FcValue, Journal, JournalPlace, Log, LogBlock,
    LogBlockKind, Outcome, ScanEnd, ScanStop, Transaction, TransactionState,
};
use crate::ext4::layout::JournalSuperblock;
use serde::{Deserialize, Serialize};

/// Most transactions of each list that a view holds.
pub const MOST_TRANSACTIONS: usize = 1000;
/// Most blocks of all transactions of a list.
pub const MOST_BLOCKS: usize = 20_000;
/// Most revoked blocks of a transaction.
pub const MOST_REVOKED: usize = 1000;
/// Most tags of fast commits.
pub const MOST_TAGS: usize = 2000;

/// A journal at a glance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JournalView {
    /// Where it is kept: "inode 8", "a device of its own".
    pub place: String,
    /// Every field of its superblock.
    pub fields: Vec<FieldValue>,
    /// Its features, as `dumpe2fs` prints them.
    pub features: Vec<String>,
    /// Bytes of a block.
    pub block_size: u32,
    /// Blocks in all.
    pub blocks: u32,
    /// First block of the log's ring.
    pub first: u32,
    /// One past the last block of the ring.
    pub last: u32,
    /// What a replay would do, in a sentence.
    pub state: String,
    /// What else there is to know, a sentence each.
    pub notes: Vec<String>,
    /// Where the scan for a replay ends, and why, in a sentence.
    pub scan_end: String,
    /// The transactions that a replay's scan meets.
    pub transactions: TransactionList,
    /// What older transactions left in the log.
    pub history: TransactionList,
    /// Whether the whole log was searched for older transactions.
    pub history_complete: bool,
    /// The fast-commit area, where there is one.
    pub fast_commits: Option<FastCommitView>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// A part of a list of transactions.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TransactionList {
    /// Number of the first row.
    pub from: u64,
    /// Rows in all.
    pub total: u64,
    /// The rows.
    pub rows: Vec<TransactionRow>,
}

/// A transaction.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransactionRow {
    /// Its number.
    pub sequence: u32,
    /// The journal's block where it starts.
    pub start: u32,
    /// What becomes of it.
    pub state: TransactionState,
    /// The same in a phrase.
    pub words: String,
    /// Its blocks, in the log's order.
    pub blocks: Vec<JournalBlockRow>,
    /// Its blocks in all.
    pub total_blocks: u64,
    /// Blocks that it revokes.
    pub revoked: Vec<u64>,
    /// Blocks that it revokes, in all.
    pub total_revoked: u64,
    /// When it was committed.
    pub commit_time: Option<String>,
    /// Whether the commit block's checksum holds; `None` where there is none.
    pub commit_checksum_ok: Option<bool>,
}

/// A block of the journal.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct JournalBlockRow {
    /// Its number in the journal.
    pub journal_block: u32,
    /// Its number on the medium that the journal is on.
    pub block: Option<u64>,
    /// What it is.
    pub kind: JournalBlockKind,
    /// The block that it is a copy of.
    pub home: Option<u64>,
    /// Its first four bytes stand for the journal's magic.
    pub escaped: bool,
    /// Whether its checksum holds; `None` where it has none.
    pub checksum_ok: Option<bool>,
    /// What a replay does with a copy.
    pub fate: Option<CopyFate>,
    /// The same in a phrase; empty for other blocks.
    pub words: String,
}

/// What a block of the journal is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum JournalBlockKind {
    /// Says where the copies after it belong.
    Descriptor,
    /// New contents of a block.
    Copy,
    /// Blocks that no earlier transaction may be replayed onto.
    Revoke,
    /// Ends a transaction.
    Commit,
}

/// The fast-commit area.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FastCommitView {
    /// First block of the area.
    pub first: u32,
    /// Blocks of the area.
    pub blocks: u32,
    /// What ext4 would do with it, in a sentence.
    pub words: String,
    /// Its tags, in order.
    pub tags: Vec<FastCommitRow>,
    /// Tags in all.
    pub total_tags: u64,
}

/// A tag of a fast commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FastCommitRow {
    /// The journal's block.
    pub journal_block: u32,
    /// Byte in the block.
    pub offset: u32,
    /// Bytes of its value.
    pub len: u16,
    /// What it says.
    pub words: String,
    /// ext4 would replay it.
    pub replayed: bool,
}

/// The picture of a journal, with transactions from number `from` and old ones from
/// number `history_from` on.
pub fn journal(journal: &Journal, from: u64, history_from: u64) -> JournalView {
    let log = journal.log();
    let (first, last) = log.ring();
    let raw = &journal.superblock().0;
    JournalView {
        place: place(log.place()),
        fields: Structure::big(JournalSuperblock::FIELDS, raw, 0).values(),
        features: journal.feature_names(),
        block_size: log.format().block_size,
        blocks: journal.superblock().s_maxlen(),
        first,
        last,
        state: state(journal.outcome()),
        notes: notes(journal),
        scan_end: scan_end(journal.scan_end()),
        transactions: list(log, journal.transactions(), from),
        history: list(log, &journal.history().transactions, history_from),
        history_complete: journal.history().complete,
        fast_commits: journal.fast_commits().map(fast_commits),
        problems: journal.problems().to_vec(),
    }
}

fn place(at: JournalPlace) -> String {
    match at {
        JournalPlace::Inode(ino) => format!("inode {ino}"),
        JournalPlace::Backup(ino) => {
            format!("inode {ino}, by the copy of its map in the superblock")
        }
        JournalPlace::Device => "a device of its own".into(),
        JournalPlace::Bare => "a file that holds nothing else".into(),
    }
}

/// "transaction 3", "transactions 3 to 5".
fn numbers(first: u32, last: u32) -> String {
    if first == last {
        format!("Transaction {first}")
    } else {
        format!("Transactions {first} to {last}")
    }
}

fn state(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Clean => "The journal is clean: nothing to replay".into(),
        Outcome::Nothing => "The log holds no complete transaction: nothing to replay".into(),
        Outcome::Refused(why) => format!("Linux would refuse to replay this journal. {why}"),
        Outcome::Replay {
            first,
            last,
            homes,
            revoked,
            damaged,
        } => {
            let go = if *homes == 1 { "goes" } else { "go" };
            let revoked = match revoked {
                0 => String::new(),
                1 => ", 1 copy is revoked".into(),
                n => format!(", {} copies are revoked", grouped(*n)),
            };
            let damaged = match damaged {
                0 => String::new(),
                n => format!(
                    ", {} damaged, after which Linux refuses the mount",
                    if *n == 1 {
                        "1 copy is".into()
                    } else {
                        format!("{} copies are", grouped(*n))
                    }
                ),
            };
            format!(
                "{} would be replayed: {} {go} home{revoked}{damaged}",
                numbers(*first, *last),
                blocks(*homes)
            )
        }
    }
}

fn notes(journal: &Journal) -> Vec<String> {
    let mut out = Vec::new();
    let some = matches!(journal.outcome(), Outcome::Replay { .. });
    match journal.wanted() {
        Some(false) if some => out.push(
            "The filesystem does not say needs_recovery: Linux would throw this log away instead of replaying it".into(),
        ),
        Some(true) if *journal.outcome() == Outcome::Clean => {
            out.push("The filesystem says needs_recovery, but the journal is clean".into());
        }
        _ => {}
    }
    if let Some(why) = journal.bad_commit().or_else(|| journal.too_short()) {
        out.push(format!(
            "Linux would refuse the mount after the replay. {why}"
        ));
    }
    let errno = journal.superblock().s_errno();
    if errno != 0 {
        let errno = errno.cast_signed();
        out.push(format!(
            "The journal was stopped by an error: s_errno is {errno}"
        ));
    }
    if let Some(area) = journal.fast_commits().filter(|a| a.replayed > 0) {
        let tags = count(area.replayed as u64, "tag");
        out.push(format!(
            "After the log ext4 would replay {tags} of fast commits; fslab lists them, but shows the filesystem without them"
        ));
    }
    out
}

fn scan_end(end: &ScanEnd) -> String {
    let expected = format!("where transaction {} was expected", end.sequence);
    let why = match &end.why {
        ScanStop::Clean => return "There is nothing to scan: s_start is 0".into(),
        ScanStop::NoMagic => format!("{expected}: it does not begin with the journal's magic"),
        ScanStop::Sequence { found } => format!("{expected}: it is of transaction {found}"),
        ScanStop::BlockType { found } => format!("{expected}: it is of unknown kind {found}"),
        ScanStop::CommitChecksum => {
            format!(
                "the commit block of transaction {}: the checksum does not hold",
                end.sequence
            )
        }
        ScanStop::Stale => format!(
            "the commit block of transaction {}: its checksums do not hold and it is older than the one before, so it is of an earlier use of the log",
            end.sequence
        ),
        ScanStop::Corrupt => format!(
            "the commit block of transaction {}: a descriptor or revoke block before it has a wrong checksum",
            end.sequence
        ),
        ScanStop::Unreadable(problem) => format!("{expected}. {problem}"),
        ScanStop::Endless => format!("{expected}: the log has gone around the whole journal"),
        ScanStop::TooMuch => format!("{expected}: the log revokes more blocks than fslab keeps"),
    };
    format!("The scan ends at journal block {}, {why}", end.block)
}

fn list(log: &Log, all: &[Transaction], from: u64) -> TransactionList {
    let mut room = MOST_BLOCKS;
    let start = usize::try_from(from).unwrap_or(usize::MAX).min(all.len());
    let mut rows = Vec::new();
    for t in all[start..].iter().take(MOST_TRANSACTIONS) {
        if room == 0 {
            break;
        }
        let row = row(log, t, room);
        room -= row.blocks.len();
        rows.push(row);
    }
    TransactionList {
        from: start as u64,
        total: all.len() as u64,
        rows,
    }
}

fn row(log: &Log, t: &Transaction, room: usize) -> TransactionRow {
    TransactionRow {
        sequence: t.sequence,
        start: t.start,
        state: t.state,
        words: state_words(t.state).into(),
        blocks: t
            .blocks
            .iter()
            .take(room)
            .map(|b| block_row(log, t, b))
            .collect(),
        total_blocks: t.blocks.len() as u64,
        revoked: t.revoked().take(MOST_REVOKED).collect(),
        total_revoked: t.revoked().count() as u64,
        commit_time: t.commit.map(|c| time_text(c.time)),
        commit_checksum_ok: t.commit.and_then(|c| c.checksum_ok),
    }
}

fn state_words(state: TransactionState) -> &'static str {
    match state {
        TransactionState::Replay => "to replay",
        TransactionState::Torn => "torn: no commit block, so it never happened",
        TransactionState::BadChecksum => "not replayed: a checksum does not hold",
        TransactionState::AfterEnd => "not replayed: it follows one that does not count",
        TransactionState::Refused => "complete, but Linux would refuse to replay it",
        TransactionState::History => "history",
        TransactionState::HistoryTorn => "history, its end overwritten or never written",
    }
}

fn block_row(log: &Log, t: &Transaction, b: &LogBlock) -> JournalBlockRow {
    let mut row = JournalBlockRow {
        journal_block: b.block,
        block: log.physical(b.block).map(|at| at.0),
        kind: JournalBlockKind::Commit,
        home: None,
        escaped: false,
        checksum_ok: None,
        fate: None,
        words: String::new(),
    };
    match &b.kind {
        LogBlockKind::Descriptor { checksum_ok } => {
            (row.kind, row.checksum_ok) = (JournalBlockKind::Descriptor, *checksum_ok);
        }
        LogBlockKind::Revoke { checksum_ok, .. } => {
            (row.kind, row.checksum_ok) = (JournalBlockKind::Revoke, *checksum_ok);
        }
        LogBlockKind::Commit => row.checksum_ok = t.commit.and_then(|c| c.checksum_ok),
        LogBlockKind::Copy(copy) => {
            row.kind = JournalBlockKind::Copy;
            row.home = Some(copy.home);
            row.escaped = copy.escaped;
            row.checksum_ok = copy.checksum_ok;
            row.fate = Some(copy.fate);
            row.words = fate_words(copy.fate);
        }
    }
    row
}

fn fate_words(fate: CopyFate) -> String {
    match fate {
        CopyFate::Stays => "stays in the journal".into(),
        CopyFate::Replayed => "goes home".into(),
        CopyFate::Superseded { by } => format!("overwritten by the copy of transaction {by}"),
        CopyFate::Revoked { by } => format!("revoked by transaction {by}"),
        CopyFate::BadChecksum => "left out: its checksum does not hold".into(),
        CopyFate::OutOfRange => "left out: the filesystem has no such block".into(),
        CopyFate::Unreadable => "left out: it cannot be read".into(),
    }
}

fn fast_commits(area: &FastCommits) -> FastCommitView {
    let tags = area.tags.iter().take(MOST_TAGS).enumerate();
    FastCommitView {
        first: area.first,
        blocks: area.blocks,
        words: area_words(area),
        tags: tags
            .map(|(i, tag)| tag_row(tag, i < area.replayed))
            .collect(),
        total_tags: area.tags.len() as u64,
    }
}

fn area_words(area: &FastCommits) -> String {
    let why = match area.end {
        FcEnd::NoReplay => return "Nothing here would be replayed, as the log is not".into(),
        FcEnd::Empty => return "No fast commit was written".into(),
        FcEnd::OtherTransaction { found } => {
            format!("what follows belongs to transaction {found}")
        }
        FcEnd::Checksum => "the next checksum does not hold".into(),
        FcEnd::Features => "the next asks for unknown features".into(),
        FcEnd::BadTag | FcEnd::AreaEnd => "no more follow".into(),
    };
    match area.replayed {
        0 => format!("No fast commit would be replayed: {why}"),
        n => format!("{} would be replayed; {why}", count(n as u64, "tag")),
    }
}

fn tag_row(tag: &FcTag, replayed: bool) -> FastCommitRow {
    FastCommitRow {
        journal_block: tag.block,
        offset: tag.offset,
        len: tag.len,
        words: tag_words(&tag.value),
        replayed,
    }
}

fn tag_words(value: &FcValue) -> String {
    let entry = |what: &str, parent: &u32, ino: &u32, name: &[u8]| {
        format!(
            "{what}: \"{}\" in directory inode {parent}, inode {ino}",
            escape(name)
        )
    };
    match value {
        FcValue::AddRange {
            ino,
            lblk,
            start,
            len,
            unwritten,
        } => {
            let unwritten = if *unwritten { ", unwritten" } else { "" };
            format!(
                "add range: inode {ino} gets {} from {start} on, as its block {lblk} on{unwritten}",
                blocks((*len).into())
            )
        }
        FcValue::DelRange { ino, lblk, len } => {
            format!(
                "delete range: inode {ino} loses {} from its block {lblk} on",
                blocks((*len).into())
            )
        }
        FcValue::Create { parent, ino, name } => entry("create", parent, ino, name),
        FcValue::Link { parent, ino, name } => entry("link", parent, ino, name),
        FcValue::Unlink { parent, ino, name } => entry("unlink", parent, ino, name),
        FcValue::Inode { ino, bytes } => {
            format!("inode: {} of inode {ino}", count((*bytes).into(), "byte"))
        }
        FcValue::Pad => "padding".into(),
        FcValue::Tail { tid, checksum_ok } => {
            let sum = if *checksum_ok {
                ""
            } else {
                ", its checksum does not hold"
            };
            format!("tail: ends a fast commit before transaction {tid}{sum}")
        }
        FcValue::Head { features, tid } => {
            let features = match features {
                0 => String::new(),
                n => format!(", asks for features {n:#x}"),
            };
            format!("head: fast commits before transaction {tid}{features}")
        }
    }
}
