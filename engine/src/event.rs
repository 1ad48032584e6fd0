//! Everything that visibly happens, typed.

mod subject;

pub use subject::Subject;

use crate::jbd2;
use crate::kernel::Errno;
use crate::units::{BlockNr, GroupNr, InodeNr, Lblk, SimTime};
use serde::{Deserialize, Serialize};

/// An event's number: they count up from 0 over a whole run.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EventId(pub u64);

/// Who acts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub enum Actor {
    /// Mounting and unmounting.
    #[default]
    Mount,
    /// A process, by its number.
    Process(u32),
    /// The thread that writes old dirty pages back.
    Flusher,
    /// The journal's commit thread.
    Jbd2,
    /// The thread that zeroes inode tables.
    LazyInit,
    /// The device.
    Device,
}

impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mount => f.write_str("mount"),
            Self::Process(pid) => write!(f, "process {pid}"),
            Self::Flusher => f.write_str("flusher"),
            Self::Jbd2 => f.write_str("jbd2"),
            Self::LazyInit => f.write_str("lazyinit"),
            Self::Device => f.write_str("device"),
        }
    }
}

/// Something that happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Its number.
    pub id: EventId,
    /// When.
    pub at: SimTime,
    /// Who did it.
    pub actor: Actor,
    /// The event that it follows from: mostly the call.
    pub cause: Option<EventId>,
    /// What it is.
    pub what: What,
}

/// Which part of the metadata a block holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Meta {
    /// The superblock.
    Superblock,
    /// Group descriptors.
    Descriptors,
    /// A block bitmap.
    BlockBitmap,
    /// An inode bitmap.
    InodeBitmap,
    /// Inodes.
    InodeTable,
    /// A node of an extent tree.
    ExtentNode,
    /// A block of an indirect map.
    Indirect,
    /// A directory's block.
    Directory,
    /// A node of a directory's htree.
    Htree,
    /// Extended attributes.
    Xattr,
    /// A link's target.
    Symlink,
    /// The orphan file.
    OrphanFile,
    /// Value of an attribute, in an inode of its own.
    XattrValue,
    /// Contents of a file that go through the journal.
    FileData,
}

/// What a request asks of the device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Io {
    /// Read.
    Read,
    /// Write.
    Write,
    /// Write, to be on the medium when it is done.
    WriteFua,
    /// No longer needed.
    Discard,
    /// Make everything safe.
    Flush,
}

/// A pass of recovery (`fs/jbd2/recovery.c`).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum RecoveryPass {
    /// Finds where the log ends.
    Scan,
    /// Gathers the blocks that later transactions freed.
    Revoke,
    /// Writes what is left home.
    Replay,
}

/// Why blocks were asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Reason {
    /// Contents of a file.
    Data,
    /// A file's map, a directory, attributes.
    Metadata,
}

/// What happened. Lengths are in blocks unless said otherwise.
#[allow(missing_docs, reason = "the fields' names say it")]
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, strum::EnumDiscriminants)]
#[strum_discriminants(
    name(Kind),
    doc = "What kind of thing happened, without its particulars.",
    derive(
        PartialOrd,
        Ord,
        Hash,
        Serialize,
        Deserialize,
        strum::EnumIter,
        strum::EnumString,
        strum::FromRepr,
        strum::IntoStaticStr
    ),
    repr(u8),
    allow(missing_docs)
)]
pub enum What {
    /// A call was made: its name and arguments as a person would write them.
    Call { text: String },
    /// It returned: a number, or an error.
    Returned { value: Result<u64, Errno> },
    /// A process began.
    ProcessStarted { name: String },
    /// A process said something.
    Printed { text: String },
    /// A process ended.
    ProcessEnded,
    /// A process cannot go on. Line and column count from 1, in its program.
    ProcessFailed {
        line: u32,
        column: u32,
        words: String,
    },
    /// A request waits in the device's queue. Sectors of 512 bytes.
    Queued {
        request: u64,
        kind: Io,
        sector: u64,
        sectors: u64,
    },
    /// The device works on a request.
    Started { request: u64 },
    /// A request is done.
    Completed { request: u64 },
    /// The device's cache wrote sectors to the medium.
    Destaged { sector: u64, sectors: u64 },
    /// Mounted.
    Mounted,
    /// Unmounted.
    Unmounted,
    /// A page got contents that the disk has not. `delayed`: it has no block yet.
    PageDirtied {
        inode: InodeNr,
        lblk: Lblk,
        delayed: bool,
    },
    /// A page's contents were written.
    PageCleaned { inode: InodeNr, lblk: Lblk },
    /// A page's contents were given up.
    PageDropped { inode: InodeNr, lblk: Lblk },
    /// Blocks were promised to pages that have none.
    Reserved { inode: InodeNr, blocks: u32 },
    /// A promise was kept or is no longer needed.
    Released { inode: InodeNr, blocks: u32 },
    /// Blocks were taken.
    Allocated {
        inode: InodeNr,
        group: GroupNr,
        start: BlockNr,
        len: u32,
        reason: Reason,
    },
    /// Blocks were given back.
    Freed {
        inode: InodeNr,
        group: GroupNr,
        start: BlockNr,
        len: u32,
    },
    /// The allocator kept blocks for an inode (0: for a group of small files).
    Preallocated {
        inode: InodeNr,
        start: BlockNr,
        len: u32,
    },
    /// It gave back what was left of them.
    PreallocationDiscarded {
        inode: InodeNr,
        start: BlockNr,
        len: u32,
    },
    /// An inode was taken.
    InodeAllocated {
        inode: InodeNr,
        group: GroupNr,
        mode: u16,
    },
    /// An inode was given back.
    InodeFreed { inode: InodeNr, group: GroupNr },
    /// An inode's table block got its newest fields.
    InodeWritten { inode: InodeNr },
    /// An extent was added.
    ExtentInserted {
        inode: InodeNr,
        lblk: Lblk,
        len: u32,
        start: BlockNr,
        unwritten: bool,
    },
    /// An extent was cut in two.
    ExtentSplit { inode: InodeNr, lblk: Lblk },
    /// An extent joined its neighbour.
    ExtentMerged {
        inode: InodeNr,
        lblk: Lblk,
        len: u32,
    },
    /// Unwritten blocks became written.
    ExtentConverted {
        inode: InodeNr,
        lblk: Lblk,
        len: u32,
    },
    /// Written blocks became unwritten: they read as zeros from now on.
    ExtentUnwritten {
        inode: InodeNr,
        lblk: Lblk,
        len: u32,
    },
    /// Zeros were written to blocks of a file, where it costs less than cutting an extent.
    ZeroedOut {
        inode: InodeNr,
        lblk: Lblk,
        block: BlockNr,
        len: u32,
    },
    /// All of a file's extents from a block on moved by so many blocks.
    ExtentsShifted { inode: InodeNr, from: Lblk, by: i64 },
    /// Blocks left a file's map.
    ExtentRemoved {
        inode: InodeNr,
        lblk: Lblk,
        len: u32,
    },
    /// An extent tree changed its depth.
    TreeDepth { inode: InodeNr, depth: u16 },
    /// A node of a map was made.
    NodeAdded { inode: InodeNr, block: BlockNr },
    /// A node of a map was given back.
    NodeRemoved { inode: InodeNr, block: BlockNr },
    /// A name was made.
    NameAdded {
        dir: InodeNr,
        name: Vec<u8>,
        inode: InodeNr,
        lblk: Lblk,
    },
    /// A name was taken away.
    NameRemoved {
        dir: InodeNr,
        name: Vec<u8>,
        inode: InodeNr,
    },
    /// A name leads to another inode than before.
    NameReplaced {
        dir: InodeNr,
        name: Vec<u8>,
        from: InodeNr,
        to: InodeNr,
    },
    /// Half of a directory's block moved to another.
    DirBlockSplit { dir: InodeNr, from: Lblk, to: Lblk },
    /// A directory's htree was made or grew: levels below its root.
    HtreeGrew { dir: InodeNr, levels: u8 },
    /// An attribute was set.
    XattrSet {
        inode: InodeNr,
        name: Vec<u8>,
        bytes: u64,
    },
    /// An inode came to share an attribute block with others that have the same.
    XattrBlockShared {
        inode: InodeNr,
        block: BlockNr,
        sharers: u32,
    },
    /// An attribute was removed.
    XattrRemoved { inode: InodeNr, name: Vec<u8> },
    /// A block of metadata changed in memory.
    BufferDirtied { block: BlockNr, kind: Meta },
    /// A block of metadata was written.
    BufferWritten { block: BlockNr },
    /// A transaction entered a phase.
    Transaction { tid: u32, phase: jbd2::Phase },
    /// A block went into the log: which of the log's, which part of its transaction, and
    /// the copied block's home.
    Logged {
        tid: u32,
        log_block: u32,
        block: BlockNr,
        part: jbd2::Part,
    },
    /// The log's tail moved: room is free.
    TailMoved { tid: u32, log_block: u32 },
    /// A transaction was found in the log at the mount.
    Recovered { tid: u32 },
    /// A block was replayed from the log.
    Replayed {
        tid: u32,
        log_block: u32,
        home: BlockNr,
    },
    /// Bytes were asked of the device, counted in blocks.
    Read { block: BlockNr, len: u64 },
    /// Contents of a file were sent to the device.
    DataWritten {
        inode: InodeNr,
        lblk: Lblk,
        block: BlockNr,
        len: u32,
    },
    /// Blocks were told to be free.
    Discarded { block: BlockNr, len: u64 },
    /// The device was told to make everything safe.
    Flushed,
    /// An inode is to be deleted or cut when nobody has it open, or at the next mount.
    OrphanAdded { inode: InodeNr },
    /// That has been done.
    OrphanRemoved { inode: InodeNr },
    /// A part of the disk is not what it should be.
    Error { words: String },
    /// Something is odd, but nothing follows from it.
    Warning { words: String },
    /// `errors=remount-ro` took effect.
    ReadOnly,
    /// Pages of flash were programmed: first physical page, first logical page of the medium,
    /// and where they were copied from, if the host did not write them.
    FlashProgrammed {
        page: u64,
        logical: u64,
        from: Option<u64>,
        len: u32,
    },
    /// A block of flash was erased: a card's segment, counted as the medium counts its own.
    FlashErased { block: u32 },
    /// A block of flash broke and is used no more.
    FlashBroke { block: u32 },
    /// A pass of recovery is over: what it found. Scan: transactions that are complete;
    /// revoke: blocks that may not be written onto; replay: blocks that went home.
    RecoveryPass { pass: RecoveryPass, found: u64 },
}

/// Where events go until someone takes them.
#[derive(Clone, Debug, Default)]
pub struct Events {
    on: bool,
    list: Vec<Event>,
    next: u64,
    /// The time that events get.
    pub now: SimTime,
    /// Who acts now.
    pub actor: Actor,
    /// What everything follows from now.
    pub cause: Option<EventId>,
}

impl Events {
    /// Whether events are kept. They are counted all the same.
    pub fn keep(&mut self, on: bool) {
        self.on = on;
    }

    /// Something happened. `what` is only made where events are kept.
    pub fn emit(&mut self, what: impl FnOnce() -> What) -> EventId {
        let id = EventId(self.next);
        self.next += 1;
        if self.on {
            self.list.push(Event {
                id,
                at: self.now,
                actor: self.actor,
                cause: self.cause,
                what: what(),
            });
        }
        id
    }

    /// The number that the next event gets.
    pub fn next_id(&self) -> EventId {
        EventId(self.next)
    }

    /// Hands over what was kept since the last time.
    pub fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.list)
    }
}
