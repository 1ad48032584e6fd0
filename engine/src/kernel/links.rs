//! Names of what is there: link, unlink, rmdir, rename.

use super::caller::{MAY_EXEC, MAY_WRITE};
use super::create::{LINK_MAX, entry_type};
use super::namei::{Last, Parent};
use super::{Caller, Errno, Mount, Result, dir};
use crate::ext4::layout::{FileType, InodeFlags};
use crate::units::InodeNr;

/// `RENAME_NOREPLACE`: fail where the new name is there.
pub const RENAME_NOREPLACE: u32 = 1;
/// `RENAME_EXCHANGE`: the two names change places.
pub const RENAME_EXCHANGE: u32 = 2;
/// `RENAME_WHITEOUT`: leave a whiteout (a device 0, 0) at the old name.
pub const RENAME_WHITEOUT: u32 = 4;

/// The deepest tree that fslab walks upwards.
const MAX_DEPTH: u32 = 1 << 16;

impl Mount {
    /// `link`: the link at the end of `old` is not followed.
    pub(super) fn do_link(&mut self, who: &Caller, old: &[u8], new: &[u8]) -> Result<()> {
        let nr = self.resolve(who, old, false)?;
        let parent = self.free_name(who, new, false)?;
        self.check_make(who, parent.dir)?;
        let inode = self.peek(nr)?;
        if inode.is_dir() || inode.has(InodeFlags::IMMUTABLE | InodeFlags::APPEND) {
            return Err(Errno::EPERM);
        }
        if inode.links() >= LINK_MAX {
            return Err(Errno::EMLINK);
        }
        let (kind, unnamed) = (entry_type(&inode), inode.links() == 0);
        drop(inode);
        if unnamed {
            return Err(Errno::ENOENT);
        }
        self.add_name(parent.dir, &parent.name, nr, kind)?;
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        inode.raw.set_i_links_count(inode.links() + 1);
        inode.set_ctime(now);
        self.vol.write_inode(inode)
    }

    /// `unlink`.
    pub(super) fn do_unlink(&mut self, who: &Caller, path: &[u8]) -> Result<()> {
        let parent = self.parent(who, path)?;
        if parent.last != Last::Name {
            return Err(Errno::EISDIR);
        }
        let nr = self.last_of(&parent)?.ok_or(Errno::ENOENT)?;
        let inode = self.peek(nr)?;
        let is_dir = inode.is_dir();
        drop(inode);
        if parent.slash {
            return Err(if is_dir {
                Errno::EISDIR
            } else {
                Errno::ENOTDIR
            });
        }
        self.check_remove(who, parent.dir, nr)?;
        if is_dir {
            return Err(Errno::EISDIR);
        }
        self.remove_name(parent.dir, &parent.name)?;
        self.lose_name(nr)
    }

    /// `rmdir`.
    pub(super) fn do_rmdir(&mut self, who: &Caller, path: &[u8]) -> Result<()> {
        let parent = self.parent(who, path)?;
        match parent.last {
            Last::Name => {}
            Last::Root => return Err(Errno::EBUSY),
            Last::Dot => return Err(Errno::EINVAL),
            Last::DotDot => return Err(Errno::ENOTEMPTY),
        }
        let nr = self.last_of(&parent)?.ok_or(Errno::ENOENT)?;
        self.check_remove(who, parent.dir, nr)?;
        let inode = self.peek(nr)?;
        if !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        if !dir::is_empty(&mut self.vol, &inode)? {
            return Err(Errno::ENOTEMPTY);
        }
        drop(inode);
        self.remove_name(parent.dir, &parent.name)?;
        self.drop_link(parent.dir)?;
        self.lose_dir(nr)
    }

    fn remove_name(&mut self, at: InodeNr, name: &[u8]) -> Result<()> {
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, at)?;
        dir::remove(&mut self.vol, inode, name)?.ok_or(Errno::ENOENT)?;
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    /// An inode has one name fewer; without any and not open, it is deleted.
    pub(super) fn lose_name(&mut self, nr: InodeNr) -> Result<()> {
        let now = self.vol.time();
        let mut inode = self.inodes.take(&mut self.vol, nr)?;
        inode.raw.set_i_links_count(inode.links().saturating_sub(1));
        inode.set_ctime(now);
        self.put_unnamed(inode)
    }

    /// An empty directory loses its name.
    pub(super) fn lose_dir(&mut self, nr: InodeNr) -> Result<()> {
        let now = self.vol.time();
        let mut inode = self.inodes.take(&mut self.vol, nr)?;
        inode.raw.set_i_links_count(0);
        inode.size = 0;
        inode.set_ctime(now);
        self.put_unnamed(inode)
    }

    fn put_unnamed(&mut self, mut inode: super::InodeInfo) -> Result<()> {
        let (nr, gone, open) = (inode.nr, inode.links() == 0, inode.opens > 0);
        let noted = if gone {
            self.orphan_add(&mut inode)
        } else {
            Ok(())
        };
        let written = noted.and_then(|()| self.vol.write_inode(&mut inode));
        self.inodes.insert(inode);
        written?;
        if gone && !open {
            self.evict(nr)
        } else {
            Ok(())
        }
    }

    /// Whether a name may be removed from a directory.
    fn check_remove(&mut self, who: &Caller, dir: InodeNr, nr: InodeNr) -> Result<()> {
        let parent = self.peek(dir)?;
        self.vol.check_writable()?;
        who.check(&parent, MAY_WRITE | MAY_EXEC)?;
        if parent.has(InodeFlags::APPEND | InodeFlags::IMMUTABLE) {
            return Err(Errno::EPERM);
        }
        let inode = self.peek(nr)?;
        let sticky = parent.raw.i_mode() & 0o1000 != 0;
        if sticky && !who.owns(&inode) && who.uid != parent.raw.uid() {
            return Err(Errno::EPERM);
        }
        if inode.has(InodeFlags::APPEND | InodeFlags::IMMUTABLE) {
            return Err(Errno::EPERM);
        }
        Ok(())
    }

    /// `renameat2`.
    pub(super) fn do_rename(
        &mut self,
        who: &Caller,
        old: &[u8],
        new: &[u8],
        flags: u32,
    ) -> Result<()> {
        let known = RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT;
        let exchange = flags & RENAME_EXCHANGE != 0;
        if flags & !known != 0 || exchange && flags & (RENAME_NOREPLACE | RENAME_WHITEOUT) != 0 {
            return Err(Errno::EINVAL);
        }
        let (from, to) = (self.parent(who, old)?, self.parent(who, new)?);
        if from.last != Last::Name {
            return Err(Errno::EBUSY);
        }
        if to.last != Last::Name {
            return Err(if flags & RENAME_NOREPLACE != 0 {
                Errno::EEXIST
            } else {
                Errno::EBUSY
            });
        }
        let nr = self.last_of(&from)?.ok_or(Errno::ENOENT)?;
        let target = self.last_of(&to)?;
        if flags & RENAME_NOREPLACE != 0 && target.is_some() {
            return Err(Errno::EEXIST);
        }
        if exchange && target.is_none() {
            return Err(Errno::ENOENT);
        }
        self.check_rename(&from, &to, nr, target, exchange)?;
        if target == Some(nr) {
            return Ok(());
        }
        self.check_remove(who, from.dir, nr)?;
        match target {
            Some(t) => self.check_remove(who, to.dir, t)?,
            None => self.check_make(who, to.dir)?,
        }
        match target {
            Some(t) if exchange => self.exchange(&from, &to, nr, t),
            _ => self.move_name(who, &from, &to, nr, target, flags),
        }
    }

    fn check_rename(
        &mut self,
        from: &Parent,
        to: &Parent,
        nr: InodeNr,
        target: Option<InodeNr>,
        exchange: bool,
    ) -> Result<()> {
        let is_dir = self.peek(nr)?.is_dir();
        if !is_dir && (from.slash || !exchange && to.slash) {
            return Err(Errno::ENOTDIR);
        }
        if exchange
            && to.slash
            && let Some(t) = target
            && !self.peek(t)?.is_dir()
        {
            return Err(Errno::ENOTDIR);
        }
        // A directory may not go into itself, nor what is above it be replaced.
        if from.dir != to.dir {
            if self.is_above(nr, to.dir)? {
                return Err(Errno::EINVAL);
            }
            if let Some(t) = target
                && self.is_above(t, from.dir)?
            {
                return Err(if exchange {
                    Errno::EINVAL
                } else {
                    Errno::ENOTEMPTY
                });
            }
        }
        Ok(())
    }

    /// Whether a directory is another or above it.
    fn is_above(&mut self, nr: InodeNr, mut below: InodeNr) -> Result<bool> {
        for _ in 0..MAX_DEPTH {
            if nr == below {
                return Ok(true);
            }
            let up = self.child(below, b"..")?.ok_or(Errno::EFSCORRUPTED)?;
            if up == below {
                return Ok(false);
            }
            below = up;
        }
        Err(Errno::EFSCORRUPTED)
    }

    fn move_name(
        &mut self,
        who: &Caller,
        from: &Parent,
        to: &Parent,
        nr: InodeNr,
        target: Option<InodeNr>,
        flags: u32,
    ) -> Result<()> {
        let inode = self.peek(nr)?;
        let (is_dir, kind) = (inode.is_dir(), entry_type(&inode));
        drop(inode);
        if let Some(t) = target {
            let old = self.peek(t)?;
            if is_dir && !old.is_dir() {
                return Err(Errno::ENOTDIR);
            }
            if !is_dir && old.is_dir() {
                return Err(Errno::EISDIR);
            }
            if old.is_dir() && !dir::is_empty(&mut self.vol, &old)? {
                return Err(Errno::ENOTEMPTY);
            }
        } else if is_dir && from.dir != to.dir {
            self.check_links(to.dir)?;
        }
        if target.is_some() && self.vol.options.auto_da_alloc && self.peek(nr)?.is_file() {
            // What `auto_da_alloc` promises: what replaces a file has its blocks first.
            let _ = self.alloc_delayed(nr);
        }
        match target {
            Some(_) => self.set_name(to.dir, &to.name, nr, kind)?,
            None => self.add_name(to.dir, &to.name, nr, kind)?,
        }
        if flags & RENAME_WHITEOUT != 0 {
            self.leave_whiteout(who, from)?;
        } else {
            self.remove_name(from.dir, &from.name)?;
        }
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        inode.set_ctime(now);
        self.vol.write_inode(inode)?;
        if is_dir && from.dir != to.dir {
            self.set_parent(nr, to.dir)?;
            self.drop_link(from.dir)?;
            if target.is_none() {
                self.add_link(to.dir)?;
            }
        } else if is_dir && target.is_some() {
            self.drop_link(from.dir)?;
        }
        match target {
            Some(t) if is_dir => self.lose_dir(t),
            Some(t) => self.lose_name(t),
            None => Ok(()),
        }
    }

    fn leave_whiteout(&mut self, who: &Caller, from: &Parent) -> Result<()> {
        let mut inode = self.new_inode(who, from.dir, 0x2000, &from.name)?;
        self.vol.write_inode(&mut inode)?;
        let (nr, kind) = (inode.nr, entry_type(&inode));
        self.inodes.insert(inode);
        self.set_name(from.dir, &from.name, nr, kind)
    }

    fn set_name(&mut self, at: InodeNr, name: &[u8], nr: InodeNr, kind: u8) -> Result<()> {
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, at)?;
        dir::replace(&mut self.vol, inode, name, nr, kind)?;
        inode.touch(now);
        self.vol.write_inode(inode)
    }

    fn set_parent(&mut self, nr: InodeNr, parent: InodeNr) -> Result<()> {
        let inode = self.inodes.get(&mut self.vol, nr)?;
        dir::set_parent(&mut self.vol, inode, parent)?;
        self.vol.write_inode(inode)
    }

    /// Two names change what they stand for.
    fn exchange(&mut self, from: &Parent, to: &Parent, a: InodeNr, b: InodeNr) -> Result<()> {
        let of = |mount: &mut Self, nr| -> Result<(bool, u8)> {
            let inode = mount.peek(nr)?;
            Ok((inode.file_type() == FileType::Directory, entry_type(&inode)))
        };
        let ((a_dir, a_kind), (b_dir, b_kind)) = (of(self, a)?, of(self, b)?);
        if from.dir != to.dir && a_dir != b_dir {
            self.check_links(if a_dir { to.dir } else { from.dir })?;
        }
        self.set_name(from.dir, &from.name, b, b_kind)?;
        self.set_name(to.dir, &to.name, a, a_kind)?;
        let now = self.vol.time();
        for nr in [a, b] {
            let inode = self.inodes.get(&mut self.vol, nr)?;
            inode.set_ctime(now);
            self.vol.write_inode(inode)?;
        }
        if from.dir == to.dir {
            return Ok(());
        }
        if a_dir {
            self.set_parent(a, to.dir)?;
        }
        if b_dir {
            self.set_parent(b, from.dir)?;
        }
        match (a_dir, b_dir) {
            (true, false) => self
                .drop_link(from.dir)
                .and_then(|()| self.add_link(to.dir)),
            (false, true) => self
                .drop_link(to.dir)
                .and_then(|()| self.add_link(from.dir)),
            _ => Ok(()),
        }
    }
}
