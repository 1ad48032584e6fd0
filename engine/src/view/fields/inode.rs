//! The fields of an inode: `i_block` is shown as what it is in this inode.

use super::{Structure, hex_bytes, text};
use crate::ext4::layout::{
    EXTENT_MAGIC, ExtentHeader, ExtentIndex, ExtentLeaf, FileType, GOOD_OLD_INODE_SIZE, Inode,
    InodeFlags, Shown,
};
use crate::view::FieldValue;

/// Where `i_block` is in an inode, and its bytes.
const I_BLOCK: usize = 0x28;
const I_BLOCK_LEN: usize = 60;
/// Bytes of an extent tree's header and of each of its entries.
const ENTRY: usize = 12;

/// Mode as `ls -l` shows it.
pub fn mode_text(mode: u16) -> String {
    let mut out = String::from(FileType::from_mode(mode).letter());
    for (shift, special, letters) in [
        (6, 0o4000, ['s', 'S']),
        (3, 0o2000, ['s', 'S']),
        (0, 0o1000, ['t', 'T']),
    ] {
        let bits = mode >> shift & 7;
        out.push(if bits & 4 != 0 { 'r' } else { '-' });
        out.push(if bits & 2 != 0 { 'w' } else { '-' });
        out.push(match (bits & 1 != 0, mode & special != 0) {
            (true, false) => 'x',
            (false, false) => '-',
            (true, true) => letters[0],
            (false, true) => letters[1],
        });
    }
    out
}

/// Every field of an inode whose slot in the table holds `raw`, as far as its
/// `i_extra_isize` goes. Offsets count from `base`. `fast_symlink`: its target is in
/// `i_block`.
pub fn inode_fields(raw: &[u8], base: usize, fast_symlink: bool) -> Vec<FieldValue> {
    let inode = Inode(raw);
    let extra = if raw.len() > GOOD_OLD_INODE_SIZE {
        // The field itself is there though a damaged length may say otherwise.
        usize::from(inode.i_extra_isize()).max(2)
    } else {
        0
    };
    let end = (GOOD_OLD_INODE_SIZE + extra).min(raw.len());
    let table = Structure::little(Inode::FIELDS, raw.get(..end).unwrap_or(raw), base);
    let mut out = Vec::with_capacity(Inode::FIELDS.len() + 16);
    for field in Inode::FIELDS {
        if field.offset as usize == I_BLOCK {
            i_block(&inode, base + I_BLOCK, fast_symlink, &mut out);
        } else {
            out.extend(table.value(field));
        }
    }
    out
}

fn i_block(inode: &Inode<&[u8]>, at: usize, fast_symlink: bool, out: &mut Vec<FieldValue>) {
    let bytes = inode.i_block().0;
    let whole = |value: String, shown, help: &str| FieldValue {
        name: "i_block".into(),
        offset: at as u32,
        len: I_BLOCK_LEN as u32,
        shown,
        value,
        help: help.into(),
    };
    let flags = inode.flags();
    if flags.contains(InodeFlags::INLINE_DATA) {
        let help = "the contents, or their first 60 bytes";
        return out.push(whole(hex_bytes(&bytes), Shown::Raw, help));
    }
    if fast_symlink {
        return out.push(whole(text(&bytes), Shown::Text, "target of the link"));
    }
    if let Some((major, minor)) = inode.device() {
        let value = format!("major {major}, minor {minor}");
        return out.push(whole(value, Shown::Raw, "device number"));
    }
    if flags.contains(InodeFlags::EXTENTS) && ExtentHeader(&bytes[..]).eh_magic() == EXTENT_MAGIC {
        return extents(&bytes, at, out);
    }
    match inode.file_type() {
        // Without a type, it is a block map where the filesystem uses the inode at all.
        FileType::Regular | FileType::Directory | FileType::Symlink | FileType::Unknown
            if !flags.contains(InodeFlags::EXTENTS) =>
        {
            numbers(&bytes, at, out);
        }
        _ => out.push(whole(hex_bytes(&bytes), Shown::Raw, "not in use")),
    }
}

/// The root of an extent tree, entry by entry.
fn extents(bytes: &[u8], at: usize, out: &mut Vec<FieldValue>) {
    let head = ExtentHeader(bytes);
    out.extend(Structure::little(ExtentHeader::FIELDS, bytes, at).values());
    let used = usize::from(head.eh_entries()).min(bytes.len() / ENTRY - 1);
    let fields = if head.eh_depth() == 0 {
        ExtentLeaf::FIELDS
    } else {
        ExtentIndex::FIELDS
    };
    for (i, raw) in bytes.chunks_exact(ENTRY).enumerate().skip(1).take(used) {
        let entry = Structure::little(fields, raw, at + i * ENTRY).values();
        out.extend(entry.into_iter().map(|f| FieldValue {
            name: format!("{} [{}]", f.name, i - 1),
            ..f
        }));
    }
    let end = (1 + used) * ENTRY;
    if end < bytes.len() {
        out.push(FieldValue {
            name: "i_block (rest)".into(),
            offset: (at + end) as u32,
            len: (bytes.len() - end) as u32,
            shown: Shown::Raw,
            value: hex_bytes(&bytes[end..]),
            help: "room for more entries".into(),
        });
    }
}

/// The fifteen numbers of ext2 and ext3.
fn numbers(bytes: &[u8], at: usize, out: &mut Vec<FieldValue>) {
    for (i, raw) in bytes.chunks_exact(4).enumerate() {
        let help = match i {
            0..=11 => format!("block {i} of the file; 0 for a hole"),
            12 => "block of numbers of the next blocks".into(),
            13 => "block of numbers of blocks of numbers".into(),
            _ => "block of numbers, three levels above the file's blocks".into(),
        };
        out.push(FieldValue {
            name: format!("i_block[{i}]"),
            offset: (at + i * 4) as u32,
            len: 4,
            shown: Shown::Block,
            value: super::number(raw, crate::ext4::layout::Order::Little)
                .unwrap_or(0)
                .to_string(),
            help,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `ls -l` of GNU coreutils after `chmod`.
    #[test]
    fn modes_as_ls_shows_them() {
        for (mode, text) in [
            (0o100_644, "-rw-r--r--"),
            (0o104_755, "-rwsr-xr-x"),
            (0o106_644, "-rwSr-Sr--"),
            (0o041_777, "drwxrwxrwt"),
            (0o041_776, "drwxrwxrwT"),
            (0o120_777, "lrwxrwxrwx"),
            (0o020_660, "crw-rw----"),
            (0, "?---------"),
        ] {
            assert_eq!(mode_text(mode), text);
        }
    }

    /// The fields of every kind of inode cover the bytes in order, once.
    #[test]
    fn fields_are_in_order_and_apart() {
        for (flags, mode) in [
            (0u32, 0x81A4u16),
            (0x8_0000, 0x81A4),
            (0x1000_0000, 0x81A4),
            (0, 0x21A4),
            (0, 0xA1FF),
        ] {
            let mut raw = vec![0; 256];
            raw[0..2].copy_from_slice(&mode.to_le_bytes());
            raw[0x20..0x24].copy_from_slice(&flags.to_le_bytes());
            raw[0x28..0x32].copy_from_slice(&[0x0A, 0xF3, 2, 0, 4, 0, 0, 0, 0, 0]);
            raw[0x80] = 32;
            let fields = inode_fields(&raw, 0, mode == 0xA1FF);
            let mut end = 0;
            for f in &fields {
                assert_eq!(f.offset, end, "{}", f.name);
                end += f.len;
            }
            assert_eq!(end, 160);
        }
    }
}
