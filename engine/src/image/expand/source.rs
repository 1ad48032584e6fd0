//! A forward reader over a medium that always knows at which byte it stands.

use crate::disk::{ReadAt, ReadError};
use std::io;
use std::rc::Rc;

/// Bytes fetched from the medium at a time.
const PIECE: u64 = 64 * 1024;

/// Reads a medium from its start to its end through one 64 KiB buffer.
pub(super) struct Source {
    medium: Rc<dyn ReadAt>,
    /// Where the buffer's first byte lies in the medium.
    start: u64,
    buffer: Vec<u8>,
    /// How much of the buffer has been used.
    used: usize,
    /// Why `io::Read` gave fewer bytes than asked for: its own error says it badly.
    shortage: Option<Shortage>,
}

/// Why a read through `io::Read` came short.
#[derive(Clone, Debug)]
pub(super) enum Shortage {
    End,
    Failed(ReadError),
}

impl Source {
    pub fn new(medium: Rc<dyn ReadAt>) -> Self {
        Self {
            medium,
            start: 0,
            buffer: Vec::new(),
            used: 0,
            shortage: None,
        }
    }

    /// Why the last read through `io::Read` came short, if it did.
    pub fn shortage(&self) -> Option<&Shortage> {
        self.shortage.as_ref()
    }

    /// Bytes of the medium used so far: the offset of the next byte.
    pub fn position(&self) -> u64 {
        self.start + self.used as u64
    }

    /// Length of the medium, bytes.
    pub fn len(&self) -> u64 {
        self.medium.len()
    }

    /// The bytes at hand, fetched when there are none; empty at the end of the medium.
    pub fn peek(&mut self) -> Result<&[u8], ReadError> {
        if self.used >= self.buffer.len() {
            self.start = self.position();
            self.used = 0;
            let n = PIECE.min(self.medium.len().saturating_sub(self.start));
            self.buffer.clear();
            self.buffer.resize(n as usize, 0);
            if let Err(e) = self.medium.read_at(self.start, &mut self.buffer) {
                self.buffer.clear();
                return Err(e);
            }
        }
        Ok(&self.buffer[self.used..])
    }

    /// Marks `n` of the bytes that `peek` gave as used.
    pub fn consume(&mut self, n: usize) {
        self.used = self.used.saturating_add(n).min(self.buffer.len());
    }

    /// Passes over `n` bytes without reading them; stops at the end of the medium.
    pub fn skip(&mut self, n: u64) {
        let to = self.position().saturating_add(n).min(self.medium.len());
        if to - self.start <= self.buffer.len() as u64 {
            self.used = (to - self.start) as usize;
        } else {
            self.start = to;
            self.used = 0;
            self.buffer.clear();
        }
    }

    /// The next byte, or `None` at the end.
    pub fn byte(&mut self) -> Result<Option<u8>, ReadError> {
        let next = self.peek()?.first().copied();
        self.consume(usize::from(next.is_some()));
        Ok(next)
    }

    /// The next `N` bytes, or `None` when fewer are left (which are then used up).
    pub fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>, ReadError> {
        let mut out = [0; N];
        for slot in &mut out {
            match self.byte()? {
                Some(b) => *slot = b,
                None => return Ok(None),
            }
        }
        Ok(Some(out))
    }

    /// Whether every byte that is left is zero (padding). Uses the bytes up.
    pub fn rest_is_zero(&mut self) -> Result<bool, ReadError> {
        loop {
            let bytes = self.peek()?;
            let n = bytes.len();
            if n == 0 {
                return Ok(true);
            }
            if bytes.iter().any(|&b| b != 0) {
                return Ok(false);
            }
            self.consume(n);
        }
    }
}

impl io::Read for Source {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let bytes = match self.peek() {
            Ok(bytes) => bytes,
            Err(e) => {
                self.shortage = Some(Shortage::Failed(e.clone()));
                return Err(io::Error::other(e));
            }
        };
        let n = bytes.len().min(out.len());
        out[..n].copy_from_slice(&bytes[..n]);
        self.consume(n);
        if n == 0 && !out.is_empty() {
            self.shortage = Some(Shortage::End);
        }
        Ok(n)
    }
}
