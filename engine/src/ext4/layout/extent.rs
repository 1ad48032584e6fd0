use super::join32;
use super::wire::on_disk;
use crate::units::BlockNr;

/// `eh_magic` of every node of an extent tree.
pub const EXTENT_MAGIC: u16 = 0xF30A;
/// Deepest extent tree that Linux accepts.
pub const EXTENT_MAX_DEPTH: u16 = 5;
/// Longest extent that is written, blocks; `ee_len` above it means unwritten.
pub const EXTENT_MAX_WRITTEN: u16 = 32768;

on_disk! {
    /// Head of a node of an extent tree.
    ExtentHeader[12] Little {
        0x0 eh_magic: u16, Hex, "0xF30A";
        0x2 eh_entries: u16, Number, "entries that follow";
        0x4 eh_max: u16, Number, "entries that fit";
        0x6 eh_depth: u16, Number, "levels below this node; 0 for a leaf";
        0x8 eh_generation: u32, Number, "generation (Lustre)";
    }
}

on_disk! {
    /// An extent: blocks of the file that lie together on disk.
    ExtentLeaf[12] Little {
        0x0 ee_block: u32, Number, "first block of the file";
        0x4 ee_len: u16, Number, "blocks; above 32768: unwritten, less 32768";
        0x6 ee_start_hi: u16, Block, "first block on disk, high 16 bits";
        0x8 ee_start_lo: u32, Block, "first block on disk, low 32 bits";
    }
}

on_disk! {
    /// An entry of an inner node: where the subtree from a block of the file on is.
    ExtentIndex[12] Little {
        0x0 ei_block: u32, Number, "first block of the file below this entry";
        0x4 ei_leaf_lo: u32, Block, "node below, low 32 bits";
        0x8 ei_leaf_hi: u16, Block, "node below, high 16 bits";
        0xA ei_unused: u16, Raw, "unused";
    }
}

impl<T: AsRef<[u8]>> ExtentLeaf<T> {
    /// First block on disk.
    pub fn start(&self) -> BlockNr {
        BlockNr(join32(self.ee_start_lo(), u32::from(self.ee_start_hi())))
    }

    /// Blocks, 1 to 32768 in a sound extent.
    pub fn len(&self) -> u16 {
        match self.ee_len() {
            n if n > EXTENT_MAX_WRITTEN => n - EXTENT_MAX_WRITTEN,
            n => n,
        }
    }

    /// Whether it has no blocks (which is damage).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Allocated, but reads as zeros.
    pub fn is_unwritten(&self) -> bool {
        self.ee_len() > EXTENT_MAX_WRITTEN
    }
}

impl<T: AsRef<[u8]>> ExtentIndex<T> {
    /// The node below.
    pub fn leaf(&self) -> BlockNr {
        BlockNr(join32(self.ei_leaf_lo(), u32::from(self.ei_leaf_hi())))
    }
}
