//! From guest offsets to places in the file.

use super::Qcow2;
use crate::disk::{ReadAt, ReadError};

/// Bits 9 to 55 of a table entry: an offset in the file.
const OFFSET_MASK: u64 = 0x00ff_ffff_ffff_fe00;
const COMPRESSED: u64 = 1 << 62;
const ALL_ZERO: u64 = 1;
/// Table entries looked at by one call of `skip_holes`.
const PROBES_MAX: u32 = 1 << 16;

/// Where guest bytes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Zeros,
    /// At this byte of the file.
    Stored(u64),
    /// A compressed cluster: its place in the file, and the length it takes at most.
    Compressed {
        at: u64,
        len: u64,
    },
}

/// `len` guest bytes that are kept alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    pub place: Place,
    pub len: u64,
}

impl Qcow2 {
    /// Where the bytes from guest offset `at` on are kept; at most `wanted` of them.
    pub(super) fn extent(&self, at: u64, wanted: u64) -> Result<Extent, ReadError> {
        let mut first = self.piece(at)?;
        if let Place::Compressed { .. } = first.place {
            return Ok(first);
        }
        while first.len < wanted {
            let next = self.piece(at + first.len)?;
            let goes_on = match (first.place, next.place) {
                (Place::Zeros, Place::Zeros) => true,
                (Place::Stored(a), Place::Stored(b)) => a + first.len == b,
                _ => false,
            };
            if !goes_on {
                break;
            }
            first.len += next.len;
        }
        Ok(first)
    }

    /// Like `extent`, within one entry of the tables.
    fn piece(&self, at: u64) -> Result<Extent, ReadError> {
        let h = &self.header;
        let per_l1 = h.bytes_per_l1_entry();
        let table = self.entry(at, h.l1_offset + at / per_l1 * 8)? & OFFSET_MASK;
        if table == 0 {
            return Ok(Extent {
                place: Place::Zeros,
                len: per_l1 - at % per_l1,
            });
        }
        self.aligned(at, table, "a table")?;
        let slot = at / h.cluster() % h.l2_entries();
        let entry_at = table + slot * h.l2_entry_bytes();
        let entry = self.entry(at, entry_at)?;
        if entry & COMPRESSED != 0 {
            return Ok(self.compressed_piece(at, entry));
        }
        if h.extended_l2 {
            let bits = self.entry(at, entry_at + 8)?;
            return self.part(at, entry, bits);
        }
        let skip = at % h.cluster();
        Ok(Extent {
            place: self.place(at, entry, entry & ALL_ZERO != 0, skip)?,
            len: h.cluster() - skip,
        })
    }

    /// The place within a cluster that is stored or not, `skip` bytes into it.
    fn place(&self, at: u64, entry: u64, zero: bool, skip: u64) -> Result<Place, ReadError> {
        let cluster = entry & OFFSET_MASK;
        if zero || cluster == 0 {
            return Ok(Place::Zeros);
        }
        self.aligned(at, cluster, "a cluster")?;
        Ok(Place::Stored(cluster + skip))
    }

    /// A 32nd of a cluster: `bits` says which are stored (0 to 31), which zero (32 to 63).
    fn part(&self, at: u64, entry: u64, bits: u64) -> Result<Extent, ReadError> {
        let part = self.header.cluster() / 32;
        let skip = at % self.header.cluster();
        let nr = skip / part;
        let stored = bits >> nr & 1 != 0;
        let zero = bits >> (32 + nr) & 1 != 0;
        Ok(Extent {
            place: self.place(at, entry, zero || !stored, skip)?,
            len: part - skip % part,
        })
    }

    /// Decodes a compressed cluster's descriptor: the offset in the low bits, above it
    /// the number of 512-byte sectors it touches beyond the first.
    fn compressed_piece(&self, at: u64, entry: u64) -> Extent {
        let bits = 62 - (self.header.cluster_bits - 8);
        let offset = entry & ((1 << bits) - 1);
        let sectors = (entry & (COMPRESSED - 1)) >> bits;
        Extent {
            place: Place::Compressed {
                at: offset,
                len: (sectors + 1) * 512 - offset % 512,
            },
            len: self.header.cluster() - at % self.header.cluster(),
        }
    }

    /// Reads an entry of a table at byte `place` of the file, for guest offset `at`.
    fn entry(&self, at: u64, place: u64) -> Result<u64, ReadError> {
        let mut bytes = [0; 8];
        self.tables
            .read_at(place, &mut bytes)
            .map_err(|e| damaged(at, 1, format!("a table of the qcow2 image: {e}")))?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn aligned(&self, at: u64, offset: u64, what: &str) -> Result<(), ReadError> {
        if offset.is_multiple_of(self.header.cluster()) {
            return Ok(());
        }
        Err(damaged(
            at,
            1,
            format!(
                "the qcow2 image places {what} at byte {offset} of the file, which is no multiple of its cluster size {}",
                self.header.cluster()
            ),
        ))
    }

    /// Fills `buf` with guest bytes from `at` on, which are all kept at `place`.
    pub(super) fn fetch(&self, at: u64, place: Place, buf: &mut [u8]) -> Result<(), ReadError> {
        match place {
            Place::Zeros => {
                buf.fill(0);
                Ok(())
            }
            Place::Stored(from) => self.stored(at, from, buf),
            Place::Compressed { at: from, len } => {
                let skip = (at % self.header.cluster()) as usize;
                let wanted = buf.len() as u64;
                self.with_expanded(from, len, |cluster| match cluster.get(skip..) {
                    Some(bytes) if bytes.len() >= buf.len() => {
                        buf.copy_from_slice(&bytes[..buf.len()]);
                        Ok(())
                    }
                    _ => Err("it is shorter than a cluster".to_owned()),
                })
                .map_err(|e| {
                    damaged(
                        at,
                        wanted,
                        format!("the compressed cluster at byte {from} of the qcow2 file: {e}"),
                    )
                })
            }
        }
    }

    /// Reads stored bytes. A file may end within its last cluster, whose rest is zeros.
    fn stored(&self, at: u64, from: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        let there = self.file.len().saturating_sub(from);
        let n = usize::try_from(there).unwrap_or(usize::MAX).min(buf.len());
        let cluster = self.header.cluster();
        let ends_within = !self.file.len().is_multiple_of(cluster)
            && (from + buf.len() as u64 - 1) / cluster == self.file.len() / cluster;
        if n < buf.len() && !ends_within {
            return Err(damaged(
                at,
                buf.len() as u64,
                format!(
                    "they are kept at byte {from} of the qcow2 file, which ends at {}",
                    self.file.len()
                ),
            ));
        }
        self.file.read_at(from, &mut buf[..n])?;
        buf[n..].fill(0);
        Ok(())
    }

    /// The next offset that is not in a hole, or one a bounded search further on.
    pub(super) fn skip_holes(&self, offset: u64) -> u64 {
        let mut at = offset;
        for _ in 0..PROBES_MAX {
            if at >= self.header.size {
                return offset.max(self.header.size);
            }
            match self.piece(at) {
                Ok(Extent {
                    place: Place::Zeros,
                    len,
                }) => at += len,
                _ => break,
            }
        }
        at.min(self.header.size).max(offset)
    }
}

fn damaged(offset: u64, wanted: u64, reason: String) -> ReadError {
    ReadError::Medium {
        offset,
        wanted,
        reason,
    }
}
