//! What an inode says of itself: stat, chmod, chown, times, flags, attributes.

use super::{Caller, Errno, Fd, InodeInfo, Mount, Result, dir, xattr};
use crate::ext4::layout::{InodeFlags, Timestamp};
use crate::units::InodeNr;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What `stat` gives.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stat {
    /// Inode.
    pub ino: InodeNr,
    /// Type and permissions.
    pub mode: u16,
    /// Names.
    pub nlink: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Major and minor of a device file.
    pub rdev: (u32, u32),
    /// Bytes.
    pub size: u64,
    /// 512-byte sectors, promised ones too.
    pub blocks: u64,
    /// Bytes that are good to read at once.
    pub blksize: u32,
    /// Last read.
    pub atime: Timestamp,
    /// Last change of contents.
    pub mtime: Timestamp,
    /// Last change of the inode.
    pub ctime: Timestamp,
}

/// Flags that `chattr` may change (Linux: `EXT4_FL_USER_MODIFIABLE`, less what only the
/// kernel sets).
const MODIFIABLE: InodeFlags = InodeFlags::SECRM
    .union(InodeFlags::UNRM)
    .union(InodeFlags::COMPR)
    .union(InodeFlags::SYNC)
    .union(InodeFlags::IMMUTABLE)
    .union(InodeFlags::APPEND)
    .union(InodeFlags::NODUMP)
    .union(InodeFlags::NOATIME)
    .union(InodeFlags::NOTAIL)
    .union(InodeFlags::DIRSYNC)
    .union(InodeFlags::TOPDIR)
    .union(InodeFlags::PROJINHERIT);

/// Whether a value is one that `security.capability` may have: of 20 bytes in revision 2, of
/// 24 in revision 3 (Linux: `vfs_cap_data`, `vfs_ns_cap_data`).
fn is_capability(value: &[u8]) -> bool {
    matches!((value.len(), value.get(3)), (20, Some(2)) | (24, Some(3)))
}

/// Bits of a file's mode that go when it gets another owner. The group's bit means
/// something else where the group may not execute.
fn dropped_by_chown(mode: u16) -> u16 {
    let group = if mode & 0o010 != 0 { 0o2000 } else { 0 };
    mode & (0o4000 | group)
}

impl Mount {
    /// `stat`.
    pub(super) fn do_stat(&mut self, who: &Caller, path: &[u8]) -> Result<Stat> {
        let nr = self.resolve(who, path, true)?;
        self.stat_inode(nr)
    }

    /// `lstat`.
    pub(super) fn do_lstat(&mut self, who: &Caller, path: &[u8]) -> Result<Stat> {
        let nr = self.resolve(who, path, false)?;
        self.stat_inode(nr)
    }

    /// `fstat`.
    pub(super) fn do_fstat(&mut self, fd: Fd) -> Result<Stat> {
        let nr = self.file(fd)?.inode;
        self.stat_inode(nr)
    }

    fn stat_inode(&mut self, nr: InodeNr) -> Result<Stat> {
        let inode = self.peek(nr)?;
        let per = u64::from(self.vol.geo.block_size / 512) * u64::from(self.vol.geo.cluster_blocks);
        // Linux counts a file inside its inode as one sector, so that archivers do not
        // take it for a hole.
        let inline = inode.is_file() && inode.has(InodeFlags::INLINE_DATA) && inode.size > 0;
        Ok(Stat {
            ino: nr,
            mode: inode.raw.i_mode(),
            nlink: inode.links(),
            uid: inode.raw.uid(),
            gid: inode.raw.gid(),
            rdev: inode.raw.device().unwrap_or((0, 0)),
            size: inode.size,
            blocks: inode.sectors(&self.vol).max(inline.into()) + u64::from(inode.delayed) * per,
            blksize: self.vol.geo.block_size,
            atime: inode.raw.atime(),
            mtime: inode.raw.mtime(),
            ctime: inode.raw.ctime(),
        })
    }

    /// `chmod`.
    pub(super) fn do_chmod(&mut self, who: &Caller, path: &[u8], mode: u16) -> Result<()> {
        let nr = self.resolve(who, path, true)?;
        self.chmod_inode(who, nr, mode)
    }

    /// `fchmod`.
    pub(super) fn do_fchmod(&mut self, fd: Fd, mode: u16) -> Result<()> {
        let file = self.file(fd)?.clone();
        self.chmod_inode(&file.who, file.inode, mode)
    }

    fn chmod_inode(&mut self, who: &Caller, nr: InodeNr, mode: u16) -> Result<()> {
        self.check_setattr(nr)?;
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if !who.owns(inode) {
            return Err(Errno::EPERM);
        }
        let mut mode = mode & 0o7777;
        if !who.is_root() && !who.in_group(inode.raw.gid()) {
            mode &= !0o2000;
        }
        inode.raw.set_i_mode(inode.raw.i_mode() & 0xF000 | mode);
        xattr::acl_chmod(&mut self.vol, inode)?;
        inode.set_ctime(now);
        self.vol.write_inode(inode)
    }

    fn check_setattr(&mut self, nr: InodeNr) -> Result<()> {
        self.vol.check_writable()?;
        let inode = self.peek(nr)?;
        if inode.has(InodeFlags::IMMUTABLE | InodeFlags::APPEND) {
            Err(Errno::EPERM)
        } else {
            Ok(())
        }
    }

    /// An append-only file may be given what changes nothing of it, as Linux has it.
    fn check_chown(&mut self, nr: InodeNr, changes: bool) -> Result<()> {
        let inode = self.peek(nr)?;
        let drops = !inode.is_dir() && dropped_by_chown(inode.raw.i_mode()) != 0;
        let still = !changes && !drops && !inode.has(InodeFlags::IMMUTABLE);
        drop(inode);
        if still {
            return self.vol.check_writable();
        }
        self.check_setattr(nr)
    }

    /// `chown`; `None` leaves as it is.
    pub(super) fn do_chown(
        &mut self,
        who: &Caller,
        path: &[u8],
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<()> {
        let nr = self.resolve(who, path, true)?;
        self.chown_inode(who, nr, uid, gid)
    }

    /// `lchown`.
    pub(super) fn do_lchown(
        &mut self,
        who: &Caller,
        path: &[u8],
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<()> {
        let nr = self.resolve(who, path, false)?;
        self.chown_inode(who, nr, uid, gid)
    }

    fn chown_inode(
        &mut self,
        who: &Caller,
        nr: InodeNr,
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<()> {
        self.check_chown(nr, uid.is_some() || gid.is_some())?;
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        let same = uid.is_none_or(|u| u == inode.raw.uid());
        let group = gid.is_none_or(|g| g == inode.raw.gid() || who.in_group(g));
        let own = same && group && who.uid == inode.raw.uid();
        if !(who.is_root() || own) {
            return Err(Errno::EPERM);
        }
        if let Some(uid) = uid {
            inode.raw.set_i_uid((uid & 0xFFFF) as u16);
            inode.raw.set_i_uid_high((uid >> 16) as u16);
        }
        if let Some(gid) = gid {
            inode.raw.set_i_gid((gid & 0xFFFF) as u16);
            inode.raw.set_i_gid_high((gid >> 16) as u16);
        }
        let mode = inode.raw.i_mode();
        if !inode.is_dir() {
            inode.raw.set_i_mode(mode & !dropped_by_chown(mode));
        }
        inode.set_ctime(now);
        self.vol.write_inode(inode)
    }

    /// `utimensat`; `None` leaves as it is. The link at the end is followed.
    pub(super) fn do_utimens(
        &mut self,
        who: &Caller,
        path: &[u8],
        atime: Option<Timestamp>,
        mtime: Option<Timestamp>,
    ) -> Result<()> {
        if atime.is_none() && mtime.is_none() {
            return Ok(());
        }
        let nr = self.resolve(who, path, true)?;
        self.check_setattr(nr)?;
        let now = self.vol.time();
        let long = self.vol.geo.inode_size > 128;
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if !who.owns(inode) {
            return Err(Errno::EPERM);
        }
        if let Some(t) = atime {
            inode.set_atime(storable(t, long));
        }
        if let Some(t) = mtime {
            inode.set_mtime(storable(t, long));
        }
        inode.set_ctime(now);
        self.vol.write_inode(inode)
    }

    /// The flags that `lsattr` shows (FS_IOC_GETFLAGS).
    pub(super) fn do_getflags(&mut self, fd: Fd) -> Result<u32> {
        let nr = self.file(fd)?.inode;
        // EXT4_FL_USER_VISIBLE.
        Ok(self.peek(nr)?.raw.i_flags() & 0x725B_DFFF)
    }

    /// Sets the flags that `chattr` can (FS_IOC_SETFLAGS).
    pub(super) fn do_setflags(&mut self, fd: Fd, flags: u32) -> Result<()> {
        let file = self.file(fd)?.clone();
        self.vol.check_writable()?;
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, file.inode)?;
        if !file.who.owns(inode) {
            return Err(Errno::EPERM);
        }
        let (old, new) = (inode.raw.flags(), InodeFlags::from_bits_retain(flags));
        let locks = InodeFlags::IMMUTABLE | InodeFlags::APPEND;
        if (old ^ new).intersects(locks) && !file.who.is_root() {
            return Err(Errno::EPERM);
        }
        let allowed = if inode.is_dir() {
            MODIFIABLE
        } else if inode.is_file() {
            MODIFIABLE - (InodeFlags::DIRSYNC | InodeFlags::TOPDIR | InodeFlags::PROJINHERIT)
        } else {
            InodeFlags::NODUMP | InodeFlags::NOATIME
        };
        if !(new & (MODIFIABLE - allowed)).is_empty() {
            return Err(Errno::EOPNOTSUPP);
        }
        let next = (old - MODIFIABLE) | (new & allowed);
        if old != next && old.intersection(next).contains(InodeFlags::IMMUTABLE) {
            return Err(Errno::EPERM);
        }
        inode.raw.set_i_flags(next.bits());
        inode.set_ctime(now);
        self.vol.write_inode(inode)
    }

    /// `getdents`, all that is left: `.` and `..` among them.
    pub(super) fn do_getdents(&mut self, fd: Fd) -> Result<Vec<dir::Entry>> {
        let file = self.file(fd)?.clone();
        let inode = self.peek(file.inode)?;
        if !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        if inode.links() == 0 {
            return Err(Errno::ENOENT);
        }
        let all = dir::entries(&mut self.vol, &inode)?;
        drop(inode);
        self.accessed(file.inode)?;
        let rest = all.get(file.dir_entry..).unwrap_or_default().to_vec();
        if let Some(open) = self.files.get_mut(&fd.0) {
            open.dir_entry = all.len();
        }
        Ok(rest)
    }

    /// FITRIM over bytes; how many were told to be free.
    pub(super) fn do_fitrim(&mut self, start: u64, len: u64, min_len: u64) -> Result<u64> {
        super::alloc::trim(&mut self.vol, start, len, min_len)
    }

    /// `setxattr`, or `lsetxattr` where links are not followed.
    pub(super) fn do_setxattr(
        &mut self,
        who: &Caller,
        path: &[u8],
        name: &[u8],
        value: &[u8],
        flags: xattr::SetFlags,
        follow: bool,
    ) -> Result<()> {
        // Linux takes the arguments over before it looks for the file.
        if !(flags - (xattr::SetFlags::CREATE | xattr::SetFlags::REPLACE)).is_empty() {
            return Err(Errno::EINVAL);
        }
        check_name(name)?;
        if value.len() > XATTR_SIZE_MAX {
            return Err(Errno::E2BIG);
        }
        let nr = self.resolve(who, path, follow)?;
        if name == b"security.capability" && !is_capability(value) {
            return Err(Errno::EINVAL);
        }
        self.change_xattr(who, nr, name, Some(value), flags)
    }

    /// `removexattr`, or `lremovexattr` where links are not followed.
    pub(super) fn do_removexattr(
        &mut self,
        who: &Caller,
        path: &[u8],
        name: &[u8],
        follow: bool,
    ) -> Result<()> {
        check_name(name)?;
        let nr = self.resolve(who, path, follow)?;
        self.change_xattr(who, nr, name, None, xattr::SetFlags::REPLACE)
    }

    fn change_xattr(
        &mut self,
        who: &Caller,
        nr: InodeNr,
        name: &[u8],
        value: Option<&[u8]>,
        flags: xattr::SetFlags,
    ) -> Result<()> {
        self.check_setattr(nr)?;
        let inode = self.peek(nr)?;
        check_xattr(who, &inode, name, true)?;
        drop(inode);
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        xattr::set(&mut self.vol, inode, name, value, flags)?;
        inode.set_ctime(now);
        self.vol.write_inode(inode)
    }

    /// `getxattr`, or `lgetxattr` where links are not followed.
    pub(super) fn do_getxattr(
        &mut self,
        who: &Caller,
        path: &[u8],
        name: &[u8],
        follow: bool,
    ) -> Result<Vec<u8>> {
        check_name(name)?;
        let nr = self.resolve(who, path, follow)?;
        let inode = self.peek(nr)?;
        check_xattr(who, &inode, name, false)?;
        xattr::get(&mut self.vol, &inode, name)
    }

    /// `listxattr`, or `llistxattr` where links are not followed.
    pub(super) fn do_listxattr(
        &mut self,
        who: &Caller,
        path: &[u8],
        follow: bool,
    ) -> Result<Vec<Vec<u8>>> {
        let nr = self.resolve(who, path, follow)?;
        let inode: Arc<InodeInfo> = self.peek(nr)?;
        let mut names = xattr::list(&mut self.vol, &inode)?;
        if !who.is_root() {
            names.retain(|n| !n.starts_with(b"trusted."));
        }
        Ok(names)
    }
}

/// Bytes of a value (Linux: `XATTR_SIZE_MAX`).
const XATTR_SIZE_MAX: usize = 65536;

fn check_name(name: &[u8]) -> Result<()> {
    if name.is_empty() || name.len() > 255 {
        Err(Errno::ERANGE)
    } else {
        Ok(())
    }
}

/// Whether the caller may use an attribute of this name.
fn check_xattr(who: &Caller, inode: &InodeInfo, name: &[u8], change: bool) -> Result<()> {
    if name.starts_with(b"trusted.") {
        return match (who.is_root(), change) {
            (true, _) => Ok(()),
            (false, true) => Err(Errno::EPERM),
            (false, false) => Err(Errno::ENODATA),
        };
    }
    if name.starts_with(b"user.") {
        if !inode.is_file() && !inode.is_dir() {
            return Err(if change { Errno::EPERM } else { Errno::ENODATA });
        }
        let sticky = inode.is_dir() && inode.raw.i_mode() & 0o1000 != 0;
        if sticky && change && !who.owns(inode) {
            return Err(Errno::EPERM);
        }
        let want = if change {
            super::caller::MAY_WRITE
        } else {
            super::caller::MAY_READ
        };
        return who.check(inode, want);
    }
    if change && !who.owns(inode) {
        Err(Errno::EPERM)
    } else {
        Ok(())
    }
}

/// The time nearest to `t` that an inode can hold: two more bits of seconds and the
/// nanoseconds need one of more than 128 bytes. The first and the last second are whole.
fn storable(t: Timestamp, long: bool) -> Timestamp {
    let first = i64::from(i32::MIN);
    let last = i64::from(i32::MAX) + if long { 3 << 32 } else { 0 };
    let secs = t.secs.clamp(first, last);
    let edge = secs == first || secs == last;
    Timestamp {
        secs,
        nanos: if edge || !long { 0 } else { t.nanos },
    }
}
