//! Open files: descriptors, offsets, `open` and `close`.

use super::caller::{MAY_READ, MAY_WRITE};
use super::namei::{Last, Parent};
use super::{Caller, Errno, Mount, Result, alloc};
use crate::ext4::layout::{FileType, InodeFlags};
use crate::units::InodeNr;
use bitflags::bitflags;

bitflags! {
    /// Flags of `open`, as Linux numbers them on x86-64.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct OpenFlags: u32 {
        /// For writing only.
        const WRONLY = 0o1;
        /// For reading and writing.
        const RDWR = 0o2;
        /// Make it where it is not there.
        const CREAT = 0o100;
        /// Fail where it is there.
        const EXCL = 0o200;
        /// Cut it to nothing.
        const TRUNC = 0o1000;
        /// Every write goes to the end.
        const APPEND = 0o2000;
        /// Every write waits for the contents, and what is needed to find them.
        const DSYNC = 0o1_0000;
        /// Past the page cache.
        const DIRECT = 0o4_0000;
        /// It has to be a directory.
        const DIRECTORY = 0o20_0000;
        /// It may not be a link.
        const NOFOLLOW = 0o40_0000;
        /// Reading leaves the access time alone.
        const NOATIME = 0o100_0000;
        /// Every write waits for contents and inode.
        const SYNC = 0o401_0000;
        /// A file without a name, in the directory of the path.
        const TMPFILE = 0o2020_0000;
    }
}

impl OpenFlags {
    fn readable(self) -> bool {
        !self.contains(Self::WRONLY) || self.contains(Self::RDWR)
    }

    fn writable(self) -> bool {
        self.intersects(Self::WRONLY | Self::RDWR)
    }
}

/// A descriptor.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fd(pub u32);

/// What a descriptor refers to.
#[derive(Clone, Debug)]
pub(super) struct OpenFile {
    pub(super) inode: InodeNr,
    pub(super) flags: OpenFlags,
    pub(super) offset: u64,
    /// Where the next `getdents` goes on.
    pub(super) dir_entry: usize,
    pub(super) who: Caller,
}

/// Descriptors that one mount can have open (Linux: `fs.nr_open`, 2^20).
const MAX_OPEN: u32 = 1 << 20;

/// 0, 1 and 2 are a process's input and output.
const FIRST_FD: u32 = 3;

impl Mount {
    /// `open`. `mode`: permissions of a file that is made.
    pub(super) fn do_open(
        &mut self,
        who: &Caller,
        path: &[u8],
        flags: OpenFlags,
        mode: u16,
    ) -> Result<Fd> {
        // A directory is not made by `open`: since Linux 6.4 one may not even ask.
        if flags.contains(OpenFlags::CREAT | OpenFlags::DIRECTORY) {
            return Err(Errno::EINVAL);
        }
        let (nr, made) = self.find_or_make(who, path, flags, mode)?;
        if !made {
            self.check_open(who, nr, flags)?;
        }
        let inode = self.peek(nr)?;
        let truncate = flags.contains(OpenFlags::TRUNC) && !made && inode.is_file();
        drop(inode);
        if truncate {
            self.truncate_inode(nr, 0)?;
        }
        self.new_fd(who, nr, flags)
    }

    pub(super) fn new_fd(&mut self, who: &Caller, nr: InodeNr, flags: OpenFlags) -> Result<Fd> {
        let fd = (FIRST_FD..MAX_OPEN)
            .find(|n| !self.files.contains_key(n))
            .ok_or(Errno::EMFILE)?;
        self.inodes.get(&mut self.vol, nr)?.opens += 1;
        let file = OpenFile {
            inode: nr,
            flags,
            offset: 0,
            dir_entry: 0,
            who: who.clone(),
        };
        self.files.insert(fd, file);
        Ok(Fd(fd))
    }

    /// The inode to open, and whether it was made for that.
    fn find_or_make(
        &mut self,
        who: &Caller,
        path: &[u8],
        flags: OpenFlags,
        mode: u16,
    ) -> Result<(InodeNr, bool)> {
        if flags.contains(OpenFlags::TMPFILE) {
            return Ok((self.tmpfile(who, path, flags, mode)?, true));
        }
        let parent = self.parent(who, path)?;
        if !flags.contains(OpenFlags::CREAT) {
            let follow = !flags.contains(OpenFlags::NOFOLLOW) || parent.slash;
            return Ok((self.resolve(who, path, follow)?, false));
        }
        if parent.slash && parent.last == Last::Name {
            return Err(Errno::EISDIR);
        }
        if parent.last != Last::Name {
            return if flags.contains(OpenFlags::EXCL) {
                Err(Errno::EEXIST)
            } else {
                Err(Errno::EISDIR)
            };
        }
        match self.last_of(&parent)? {
            Some(_) if flags.contains(OpenFlags::EXCL) => Err(Errno::EEXIST),
            None => Ok((self.make_file(who, &parent, mode)?, true)),
            Some(nr) if flags.contains(OpenFlags::NOFOLLOW) => Ok((nr, false)),
            Some(nr) => match self.parent_of_target(who, parent, nr)? {
                // A slash behind the name asks for a directory, which is not made here.
                (parent, _) if parent.slash => Err(Errno::EISDIR),
                (_, Some(nr)) => Ok((nr, false)),
                (parent, None) => Ok((self.make_file(who, &parent, mode)?, true)),
            },
        }
    }

    fn make_file(&mut self, who: &Caller, parent: &Parent, mode: u16) -> Result<InodeNr> {
        let mode = 0x8000 | (mode & 0o7777);
        self.make(who, parent, mode, |_, _| Ok(()))
    }

    /// What keeps an inode from being opened so.
    fn check_open(&mut self, who: &Caller, nr: InodeNr, flags: OpenFlags) -> Result<()> {
        let inode = self.peek(nr)?;
        if flags.contains(OpenFlags::DIRECTORY) && !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        let writes = flags.writable() || flags.contains(OpenFlags::TRUNC);
        match inode.file_type() {
            FileType::Symlink => return Err(Errno::ELOOP),
            FileType::Directory if writes || flags.contains(OpenFlags::CREAT) => {
                return Err(Errno::EISDIR);
            }
            FileType::Socket => return Err(Errno::ENXIO),
            _ => {}
        }
        let read = if flags.readable() { MAY_READ } else { 0 };
        who.check(&inode, read | if writes { MAY_WRITE } else { 0 })?;
        if writes && inode.is_file() {
            self.vol.check_writable()?;
            if inode.has(InodeFlags::IMMUTABLE) {
                return Err(Errno::EPERM);
            }
        }
        if inode.has(InodeFlags::APPEND)
            && (flags.writable() && !flags.contains(OpenFlags::APPEND)
                || flags.contains(OpenFlags::TRUNC))
        {
            return Err(Errno::EPERM);
        }
        if flags.contains(OpenFlags::NOATIME) && !who.owns(&inode) {
            return Err(Errno::EPERM);
        }
        Ok(())
    }

    /// `close`.
    pub(super) fn do_close(&mut self, fd: Fd) -> Result<()> {
        let file = self.files.remove(&fd.0).ok_or(Errno::EBADF)?;
        let inode = self.inodes.loaded(file.inode)?;
        inode.opens = inode.opens.saturating_sub(1);
        let (last, flush) = (inode.opens == 0, inode.flush_on_close);
        let writer = file.flags.writable();
        if flush {
            // What `auto_da_alloc` promises: a file cut to nothing and written anew has
            // its blocks when it is closed. An error of writing is told by fsync.
            inode.flush_on_close = false;
            let _ = self.alloc_delayed(file.inode);
        }
        if !last {
            return Ok(());
        }
        let inode = self.inodes.loaded(file.inode)?;
        if writer && inode.is_file() && inode.delayed == 0 {
            alloc::discard_preallocations(&mut self.vol, inode);
        }
        if inode.links() == 0 {
            self.evict(file.inode)?;
        }
        Ok(())
    }

    /// How a descriptor was opened.
    pub fn flags(&self, fd: Fd) -> Option<OpenFlags> {
        self.files.get(&fd.0).map(|f| f.flags)
    }

    /// The file of a descriptor.
    pub(super) fn file(&self, fd: Fd) -> Result<&OpenFile> {
        self.files.get(&fd.0).ok_or(Errno::EBADF)
    }

    /// The file of a descriptor that may be read.
    pub(super) fn readable(&self, fd: Fd) -> Result<OpenFile> {
        let file = self.file(fd)?;
        if file.flags.readable() {
            Ok(file.clone())
        } else {
            Err(Errno::EBADF)
        }
    }

    /// The file of a descriptor that may be written.
    pub(super) fn writable(&self, fd: Fd) -> Result<OpenFile> {
        let file = self.file(fd)?;
        if file.flags.writable() {
            Ok(file.clone())
        } else {
            Err(Errno::EBADF)
        }
    }

    pub(super) fn set_offset(&mut self, fd: Fd, offset: u64) {
        if let Some(file) = self.files.get_mut(&fd.0) {
            file.offset = offset;
        }
    }

    /// A file without a name.
    fn tmpfile(
        &mut self,
        who: &Caller,
        path: &[u8],
        flags: OpenFlags,
        mode: u16,
    ) -> Result<InodeNr> {
        if !flags.writable() {
            return Err(Errno::EINVAL);
        }
        let dir = self.resolve(who, path, true)?;
        let inode = self.check_search(who, dir)?;
        who.check(&inode, MAY_WRITE)?;
        let immutable = inode.has(InodeFlags::IMMUTABLE);
        drop(inode);
        self.vol.check_writable()?;
        if immutable {
            return Err(Errno::EPERM);
        }
        let mode = 0x8000 | (mode & 0o7777);
        let mut inode = self.new_inode(who, dir, mode, b"")?;
        inode.raw.set_i_links_count(0);
        self.orphan_add(&mut inode)?;
        self.vol.write_inode(&mut inode)?;
        let nr = inode.nr;
        self.inodes.insert(inode);
        Ok(nr)
    }
}
