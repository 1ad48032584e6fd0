//! `fallocate`, in every mode that ext4 has, and one that it never got.

use super::truncate::{drop_pages, zero_range_of_block};
use super::write::{clear_tail, max_bytes, strip_setid};
use crate::event::Reason;
use crate::ext4::layout::{FileType, InodeFlags};
use crate::kernel::fd::OpenFile;
use crate::kernel::{Errno, Fd, InodeInfo, Mount, Result, map};
use crate::units::{InodeNr, Lblk};
use bitflags::bitflags;

bitflags! {
    /// Mode of `fallocate`, as Linux numbers it.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct FallocateMode: u32 {
        /// The size stays.
        const KEEP_SIZE = 0x1;
        /// Blocks are given back.
        const PUNCH_HOLE = 0x2;
        /// What the blocks held before may be seen (proposed in 2012, never merged; Linux
        /// keeps the number).
        const NO_HIDE_STALE = 0x4;
        /// The range is taken out; what follows moves up.
        const COLLAPSE_RANGE = 0x8;
        /// The range reads as zeros, its blocks stay.
        const ZERO_RANGE = 0x10;
        /// A hole is put in; what follows moves down.
        const INSERT_RANGE = 0x20;
    }
}

/// A range of a file: bytes, and the blocks that lie wholly inside.
#[derive(Clone, Copy)]
struct Range {
    from: u64,
    to: u64,
    block: u64,
}

impl Range {
    /// First whole block, one past the last.
    fn whole(self) -> (u64, u64) {
        let first = self.from.div_ceil(self.block);
        (first, (self.to / self.block).max(first))
    }

    /// Blocks that it touches.
    fn touched(self) -> (u64, u64) {
        (self.from / self.block, self.to.div_ceil(self.block))
    }

    fn aligned(self, to: u64) -> bool {
        self.from.is_multiple_of(to) && self.to.is_multiple_of(to)
    }
}

impl Mount {
    /// `fallocate`.
    pub(in crate::kernel) fn do_fallocate(
        &mut self,
        fd: Fd,
        mode: FallocateMode,
        offset: u64,
        len: u64,
    ) -> Result<()> {
        let file = self.file(fd)?.clone();
        if offset > i64::MAX as u64 || len == 0 || len > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        self.check_mode(&file, mode)?;
        self.check_target(fd, &file, mode)?;
        let nr = file.inode;
        let inode = self.inodes.get(&mut self.vol, nr)?;
        let end = offset.checked_add(len).filter(|e| *e <= i64::MAX as u64);
        let end = end.ok_or(Errno::EFBIG)?;
        // Asked before it is known how the file is mapped.
        let block = u64::from(self.vol.geo.block_size);
        if end > map::max_extent_blocks(&self.vol).saturating_mul(block) {
            return Err(Errno::EFBIG);
        }
        self.vol.check_writable()?;
        crate::kernel::inline::make_blocks(&mut self.vol, inode)?;
        let punch = mode.contains(FallocateMode::PUNCH_HOLE);
        if !punch && !inode.uses_extents() {
            return Err(Errno::EOPNOTSUPP);
        }
        strip_setid(&file.who, inode);
        let range = Range {
            from: offset,
            to: end,
            block: u64::from(self.vol.geo.block_size),
        };
        let done = if punch {
            self.punch(nr, range)
        } else if mode.contains(FallocateMode::COLLAPSE_RANGE) {
            self.collapse(nr, range)
        } else if mode.contains(FallocateMode::INSERT_RANGE) {
            self.insert(nr, range)
        } else if mode.contains(FallocateMode::ZERO_RANGE) {
            self.zero(nr, range, mode, file.who.is_root())
        } else {
            self.preallocate(nr, range, mode, file.who.is_root())
        };
        let inode = self.inodes.get(&mut self.vol, nr)?;
        let dirty = inode.pages.dirty_count() > 0;
        self.inodes.mark_dirty(nr, dirty);
        if done.is_err() {
            // What got its blocks before the error keeps them.
            let inode = self.inodes.get(&mut self.vol, nr)?;
            self.vol.write_inode(inode)?;
        }
        done
    }

    /// Whether the mode is one, and the caller may use it.
    fn check_mode(&mut self, file: &OpenFile, mode: FallocateMode) -> Result<()> {
        use FallocateMode as M;
        let known = M::all();
        if !(mode - known).is_empty() || mode.bits() & !known.bits() != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        if mode.contains(M::NO_HIDE_STALE) {
            let Some(gid) = self.vol.options.nohide_stale_gid else {
                return Err(Errno::EOPNOTSUPP);
            };
            if mode != M::NO_HIDE_STALE {
                return Err(Errno::EOPNOTSUPP);
            }
            if !self.peek(file.inode)?.is_file() {
                return Err(Errno::ENODEV);
            }
            if !file.who.in_group(gid) {
                return Err(Errno::EACCES);
            }
        }
        if mode.contains(M::PUNCH_HOLE | M::ZERO_RANGE) {
            return Err(Errno::EOPNOTSUPP);
        }
        if mode.contains(M::PUNCH_HOLE) && !mode.contains(M::KEEP_SIZE) {
            return Err(Errno::EOPNOTSUPP);
        }
        let alone = |m: M| mode.contains(m) && mode != m;
        if alone(M::COLLAPSE_RANGE) || alone(M::INSERT_RANGE) {
            return Err(Errno::EOPNOTSUPP);
        }
        Ok(())
    }

    fn check_target(&mut self, fd: Fd, file: &OpenFile, mode: FallocateMode) -> Result<()> {
        self.writable(fd)?;
        let inode = self.peek(file.inode)?;
        if inode.has(InodeFlags::APPEND) && !(mode - FallocateMode::KEEP_SIZE).is_empty() {
            return Err(Errno::EPERM);
        }
        if inode.has(InodeFlags::IMMUTABLE) {
            return Err(Errno::EPERM);
        }
        match inode.file_type() {
            FileType::Regular => Ok(()),
            FileType::Fifo => Err(Errno::ESPIPE),
            FileType::Directory => Err(Errno::EISDIR),
            _ => Err(Errno::ENODEV),
        }
    }

    fn preallocate(
        &mut self,
        nr: InodeNr,
        range: Range,
        mode: FallocateMode,
        root: bool,
    ) -> Result<()> {
        let (first, end) = range.touched();
        self.write_back(nr, first, end)?;
        let unwritten = !mode.contains(FallocateMode::NO_HIDE_STALE);
        let keep = mode.contains(FallocateMode::KEEP_SIZE);
        let done = self.fill_holes(nr, first, end, unwritten, root);
        let reached = match done {
            Ok(()) => range.to,
            Err((at, _)) => (at * range.block).min(range.to),
        };
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if !keep && reached > inode.size && reached > range.from {
            clear_tail(&mut self.vol, inode, reached)?;
            inode.size = reached;
            inode.set_disk_size(reached);
            inode.set_mtime(now);
        }
        inode.set_ctime(now);
        self.vol.write_inode(inode)?;
        done.map_err(|(_, e)| e)
    }

    /// Gives blocks to holes. On an error, the first block that got none.
    fn fill_holes(
        &mut self,
        nr: InodeNr,
        first: u64,
        end: u64,
        unwritten: bool,
        root: bool,
    ) -> std::result::Result<(), (u64, Errno)> {
        let how = map::Create {
            unwritten,
            reserved: false,
            root,
            reason: Reason::Data,
            write: false,
        };
        let inode = self.inodes.get(&mut self.vol, nr).map_err(|e| (first, e))?;
        // What fits in one extent is not to be cut by what the allocator likes.
        inode.alloc.as_asked = end.saturating_sub(first) <= 32767;
        let mut at = first;
        let mut done = Ok(());
        while at < end && done.is_ok() {
            let wanted = (end - at).min(32767) as u32;
            match map::map_blocks(&mut self.vol, inode, Lblk(at as u32), wanted, &how) {
                Ok(got) => at += u64::from(got.len.max(1)),
                Err(e) => done = Err((at, e)),
            }
        }
        inode.alloc.as_asked = false;
        done
    }

    fn zero(&mut self, nr: InodeNr, range: Range, mode: FallocateMode, root: bool) -> Result<()> {
        let size = self.zero_edges(nr, range)?;
        let (first, end) = range.whole();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        keep_size(inode, range);
        drop_pages(&mut self.vol, inode, first, end);
        let (touched, past) = range.touched();
        self.write_back(nr, touched, past)?;
        self.fill_holes(nr, touched, past, true, root)
            .map_err(|(_, e)| e)?;
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if first < end {
            map::mark_unwritten(
                &mut self.vol,
                inode,
                Lblk(first as u32),
                (end - first) as u32,
            )?;
        }
        if !mode.contains(FallocateMode::KEEP_SIZE) && range.to > size {
            clear_tail(&mut self.vol, inode, range.to)?;
            inode.size = range.to;
            inode.set_disk_size(range.to);
        }
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    /// Zeroes the parts of a range that share their block with what is outside; gives the
    /// file's size.
    fn zero_edges(&mut self, nr: InodeNr, range: Range) -> Result<u64> {
        let (first, end) = range.whole();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        let head = (first * range.block).min(range.to);
        zero_range_of_block(&mut self.vol, inode, range.from, head)?;
        let tail = (end * range.block).max(head);
        zero_range_of_block(&mut self.vol, inode, tail, range.to)?;
        Ok(inode.size)
    }

    fn punch(&mut self, nr: InodeNr, range: Range) -> Result<()> {
        let size = self.peek(nr)?.size;
        if range.from >= size {
            return Ok(());
        }
        // A hole over the end goes on to the end of the last page (4096 bytes in Linux),
        // whether that is more than was asked for or less.
        let to = if range.to > size {
            size.next_multiple_of(4096.max(range.block))
        } else {
            range.to
        };
        let range = Range { to, ..range };
        self.zero_edges(nr, range)?;
        let (first, end) = range.whole();
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        keep_size(inode, range);
        drop_pages(&mut self.vol, inode, first, end);
        crate::kernel::alloc::discard_preallocations(&mut self.vol, inode);
        if first < end {
            map::remove(&mut self.vol, inode, first, end)?;
        }
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    fn collapse(&mut self, nr: InodeNr, range: Range) -> Result<()> {
        let cluster = range.block * u64::from(self.vol.geo.cluster_blocks);
        let size = self.peek(nr)?.size;
        if !range.aligned(cluster) || range.to >= size {
            return Err(Errno::EINVAL);
        }
        self.settle_from(nr, range.from / range.block)?;
        let (first, end) = range.whole();
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        map::remove(&mut self.vol, inode, first, end)?;
        map::shift(&mut self.vol, inode, end, -((end - first).cast_signed()))?;
        inode.size = size - (range.to - range.from);
        inode.set_disk_size(inode.size);
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    fn insert(&mut self, nr: InodeNr, range: Range) -> Result<()> {
        let cluster = range.block * u64::from(self.vol.geo.cluster_blocks);
        let inode = self.peek(nr)?;
        let (size, most) = (inode.size, max_bytes(&self.vol, &inode));
        drop(inode);
        if !range.aligned(cluster) || range.from >= size {
            return Err(Errno::EINVAL);
        }
        let grown = size
            .checked_add(range.to - range.from)
            .filter(|s| *s <= most);
        let grown = grown.ok_or(Errno::EFBIG)?;
        self.settle_from(nr, range.from / range.block)?;
        let (first, end) = range.whole();
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        map::shift(&mut self.vol, inode, first, (end - first).cast_signed())?;
        inode.size = grown;
        inode.set_disk_size(grown);
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    /// Writes and gives up all pages from a block on, before their places change.
    fn settle_from(&mut self, nr: InodeNr, first: u64) -> Result<()> {
        self.write_back(nr, first, u64::MAX)?;
        let inode = self.inodes.get(&mut self.vol, nr)?;
        crate::kernel::alloc::discard_preallocations(&mut self.vol, inode);
        drop_pages(&mut self.vol, inode, first, u64::MAX);
        Ok(())
    }

    /// `swapon`: as long as Linux asked `bmap`, every block had to be there and written.
    pub(in crate::kernel) fn do_swapon(&mut self, nr: InodeNr) -> Result<()> {
        let inode = self.peek(nr)?;
        if !inode.is_file() {
            return Err(Errno::EINVAL);
        }
        let end = inode.size / u64::from(self.vol.geo.block_size);
        let mut at = 0;
        while at < end {
            let wanted = (end - at).min(u64::from(u32::MAX)) as u32;
            let run = map::lookup(&mut self.vol, &inode, Lblk(at as u32), wanted)?;
            if run.state != map::State::Written {
                return Err(Errno::EINVAL);
            }
            at += u64::from(run.len.max(1));
        }
        Ok(())
    }

    /// The inode behind a descriptor.
    pub fn inode_of(&self, fd: Fd) -> Result<InodeNr> {
        Ok(self.file(fd)?.inode)
    }

    /// An inode's fields, as memory has them.
    pub fn inode(&mut self, nr: InodeNr) -> Result<std::sync::Arc<InodeInfo>> {
        self.peek(nr)
    }
}

/// Where a range that reaches the end loses its pages, none of them is left whose writing
/// would tell the disk of the size.
fn keep_size(inode: &mut InodeInfo, range: Range) {
    let size = inode.size;
    if range.from <= size && range.to >= size && inode.disk_size() < size {
        inode.set_disk_size(size);
    }
}
