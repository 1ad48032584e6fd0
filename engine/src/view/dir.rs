use super::fields::time_text;
use super::{DirRow, DirView, escape};
use crate::disk::ReadAt;
use crate::ext4::layout::{FileType, InodeFlags};
use crate::ext4::read::{DirEntry, Fs, InodeBuf};
use crate::ext4::{Error, Problem};
use crate::units::InodeNr;

/// Most rows that are given at once.
const MOST: usize = 100_000;

/// The names in a directory from number `from` on, at most `most`.
pub fn dir<R: ReadAt>(fs: &Fs<R>, ino: InodeNr, from: u64, most: usize) -> Result<DirView, Error> {
    Ok(Listing::read(fs, ino)?.page(fs, from, most))
}

/// The names of a directory, read once for all its pages.
#[derive(Debug)]
pub struct Listing {
    inode: InodeNr,
    /// All but `.` and `..`.
    entries: Vec<DirEntry>,
    parent: Option<u32>,
    encrypted: bool,
    problems: Vec<Problem>,
}

impl Listing {
    /// Reads every name.
    pub fn read<R: ReadAt>(fs: &Fs<R>, ino: InodeNr) -> Result<Self, Error> {
        let inode = fs.inode(ino)?;
        if inode.file_type() != FileType::Directory {
            return Err(Error::NotADirectory(format!(
                "inode {ino}, a {},",
                inode.file_type().words()
            )));
        }
        let (mut entries, mut problems) = fs.read_dir(&inode);
        problems.extend(fs.inode_checksum_flaw(&inode));
        let parent = entries.iter().find(|e| e.name == b"..").map(|e| e.inode.0);
        entries.retain(|e| e.name != b"." && e.name != b"..");
        Ok(Self {
            inode: ino,
            entries,
            parent,
            encrypted: inode.flags().contains(InodeFlags::ENCRYPT),
            problems,
        })
    }

    /// The directory's inode.
    pub fn inode(&self) -> InodeNr {
        self.inode
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The names from number `from` on, at most `most`, each with what its inode says.
    pub fn page<R: ReadAt>(&self, fs: &Fs<R>, from: u64, most: usize) -> DirView {
        let skip = usize::try_from(from).unwrap_or(usize::MAX);
        let shown = self.entries.iter().skip(skip).take(most.min(MOST));
        DirView {
            inode: self.inode.0,
            rows: shown.map(|e| row(fs, e, self.encrypted)).collect(),
            from,
            total: self.entries.len() as u64,
            parent: self.parent,
            problems: self.problems.clone(),
        }
    }
}

fn row<R: ReadAt>(fs: &Fs<R>, entry: &DirEntry, encrypted: bool) -> DirRow {
    let mut row = DirRow {
        inode: entry.inode.0,
        name: escape(&entry.name),
        file_type: entry.file_type,
        mode: 0,
        uid: 0,
        gid: 0,
        links: 0,
        size: 0,
        mtime: String::new(),
        target: None,
        encrypted,
        lblk: entry.lblk,
    };
    let Ok(inode) = fs.inode(entry.inode) else {
        return row;
    };
    if inode.file_type() != FileType::Unknown {
        row.file_type = inode.file_type();
    }
    row.mode = inode.i_mode();
    (row.uid, row.gid) = (inode.uid(), inode.gid());
    (row.links, row.size) = (inode.i_links_count(), inode.size());
    row.mtime = time_text(inode.mtime());
    row.target = target(fs, &inode);
    row
}

/// The target of a symbolic link, escaped; `None` for other inodes, for one that cannot be
/// read and for one that is encrypted.
pub(super) fn target<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf) -> Option<String> {
    if inode.file_type() != FileType::Symlink || inode.flags().contains(InodeFlags::ENCRYPT) {
        return None;
    }
    fs.symlink_target(inode).ok().map(|t| escape(&t))
}
