//! What is asked of the device.

use super::Volume;
use crate::device::{Op, Request};
use crate::disk::Data;
use crate::event::What;
use crate::kernel::{Errno, Result};
use crate::units::BlockNr;

impl Volume {
    /// Charges a read of blocks to the device.
    pub(crate) fn charge_read(&mut self, at: BlockNr, len: u64) -> Result<()> {
        self.events.emit(|| What::Read { block: at, len });
        self.submit(Op::Read, at, len)
    }

    /// Sends blocks to the device, one piece a block.
    pub(crate) fn write(&mut self, at: BlockNr, data: Vec<(Data, u64)>) -> Result<()> {
        let len = data.len() as u64;
        self.sectors_written += len * u64::from(self.geo.block_size / 512);
        self.submit(Op::Write { data, fua: false }, at, len)
    }

    /// Sends a block to the device that is to be safe when it is done.
    pub(crate) fn write_safely(&mut self, at: BlockNr, data: Data, len: u64) -> Result<()> {
        let fua = self.options.barrier;
        self.sectors_written += len / 512;
        let request = Request {
            op: Op::Write {
                data: vec![(data, len)],
                fua,
            },
            offset: at.0 * u64::from(self.geo.block_size),
            len,
            cause: self.events.cause,
        };
        self.dev.submit(request).map_err(|_| Errno::EIO)
    }

    /// Sends a block of the journal, which may be on a device of its own. `safe`: it is to
    /// be safe when it is done.
    pub(crate) fn write_log(
        &mut self,
        at: BlockNr,
        data: Data,
        len: u64,
        safe: bool,
    ) -> Result<()> {
        let Some(log_dev) = &mut self.log_dev else {
            return if safe {
                self.write_safely(at, data, len)
            } else {
                self.write(at, vec![(data, len)])
            };
        };
        let request = Request {
            op: Op::Write {
                data: vec![(data, len)],
                fua: safe && self.options.barrier,
            },
            offset: at.0 * u64::from(self.geo.block_size),
            len,
            cause: self.events.cause,
        };
        log_dev.submit(request).map_err(|_| Errno::EIO)
    }

    /// Tells the journal's own device to make everything safe; what the other holds is its
    /// own affair.
    pub(crate) fn flush_log(&mut self) -> Result<()> {
        let Some(log_dev) = self.log_dev.as_mut().filter(|_| self.options.barrier) else {
            return Ok(());
        };
        let request = Request {
            op: Op::Flush,
            offset: 0,
            len: 0,
            cause: self.events.cause,
        };
        log_dev.submit(request).map_err(|_| Errno::EIO)
    }

    /// Tells the device to make everything safe, where `barrier` asks for it.
    pub(crate) fn flush(&mut self) -> Result<()> {
        if !self.options.barrier {
            return Ok(());
        }
        self.events.emit(|| What::Flushed);
        self.submit(Op::Flush, BlockNr(0), 0)
    }

    /// Tells the device that blocks are free.
    pub(crate) fn discard(&mut self, at: BlockNr, len: u64) -> Result<()> {
        self.events.emit(|| What::Discarded { block: at, len });
        self.submit(Op::Discard, at, len)
    }

    fn submit(&mut self, op: Op, at: BlockNr, len: u64) -> Result<()> {
        let size = u64::from(self.geo.block_size);
        let request = Request {
            op,
            offset: at.0 * size,
            len: len * size,
            cause: self.events.cause,
        };
        self.dev.submit(request).map_err(|_| Errno::EIO)
    }
}
