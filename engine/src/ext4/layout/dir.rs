use super::wire::on_disk;

/// Longest name, bytes.
pub const NAME_MAX: usize = 255;
/// `det_reserved_ft` of the entry that carries a directory block's checksum.
pub const DIR_TAIL_TYPE: u8 = 0xDE;

on_disk! {
    /// Head of a directory entry; the name follows.
    DirEntryHead[8] Little {
        0x0 inode: u32, Inode, "inode; 0 for an unused entry";
        0x4 rec_len: u16, Number, "bytes to the next entry";
        0x6 name_len: u8, Number, "bytes of the name";
        0x7 file_type: u8, Number, "1 file, 2 directory, 3 character, 4 block, 5 pipe, 6 socket, 7 link";
    }
}

on_disk! {
    /// The false entry at a directory block's end that carries its checksum.
    DirTail[12] Little {
        0x0 det_reserved_zero1: u32, Inode, "0: no file";
        0x4 det_rec_len: u16, Number, "12";
        0x6 det_reserved_zero2: u8, Number, "0: no name";
        0x7 det_reserved_ft: u8, Hex, "0xDE";
        0x8 det_checksum: u32, Hex, "crc32c of the block before this entry";
    }
}

on_disk! {
    /// What an htree's root says of the tree; at byte 24 of the directory's block 0.
    DxRootInfo[8] Little {
        0x0 reserved_zero: u32, Raw, "0";
        0x4 hash_version: u8, Number, "0 legacy, 1 half MD4, 2 TEA, 3 to 5 the same unsigned, 6 SipHash";
        0x5 info_length: u8, Number, "8";
        0x6 indirect_levels: u8, Number, "inner levels below the root";
        0x7 unused_flags: u8, Hex, "0";
    }
}

on_disk! {
    /// The first entry of an htree node, whose hash's place tells how many entries there
    /// are.
    DxCountLimit[8] Little {
        0x0 limit: u16, Number, "entries that fit, this one included";
        0x2 count: u16, Number, "entries in use, this one included";
        0x4 block: u32, Number, "block of the directory for hashes below the second entry's";
    }
}

on_disk! {
    /// An entry of an htree node.
    DxEntry[8] Little {
        0x0 hash: u32, Hex, "first hash of the block (low bit: a hash goes on from the block before)";
        0x4 block: u32, Number, "block of the directory";
    }
}

on_disk! {
    /// The checksum at the end of an htree node.
    DxTail[8] Little {
        0x0 dt_reserved: u32, Raw, "0";
        0x4 dt_checksum: u32, Hex, "crc32c of the entries in use";
    }
}

/// Bytes from one entry to the next, as the two bytes on disk say it: blocks of 64 KiB
/// cannot be written as such, so 65535 or 0 stands for a whole block, and the low two
/// bits hold bits 16 and 17.
#[inline]
pub fn rec_len_from_disk(raw: u16, block_size: u32) -> u32 {
    let n = u32::from(raw);
    if block_size < 65536 {
        n
    } else if n == 65535 || n == 0 {
        block_size
    } else {
        (n & 65532) | (n & 3) << 16
    }
}
