//! From paths to inodes.

use super::caller::MAY_EXEC;
use super::{Caller, Errno, InodeInfo, Mount, Result, dir};
use crate::ext4::layout::{FileType, NAME_MAX};
use crate::units::InodeNr;
use std::sync::Arc;

/// The root directory's inode.
pub(super) const ROOT: InodeNr = InodeNr(2);
/// Links that one path may go through (Linux: `MAXSYMLINKS`).
const MAX_LINKS: u32 = 40;
/// Bytes of a path, the zero at its end included (Linux: `PATH_MAX`).
const PATH_MAX: usize = 4096;

/// What follows the last slash of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Last {
    /// A name.
    Name,
    /// Nothing: the path is the root.
    Root,
    /// `.`
    Dot,
    /// `..`
    DotDot,
}

/// A path down to its last component.
#[derive(Clone, Debug)]
pub(super) struct Parent {
    /// The directory.
    pub(super) dir: InodeNr,
    /// The last component.
    pub(super) name: Vec<u8>,
    /// What it is.
    pub(super) last: Last,
    /// Whether a slash follows it: it has to be a directory.
    pub(super) slash: bool,
}

impl Mount {
    /// The directory that a path's last component is in.
    pub(super) fn parent(&mut self, who: &Caller, path: &[u8]) -> Result<Parent> {
        let mut links = 0;
        self.parent_from(who, ROOT, path, &mut links)
    }

    fn parent_from(
        &mut self,
        who: &Caller,
        start: InodeNr,
        path: &[u8],
        links: &mut u32,
    ) -> Result<Parent> {
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        if path.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let mut dir = if path[0] == b'/' { ROOT } else { start };
        let mut names = path
            .split(|&b| b == b'/')
            .filter(|n| !n.is_empty())
            .peekable();
        let slash = path.ends_with(b"/");
        let Some(mut name) = names.next() else {
            return Ok(Parent {
                dir,
                name: b".".to_vec(),
                last: Last::Root,
                slash,
            });
        };
        loop {
            self.check_search(who, dir)?;
            let Some(next) = names.next() else {
                let last = match name {
                    b"." => Last::Dot,
                    b".." => Last::DotDot,
                    _ => Last::Name,
                };
                let name = name.to_vec();
                return Ok(Parent {
                    dir,
                    name,
                    last,
                    slash,
                });
            };
            dir = self.step(who, dir, name, links)?;
            name = next;
        }
    }

    /// One component that is not the last: links are followed.
    fn step(
        &mut self,
        who: &Caller,
        dir: InodeNr,
        name: &[u8],
        links: &mut u32,
    ) -> Result<InodeNr> {
        let nr = self.child(dir, name)?.ok_or(Errno::ENOENT)?;
        self.follow(who, dir, nr, links)
    }

    /// Follows an inode while it is a link.
    fn follow(
        &mut self,
        who: &Caller,
        dir: InodeNr,
        nr: InodeNr,
        links: &mut u32,
    ) -> Result<InodeNr> {
        let inode = self.peek(nr)?;
        if inode.file_type() != FileType::Symlink {
            return Ok(nr);
        }
        *links += 1;
        if *links > MAX_LINKS {
            return Err(Errno::ELOOP);
        }
        let target = self.link_target(nr)?;
        let parent = self.parent_from(who, dir, &target, links)?;
        let (at, nr) = (parent.dir, self.last_of(&parent)?.ok_or(Errno::ENOENT)?);
        let nr = self.follow(who, at, nr, links)?;
        if parent.slash && !self.peek(nr)?.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        Ok(nr)
    }

    /// Fails where names may not be looked up in what should be a directory.
    pub(super) fn check_search(&mut self, who: &Caller, dir: InodeNr) -> Result<Arc<InodeInfo>> {
        let inode = self.peek(dir)?;
        if !inode.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        who.check(&inode, MAY_EXEC)?;
        Ok(inode)
    }

    /// The inode that a name stands for.
    pub(super) fn child(&mut self, dir: InodeNr, name: &[u8]) -> Result<Option<InodeNr>> {
        match name {
            b"." => return Ok(Some(dir)),
            b".." if dir == ROOT => return Ok(Some(ROOT)),
            // Only the search notes it: what else is wrong with a call comes first.
            _ if name.len() > NAME_MAX => return Err(Errno::ENAMETOOLONG),
            _ => {}
        }
        let inode = self.peek(dir)?;
        Ok(dir::lookup(&mut self.vol, &inode, name)?.map(|f| f.inode))
    }

    /// The inode that a path's last component stands for; links are not followed.
    pub(super) fn last_of(&mut self, parent: &Parent) -> Result<Option<InodeNr>> {
        self.child(parent.dir, &parent.name)
    }

    /// The inode of a path.
    pub(super) fn resolve(&mut self, who: &Caller, path: &[u8], follow: bool) -> Result<InodeNr> {
        let parent = self.parent(who, path)?;
        let mut nr = self.last_of(&parent)?.ok_or(Errno::ENOENT)?;
        if follow || parent.slash {
            nr = self.follow(who, parent.dir, nr, &mut 0)?;
        }
        if parent.slash && !self.peek(nr)?.is_dir() {
            return Err(Errno::ENOTDIR);
        }
        Ok(nr)
    }

    /// Where a link that ends a path leads, down to the directory of its last component:
    /// what `open` with O_CREAT makes.
    pub(super) fn parent_of_target(
        &mut self,
        who: &Caller,
        parent: Parent,
        nr: InodeNr,
    ) -> Result<(Parent, Option<InodeNr>)> {
        let (mut parent, mut found, mut links) = (parent, Some(nr), 0);
        while let Some(nr) = found {
            if self.peek(nr)?.file_type() != FileType::Symlink {
                break;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(Errno::ELOOP);
            }
            let target = self.link_target(nr)?;
            let slash = parent.slash;
            parent = self.parent_from(who, parent.dir, &target, &mut links)?;
            parent.slash |= slash;
            if parent.slash && parent.last == Last::Name {
                // Nothing is made there, whatever the name leads to.
                return Ok((parent, None));
            }
            found = self.last_of(&parent)?;
        }
        Ok((parent, found))
    }
}
