//! Dirty pages go to the disk; delayed ones get their blocks here.

use super::pages::Page;
use super::{DataMode, Errno, Fd, InodeInfo, Mount, Result, Volume, alloc, map};
use crate::disk::Data;
use crate::event::{Reason, What};
use crate::ext4::layout::Incompat;
use crate::units::{BlockNr, InodeNr, Lblk};

/// A run of a file's contents on its way to the disk.
#[derive(Clone, Debug)]
pub(crate) struct InFlight {
    pub(crate) inode: InodeNr,
    pub(crate) lblk: Lblk,
    pub(crate) len: u32,
    /// Its blocks are unwritten until it is there.
    unwritten: bool,
    /// It still waits in the device's queue: a flush does not know of it.
    queued: Option<(BlockNr, Vec<(Data, u64)>)>,
}

/// An `fsync` that has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Syncing {
    inode: InodeNr,
    data_only: bool,
}

/// What an `fsync` waits for after its pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SyncWait {
    /// The requests that it made.
    Device,
    /// A transaction.
    Commit(u32),
}

impl Mount {
    /// Writes all dirty pages of an inode.
    pub(super) fn write_back_all(&mut self, nr: InodeNr) -> Result<()> {
        self.write_back(nr, 0, u64::MAX)
    }

    /// Writes an inode's dirty pages from one block up to, not including, another, and
    /// waits for the end of the I/O.
    pub(super) fn write_back(&mut self, nr: InodeNr, from: u64, to: u64) -> Result<()> {
        let written = self.submit_pages(nr, from, to);
        written.and(self.end_io())
    }

    /// What `auto_da_alloc` does for a file: delayed blocks are allocated and on their way
    /// to the disk. Nobody waits for them.
    pub(super) fn alloc_delayed(&mut self, nr: InodeNr) -> Result<()> {
        if self.peek(nr)?.delayed == 0 {
            return Ok(());
        }
        self.submit_pages(nr, 0, u64::MAX)
    }

    /// The I/O that was under way has ended: unwritten blocks become written, in the
    /// transaction that is running now. The one that allocated them may have been
    /// committed before: after a crash they read as zeros then.
    pub fn end_io(&mut self) -> Result<()> {
        let mut first = Ok(());
        for io in std::mem::take(&mut self.vol.in_flight) {
            first = first.and(self.end_one(io));
        }
        first
    }

    fn end_one(&mut self, io: InFlight) -> Result<()> {
        if let Some((at, data)) = io.queued {
            self.vol.write(at, data)?;
        }
        if io.unwritten {
            let inode = self.inodes.get(&mut self.vol, io.inode)?;
            map::convert_unwritten(&mut self.vol, inode, io.lblk, io.len)?;
            self.vol.write_inode(inode)?;
        }
        Ok(())
    }

    fn submit_pages(&mut self, nr: InodeNr, from: u64, to: u64) -> Result<()> {
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if inode.pages.dirty_count() == 0 {
            return Ok(());
        }
        let written = write_pages(&mut self.vol, inode, from, to);
        let dirty = inode.pages.dirty_count() > 0;
        self.inodes.mark_dirty(nr, dirty);
        written
    }

    /// Writes all dirty pages of all inodes, then all metadata.
    pub(super) fn write_back_everything(&mut self) -> Result<()> {
        let mut first = self.end_io();
        for nr in self.inodes.dirty() {
            first = first.and(self.write_back_all(nr));
        }
        self.vol.commit_super()?;
        self.commit()?;
        self.vol.sync_buffers()?;
        first
    }

    /// The flusher's round: what has been dirty for longer than `dirty_expire`.
    pub(super) fn flush_old(&mut self) -> Result<()> {
        let now = self.now().0;
        let expire = self.vol.options.dirty_expire.0;
        let old = |since: u64| now.saturating_sub(since) >= expire;
        for nr in self.inodes.dirty() {
            let inode = self.inodes.loaded(nr)?;
            if inode.pages.oldest_dirty().is_some_and(|since| old(since.0)) {
                // An error is told by the next fsync.
                let _ = self.submit_pages(nr, 0, u64::MAX);
            }
        }
        if self
            .vol
            .oldest_dirty_buffer()
            .is_some_and(|since| old(since.0))
        {
            self.vol.sync_buffers()?;
        }
        Ok(())
    }

    /// `sync`.
    pub(super) fn do_sync(&mut self) -> Result<()> {
        if self.vol.read_only {
            return Ok(());
        }
        self.write_back_everything()?;
        self.vol.flush()
    }

    /// `syncfs`.
    pub(super) fn do_syncfs(&mut self, fd: Fd) -> Result<()> {
        self.file(fd)?;
        self.do_sync()
    }

    /// `fsync`.
    pub(super) fn do_fsync(&mut self, fd: Fd) -> Result<()> {
        let nr = self.file(fd)?.inode;
        self.sync_inode(nr)
    }

    /// `fdatasync`: the inode's other fields may wait.
    pub(super) fn do_fdatasync(&mut self, fd: Fd) -> Result<()> {
        let nr = self.file(fd)?.inode;
        self.sync_contents(nr, true)
    }

    /// Writes an inode's pages, map and fields, then waits for the device.
    pub(super) fn sync_inode(&mut self, nr: InodeNr) -> Result<()> {
        self.sync_contents(nr, false)
    }

    fn sync_contents(&mut self, nr: InodeNr, data_only: bool) -> Result<()> {
        if self.vol.read_only {
            return Ok(());
        }
        let written = self.write_back_all(nr);
        if self.vol.journal.is_none() {
            self.vol.sync_buffers_of(nr)?;
            let (at, _) = self.vol.inode_place(nr)?;
            self.vol.sync_buffer(at)?;
            self.vol.flush()?;
            return written;
        }
        let inode = self.peek(nr)?;
        let tid = if data_only {
            inode.datasync_tid
        } else {
            inode.sync_tid
        };
        drop(inode);
        let pending =
            |m: &Self, tid: u32| m.vol.journal.as_ref().is_some_and(|j| j.is_pending(tid));
        match tid.filter(|&tid| pending(self, tid)) {
            Some(tid) => self.commit_until(tid)?,
            None => self.vol.flush()?,
        }
        written
    }

    /// The first part of `fsync` or `fdatasync`: the pages are on their way.
    pub fn sync_begin(&mut self, fd: Fd, data_only: bool) -> Result<Syncing> {
        let inode = self.file(fd)?.inode;
        let begun = Syncing { inode, data_only };
        if !self.vol.read_only {
            self.submit_pages(inode, 0, u64::MAX)?;
        }
        Ok(begun)
    }

    /// The second part, when the pages are there: what to wait for now. Without a journal
    /// the inode's metadata and a flush are on their way then.
    pub fn sync_metadata(&mut self, begun: &Syncing) -> Result<SyncWait> {
        if self.vol.read_only {
            return Ok(SyncWait::Device);
        }
        let written = self.end_io();
        let nr = begun.inode;
        if self.vol.journal.is_none() {
            self.vol.sync_buffers_of(nr)?;
            let (at, _) = self.vol.inode_place(nr)?;
            self.vol.sync_buffer(at)?;
            self.vol.flush()?;
            return written.map(|()| SyncWait::Device);
        }
        let inode = self.peek(nr)?;
        let tid = if begun.data_only {
            inode.datasync_tid
        } else {
            inode.sync_tid
        };
        drop(inode);
        let wait = match tid.filter(|&tid| self.is_pending(tid)) {
            Some(tid) => SyncWait::Commit(tid),
            None => {
                self.vol.flush()?;
                SyncWait::Device
            }
        };
        written.map(|()| wait)
    }

    /// Whether a transaction is not on disk yet.
    pub fn is_pending(&self, tid: u32) -> bool {
        self.vol.journal.as_ref().is_some_and(|j| j.is_pending(tid))
    }

    /// Whether contents are on their way whose end has to be noted by [`Mount::end_io`].
    pub fn has_in_flight(&self) -> bool {
        !self.vol.in_flight.is_empty()
    }

    /// `sync_file_range`, with every flag that waits: contents only, no metadata, no
    /// flush.
    pub(super) fn do_sync_file_range(&mut self, fd: Fd, offset: u64, len: u64) -> Result<()> {
        let nr = self.file(fd)?.inode;
        let size = self.vol.block_size() as u64;
        let end = if len == 0 {
            u64::MAX
        } else {
            offset.checked_add(len).ok_or(Errno::EINVAL)?
        };
        self.write_back(nr, offset / size, end.div_ceil(size))
    }
}

/// Writes dirty pages, run by run.
pub(super) fn write_pages(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    from: u64,
    to: u64,
) -> Result<()> {
    let mut at = from;
    let mut first = Ok(());
    while let Some(run) = next_run(vol, inode, at, to) {
        match write_run(vol, inode, &run) {
            Ok(done) => at = u64::from(run.lblk.0) + u64::from(done),
            Err(e) => {
                // As in Linux: what could not get its block is lost, and fsync says so.
                drop_run(vol, inode, &run);
                at = u64::from(run.lblk.0) + u64::from(run.len);
                first = first.and(Err(e));
            }
        }
    }
    vol.write_inode(inode)?;
    first
}

/// Writes the dirty pages that have their blocks: what ordered mode promises. Those without
/// stay delayed.
pub(super) fn write_mapped(vol: &mut Volume, inode: &mut InodeInfo) -> Result<()> {
    let mut at = 0;
    while let Some(run) = next_run(vol, inode, at, u64::MAX) {
        at = u64::from(run.lblk.0) + u64::from(run.len);
        if !run.delayed {
            let done = write_run(vol, inode, &run)?;
            at = u64::from(run.lblk.0) + u64::from(done);
        }
    }
    Ok(())
}

/// Dirty pages in a row, all delayed or none.
struct Run {
    lblk: Lblk,
    len: u32,
    delayed: bool,
}

fn next_run(vol: &Volume, inode: &InodeInfo, from: u64, to: u64) -> Option<Run> {
    let (lblk, page) = inode
        .pages
        .next_dirty(from)
        .filter(|(l, _)| u64::from(l.0) < to)?;
    let delayed = page.delayed;
    let most = vol.options.writeback_blocks.max(1);
    let end = (u64::from(lblk.0) + u64::from(most)).min(to);
    let same = |(n, page): &(Lblk, &Page), wanted: u32| {
        n.0 == wanted && page.dirty.is_some() && page.delayed == delayed
    };
    let len = inode
        .pages
        .range(lblk.0.into(), end)
        .zip(lblk.0..)
        .take_while(|(p, wanted)| same(p, *wanted))
        .count() as u32;
    Some(Run { lblk, len, delayed })
}

/// Writes the beginning of a run that lies together on disk; how many blocks that were.
fn write_run(vol: &mut Volume, inode: &mut InodeInfo, run: &Run) -> Result<u32> {
    let unwritten = vol.allocates_unwritten(inode);
    let how = map::Create {
        unwritten,
        reserved: run.delayed,
        root: false,
        reason: Reason::Data,
        // With `dioread_lock` they are cut, or zeroed, now and not when the contents are
        // there (`mpage_map_one_extent`).
        write: !unwritten,
    };
    let got = map::map_blocks(vol, inode, run.lblk, run.len, &how)?;
    if got.state == map::State::Hole || got.len == 0 {
        return Err(Errno::EIO);
    }
    if run.delayed && !got.new {
        // Somebody else gave it a block meanwhile.
        alloc::release(vol, inode, got.len);
    }
    let size = u64::from(vol.geo.block_size);
    let mut data = Vec::with_capacity(got.len as usize);
    for lblk in (run.lblk.0..).take(got.len as usize).map(Lblk) {
        let content = inode.pages.clean(lblk).unwrap_or(Data::Zero);
        data.push((content, size));
        let nr = inode.nr;
        vol.events.emit(|| What::PageCleaned { inode: nr, lblk });
    }
    let nr = inode.nr;
    vol.events.emit(|| What::DataWritten {
        inode: nr,
        lblk: run.lblk,
        block: got.start,
        len: got.len,
    });
    // The block was metadata before: what is left of that in memory is not to be written.
    for block in got.start.0..got.start.0 + u64::from(got.len) {
        vol.forget_if_kept(crate::units::BlockNr(block));
    }
    // Only data=writeback lets a commit pass the contents on their way.
    let queues = vol.options.data == DataMode::Writeback && vol.journal.is_some();
    let queued = if queues {
        Some((got.start, data))
    } else {
        vol.write(got.start, data)?;
        None
    };
    let unwritten = got.state == map::State::Unwritten;
    if unwritten || queues {
        vol.in_flight.push(InFlight {
            inode: nr,
            lblk: run.lblk,
            len: got.len,
            unwritten,
            queued,
        });
    }
    let end = (u64::from(run.lblk.0) + u64::from(got.len)) * size;
    let disk = inode.disk_size().max(end.min(inode.size));
    inode.set_disk_size(disk);
    Ok(got.len)
}

/// Gives up pages that cannot be written.
fn drop_run(vol: &mut Volume, inode: &mut InodeInfo, run: &Run) {
    for lblk in (run.lblk.0..).take(run.len as usize).map(Lblk) {
        drop_page(vol, inode, lblk);
    }
}

/// Gives up a page, and the promise of a block that it may have.
pub(super) fn drop_page(vol: &mut Volume, inode: &mut InodeInfo, lblk: Lblk) {
    let Some(page) = inode.pages.remove(lblk) else {
        return;
    };
    if page.delayed {
        alloc::release(vol, inode, 1);
    }
    let nr = inode.nr;
    vol.events.emit(|| What::PageDropped { inode: nr, lblk });
}

impl Volume {
    /// Whether blocks are allocated late, as long as there is room.
    pub(crate) fn delalloc(&self) -> bool {
        let wanted = self.options.delalloc;
        wanted.unwrap_or_else(|| self.has_incompat(Incompat::EXTENTS))
            && self.options.data != DataMode::Journal
    }

    /// Whether new blocks of a file are unwritten until their contents are there: without
    /// delayed allocation, `dioread_nolock` counts for nothing.
    pub(crate) fn allocates_unwritten(&self, inode: &InodeInfo) -> bool {
        self.options.dioread_nolock && self.delalloc() && inode.uses_extents()
    }
}
