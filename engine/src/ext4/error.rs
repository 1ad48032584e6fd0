//! What can be wrong, where, and what was expected there.

use crate::disk::ReadError;
use crate::units::{BlockNr, GroupNr, InodeNr};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where in the filesystem something is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Place {
    /// The primary superblock, at byte 1024.
    Superblock,
    /// The backup superblock in a block.
    Backup(BlockNr),
    /// A group's descriptor.
    Group(GroupNr),
    /// The block bitmap of a group.
    BlockBitmap(GroupNr),
    /// The inode bitmap of a group.
    InodeBitmap(GroupNr),
    /// The inode table of a group.
    InodeTable(GroupNr),
    /// An inode.
    Inode(InodeNr),
    /// A node of an inode's extent tree or block map.
    MapNode(InodeNr, BlockNr),
    /// A directory's block: inode, block of the directory.
    DirBlock(InodeNr, u64),
    /// The attributes inside an inode.
    InodeXattrs(InodeNr),
    /// An inode's attribute block.
    XattrBlock(InodeNr, BlockNr),
    /// The journal's superblock.
    JournalSuperblock,
    /// A block of the journal, counted from the journal's start.
    JournalBlock(u32),
    /// The MMP block.
    Mmp(BlockNr),
    /// A block of the orphan file, counted from its start.
    OrphanBlock(InodeNr, u64),
    /// A block as such.
    Block(BlockNr),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Superblock => write!(f, "the superblock"),
            Self::Backup(b) => write!(f, "the backup superblock in block {b}"),
            Self::Group(g) => write!(f, "the descriptor of group {g}"),
            Self::BlockBitmap(g) => write!(f, "the block bitmap of group {g}"),
            Self::InodeBitmap(g) => write!(f, "the inode bitmap of group {g}"),
            Self::InodeTable(g) => write!(f, "the inode table of group {g}"),
            Self::Inode(i) => write!(f, "inode {i}"),
            Self::MapNode(i, b) => write!(f, "block {b} of the map of inode {i}"),
            Self::DirBlock(i, l) => write!(f, "block {l} of directory inode {i}"),
            Self::InodeXattrs(i) => write!(f, "the attributes in inode {i}"),
            Self::XattrBlock(i, b) => write!(f, "attribute block {b} of inode {i}"),
            Self::JournalSuperblock => write!(f, "the journal's superblock"),
            Self::JournalBlock(b) => write!(f, "block {b} of the journal"),
            Self::Mmp(b) => write!(f, "the MMP block {b}"),
            Self::OrphanBlock(i, l) => write!(f, "block {l} of the orphan file, inode {i}"),
            Self::Block(b) => write!(f, "block {b}"),
        }
    }
}

/// What is wrong with something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Flaw {
    /// A magic number is not what it must be.
    Magic {
        /// What stands there.
        found: u64,
        /// What must.
        expected: u64,
    },
    /// A stored checksum is not that of the bytes.
    Checksum {
        /// What is stored.
        found: u32,
        /// What the bytes give.
        expected: u32,
    },
    /// A field holds a value that it cannot have.
    Value {
        /// The field, by its documented name.
        field: String,
        /// What it holds.
        found: u64,
        /// What it may hold, in words.
        expected: String,
    },
    /// A tree or list comes back to a block or inode it has been through.
    Cycle {
        /// The block or inode that came up again.
        at: u64,
    },
    /// Entries are not in ascending order, or overlap.
    Order {
        /// First block of the file, or hash, that is out of order.
        at: u64,
        /// The least that could stand here.
        at_least: u64,
    },
    /// The bytes are not on the medium.
    Unreadable(ReadError),
    /// Something else, said in words that go on from the place's name.
    Other(String),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Magic { found, expected } => {
                write!(f, "has magic {found:#x} where {expected:#x} was expected")
            }
            Self::Checksum { found, expected } => {
                write!(
                    f,
                    "has checksum {found:#x}, but its bytes give {expected:#x}"
                )
            }
            Self::Value {
                field,
                found,
                expected,
            } => {
                write!(f, "has {field} = {found}; expected {expected}")
            }
            Self::Cycle { at } => write!(f, "leads back to {at}, which was visited before"),
            Self::Order { at, at_least } => {
                write!(f, "goes on at {at}, where at least {at_least} was expected")
            }
            Self::Unreadable(e) => write!(f, "cannot be read: {e}"),
            Self::Other(words) => f.write_str(words),
        }
    }
}

/// A flaw at a place. What could be read around it is still there.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Where.
    pub place: Place,
    /// What.
    pub flaw: Flaw,
}

impl Problem {
    /// A flaw at a place.
    pub fn new(place: Place, flaw: Flaw) -> Self {
        Self { place, flaw }
    }

    /// A field that holds what it cannot.
    pub fn value(
        place: Place,
        field: &str,
        found: impl Into<u64>,
        expected: impl Into<String>,
    ) -> Self {
        Self::new(
            place,
            Flaw::Value {
                field: field.to_string(),
                found: found.into(),
                expected: expected.into(),
            },
        )
    }

    /// Words that go on from the place's name.
    pub fn other(place: Place, words: impl Into<String>) -> Self {
        Self::new(place, Flaw::Other(words.into()))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{} {}", self.place, self.flaw);
        let mut chars = text.chars();
        if let Some(first) = chars.next() {
            write!(f, "{}{}", first.to_uppercase(), chars.as_str())?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

/// Why something asked for cannot be had.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// Damage in the way.
    #[error("{0}")]
    Damaged(#[from] Problem),
    /// A sound filesystem, but of a kind that fslab does not read.
    #[error("{0}")]
    Unsupported(String),
    /// No such file, or part of the path.
    #[error("there is no {what} in {within}")]
    NotFound {
        /// The missing name.
        what: String,
        /// The directory that was looked in.
        within: String,
    },
    /// A directory was expected.
    #[error("{0} is not a directory")]
    NotADirectory(String),
    /// More symbolic links than Linux follows.
    #[error("{0} leads through more than 40 symbolic links")]
    TooManyLinks(String),
    /// A number names nothing in this filesystem.
    #[error("{what} {number} is outside the filesystem, which has {what}s {first} to {last}")]
    NoSuch {
        /// "inode", "block" or "group".
        what: &'static str,
        /// What was asked for.
        number: u64,
        /// The first there is.
        first: u64,
        /// The last there is.
        last: u64,
    },
    /// A bound of fslab's own was met.
    #[error("{0}")]
    Limit(String),
}

impl Error {
    /// A read that failed at a place.
    pub fn unreadable(place: Place, e: ReadError) -> Self {
        Self::Damaged(Problem::new(place, Flaw::Unreadable(e)))
    }

    /// As a problem to list beside others.
    pub fn into_problem(self, place: Place) -> Problem {
        match self {
            Self::Damaged(p) => p,
            other => Problem::other(place, format!("could not be read: {other}")),
        }
    }
}
