//! The image: where it comes from and how far it has been opened.

use std::rc::Rc;

use fslab_engine::view::Summary;

use crate::worker::protocol::PartitionRow;

/// Where an image comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A sample, by its name in the address.
    Sample(String),
    /// A file of the visitor's.
    File {
        /// Its name.
        name: String,
        /// Bytes; `None` if it is only known by its name, from the address.
        size: Option<u64>,
    },
    /// The disk of a run of the Lab at an instant.
    Run,
}

impl Source {
    /// The name for words.
    pub fn name(&self) -> &str {
        match self {
            Self::Sample(name) | Self::File { name, .. } => name,
            Self::Run => "the run’s disk",
        }
    }

    /// Whether both stand for the same in an address.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Sample(a), Self::Sample(b)) => a == b,
            (Self::File { name: a, .. }, Self::File { name: b, .. }) => a == b,
            (Self::Run, Self::Run) => true,
            _ => false,
        }
    }
}

/// An image and how far it has been opened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ImageState {
    /// Its number; answers with another are of images that are no longer shown.
    pub nr: u32,
    /// The number of the first of those that are one disk at several instants: what is
    /// unfolded stays so between them.
    pub family: u32,
    /// Where it comes from.
    pub source: Option<Source>,
    /// How far it is.
    pub stage: Stage,
    /// The partition that is open, or is to be chosen.
    pub partition: Option<u32>,
    /// Whether it is shown, or is to be shown, as after its journal's replay.
    pub replayed: bool,
}

/// How far an image has been opened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Stage {
    /// There is none.
    #[default]
    Nothing,
    /// The address names a file of the visitor's, which a page may not open by itself.
    Wanted,
    /// A sample is being fetched, or the file's start read.
    Opening,
    /// It is compressed, and is being expanded.
    Expanding {
        /// Compressed bytes read.
        done: u64,
        /// Compressed bytes in all.
        of: u64,
        /// Bytes that have come out.
        produced: u64,
    },
    /// A partition is to be chosen.
    Partitions(Rc<Partitions>),
    /// It cannot be opened.
    Refused {
        /// What it is, in a sentence.
        message: String,
        /// What to do, where something can be done.
        advice: Option<String>,
    },
    /// The visitor stopped the expansion.
    Cancelled,
    /// A filesystem is open.
    Open(Rc<Opened>),
}

/// A partition table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partitions {
    /// What was peeled off, in words.
    pub layers: Vec<String>,
    /// The table's kind.
    pub table: String,
    /// The partitions.
    pub rows: Vec<PartitionRow>,
    /// What is odd about the table.
    pub notes: Vec<String>,
}

/// An open filesystem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Opened {
    /// What was peeled off to get at it, in words.
    pub layers: Vec<String>,
    /// The partition, where one was chosen.
    pub partition: Option<u32>,
    /// Whether it is shown as after its journal's replay.
    pub replayed: bool,
    /// The filesystem at a glance.
    pub summary: Summary,
}

impl Opened {
    /// The group that holds a block.
    pub fn group_of(&self, block: u64) -> Option<u32> {
        let s = &self.summary;
        if block >= s.blocks {
            return None;
        }
        let above = block.checked_sub(s.first_data_block)?;
        above
            .checked_div(u64::from(s.blocks_per_group))
            .and_then(|group| u32::try_from(group).ok())
    }

    /// Where the primary superblock is: its block, and its first byte there; `None` if a
    /// backup is in use, as the primary then is not to be trusted.
    pub fn superblock_at(&self) -> Option<(u64, u32)> {
        // Fields are counted from the image's start for the primary, which begins at 1024.
        let primary = self.summary.fields.first()?.offset == 1024;
        let size = self.summary.block_size.max(1);
        primary.then(|| (u64::from(1024 / size), 1024 % size))
    }
}
