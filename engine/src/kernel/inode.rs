//! An inode in memory.

use super::Volume;
use super::pages::Pages;
use crate::ext4::checksum;
use crate::ext4::layout::{Bytes, FileType, Incompat, Inode, InodeFlags, RoCompat, Timestamp};
use crate::units::InodeNr;

/// An inode in memory: its fields as they go to disk, and what only memory knows.
#[derive(Clone, Debug)]
pub struct InodeInfo {
    /// Its number.
    pub nr: InodeNr,
    /// The bytes of its slot, with setters for fields. Its size is what the disk may know
    /// (`i_disksize`).
    pub raw: Inode<Box<[u8]>>,
    /// Bytes, as calls see it: `raw`'s runs behind while blocks are delayed.
    pub size: u64,
    /// Contents in memory.
    pub pages: Pages,
    /// What the allocator keeps for it.
    pub alloc: super::alloc::OfInode,
    /// Seed of the checksums of what belongs to it.
    pub seed: u32,
    /// Descriptors that refer to it.
    pub opens: u32,
    /// Delayed blocks, not counted in `i_blocks` yet.
    pub delayed: u32,
    /// On the list of orphans.
    pub orphan: bool,
    /// The transaction that has its latest change.
    pub sync_tid: Option<u32>,
    /// The transaction that has the latest change needed to read its contents.
    pub datasync_tid: Option<u32>,
    /// Its contents are to be written when it is closed (a truncate to nothing came
    /// before: `auto_da_alloc`).
    pub flush_on_close: bool,
}

impl InodeInfo {
    /// Wraps the bytes of a slot.
    pub fn new(vol: &Volume, nr: InodeNr, raw: Box<[u8]>) -> Self {
        let raw = Inode(raw);
        Self {
            nr,
            size: raw.size(),
            seed: checksum::inode_seed(vol.seed, nr, raw.i_generation()),
            raw,
            pages: Pages::default(),
            alloc: super::alloc::OfInode::default(),
            opens: 0,
            delayed: 0,
            orphan: false,
            sync_tid: None,
            datasync_tid: None,
            flush_on_close: false,
        }
    }

    /// What it is.
    pub fn file_type(&self) -> FileType {
        self.raw.file_type()
    }

    /// Whether it is a directory.
    pub fn is_dir(&self) -> bool {
        self.file_type() == FileType::Directory
    }

    /// Whether it is a regular file.
    pub fn is_file(&self) -> bool {
        self.file_type() == FileType::Regular
    }

    /// Whether it has one of these flags.
    pub fn has(&self, flags: InodeFlags) -> bool {
        self.raw.flags().intersects(flags)
    }

    /// Sets or clears flags.
    pub fn set_flag(&mut self, flag: InodeFlags, on: bool) {
        let mut flags = self.raw.flags();
        flags.set(flag, on);
        self.raw.set_i_flags(flags.bits());
    }

    /// Whether its contents are found by extents.
    pub fn uses_extents(&self) -> bool {
        self.has(InodeFlags::EXTENTS)
    }

    /// The 60 bytes of `i_block`.
    pub fn i_block(&self) -> [u8; 60] {
        self.raw.i_block().0
    }

    /// Sets the 60 bytes of `i_block`.
    pub fn set_i_block(&mut self, bytes: [u8; 60]) {
        self.raw.set_i_block(Bytes(bytes));
    }

    /// Bytes that the disk may know of (`i_disksize`).
    pub fn disk_size(&self) -> u64 {
        self.raw.size()
    }

    /// Sets the bytes that the disk may know of.
    pub fn set_disk_size(&mut self, size: u64) {
        self.raw.set_i_size_lo((size & 0xFFFF_FFFF) as u32);
        self.raw.set_i_size_high((size >> 32) as u32);
    }

    /// 512-byte sectors that it counts as its own.
    pub fn sectors(&self, vol: &Volume) -> u64 {
        let huge = vol.has_ro_compat(RoCompat::HUGE_FILE);
        self.raw.sectors(huge, vol.geo.block_size)
    }

    /// Counts blocks of the filesystem (with bigalloc, those of whole clusters) in or out.
    pub fn add_blocks(&mut self, vol: &Volume, blocks: i64) {
        let per = i64::from(vol.geo.block_size / 512);
        let sectors = self.sectors(vol).saturating_add_signed(blocks * per);
        // 2^48 sectors are more than any medium that fslab makes: the flag that makes
        // the count one of blocks is never needed.
        self.set_flag(InodeFlags::HUGE_FILE, false);
        self.raw.set_i_blocks_lo((sectors & 0xFFFF_FFFF) as u32);
        self.raw.set_i_blocks_high((sectors >> 32 & 0xFFFF) as u16);
    }

    /// Names.
    pub fn links(&self) -> u16 {
        self.raw.i_links_count()
    }

    /// Sets the last change of the inode.
    pub fn set_ctime(&mut self, t: Timestamp) {
        let (secs, extra) = encode(t);
        self.raw.set_i_ctime(secs);
        if self.raw.has_extra(0x84, 4) {
            self.raw.set_i_ctime_extra(extra);
        }
    }

    /// Sets the last change of the contents.
    pub fn set_mtime(&mut self, t: Timestamp) {
        let (secs, extra) = encode(t);
        self.raw.set_i_mtime(secs);
        if self.raw.has_extra(0x88, 4) {
            self.raw.set_i_mtime_extra(extra);
        }
    }

    /// Sets the last read.
    pub fn set_atime(&mut self, t: Timestamp) {
        let (secs, extra) = encode(t);
        self.raw.set_i_atime(secs);
        if self.raw.has_extra(0x8C, 4) {
            self.raw.set_i_atime_extra(extra);
        }
    }

    /// Sets when it was made.
    pub fn set_crtime(&mut self, t: Timestamp) {
        let (secs, extra) = encode(t);
        if self.raw.has_extra(0x90, 4) {
            self.raw.set_i_crtime(secs);
        }
        if self.raw.has_extra(0x94, 4) {
            self.raw.set_i_crtime_extra(extra);
        }
    }

    /// Sets contents and inode as changed now.
    pub fn touch(&mut self, t: Timestamp) {
        self.set_mtime(t);
        self.set_ctime(t);
    }

    /// Whether it is a link whose target is in `i_block`.
    pub fn is_fast_symlink(&self, vol: &Volume) -> bool {
        if self.file_type() != FileType::Symlink {
            return false;
        }
        // Its sectors then count values of attributes in inodes of their own.
        if vol.has_incompat(Incompat::EA_INODE) {
            let elsewhere = InodeFlags::EXTENTS | InodeFlags::INLINE_DATA;
            return !self.has(elsewhere) && self.size < 60;
        }
        let attr = if self.raw.file_acl().0 == 0 {
            0
        } else {
            u64::from(vol.geo.cluster_blocks) * u64::from(vol.geo.block_size / 512)
        };
        !self.has(InodeFlags::EXTENTS | InodeFlags::INLINE_DATA) && self.sectors(vol) <= attr
    }
}

/// Seconds' low 32 bits, and the word of nanoseconds and two more bits of seconds.
fn encode(t: Timestamp) -> (u32, u32) {
    let low = (t.secs & 0xFFFF_FFFF) as u32;
    // The low word is signed: the two bits say how often 2^32 is to be added to it.
    let epoch = ((t.secs - i64::from(low.cast_signed())) >> 32 & 3) as u32;
    (low, t.nanos << 2 | epoch)
}
