//! The buffer cache: blocks of metadata in memory.

use crate::units::{BlockNr, InodeNr, SimTime};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

/// A block's bytes, shared until someone changes them.
pub type Block = Arc<[u8]>;

/// Hashes one number, the same everywhere: the multiplier is 2^64 over the golden ratio
/// (Knuth, The Art of Computer Programming 3, 6.4).
#[derive(Clone, Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.write_u64(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        let mixed = (self.0 ^ n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

/// A persistent table by number. Never iterate over it where the order can be seen.
pub(super) type Table<K, V> = imbl::GenericHashMap<
    K,
    V,
    BuildHasherDefault<NumberHasher>,
    imbl::shared_ptr::DefaultSharedPtr,
>;

#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) bytes: Block,
    pub(super) dirty: bool,
    /// Its checksum was found to hold, or it was changed since.
    pub(super) verified: bool,
    /// The inode that it belongs to; 0 for the filesystem's own.
    pub(super) owner: InodeNr,
    /// When it became dirty.
    pub(super) since: SimTime,
    /// It holds contents of a file that go through the journal.
    pub(super) contents: bool,
}

/// All buffers.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    table: Table<u64, Buffer>,
    /// Those that are dirty, in the disk's order.
    dirty: imbl::OrdSet<u64>,
    /// Counts changes of contents.
    edits: u64,
}

impl Buffers {
    /// How often contents changed.
    pub(super) fn edits(&self) -> u64 {
        self.edits
    }

    pub(super) fn get(&self, at: BlockNr) -> Option<&Buffer> {
        self.table.get(&at.0)
    }

    /// A clean buffer with what the disk holds.
    pub(super) fn put_clean(&mut self, at: BlockNr, bytes: Block) {
        self.table.insert(
            at.0,
            Buffer {
                bytes,
                dirty: false,
                verified: false,
                owner: InodeNr(0),
                since: SimTime(0),
                contents: false,
            },
        );
    }

    /// A buffer's bytes to change, with whether it was clean before.
    pub(super) fn change(
        &mut self,
        at: BlockNr,
        owner: InodeNr,
        now: SimTime,
    ) -> Option<(&mut [u8], bool)> {
        let buffer = self.table.get_mut(&at.0)?;
        self.edits += 1;
        let was_clean = !buffer.dirty;
        buffer.owner = owner;
        buffer.verified = true;
        if was_clean {
            buffer.dirty = true;
            buffer.since = now;
            self.dirty.insert(at.0);
        }
        Some((Arc::make_mut(&mut buffer.bytes), was_clean))
    }

    /// Marks a buffer as one with contents of a file.
    pub(super) fn holds_contents(&mut self, at: BlockNr) {
        if let Some(buffer) = self.table.get_mut(&at.0) {
            buffer.contents = true;
        }
    }

    /// Marks a buffer as one whose checksum holds.
    pub(super) fn verified(&mut self, at: BlockNr) {
        if let Some(buffer) = self.table.get_mut(&at.0) {
            buffer.verified = true;
        }
    }

    /// A buffer's bytes to change for a transaction: not to be written home before that is
    /// committed.
    pub(super) fn edit(&mut self, at: BlockNr, owner: InodeNr) -> Option<&mut [u8]> {
        let buffer = self.table.get_mut(&at.0)?;
        self.edits += 1;
        buffer.owner = owner;
        if std::mem::take(&mut buffer.dirty) {
            self.dirty.remove(&at.0);
        }
        Some(Arc::make_mut(&mut buffer.bytes))
    }

    /// A committed buffer is to be written home some time.
    pub(super) fn mark_dirty(&mut self, at: BlockNr, now: SimTime) {
        if let Some(buffer) = self.table.get_mut(&at.0)
            && !buffer.dirty
        {
            buffer.dirty = true;
            buffer.since = now;
            self.dirty.insert(at.0);
        }
    }

    /// Marks a buffer as written.
    pub(super) fn cleaned(&mut self, at: BlockNr) {
        if let Some(buffer) = self.table.get_mut(&at.0) {
            buffer.dirty = false;
        }
        self.dirty.remove(&at.0);
    }

    /// Gives a buffer up, changes and all.
    pub(super) fn forget(&mut self, at: BlockNr) {
        self.edits += 1;
        if self.table.remove(&at.0).is_some_and(|b| b.dirty) {
            self.dirty.remove(&at.0);
        }
    }

    /// Whether any is dirty.
    pub(super) fn any_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// How many are dirty.
    pub(super) fn dirty_count(&self) -> usize {
        self.dirty.len()
    }

    /// When the buffer that has been dirty for longest became so.
    pub(super) fn oldest_dirty(&self) -> Option<SimTime> {
        let all = self.dirty.iter().filter_map(|n| self.table.get(n));
        all.map(|b| b.since).min()
    }

    /// The dirty ones, in the disk's order.
    pub(super) fn dirty(&self) -> Vec<BlockNr> {
        self.dirty.iter().map(|&n| BlockNr(n)).collect()
    }
}
