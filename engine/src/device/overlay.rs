//! A medium that is only read, with what is written over it kept apart in memory.

use super::{Counters, Device, DeviceError, Op, Request};
use crate::disk::{Data, ReadAt, ReadError};
use std::sync::Arc;

/// Bytes kept together.
const PIECE: u64 = 4096;

/// Everything is done at once; the medium below stays as it is.
#[derive(Clone)]
pub struct Overlaid {
    below: Arc<dyn ReadAt>,
    over: imbl::OrdMap<u64, Arc<[u8]>>,
    counters: Counters,
}

impl std::fmt::Debug for Overlaid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "a medium of {} bytes with {} changed pieces",
            self.len(),
            self.over.len()
        )
    }
}

impl Overlaid {
    /// A device over a medium.
    pub fn new(below: Arc<dyn ReadAt>) -> Self {
        Self {
            below,
            over: imbl::OrdMap::new(),
            counters: Counters::default(),
        }
    }

    /// What was written: byte offset and bytes, in order, each piece once.
    pub fn changes(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.over.iter().map(|(nr, bytes)| (nr * PIECE, &bytes[..]))
    }

    /// A piece's bytes, shorter where the medium ends in it.
    fn piece(&self, nr: u64) -> Result<Vec<u8>, ReadError> {
        if let Some(bytes) = self.over.get(&nr) {
            return Ok(bytes.to_vec());
        }
        let start = nr * PIECE;
        let mut bytes = vec![0; PIECE.min(self.below.len() - start) as usize];
        self.below.read_at(start, &mut bytes)?;
        Ok(bytes)
    }

    fn put(&mut self, offset: u64, len: u64, data: &Data) -> Result<(), ReadError> {
        let mut at = offset;
        while at < offset + len {
            let (nr, skip) = (at / PIECE, (at % PIECE) as usize);
            let n = (PIECE - skip as u64).min(offset + len - at) as usize;
            let mut bytes = self.piece(nr)?;
            data.read((at - offset) as usize, &mut bytes[skip..skip + n]);
            self.over.insert(nr, bytes.into());
            at += n as u64;
        }
        Ok(())
    }
}

impl ReadAt for Overlaid {
    fn len(&self) -> u64 {
        self.below.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        self.below.read_at(offset, buf)?;
        let end = offset + buf.len() as u64;
        for (nr, bytes) in self.over.range(offset / PIECE..end.div_ceil(PIECE)) {
            let start = nr * PIECE;
            let (from, to) = (start.max(offset), (start + bytes[..].len() as u64).min(end));
            let part = &bytes[(from - start) as usize..(to - start) as usize];
            buf[(from - offset) as usize..(to - offset) as usize].copy_from_slice(part);
        }
        Ok(())
    }
}

impl Device for Overlaid {
    fn submit(&mut self, request: Request) -> Result<(), DeviceError> {
        let total = self.below.len();
        request.check(total)?;
        self.counters.count(request.op.kind(), request.len);
        let (offset, len) = (request.offset, request.len);
        let past = |_| request.past_end(total);
        match &request.op {
            Op::Read | Op::Flush => {}
            Op::Discard => self.put(offset, len, &Data::Zero).map_err(past)?,
            Op::Write { data, .. } => {
                let mut at = offset;
                for (piece, n) in data {
                    self.put(at, *n, piece).map_err(past)?;
                    at += n;
                }
            }
        }
        Ok(())
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn boxed_clone(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }
}
