//! Reading a directory as `getdents` does: by hash where there may be an index, by place
//! elsewhere.

use super::block::{self, Blocks, DirBlock, Expect};
use super::index::{self, Fault};
use super::{UNCHANGEABLE, entry, inline};
use crate::ext4::layout::{Compat, FileType, Incompat, InodeFlags};
use crate::ext4::read::HashVersion;
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::InodeNr;
use std::collections::VecDeque;

/// A name in a directory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The inode it names.
    pub inode: InodeNr,
    /// What the entry says it is; unknown without the filetype feature.
    pub file_type: FileType,
    /// The name.
    pub name: Vec<u8>,
}

/// Where reading a directory goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Next {
    /// At its start.
    #[default]
    Start,
    /// At the leaf of this hash.
    Hash(u32),
    /// At this block.
    Block(u64),
    /// Nowhere.
    End,
}

/// A place in a directory that is being read. What was read and not handed out yet is
/// kept, as Linux does.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    next: Next,
    ready: VecDeque<Entry>,
}

impl Cursor {
    /// The next name.
    pub fn next(&mut self, vol: &mut Volume, dir: &InodeInfo) -> Result<Option<Entry>> {
        while self.ready.is_empty() && self.next != Next::End {
            self.fill(vol, dir)?;
        }
        Ok(self.ready.pop_front())
    }

    fn fill(&mut self, vol: &mut Volume, dir: &InodeInfo) -> Result<()> {
        let hashed = vol.has_compat(Compat::DIR_INDEX) && !dir.has(UNCHANGEABLE);
        match self.next {
            Next::End => Ok(()),
            Next::Start if dir.has(InodeFlags::INLINE_DATA) => {
                self.next = Next::End;
                self.ready.extend(inline::entries(vol, dir));
                Ok(())
            }
            Next::Start if hashed && block::is_indexed(vol, dir) => self.by_hash(vol, dir, 0),
            Next::Start if hashed && block::blocks(vol, dir) == 1 => self.only_block(vol, dir),
            Next::Start => self.by_block(vol, dir, 0),
            // The index is gone: nobody can tell where to go on.
            Next::Hash(_) if !block::is_indexed(vol, dir) => {
                self.next = Next::End;
                Ok(())
            }
            Next::Hash(hash) => self.by_hash(vol, dir, hash),
            Next::Block(lblk) => self.by_block(vol, dir, lblk),
        }
    }

    /// A directory of one block comes in the order of hashes, too.
    fn only_block(&mut self, vol: &mut Volume, dir: &InodeInfo) -> Result<()> {
        let Some(version) = index::hash_version(vol, vol.sb.s_def_hash_version()) else {
            return self.by_block(vol, dir, 0);
        };
        self.next = Next::End;
        let mut found = Vec::new();
        if let Some(block) = Blocks::from(vol, dir, 0).next(vol, dir, Expect::Any)? {
            collect(
                vol,
                dir,
                &block,
                |vol, name| index::hash_of(vol, version, name),
                &mut found,
            )?;
        }
        self.hand_out(found);
        Ok(())
    }

    fn by_block(&mut self, vol: &mut Volume, dir: &InodeInfo, lblk: u64) -> Result<()> {
        self.next = Next::End;
        let mut found = Vec::new();
        if let Some(block) = Blocks::from(vol, dir, lblk).next(vol, dir, Expect::Any)? {
            self.next = Next::Block(u64::from(block.lblk.0) + 1);
            collect(vol, dir, &block, |_, _| (0, 0), &mut found)?;
        }
        self.ready.extend(found.into_iter().map(|f| f.1));
        Ok(())
    }

    /// The names of the leaf of a hash and of those that go on from it.
    fn by_hash(&mut self, vol: &mut Volume, dir: &InodeInfo, hash: u32) -> Result<()> {
        match self.leaves(vol, dir, hash) {
            Ok(()) => Ok(()),
            Err(Fault::Fails(e)) => Err(e),
            // Linux gives up an index that makes no sense and begins anew.
            Err(Fault::BadIndex) if hash == 0 => self.by_block(vol, dir, 0),
            Err(Fault::BadIndex) => {
                self.next = Next::End;
                Ok(())
            }
        }
    }

    fn leaves(
        &mut self,
        vol: &mut Volume,
        dir: &InodeInfo,
        from: u32,
    ) -> std::result::Result<(), Fault> {
        let root = index::root(vol, dir)?;
        let (version, levels) = index::root_info(vol, dir, &root)?;
        let mut path = index::probe(vol, dir, &root, levels, from)?;
        let mut found = Vec::new();
        if from == 0 {
            // `.` and `..` stand before all others.
            collect(vol, dir, &root, dots, &mut found)?;
        }
        drop(root);
        self.next = Next::End;
        for _ in 0..block::blocks(vol, dir) {
            let leaf = block::read(vol, dir, path.leaf(), Expect::Leaf)?;
            self.leaf(vol, dir, &leaf, (version, from), &mut found)?;
            match index::next_leaf(vol, dir, &mut path, None)? {
                None => break,
                // Where the hash goes on, so do its names.
                Some(hash) if hash & 1 == 0 && !found.is_empty() && hash > from => {
                    self.next = Next::Hash(hash);
                    break;
                }
                Some(_) => {}
            }
        }
        self.hand_out(found);
        Ok(())
    }

    fn leaf(
        &self,
        vol: &mut Volume,
        dir: &InodeInfo,
        leaf: &DirBlock,
        (version, from): (HashVersion, u32),
        found: &mut Vec<Hashed>,
    ) -> Result<()> {
        let mut names = Vec::new();
        let hash = |vol: &Volume, name: &[u8]| index::hash_of(vol, version, name);
        collect(vol, dir, leaf, hash, &mut names)?;
        found.extend(names.into_iter().filter(|((hash, _), _)| *hash >= from));
        Ok(())
    }

    fn hand_out(&mut self, mut found: Vec<Hashed>) {
        found.sort_by_key(|f| f.0);
        self.ready.extend(found.into_iter().map(|f| f.1));
    }
}

/// An entry with its hash and the tie-breaker.
type Hashed = ((u32, u32), Entry);

fn dots(_: &Volume, name: &[u8]) -> (u32, u32) {
    (if name == b"." { 0 } else { 2 }, 0)
}

/// The entries in use of a block.
fn collect(
    vol: &mut Volume,
    dir: &InodeInfo,
    block: &DirBlock,
    hash: impl Fn(&Volume, &[u8]) -> (u32, u32),
    found: &mut Vec<Hashed>,
) -> Result<()> {
    let typed = vol.has_incompat(Incompat::FILETYPE);
    let (size, inodes) = (vol.block_size(), vol.geo.inodes);
    for slot in entry::Slots::new(&block.bytes, size) {
        if let Some(words) = slot.flaw(size, inodes) {
            // The rest of the block is left out, as Linux does.
            block::bad_entry(vol, dir, block.lblk, slot.at, words);
            break;
        }
        if slot.inode == 0 {
            continue;
        }
        let name = slot.name(&block.bytes);
        let entry = Entry {
            inode: InodeNr(slot.inode),
            file_type: if typed {
                FileType::from_dir_entry(slot.file_type)
            } else {
                FileType::Unknown
            },
            name: name.to_vec(),
        };
        found.push((hash(vol, name), entry));
    }
    Ok(())
}

/// All names of a directory, `.` and `..` among them, in the order that Linux gives.
pub fn entries(vol: &mut Volume, dir: &InodeInfo) -> Result<Vec<Entry>> {
    let mut cursor = Cursor::default();
    let mut all = Vec::new();
    while let Some(entry) = cursor.next(vol, dir)? {
        all.push(entry);
    }
    Ok(all)
}

/// Up to `most` further names.
pub fn read(
    vol: &mut Volume,
    dir: &InodeInfo,
    cursor: &mut Cursor,
    most: usize,
) -> Result<Vec<Entry>> {
    let mut names = Vec::new();
    while names.len() < most {
        let Some(entry) = cursor.next(vol, dir)? else {
            break;
        };
        names.push(entry);
    }
    Ok(names)
}
