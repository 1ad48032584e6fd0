use super::wire::on_disk;

/// Magic of an attribute block and of the attributes inside an inode.
pub const XATTR_MAGIC: u32 = 0xEA02_0000;

on_disk! {
    /// Head of an attribute block.
    XattrHeader[32] Little {
        0x00 h_magic: u32, Hex, "0xEA020000";
        0x04 h_refcount: u32, Number, "inodes that share the block";
        0x08 h_blocks: u32, Number, "blocks; always 1";
        0x0C h_hash: u32, Hex, "hash of all attributes";
        0x10 h_checksum: u32, Hex, "crc32c of block number and block";
        0x14 h_reserved_0: u32, Raw, "0";
        0x18 h_reserved_1: u32, Raw, "0";
        0x1C h_reserved_2: u32, Raw, "0";
    }
}

on_disk! {
    /// An attribute; the name follows, the value is at the end of the space or in an
    /// inode of its own.
    XattrEntry[16] Little {
        0x0 e_name_len: u8, Number, "bytes of the name";
        0x1 e_name_index: u8, Number, "prefix: 1 user, 2 and 3 POSIX ACL, 4 trusted, 6 security, 7 system";
        0x2 e_value_offs: u16, Number, "where the value is";
        0x4 e_value_inum: u32, Inode, "inode that holds the value; 0 for none";
        0x8 e_value_size: u32, Number, "bytes of the value";
        0xC e_hash: u32, Hex, "hash of name and value";
    }
}

/// The part of the name that `e_name_index` stands for.
pub fn xattr_prefix(index: u8) -> Option<&'static str> {
    Some(match index {
        0 => "",
        1 => "user.",
        2 => "system.posix_acl_access",
        3 => "system.posix_acl_default",
        4 => "trusted.",
        5 => "lustre.",
        6 => "security.",
        7 => "system.",
        8 => "system.richacl",
        9 => "encryption.",
        10 => "gnu.",
        _ => return None,
    })
}
