//! Recognition that a few bytes at a fixed place do not settle.

use super::{Identity, Kind, Peek, ZEROS_LOOKED_AT};

/// Bits of FAT's width, by the count of clusters; `None` when the first sector is no
/// boot sector of FAT. Source: Microsoft's FAT specification, section 3.
fn fat_bits(peek: &Peek<'_>) -> Option<u8> {
    let b: [u8; 64] = peek.bytes(0)?;
    let le16 = |at: usize| u64::from(u16::from_le_bytes([b[at], b[at + 1]]));
    let le32 = |at: usize| le16(at) | le16(at + 2) << 16;
    let (sector, per_cluster, reserved, fats) = (le16(11), u64::from(b[13]), le16(14), b[16]);
    let sound = matches!(b[0], 0xeb | 0xe9)
        && matches!(sector, 512 | 1024 | 2048 | 4096)
        && per_cluster.is_power_of_two()
        && reserved > 0
        && (1..=2).contains(&fats)
        && (b[21] == 0xf0 || b[21] >= 0xf8);
    if !sound {
        return None;
    }
    let (roots, short_fat, long_fat) = (le16(17), le16(22), le32(36));
    let total = if le16(19) != 0 { le16(19) } else { le32(32) };
    let fat = if short_fat != 0 { short_fat } else { long_fat };
    let overhead = reserved + u64::from(fats) * fat + (roots * 32).div_ceil(sector);
    if roots == 0 && short_fat == 0 {
        return Some(32);
    }
    Some(match total.checked_sub(overhead)? / per_cluster {
        0 => return None,
        1..4085 => 12,
        _ => 16,
    })
}

pub(super) fn fat12(peek: &Peek<'_>) -> bool {
    fat_bits(peek) == Some(12)
}

pub(super) fn fat16(peek: &Peek<'_>) -> bool {
    fat_bits(peek) == Some(16)
}

pub(super) fn fat32(peek: &Peek<'_>) -> bool {
    fat_bits(peek) == Some(32)
}

/// UDF announces itself by NSR02 or NSR03 among the descriptors from byte 32768 on, of
/// 2 KiB each (ECMA-167, 3/9).
pub(super) fn udf(peek: &Peek<'_>) -> bool {
    (16..32u64).any(|nr| {
        matches!(
            peek.bytes::<5>(nr * 2048 + 1),
            Some([b'N', b'S', b'R', b'0', b'2' | b'3'])
        )
    })
}

/// Minix: a 16-bit magic number, so the counts must make sense as well.
pub(super) fn minix(peek: &Peek<'_>) -> bool {
    let v1 = || {
        let magic = peek.le16(1024 + 16)?;
        let (inodes, imap, zmap) = (peek.le16(1024)?, peek.le16(1024 + 4)?, peek.le16(1024 + 6)?);
        Some(
            matches!(magic, 0x137f | 0x138f | 0x2468 | 0x2478)
                && inodes > 0
                && u32::from(imap) * 8192 >= u32::from(inodes)
                && zmap > 0,
        )
    };
    let v3 = || {
        let (inodes, imap) = (peek.le32(1024)?, peek.le16(1024 + 6)?);
        let size = u64::from(peek.le16(1024 + 28)?);
        Some(
            peek.le16(1024 + 24)? == 0x4d5a
                && inodes > 0
                && size >= 1024
                && u64::from(imap) * size * 8 >= u64::from(inodes),
        )
    };
    v1().unwrap_or(false) || v3().unwrap_or(false)
}

/// Linux md keeps its superblock at 0, at 4096 or near the end, by its version.
pub(super) fn md_at_end(peek: &Peek<'_>) -> bool {
    const MAGIC: [u8; 4] = 0xa92b_4efc_u32.to_le_bytes();
    let sectors = peek.len() / 512;
    let v1_0 = sectors
        .checked_sub(16)
        .is_some_and(|s| peek.has((s & !7) * 512, &MAGIC));
    let v0_90 = (peek.len() & !0xffff)
        .checked_sub(0x1_0000)
        .is_some_and(|at| peek.has(at, &MAGIC));
    v1_0 || v0_90
}

/// LVM2's label lies in one of the first four sectors.
pub(super) fn lvm2(peek: &Peek<'_>) -> bool {
    (0..4).any(|nr| peek.has(nr * 512, b"LABELONE") && peek.has(nr * 512 + 24, b"LVM2 001"))
}

/// An uberblock in the first label of ZFS (bytes 128 to 256 Ki), in either byte order.
pub(super) fn zfs(peek: &Peek<'_>) -> bool {
    (128..256u64).any(|nr| {
        matches!(
            peek.bytes::<8>(nr * 1024).map(u64::from_le_bytes),
            Some(0x00ba_b10c | 0x0cb1_ba00_0000_0000)
        )
    })
}

/// Swap's mark ends the first page, whose size is the machine's.
pub(super) fn swap(peek: &Peek<'_>) -> bool {
    [4096u64, 8192, 16384, 32768, 65536]
        .iter()
        .any(|&page| peek.has(page - 10, b"SWAPSPACE2") || peek.has(page - 10, b"SWAP-SPACE"))
}

/// A cookie in the last sector: a fixed VHD.
pub(super) fn vhd_footer(peek: &Peek<'_>) -> bool {
    peek.len()
        .checked_sub(512)
        .is_some_and(|at| peek.has(at, b"conectix"))
}

/// A trailer in the last sector: Apple's disk image.
pub(super) fn dmg(peek: &Peek<'_>) -> bool {
    peek.len()
        .checked_sub(512)
        .is_some_and(|at| peek.has(at, b"koly"))
}

/// MZ alone are two letters: the header of the new executable must follow.
pub(super) fn windows_program(peek: &Peek<'_>) -> bool {
    peek.le32(60)
        .is_some_and(|at| peek.has(at.into(), b"PE\0\0"))
}

/// bzip2: a block size and the digits of pi (or of its square root, when empty) follow.
pub(super) fn bzip2(peek: &Peek<'_>) -> bool {
    matches!(
        peek.bytes::<7>(3),
        Some([b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59])
            | Some([b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90])
    )
}

/// A header's checksum settles old tar archives without a mark (POSIX.1, ustar).
pub(super) fn tar(peek: &Peek<'_>) -> bool {
    let Some(b) = peek.bytes::<512>(0) else {
        return false;
    };
    let told = b[148..156]
        .iter()
        .skip_while(|&&c| c == b' ')
        .take_while(|&&c| (b'0'..=b'7').contains(&c))
        .fold(0u32, |n, &c| {
            n.wrapping_mul(8).wrapping_add(u32::from(c - b'0'))
        });
    let sum: u32 = b
        .iter()
        .enumerate()
        .map(|(i, &c)| {
            if (148..156).contains(&i) {
                32
            } else {
                u32::from(c)
            }
        })
        .sum();
    b[0] != 0 && told == sum
}

/// Whether the beginning is zeros only.
pub(super) fn zeros(peek: &Peek<'_>) -> Option<Identity> {
    let until = peek.len().min(ZEROS_LOOKED_AT);
    let mut piece = vec![0; 64 * 1024];
    let mut at = peek.medium.next_data(0);
    while at < until {
        let n = (until - at).min(piece.len() as u64) as usize;
        peek.medium.read_at(at, &mut piece[..n]).ok()?;
        if piece[..n].iter().any(|&b| b != 0) {
            return None;
        }
        at = peek.medium.next_data(at + n as u64);
    }
    let mut it = Identity::new(Kind::Zeros, "zeros", "zeros", "");
    it.sentence = if until == peek.len() {
        let are = match until {
            1 => "The only byte of this is".into(),
            _ => format!("All {until} bytes of this are"),
        };
        format!("{are} zero: nothing was ever written, or it was erased")
    } else {
        format!(
            "The first {until} bytes of this are zero, where a filesystem or a partition table has its mark"
        )
    };
    Some(it)
}

/// Whether the beginning is text, and which.
pub(super) fn text(peek: &Peek<'_>) -> Option<Identity> {
    let mut head = [0; 512];
    let n = peek.len().min(512) as usize;
    peek.medium.read_at(0, &mut head[..n]).ok()?;
    let text = match std::str::from_utf8(&head[..n]) {
        Ok(text) => text,
        // Cut within a letter.
        Err(e) if e.error_len().is_none() && e.valid_up_to() > 0 => {
            std::str::from_utf8(&head[..e.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    if text
        .chars()
        .any(|c| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\x0c' | '\x1b'))
    {
        return None;
    }
    let start = text
        .trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
        .to_ascii_lowercase();
    let (id, name) = if start.starts_with("<!doctype html") || start.starts_with("<html") {
        ("html", "a page of HTML")
    } else if start.starts_with("<?xml") {
        ("xml", "an XML document")
    } else {
        ("text", "a text file")
    };
    let mut it = Identity::new(
        Kind::Text,
        id,
        name,
        ", not a disk image: perhaps the download gave a page instead of the file",
    );
    it.first_sector = true;
    Some(it)
}
