use super::wire::on_disk;
use super::{join16, join32};
use crate::units::BlockNr;
use bitflags::bitflags;

on_disk! {
    /// A group descriptor: 32 bytes, or 64 with the 64bit feature.
    GroupDesc[64] Little {
        0x00 bg_block_bitmap_lo: u32, Block, "block bitmap, low 32 bits";
        0x04 bg_inode_bitmap_lo: u32, Block, "inode bitmap, low 32 bits";
        0x08 bg_inode_table_lo: u32, Block, "inode table, low 32 bits";
        0x0C bg_free_blocks_count_lo: u16, Number, "free blocks, low 16 bits";
        0x0E bg_free_inodes_count_lo: u16, Number, "free inodes, low 16 bits";
        0x10 bg_used_dirs_count_lo: u16, Number, "directories, low 16 bits";
        0x12 bg_flags: u16, Hex, "1 inodes not initialised, 2 block bitmap not initialised, 4 inode table zeroed";
        0x14 bg_exclude_bitmap_lo: u32, Block, "snapshot exclude bitmap, low 32 bits";
        0x18 bg_block_bitmap_csum_lo: u16, Hex, "checksum of the block bitmap, low 16 bits";
        0x1A bg_inode_bitmap_csum_lo: u16, Hex, "checksum of the inode bitmap, low 16 bits";
        0x1C bg_itable_unused_lo: u16, Number, "inodes never used, at the table's end, low 16 bits";
        0x1E bg_checksum: u16, Hex, "checksum of the descriptor";
        0x20 bg_block_bitmap_hi: u32, Block, "block bitmap, high 32 bits";
        0x24 bg_inode_bitmap_hi: u32, Block, "inode bitmap, high 32 bits";
        0x28 bg_inode_table_hi: u32, Block, "inode table, high 32 bits";
        0x2C bg_free_blocks_count_hi: u16, Number, "free blocks, high 16 bits";
        0x2E bg_free_inodes_count_hi: u16, Number, "free inodes, high 16 bits";
        0x30 bg_used_dirs_count_hi: u16, Number, "directories, high 16 bits";
        0x32 bg_itable_unused_hi: u16, Number, "inodes never used, high 16 bits";
        0x34 bg_exclude_bitmap_hi: u32, Block, "snapshot exclude bitmap, high 32 bits";
        0x38 bg_block_bitmap_csum_hi: u16, Hex, "checksum of the block bitmap, high 16 bits";
        0x3A bg_inode_bitmap_csum_hi: u16, Hex, "checksum of the inode bitmap, high 16 bits";
        0x3C bg_reserved: u32, Raw, "reserved";
    }
}

bitflags! {
    /// `bg_flags`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct GroupFlags: u16 {
        /// Inode bitmap and table hold nothing yet.
        const INODE_UNINIT = 0x1;
        /// The block bitmap is to be computed: only the group's own metadata is in use.
        const BLOCK_UNINIT = 0x2;
        /// The inode table has been zeroed.
        const INODE_ZEROED = 0x4;
        const _ = !0;
    }
}

impl<T: AsRef<[u8]>> GroupDesc<T> {
    /// Block of the block bitmap.
    pub fn block_bitmap(&self) -> BlockNr {
        BlockNr(join32(self.bg_block_bitmap_lo(), self.bg_block_bitmap_hi()))
    }

    /// Block of the inode bitmap.
    pub fn inode_bitmap(&self) -> BlockNr {
        BlockNr(join32(self.bg_inode_bitmap_lo(), self.bg_inode_bitmap_hi()))
    }

    /// First block of the inode table.
    pub fn inode_table(&self) -> BlockNr {
        BlockNr(join32(self.bg_inode_table_lo(), self.bg_inode_table_hi()))
    }

    /// Free blocks (clusters, with bigalloc).
    pub fn free_blocks(&self) -> u32 {
        join16(
            self.bg_free_blocks_count_lo(),
            self.bg_free_blocks_count_hi(),
        )
    }

    /// Free inodes.
    pub fn free_inodes(&self) -> u32 {
        join16(
            self.bg_free_inodes_count_lo(),
            self.bg_free_inodes_count_hi(),
        )
    }

    /// Directories.
    pub fn used_dirs(&self) -> u32 {
        join16(self.bg_used_dirs_count_lo(), self.bg_used_dirs_count_hi())
    }

    /// Inodes at the table's end that were never used.
    pub fn itable_unused(&self) -> u32 {
        join16(self.bg_itable_unused_lo(), self.bg_itable_unused_hi())
    }

    /// Flags.
    pub fn flags(&self) -> GroupFlags {
        GroupFlags::from_bits_retain(self.bg_flags())
    }

    /// Stored checksum of the block bitmap; 16 bits in a short descriptor.
    pub fn block_bitmap_csum(&self) -> u32 {
        join16(
            self.bg_block_bitmap_csum_lo(),
            self.bg_block_bitmap_csum_hi(),
        )
    }

    /// Stored checksum of the inode bitmap; 16 bits in a short descriptor.
    pub fn inode_bitmap_csum(&self) -> u32 {
        join16(
            self.bg_inode_bitmap_csum_lo(),
            self.bg_inode_bitmap_csum_hi(),
        )
    }
}
