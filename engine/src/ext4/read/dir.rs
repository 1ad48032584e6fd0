//! Directories, read from the first block to the last.

use super::file::IN_BLOCK;
use super::{Fs, InodeBuf};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    DIR_TAIL_TYPE, DirEntryHead, DirTail, FileType, Incompat, InodeFlags, rec_len_from_disk,
};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::units::{BlockNr, InodeNr};
use serde::{Deserialize, Serialize};

/// Bytes of an entry before its name.
const HEAD: usize = 8;
/// Bytes of the tail that carries a checksum.
const TAIL: usize = 12;

/// A name in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DirEntry {
    /// The inode it names.
    pub inode: InodeNr,
    /// The name, without a terminator; any bytes.
    pub name: Vec<u8>,
    /// What the entry says the inode is; `Unknown` without the filetype feature.
    pub file_type: FileType,
    /// Block of the directory that it is in.
    pub lblk: u64,
    /// Where in that block, bytes.
    pub offset: u32,
    /// Bytes to the next entry.
    pub rec_len: u32,
}

/// What a directory's block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum DirBlockKind {
    /// Names.
    Leaf,
    /// The root or an inner node of an htree.
    Htree,
}

/// A block of a directory.
#[derive(Clone, Copy, Debug)]
pub struct DirBlock<'a> {
    /// Block of the directory.
    pub lblk: u64,
    /// Where on disk; `None` inside the inode.
    pub at: Option<BlockNr>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// An entry, still in its block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawEntry<'a> {
    pub inode: u32,
    pub name: &'a [u8],
    pub file_type: u8,
    pub offset: usize,
    pub rec_len: usize,
}

/// Goes through the entries of a directory's block, unused ones included, and ends at
/// the first that cannot be one. The checksum's tail is not an entry.
pub(crate) fn each_entry<'a>(
    bytes: &'a [u8],
    block_size: u32,
    each: &mut dyn FnMut(RawEntry<'a>),
) -> Result<(), Flaw> {
    let mut at = 0;
    while at + HEAD <= bytes.len() {
        let head = DirEntryHead(&bytes[at..at + HEAD]);
        let rec_len = rec_len_from_disk(head.rec_len(), block_size) as usize;
        let name_len = usize::from(head.name_len());
        let expected = || {
            format!(
                "a multiple of 4 that holds the name and ends within the block (entry at byte {at})"
            )
        };
        if rec_len < HEAD + name_len || !rec_len.is_multiple_of(4) || rec_len > bytes.len() - at {
            return Err(Flaw::Value {
                field: "rec_len".into(),
                found: rec_len as u64,
                expected: expected(),
            });
        }
        let is_tail = head.inode() == 0
            && name_len == 0
            && rec_len == TAIL
            && head.file_type() == DIR_TAIL_TYPE;
        if !is_tail {
            each(RawEntry {
                inode: head.inode(),
                name: &bytes[at + HEAD..at + HEAD + name_len],
                file_type: head.file_type(),
                offset: at,
                rec_len,
            });
        }
        at += rec_len;
    }
    Ok(())
}

impl<R: ReadAt> Fs<R> {
    /// Every name in a directory, `.` and `..` included, in the order of the blocks, and
    /// what is wrong with it.
    pub fn read_dir(&self, dir: &InodeBuf) -> (Vec<DirEntry>, Vec<Problem>) {
        let mut entries = Vec::new();
        let mut problems = Vec::new();
        let mut more = Vec::new();
        self.each_dir_block(dir, &mut problems, &mut |block| {
            more.extend(self.dir_entries(dir, block, &mut entries));
        });
        problems.extend(more);
        (entries, problems)
    }

    /// The names in one block of a directory.
    pub fn dir_entries(
        &self,
        dir: &InodeBuf,
        block: DirBlock<'_>,
        entries: &mut Vec<DirEntry>,
    ) -> Option<Problem> {
        let typed = self.sb.incompat().contains(Incompat::FILETYPE);
        self.each_raw_entry(dir, block, &mut |e| {
            if e.inode != 0 {
                entries.push(DirEntry {
                    inode: InodeNr(e.inode),
                    name: e.name.to_vec(),
                    file_type: if typed {
                        FileType::from_dir_entry(e.file_type)
                    } else {
                        FileType::Unknown
                    },
                    lblk: block.lblk,
                    offset: e.offset as u32,
                    rec_len: e.rec_len as u32,
                });
            }
        })
    }

    /// Hands each name in one block of a directory to `each`, with its inode's number.
    pub fn each_name(
        &self,
        dir: &InodeBuf,
        block: DirBlock<'_>,
        each: &mut dyn FnMut(u32, &[u8]),
    ) -> Option<Problem> {
        self.each_raw_entry(dir, block, &mut |e| {
            if e.inode != 0 {
                each(e.inode, e.name);
            }
        })
    }

    fn each_raw_entry(
        &self,
        dir: &InodeBuf,
        block: DirBlock<'_>,
        each: &mut dyn FnMut(RawEntry<'_>),
    ) -> Option<Problem> {
        let flaw = if dir.flags().contains(InodeFlags::INLINE_DATA) {
            self.inline_entries(block.bytes, each)
        } else {
            each_entry(block.bytes, self.geo.block_size, each)
        };
        flaw.err()
            .map(|flaw| Problem::new(Place::DirBlock(dir.nr, block.lblk), flaw))
    }

    /// An inline directory: the parent's number, then entries to the end of `i_block`,
    /// then entries in the attribute's value. `.` is not stored.
    fn inline_entries<'a>(
        &self,
        bytes: &'a [u8],
        each: &mut dyn FnMut(RawEntry<'a>),
    ) -> Result<(), Flaw> {
        let parent = DirEntryHead(bytes).inode();
        each(RawEntry {
            inode: parent,
            name: b"..",
            file_type: 2,
            offset: 0,
            rec_len: 4,
        });
        let (first, second) = bytes.split_at(IN_BLOCK.min(bytes.len()));
        for (part, base) in [(first.get(4..).unwrap_or_default(), 4), (second, IN_BLOCK)] {
            each_entry(part, self.geo.block_size, &mut |mut e| {
                e.offset += base;
                each(e);
            })?;
        }
        Ok(())
    }

    /// Hands every block of a directory to `each`, in order.
    pub fn each_dir_block(
        &self,
        dir: &InodeBuf,
        problems: &mut Vec<Problem>,
        each: &mut dyn FnMut(DirBlock<'_>),
    ) {
        if dir.flags().contains(InodeFlags::INLINE_DATA) {
            let bytes = self.inline_data(dir);
            each(DirBlock {
                lblk: 0,
                at: None,
                bytes: &bytes,
            });
            return;
        }
        let runs = self.runs(dir);
        problems.extend(runs.problems);
        let blocks = dir.size().div_ceil(self.geo.block_size.into());
        let mut buf = vec![0; self.geo.block_size as usize];
        let mut expected = 0;
        for run in runs.runs {
            for i in 0..run.len {
                let lblk = u64::from(run.lblk.0) + u64::from(i);
                if lblk >= blocks {
                    break;
                }
                if lblk != expected {
                    problems.push(hole(dir, expected, lblk));
                }
                expected = lblk + 1;
                let at = run.start.plus(i.into());
                match self.read_blocks(at, &mut buf) {
                    Ok(()) => each(DirBlock {
                        lblk,
                        at: Some(at),
                        bytes: &buf,
                    }),
                    Err(e) => problems.push(e.into_problem(Place::DirBlock(dir.nr, lblk))),
                }
            }
        }
        if expected < blocks {
            problems.push(hole(dir, expected, blocks));
        }
    }

    /// Whether a leaf block's checksum holds; `None` without metadata_csum or without a
    /// tail.
    pub fn dir_block_checksum_ok(&self, dir: &InodeBuf, bytes: &[u8]) -> Option<bool> {
        if !self.sb.has_metadata_csum() || bytes.len() < TAIL {
            return None;
        }
        let (body, tail) = bytes.split_at(bytes.len() - TAIL);
        let tail = DirTail(tail);
        if tail.det_reserved_ft() != DIR_TAIL_TYPE
            || tail.det_rec_len() as usize != TAIL
            || tail.det_reserved_zero1() != 0
        {
            return None;
        }
        Some(checksum::of_inode(self.inode_seed(dir), body) == tail.det_checksum())
    }
}

fn hole(dir: &InodeBuf, from: u64, to: u64) -> Problem {
    Problem::other(
        Place::Inode(dir.nr),
        format!("is a directory without its blocks {from} to {}", to - 1),
    )
}
