//! Checksums over metadata, as ext4 computes them.
//!
//! crc32c runs without the final inversion that other users of it make; the crc16 of
//! old descriptors is the one known as CRC-16/MODBUS. Source: the kernel's
//! `Documentation/filesystems/ext4/checksums.rst`.

use super::layout::{
    DxTail, GOOD_OLD_INODE_SIZE, GroupDesc, Incompat, Inode, RoCompat, Superblock,
};
use crate::units::{BlockNr, GroupNr, InodeNr};

static CRC16: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_MODBUS);

/// Goes on with a crc32c over more bytes; no inversion at either end.
pub fn crc32c(state: u32, bytes: &[u8]) -> u32 {
    !crc32c::crc32c_append(!state, bytes)
}

/// The seed of every metadata checksum of a filesystem.
pub fn seed<T: AsRef<[u8]>>(sb: &Superblock<T>) -> u32 {
    if sb.incompat().contains(Incompat::CSUM_SEED) {
        sb.s_checksum_seed()
    } else {
        crc32c(!0, &sb.s_uuid().0)
    }
}

/// The superblock's own checksum: over all bytes before it.
pub fn superblock(bytes: &[u8; 1024]) -> u32 {
    crc32c(!0, &bytes[..0x3FC])
}

/// A descriptor's checksum, by whichever feature asks for one; `None` where none does.
/// `desc` is the whole descriptor.
pub fn group<T: AsRef<[u8]>>(sb: &Superblock<T>, nr: GroupNr, desc: &[u8]) -> Option<u16> {
    const AT: usize = 0x1E;
    if desc.len() < 32 {
        return None;
    }
    let number = nr.0.to_le_bytes();
    if sb.ro_compat().contains(RoCompat::METADATA_CSUM) {
        let sum = crc32c(seed(sb), &number);
        let sum = crc32c(sum, &desc[..AT]);
        let sum = crc32c(sum, &[0, 0]);
        return Some(low16(crc32c(sum, &desc[AT + 2..])));
    }
    if sb.ro_compat().contains(RoCompat::GDT_CSUM) {
        let mut digest = CRC16.digest();
        digest.update(&sb.s_uuid().0);
        digest.update(&number);
        digest.update(&desc[..AT]);
        // The tail counts only where 64bit makes descriptors longer than it.
        if sb.incompat().contains(Incompat::BIT64) && desc.len() > 32 {
            digest.update(&desc[AT + 2..]);
        }
        return Some(digest.finalize());
    }
    None
}

fn low16(sum: u32) -> u16 {
    (sum & 0xFFFF) as u16
}

/// A bitmap's checksum over the bytes that stand for something, cut to 16 bits where
/// the descriptor has room for no more.
pub fn bitmap(seed: u32, bits: &[u8], desc_size: usize) -> u32 {
    let sum = crc32c(seed, bits);
    if desc_size >= GroupDesc::SIZE {
        sum
    } else {
        sum & 0xFFFF
    }
}

/// The seed of the checksums of what belongs to an inode.
pub fn inode_seed(seed: u32, ino: InodeNr, generation: u32) -> u32 {
    let sum = crc32c(seed, &ino.0.to_le_bytes());
    crc32c(sum, &generation.to_le_bytes())
}

/// An inode's checksum; `raw` is the inode at its full size in the table. Cut to 16
/// bits where the inode has no room for the high half.
pub fn inode(seed: u32, ino: InodeNr, raw: &[u8]) -> u32 {
    let view = Inode(raw);
    let sum = inode_seed(seed, ino, view.i_generation());
    let old = raw.len().min(GOOD_OLD_INODE_SIZE);
    let sum = crc32c(sum, &raw[..old.min(0x7C)]);
    let sum = crc32c(sum, &[0, 0]);
    let mut sum = crc32c(sum, raw.get(0x7E..old).unwrap_or_default());
    if !view.has_checksum_hi() {
        return crc32c(sum, &raw[old..]) & 0xFFFF;
    }
    sum = crc32c(sum, &raw[0x80..0x82]);
    sum = crc32c(sum, &[0, 0]);
    crc32c(sum, &raw[0x84..])
}

/// The checksum of an extent node or directory block: of the bytes before its tail.
pub fn of_inode(inode_seed: u32, bytes: &[u8]) -> u32 {
    crc32c(inode_seed, bytes)
}

/// An htree node's checksum: over head and entries in use, then its tail.
/// `used` are the bytes from the block's start to the end of the last entry in use.
pub fn htree(inode_seed: u32, used: &[u8], tail: &DxTail<&[u8]>) -> u32 {
    let sum = crc32c(inode_seed, used);
    let sum = crc32c(sum, &tail.dt_reserved().to_le_bytes());
    crc32c(sum, &[0; 4])
}

/// An attribute block's checksum: over its number, then the block with the checksum
/// itself taken as zero.
pub fn xattr_block(seed: u32, at: BlockNr, block: &[u8]) -> u32 {
    const FIELD: std::ops::Range<usize> = 0x10..0x14;
    if block.len() < 32 {
        return 0;
    }
    let sum = crc32c(seed, &at.0.to_le_bytes());
    let sum = crc32c(sum, &block[..FIELD.start]);
    let sum = crc32c(sum, &[0; 4]);
    crc32c(sum, &block[FIELD.end..])
}

/// A block of the orphan file: over its number on disk and the entries.
pub fn orphan_block(inode_seed: u32, at: BlockNr, entries: &[u8]) -> u32 {
    crc32c(crc32c(inode_seed, &at.0.to_le_bytes()), entries)
}

#[cfg(test)]
mod tests {
    /// The check value of CRC-32C in the catalogue of parametrised CRCs is 0xE3069283;
    /// ours leaves out the final inversion.
    #[test]
    fn crc32c_matches_its_published_check_value() {
        assert_eq!(super::crc32c(!0, b"123456789"), !0xE306_9283);
    }

    /// The check value of CRC-16/MODBUS in the same catalogue.
    #[test]
    fn crc16_matches_its_published_check_value() {
        assert_eq!(super::CRC16.checksum(b"123456789"), 0x4B37);
    }
}
