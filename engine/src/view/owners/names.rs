//! A name for every inode that a directory names, kept small.

/// Bytes of names that are kept; a filesystem with more is named in part.
const MOST_BYTES: usize = 64 << 20;
/// Deepest path that is told.
const MOST_DEPTH: usize = 4096;
const ROOT: u32 = 2;

/// The first name found of each inode, with the directory it is in.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Inode, directory, where the name is in `bytes`; sorted once complete.
    entries: Vec<(u32, u32, u32)>,
    /// Names, each after its length.
    bytes: Vec<u8>,
    full: bool,
}

impl Names {
    pub(super) fn add(&mut self, inode: u32, dir: u32, name: &[u8]) {
        if name == b"." || name == b".." || inode == ROOT {
            return;
        }
        if self.bytes.len() + name.len() > MOST_BYTES {
            self.full = true;
            return;
        }
        self.entries.push((inode, dir, self.bytes.len() as u32));
        self.bytes.push(name.len() as u8);
        self.bytes.extend_from_slice(&name[..name.len().min(255)]);
    }

    /// Puts names in the order of their inodes, so that they can be found and counted.
    pub(super) fn sort(&mut self) {
        self.entries.sort_unstable();
    }

    /// Names of an inode; sorted first.
    pub(super) fn count(&self, inode: u32) -> usize {
        let first = self.entries.partition_point(|e| e.0 < inode);
        self.entries[first..]
            .iter()
            .take_while(|e| e.0 == inode)
            .count()
    }

    /// Keeps one name of each inode.
    pub(super) fn keep_first(&mut self) {
        self.entries.dedup_by_key(|e| e.0);
    }

    /// Whether some names were left out for want of room.
    pub fn is_partial(&self) -> bool {
        self.full
    }

    /// The directory and name of an inode.
    pub fn name(&self, inode: u32) -> Option<(u32, &[u8])> {
        let i = self.entries.binary_search_by_key(&inode, |e| e.0).ok()?;
        let (_, dir, at) = self.entries[i];
        let len = usize::from(*self.bytes.get(at as usize)?);
        let name = self.bytes.get(at as usize + 1..at as usize + 1 + len)?;
        Some((dir, name))
    }

    /// A path to an inode from the root, as raw bytes; `None` where no chain of names
    /// leads to the root.
    pub fn path(&self, inode: u32) -> Option<Vec<u8>> {
        if inode == ROOT {
            return Some(b"/".to_vec());
        }
        let mut parts = Vec::new();
        let mut at = inode;
        while at != ROOT {
            if parts.len() == MOST_DEPTH {
                return None;
            }
            let (dir, name) = self.name(at)?;
            parts.push(name);
            at = dir;
        }
        let mut path = Vec::new();
        for name in parts.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(name);
        }
        Some(path)
    }
}
