//! The fast-commit area: what ext4 logged between two transactions without a copy of any
//! block. It is listed, never replayed here: its replay is ext4's own, by inode and name.

use super::log::Log;
use super::replay::Outcome;
use crate::disk::ReadAt;
use crate::ext4::checksum::crc32c;
use crate::ext4::layout::{
    ExtentLeaf, FcAddRange, FcDelRange, FcDentry, FcHead, FcInode, FcTagHead, FcTail,
};
use serde::{Deserialize, Serialize};

/// Most tags that are kept.
const MOST_TAGS: usize = 65_536;
/// Longest name of a directory entry.
const NAME_MAX: usize = 255;
/// Least bytes of an inode.
const INODE_MIN: usize = 128;

/// The fast-commit area.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FastCommits {
    /// First block of the area.
    pub first: u32,
    /// Blocks of the area.
    pub blocks: u32,
    /// Its tags, in order; those of earlier transactions stand after the valid ones.
    pub tags: Vec<FcTag>,
    /// Tags, from the first on, that ext4 would replay after the log.
    pub replayed: usize,
    /// Why ext4 would go no further.
    pub end: FcEnd,
}

/// Why ext4 goes no further in the fast-commit area.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FcEnd {
    /// There is nothing to replay: the log is clean, or refused.
    NoReplay,
    /// The area does not begin with a head: no fast commit was written.
    Empty,
    /// A fast commit belongs to another transaction than the one after the log's last.
    OtherTransaction {
        /// That transaction.
        found: u32,
    },
    /// The checksum of a fast commit does not hold.
    Checksum,
    /// A head asks for features that are not known.
    Features,
    /// A tag is of no known kind, or has an impossible length.
    BadTag,
    /// The area ends.
    AreaEnd,
}

/// A tag of a fast commit.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FcTag {
    /// The journal's block.
    pub block: u32,
    /// Byte in the block.
    pub offset: u32,
    /// Bytes of the value.
    pub len: u16,
    /// What it says.
    pub value: FcValue,
}

/// What a tag of a fast commit says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FcValue {
    /// A file was given blocks.
    AddRange {
        /// Inode.
        ino: u32,
        /// First block of the file.
        lblk: u32,
        /// First block on disk.
        start: u64,
        /// Blocks.
        len: u32,
        /// They read as zeros.
        unwritten: bool,
    },
    /// Blocks were taken from a file.
    DelRange {
        /// Inode.
        ino: u32,
        /// First block of the file.
        lblk: u32,
        /// Blocks.
        len: u32,
    },
    /// A new inode got a name.
    Create {
        /// Directory.
        parent: u32,
        /// Inode.
        ino: u32,
        /// Name.
        name: Vec<u8>,
    },
    /// An inode got another name.
    Link {
        /// Directory.
        parent: u32,
        /// Inode.
        ino: u32,
        /// Name.
        name: Vec<u8>,
    },
    /// A name was removed.
    Unlink {
        /// Directory.
        parent: u32,
        /// Inode.
        ino: u32,
        /// Name.
        name: Vec<u8>,
    },
    /// An inode changed.
    Inode {
        /// Inode.
        ino: u32,
        /// Bytes of the inode that are here.
        bytes: u32,
    },
    /// Nothing, to the end of the block.
    Pad,
    /// Ends a fast commit.
    Tail {
        /// Transaction that it follows.
        tid: u32,
        /// Whether its checksum holds.
        checksum_ok: bool,
    },
    /// Begins the first fast commit after a transaction.
    Head {
        /// Features that a replay must know.
        features: u32,
        /// Transaction that it follows.
        tid: u32,
    },
}

/// Reads the area (its first block and length). `expected`: the transaction after the
/// last that is replayed.
pub fn read<R: ReadAt + ?Sized>(
    log: &Log,
    medium: &R,
    (start, blocks): (u32, u32),
    outcome: &Outcome,
    expected: u32,
) -> FastCommits {
    let replays = matches!(outcome, Outcome::Nothing | Outcome::Replay { .. });
    // jbd2 leaves the area's first block unused: its `j_fc_first` is one past the log.
    let first = start + 1;
    let mut area = FastCommits {
        first,
        blocks: blocks - 1,
        tags: Vec::new(),
        replayed: 0,
        end: if replays {
            FcEnd::AreaEnd
        } else {
            FcEnd::NoReplay
        },
    };
    let mut reader = Reader {
        area: &mut area,
        expected,
        going: replays,
        crc: 0,
        listed: 0,
    };
    for block in first..log.total {
        let Ok(bytes) = log.block(medium, block) else {
            reader.stop(FcEnd::BadTag);
            break;
        };
        if !reader.block(block, &bytes) {
            break;
        }
    }
    area
}

struct Reader<'a> {
    area: &'a mut FastCommits,
    expected: u32,
    /// The replay has not come to its end yet.
    going: bool,
    crc: u32,
    /// Tags of the area so far, that of the replay's end included.
    listed: usize,
}

impl Reader<'_> {
    fn stop(&mut self, why: FcEnd) {
        if self.going {
            self.going = false;
            self.area.end = why;
        }
    }

    /// The tags of a block. `false`: there are no more after it.
    fn block(&mut self, block: u32, bytes: &[u8]) -> bool {
        let first_block = block == self.area.first;
        let mut at = 0;
        while at + FcTagHead::SIZE <= bytes.len() {
            let head = FcTagHead(&bytes[at..]);
            let len = head.fc_len();
            let from = at + FcTagHead::SIZE;
            let value = bytes
                .get(from..from + usize::from(len))
                .and_then(|raw| parse(head.fc_tag(), raw));
            if first_block && at == 0 && !matches!(value, Some(FcValue::Head { .. })) {
                self.stop(FcEnd::Empty);
            }
            let Some(mut value) = value else {
                self.stop(FcEnd::BadTag);
                return at > 0;
            };
            if self.area.tags.len() >= MOST_TAGS {
                self.stop(FcEnd::AreaEnd);
                return false;
            }
            self.listed += 1;
            let end = from + usize::from(len);
            self.count(&mut value, &bytes[at..end]);
            self.area.tags.push(FcTag {
                block,
                offset: at as u32,
                len,
                value,
            });
            at = end;
        }
        true
    }

    /// Brings the checksum forward, and the replay.
    fn count(&mut self, value: &mut FcValue, raw: &[u8]) {
        match value {
            FcValue::Tail { tid, checksum_ok } => {
                let covered = raw.get(..FcTagHead::SIZE + 4).unwrap_or(raw);
                let sum = crc32c(self.crc, covered);
                self.crc = 0;
                let found = raw.get(FcTagHead::SIZE..).map_or(0, |v| FcTail(v).fc_crc());
                *checksum_ok = found == sum;
                let (tid, ok) = (*tid, *checksum_ok);
                if !ok {
                    self.stop(FcEnd::Checksum);
                } else if tid != self.expected {
                    self.stop(FcEnd::OtherTransaction { found: tid });
                } else if self.going {
                    self.area.replayed = self.listed;
                }
            }
            FcValue::Head { features, tid } => {
                if *features != 0 {
                    self.stop(FcEnd::Features);
                } else if *tid != self.expected {
                    self.stop(FcEnd::OtherTransaction { found: *tid });
                }
                // What stands before a head is no part of its fast commit.
                self.crc = crc32c(0, raw);
            }
            _ => self.crc = crc32c(self.crc, raw),
        }
    }
}

/// A tag's value; `None` for a kind or length that cannot be.
fn parse(tag: u16, raw: &[u8]) -> Option<FcValue> {
    let exactly = |n: usize| (raw.len() == n).then_some(());
    Some(match tag {
        1 => {
            exactly(FcAddRange::SIZE)?;
            let range = FcAddRange(raw);
            let extent = range.fc_ex().0;
            let extent = ExtentLeaf(&extent[..]);
            FcValue::AddRange {
                ino: range.fc_ino(),
                lblk: extent.ee_block(),
                start: extent.start().0,
                len: extent.len().into(),
                unwritten: extent.is_unwritten(),
            }
        }
        2 => {
            exactly(FcDelRange::SIZE)?;
            let range = FcDelRange(raw);
            FcValue::DelRange {
                ino: range.fc_ino(),
                lblk: range.fc_lblk(),
                len: range.fc_len(),
            }
        }
        3..=5 => name(tag, raw)?,
        6 => {
            let bytes = raw
                .len()
                .checked_sub(FcInode::SIZE)
                .filter(|n| *n >= INODE_MIN)?;
            FcValue::Inode {
                ino: FcInode(raw).fc_ino(),
                bytes: bytes as u32,
            }
        }
        7 => FcValue::Pad,
        8 if raw.len() >= FcTail::SIZE => FcValue::Tail {
            tid: FcTail(raw).fc_tid(),
            checksum_ok: false,
        },
        9 => {
            exactly(FcHead::SIZE)?;
            let head = FcHead(raw);
            FcValue::Head {
                features: head.fc_features(),
                tid: head.fc_tid(),
            }
        }
        _ => return None,
    })
}

fn name(tag: u16, raw: &[u8]) -> Option<FcValue> {
    let (head, name) = raw.split_at_checked(FcDentry::SIZE)?;
    if name.is_empty() || name.len() > NAME_MAX {
        return None;
    }
    let head = FcDentry(head);
    let (parent, ino, name) = (head.fc_parent_ino(), head.fc_ino(), name.to_vec());
    Some(match tag {
        3 => FcValue::Create { parent, ino, name },
        4 => FcValue::Link { parent, ino, name },
        _ => FcValue::Unlink { parent, ino, name },
    })
}
