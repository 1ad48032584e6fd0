//! Mount options and the kernel's settings.

use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// `data=`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum DataMode {
    /// Contents reach the disk before the metadata that names them.
    #[default]
    Ordered,
    /// Contents and metadata go their own ways.
    Writeback,
    /// Contents go through the journal.
    Journal,
    /// Delayed blocks are allocated at each commit (proposed in 2009, never merged).
    AllocOnCommit,
}

/// When reading changes the access time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Atime {
    /// Always.
    Strict,
    /// When it is older than the last change, or than a day.
    #[default]
    Relative,
    /// Never.
    No,
}

/// `errors=`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ErrorsBehaviour {
    /// Note it and go on.
    Continue,
    /// Allow no more changes.
    RemountRo,
    /// Stop the machine.
    Panic,
}

/// How blocks are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum AllocatorKind {
    /// As the filesystem's features have it: multiblock with extents, else ext2's.
    #[default]
    Auto,
    /// ext2's: the next free block after the goal, then eight in a row, then any.
    Ext2,
    /// ext4's multiblock allocator.
    Multiblock,
    /// The lowest free blocks first, so that few erase blocks are ever used (proposed for
    /// SSDs without TRIM).
    ReuseFirst,
}

/// Where directories go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum DirPolicy {
    /// Into the first group of a flex group (since 2009).
    #[default]
    Packed,
    /// Spread over the flex group, beside their files.
    Old,
}

/// What a mount is told. Sizes of writeback and times are the kernel's settings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MountOptions {
    /// `ro`.
    pub read_only: bool,
    /// `errors=`; what the superblock says, where `None`.
    pub errors: Option<ErrorsBehaviour>,
    /// `data=`.
    pub data: DataMode,
    /// `delalloc`; `None`: as the kernel would choose, by the filesystem's features.
    pub delalloc: Option<bool>,
    /// `auto_da_alloc`.
    pub auto_da_alloc: bool,
    /// `barrier`.
    pub barrier: bool,
    /// `commit=`, nanoseconds.
    pub commit: SimTime,
    /// `journal_checksum`: a transaction's commit block carries a checksum of it.
    pub journal_checksum: bool,
    /// `journal_async_commit`: the commit block does not wait for what stands before it.
    pub journal_async_commit: bool,
    /// Contents that go through the journal stay as they are from the moment at which their
    /// checksum is computed until the log has them. Off: what is written meanwhile goes along,
    /// as stores to mapped pages did with `data=journal` before Linux 5.10.
    pub stable_pages: bool,
    /// `strictatime`, `relatime`, `noatime`.
    pub atime: Atime,
    /// `lazytime`.
    pub lazytime: bool,
    /// `discard`.
    pub discard: bool,
    /// `stripe=`, blocks; the superblock's, where `None`.
    pub stripe: Option<u32>,
    /// `dioread_nolock`: new blocks are unwritten until their contents are there.
    pub dioread_nolock: bool,
    /// `nohide_stale_gid=`: this group may fallocate without hiding what was there
    /// (proposed in 2012, never merged).
    pub nohide_stale_gid: Option<u32>,
    /// `max_dir_size_kb`, KiB; 0 for none.
    pub max_dir_size_kb: u32,
    /// How blocks are found.
    pub allocator: AllocatorKind,
    /// Where directories go.
    pub dir_policy: DirPolicy,
    /// `vm.dirty_expire_centisecs`, nanoseconds: older dirty pages are written.
    pub dirty_expire: SimTime,
    /// `vm.dirty_writeback_centisecs`, nanoseconds: how often the flusher looks.
    pub dirty_writeback: SimTime,
    /// Blocks that one round of writeback allocates at most.
    pub writeback_blocks: u32,
    /// `extent_max_zeroout_kb`, KiB: shorter unwritten extents are zeroed, not split.
    pub max_zeroout_kb: u32,
    /// `mb_stream_req`, blocks: smaller files share a group's preallocation.
    pub mb_stream_req: u32,
    /// `mb_group_prealloc`, blocks.
    pub mb_group_prealloc: u32,
    /// FIEMAP does not see delayed blocks (the bug before 2011).
    pub fiemap_misses_delayed: bool,
    /// Seconds since 1970 at which simulated time is 0.
    pub epoch: u64,
}

/// 2026-01-01 00:00:00 UTC, so that runs do not depend on the clock.
const EPOCH: u64 = 1_767_225_600;
const SECOND: u64 = 1_000_000_000;

impl Default for MountOptions {
    fn default() -> Self {
        Self {
            read_only: false,
            errors: None,
            data: DataMode::Ordered,
            delalloc: None,
            auto_da_alloc: true,
            barrier: true,
            commit: SimTime(5 * SECOND),
            journal_checksum: false,
            journal_async_commit: false,
            stable_pages: true,
            atime: Atime::Relative,
            lazytime: false,
            discard: false,
            stripe: None,
            dioread_nolock: true,
            nohide_stale_gid: None,
            max_dir_size_kb: 0,
            allocator: AllocatorKind::Auto,
            dir_policy: DirPolicy::Packed,
            dirty_expire: SimTime(30 * SECOND),
            dirty_writeback: SimTime(5 * SECOND),
            writeback_blocks: 2048,
            max_zeroout_kb: 32,
            mb_stream_req: 16,
            mb_group_prealloc: 512,
            fiemap_misses_delayed: false,
            epoch: EPOCH,
        }
    }
}
