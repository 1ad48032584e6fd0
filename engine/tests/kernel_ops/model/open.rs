//! `open`.

use super::super::op::bits::*;
use super::errno::*;
use super::node::{Body, NOW, Node, NodeId, ROOT};
use super::path::Last;
use super::{Model, Open, Res};

/// Permissions that a new file does not get.
const UMASK: u32 = 0o022;

impl Model {
    /// Whether opening this ends at a device, a pipe or a socket.
    pub fn opens_special(&self, path: &str, flags: u32) -> bool {
        let follow = flags & O_NOFOLLOW == 0;
        let mut probe = self.clone_names();
        let id = probe.walk(path, follow);
        id.is_ok_and(|id| matches!(probe.node(id).body, Body::Special(_)))
    }

    /// The tree without contents: walking paths touches access times.
    fn clone_names(&self) -> Model {
        let mut other = Model {
            nodes: Default::default(),
            fds: Default::default(),
            limits: self.limits.clone(),
            next: self.next,
            was_full: false,
        };
        for (id, node) in &self.nodes {
            let body = match &node.body {
                Body::File { .. } => Body::file(),
                body => body.clone(),
            };
            other.nodes.insert(*id, Node::new(body, node.mode));
        }
        other
    }

    pub fn open(&mut self, slot: usize, path: &str, flags: u32, mode: u32) -> Res<()> {
        if flags & O_CREAT != 0 && flags & O_DIRECTORY != 0 {
            return Err(EINVAL);
        }
        let node = if flags & O_TMPFILE == O_TMPFILE {
            self.open_tmpfile(path, flags, mode)?
        } else {
            self.open_named(path, flags, mode)?
        };
        let flags = if flags & 3 == 3 { flags & !3 } else { flags };
        self.fds[slot] = Some(Open {
            node,
            pos: 0,
            flags,
        });
        Ok(())
    }

    fn open_tmpfile(&mut self, path: &str, flags: u32, mode: u32) -> Res<NodeId> {
        if flags & 3 == 0 {
            return Err(EINVAL);
        }
        let dir = self.walk(path, true)?;
        if !self.node(dir).is_dir() {
            return Err(ENOTDIR);
        }
        self.may_write(dir)?;
        let id = self.make(dir, Body::file(), S_IFREG | mode & 0o7777 & !UMASK);
        self.node_mut(id).nlink = 0;
        Ok(id)
    }

    fn open_named(&mut self, path: &str, flags: u32, mode: u32) -> Res<NodeId> {
        let (mut from, mut path, mut links) = (ROOT, path.to_owned(), 0);
        loop {
            let parent = self.parent_from(from, &path, &mut links)?;
            if flags & O_CREAT != 0 && parent.slash && matches!(parent.last, Last::Name(_)) {
                return Err(EISDIR);
            }
            let name = match &parent.last {
                Last::Dot | Last::Root => return self.opened(parent.dir, flags, false),
                Last::DotDot => return self.opened(self.parent(parent.dir), flags, false),
                Last::Name(name) => name.clone(),
            };
            let Some(id) = self.child(parent.dir, &name)? else {
                if flags & O_CREAT == 0 {
                    return Err(ENOENT);
                }
                self.may_write(parent.dir)?;
                let id = self.make(parent.dir, Body::file(), S_IFREG | mode & 0o7777 & !UMASK);
                self.entries_mut(parent.dir).insert(name, id);
                self.touch_dir(parent.dir);
                return self.opened(id, flags, true);
            };
            let exclusive = flags & (O_CREAT | O_EXCL) == O_CREAT | O_EXCL;
            let follow = !exclusive && (flags & O_NOFOLLOW == 0 || parent.slash);
            match self.target(id) {
                Some(target) if follow => {
                    self.count_link(id, &mut links)?;
                    // A slash behind the link's name asks for a directory at its end.
                    let slash = if parent.slash { "/" } else { "" };
                    (from, path) = (parent.dir, target + slash);
                }
                _ => {
                    if parent.slash && !self.node(id).is_dir() {
                        return Err(ENOTDIR);
                    }
                    return self.opened(id, flags, false);
                }
            }
        }
    }

    /// What is checked at the end of the walk.
    fn opened(&mut self, id: NodeId, flags: u32, created: bool) -> Res<NodeId> {
        if created {
            return Ok(id);
        }
        let node = self.node(id);
        if flags & O_CREAT != 0 {
            if flags & O_EXCL != 0 {
                return Err(EEXIST);
            }
            if node.is_dir() {
                return Err(EISDIR);
            }
        }
        if flags & O_DIRECTORY != 0 && !node.is_dir() {
            return Err(ENOTDIR);
        }
        let writes = flags & (O_WRONLY | O_RDWR | O_TRUNC) != 0;
        match &node.body {
            Body::Symlink(_) => return Err(ELOOP),
            Body::Dir { .. } if writes => return Err(EISDIR),
            _ => {}
        }
        if writes && node.has(FL_IMMUTABLE) {
            return Err(EPERM);
        }
        if node.has(FL_APPEND) {
            let plain = flags & (O_WRONLY | O_RDWR) != 0 && flags & O_APPEND == 0;
            if plain || flags & O_TRUNC != 0 {
                return Err(EPERM);
            }
        }
        if flags & O_TRUNC != 0 {
            self.set_size(id, 0)?;
        }
        Ok(id)
    }

    /// Whether a directory's names may change.
    pub fn may_write(&self, dir: NodeId) -> Res<()> {
        if self.node(dir).has(FL_IMMUTABLE) {
            Err(EPERM)
        } else {
            Ok(())
        }
    }

    /// A new file below a directory, which does not name it yet.
    pub fn make(&mut self, dir: NodeId, body: Body, mode: u32) -> NodeId {
        let above = self.node(dir);
        let mut node = Node::new(body, mode);
        if above.mode & 0o2000 != 0 {
            node.gid = above.gid;
            if node.is_dir() {
                node.mode |= 0o2000;
            }
        }
        let inherited = FL_SYNC | FL_NODUMP | FL_NOATIME | FL_NOTAIL | FL_DIRSYNC;
        let kept = match mode & S_IFMT {
            S_IFDIR => inherited,
            S_IFREG => inherited & !FL_DIRSYNC,
            _ => FL_NODUMP | FL_NOATIME,
        };
        node.flags = above.flags & kept;
        (node.atime, node.mtime) = (NOW, NOW);
        self.insert(node)
    }
}
