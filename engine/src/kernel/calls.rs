//! The calls, as a process makes them: each is an event with what it was asked and what it
//! gave, and everything that happens in it follows from that event.

use super::alloc::Statfs;
use super::file::{FallocateMode, FiemapExtent, Source, Whence};
use super::xattr::SetFlags;
use super::{Caller, Errno, Fd, Mount, OpenFlags, Result, Stat, dir};
use crate::event::{Actor, What};
use crate::ext4::layout::Timestamp;

/// A path or name as the event of a call shows it.
fn q(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
}

/// What a call gives, as the one number that Linux returns.
trait Returned {
    fn value(&self) -> u64;
}

impl Returned for () {
    fn value(&self) -> u64 {
        0
    }
}

impl Returned for u64 {
    fn value(&self) -> u64 {
        *self
    }
}

impl Returned for u32 {
    fn value(&self) -> u64 {
        (*self).into()
    }
}

impl Returned for Fd {
    fn value(&self) -> u64 {
        self.0.into()
    }
}

impl Returned for Stat {
    fn value(&self) -> u64 {
        0
    }
}

impl<T> Returned for Vec<T> {
    fn value(&self) -> u64 {
        self.len() as u64
    }
}

impl Mount {
    /// Runs a call for a process.
    fn call<T: Returned>(
        &mut self,
        who: &Caller,
        text: impl FnOnce() -> String,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let (actor, cause) = (self.vol.events.actor, self.vol.events.cause);
        self.vol.events.actor = Actor::Process(who.pid);
        self.vol.privileged = self.may_use_reserved(who);
        let id = self.vol.events.emit(|| What::Call { text: text() });
        self.vol.events.cause = Some(id);
        // Errors of contents that were on their way are told by fsync.
        let _ = self.end_io();
        let done = self
            .commit_if_freed()
            .and_then(|()| self.keep_log_room())
            .and_then(|()| run(self))
            .and_then(|value| self.commit_if_large().map(|()| value));
        if !self.returns_later {
            let returned = done.as_ref().map(Returned::value).map_err(|e| *e);
            self.vol.events.emit(|| What::Returned { value: returned });
        }
        self.vol.events.actor = actor;
        self.vol.events.cause = cause;
        self.vol.privileged = false;
        done
    }

    /// Runs a call on a descriptor.
    fn on<T: Returned>(
        &mut self,
        fd: Fd,
        text: impl FnOnce() -> String,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let who = self.file(fd)?.who.clone();
        self.call(&who, text, run)
    }

    /// Whether a process may use the blocks that are kept back.
    fn may_use_reserved(&self, who: &Caller) -> bool {
        let (uid, gid) = self.vol.sb.reserved_for();
        who.is_root() || who.uid == uid || gid != 0 && who.in_group(gid)
    }

    /// `open`. `mode`: permissions of a file that is made.
    ///
    /// Errors: those of path lookup (ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG), EEXIST,
    /// EISDIR, EINVAL, EPERM, EROFS, ENOSPC, EMFILE, EUCLEAN for damage.
    pub fn open(&mut self, who: &Caller, path: &[u8], flags: OpenFlags, mode: u16) -> Result<Fd> {
        let text = || format!("open({}, {flags:?}, {mode:#o})", q(path));
        self.call(who, text, |m| m.do_open(who, path, flags, mode))
    }

    /// `close`. What `auto_da_alloc` promises is kept here; an inode without names and
    /// descriptors is deleted.
    pub fn close(&mut self, fd: Fd) -> Result<()> {
        self.on(fd, || format!("close({})", fd.0), |m| m.do_close(fd))
    }

    /// `read`: up to `len` bytes from the descriptor's place on.
    pub fn read(&mut self, fd: Fd, len: u64) -> Result<Vec<u8>> {
        let text = || format!("read({}, {len})", fd.0);
        self.on(fd, text, |m| m.do_read(fd, len))
    }

    /// `pread`: up to `len` bytes from byte `offset` on.
    pub fn pread(&mut self, fd: Fd, len: u64, offset: u64) -> Result<Vec<u8>> {
        let text = || format!("pread({}, {len}, {offset})", fd.0);
        self.on(fd, text, |m| m.do_pread(fd, len, offset))
    }

    /// `write`: gives the bytes taken, which may be fewer where space or the largest file's
    /// length ends.
    pub fn write(&mut self, fd: Fd, bytes: &[u8]) -> Result<u64> {
        let text = || format!("write({}, {} bytes)", fd.0, bytes.len());
        self.on(fd, text, |m| m.do_write(fd, bytes))
    }

    /// `write` of a pattern's bytes from its byte `from` on, which cost no memory.
    pub fn write_pattern(&mut self, fd: Fd, len: u64, seed: u64, from: u64) -> Result<u64> {
        let text = || format!("write({}, {len} bytes of pattern {seed})", fd.0);
        self.on(fd, text, |m| m.do_write_pattern(fd, len, seed, from))
    }

    /// `pwrite`. As in Linux, a file opened for appending is appended to all the same.
    pub fn pwrite(&mut self, fd: Fd, bytes: &[u8], offset: u64) -> Result<u64> {
        let text = || format!("pwrite({}, {} bytes, {offset})", fd.0, bytes.len());
        self.on(fd, text, |m| m.do_pwrite(fd, bytes, offset))
    }

    /// `pwrite` of a pattern's bytes from its byte `from` on.
    pub fn pwrite_pattern(
        &mut self,
        fd: Fd,
        len: u64,
        offset: u64,
        seed: u64,
        from: u64,
    ) -> Result<u64> {
        let text = || format!("pwrite({}, {len} bytes of pattern {seed}, {offset})", fd.0);
        let source = Source::Pattern { seed, from, len };
        self.on(fd, text, |m| m.do_pwrite_source(fd, offset, source))
    }

    /// `lseek`.
    pub fn lseek(&mut self, fd: Fd, offset: i64, whence: Whence) -> Result<u64> {
        let text = || format!("lseek({}, {offset}, {whence:?})", fd.0);
        self.on(fd, text, |m| m.do_lseek(fd, offset, whence))
    }

    /// `ftruncate`.
    pub fn ftruncate(&mut self, fd: Fd, len: u64) -> Result<()> {
        let text = || format!("ftruncate({}, {len})", fd.0);
        self.on(fd, text, |m| m.do_ftruncate(fd, len))
    }

    /// `truncate`.
    pub fn truncate(&mut self, who: &Caller, path: &[u8], len: u64) -> Result<()> {
        let text = || format!("truncate({}, {len})", q(path));
        self.call(who, text, |m| m.do_truncate(who, path, len))
    }

    /// `fsync`.
    pub fn fsync(&mut self, fd: Fd) -> Result<()> {
        self.on(fd, || format!("fsync({})", fd.0), |m| m.do_fsync(fd))
    }

    /// `fdatasync`.
    pub fn fdatasync(&mut self, fd: Fd) -> Result<()> {
        self.on(
            fd,
            || format!("fdatasync({})", fd.0),
            |m| m.do_fdatasync(fd),
        )
    }

    /// `sync`.
    pub fn sync(&mut self) -> Result<()> {
        self.call(&Caller::root(), || "sync()".into(), Self::do_sync)
    }

    /// `syncfs`.
    pub fn syncfs(&mut self, fd: Fd) -> Result<()> {
        self.on(fd, || format!("syncfs({})", fd.0), |m| m.do_syncfs(fd))
    }

    /// `sync_file_range` with every flag that waits: contents only, no metadata, no flush.
    pub fn sync_file_range(&mut self, fd: Fd, offset: u64, len: u64) -> Result<()> {
        let text = || format!("sync_file_range({}, {offset}, {len})", fd.0);
        self.on(fd, text, |m| m.do_sync_file_range(fd, offset, len))
    }

    /// `fallocate`: bytes `offset` to `offset + len`.
    pub fn fallocate(&mut self, fd: Fd, mode: FallocateMode, offset: u64, len: u64) -> Result<()> {
        let text = || format!("fallocate({}, {mode:?}, {offset}, {len})", fd.0);
        self.on(fd, text, |m| m.do_fallocate(fd, mode, offset, len))
    }

    /// `mkdir`.
    pub fn mkdir(&mut self, who: &Caller, path: &[u8], mode: u16) -> Result<()> {
        let text = || format!("mkdir({}, {mode:#o})", q(path));
        self.call(who, text, |m| m.do_mkdir(who, path, mode))
    }

    /// `rmdir`.
    pub fn rmdir(&mut self, who: &Caller, path: &[u8]) -> Result<()> {
        self.call(
            who,
            || format!("rmdir({})", q(path)),
            |m| m.do_rmdir(who, path),
        )
    }

    /// `unlink`.
    pub fn unlink(&mut self, who: &Caller, path: &[u8]) -> Result<()> {
        self.call(
            who,
            || format!("unlink({})", q(path)),
            |m| m.do_unlink(who, path),
        )
    }

    /// `link`. A link at the end of `old` is not followed.
    pub fn link(&mut self, who: &Caller, old: &[u8], new: &[u8]) -> Result<()> {
        let text = || format!("link({}, {})", q(old), q(new));
        self.call(who, text, |m| m.do_link(who, old, new))
    }

    /// `symlink`.
    pub fn symlink(&mut self, who: &Caller, target: &[u8], path: &[u8]) -> Result<()> {
        let text = || format!("symlink({}, {})", q(target), q(path));
        self.call(who, text, |m| m.do_symlink(who, target, path))
    }

    /// `readlink`.
    pub fn readlink(&mut self, who: &Caller, path: &[u8]) -> Result<Vec<u8>> {
        let text = || format!("readlink({})", q(path));
        self.call(who, text, |m| m.do_readlink(who, path))
    }

    /// `renameat2`; `flags`: [`super::RENAME_NOREPLACE`] and its like.
    pub fn rename(&mut self, who: &Caller, old: &[u8], new: &[u8], flags: u32) -> Result<()> {
        let text = || format!("rename({}, {}, {flags})", q(old), q(new));
        self.call(who, text, |m| m.do_rename(who, old, new, flags))
    }

    /// `mknod`. `mode` holds the type too; `dev`: major and minor of a device file.
    pub fn mknod(&mut self, who: &Caller, path: &[u8], mode: u16, dev: (u32, u32)) -> Result<()> {
        let text = || format!("mknod({}, {mode:#o}, {}:{})", q(path), dev.0, dev.1);
        self.call(who, text, |m| m.do_mknod(who, path, mode, dev))
    }

    /// `chmod`.
    pub fn chmod(&mut self, who: &Caller, path: &[u8], mode: u16) -> Result<()> {
        let text = || format!("chmod({}, {mode:#o})", q(path));
        self.call(who, text, |m| m.do_chmod(who, path, mode))
    }

    /// `fchmod`.
    pub fn fchmod(&mut self, fd: Fd, mode: u16) -> Result<()> {
        let text = || format!("fchmod({}, {mode:#o})", fd.0);
        self.on(fd, text, |m| m.do_fchmod(fd, mode))
    }

    /// `chown`; `None` leaves as it is.
    pub fn chown(
        &mut self,
        who: &Caller,
        path: &[u8],
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<()> {
        let text = || format!("chown({}, {uid:?}, {gid:?})", q(path));
        self.call(who, text, |m| m.do_chown(who, path, uid, gid))
    }

    /// `lchown`; `None` leaves as it is.
    pub fn lchown(
        &mut self,
        who: &Caller,
        path: &[u8],
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<()> {
        let text = || format!("lchown({}, {uid:?}, {gid:?})", q(path));
        self.call(who, text, |m| m.do_lchown(who, path, uid, gid))
    }

    /// `utimensat`; `None` leaves as it is. The link at the end is followed.
    pub fn utimens(
        &mut self,
        who: &Caller,
        path: &[u8],
        atime: Option<Timestamp>,
        mtime: Option<Timestamp>,
    ) -> Result<()> {
        let text = || format!("utimensat({})", q(path));
        self.call(who, text, |m| m.do_utimens(who, path, atime, mtime))
    }

    /// `stat`.
    pub fn stat(&mut self, who: &Caller, path: &[u8]) -> Result<Stat> {
        self.call(
            who,
            || format!("stat({})", q(path)),
            |m| m.do_stat(who, path),
        )
    }

    /// `lstat`.
    pub fn lstat(&mut self, who: &Caller, path: &[u8]) -> Result<Stat> {
        self.call(
            who,
            || format!("lstat({})", q(path)),
            |m| m.do_lstat(who, path),
        )
    }

    /// `fstat`.
    pub fn fstat(&mut self, fd: Fd) -> Result<Stat> {
        self.on(fd, || format!("fstat({})", fd.0), |m| m.do_fstat(fd))
    }

    /// `getdents`, all that is left: `.` and `..` among them.
    pub fn getdents(&mut self, fd: Fd) -> Result<Vec<dir::Entry>> {
        let text = || format!("getdents({})", fd.0);
        self.on(fd, text, |m| m.do_getdents(fd))
    }

    /// `setxattr`, or `lsetxattr` where links are not followed.
    pub fn setxattr(
        &mut self,
        who: &Caller,
        path: &[u8],
        name: &[u8],
        value: &[u8],
        flags: SetFlags,
        follow: bool,
    ) -> Result<()> {
        let text = || format!("setxattr({}, {}, {} bytes)", q(path), q(name), value.len());
        let run = |m: &mut Self| m.do_setxattr(who, path, name, value, flags, follow);
        self.call(who, text, run)
    }

    /// `getxattr`, or `lgetxattr` where links are not followed.
    pub fn getxattr(
        &mut self,
        who: &Caller,
        path: &[u8],
        name: &[u8],
        follow: bool,
    ) -> Result<Vec<u8>> {
        let text = || format!("getxattr({}, {})", q(path), q(name));
        let run = |m: &mut Self| m.do_getxattr(who, path, name, follow);
        self.call(who, text, run)
    }

    /// `listxattr`, or `llistxattr` where links are not followed.
    pub fn listxattr(&mut self, who: &Caller, path: &[u8], follow: bool) -> Result<Vec<Vec<u8>>> {
        let text = || format!("listxattr({})", q(path));
        self.call(who, text, |m| m.do_listxattr(who, path, follow))
    }

    /// `removexattr`, or `lremovexattr` where links are not followed.
    pub fn removexattr(
        &mut self,
        who: &Caller,
        path: &[u8],
        name: &[u8],
        follow: bool,
    ) -> Result<()> {
        let text = || format!("removexattr({}, {})", q(path), q(name));
        self.call(who, text, |m| m.do_removexattr(who, path, name, follow))
    }

    /// FIEMAP over `len` bytes from `start` on; `sync`: write the file first.
    pub fn fiemap(
        &mut self,
        fd: Fd,
        start: u64,
        len: u64,
        sync: bool,
    ) -> Result<Vec<FiemapExtent>> {
        let text = || format!("fiemap({}, {start}, {len})", fd.0);
        self.on(fd, text, |m| m.do_fiemap(fd, start, len, sync))
    }

    /// The flags that `lsattr` shows (FS_IOC_GETFLAGS).
    pub fn getflags(&mut self, fd: Fd) -> Result<u32> {
        self.on(fd, || format!("getflags({})", fd.0), |m| m.do_getflags(fd))
    }

    /// Sets the flags that `chattr` can (FS_IOC_SETFLAGS).
    pub fn setflags(&mut self, fd: Fd, flags: u32) -> Result<()> {
        let text = || format!("setflags({}, {flags:#x})", fd.0);
        self.on(fd, text, |m| m.do_setflags(fd, flags))
    }

    /// `swapon`: fails while the file has holes or unwritten extents.
    pub fn swapon(&mut self, who: &Caller, path: &[u8]) -> Result<()> {
        let text = || format!("swapon({})", q(path));
        self.call(who, text, |m| {
            if !who.is_root() {
                return Err(Errno::EPERM);
            }
            let nr = m.resolve(who, path, true)?;
            m.do_swapon(nr)
        })
    }

    /// `statfs`.
    pub fn statfs(&self) -> Statfs {
        super::alloc::statfs(&self.vol)
    }

    /// FITRIM over bytes; how many were told to be free.
    pub fn fitrim(&mut self, start: u64, len: u64, min_len: u64) -> Result<u64> {
        let text = || format!("fitrim({start}, {len}, {min_len})");
        self.call(&Caller::root(), text, |m| m.do_fitrim(start, len, min_len))
    }
}
