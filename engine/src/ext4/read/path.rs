//! From a path to an inode.

use super::{DirEntry, Fs, InodeBuf};
use crate::disk::ReadAt;
use crate::ext4::layout::{FileType, InodeFlags};
use crate::ext4::{Error, Place, Problem};
use crate::units::InodeNr;

/// The root directory.
const ROOT: InodeNr = InodeNr(2);
/// Symbolic links that Linux follows in one path (`MAXSYMLINKS`).
const MAX_LINKS: u32 = 40;

impl<R: ReadAt> Fs<R> {
    /// The entry with a name in a directory. In a directory that ignores case, a name
    /// that differs in ASCII case only is found where none is equal.
    pub fn lookup(&self, dir: &InodeBuf, name: &[u8]) -> Option<DirEntry> {
        let (entries, _) = self.read_dir(dir);
        let folded = dir.flags().contains(InodeFlags::CASEFOLD);
        let by_case = || {
            entries
                .iter()
                .find(|e| folded && e.name.eq_ignore_ascii_case(name))
        };
        entries
            .iter()
            .find(|e| e.name == name)
            .or_else(by_case)
            .cloned()
    }

    /// The inode at an absolute path, through symbolic links.
    pub fn resolve(&self, path: &[u8]) -> Result<InodeBuf, Error> {
        self.walk(path, true)
    }

    /// The inode at an absolute path; a symbolic link at its end is not followed.
    pub fn resolve_link(&self, path: &[u8]) -> Result<InodeBuf, Error> {
        self.walk(path, false)
    }

    fn root(&self) -> Result<InodeBuf, Error> {
        let root = self.inode(ROOT)?;
        if root.file_type() == FileType::Directory {
            return Ok(root);
        }
        let words = "is the root, but no directory: no path leads anywhere";
        Err(Problem::other(Place::Inode(ROOT), words).into())
    }

    fn walk(&self, path: &[u8], follow_last: bool) -> Result<InodeBuf, Error> {
        // What is still to walk, the next part last.
        let mut todo: Vec<Vec<u8>> = parts(path).rev().map(<[u8]>::to_vec).collect();
        let mut at = self.root()?;
        // The directories above `at`, each with the name that leads on from it.
        let mut above: Vec<(InodeNr, Vec<u8>)> = vec![];
        let mut links = 0;
        while let Some(part) = todo.pop() {
            if at.file_type() != FileType::Directory {
                return Err(Error::NotADirectory(spelled(&above)));
            }
            if part == b".." {
                at = match above.pop() {
                    Some((ino, _)) => self.inode(ino)?,
                    None => at,
                };
                continue;
            }
            let Some(entry) = self.lookup(&at, &part) else {
                return Err(Error::NotFound {
                    what: shown(&part),
                    within: spelled(&above),
                });
            };
            let next = self.inode(entry.inode)?;
            let is_link = next.file_type() == FileType::Symlink;
            if !is_link || (todo.is_empty() && !follow_last) {
                above.push((at.nr, part));
                at = next;
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(Error::TooManyLinks(shown(path)));
            }
            let target = self.symlink_target(&next)?;
            if target.first() == Some(&b'/') {
                above.clear();
                at = self.root()?;
            }
            todo.extend(parts(&target).rev().map(<[u8]>::to_vec));
        }
        Ok(at)
    }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Where a walk stands: the path through directories alone, whatever links led there.
fn spelled(above: &[(InodeNr, Vec<u8>)]) -> String {
    let names: Vec<String> = above.iter().map(|(_, name)| shown(name)).collect();
    format!("/{}", names.join("/"))
}

fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|&b| b == b'/')
        .filter(|p| !p.is_empty() && *p != b".")
}
