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
