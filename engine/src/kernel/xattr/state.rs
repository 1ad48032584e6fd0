//! What is remembered of attributes that could be shared: Linux's mbcache.

use crate::units::{BlockNr, InodeNr};
use imbl::OrdSet;

/// Blocks and value inodes by their hashes. One that is not here is not shared, which
/// costs space and nothing else.
#[derive(Clone, Debug, Default)]
pub struct State {
    blocks: OrdSet<(u32, u64)>,
    values: OrdSet<(u32, u32)>,
}

impl State {
    /// A block was met. Hash 0 stands for none: such a block is not shared.
    pub(super) fn note_block(&mut self, hash: u32, at: BlockNr) {
        if hash != 0 {
            self.blocks.insert((hash, at.0));
        }
    }

    /// A block changes or goes.
    pub(super) fn forget_block(&mut self, hash: u32, at: BlockNr) {
        self.blocks.remove(&(hash, at.0));
    }

    /// Blocks that had a hash when they were last met.
    pub(super) fn blocks(&self, hash: u32) -> Vec<BlockNr> {
        let range = (hash, 0)..=(hash, u64::MAX);
        self.blocks.range(range).map(|&(_, at)| at.into()).collect()
    }

    /// A value's inode was made or met.
    pub(super) fn note_value(&mut self, hash: u32, inode: InodeNr) {
        self.values.insert((hash, inode.0));
    }

    /// A value's inode goes.
    pub(super) fn forget_value(&mut self, hash: u32, inode: InodeNr) {
        self.values.remove(&(hash, inode.0));
    }

    /// Inodes of values that have a hash.
    pub(super) fn values(&self, hash: u32) -> Vec<InodeNr> {
        let range = (hash, 0)..=(hash, u32::MAX);
        self.values.range(range).map(|&(_, i)| i.into()).collect()
    }
}
