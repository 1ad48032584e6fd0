//! Where expanded bytes are kept: pieces of 64 KiB, those of zeros only not at all.

use super::{Format, Limits};
use crate::disk::{ReadAt, ReadError, check_range};
use std::collections::BTreeMap;
use std::fmt;

/// Size of a piece, bytes. A piece of zeros only takes no memory.
pub const PIECE_BYTES: u64 = 64 * 1024;
const PIECE: usize = PIECE_BYTES as usize;

/// Bytes kept in memory without their all-zero pieces.
///
/// Memory: [`SparseBytes::stored_bytes`] and some 40 bytes a stored piece.
#[derive(Clone, Default)]
pub struct SparseBytes {
    /// Piece number to its bytes; only the last piece may be shorter than a piece.
    pieces: BTreeMap<u64, Box<[u8]>>,
    len: u64,
}

impl fmt::Debug for SparseBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SparseBytes")
            .field("len", &self.len)
            .field("stored_pieces", &self.pieces.len())
            .finish()
    }
}

impl SparseBytes {
    /// How many bytes are held in memory.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.pieces.values().map(|p| p.len()).sum()
    }
}

impl ReadAt for SparseBytes {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.len)?;
        let (mut at, mut rest) = (offset, buf);
        while !rest.is_empty() {
            let skip = (at % PIECE_BYTES) as usize;
            let n = (PIECE - skip).min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            match self.pieces.get(&(at / PIECE_BYTES)) {
                Some(piece) => now.copy_from_slice(&piece[skip..skip + n]),
                None => now.fill(0),
            }
            at += n as u64;
            rest = later;
        }
        Ok(())
    }

    fn next_data(&self, offset: u64) -> u64 {
        match self.pieces.range(offset / PIECE_BYTES..).next() {
            Some((nr, _)) => offset.max(nr * PIECE_BYTES),
            None => offset.max(self.len),
        }
    }
}

/// Why no more bytes are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    Length(u64),
    Data(u64),
    Memory,
}

/// Takes the bytes of an expanding stream in their order, up to the limits.
pub(super) struct Store {
    done: SparseBytes,
    /// The piece being filled: fewer than `PIECE` bytes.
    tail: Vec<u8>,
    stored: u64,
    limits: Limits,
}

impl Store {
    pub fn new(limits: Limits) -> Self {
        Self {
            done: SparseBytes::default(),
            tail: Vec::new(),
            stored: 0,
            limits,
        }
    }

    /// Bytes taken so far.
    pub fn len(&self) -> u64 {
        self.done.len + self.tail.len() as u64
    }

    /// Appends `bytes`; at a limit, the part that still fits.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let room = self.limits.max_len.saturating_sub(self.len());
        let fits = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        let mut rest = &bytes[..fits];
        while !rest.is_empty() {
            let n = (PIECE - self.tail.len()).min(rest.len());
            let (now, later) = rest.split_at(n);
            if n == PIECE && is_zero(now) {
                self.done.len += PIECE_BYTES;
            } else {
                self.fill(now)?;
            }
            rest = later;
        }
        if fits < bytes.len() {
            return Err(Full::Length(self.limits.max_len));
        }
        Ok(())
    }

    /// Adds to the tail, which has room for it, and puts it away when it is full.
    fn fill(&mut self, bytes: &[u8]) -> Result<(), Full> {
        let want = PIECE - self.tail.len();
        self.tail
            .try_reserve_exact(want)
            .map_err(|_| Full::Memory)?;
        self.tail.extend_from_slice(bytes);
        if self.tail.len() == PIECE {
            self.put_away()?;
        }
        Ok(())
    }

    /// Moves the tail among the finished pieces; when it does not fit, drops it.
    fn put_away(&mut self) -> Result<(), Full> {
        let tail = std::mem::take(&mut self.tail);
        let n = tail.len() as u64;
        if !is_zero(&tail) {
            if self.stored.saturating_add(n) > self.limits.max_data {
                return Err(Full::Data(self.limits.max_data));
            }
            self.stored += n;
            let nr = self.done.len / PIECE_BYTES;
            self.done.pieces.insert(nr, tail.into_boxed_slice());
        } else {
            // The allocation is kept for the next piece.
            self.tail = tail;
            self.tail.clear();
        }
        self.done.len += n;
        Ok(())
    }

    /// What was taken. An unfinished last piece that no longer fits is left out, and
    /// the limit told.
    pub fn finish(mut self) -> (SparseBytes, Option<Full>) {
        let full = if self.tail.is_empty() {
            None
        } else {
            self.put_away().err()
        };
        (self.done, full)
    }
}

impl Full {
    /// The error that says so.
    pub fn into_error(self, format: Format, at: u64, produced: u64) -> super::ExpandError {
        use super::ExpandError as E;
        match self {
            Full::Length(limit) => E::TooLong {
                format,
                limit,
                at,
                produced,
            },
            Full::Data(limit) => E::TooMuchData {
                format,
                limit,
                at,
                produced,
            },
            Full::Memory => E::OutOfMemory {
                format,
                at,
                produced,
            },
        }
    }
}

/// Whether all bytes are zero.
pub(super) fn is_zero(bytes: &[u8]) -> bool {
    bytes
        .chunks(256)
        .all(|c| c.iter().fold(0, |a, b| a | b) == 0)
}
