//! Questions on the open filesystem.

use super::*;
use crate::worker::protocol::{Reply, VersionRow};
use fslab_engine::ext4::Error;
use fslab_engine::units::{BlockNr, GroupNr, InodeNr};
use fslab_engine::view::{DirView, Listing, OwnerInfo};

/// Most rows of a page of a directory.
const DIR_ROWS: usize = 500;
/// Most names of a directory that are kept, at some 70 bytes each.
const KEPT_NAMES: usize = 1 << 20;
/// Most groups of one answer.
const GROUPS: u32 = 4096;
/// Most paths of one answer.
const PATHS: usize = 1000;
/// Most bytes of one answer.
const BYTES: u32 = 4 << 20;

/// A reply and what goes with it, or a sentence on why there is none.
type Replied = Result<(Reply, Extra), String>;

impl Session {
    pub(super) fn answer(&self, query: Query) -> Replied {
        let fs = self.fs.as_ref().ok_or("No filesystem is open")?;
        let reply = match query {
            Query::Groups { from, count } => {
                let to = from.saturating_add(count.min(GROUPS));
                let rows = view::group_rows(fs, from..to);
                if rows.is_empty() {
                    fs.group(GroupNr(from)).map_err(words)?;
                }
                Reply::Groups(rows)
            }
            Query::Dir { inode, from } => {
                Reply::Dir(self.names(fs, InodeNr(inode), from).map_err(words)?)
            }
            Query::Inode { nr } => {
                Reply::Inode(Box::new(view::inode(fs, InodeNr(nr)).map_err(words)?))
            }
            Query::Map { nr } => Reply::Map(view::map(fs, InodeNr(nr)).map_err(words)?),
            Query::Block { nr } => {
                let block = view::block(fs, BlockNr(nr), self.owner(nr).as_ref());
                Reply::Block(Box::new(block.map_err(words)?))
            }
            Query::Versions { nr } => Reply::Versions(self.versions(nr)),
            Query::Version { nr, journal_block } => self.version(fs, nr, journal_block)?,
            Query::Journal => Reply::Journal(self.journal_view()?.map(Box::new)),
            Query::Search { text } => Reply::Found(view::search(fs, &text).map_err(words)?),
            Query::Paths { inodes } => {
                let some = inodes.iter().take(PATHS);
                Reply::Paths(some.map(|&nr| self.path(nr)).collect())
            }
            Query::Bytes { nr, offset, len } => return bytes(fs, nr, offset, len.min(BYTES)),
            Query::Claimants { nr } => Reply::Claimants(self.claimants(nr)),
        };
        Ok((reply, Extra::None))
    }

    /// A page of a directory, whose names are kept: a large one is asked for page by page.
    fn names(&self, fs: &Fs<Medium>, inode: InodeNr, from: u64) -> Result<DirView, Error> {
        let kept = self.listing.take().filter(|kept| kept.inode() == inode);
        let listing = match kept {
            Some(listing) => listing,
            None => Listing::read(fs, inode)?,
        };
        let page = listing.page(fs, from, DIR_ROWS);
        let small = listing.len() <= KEPT_NAMES;
        self.listing.replace(small.then_some(listing));
        Ok(page)
    }

    fn owner(&self, block: u64) -> Option<OwnerInfo> {
        let (map, names) = self.map.as_ref()?;
        OwnerInfo::find(map, names, block)
    }

    fn path(&self, inode: u32) -> Option<String> {
        let (_, names) = self.map.as_ref()?;
        names.path(inode).map(|path| view::escape(&path))
    }

    fn claimants(&self, block: u64) -> Vec<(u32, String)> {
        let Some((map, _)) = &self.map else {
            return Vec::new();
        };
        map.claimants(block)
            .take(100)
            .map(|c| (c.inode, c.kind.words().into()))
            .collect()
    }

    /// Older contents of a block, the latest first; none where there is no journal.
    fn versions(&self, nr: u64) -> Vec<VersionRow> {
        let Ok(open) = self.journal() else {
            return Vec::new();
        };
        let versions = open.journal.old_versions(BlockNr(nr));
        let row = |v: &fslab_engine::ext4::journal::Version| VersionRow {
            transaction: v.transaction,
            journal_block: v.journal_block,
            replayed: v.replayed,
        };
        versions.iter().rev().map(row).collect()
    }

    fn version(&self, fs: &Fs<Medium>, nr: u64, journal_block: u32) -> Result<Reply, String> {
        let open = self.journal()?;
        let versions = open.journal.old_versions(BlockNr(nr));
        let wanted = versions.iter().find(|v| v.journal_block == journal_block);
        let version = wanted.ok_or_else(|| {
            format!("Block {journal_block} of the journal holds no copy of block {nr}")
        })?;
        let bytes = open
            .journal
            .read_version(&open.medium, version)
            .map_err(words)?;
        let block = view::decode_block(fs, BlockNr(nr), bytes, self.owner(nr).as_ref());
        Ok(Reply::Block(Box::new(block)))
    }
}

fn words(why: impl std::fmt::Display) -> String {
    why.to_string()
}

fn bytes(fs: &Fs<Medium>, nr: u32, offset: u64, len: u32) -> Replied {
    let inode = fs.inode(InodeNr(nr)).map_err(words)?;
    let content = fs.content(&inode);
    let mut buf = vec![0; len as usize];
    let n = fs.read_content(&content, offset, &mut buf).map_err(words)?;
    buf.truncate(n);
    Ok((Reply::Bytes { len: n as u32 }, Extra::Bytes(buf)))
}
