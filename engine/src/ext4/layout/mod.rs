//! ext4's and jbd2's on-disk structures, field by field.
//!
//! A structure wraps the bytes it is made of (borrowed or owned) and decodes a field
//! when asked. Names, offsets and meanings follow the Linux kernel's
//! `Documentation/filesystems/ext4`.

mod dir;
mod extent;
mod features;
mod group;
mod inode;
mod journal;
mod superblock;
pub mod wire;
mod xattr;

pub use dir::*;
pub use extent::*;
pub use features::*;
pub use group::*;
pub use inode::*;
pub use journal::*;
pub use superblock::*;
pub use wire::{Bytes, Field, Order, Shown, Wire};
pub use xattr::*;

/// Joins the two halves of a number that ext4 keeps apart.
pub(crate) fn join32(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Joins the two halves of a number that ext4 keeps apart.
pub(crate) fn join16(low: u16, high: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No two fields of a structure overlap, and each ends inside it.
    fn check(fields: &[Field], size: usize) {
        let mut end = 0;
        for f in fields {
            assert!(f.offset >= end, "{} overlaps the field before it", f.name);
            end = f.offset + f.len;
        }
        assert!(end as usize <= size);
    }

    #[test]
    fn fields_are_in_order_and_apart() {
        check(Superblock::FIELDS, Superblock::SIZE);
        check(GroupDesc::FIELDS, GroupDesc::SIZE);
        check(Inode::FIELDS, Inode::SIZE);
        check(ExtentHeader::FIELDS, ExtentHeader::SIZE);
        check(ExtentLeaf::FIELDS, ExtentLeaf::SIZE);
        check(ExtentIndex::FIELDS, ExtentIndex::SIZE);
        check(DirEntryHead::FIELDS, DirEntryHead::SIZE);
        check(DirTail::FIELDS, DirTail::SIZE);
        check(DxRootInfo::FIELDS, DxRootInfo::SIZE);
        check(DxCountLimit::FIELDS, DxCountLimit::SIZE);
        check(DxEntry::FIELDS, DxEntry::SIZE);
        check(XattrHeader::FIELDS, XattrHeader::SIZE);
        check(XattrEntry::FIELDS, XattrEntry::SIZE);
        check(MmpBlock::FIELDS, MmpBlock::SIZE);
        check(JournalHeader::FIELDS, JournalHeader::SIZE);
        check(JournalSuperblock::FIELDS, JournalSuperblock::SIZE);
        check(CommitBlock::FIELDS, CommitBlock::SIZE);
    }

    #[test]
    fn the_superblock_is_covered_to_its_last_byte() {
        let covered: u32 = Superblock::FIELDS.iter().map(|f| f.len).sum();
        assert_eq!(covered, 1024);
    }
}
