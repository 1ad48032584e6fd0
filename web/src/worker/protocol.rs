//! What the page asks of the worker and what it is told.
//!
//! Every image that is opened has a number, the next after the one before. Answers carry
//! it, so that the page drops what is said of an image that it no longer shows.

use fslab_engine::ext4::Problem;
use fslab_engine::view::journal::JournalView;
use fslab_engine::view::{BlockView, DirView, Found, GroupRow, InodeView, MapView, Summary};
use serde::{Deserialize, Serialize};

use super::lab::{LabAnswer, LabRequest};

/// What the page asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Asks whether the engine is there.
    Ping,
    /// Opens the `File` or `Blob` that is the message's first extra, under a new number.
    /// What is open before is closed first. Compressed images are expanded, with
    /// [`Answer::Expanding`] on the way.
    Open {
        /// The image's number.
        image: u32,
        /// Its name, for words.
        name: String,
    },
    /// Adds the `File` that is the first extra as the external journal of the open image.
    OpenJournal {
        /// The image's number.
        image: u32,
    },
    /// Opens a partition of the image, by the number in its table; an image opened whole
    /// has none.
    Choose {
        /// The image's number.
        image: u32,
        /// The partition's number.
        partition: u32,
    },
    /// Looks at the image as it is, or as it would be after its journal's replay.
    Replayed {
        /// The image's number.
        image: u32,
        /// After the replay.
        on: bool,
    },
    /// Stops an expansion or a scan.
    Cancel {
        /// The image's number.
        image: u32,
    },
    /// Starts the scan of who owns each block; answers with [`Answer::Scanning`], then
    /// [`Answer::Mapped`].
    Scan {
        /// The image's number.
        image: u32,
    },
    /// Asks something of the open filesystem; the answer carries `ask`.
    Ask {
        /// The image's number.
        image: u32,
        /// Number of the question, chosen by the page.
        ask: u32,
        /// The question.
        query: Query,
    },
    /// Asks something of a run.
    Lab(LabRequest),
}

/// A question on the open filesystem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Query {
    /// Some groups, at most 4096.
    Groups {
        /// The first.
        from: u32,
        /// How many.
        count: u32,
    },
    /// A directory's names from number `from` on, at most 500.
    Dir {
        /// The directory.
        inode: u32,
        /// First row.
        from: u64,
    },
    /// An inode.
    Inode {
        /// Its number.
        nr: u32,
    },
    /// An inode's map.
    Map {
        /// Its inode.
        nr: u32,
    },
    /// A block, decoded.
    Block {
        /// Its number.
        nr: u64,
    },
    /// Older contents of a block that the journal still holds, each decoded.
    Versions {
        /// The block.
        nr: u64,
    },
    /// The bytes of a block at a place in the journal, decoded as its home block.
    Version {
        /// Home block.
        nr: u64,
        /// Block of the journal.
        journal_block: u32,
    },
    /// The journal.
    Journal,
    /// A path, inode, block or group.
    Search {
        /// What was typed.
        text: String,
    },
    /// A path for each inode, as far as the scan has found names.
    Paths {
        /// Inodes, at most 1000.
        inodes: Vec<u32>,
    },
    /// Bytes of a file; the answer's first extra is an `ArrayBuffer`.
    Bytes {
        /// Its inode.
        nr: u32,
        /// First byte.
        offset: u64,
        /// At most so many bytes, at most 4 MiB.
        len: u32,
    },
    /// Who else claims a block that is owned twice.
    Claimants {
        /// The block.
        nr: u64,
    },
}

/// What the page is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// The engine is there, of this version.
    Pong {
        /// The version.
        version: String,
    },
    /// The worker cannot go on, and has been ended.
    Failed {
        /// Why, as it goes on from "The engine stopped:".
        message: String,
    },
    /// A compressed image is being expanded.
    Expanding {
        /// The image's number.
        image: u32,
        /// Compressed bytes read.
        done: u64,
        /// Compressed bytes in all.
        of: u64,
        /// Bytes that have come out.
        produced: u64,
    },
    /// The image has partitions, and one is to be chosen.
    Partitions {
        /// The image's number.
        image: u32,
        /// What was peeled off, in words.
        layers: Vec<String>,
        /// The table's kind, as "GPT".
        table: String,
        /// The partitions.
        rows: Vec<PartitionRow>,
        /// What is odd about the table.
        notes: Vec<String>,
    },
    /// A filesystem is open.
    Opened {
        /// The image's number.
        image: u32,
        /// What was peeled off to get at it, in words.
        layers: Vec<String>,
        /// The partition, where one was chosen.
        partition: Option<u32>,
        /// Whether it is shown as after its journal's replay.
        replayed: bool,
        /// The filesystem at a glance.
        summary: Box<Summary>,
    },
    /// The image cannot be opened.
    Refused {
        /// The image's number.
        image: u32,
        /// What it is and what was expected, in a sentence.
        message: String,
        /// What to do, where something can be done.
        advice: Option<String>,
    },
    /// What was cancelled has stopped.
    Cancelled {
        /// The image's number.
        image: u32,
    },
    /// The scan is under way. With `preview`, the extras hold a map as in
    /// [`Answer::Mapped`], in which blocks in use without a known owner are "unowned".
    Scanning {
        /// The image's number.
        image: u32,
        /// Steps done.
        done: u64,
        /// Steps in all.
        of: u64,
        /// Whether a map comes with it.
        preview: bool,
    },
    /// The scan is complete. The extras are five typed arrays with an element a run: starts
    /// (`Float64Array`, blocks), lengths (`Uint32Array`, blocks), inodes (`Uint32Array`),
    /// kinds (`Uint8Array`, `Kind::index`), flags (`Uint8Array`, `Flags`).
    Mapped {
        /// The image's number.
        image: u32,
        /// What the scan found wrong.
        problems: Vec<Problem>,
        /// Problems beyond those listed.
        more_problems: u64,
    },
    /// The journal is being searched for older transactions, which a question waits for.
    Searching {
        /// The image's number.
        image: u32,
        /// Blocks of the journal looked at.
        done: u64,
        /// Blocks in all.
        of: u64,
    },
    /// The answer to a question.
    Reply {
        /// The image's number.
        image: u32,
        /// The question's number.
        ask: u32,
        /// The answer, or a sentence on why there is none.
        reply: Result<Reply, String>,
    },
    /// Tells something of a run.
    Lab(Box<LabAnswer>),
}

/// A partition of an image.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartitionRow {
    /// Its number in the table.
    pub number: u32,
    /// First byte.
    pub start: u64,
    /// Bytes.
    pub len: u64,
    /// Its type and name, in words.
    pub words: String,
    /// What its bytes are, as "ext4" or "NTFS".
    pub content: String,
    /// Whether fslab can open it.
    pub readable: bool,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reply {
    /// Groups.
    Groups(Vec<GroupRow>),
    /// A directory.
    Dir(DirView),
    /// An inode.
    Inode(Box<InodeView>),
    /// A map.
    Map(MapView),
    /// A block.
    Block(Box<BlockView>),
    /// Older contents of a block, the latest first.
    Versions(Vec<VersionRow>),
    /// The journal; `None` where there is none.
    Journal(Option<Box<JournalView>>),
    /// What a search found.
    Found(Vec<Found>),
    /// Paths, in the order asked.
    Paths(Vec<Option<String>>),
    /// Bytes: they are the message's first extra; so many of them.
    Bytes {
        /// How many.
        len: u32,
    },
    /// Who claims a block: inode (0 for the filesystem itself), kind in words.
    Claimants(Vec<(u32, String)>),
}

/// An older content of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionRow {
    /// Transaction that wrote it.
    pub transaction: u32,
    /// Block of the journal that holds it.
    pub journal_block: u32,
    /// Whether a replay would write it home.
    pub replayed: bool,
}
