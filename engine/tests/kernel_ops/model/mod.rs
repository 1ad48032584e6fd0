//! A filesystem in memory that is slow, small and meant to be obviously right: what
//! Linux's calls give on ext4, told without any disk.
//!
//! [`Model::judge`] is given each call with what a system made of it. The model works out
//! what must come, and says what is wrong. Where the disk's layout decides (when space
//! runs out, sizes of directories), it believes the system within bounds.

mod alloc;
mod file;
mod meta;
mod namei;
mod node;
mod open;
mod path;
mod summary;

pub use node::{Node, NodeId};

use super::op::{Op, SLOTS};
use super::outcome::Outcome;
use super::sets::Limits;
use node::{Body, ROOT};
use std::collections::BTreeMap;

/// Errors that the model gives, by Linux's numbers.
pub mod errno {
    pub const EPERM: i32 = 1;
    pub const ENOENT: i32 = 2;
    pub const ENXIO: i32 = 6;
    pub const EBADF: i32 = 9;
    pub const EACCES: i32 = 13;
    pub const EBUSY: i32 = 16;
    pub const EEXIST: i32 = 17;
    pub const ENOTDIR: i32 = 20;
    pub const EISDIR: i32 = 21;
    pub const EINVAL: i32 = 22;
    pub const EFBIG: i32 = 27;
    pub const ENOSPC: i32 = 28;
    pub const ERANGE: i32 = 34;
    pub const ENAMETOOLONG: i32 = 36;
    pub const ENOTEMPTY: i32 = 39;
    pub const ELOOP: i32 = 40;
    pub const ENODATA: i32 = 61;
    pub const EOPNOTSUPP: i32 = 95;
    pub const E2BIG: i32 = 7;
}

/// What a call gives in the model.
pub type Res<T> = Result<T, i32>;

/// An open file.
#[derive(Clone, Debug)]
pub struct Open {
    pub node: NodeId,
    pub pos: u64,
    pub flags: u32,
}

/// The filesystem.
#[derive(Clone, Debug)]
pub struct Model {
    pub limits: Limits,
    pub nodes: BTreeMap<NodeId, Node>,
    pub fds: [Option<Open>; SLOTS],
    next: NodeId,
    /// The disk was full once: what the disk has of a file is then less sure.
    pub was_full: bool,
}

/// What the model says to an outcome.
enum Verdict {
    /// Exactly this, but for what the model cannot know.
    Must(Outcome),
    /// The outcome is right.
    Fine,
    /// It is wrong, for this reason.
    Wrong(String),
}

impl Model {
    /// An empty filesystem: a root with `lost+found`.
    pub fn new(limits: Limits) -> Self {
        let mut model = Self {
            limits,
            nodes: BTreeMap::new(),
            fds: Default::default(),
            next: ROOT + 1,
            was_full: false,
        };
        let mut root = Node::new(Body::dir(ROOT), 0o040_755);
        root.nlink = 3;
        model.nodes.insert(ROOT, root);
        let lost = model.insert(Node::new(Body::dir(ROOT), 0o040_700));
        model.node_mut(lost).nlink = 2;
        model.entries_mut(ROOT).insert("lost+found".into(), lost);
        model
    }

    /// Whether a call is one that no system should be asked: opening what is not a
    /// regular file, directory or link leads out of the filesystem.
    pub fn avoids(&self, op: &Op) -> bool {
        match op {
            Op::Open { path, flags, .. } => self.opens_special(path, *flags),
            Op::Truncate { path, .. } => self.opens_special(path, 0),
            _ => false,
        }
    }

    /// Makes the call on the model; says what is wrong with what a system gave.
    /// `size` is the size that the descriptor's file has now, asked only after a failed
    /// `fallocate`.
    pub fn judge(&mut self, op: &Op, got: &Outcome, size: Option<u64>) -> Result<(), String> {
        if *got == Outcome::Failed(errno::ENOSPC)
            && let Some(verdict) = self.full(op, size)
        {
            return verdict;
        }
        let verdict = match self.step(op, got) {
            Ok(verdict) => verdict,
            Err(e) => Verdict::Must(Outcome::Failed(e)),
        };
        match verdict {
            Verdict::Fine => Ok(()),
            Verdict::Must(want) => same(&want, got),
            Verdict::Wrong(why) => Err(format!("{why}; got {got:?}")),
        }
    }

    /// Whether two thirds of blocks or inodes are in use, so that the disk can be full.
    pub fn tight(&self) -> bool {
        let per = u64::from(self.limits.cluster_blocks);
        let blocks = |node: &Node| match &node.body {
            Body::File { cells, .. } if per == 1 => cells.len() as u64,
            Body::File { cells, .. } => {
                let mut clusters: Vec<u64> = cells.keys().map(|l| l / per).collect();
                clusters.dedup();
                clusters.len() as u64 * per
            }
            Body::Dir { entries, .. } => {
                1 + entries.keys().map(|n| n.len() as u64 + 8).sum::<u64>() * 2
                    / self.limits.block_size
            }
            _ => 1,
        };
        let used: u64 = self.nodes.values().map(blocks).sum();
        let inodes = self.nodes.len() as u64;
        used * 3 >= self.limits.free_blocks * 2 || inodes * 10 >= self.limits.inodes * 9
    }

    /// A call failed for want of space.
    fn full(&mut self, op: &Op, size: Option<u64>) -> Option<Result<(), String>> {
        if let Op::SetXattr {
            path,
            name,
            len,
            follow,
            ..
        } = op
        {
            return self.xattr_full(path, name, *len, *follow);
        }
        if !self.tight() {
            let huge = matches!(op, Op::Fallocate { len, .. }
                if *len / self.limits.block_size * 3 >= self.limits.free_blocks);
            let zeros = matches!(op, Op::Fallocate { .. }) && huge;
            if !zeros {
                return None;
            }
        }
        self.was_full = true;
        match op {
            Op::Fallocate { slot, .. } => {
                let id = self.fds[*slot].as_ref()?.node;
                let node = self.nodes.get_mut(&id)?;
                node.unsure = true;
                if let (Body::File { size: old, .. }, Some(size)) = (&mut node.body, size) {
                    *old = size;
                }
                Some(Ok(()))
            }
            Op::Open { .. }
            | Op::Mkdir { .. }
            | Op::Mknod { .. }
            | Op::Symlink { .. }
            | Op::Link { .. }
            | Op::Rename { .. }
            | Op::Write { .. }
            | Op::Pwrite { .. } => {
                // That it would have come so far without an error must still hold.
                let mut other = self.clone();
                let outcome = other.step(op, &Outcome::Failed(errno::ENOSPC));
                if let Op::Open { slot, .. } = op {
                    self.close(*slot);
                }
                match outcome {
                    Err(e) if e != errno::ENOSPC => {
                        Some(Err(format!("must be {:?}", Outcome::Failed(e))))
                    }
                    _ => Some(Ok(())),
                }
            }
            _ => None,
        }
    }

    fn step(&mut self, op: &Op, got: &Outcome) -> Res<Verdict> {
        let done = |r: Res<()>| r.map(|()| Verdict::Must(Outcome::Done));
        match op {
            Op::Open {
                slot,
                path,
                flags,
                mode,
            } => {
                self.close(*slot);
                done(self.open(*slot, path, *flags, *mode))
            }
            Op::Close { slot } => match self.close(*slot) {
                true => done(Ok(())),
                false => Err(errno::EBADF),
            },
            Op::Mkdir { path, mode } => done(self.mkdir(path, *mode)),
            Op::Mknod {
                path,
                mode,
                major,
                minor,
            } => done(self.mknod(path, *mode, (*major, *minor))),
            Op::Symlink { target, path } => done(self.symlink(target, path)),
            Op::Link { from, to } => done(self.link(from, to)),
            Op::Unlink { path } => done(self.unlink(path)),
            Op::Rmdir { path } => done(self.rmdir(path)),
            Op::Rename { from, to, flags } => done(self.rename(from, to, *flags)),
            Op::Syncfs => {
                self.flush_all();
                done(Ok(()))
            }
            Op::Remount => {
                (0..SLOTS).for_each(|slot| {
                    self.close(slot);
                });
                self.flush_all();
                done(Ok(()))
            }
            Op::Readlink { .. }
            | Op::Chmod { .. }
            | Op::Fchmod { .. }
            | Op::Chown { .. }
            | Op::Lchown { .. }
            | Op::Utimens { .. }
            | Op::Stat { .. }
            | Op::Lstat { .. }
            | Op::Fstat { .. }
            | Op::Getdents { .. }
            | Op::SetXattr { .. }
            | Op::GetXattr { .. }
            | Op::ListXattr { .. }
            | Op::RemoveXattr { .. }
            | Op::GetFlags { .. }
            | Op::SetFlags { .. } => self.meta(op, got),
            Op::Fallocate {
                slot,
                mode,
                off,
                len,
            } => done(self.fallocate(*slot, *mode, *off, *len)),
            _ => self.contents(op, got),
        }
    }
}

/// Whether an outcome is the expected one. The model leaves open: a directory's size,
/// blocks, inode numbers, times other than those that were set.
fn same(want: &Outcome, got: &Outcome) -> Result<(), String> {
    let equal = match (want, got) {
        (Outcome::Facts(want), Outcome::Facts(got)) => {
            let mut want = want.clone();
            want.ino = got.ino;
            want.blocks = got.blocks;
            if want.mode & 0o170_000 == 0o040_000 {
                want.size = got.size;
            }
            if want.atime == node::NOW {
                want.atime = got.atime;
            }
            if want.mtime == node::NOW {
                want.mtime = got.mtime;
            }
            want == *got
        }
        (want, got) => want == got,
    };
    match equal {
        true => Ok(()),
        false => Err(format!("must be {want:?}\n      but was {got:?}")),
    }
}
