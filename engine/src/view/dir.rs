use super::fields::time_text;
use super::{DirRow, DirView, escape};
use crate::disk::ReadAt;
use crate::ext4::Error;
use crate::ext4::layout::{FileType, InodeFlags};
use crate::ext4::read::{DirEntry, Fs, InodeBuf};
use crate::units::InodeNr;

/// Most rows that are given at once.
const MOST: usize = 100_000;

/// The names in a directory from number `from` on, at most `most`.
pub fn dir<R: ReadAt>(fs: &Fs<R>, ino: InodeNr, from: u64, most: usize) -> Result<DirView, Error> {
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
    let total = entries.len() as u64;
    let encrypted = inode.flags().contains(InodeFlags::ENCRYPT);
    let skip = usize::try_from(from).unwrap_or(usize::MAX);
    let shown = entries.iter().skip(skip).take(most.min(MOST));
    Ok(DirView {
        inode: ino.0,
        rows: shown.map(|e| row(fs, e, encrypted)).collect(),
        from,
        total,
        parent,
        problems,
    })
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
