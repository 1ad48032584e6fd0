//! What a picture wants to know of a mount. Reads and never changes.

use super::{Fd, InodeInfo, Mount, OpenFlags};
use crate::units::{InodeNr, Lblk};

/// An open file, for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenView {
    /// The descriptor.
    pub fd: Fd,
    /// The process that has it.
    pub pid: u32,
    /// The file.
    pub inode: InodeNr,
    /// How it was opened.
    pub flags: OpenFlags,
    /// Where the next read or write is, bytes.
    pub offset: u64,
}

impl Mount {
    /// Open files, by their descriptors.
    pub fn open_files(&self) -> impl Iterator<Item = OpenView> {
        self.files.iter().map(|(fd, file)| OpenView {
            fd: Fd(*fd),
            pid: file.who.pid,
            inode: file.inode,
            flags: file.flags,
            offset: file.offset,
        })
    }

    /// Inodes with dirty pages, by their numbers.
    pub fn dirty_inodes(&self) -> Vec<InodeNr> {
        self.inodes.dirty()
    }

    /// An inode, if it is in memory.
    pub fn cached_inode(&self, nr: InodeNr) -> Option<&InodeInfo> {
        self.inodes.cached(nr).map(AsRef::as_ref)
    }

    /// Runs of contents that are on their way to the disk: inode, first block, blocks.
    pub fn in_flight(&self) -> impl Iterator<Item = (InodeNr, Lblk, u32)> {
        let all = self.vol.in_flight.iter();
        all.map(|run| (run.inode, run.lblk, run.len))
    }
}
