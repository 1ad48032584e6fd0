//! What a power cut may take: the writes that are accepted and not known to be on the
//! medium, cut into the parts that reach it as a whole or not at all.

use crate::device::Drive;
use crate::disk::{CowDisk, Data, ReadAt};
use crate::event::EventId;
use std::sync::Arc;

/// Bytes that no device tears (NVMe and ATA: a logical block is atomic).
pub const SECTOR: u64 = 512;
/// Writes whose bytes are compared with what they replace: beyond so many bytes in all it is
/// left out, which makes states that differ in nothing, but none that cannot be.
const MOST_COMPARED: u64 = 64 << 20;
/// Beyond so many bytes in all no write is torn: each is there as a whole or not at all.
const MOST_TORN: u64 = 256 << 20;
/// Writes that may be lost at once; older ones are taken to be on the medium.
const MOST_WRITES: usize = 20_000;
/// Writes over one another, summed over the stretches that the same ones cover.
const MOST_COVERS: usize = 4 << 20;

/// What reaches the medium as a whole or not at all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tear {
    /// A sector of 512 bytes: what every device promises.
    Sector,
    /// A block of so many bytes, a multiple of a sector's, at a multiple of it.
    Block(u32),
    /// The whole write.
    Never,
}

impl Default for Tear {
    /// The physical sector of what was sold since about 2011 (Advanced Format).
    fn default() -> Self {
        Self::Block(4096)
    }
}

/// In which order writes reach the medium between two flushes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Order {
    /// In any: a volatile cache that empties itself as it likes.
    #[default]
    Any,
    /// In the order in which they were made: what is on the medium is a beginning of them.
    Kept,
}

/// What a device promises of writes without a flush between them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Rules {
    /// What reaches the medium as a whole.
    pub tear: Tear,
    /// In which order.
    pub order: Order,
    /// The drive says that a flush is done when it is not, and takes FUA for nothing: any
    /// write that it still has in its cache may be lost.
    pub lies: bool,
}

/// A write that may be lost.
#[derive(Clone, Debug)]
pub struct PendingWrite {
    /// Its number among the device's requests.
    pub request: u64,
    /// First byte; a multiple of a sector.
    pub offset: u64,
    /// Bytes; a multiple of a sector.
    pub len: u64,
    /// What was written.
    pub data: Arc<[(Data, u64)]>,
    /// The event that it follows from.
    pub cause: Option<EventId>,
    /// For each sector, whether it writes what is there in any case.
    same: Vec<bool>,
}

/// Part of a write: which write, which part of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Atom {
    /// Its place among [`Pending::writes`].
    pub write: u32,
    /// Its place in the write.
    pub part: u32,
}

/// A stretch of the medium that the same writes cover.
#[derive(Clone, Debug)]
struct Segment {
    /// First sector, and the one behind the last.
    sectors: (u64, u64),
    /// The writes, oldest first.
    writes: Box<[u32]>,
}

/// A medium at the instant of a power cut: what is on it for sure, and what may be.
#[derive(Clone, Debug)]
pub struct Pending {
    stable: CowDisk,
    writes: Vec<PendingWrite>,
    segments: Vec<Segment>,
    rules: Rules,
    atoms: u64,
    /// There is too much for all of its disks: some that the rules allow are left out.
    coarse: bool,
}

/// A write as it was queued, before anything is known of it.
#[derive(Clone, Debug)]
pub struct Raw {
    /// Its number.
    pub request: u64,
    /// First byte.
    pub offset: u64,
    /// What was written, each piece with its length in bytes.
    pub data: Arc<[(Data, u64)]>,
    /// The event that it follows from.
    pub cause: Option<EventId>,
}

impl Pending {
    /// A medium with these writes, oldest first, upon it. Parts of sectors are filled up
    /// from what lies below.
    pub fn new(mut stable: CowDisk, raw: Vec<Raw>, rules: Rules) -> Self {
        let len = stable.len();
        let mut writes: Vec<PendingWrite> = raw
            .into_iter()
            .filter_map(|raw| whole_sectors(raw, len))
            .collect();
        let mut keep = writes.len().min(MOST_WRITES);
        let mut coarse = keep < writes.len();
        let segments = loop {
            for old in writes.drain(..writes.len() - keep) {
                old.put(&mut stable);
            }
            match segments(&writes) {
                Some(segments) => break segments,
                None => (keep, coarse) = (keep / 2, true),
            }
        };
        let bytes: u64 = writes.iter().map(|w| w.len).sum();
        let mut rules = rules;
        if bytes > MOST_TORN && rules.tear != Tear::Never {
            (rules.tear, coarse) = (Tear::Never, true);
        }
        let mut pending = Self {
            stable,
            writes,
            segments,
            rules,
            atoms: 0,
            coarse,
        };
        if bytes <= MOST_COMPARED {
            pending.compare();
        }
        pending.atoms = pending.count();
        pending
    }

    /// Whether there is so much that some disks which the rules allow are left out: those
    /// with torn writes, or without the oldest.
    pub fn is_coarse(&self) -> bool {
        self.coarse
    }

    /// What a power cut now may do to a drive.
    pub fn of(drive: &Drive, rules: Rules) -> Self {
        let raw = drive.exposed().map(|w| Raw {
            request: w.request,
            offset: w.offset,
            data: w.data.clone(),
            cause: w.cause,
        });
        Self::new(drive.stable().clone(), raw.collect(), rules)
    }

    /// The same on a device that promises something else.
    #[must_use]
    pub fn under(&self, rules: Rules) -> Self {
        let raw = self.writes.iter().map(|w| Raw {
            request: w.request,
            offset: w.offset,
            data: w.data.clone(),
            cause: w.cause,
        });
        Self::new(self.stable.clone(), raw.collect(), rules)
    }

    /// What is on the medium for sure.
    pub fn stable(&self) -> &CowDisk {
        &self.stable
    }

    /// The writes that may be lost, oldest first.
    pub fn writes(&self) -> &[PendingWrite] {
        &self.writes
    }

    /// What the device promises.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Parts of writes that change anything.
    pub fn atoms(&self) -> u64 {
        self.atoms
    }

    /// Parts of writes that change anything, oldest first.
    pub fn all_atoms(&self) -> impl Iterator<Item = Atom> + '_ {
        (0u32..).zip(&self.writes).flat_map(move |(nr, w)| {
            (0..self.parts(w)).filter_map(move |part| {
                let atom = Atom { write: nr, part };
                let (from, to) = self.sectors(atom);
                let first = w.offset / SECTOR;
                let same = |s: u64| w.same.get((s - first) as usize).copied().unwrap_or(false);
                // Where nothing was compared it is not gone through either.
                let changes = w.same.is_empty() || !(from..to).all(same);
                changes.then_some(atom)
            })
        })
    }

    /// The sectors of a part: first, and the one behind the last.
    pub fn sectors(&self, atom: Atom) -> (u64, u64) {
        let Some(w) = self.writes.get(atom.write as usize) else {
            return (0, 0);
        };
        let (first, end) = (w.offset / SECTOR, (w.offset + w.len) / SECTOR);
        match self.unit() {
            None => (first, end),
            Some(unit) => {
                let at = (first / unit + u64::from(atom.part)) * unit;
                (at.max(first), (at + unit).min(end))
            }
        }
    }

    /// Sectors of a unit; `None`: a write is one.
    fn unit(&self) -> Option<u64> {
        match self.rules.tear {
            Tear::Sector => Some(1),
            Tear::Block(bytes) => Some((u64::from(bytes) / SECTOR).max(1)),
            Tear::Never => None,
        }
    }

    /// Parts that a write has.
    fn parts(&self, w: &PendingWrite) -> u32 {
        let (first, end) = (w.offset / SECTOR, (w.offset + w.len) / SECTOR);
        match self.unit() {
            _ if w.len == 0 => 0,
            None => 1,
            Some(unit) => u32::try_from((end - 1) / unit - first / unit + 1).unwrap_or(u32::MAX),
        }
    }

    fn count(&self) -> u64 {
        self.all_atoms().count() as u64
    }

    /// The part of a write that a sector belongs to.
    fn atom(&self, write: u32, sector: u64) -> Atom {
        let first = self
            .writes
            .get(write as usize)
            .map_or(0, |w| w.offset / SECTOR);
        let part = self
            .unit()
            .map_or(0, |unit| (sector / unit).saturating_sub(first / unit));
        Atom {
            write,
            part: part as u32,
        }
    }

    /// Fills `buf` with a sector as it is when `kept` tells of each part of a write that is
    /// asked for whether it reached the medium. No more is asked than what decides the bytes.
    fn read_sector(
        &self,
        segment: &Segment,
        sector: u64,
        buf: &mut [u8],
        kept: &mut dyn FnMut(Atom) -> bool,
    ) {
        for &nr in segment.writes.iter().rev() {
            let Some(w) = self.writes.get(nr as usize) else {
                continue;
            };
            let at = (sector - w.offset / SECTOR) as usize;
            let same = w.same.get(at).copied().unwrap_or(false);
            if same || kept(self.atom(nr, sector)) {
                return w.read(at as u64 * SECTOR, buf);
            }
        }
        // Its place was checked by the one who asked.
        let _ = self.stable.read_at(sector * SECTOR, buf);
    }

    /// Fills `buf` with the bytes at `offset`, as [`Self::read_sector`].
    pub(super) fn read(
        &self,
        offset: u64,
        buf: &mut [u8],
        kept: &mut dyn FnMut(Atom) -> bool,
    ) -> Result<(), crate::disk::ReadError> {
        self.stable.read_at(offset, buf)?;
        let end = offset + buf.len() as u64;
        let (first, last) = (offset / SECTOR, end.div_ceil(SECTOR));
        let from = self.segments.partition_point(|s| s.sectors.1 <= first);
        let touched = self.segments.get(from..).unwrap_or(&[]).iter();
        for segment in touched.take_while(|s| s.sectors.0 < last) {
            for sector in segment.sectors.0.max(first)..segment.sectors.1.min(last) {
                let mut whole = [0; SECTOR as usize];
                self.read_sector(segment, sector, &mut whole, kept);
                let start = sector * SECTOR;
                let (a, b) = (start.max(offset), (start + SECTOR).min(end));
                let part = &whole[(a - start) as usize..(b - start) as usize];
                buf[(a - offset) as usize..(b - offset) as usize].copy_from_slice(part);
            }
        }
        Ok(())
    }

    /// Notes which sectors are written with what is there in any case.
    fn compare(&mut self) {
        for w in &mut self.writes {
            w.same = vec![false; (w.len / SECTOR) as usize];
        }
        for segment in &self.segments {
            for sector in segment.sectors.0..segment.sectors.1 {
                let mut below = [0; SECTOR as usize];
                let _ = self.stable.read_at(sector * SECTOR, &mut below);
                for &nr in &segment.writes {
                    let Some(w) = self.writes.get_mut(nr as usize) else {
                        continue;
                    };
                    let at = sector - w.offset / SECTOR;
                    let mut new = [0; SECTOR as usize];
                    w.read(at * SECTOR, &mut new);
                    if new != below {
                        // From here on the bytes depend on what is kept.
                        break;
                    }
                    if let Some(same) = w.same.get_mut(at as usize) {
                        *same = true;
                    }
                }
            }
        }
    }

    /// The disk on which of the parts those are for which `kept` holds.
    pub fn disk(&self, mut kept: impl FnMut(Atom) -> bool) -> CowDisk {
        use crate::disk::WriteAt;
        let mut disk = self.stable.clone();
        for segment in &self.segments {
            for sector in segment.sectors.0..segment.sectors.1 {
                let mut bytes = [0; SECTOR as usize];
                self.read_sector(segment, sector, &mut bytes, &mut kept);
                let mut now = [0; SECTOR as usize];
                let _ = disk.read_at(sector * SECTOR, &mut now);
                if now != bytes {
                    let _ = disk.write_at(sector * SECTOR, &bytes);
                }
            }
        }
        disk
    }
}

impl PendingWrite {
    /// Puts it on a disk, whose size it was checked against.
    fn put(&self, disk: &mut CowDisk) {
        let mut at = self.offset;
        for (data, len) in self.data.iter() {
            let _ = disk.write_data(at, *len, data);
            at += len;
        }
    }

    /// The bytes from `skip` on.
    fn read(&self, skip: u64, out: &mut [u8]) {
        let (mut at, want) = (0, out.len() as u64);
        for (data, len) in self.data.iter() {
            let (from, to) = (at.max(skip), (at + len).min(skip + want));
            if from < to {
                let part = &mut out[(from - skip) as usize..(to - skip) as usize];
                data.read((from - at) as usize, part);
            }
            at += len;
        }
    }
}

/// A write of whole sectors on a medium of `size` bytes. Filesystems write nothing else; what
/// is left over at the ends of another is not taken for changed.
fn whole_sectors(raw: Raw, size: u64) -> Option<PendingWrite> {
    let sum = |all: u64, (_, n): &(Data, u64)| all.checked_add(*n);
    let len = raw.data.iter().try_fold(0, sum)?;
    let fits = raw.offset.checked_add(len)? <= size;
    let whole = raw.offset.is_multiple_of(SECTOR) && len.is_multiple_of(SECTOR) && len > 0;
    (fits && whole).then(|| PendingWrite {
        request: raw.request,
        offset: raw.offset,
        len,
        same: Vec::new(),
        data: raw.data,
        cause: raw.cause,
    })
}

/// Cuts the medium where a write begins or ends; `None`: too many lie over one another.
fn segments(writes: &[PendingWrite]) -> Option<Vec<Segment>> {
    let mut edges: Vec<u64> = writes
        .iter()
        .flat_map(|w| [w.offset / SECTOR, (w.offset + w.len) / SECTOR])
        .collect();
    edges.sort_unstable();
    edges.dedup();
    let mut covers: Vec<Vec<u32>> = vec![Vec::new(); edges.len()];
    let mut count = 0;
    for (nr, w) in (0u32..).zip(writes) {
        let from = edges.partition_point(|&e| e < w.offset / SECTOR);
        let to = edges.partition_point(|&e| e < (w.offset + w.len) / SECTOR);
        count += to - from;
        if count > MOST_COVERS {
            return None;
        }
        for cover in covers.get_mut(from..to).unwrap_or(&mut []) {
            cover.push(nr);
        }
    }
    let ranges = edges.windows(2).map(|e| (e[0], e[1]));
    let all = ranges
        .zip(covers)
        .filter(|(_, writes)| !writes.is_empty())
        .map(|(sectors, writes)| Segment {
            sectors,
            writes: writes.into(),
        });
    Some(all.collect())
}
