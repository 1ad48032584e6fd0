//! What a real kernel wrote to a device, as it was recorded: the same field of states for it.

use super::pending::{Pending, Raw, Rules};
use crate::disk::{CowDisk, Data, ReadAt, ReadError, WriteAt, check_range};
use std::sync::Arc;

/// Most records of a stream.
const MOST_RECORDS: usize = 4 << 20;
/// Bytes of a head of `blkrec.py`: number, kind, offset, length.
const HEAD: usize = 24;
/// `WRITE_LOG_MAGIC` of Linux's dm-log-writes.
const DM_MAGIC: u64 = 0x6A_7366_7773_6872;
/// Flags of its entries (Documentation/admin-guide/device-mapper/log-writes.rst).
const DM_FLUSH: u64 = 1;
const DM_FUA: u64 = 2;
const DM_DISCARD: u64 = 4;
const DM_MARK: u64 = 8;
/// dm-log-writes counts sectors of so many bytes.
const DM_SECTOR: u64 = 512;

/// One thing that was asked of the device, in the order in which it was done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Record {
    /// Bytes were written; `fua`: they were safe when that was done.
    Write {
        /// First byte.
        offset: u64,
        /// The bytes.
        bytes: Arc<[u8]>,
        /// Forced unit access.
        fua: bool,
    },
    /// A range was given up, or zeroed.
    Discard {
        /// First byte.
        offset: u64,
        /// Bytes.
        len: u64,
    },
    /// Everything before was made safe.
    Flush,
}

/// A recorded stream.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stream {
    records: Vec<Record>,
}

/// Why a log is none.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum StreamError {
    /// It ends in the middle of a record.
    #[error("the log ends within record {record}, at byte {at} of {len}")]
    CutShort {
        /// Which, from 0.
        record: u64,
        /// Where it begins, bytes.
        at: usize,
        /// Bytes of the log.
        len: usize,
    },
    /// A record is of no known kind.
    #[error(
        "record {record} at byte {at} is of kind {kind}; there are 1 (write), 2 (flush) and 3 (discard)"
    )]
    Kind {
        /// Which, from 0.
        record: u64,
        /// Where it begins, bytes.
        at: usize,
        /// Its kind.
        kind: u32,
    },
    /// It is of a version that is not known.
    #[error("the log is of version {0} of dm-log-writes; version 1 is known")]
    Version(u64),
    /// Its sectors have an impossible size.
    #[error("the log says that its sectors have {0} bytes; 512 to 65536 are possible")]
    SectorSize(u32),
    /// There are too many records.
    #[error("the log has more than {MOST_RECORDS} records")]
    TooMany,
    /// A record is about what lies past the device's end.
    #[error("record {record} writes bytes {offset} to {end}, past the device's end at {len}")]
    PastEnd {
        /// Which, from 0.
        record: u64,
        /// First byte.
        offset: u64,
        /// One past the last.
        end: u64,
        /// Bytes of the device.
        len: u64,
    },
}

impl Record {
    /// Refuses what does not lie on a device of `len` bytes.
    fn check(&self, record: u64, len: u64) -> Result<(), StreamError> {
        let (offset, bytes) = match self {
            Self::Write { offset, bytes, .. } => (*offset, bytes[..].len() as u64),
            Self::Discard { offset, len } => (*offset, *len),
            Self::Flush => return Ok(()),
        };
        check_range(offset, bytes, len).map_err(|_| StreamError::PastEnd {
            record,
            offset,
            end: offset.saturating_add(bytes),
            len,
        })
    }
}

impl Stream {
    /// Reads a log: of `blkrec.py` (a head of number, kind, offset and length, all little
    /// endian, before each record's bytes) or of dm-log-writes.
    pub fn parse(log: &[u8]) -> Result<Self, StreamError> {
        let records = match number(log, 0) {
            Some(DM_MAGIC) => dm_log_writes(log)?,
            _ => blkrec(log)?,
        };
        Ok(Self { records })
    }

    /// What was asked, in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Calls `each` with every instant at which a power cut can leave something new: before
    /// each flush, and at the end. It is told how many records there were by then.
    pub fn instants(
        &self,
        base: CowDisk,
        rules: Rules,
        mut each: impl FnMut(usize, Pending),
    ) -> Result<(), StreamError> {
        let mut stable = base.clone();
        let mut cached: Vec<Raw> = Vec::new();
        for (nr, record) in self.records.iter().enumerate() {
            let request = nr as u64;
            record.check(request, base.len())?;
            match record {
                Record::Flush => {
                    if !cached.is_empty() {
                        each(nr, Pending::new(stable.clone(), cached.clone(), rules));
                    }
                    if !rules.lies {
                        for raw in cached.drain(..) {
                            put(&mut stable, &raw)?;
                        }
                    }
                }
                Record::Write { offset, bytes, fua } => {
                    let len = bytes[..].len() as u64;
                    let raw = raw(request, *offset, Data::Bytes(bytes.clone()), len);
                    cached.push(raw);
                    if *fua && !rules.lies {
                        each(nr + 1, Pending::new(stable.clone(), cached.clone(), rules));
                        // It is safe; what it covers of others is then of no account.
                        if let Some(raw) = cached.pop() {
                            settle(&mut stable, &mut cached, &raw)?;
                        }
                    }
                }
                Record::Discard { offset, len } => {
                    cached.push(raw(request, *offset, Data::Zero, *len));
                }
            }
        }
        each(self.records.len(), Pending::new(stable, cached, rules));
        Ok(())
    }
}

/// A write with FUA is on the medium; so are older ones to the same bytes, which cannot come
/// after it.
fn settle(stable: &mut CowDisk, cached: &mut Vec<Raw>, safe: &Raw) -> Result<(), StreamError> {
    let (from, to) = range(safe);
    let mut still = Vec::new();
    for raw in cached.drain(..) {
        let (a, b) = range(&raw);
        if a < to && from < b {
            put(stable, &raw)?;
        } else {
            still.push(raw);
        }
    }
    *cached = still;
    put(stable, safe)
}

fn range(raw: &Raw) -> (u64, u64) {
    let len: u64 = raw.data.iter().map(|(_, n)| n).sum();
    (raw.offset, raw.offset.saturating_add(len))
}

fn raw(request: u64, offset: u64, data: Data, len: u64) -> Raw {
    Raw {
        request,
        offset,
        data: [(data, len)].into(),
        cause: None,
    }
}

fn put(disk: &mut CowDisk, raw: &Raw) -> Result<(), StreamError> {
    let mut at = raw.offset;
    for (data, len) in raw.data.iter() {
        let done = disk.write_data(at, *len, data);
        done.map_err(|_| StreamError::PastEnd {
            record: raw.request,
            offset: at,
            end: at.saturating_add(*len),
            len: disk.len(),
        })?;
        at = at.saturating_add(*len);
    }
    Ok(())
}

fn number(log: &[u8], at: usize) -> Option<u64> {
    let bytes = log.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

fn small(log: &[u8], at: usize) -> Option<u32> {
    let bytes = log.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

fn blkrec(log: &[u8]) -> Result<Vec<Record>, StreamError> {
    let (mut records, mut at) = (Vec::new(), 0usize);
    while at < log.len() {
        let record = records.len() as u64;
        let cut = StreamError::CutShort {
            record,
            at,
            len: log.len(),
        };
        if records.len() >= MOST_RECORDS {
            return Err(StreamError::TooMany);
        }
        let head = (|| {
            Some((
                small(log, at + 8)?,
                number(log, at + 12)?,
                small(log, at + 20)?,
            ))
        })();
        let (kind, offset, len) = head.ok_or_else(|| cut.clone())?;
        let begin = at;
        at += HEAD;
        records.push(match kind {
            1 => {
                let end = at.saturating_add(len as usize);
                let bytes = log.get(at..end).ok_or(cut)?.into();
                at = end;
                Record::Write {
                    offset,
                    bytes,
                    fua: false,
                }
            }
            2 => Record::Flush,
            3 => Record::Discard {
                offset,
                len: len.into(),
            },
            kind => {
                let at = begin;
                return Err(StreamError::Kind { record, at, kind });
            }
        });
    }
    Ok(records)
}

/// A head of 8 bytes each: magic, version, entries, and 4 of the sector's size, in a sector
/// of its own; then each entry's head (sector, sectors, flags, bytes) in a sector, and its
/// bytes in whole ones.
fn dm_log_writes(log: &[u8]) -> Result<Vec<Record>, StreamError> {
    let cut = |record: u64, at: usize| StreamError::CutShort {
        record,
        at,
        len: log.len(),
    };
    let field = |at: usize| number(log, at).ok_or_else(|| cut(0, 0));
    let (version, entries) = (field(8)?, field(16)?);
    if version != 1 {
        return Err(StreamError::Version(version));
    }
    let sector = small(log, 24).ok_or_else(|| cut(0, 0))?;
    if !(512..=65_536).contains(&sector) || !sector.is_power_of_two() {
        return Err(StreamError::SectorSize(sector));
    }
    let sector = sector as usize;
    let (mut records, mut at) = (Vec::new(), sector);
    for record in 0..entries {
        if records.len() >= MOST_RECORDS {
            return Err(StreamError::TooMany);
        }
        let field = |nth: usize| number(log, at + 8 * nth).ok_or_else(|| cut(record, at));
        let (place, sectors, flags, bytes) = (field(0)?, field(1)?, field(2)?, field(3)?);
        let begin = at;
        // From here on no sum of it and a place in the log is too large.
        if bytes > log.len() as u64 {
            return Err(cut(record, begin));
        }
        at = at.saturating_add(sector);
        if flags & DM_FLUSH != 0 {
            records.push(Record::Flush);
        }
        let (offset, len) = (
            place.saturating_mul(DM_SECTOR),
            sectors.saturating_mul(DM_SECTOR),
        );
        if flags & DM_MARK != 0 {
            at = at.saturating_add((bytes as usize).next_multiple_of(sector));
        } else if flags & DM_DISCARD != 0 {
            records.push(Record::Discard { offset, len });
        } else if bytes > 0 {
            let end = at.saturating_add(bytes as usize);
            let held = log.get(at..end).ok_or_else(|| cut(record, begin))?;
            records.push(Record::Write {
                offset,
                bytes: held.into(),
                fua: flags & DM_FUA != 0,
            });
            at = at.saturating_add((bytes as usize).next_multiple_of(sector));
        }
    }
    Ok(records)
}

/// A disk's contents, taken into memory.
pub fn taken<R: ReadAt + ?Sized>(medium: &R) -> Result<CowDisk, ReadError> {
    const PART: u64 = 1 << 20;
    let mut disk = CowDisk::new(medium.len());
    let mut at = 0;
    let mut part = vec![0; PART as usize];
    loop {
        at = medium.next_data(at);
        if at >= medium.len() {
            return Ok(disk);
        }
        let n = PART.min(medium.len() - at) as usize;
        medium.read_at(at, &mut part[..n])?;
        disk.write_at(at, &part[..n])?;
        at += n as u64;
    }
}
