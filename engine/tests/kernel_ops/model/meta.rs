//! Facts about files: modes, owners, times, attributes, flags; directories' names.

use super::super::op::{Op, bits::*, pattern};
use super::super::outcome::{Facts, Name, Outcome};
use super::errno::*;
use super::node::{Body, NOW, NodeId};
use super::{Model, Res, Verdict};

impl Model {
    pub(super) fn meta(&mut self, op: &Op, got: &Outcome) -> Res<Verdict> {
        match op {
            Op::Readlink { path } => {
                // Unlike other calls, an empty path is not to be asked for here.
                let id = self.walk(path, false)?;
                let target = self.target(id).ok_or(EINVAL)?;
                self.node_mut(id).atime = NOW;
                return Ok(Verdict::Must(Outcome::Data(target.into_bytes())));
            }
            Op::Chmod { path, mode } => {
                let id = self.walk(path, true)?;
                self.chmod(id, *mode)?;
            }
            Op::Fchmod { slot, mode } => {
                let id = self.fd(*slot)?.node;
                self.chmod(id, *mode)?;
            }
            Op::Chown { path, uid, gid } => {
                let id = self.walk(path, true)?;
                self.chown(id, *uid, *gid)?;
            }
            Op::Lchown { path, uid, gid } => {
                let id = self.walk(path, false)?;
                self.chown(id, *uid, *gid)?;
            }
            Op::Utimens { path, atime, mtime } => {
                let id = self.walk(path, true)?;
                self.may_set(id)?;
                let (a, m) = (self.limits.time(*atime), self.limits.time(*mtime));
                let node = self.node_mut(id);
                (node.atime, node.mtime) = (a, m);
            }
            Op::Stat { path } => {
                let id = self.walk(path, true)?;
                return Ok(Verdict::Must(Outcome::Facts(self.facts(id))));
            }
            Op::Lstat { path } => {
                let id = self.walk(path, false)?;
                return Ok(Verdict::Must(Outcome::Facts(self.facts(id))));
            }
            Op::Fstat { slot } => {
                let id = self.fd(*slot)?.node;
                return Ok(Verdict::Must(Outcome::Facts(self.facts(id))));
            }
            Op::Getdents { slot } => {
                let id = self.fd(*slot)?.node;
                return Ok(Verdict::Must(self.getdents(id)?));
            }
            Op::GetFlags { slot } => {
                let id = self.fd(*slot)?.node;
                let want = self.node(id).flags;
                return Ok(match got {
                    Outcome::Flags(got) if got & FL_OURS == want => Verdict::Fine,
                    _ => Verdict::Must(Outcome::Flags(want)),
                });
            }
            Op::SetFlags { slot, set, clear } => {
                let id = self.fd(*slot)?.node;
                let node = self.node_mut(id);
                let flags = node.flags & !clear | set;
                if !node.is_dir() && flags & (FL_DIRSYNC | FL_TOPDIR) != 0 {
                    return Err(EOPNOTSUPP);
                }
                // What stays immutable stays as it is.
                if flags != node.flags && flags & node.flags & FL_IMMUTABLE != 0 {
                    return Err(EPERM);
                }
                node.flags = flags;
            }
            _ => return self.xattr(op),
        }
        Ok(Verdict::Must(Outcome::Done))
    }

    /// Everything was read: access times are no longer those that were set.
    pub fn was_read(&mut self) {
        for node in self.nodes.values_mut() {
            node.atime = NOW;
        }
    }

    /// Whether mode, owner and times may be set.
    fn may_set(&self, id: NodeId) -> Res<()> {
        if self.node(id).has(FL_IMMUTABLE | FL_APPEND) {
            Err(EPERM)
        } else {
            Ok(())
        }
    }

    fn chmod(&mut self, id: NodeId, mode: u32) -> Res<()> {
        self.may_set(id)?;
        let node = self.node_mut(id);
        node.mode = node.mode & S_IFMT | mode & 0o7777;
        Ok(())
    }

    fn chown(&mut self, id: NodeId, uid: Option<u32>, gid: Option<u32>) -> Res<()> {
        let node = self.node(id);
        let drops = if node.is_dir() {
            0
        } else {
            // The group's bit means something else where the group may not execute.
            node.mode & 0o4000
                | if node.mode & 0o10 != 0 {
                    node.mode & 0o2000
                } else {
                    0
                }
        };
        if node.has(FL_IMMUTABLE)
            || node.has(FL_APPEND) && (uid.is_some() || gid.is_some() || drops != 0)
        {
            return Err(EPERM);
        }
        let node = self.node_mut(id);
        node.uid = uid.unwrap_or(node.uid);
        node.gid = gid.unwrap_or(node.gid);
        node.mode &= !drops;
        Ok(())
    }

    fn facts(&self, id: NodeId) -> Facts {
        let node = self.node(id);
        Facts {
            ino: 0,
            mode: node.mode,
            nlink: node.nlink,
            uid: node.uid,
            gid: node.gid,
            rdev: match &node.body {
                Body::Special(dev) => *dev,
                _ => (0, 0),
            },
            size: node.size(),
            blocks: 0,
            atime: node.atime,
            mtime: node.mtime,
        }
    }

    fn getdents(&mut self, id: NodeId) -> Res<Outcome> {
        if !self.node(id).is_dir() {
            return Err(ENOTDIR);
        }
        if self.node(id).nlink == 0 {
            return Err(ENOENT);
        }
        self.node_mut(id).atime = NOW;
        let kind = |id: NodeId| match self.limits.filetype {
            true => (self.node(id).mode >> 12) as u8,
            false => 0,
        };
        let mut names: std::collections::BTreeSet<Name> = self
            .entries(id)
            .iter()
            .map(|(name, id)| Name {
                name: name.clone().into_bytes(),
                kind: kind(*id),
            })
            .collect();
        for dot in [".", ".."] {
            names.insert(Name {
                name: dot.into(),
                kind: kind(id),
            });
        }
        Ok(Outcome::Names(names))
    }

    fn xattr(&mut self, op: &Op) -> Res<Verdict> {
        match op {
            Op::SetXattr {
                path,
                name,
                len,
                seed,
                flags,
                follow,
            } => {
                if flags & !(XATTR_CREATE | XATTR_REPLACE) != 0 {
                    return Err(EINVAL);
                }
                name_fits(name)?;
                if *len > 65536 {
                    return Err(E2BIG);
                }
                let id = self.walk(path, *follow)?;
                self.may_change_xattr(id, name)?;
                known(name)?;
                let node = self.node_mut(id);
                let there = node.xattrs.contains_key(name);
                if !there && flags & XATTR_REPLACE != 0 {
                    return Err(ENODATA);
                }
                if there && flags & XATTR_CREATE != 0 {
                    return Err(EEXIST);
                }
                node.xattrs
                    .insert(name.clone(), pattern(*seed, *len as u64));
            }
            Op::GetXattr { path, name, follow } => {
                name_fits(name)?;
                let id = self.walk(path, *follow)?;
                let node = self.node(id);
                if name.starts_with("user.") && !node.is_file() && !node.is_dir() {
                    return Err(ENODATA);
                }
                known(name)?;
                let value = node.xattrs.get(name).ok_or(ENODATA)?;
                return Ok(Verdict::Must(Outcome::Data(value.clone())));
            }
            Op::ListXattr { path, follow } => {
                let id = self.walk(path, *follow)?;
                let names = self.node(id).xattrs.keys();
                let names = names.map(|n| n.clone().into_bytes()).collect();
                return Ok(Verdict::Must(Outcome::Xattrs(names)));
            }
            Op::RemoveXattr { path, name, follow } => {
                name_fits(name)?;
                let id = self.walk(path, *follow)?;
                self.may_change_xattr(id, name)?;
                known(name)?;
                self.node_mut(id).xattrs.remove(name).ok_or(ENODATA)?;
            }
            other => panic!("{other:?} is not about attributes"),
        }
        Ok(Verdict::Must(Outcome::Done))
    }

    fn may_change_xattr(&self, id: NodeId, name: &str) -> Res<()> {
        let node = self.node(id);
        let user = name.starts_with("user.");
        if node.has(FL_IMMUTABLE | FL_APPEND) || user && !node.is_file() && !node.is_dir() {
            return Err(EPERM);
        }
        Ok(())
    }

    /// No room for an attribute: right when it and those there are more than an inode's
    /// tail holds, and otherwise nothing is wrong with the call.
    pub(super) fn xattr_full(
        &mut self,
        path: &str,
        name: &str,
        len: usize,
        follow: bool,
    ) -> Option<Result<(), String>> {
        let id = self.walk(path, follow).ok()?;
        let others = self.node(id).xattrs.iter().filter(|(n, _)| *n != name);
        let all: usize = others.map(|(n, v)| n.len() + v.len() + 20).sum();
        let all = all + name.len() + len + 20;
        let room = if self.tight() {
            40
        } else {
            self.limits.block_size as usize / 2
        };
        (all > room).then_some(Ok(()))
    }
}

fn name_fits(name: &str) -> Res<()> {
    if name.is_empty() || name.len() > 255 {
        Err(ERANGE)
    } else {
        Ok(())
    }
}

/// Whether a name belongs to a class that ext4 has, and says something in it.
fn known(name: &str) -> Res<()> {
    for class in ["user.", "trusted.", "security."] {
        match name.strip_prefix(class) {
            Some("") => return Err(EINVAL),
            Some(_) => return Ok(()),
            None => {}
        }
    }
    Err(EOPNOTSUPP)
}
