//! The machine's memory: what Linux keeps of a mounted filesystem, and what its calls do.
//!
//! [`Volume`] is what belongs to the filesystem as a whole: superblock, descriptors,
//! buffers of metadata, counts, device. [`InodeInfo`] is an inode in memory. The rooms
//! below work on these two: [`map`] on where contents are, [`dir`] on names, [`alloc`] on
//! what is free, [`xattr`] on attributes. [`Mount`] has the calls.

pub mod alloc;
mod attr;
mod buffer;
mod caller;
mod calls;
mod commit;
mod create;
pub mod dir;
mod errno;
mod fc_replay;
mod fd;
pub mod file;
mod inline;
mod inode;
mod inodes;
mod lazyinit;
mod links;
mod look;
pub mod map;
mod mount;
mod namei;
mod options;
mod orphan;
mod orphan_cleanup;
mod pages;
mod recovery;
mod volume;
mod writeback;
pub mod xattr;

pub use alloc::Statfs;
pub use attr::Stat;
pub use caller::Caller;
pub use errno::{Errno, Result};
pub use fd::{Fd, OpenFlags};
pub use file::{FallocateMode, FiemapExtent, FiemapFlags, Source, Whence};
pub use inode::InodeInfo;
pub use links::{RENAME_EXCHANGE, RENAME_NOREPLACE, RENAME_WHITEOUT};
pub use look::OpenView;
pub use mount::{Devices, KernelGauges, Mount, MountError};
pub use options::{AllocatorKind, Atime, DataMode, DirPolicy, ErrorsBehaviour, MountOptions};
pub use pages::{Page, Pages};
pub use volume::{Seen, Version, Volume};
pub use writeback::{SyncWait, Syncing};
