//! Calls that change names.

use super::super::op::bits::*;
use super::errno::*;
use super::node::{Body, NOW, NodeId};
use super::path::{Last, Parent};
use super::{Model, Res};

/// Permissions that a new file does not get.
const UMASK: u32 = 0o022;

impl Model {
    /// Where a new name is to go. `dir`: for a directory, which may be named with a slash.
    fn new_name(&mut self, path: &str, dir: bool) -> Res<(NodeId, String)> {
        let parent = self.walk_parent(path)?;
        let Last::Name(name) = parent.last else {
            return Err(EEXIST);
        };
        if self.child(parent.dir, &name)?.is_some() {
            return Err(EEXIST);
        }
        if parent.slash && !dir {
            return Err(ENOENT);
        }
        Ok((parent.dir, name))
    }

    fn enter_name(&mut self, dir: NodeId, name: String, id: NodeId) {
        self.entries_mut(dir).insert(name, id);
        self.touch_dir(dir);
    }

    pub fn mkdir(&mut self, path: &str, mode: u32) -> Res<()> {
        let (dir, name) = self.new_name(path, true)?;
        self.may_write(dir)?;
        let id = self.make(dir, Body::dir(dir), S_IFDIR | mode & 0o1777 & !UMASK);
        self.node_mut(id).nlink = 2;
        self.node_mut(dir).nlink += 1;
        self.enter_name(dir, name, id);
        Ok(())
    }

    pub fn mknod(&mut self, path: &str, mode: u32, dev: (u32, u32)) -> Res<()> {
        let kind = match mode & S_IFMT {
            0 | S_IFREG => S_IFREG,
            k @ (S_IFCHR | S_IFBLK | S_IFIFO | S_IFSOCK) => k,
            S_IFDIR => return Err(EPERM),
            _ => return Err(EINVAL),
        };
        let (dir, name) = self.new_name(path, false)?;
        self.may_write(dir)?;
        let body = match kind {
            S_IFREG => Body::file(),
            S_IFCHR | S_IFBLK => Body::Special(dev),
            _ => Body::Special((0, 0)),
        };
        let id = self.make(dir, body, kind | mode & 0o7777 & !UMASK);
        self.enter_name(dir, name, id);
        Ok(())
    }

    pub fn symlink(&mut self, target: &str, path: &str) -> Res<()> {
        if target.is_empty() {
            return Err(ENOENT);
        }
        if target.len() >= 4096 {
            return Err(ENAMETOOLONG);
        }
        let (dir, name) = self.new_name(path, false)?;
        self.may_write(dir)?;
        if target.len() as u64 + 1 > self.limits.block_size {
            return Err(ENAMETOOLONG);
        }
        let id = self.make(dir, Body::Symlink(target.to_owned()), S_IFLNK | 0o777);
        self.enter_name(dir, name, id);
        Ok(())
    }

    pub fn link(&mut self, from: &str, to: &str) -> Res<()> {
        let id = self.walk(from, false)?;
        let (dir, name) = self.new_name(to, false)?;
        self.may_write(dir)?;
        let node = self.node(id);
        if node.has(FL_APPEND | FL_IMMUTABLE) || node.is_dir() {
            return Err(EPERM);
        }
        self.node_mut(id).nlink += 1;
        self.enter_name(dir, name, id);
        Ok(())
    }

    /// Whether a name may go: `may_delete`.
    fn may_delete(&self, dir: NodeId, id: NodeId, as_dir: bool) -> Res<()> {
        self.may_write(dir)?;
        if self.node(dir).has(FL_APPEND) || self.node(id).has(FL_APPEND | FL_IMMUTABLE) {
            return Err(EPERM);
        }
        match (as_dir, self.node(id).is_dir()) {
            (true, false) => Err(ENOTDIR),
            (false, true) => Err(EISDIR),
            _ => Ok(()),
        }
    }

    pub fn unlink(&mut self, path: &str) -> Res<()> {
        let parent = self.walk_parent(path)?;
        let Last::Name(name) = parent.last else {
            return Err(EISDIR);
        };
        let id = self.child(parent.dir, &name)?.ok_or(ENOENT)?;
        if parent.slash {
            return Err(if self.node(id).is_dir() {
                EISDIR
            } else {
                ENOTDIR
            });
        }
        self.may_delete(parent.dir, id, false)?;
        self.entries_mut(parent.dir).remove(&name);
        self.touch_dir(parent.dir);
        self.unname(id);
        Ok(())
    }

    pub fn rmdir(&mut self, path: &str) -> Res<()> {
        let parent = self.walk_parent(path)?;
        let name = match parent.last {
            Last::Name(name) => name,
            Last::DotDot => return Err(ENOTEMPTY),
            Last::Dot => return Err(EINVAL),
            Last::Root => return Err(EBUSY),
        };
        let id = self.child(parent.dir, &name)?.ok_or(ENOENT)?;
        self.may_delete(parent.dir, id, true)?;
        if !self.entries(id).is_empty() {
            return Err(ENOTEMPTY);
        }
        self.entries_mut(parent.dir).remove(&name);
        self.touch_dir(parent.dir);
        self.unname(id);
        self.node_mut(parent.dir).nlink -= 1;
        Ok(())
    }

    /// A name fewer; a directory has but one.
    fn unname(&mut self, id: NodeId) {
        let node = self.node_mut(id);
        if node.is_dir() {
            node.nlink = 0;
            node.mtime = NOW;
        } else {
            node.nlink -= 1;
        }
        self.drop_if_unused(id);
    }

    pub fn rename(&mut self, from: &str, to: &str, flags: u32) -> Res<()> {
        let both = flags & EXCHANGE != 0;
        if flags & !(NOREPLACE | EXCHANGE | WHITEOUT) != 0
            || both && flags & (NOREPLACE | WHITEOUT) != 0
        {
            return Err(EINVAL);
        }
        let old = self.walk_parent(from)?;
        let new = self.walk_parent(to)?;
        let Last::Name(old_name) = old.last.clone() else {
            return Err(EBUSY);
        };
        let Last::Name(new_name) = new.last.clone() else {
            return Err(if flags & NOREPLACE != 0 {
                EEXIST
            } else {
                EBUSY
            });
        };
        let source = self.child(old.dir, &old_name)?.ok_or(ENOENT)?;
        let target = self.child(new.dir, &new_name)?;
        if flags & NOREPLACE != 0 && target.is_some() {
            return Err(EEXIST);
        }
        if both && target.is_none() {
            return Err(ENOENT);
        }
        self.slashes(&old, &new, source, target, both)?;
        if self.is_below(new.dir, source) {
            return Err(EINVAL);
        }
        if let Some(target) = target {
            // What lies above the source cannot give way to it.
            if target != source && self.is_below(old.dir, target) {
                return Err(if both { EINVAL } else { ENOTEMPTY });
            }
            if target == source {
                return Ok(());
            }
        }
        let is_dir = self.node(source).is_dir();
        self.may_delete(old.dir, source, is_dir)?;
        match target {
            None => self.may_write(new.dir)?,
            Some(t) if both => self.may_delete(new.dir, t, self.node(t).is_dir())?,
            Some(t) => self.may_delete(new.dir, t, is_dir)?,
        }
        if let (false, Some(t)) = (both, target)
            && self.node(t).is_dir()
            && !self.entries(t).is_empty()
        {
            return Err(ENOTEMPTY);
        }
        self.put(new.dir, &new_name, source);
        if let (true, Some(t)) = (both, target) {
            self.put(old.dir, &old_name, t);
        } else {
            self.take(old.dir, &old_name, source, &new);
            if let Some(t) = target {
                if self.node(t).is_dir() {
                    self.node_mut(new.dir).nlink -= 1;
                }
                self.flush(source);
                self.unname(t);
            }
        }
        if both || is_dir {
            self.recount(old.dir);
            self.recount(new.dir);
        }
        if flags & WHITEOUT != 0 {
            let id = self.make(old.dir, Body::Special((0, 0)), S_IFCHR);
            self.entries_mut(old.dir).insert(old_name, id);
        }
        self.touch_dir(old.dir);
        self.touch_dir(new.dir);
        Ok(())
    }

    fn slashes(
        &self,
        old: &Parent,
        new: &Parent,
        source: NodeId,
        target: Option<NodeId>,
        both: bool,
    ) -> Res<()> {
        let target_is_dir = target.is_some_and(|t| self.node(t).is_dir());
        if both && new.slash && !target_is_dir {
            return Err(ENOTDIR);
        }
        if !self.node(source).is_dir() && (old.slash || !both && new.slash) {
            return Err(ENOTDIR);
        }
        Ok(())
    }

    /// Whether a directory is another, or lies below it.
    fn is_below(&self, dir: NodeId, above: NodeId) -> bool {
        let mut at = dir;
        loop {
            if at == above {
                return true;
            }
            let next = self.parent(at);
            if next == at {
                return false;
            }
            at = next;
        }
    }

    /// Names a file; a directory learns where it lies.
    fn put(&mut self, dir: NodeId, name: &str, id: NodeId) {
        self.entries_mut(dir).insert(name.to_owned(), id);
        if let Body::Dir { parent, .. } = &mut self.node_mut(id).body {
            *parent = dir;
        }
    }

    /// Takes the old name away, unless it is the new one's too.
    fn take(&mut self, dir: NodeId, name: &str, _source: NodeId, _new: &Parent) {
        self.entries_mut(dir).remove(name);
    }

    /// A directory's links: its name, its dot, its children's dots.
    fn recount(&mut self, dir: NodeId) {
        let children = self
            .entries(dir)
            .values()
            .filter(|c| self.node(**c).is_dir());
        let links = 2 + children.count() as u32;
        self.node_mut(dir).nlink = links;
    }
}
