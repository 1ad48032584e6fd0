//! Writing into the page cache.

use super::read::whole_block;
use crate::disk::Data;
use crate::event::{Meta, Reason, What};
use crate::ext4::layout::InodeFlags;
use crate::kernel::pages::Page;
use crate::kernel::{DataMode, Errno, Fd, InodeInfo, Mount, OpenFlags, Result, Volume, alloc, map};
use crate::units::Lblk;

/// What is written.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// So many bytes of a pattern, which costs no memory for them.
    Pattern {
        /// The pattern's seed.
        seed: u64,
        /// The place in it of the first byte.
        from: u64,
        /// Bytes.
        len: u64,
    },
}

impl Source<'_> {
    fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::Pattern { len, .. } => *len,
        }
    }

    fn fill(&self, at: u64, out: &mut [u8]) {
        match self {
            Self::Bytes(bytes) => out.copy_from_slice(&bytes[at as usize..at as usize + out.len()]),
            Self::Pattern { seed, from, .. } => {
                let data = Data::Pattern {
                    seed: *seed,
                    from: from.wrapping_add(at),
                };
                data.read(0, out);
            }
        }
    }

    /// A whole block of it.
    fn block(&self, at: u64, size: usize) -> Data {
        match self {
            Self::Bytes(bytes) => Data::Bytes(bytes[at as usize..at as usize + size].into()),
            Self::Pattern { seed, from, .. } => Data::Pattern {
                seed: *seed,
                from: from.wrapping_add(at),
            },
        }
    }
}

impl Mount {
    /// `write`; how many bytes were taken.
    pub(in crate::kernel) fn do_write(&mut self, fd: Fd, bytes: &[u8]) -> Result<u64> {
        self.write_source(fd, Source::Bytes(bytes))
    }

    /// `write` of a pattern's bytes from `from` on.
    pub(in crate::kernel) fn do_write_pattern(
        &mut self,
        fd: Fd,
        len: u64,
        seed: u64,
        from: u64,
    ) -> Result<u64> {
        self.write_source(fd, Source::Pattern { seed, from, len })
    }

    fn write_source(&mut self, fd: Fd, source: Source<'_>) -> Result<u64> {
        let file = self.writable(fd)?;
        let (n, end) = self.write_file(fd, file.offset, source)?;
        self.set_offset(fd, end);
        Ok(n)
    }

    /// `pwrite`. As in Linux, a file opened for appending is appended to all the same.
    pub(in crate::kernel) fn do_pwrite(
        &mut self,
        fd: Fd,
        bytes: &[u8],
        offset: u64,
    ) -> Result<u64> {
        if offset > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        Ok(self.write_file(fd, offset, Source::Bytes(bytes))?.0)
    }

    /// `pwrite` of a pattern's bytes.
    pub(in crate::kernel) fn do_pwrite_source(
        &mut self,
        fd: Fd,
        offset: u64,
        source: Source<'_>,
    ) -> Result<u64> {
        if offset > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        Ok(self.write_file(fd, offset, source)?.0)
    }

    /// Writes, and gives bytes taken and the place after them.
    fn write_file(&mut self, fd: Fd, offset: u64, source: Source<'_>) -> Result<(u64, u64)> {
        let file = self.writable(fd)?;
        let nr = file.inode;
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if !inode.is_file() {
            return Err(Errno::EINVAL);
        }
        self.vol.check_writable()?;
        if inode.has(InodeFlags::IMMUTABLE) {
            return Err(Errno::EPERM);
        }
        if source.len() == 0 {
            return Ok((0, offset));
        }
        let offset = if file.flags.contains(OpenFlags::APPEND) {
            inode.size
        } else {
            offset
        };
        let most = max_bytes(&self.vol, inode);
        if offset >= most {
            return Err(Errno::EFBIG);
        }
        let len = source.len().min(most - offset);
        inode_may_change(inode)?;
        crate::kernel::inline::make_blocks(&mut self.vol, inode)?;
        let now = self.vol.time();
        strip_setid(&file.who, inode);
        let done = write_into(
            &mut self.vol,
            inode,
            offset,
            len,
            &source,
            file.who.is_root(),
        );
        let n = match done {
            Ok(n) => n,
            Err((0, e)) => {
                let dirty = inode.pages.dirty_count() > 0;
                self.inodes.mark_dirty(nr, dirty);
                return Err(e);
            }
            Err((n, _)) => n,
        };
        inode.size = inode.size.max(offset + n);
        inode.touch(now);
        let covered = inode.delayed == 0 && inode.disk_size() < inode.size;
        if covered {
            inode.set_disk_size(inode.size);
        }
        self.vol.write_inode(inode)?;
        let dirty = inode.pages.dirty_count() > 0;
        self.inodes.mark_dirty(nr, dirty);
        if file.flags.intersects(OpenFlags::SYNC | OpenFlags::DSYNC)
            || self.peek(nr)?.has(InodeFlags::SYNC)
        {
            self.sync_inode(nr)?;
        } else if file.flags.contains(OpenFlags::DIRECT) {
            self.write_back_all(nr)?;
        }
        Ok((n, offset + n))
    }
}

/// Fails where contents may not be changed.
pub(super) fn inode_may_change(inode: &InodeInfo) -> Result<()> {
    if inode.has(InodeFlags::IMMUTABLE) {
        Err(Errno::EPERM)
    } else {
        Ok(())
    }
}

/// Whoever writes into a program takes its set-ID bits away, the super-user apart.
pub(super) fn strip_setid(who: &crate::kernel::Caller, inode: &mut InodeInfo) {
    let mode = inode.raw.i_mode();
    if who.is_root() || !inode.is_file() {
        return;
    }
    let group = if mode & 0o010 != 0 { 0o2000 } else { 0 };
    inode.raw.set_i_mode(mode & !(0o4000 | group));
}

/// Bytes that a file of this mapping can have.
pub(in crate::kernel) fn max_bytes(vol: &Volume, inode: &InodeInfo) -> u64 {
    map::max_blocks(vol, inode)
        .saturating_mul(u64::from(vol.geo.block_size))
        .min(i64::MAX as u64)
}

/// Puts bytes into pages. On an error, how many were taken before it.
fn write_into(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    offset: u64,
    len: u64,
    source: &Source<'_>,
    root: bool,
) -> std::result::Result<u64, (u64, Errno)> {
    let size = vol.block_size() as u64;
    clear_tail(vol, inode, offset).map_err(|e| (0, e))?;
    let mut done = 0;
    while done < len {
        let at = offset + done;
        let (lblk, skip) = (Lblk((at / size) as u32), at % size);
        let n = (size - skip).min(len - done);
        let data = if n == size {
            source.block(done, size as usize)
        } else {
            let mut whole = old_block(vol, inode, lblk).map_err(|e| (done, e))?;
            source.fill(done, &mut whole[skip as usize..][..n as usize]);
            Data::Bytes(whole.into())
        };
        dirty_page(vol, inode, lblk, data, root).map_err(|e| (done, e))?;
        done += n;
    }
    Ok(done)
}

/// A block's contents before a change of a part of it: what lies past the file's end
/// does not count, whatever the disk holds there.
fn old_block(vol: &mut Volume, inode: &mut InodeInfo, lblk: Lblk) -> Result<Vec<u8>> {
    let size = vol.block_size() as u64;
    let start = u64::from(lblk.0) * size;
    if start >= inode.size {
        return Ok(vec![0; size as usize]);
    }
    let mut whole = whole_block(vol, inode, lblk)?;
    let inside = (inode.size - start).min(size) as usize;
    whole[inside..].fill(0);
    Ok(whole)
}

/// Before a file grows past its last block: what that block holds past the old end must
/// read as zeros.
pub(super) fn clear_tail(vol: &mut Volume, inode: &mut InodeInfo, to: u64) -> Result<()> {
    let size = vol.block_size() as u64;
    let used = inode.size % size;
    if used == 0 || to <= inode.size {
        return Ok(());
    }
    let lblk = Lblk((inode.size / size) as u32);
    let in_memory = inode.pages.get(lblk).is_some_and(|p| p.dirty.is_some());
    if !in_memory && map::lookup(vol, inode, lblk, 1)?.state != map::State::Written {
        return Ok(());
    }
    let whole = whole_block(vol, inode, lblk)?;
    if whole[used as usize..].iter().all(|&b| b == 0) {
        return Ok(());
    }
    let whole = old_block(vol, inode, lblk)?;
    dirty_page(vol, inode, lblk, Data::Bytes(whole.into()), true)
}

/// Gives a page new contents; a block that the file does not have is promised, or
/// allocated at once without delayed allocation.
pub(super) fn dirty_page(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: Lblk,
    data: Data,
    root: bool,
) -> Result<()> {
    let before = inode.pages.get(lblk);
    let (was_dirty, mut delayed, mut since) = before
        .filter(|p| p.dirty.is_some())
        .map_or((false, false, vol.events.now), |p| {
            (true, p.delayed, p.since)
        });
    if journals_data(vol, inode) {
        return journal_block(vol, inode, lblk, &data, root);
    }
    if !was_dirty {
        since = vol.events.now;
        delayed = prepare_block(vol, inode, lblk, root)?;
    }
    let page = Page {
        dirty: Some(data),
        delayed,
        since,
    };
    inode.pages.put(lblk, page);
    let nr = inode.nr;
    vol.events.emit(|| What::PageDirtied {
        inode: nr,
        lblk,
        delayed,
    });
    Ok(())
}

/// Sees to it that a block can be written later; whether it is only promised.
fn prepare_block(vol: &mut Volume, inode: &mut InodeInfo, lblk: Lblk, root: bool) -> Result<bool> {
    let found = map::lookup(vol, inode, lblk, 1)?;
    if found.state != map::State::Hole {
        return Ok(false);
    }
    if delays(vol) {
        alloc::reserve(vol, inode, 1)?;
        return Ok(true);
    }
    let how = map::Create {
        unwritten: vol.allocates_unwritten(inode),
        reserved: false,
        root,
        reason: Reason::Data,
        write: false,
    };
    map::map_blocks(vol, inode, lblk, 1, &how)?;
    let (ordered, now) = (vol.options.data != DataMode::Writeback, vol.events.now);
    if let Some(journal) = &mut vol.journal
        && ordered
        && !how.unwritten
    {
        journal.join(now).ordered.insert(inode.nr);
    }
    Ok(false)
}

/// Whether a file's contents go through the journal.
pub(in crate::kernel) fn journals_data(vol: &Volume, inode: &InodeInfo) -> bool {
    let asked = vol.options.data == DataMode::Journal || inode.has(InodeFlags::JOURNAL_DATA);
    asked && vol.journal.is_some() && inode.is_file()
}

/// Contents become a block of the running transaction, like metadata.
fn journal_block(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: Lblk,
    data: &Data,
    root: bool,
) -> Result<()> {
    let how = map::Create {
        unwritten: false,
        reserved: false,
        root,
        reason: Reason::Data,
        write: true,
    };
    let run = map::map_blocks(vol, inode, lblk, 1, &how)?;
    let nr = inode.nr;
    let block = vol.fresh(run.start, Meta::FileData, nr)?;
    data.read(0, block);
    // The bytes are in this transaction: fdatasync too has to wait for it.
    let running = vol.journal.as_ref().and_then(|j| j.running());
    if let Some(tid) = running.map(|t| t.tid) {
        (inode.sync_tid, inode.datasync_tid) = (Some(tid), Some(tid));
    }
    super::read::keep(inode, lblk);
    vol.events.emit(|| What::PageDirtied {
        inode: nr,
        lblk,
        delayed: false,
    });
    Ok(())
}

/// Whether blocks are allocated late: the option, not with clusters (a promise would have
/// to be shared by the blocks of one), and not where space runs out (as ext4 falls back:
/// less than half again as much free as is promised).
fn delays(vol: &Volume) -> bool {
    let (free, dirty) = (vol.free_clusters, vol.reserved_clusters);
    let scarce = 2 * free < 3 * dirty || free < dirty + 1024;
    vol.delalloc() && vol.geo.cluster_blocks == 1 && !scarce
}
