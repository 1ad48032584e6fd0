//! What an event is about: how pictures and breakpoints find it.

use super::What;
use crate::units::{BlockNr, GroupNr, InodeNr};

/// What an event is about. Whatever it does not concern is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Subject {
    /// An inode.
    pub inode: Option<InodeNr>,
    /// Blocks of the filesystem: first, how many.
    pub blocks: Option<(BlockNr, u64)>,
    /// A group.
    pub group: Option<GroupNr>,
    /// A transaction.
    pub tid: Option<u32>,
    /// A request to the device.
    pub request: Option<u64>,
}

impl Subject {
    fn inode(inode: InodeNr) -> Self {
        Self {
            inode: Some(inode),
            ..Self::default()
        }
    }

    fn block(block: BlockNr) -> Self {
        Self::default().with(block, 1)
    }

    fn with(mut self, start: BlockNr, len: u64) -> Self {
        self.blocks = Some((start, len));
        self
    }

    fn tid(tid: u32) -> Self {
        Self {
            tid: Some(tid),
            ..Self::default()
        }
    }

    fn request(request: u64) -> Self {
        Self {
            request: Some(request),
            ..Self::default()
        }
    }

    fn in_group(mut self, group: GroupNr) -> Self {
        self.group = Some(group);
        self
    }

    /// Whether a block is among those it is about.
    pub fn has_block(&self, block: BlockNr) -> bool {
        self.blocks
            .is_some_and(|(start, len)| block >= start && block.0 - start.0 < len)
    }
}

impl What {
    /// What it is about.
    pub fn subject(&self) -> Subject {
        match *self {
            Self::PageDirtied { inode, .. }
            | Self::PageCleaned { inode, .. }
            | Self::PageDropped { inode, .. }
            | Self::Reserved { inode, .. }
            | Self::Released { inode, .. }
            | Self::InodeWritten { inode }
            | Self::ExtentSplit { inode, .. }
            | Self::ExtentMerged { inode, .. }
            | Self::ExtentConverted { inode, .. }
            | Self::ExtentUnwritten { inode, .. }
            | Self::ExtentsShifted { inode, .. }
            | Self::ExtentRemoved { inode, .. }
            | Self::TreeDepth { inode, .. }
            | Self::XattrSet { inode, .. }
            | Self::XattrRemoved { inode, .. }
            | Self::OrphanAdded { inode }
            | Self::OrphanRemoved { inode } => Subject::inode(inode),
            Self::Allocated {
                inode,
                group,
                start,
                len,
                ..
            }
            | Self::Freed {
                inode,
                group,
                start,
                len,
            } => Subject::inode(inode)
                .with(start, len.into())
                .in_group(group),
            Self::Preallocated { inode, start, len }
            | Self::PreallocationDiscarded { inode, start, len } => {
                Subject::inode(inode).with(start, len.into())
            }
            Self::ExtentInserted {
                inode, start, len, ..
            } => Subject::inode(inode).with(start, len.into()),
            Self::InodeAllocated { inode, group, .. } | Self::InodeFreed { inode, group } => {
                Subject::inode(inode).in_group(group)
            }
            Self::ZeroedOut {
                inode, block, len, ..
            }
            | Self::DataWritten {
                inode, block, len, ..
            } => Subject::inode(inode).with(block, len.into()),
            Self::NodeAdded { inode, block }
            | Self::NodeRemoved { inode, block }
            | Self::XattrBlockShared { inode, block, .. } => Subject::inode(inode).with(block, 1),
            Self::NameAdded { dir, .. }
            | Self::NameRemoved { dir, .. }
            | Self::NameReplaced { dir, .. }
            | Self::DirBlockSplit { dir, .. }
            | Self::HtreeGrew { dir, .. } => Subject::inode(dir),
            Self::BufferDirtied { block, .. } | Self::BufferWritten { block } => {
                Subject::block(block)
            }
            Self::Read { block, len } | Self::Discarded { block, len } => {
                Subject::default().with(block, len)
            }
            Self::Logged { tid, block, .. } => Subject::tid(tid).with(block, 1),
            Self::Replayed { tid, home, .. } => Subject::tid(tid).with(home, 1),
            Self::Transaction { tid, .. }
            | Self::TailMoved { tid, .. }
            | Self::Recovered { tid } => Subject::tid(tid),
            Self::Queued { request, .. }
            | Self::Started { request }
            | Self::Completed { request } => Subject::request(request),
            Self::Call { .. }
            | Self::Returned { .. }
            | Self::ProcessStarted { .. }
            | Self::Printed { .. }
            | Self::ProcessEnded
            | Self::ProcessFailed { .. }
            | Self::Destaged { .. }
            | Self::FlashProgrammed { .. }
            | Self::FlashErased { .. }
            | Self::FlashBroke { .. }
            | Self::RecoveryPass { .. }
            | Self::Mounted
            | Self::Unmounted
            | Self::Flushed
            | Self::Error { .. }
            | Self::Warning { .. }
            | Self::ReadOnly => Subject::default(),
        }
    }

    /// Whether something went wrong.
    pub fn is_error(&self) -> bool {
        matches!(
            self,
            Self::Error { .. }
                | Self::ReadOnly
                | Self::ProcessFailed { .. }
                | Self::Returned { value: Err(_) }
        )
    }
}
