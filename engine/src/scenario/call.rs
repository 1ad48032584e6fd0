//! The calls that a process of a scenario can make, as data: what the workload language
//! yields and the machine runs.

use crate::kernel::{Errno, FallocateMode, Fd, FiemapExtent, OpenFlags, Stat, Whence};
use crate::units::SimTime;
use std::sync::Arc;

/// Bytes to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    /// These.
    Bytes(Arc<[u8]>),
    /// `len` bytes of the pattern `seed` from its byte `from` on: they cost no memory.
    Pattern {
        /// The pattern's seed.
        seed: u64,
        /// The first byte's place in it.
        from: u64,
        /// Bytes.
        len: u64,
    },
}

impl Contents {
    /// How many bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pattern { len, .. } => *len,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A call. Paths are bytes from the root of the filesystem, offsets and lengths are bytes.
#[allow(
    missing_docs,
    reason = "names and arguments are those of POSIX and Linux"
)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    Open {
        path: Vec<u8>,
        flags: OpenFlags,
        mode: u16,
    },
    Close {
        fd: Fd,
    },
    Read {
        fd: Fd,
        len: u64,
    },
    Pread {
        fd: Fd,
        len: u64,
        offset: u64,
    },
    Write {
        fd: Fd,
        contents: Contents,
    },
    Pwrite {
        fd: Fd,
        contents: Contents,
        offset: u64,
    },
    Lseek {
        fd: Fd,
        offset: i64,
        whence: Whence,
    },
    Ftruncate {
        fd: Fd,
        len: u64,
    },
    Truncate {
        path: Vec<u8>,
        len: u64,
    },
    Fsync {
        fd: Fd,
    },
    Fdatasync {
        fd: Fd,
    },
    Sync,
    Syncfs {
        fd: Fd,
    },
    SyncFileRange {
        fd: Fd,
        offset: u64,
        len: u64,
    },
    Fallocate {
        fd: Fd,
        mode: FallocateMode,
        offset: u64,
        len: u64,
    },
    Mkdir {
        path: Vec<u8>,
        mode: u16,
    },
    Rmdir {
        path: Vec<u8>,
    },
    Unlink {
        path: Vec<u8>,
    },
    Link {
        old: Vec<u8>,
        new: Vec<u8>,
    },
    Symlink {
        target: Vec<u8>,
        path: Vec<u8>,
    },
    Readlink {
        path: Vec<u8>,
    },
    /// `flags`: `RENAME_NOREPLACE` and its like.
    Rename {
        old: Vec<u8>,
        new: Vec<u8>,
        flags: u32,
    },
    Mknod {
        path: Vec<u8>,
        mode: u16,
        dev: (u32, u32),
    },
    Chmod {
        path: Vec<u8>,
        mode: u16,
    },
    Fchmod {
        fd: Fd,
        mode: u16,
    },
    Chown {
        path: Vec<u8>,
        uid: Option<u32>,
        gid: Option<u32>,
    },
    Lchown {
        path: Vec<u8>,
        uid: Option<u32>,
        gid: Option<u32>,
    },
    /// Seconds since 1970; `None` leaves as it is.
    Utimens {
        path: Vec<u8>,
        atime: Option<i64>,
        mtime: Option<i64>,
    },
    Stat {
        path: Vec<u8>,
    },
    Lstat {
        path: Vec<u8>,
    },
    Fstat {
        fd: Fd,
    },
    Getdents {
        fd: Fd,
    },
    Setxattr {
        path: Vec<u8>,
        name: Vec<u8>,
        value: Vec<u8>,
    },
    Getxattr {
        path: Vec<u8>,
        name: Vec<u8>,
    },
    Listxattr {
        path: Vec<u8>,
    },
    Removexattr {
        path: Vec<u8>,
        name: Vec<u8>,
    },
    /// `sync`: write the file first.
    Fiemap {
        fd: Fd,
        start: u64,
        len: u64,
        sync: bool,
    },
    /// The flags of `lsattr`.
    Getflags {
        fd: Fd,
    },
    Setflags {
        fd: Fd,
        flags: u32,
    },
    Swapon {
        path: Vec<u8>,
    },
    Statfs,
    Fitrim {
        start: u64,
        len: u64,
        min_len: u64,
    },
    /// Not a call of the filesystem: the process waits. Nanoseconds.
    Sleep {
        time: SimTime,
    },
}

/// What a call gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// A number: a descriptor, bytes taken, an offset, flags, 0.
    Number(u64),
    /// Contents, a link's target, an attribute's value.
    Bytes(Arc<[u8]>),
    /// Names of a directory (without `.` and `..`) or of attributes.
    Names(Vec<Vec<u8>>),
    /// What `stat` gives.
    Stat(Stat),
    /// What FIEMAP gives.
    Extents(Vec<FiemapExtent>),
    /// What `statfs` gives, blocks: all, free, available to everybody; inodes: all, free.
    Statfs {
        /// Bytes of a block.
        block_size: u64,
        /// All, free, free for everybody.
        blocks: [u64; 3],
        /// All, free.
        inodes: [u64; 2],
    },
}

/// An answer to a program's call.
pub type Answer = Result<Reply, Errno>;
