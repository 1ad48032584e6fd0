//! Walking paths.

use super::errno::*;
use super::node::{Body, NodeId, ROOT};
use super::{Model, Res};

/// Symlinks that one walk may follow.
const MAX_LINKS: u32 = 40;
const NAME_MAX: usize = 255;

/// The last component of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Last {
    Name(String),
    Dot,
    DotDot,
    /// The path was `/`, or led there with nothing behind it.
    Root,
}

/// A path up to its last component.
#[derive(Clone, Debug)]
pub struct Parent {
    pub dir: NodeId,
    pub last: Last,
    /// There is a `/` behind the last component.
    pub slash: bool,
}

impl Model {
    /// Walks to the directory of the last component.
    pub fn walk_parent(&mut self, path: &str) -> Res<Parent> {
        self.parent_from(ROOT, path, &mut 0)
    }

    /// Walks to the end.
    pub fn walk(&mut self, path: &str, follow: bool) -> Res<NodeId> {
        self.walk_from(ROOT, path, follow, &mut 0)
    }

    /// Looks a name up in a directory.
    pub fn child(&self, dir: NodeId, name: &str) -> Res<Option<NodeId>> {
        if name.len() > NAME_MAX {
            return Err(ENAMETOOLONG);
        }
        Ok(self.entries(dir).get(name).copied())
    }

    pub fn parent_from(&mut self, from: NodeId, path: &str, links: &mut u32) -> Res<Parent> {
        if path.is_empty() {
            return Err(ENOENT);
        }
        if path.len() >= 4096 {
            return Err(ENAMETOOLONG);
        }
        let mut dir = if path.starts_with('/') { ROOT } else { from };
        let parts: Vec<&str> = path.split('/').filter(|p| !p.is_empty()).collect();
        let Some((last, before)) = parts.split_last() else {
            return Ok(Parent {
                dir,
                last: Last::Root,
                slash: true,
            });
        };
        for part in before {
            dir = self.enter(dir, part, links)?;
        }
        let last = match *last {
            "." => Last::Dot,
            ".." => Last::DotDot,
            name => Last::Name(name.to_owned()),
        };
        Ok(Parent {
            dir,
            last,
            slash: path.ends_with('/'),
        })
    }

    /// A component that is not the last: must be a directory, or lead to one.
    fn enter(&mut self, dir: NodeId, part: &str, links: &mut u32) -> Res<NodeId> {
        let next = match part {
            "." => dir,
            ".." => self.parent(dir),
            name => {
                let id = self.child(dir, name)?.ok_or(ENOENT)?;
                match self.target(id) {
                    Some(target) => self.follow(dir, id, &target, links)?,
                    None => id,
                }
            }
        };
        if self.node(next).is_dir() {
            Ok(next)
        } else {
            Err(ENOTDIR)
        }
    }

    pub fn target(&self, id: NodeId) -> Option<String> {
        match &self.node(id).body {
            Body::Symlink(target) => Some(target.clone()),
            _ => None,
        }
    }

    /// Follows a link that lies in `dir`.
    pub fn follow(
        &mut self,
        dir: NodeId,
        link: NodeId,
        target: &str,
        links: &mut u32,
    ) -> Res<NodeId> {
        self.count_link(link, links)?;
        self.walk_from(dir, target, true, links)
    }

    /// Following a link reads it, which can change its access time.
    pub fn count_link(&mut self, link: NodeId, links: &mut u32) -> Res<()> {
        *links += 1;
        if *links > MAX_LINKS {
            return Err(ELOOP);
        }
        self.node_mut(link).atime = super::node::NOW;
        Ok(())
    }

    fn walk_from(
        &mut self,
        from: NodeId,
        path: &str,
        follow: bool,
        links: &mut u32,
    ) -> Res<NodeId> {
        let parent = self.parent_from(from, path, links)?;
        let id = match &parent.last {
            Last::Dot | Last::Root => parent.dir,
            Last::DotDot => self.parent(parent.dir),
            Last::Name(name) => {
                let id = self.child(parent.dir, name)?.ok_or(ENOENT)?;
                match self.target(id) {
                    Some(target) if follow || parent.slash => {
                        self.follow(parent.dir, id, &target, links)?
                    }
                    _ => id,
                }
            }
        };
        if parent.slash && !self.node(id).is_dir() {
            return Err(ENOTDIR);
        }
        Ok(id)
    }
}
