//! The master boot record and the chain of extended boot records.
//!
//! Format: the IBM PC's, as Linux's `block/partitions/msdos.c` and util-linux read it:
//! four entries of 16 bytes at byte 446 of a sector that ends in 55 AA; types 05, 0F
//! and 85 hold a chain of further such sectors, each with one partition (relative to
//! that sector) and one link (relative to the start of the container).

use super::{Partition, PartitionTable, TableKind, recognised, types};
use crate::disk::ReadAt;
use crate::image::identify::{Identity, Kind};
use std::collections::BTreeSet;

/// Most logical partitions that are followed.
pub const LOGICAL_MAX: u32 = 256;
/// Type of the entry that guards a GPT.
const PROTECTIVE: u8 = 0xee;

/// An entry of 16 bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    flag: u8,
    pub kind: u8,
    start: u32,
    sectors: u32,
}

impl Entry {
    fn parse(b: &[u8]) -> Self {
        Self {
            flag: b[0],
            kind: b[4],
            start: u32::from_le_bytes([b[8], b[9], b[10], b[11]]),
            sectors: u32::from_le_bytes([b[12], b[13], b[14], b[15]]),
        }
    }

    fn used(&self) -> bool {
        self.kind != 0 && self.sectors != 0
    }

    fn extended(&self) -> bool {
        self.used() && matches!(self.kind, 0x05 | 0x0f | 0x85)
    }

    fn partition(&self, number: u32, base: u64, sector: u32) -> Partition {
        Partition {
            number,
            start_byte: (base + u64::from(self.start)) * u64::from(sector),
            len_bytes: u64::from(self.sectors) * u64::from(sector),
            type_name: types::mbr(self.kind).to_owned(),
            type_code: format!("0x{:02x}", self.kind),
            name: String::new(),
            bootable: self.flag & 0x80 != 0,
            container: self.extended() || self.kind == PROTECTIVE,
            note: String::new(),
        }
    }
}

/// A sector that ends in 55 AA.
pub(super) struct Sector {
    pub entries: [Entry; 4],
}

impl Sector {
    /// The first sector of `medium`, when it is one.
    pub fn read(medium: &dyn ReadAt) -> Option<Self> {
        Self::read_at(medium, 0)
    }

    fn read_at(medium: &dyn ReadAt, byte: u64) -> Option<Self> {
        let mut b = [0; 512];
        medium.read_at(byte, &mut b).ok()?;
        if b[510..] != [0x55, 0xaa] {
            return None;
        }
        let mut entries = [Entry::default(); 4];
        for (entry, bytes) in entries.iter_mut().zip(b[446..510].chunks_exact(16)) {
            *entry = Entry::parse(bytes);
        }
        Some(Self { entries })
    }

    /// Whether an entry guards a GPT.
    pub fn protective(&self) -> bool {
        self.entries.iter().any(|e| e.kind == PROTECTIVE)
    }

    /// Entries for partitions of its own.
    pub fn others(&self) -> usize {
        self.entries
            .iter()
            .filter(|e| e.used() && e.kind != PROTECTIVE)
            .count()
    }

    /// Linux's test: an active flag is 00 or 80, or the sector is no table but code.
    fn plausible(&self) -> bool {
        self.entries.iter().all(|e| e.flag & 0x7f == 0)
            && self.entries.iter().all(|e| !e.used() || e.start != 0)
    }

    fn empty(&self) -> bool {
        !self.entries.iter().any(Entry::used)
    }
}

/// The table in the first sector, if it is one.
pub(super) fn table(
    medium: &dyn ReadAt,
    sector: &Sector,
    identity: &Identity,
) -> Option<PartitionTable> {
    if !sector.plausible() {
        return None;
    }
    let known = !matches!(identity.kind, Kind::Unknown | Kind::Zeros);
    if sector.empty() && known {
        return None;
    }
    let size = sector_size(medium, sector);
    let mut table = PartitionTable {
        kind: TableKind::Mbr,
        sector_size: size,
        partitions: Vec::new(),
        notes: Vec::new(),
    };
    if size != 512 {
        table.notes.push(format!(
            "An MBR does not tell its sector size: {size} bytes fit what lies in the partitions, 512 do not"
        ));
    }
    if sector.empty() {
        table.notes.push("The table has no partitions".to_owned());
    }
    for (number, entry) in (1..).zip(&sector.entries) {
        if entry.used() {
            table.partitions.push(entry.partition(number, 0, size));
        }
    }
    for entry in sector.entries.iter().filter(|e| e.extended()) {
        logical(medium, entry, &mut table);
    }
    Some(table)
}

/// 4096 when that alone puts something known at the partitions' starts, else 512.
fn sector_size(medium: &dyn ReadAt, sector: &Sector) -> u32 {
    let places = |size: u64| -> Vec<(u64, u64)> {
        sector
            .entries
            .iter()
            .filter(|e| e.used() && !e.extended())
            .map(|e| (u64::from(e.start) * size, u64::from(e.sectors) * size))
            .collect()
    };
    if recognised(medium, &places(512)) == 0 && recognised(medium, &places(4096)) > 0 {
        4096
    } else {
        512
    }
}

/// Follows the chain in the container `extended` and adds its partitions.
fn logical(medium: &dyn ReadAt, extended: &Entry, table: &mut PartitionTable) {
    let size = table.sector_size;
    let base = u64::from(extended.start);
    let mut seen = BTreeSet::new();
    let mut at = base;
    let mut number = table.partitions.iter().map(|p| p.number).fold(4, u32::max);
    for _ in 0..LOGICAL_MAX {
        if !seen.insert(at) {
            table.notes.push(format!(
                "The chain of logical partitions returns to sector {at}, where it was already; it is followed no further"
            ));
            return;
        }
        let Some(sector) = Sector::read_at(medium, at * u64::from(size)) else {
            table.notes.push(format!(
                "The chain of logical partitions leads to sector {at}, which is no boot record (it lies past the end or lacks 55 AA); it is followed no further"
            ));
            return;
        };
        for (slot, entry) in sector.entries.iter().enumerate() {
            let inside = at + u64::from(entry.start) + u64::from(entry.sectors)
                <= base + u64::from(extended.sectors);
            // Two entries are the rule; what is in the others is taken when it fits.
            if entry.used() && !entry.extended() && (slot < 2 || inside) {
                number += 1;
                table.partitions.push(entry.partition(number, at, size));
            }
        }
        let Some(link) = sector.entries.iter().find(|e| e.extended()) else {
            return;
        };
        at = base + u64::from(link.start);
    }
    table.notes.push(format!(
        "Only the first {LOGICAL_MAX} links of the chain of logical partitions are followed"
    ));
}
