//! Partition tables: MBR with logical partitions, and GPT.
//!
//! Memory: a partition takes some 200 bytes; a GPT has at most [`GPT_ENTRIES_MAX`] of
//! them, an MBR at most 4 + [`LOGICAL_MAX`]. Nothing else is kept.
//!
//! The crates gptman and mbrman were measured and left: the first reserves memory for as
//! many entries as the header claims (up to 2^32), the second adds sector numbers
//! unchecked and gives up the whole table at the first odd logical partition; both bring
//! a serialiser for what is a handful of 16-byte and 128-byte records.

mod gpt;
mod mbr;
mod types;

pub use gpt::GPT_ENTRIES_MAX;
pub use mbr::LOGICAL_MAX;

use super::identify::{Identity, Kind, identify};
use crate::disk::{ReadAt, Window};
use serde::Serialize;

/// The kind of a partition table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TableKind {
    /// The PC's master boot record, with logical partitions.
    Mbr,
    /// The GUID partition table of UEFI.
    Gpt,
}

/// One partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Partition {
    /// As Linux counts: MBR 1 to 4, logical ones from 5 on; GPT the entry's number.
    pub number: u32,
    /// First byte in the image.
    pub start_byte: u64,
    /// Length in bytes, as the table says: it may reach past the end of the image.
    pub len_bytes: u64,
    /// What the type means.
    pub type_name: String,
    /// The type as the table has it: `0x83` or a GUID.
    pub type_code: String,
    /// GPT's name; empty for MBR.
    pub name: String,
    /// MBR's active flag; GPT's legacy BIOS bootable.
    pub bootable: bool,
    /// A container of other partitions (MBR's extended) or a guard (GPT's protective).
    pub container: bool,
    /// What is odd about it, in sentences; empty when nothing is.
    pub note: String,
}

/// A partition table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PartitionTable {
    /// MBR or GPT.
    pub kind: TableKind,
    /// Bytes a sector, by which the table counts.
    pub sector_size: u32,
    /// In the order of the table.
    pub partitions: Vec<Partition>,
    /// What is odd about the table, in sentences.
    pub notes: Vec<String>,
}

impl PartitionTable {
    /// The partition with this number.
    #[must_use]
    pub fn get(&self, number: u32) -> Option<&Partition> {
        self.partitions.iter().find(|p| p.number == number)
    }
}

impl Partition {
    /// First byte behind the partition.
    #[must_use]
    pub fn end_byte(&self) -> u64 {
        self.start_byte.saturating_add(self.len_bytes)
    }

    fn remark(&mut self, sentence: &str) {
        if !self.note.is_empty() {
            self.note.push_str(". ");
        }
        self.note.push_str(sentence);
    }
}

/// Looks for a partition table in `medium`, whose bytes were identified as `identity`:
/// a filesystem that owns the first sector has none, though the sector ends in 55 AA.
#[must_use]
pub fn read(medium: &dyn ReadAt, identity: &Identity) -> Option<PartitionTable> {
    if medium.len() < 512 || identity.owns_first_sector() {
        return None;
    }
    let mbr = mbr::Sector::read(medium);
    let mut table = match gpt::read(medium, mbr.as_ref(), identity) {
        Some(gpt) => gpt,
        None => mbr::table(medium, mbr.as_ref()?, identity)?,
    };
    if matches!(
        identity.kind,
        Kind::Ext | Kind::ExtJournal | Kind::Filesystem
    ) {
        table.notes.push(format!(
            "The image as a whole also has the mark of {}, outside every partition",
            identity.name
        ));
    }
    note_ends(&mut table, medium.len());
    note_overlaps(&mut table);
    Some(table)
}

fn note_ends(table: &mut PartitionTable, len: u64) {
    for p in &mut table.partitions {
        if p.container {
            continue;
        }
        if p.start_byte >= len {
            p.remark(&format!(
                "It starts past the end of the image, which has {len} bytes"
            ));
        } else if p.end_byte() > len {
            p.remark(&format!(
                "It reaches {} bytes past the end of the image",
                p.end_byte() - len
            ));
        }
    }
}

/// Notes each partition that shares bytes with one that starts before it.
fn note_overlaps(table: &mut PartitionTable) {
    let mut order: Vec<usize> = (0..table.partitions.len())
        .filter(|&i| !table.partitions[i].container)
        .collect();
    order.sort_by_key(|&i| (table.partitions[i].start_byte, table.partitions[i].number));
    let mut furthest: Option<(u64, u32)> = None;
    for i in order {
        let (start, end, number) = {
            let p = &table.partitions[i];
            (p.start_byte, p.end_byte(), p.number)
        };
        if let Some((reached, by)) = furthest
            && start < reached
        {
            table.partitions[i].remark(&format!("It overlaps partition {by}"));
        }
        if furthest.is_none_or(|(reached, _)| end > reached) {
            furthest = Some((end, number));
        }
    }
}

/// How many of the places hold something known: tells the sector size of an MBR.
fn recognised(medium: &dyn ReadAt, places: &[(u64, u64)]) -> usize {
    places
        .iter()
        .filter(|&&(start, len)| {
            let kind = identify(&Window::new(medium, start, len)).kind;
            matches!(
                kind,
                Kind::Ext | Kind::ExtJournal | Kind::Filesystem | Kind::Volume
            )
        })
        .count()
}
