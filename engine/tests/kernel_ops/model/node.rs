//! Files of the model.

use super::super::op::Time;
use super::Model;
use std::collections::BTreeMap;

/// A file's number in the model.
pub type NodeId = u64;

/// The root directory.
pub const ROOT: NodeId = 1;

/// A time that no one set: nothing is expected of it.
pub const NOW: Time = (i64::MIN, 0);

/// What the disk has of a block that belongs to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// In memory; its place on disk is not chosen.
    Delayed,
    /// On disk, reads as zeros.
    Unwritten,
    /// The same, but memory has contents that the disk has not.
    UnwrittenDirty,
    /// On disk.
    Written,
}

/// A block of a file. `None`: zeros.
#[derive(Clone, Debug)]
pub struct Cell {
    pub state: State,
    pub bytes: Option<Vec<u8>>,
}

/// What is particular to each type.
#[derive(Clone, Debug)]
pub enum Body {
    File {
        size: u64,
        cells: BTreeMap<u64, Cell>,
    },
    Dir {
        parent: NodeId,
        entries: BTreeMap<String, NodeId>,
    },
    Symlink(String),
    /// Pipes, sockets, devices.
    Special((u32, u32)),
}

impl Body {
    pub fn dir(parent: NodeId) -> Self {
        Body::Dir {
            parent,
            entries: BTreeMap::new(),
        }
    }

    pub fn file() -> Self {
        Body::File {
            size: 0,
            cells: BTreeMap::new(),
        }
    }
}

/// A file.
#[derive(Clone, Debug)]
pub struct Node {
    pub body: Body,
    /// With the type.
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub nlink: u32,
    pub flags: u32,
    pub xattrs: BTreeMap<String, Vec<u8>>,
    pub atime: Time,
    pub mtime: Time,
    /// A call on it failed halfway: contents and blocks are not known.
    pub unsure: bool,
}

impl Node {
    pub fn new(body: Body, mode: u32) -> Self {
        Self {
            body,
            mode,
            uid: 0,
            gid: 0,
            nlink: 1,
            flags: 0,
            xattrs: BTreeMap::new(),
            atime: NOW,
            mtime: NOW,
            unsure: false,
        }
    }

    pub fn is_dir(&self) -> bool {
        matches!(self.body, Body::Dir { .. })
    }

    pub fn is_file(&self) -> bool {
        matches!(self.body, Body::File { .. })
    }

    pub fn is_symlink(&self) -> bool {
        matches!(self.body, Body::Symlink(_))
    }

    pub fn has(&self, flags: u32) -> bool {
        self.flags & flags != 0
    }

    /// `st_size`; a directory's is not known.
    pub fn size(&self) -> u64 {
        match &self.body {
            Body::File { size, .. } => *size,
            Body::Symlink(target) => target.len() as u64,
            _ => 0,
        }
    }
}

impl Model {
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[&id]
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes
            .get_mut(&id)
            .expect("the model keeps what is named")
    }

    pub fn insert(&mut self, node: Node) -> NodeId {
        let id = self.next;
        self.next += 1;
        self.nodes.insert(id, node);
        id
    }

    pub fn entries(&self, dir: NodeId) -> &BTreeMap<String, NodeId> {
        match &self.node(dir).body {
            Body::Dir { entries, .. } => entries,
            other => panic!("{other:?} is no directory"),
        }
    }

    pub fn entries_mut(&mut self, dir: NodeId) -> &mut BTreeMap<String, NodeId> {
        match &mut self.node_mut(dir).body {
            Body::Dir { entries, .. } => entries,
            other => panic!("{other:?} is no directory"),
        }
    }

    pub fn parent(&self, dir: NodeId) -> NodeId {
        match &self.node(dir).body {
            Body::Dir { parent, .. } => *parent,
            other => panic!("{other:?} is no directory"),
        }
    }

    /// A file that nobody names or has open is gone.
    pub fn drop_if_unused(&mut self, id: NodeId) {
        let open = self.fds.iter().flatten().any(|o| o.node == id);
        if !open && self.nodes.get(&id).is_some_and(|n| n.nlink == 0) {
            self.nodes.remove(&id);
        }
    }

    /// A directory's contents changed.
    pub fn touch_dir(&mut self, dir: NodeId) {
        self.node_mut(dir).mtime = NOW;
    }

    /// Closes a slot; whether there was something in it.
    pub fn close(&mut self, slot: usize) -> bool {
        let Some(open) = self.fds[slot].take() else {
            return false;
        };
        self.drop_if_unused(open.node);
        true
    }
}
