//! The disk as the kernel sees it at an instant.

use super::Volume;
use crate::device::Device;
use crate::disk::{ReadAt, ReadError};
use crate::kernel::buffer::Buffers;
use crate::units::BlockNr;

/// What a device holds, with the blocks of metadata that are in memory laid over. Its own:
/// it stays as it is, whatever the volume does then.
#[derive(Clone, Debug)]
pub struct Seen {
    dev: Box<dyn Device>,
    buffers: Buffers,
    block_size: u64,
}

/// Tells whether two instants of one run have the same disk, without reading either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version {
    edits: u64,
    writes: u64,
}

impl Volume {
    /// The disk as the kernel sees it now.
    pub fn seen(&self) -> Seen {
        Seen {
            dev: self.dev.clone(),
            buffers: self.buffers.clone(),
            block_size: self.geo.block_size.into(),
        }
    }

    /// A number that changes whenever the disk as the kernel sees it does.
    pub fn version(&self) -> Version {
        let counters = self.dev.counters();
        Version {
            edits: self.buffers.edits(),
            writes: counters.writes + counters.discards,
        }
    }
}

impl ReadAt for Seen {
    fn len(&self) -> u64 {
        self.dev.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        let end = offset.saturating_add(buf.len() as u64);
        // What a buffer hides is not read: below may be a medium that decides when it is.
        let mut at = offset;
        while at < end {
            let block = at / self.block_size;
            let stop = ((block + 1) * self.block_size).min(end);
            let part = &mut buf[(at - offset) as usize..(stop - offset) as usize];
            match self.buffers.get(BlockNr(block)) {
                Some(buffer) => lay_over(part, at, block * self.block_size, &buffer.bytes),
                None => self.dev.read_at(at, part)?,
            }
            at = stop;
        }
        Ok(())
    }
}

/// Copies the part of a block at `start` that lies in `buf`, which is at `offset`.
fn lay_over(buf: &mut [u8], offset: u64, start: u64, block: &[u8]) {
    let end = offset + buf.len() as u64;
    let (from, to) = (start.max(offset), (start + block.len() as u64).min(end));
    if from < to {
        let (a, b) = ((from - offset) as usize, (to - offset) as usize);
        let (c, d) = ((from - start) as usize, (to - start) as usize);
        buf[a..b].copy_from_slice(&block[c..d]);
    }
}
