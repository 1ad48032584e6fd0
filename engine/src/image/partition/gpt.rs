//! The GUID partition table.
//!
//! Format: UEFI specification 2.10, section 5.3. A header of 92 bytes in sector 1, the
//! same mirrored in the last sector, and an array of entries of 128 bytes or more; both
//! protected by CRC-32.

use super::{Partition, PartitionTable, TableKind, mbr, types};
use crate::disk::{Cached, ReadAt};
use crate::image::identify::{Identity, Kind};
use flate2::Crc;

/// Most entries that are read; 128 is usual.
pub const GPT_ENTRIES_MAX: u32 = 4096;
const SIGNATURE: &[u8; 8] = b"EFI PART";
/// Largest entry that is accepted, bytes; 128 is usual.
const ENTRY_MAX: u32 = 4096;

/// The header, checked against itself.
struct Header {
    sector_size: u32,
    /// Where it was found.
    lba: u64,
    alternate: u64,
    entries_lba: u64,
    entries: u32,
    entry_size: u32,
    entries_crc: u32,
}

/// Finds a GPT by its primary header or, failing that, by its backup at the end.
pub(super) fn read(
    medium: &dyn ReadAt,
    mbr: Option<&mbr::Sector>,
    identity: &Identity,
) -> Option<PartitionTable> {
    let mut notes = Vec::new();
    let mut doubtful = None;
    for size in [512, 4096] {
        match Header::read(medium, size, 1) {
            Ok(Some(header)) if header.entries_intact(medium) => {
                header.note_backup(medium, &mut notes);
                return Some(header.table(medium, mbr, notes));
            }
            Ok(Some(header)) => {
                notes.push("The primary table's entries do not match their CRC".to_owned());
                doubtful = Some(header);
            }
            Ok(None) => {}
            Err(what) => notes.push(format!("The primary header is damaged: {what}")),
        }
    }
    // A stale backup at the end of a disk that is used otherwise proves nothing.
    let expected = !notes.is_empty()
        || mbr.is_some_and(mbr::Sector::protective)
        || (mbr.is_none() && matches!(identity.kind, Kind::Unknown | Kind::Zeros));
    if !expected {
        return None;
    }
    if notes.is_empty() {
        notes.push("There is no primary header in sector 1".to_owned());
    }
    if let Some(backup) = backup(medium, &mut notes) {
        return Some(backup.table(medium, mbr, notes));
    }
    if let Some(header) = doubtful {
        notes.push("They are shown as they are: the backup is no better".to_owned());
        return Some(header.table(medium, mbr, notes));
    }
    None
}

/// The header in the last sector, when it and its entries are intact.
fn backup(medium: &dyn ReadAt, notes: &mut Vec<String>) -> Option<Header> {
    for size in [512, 4096] {
        let last = (medium.len() / u64::from(size)).checked_sub(1)?;
        match Header::read(medium, size, last) {
            Ok(Some(header)) if header.entries_intact(medium) => {
                notes.push(format!(
                    "The table was read from the backup at byte {}",
                    last * u64::from(size)
                ));
                return Some(header);
            }
            Ok(None) => {}
            Ok(Some(_)) => notes.push("The backup's entries do not match their CRC".to_owned()),
            Err(what) => notes.push(format!("The backup header is damaged: {what}")),
        }
    }
    None
}

impl Header {
    /// The header in sector `lba`: `None` without the signature, an error when damaged.
    fn read(medium: &dyn ReadAt, sector_size: u32, lba: u64) -> Result<Option<Self>, String> {
        let mut sector = vec![0; sector_size as usize];
        let at = lba.saturating_mul(sector_size.into());
        if medium.read_at(at, &mut sector).is_err() || !sector.starts_with(SIGNATURE) {
            return Ok(None);
        }
        let size = le32(&sector, 12);
        if !(92..=sector_size).contains(&size) {
            return Err(format!("its size is given as {size} bytes, 92 expected"));
        }
        let told = le32(&sector, 16);
        sector[16..20].fill(0);
        let found = crc(&sector[..size as usize]);
        if told != found {
            return Err(format!("its CRC is {found:08x}, it says {told:08x}"));
        }
        let header = Self {
            sector_size,
            lba,
            alternate: le64(&sector, 32),
            entries_lba: le64(&sector, 72),
            entries: le32(&sector, 80),
            entry_size: le32(&sector, 84),
            entries_crc: le32(&sector, 88),
        };
        if le64(&sector, 24) != lba {
            return Err(format!(
                "it says that it is in sector {}, but is in sector {lba}",
                le64(&sector, 24)
            ));
        }
        if header.entry_size < 128
            || header.entry_size > ENTRY_MAX
            || !header.entry_size.is_multiple_of(8)
            || header.entries > GPT_ENTRIES_MAX
        {
            return Err(format!(
                "{} entries of {} bytes; at most {GPT_ENTRIES_MAX} of 128 to {ENTRY_MAX} expected",
                header.entries, header.entry_size
            ));
        }
        Ok(Some(header))
    }

    fn entry_at(&self, nr: u32) -> u64 {
        self.entries_lba
            .saturating_mul(self.sector_size.into())
            .saturating_add(u64::from(nr) * u64::from(self.entry_size))
    }

    /// Whether the array of entries can be read and matches its CRC.
    fn entries_intact(&self, medium: &dyn ReadAt) -> bool {
        let cached = Cached::new(medium, 16 * 1024, 1);
        let mut sum = Crc::new();
        let mut entry = vec![0; self.entry_size as usize];
        for nr in 0..self.entries {
            if cached.read_at(self.entry_at(nr), &mut entry).is_err() {
                return false;
            }
            sum.update(&entry);
        }
        sum.sum() == self.entries_crc
    }

    /// Notes when the other copy is missing or differs.
    fn note_backup(&self, medium: &dyn ReadAt, notes: &mut Vec<String>) {
        let at = self.alternate.saturating_mul(self.sector_size.into());
        if at >= medium.len() {
            notes.push(format!(
                "The backup table belongs at byte {at}, past the end of the image, which seems cut off"
            ));
            return;
        }
        match Header::read(medium, self.sector_size, self.alternate) {
            Ok(Some(other)) if other.entries_crc == self.entries_crc => {}
            Ok(Some(_)) => notes.push("The backup table differs from the primary".to_owned()),
            Ok(None) => notes.push(format!("There is no backup table at byte {at}")),
            Err(what) => notes.push(format!("The backup header is damaged: {what}")),
        }
    }

    fn table(
        &self,
        medium: &dyn ReadAt,
        mbr: Option<&mbr::Sector>,
        mut notes: Vec<String>,
    ) -> PartitionTable {
        match mbr {
            None => notes.push("The protective MBR is missing".to_owned()),
            Some(mbr) if mbr.others() > 0 => notes.push(format!(
                "The MBR names {} partitions of its own (a hybrid); the GPT's are shown",
                mbr.others()
            )),
            Some(_) => {}
        }
        let cached = Cached::new(medium, 16 * 1024, 1);
        let mut entry = vec![0; self.entry_size as usize];
        let mut partitions = Vec::new();
        for nr in 0..self.entries {
            if cached.read_at(self.entry_at(nr), &mut entry).is_err() {
                notes.push(format!(
                    "The entries from number {} on, at byte {}, cannot be read",
                    nr + 1,
                    self.entry_at(nr)
                ));
                break;
            }
            partitions.extend(self.partition(nr + 1, &entry));
        }
        debug_assert!(self.lba > 0);
        PartitionTable {
            kind: TableKind::Gpt,
            sector_size: self.sector_size,
            partitions,
            notes,
        }
    }

    fn partition(&self, number: u32, entry: &[u8]) -> Option<Partition> {
        if entry[..16].iter().all(|&b| b == 0) {
            return None;
        }
        let code = guid(&entry[..16]);
        let (first, last) = (le64(entry, 32), le64(entry, 40));
        let sectors = last.wrapping_sub(first).wrapping_add(1);
        let sectors = if last < first { 0 } else { sectors };
        let size = u64::from(self.sector_size);
        let mut partition = Partition {
            number,
            start_byte: first.saturating_mul(size),
            len_bytes: sectors.saturating_mul(size),
            type_name: types::gpt(&code).to_owned(),
            type_code: code,
            name: name(&entry[56..128]),
            bootable: le64(entry, 48) & 4 != 0,
            container: false,
            note: String::new(),
        };
        if last < first {
            partition.remark(&format!(
                "Its last sector, {last}, lies before its first, {first}"
            ));
        }
        Some(partition)
    }
}

/// UTF-16LE, up to the first zero; what is not text becomes U+FFFD.
fn name(bytes: &[u8]) -> String {
    let units = bytes
        .chunks_exact(2)
        .map(|b| u16::from_le_bytes([b[0], b[1]]))
        .take_while(|&u| u != 0);
    char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

/// A GUID as it is written: the first three fields are stored little-endian.
fn guid(b: &[u8]) -> String {
    let mut out = String::with_capacity(36);
    for (i, at) in [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15]
        .into_iter()
        .enumerate()
    {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        out.push_str(&format!("{:02X}", b[at]));
    }
    out
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn le32(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn le64(b: &[u8], at: usize) -> u64 {
    u64::from(le32(b, at)) | u64::from(le32(b, at + 4)) << 32
}
