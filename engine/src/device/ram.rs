//! An ideal device: everything is done at once and is safe at once.

use super::{Counters, Device, DeviceError, Op, Request};
use crate::disk::{CowDisk, ReadAt, ReadError, WriteAt};

/// A disk in memory that takes no time and loses nothing.
#[derive(Clone, Debug)]
pub struct Ram {
    disk: CowDisk,
    counters: Counters,
}

impl Ram {
    /// A device with these contents.
    pub fn new(disk: CowDisk) -> Self {
        Self {
            disk,
            counters: Counters::default(),
        }
    }

    /// Its contents.
    pub fn disk(&self) -> &CowDisk {
        &self.disk
    }
}

impl ReadAt for Ram {
    fn len(&self) -> u64 {
        ReadAt::len(&self.disk)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        self.disk.read_at(offset, buf)
    }

    fn next_data(&self, offset: u64) -> u64 {
        self.disk.next_data(offset)
    }
}

impl Device for Ram {
    fn submit(&mut self, request: Request) -> Result<(), DeviceError> {
        request.check(ReadAt::len(&self.disk))?;
        self.counters.count(request.op.kind(), request.len);
        // The range was checked: nothing of this can fail.
        match request.op {
            Op::Read | Op::Flush => {}
            Op::Discard => {
                let _ = self.disk.discard(request.offset, request.len);
            }
            Op::Write { data, .. } => {
                let mut at = request.offset;
                for (piece, n) in &data {
                    let _ = self.disk.write_data(at, *n, piece);
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
