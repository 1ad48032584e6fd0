//! Cutting and growing files.

use super::read::{is_zero, whole_block};
use super::write::{clear_tail, dirty_page, inode_may_change, max_bytes, strip_setid};
use crate::disk::Data;
use crate::ext4::layout::InodeFlags;
use crate::kernel::caller::MAY_WRITE;
use crate::kernel::writeback::drop_page;
use crate::kernel::{Caller, Errno, Fd, InodeInfo, Mount, Result, Volume, alloc, map};
use crate::units::{InodeNr, Lblk};

impl Mount {
    /// `truncate`.
    pub(in crate::kernel) fn do_truncate(
        &mut self,
        who: &Caller,
        path: &[u8],
        len: u64,
    ) -> Result<()> {
        if len > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        let nr = self.resolve(who, path, true)?;
        let inode = self.peek(nr)?;
        if inode.is_dir() {
            return Err(Errno::EISDIR);
        }
        if !inode.is_file() {
            return Err(Errno::EINVAL);
        }
        self.vol.check_writable()?;
        who.check(&inode, MAY_WRITE)?;
        if inode.has(InodeFlags::IMMUTABLE | InodeFlags::APPEND) {
            return Err(Errno::EPERM);
        }
        drop(inode);
        let inode = self.inodes.get(&mut self.vol, nr)?;
        strip_setid(who, inode);
        self.truncate_inode(nr, len)
    }

    /// `ftruncate`.
    pub(in crate::kernel) fn do_ftruncate(&mut self, fd: Fd, len: u64) -> Result<()> {
        if len > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        let file = self.file(fd)?.clone();
        let inode = self.peek(file.inode)?;
        if !inode.is_file() || self.writable(fd).is_err() {
            return Err(Errno::EINVAL);
        }
        if inode.has(InodeFlags::APPEND) {
            return Err(Errno::EPERM);
        }
        inode_may_change(&inode)?;
        drop(inode);
        self.vol.check_writable()?;
        let inode = self.inodes.get(&mut self.vol, file.inode)?;
        strip_setid(&file.who, inode);
        self.truncate_inode(file.inode, len)
    }

    /// Gives a file a length; times change.
    pub(in crate::kernel) fn truncate_inode(&mut self, nr: InodeNr, len: u64) -> Result<()> {
        let mut inode = self.inodes.take(&mut self.vol, nr)?;
        let done = self.set_length(&mut inode, len);
        self.inodes.insert(inode);
        done
    }

    fn set_length(&mut self, inode: &mut InodeInfo, len: u64) -> Result<()> {
        if len > max_bytes(&self.vol, inode) {
            return Err(Errno::EFBIG);
        }
        let now = self.vol.time();
        crate::kernel::inline::make_blocks(&mut self.vol, inode)?;
        if len > inode.size {
            clear_tail(&mut self.vol, inode, len)?;
            inode.size = len;
            inode.set_disk_size(len);
        } else {
            self.cut(inode, len)?;
        }
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    fn cut(&mut self, inode: &mut InodeInfo, len: u64) -> Result<()> {
        if len == 0 && self.vol.options.auto_da_alloc {
            inode.flush_on_close = true;
        }
        // Where there is a journal, a crash in the middle leaves the rest to the mount.
        self.orphan_add(inode)?;
        let done = cut_blocks(&mut self.vol, inode, len);
        if inode.links() > 0 {
            self.orphan_remove(inode)?;
        }
        done
    }
}

/// Takes away a file's blocks past a length, in memory and on disk.
fn cut_blocks(vol: &mut Volume, inode: &mut InodeInfo, len: u64) -> Result<()> {
    let size = vol.block_size() as u64;
    alloc::discard_preallocations(vol, inode);
    zero_range_of_block(vol, inode, len, len.next_multiple_of(size).min(inode.size))?;
    let first = len.div_ceil(size);
    drop_pages(vol, inode, first, u64::MAX);
    inode.size = len;
    inode.set_disk_size(len);
    let end = map::max_blocks(vol, inode);
    map::remove(vol, inode, first, end)
}

/// Gives up pages from one block up to, not including, another.
pub(super) fn drop_pages(vol: &mut Volume, inode: &mut InodeInfo, from: u64, to: u64) {
    let gone: Vec<Lblk> = inode.pages.range(from, to).map(|(l, _)| l).collect();
    for lblk in gone {
        drop_page(vol, inode, lblk);
    }
}

/// Makes bytes inside one block read as zeros, where the block holds anything.
pub(super) fn zero_range_of_block(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    from: u64,
    to: u64,
) -> Result<()> {
    if from >= to {
        return Ok(());
    }
    let size = vol.block_size() as u64;
    let lblk = Lblk((from / size) as u32);
    let dirty = inode.pages.get(lblk).and_then(|p| p.dirty.as_ref());
    if dirty.is_some_and(is_zero) {
        return Ok(());
    }
    if dirty.is_none() && map::lookup(vol, inode, lblk, 1)?.state != map::State::Written {
        return Ok(());
    }
    let mut whole = whole_block(vol, inode, lblk)?;
    let skip = (from % size) as usize;
    whole[skip..skip + (to - from) as usize].fill(0);
    dirty_page(vol, inode, lblk, Data::Bytes(whole.into()), true)
}
