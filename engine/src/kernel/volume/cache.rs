//! Blocks of metadata in memory: read, changed for a transaction, written home.

use super::super::buffer::Block;
use super::Volume;
use crate::disk::{Data, ReadAt};
use crate::event::{Meta, What};
use crate::ext4::{Place, Problem};
use crate::kernel::{Errno, Result};
use crate::units::{BlockNr, InodeNr};

impl Volume {
    /// A block of metadata. One that is not in memory is read from the device.
    pub fn block(&mut self, at: BlockNr) -> Result<Block> {
        if let Some(buffer) = self.buffers.get(at) {
            return Ok(buffer.bytes.clone());
        }
        if at.0 >= self.geo.blocks {
            return Err(self.corrupt(Problem::other(
                Place::Block(at),
                format!(
                    "was asked for, but the last block is {}",
                    self.geo.blocks - 1
                ),
            )));
        }
        let bytes = self.read_from_device(at)?;
        self.buffers.put_clean(at, bytes.clone());
        Ok(bytes)
    }

    /// A block of metadata, if its checksum holds: `holds` is asked once for each time
    /// that the block is read from the device.
    pub fn verified_block(
        &mut self,
        at: BlockNr,
        holds: impl FnOnce(&[u8]) -> bool,
    ) -> Result<Option<Block>> {
        if let Some(buffer) = self.buffers.get(at).filter(|b| b.verified) {
            return Ok(Some(buffer.bytes.clone()));
        }
        let bytes = self.block(at)?;
        if !holds(&bytes) {
            return Ok(None);
        }
        self.buffers.verified(at);
        Ok(Some(bytes))
    }

    fn read_from_device(&mut self, at: BlockNr) -> Result<Block> {
        let size = self.block_size();
        let mut bytes = vec![0; size];
        let offset = at.0 * size as u64;
        self.charge_read(at, 1)?;
        self.dev
            .read_at(offset, &mut bytes)
            .map_err(|_| Errno::EIO)?;
        Ok(bytes.into())
    }

    /// A block of metadata to be changed, for an inode (0 for the filesystem itself).
    /// With a journal it joins the running transaction.
    pub fn change(&mut self, at: BlockNr, kind: Meta, owner: InodeNr) -> Result<&mut [u8]> {
        if self.buffers.get(at).is_none() {
            self.block(at)?;
        }
        if let Some(journal) = &mut self.journal {
            let (cause, now) = (self.events.cause, self.events.now);
            if journal.dirty(at, cause, now) {
                self.events.emit(|| What::BufferDirtied { block: at, kind });
            }
            return self.buffers.edit(at, owner).ok_or(Errno::EIO);
        }
        let (bytes, fresh) = self
            .buffers
            .change(at, owner, self.events.now)
            .ok_or(Errno::EIO)?;
        if fresh {
            self.events.emit(|| What::BufferDirtied { block: at, kind });
        }
        Ok(bytes)
    }

    /// A block of metadata that is all new: zeros, dirty, without a read.
    pub fn fresh(&mut self, at: BlockNr, kind: Meta, owner: InodeNr) -> Result<&mut [u8]> {
        let zeros = vec![0; self.block_size()].into();
        self.buffers.forget(at);
        self.buffers.put_clean(at, zeros);
        if kind == Meta::FileData {
            self.buffers.holds_contents(at);
        }
        self.change(at, kind, owner)
    }

    /// Gives up a block of metadata that was freed: its changes need not be written.
    /// With a journal, no earlier transaction may be replayed onto it.
    pub fn forget(&mut self, at: BlockNr) {
        self.buffers.forget(at);
        if let Some(journal) = &mut self.journal {
            journal.revoke(at, self.events.now);
        }
    }

    /// A buffer's bytes, where it is in memory.
    pub(crate) fn buffered(&self, at: BlockNr) -> Option<Block> {
        self.buffers.get(at).map(|b| b.bytes.clone())
    }

    /// A buffer's bytes, where it is in memory and holds contents of a file.
    pub(in crate::kernel) fn buffered_contents(&self, at: BlockNr) -> Option<Block> {
        let buffer = self.buffers.get(at).filter(|b| b.contents)?;
        Some(buffer.bytes.clone())
    }

    /// A committed buffer is to be written home some time.
    pub(in crate::kernel) fn mark_dirty(&mut self, at: BlockNr) {
        self.buffers.mark_dirty(at, self.events.now);
    }

    /// A buffer was sent home.
    fn wrote_home(&mut self, at: BlockNr) {
        self.buffers.cleaned(at);
        self.events.emit(|| What::BufferWritten { block: at });
        if let Some(journal) = &mut self.journal {
            journal.wrote_home(at);
        }
    }

    /// Gives up a block of metadata where there is one in memory: its place is a file's
    /// now.
    pub(crate) fn forget_if_kept(&mut self, at: BlockNr) {
        if self.buffers.get(at).is_some() {
            self.buffers.forget(at);
        }
    }

    /// Whether any buffer is dirty.
    pub(crate) fn dirty_buffer_count(&self) -> usize {
        self.buffers.dirty_count()
    }

    /// Whether any buffer is dirty.
    pub(crate) fn has_dirty_buffers(&self) -> bool {
        self.buffers.any_dirty()
    }

    /// When the buffer that has been dirty for longest became so.
    pub(crate) fn oldest_dirty_buffer(&self) -> Option<crate::units::SimTime> {
        self.buffers.oldest_dirty()
    }

    /// Writes every dirty buffer.
    pub fn sync_buffers(&mut self) -> Result<()> {
        self.write_buffers(|_| true)
    }

    /// Writes the dirty buffers of an inode: its map, its directory blocks.
    pub fn sync_buffers_of(&mut self, inode: InodeNr) -> Result<()> {
        self.write_buffers(|owner| owner == inode)
    }

    fn write_buffers(&mut self, which: impl Fn(InodeNr) -> bool) -> Result<()> {
        let mut run: Option<(BlockNr, Vec<(Data, u64)>)> = None;
        for at in self.buffers.dirty() {
            let Some(buffer) = self.buffers.get(at).filter(|b| which(b.owner)) else {
                continue;
            };
            let piece = (
                Data::Bytes(buffer.bytes.clone()),
                self.geo.block_size.into(),
            );
            self.wrote_home(at);
            run = match run {
                Some((start, mut data)) if start.0 + data.len() as u64 == at.0 => {
                    data.push(piece);
                    Some((start, data))
                }
                other => {
                    if let Some((start, data)) = other {
                        self.write(start, data)?;
                    }
                    Some((at, vec![piece]))
                }
            };
        }
        run.map_or(Ok(()), |(start, data)| self.write(start, data))
    }

    /// Writes one dirty buffer.
    pub fn sync_buffer(&mut self, at: BlockNr) -> Result<()> {
        let Some(buffer) = self.buffers.get(at).filter(|b| b.dirty) else {
            return Ok(());
        };
        let piece = (
            Data::Bytes(buffer.bytes.clone()),
            self.geo.block_size.into(),
        );
        self.wrote_home(at);
        self.write(at, vec![piece])
    }
}
