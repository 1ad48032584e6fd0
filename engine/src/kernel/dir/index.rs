//! Finding in an htree: from the root down to the leaf of a hash.

use super::block::{self, DirBlock, Expect};
use super::{entry, node};
use crate::ext4::layout::Incompat;
use crate::ext4::read::{HashVersion, name_hash};
use crate::ext4::{Place, Problem};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Levels of nodes that a tree can have at most, its root included.
const MAX_LEVELS: usize = 3;
/// `s_flags`: names are hashed as unsigned characters.
const UNSIGNED_HASH: u32 = 2;
/// The last version of hash that an htree names on disk (TEA).
const LAST_VERSION: u8 = 2;

/// Levels of nodes that a tree of this filesystem can have, its root included.
pub(super) fn max_levels(vol: &Volume) -> usize {
    if vol.has_incompat(Incompat::LARGEDIR) {
        MAX_LEVELS
    } else {
        MAX_LEVELS - 1
    }
}

/// Why an htree cannot be gone through.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// It makes no sense; the names can still be found one by one.
    BadIndex,
    /// The call fails.
    Fails(Errno),
}

impl From<Errno> for Fault {
    fn from(e: Errno) -> Self {
        Self::Fails(e)
    }
}

/// A node on the way down, with the entry that was taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    pub at: BlockNr,
    pub lblk: Lblk,
    /// Where its entries begin, bytes.
    pub start: usize,
    pub count: usize,
    pub limit: usize,
    pub pos: usize,
    /// The block that the entry leads to.
    pub child: u32,
}

/// The way from the root to a leaf.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    frames: [Frame; MAX_LEVELS],
    len: usize,
}

impl Path {
    /// The way to the only leaf of a tree that was just made.
    pub fn new(root: Frame) -> Self {
        let mut frames = [Frame::default(); MAX_LEVELS];
        frames[0] = root;
        Self { frames, len: 1 }
    }

    pub fn frames(&self) -> &[Frame] {
        &self.frames[..self.len]
    }

    /// The lowest node.
    pub fn last(&self) -> &Frame {
        &self.frames[self.len - 1]
    }

    pub fn last_mut(&mut self) -> &mut Frame {
        &mut self.frames[self.len - 1]
    }

    /// The leaf that it leads to.
    pub fn leaf(&self) -> Lblk {
        Lblk(self.last().child)
    }
}

/// How names are hashed in a directory whose root says `byte`; `None` for no hash that
/// an htree may have here.
pub(super) fn hash_version(vol: &Volume, byte: u8) -> Option<HashVersion> {
    let unsigned = vol.sb.s_flags() & UNSIGNED_HASH != 0;
    HashVersion::from_disk(byte, unsigned).filter(|_| byte <= LAST_VERSION)
}

/// A name's hash and its tie-breaker.
pub(super) fn hash_of(vol: &Volume, version: HashVersion, name: &[u8]) -> (u32, u32) {
    name_hash(version, vol.sb.hash_seed(), name).unwrap_or_default()
}

fn bad(vol: &mut Volume, dir: &InodeInfo, lblk: Lblk, words: impl Into<String>) -> Fault {
    vol.warn(&Problem::other(
        Place::DirBlock(dir.nr, lblk.0.into()),
        words,
    ));
    Fault::BadIndex
}

/// What the root says: hash version and inner levels.
pub(super) fn root_info(
    vol: &mut Volume,
    dir: &InodeInfo,
    root: &DirBlock,
) -> std::result::Result<(HashVersion, usize), Fault> {
    let Some(info) = node::info(&root.bytes) else {
        return Err(Fault::BadIndex);
    };
    let Some(version) = hash_version(vol, info.hash_version()) else {
        let words = format!("has an unknown hash version {}", info.hash_version());
        return Err(bad(vol, dir, root.lblk, words));
    };
    let levels = usize::from(info.indirect_levels());
    if info.unused_flags() & 1 != 0 {
        return Err(bad(vol, dir, root.lblk, "has unknown htree flags"));
    }
    if levels >= max_levels(vol) {
        let words = format!("has {levels} levels of nodes below it, more than there may be");
        return Err(bad(vol, dir, root.lblk, words));
    }
    if info.info_length() != 8 {
        return Err(bad(vol, dir, root.lblk, "has an info_length other than 8"));
    }
    Ok((version, levels))
}

/// Reads the root of a directory's htree.
pub(super) fn root(vol: &mut Volume, dir: &InodeInfo) -> Result<DirBlock> {
    block::read(vol, dir, Lblk(0), Expect::Node)
}

/// Takes the entry of a hash in a node.
fn step(
    vol: &mut Volume,
    dir: &InodeInfo,
    block: &DirBlock,
    start: usize,
    hash: u32,
) -> std::result::Result<Frame, Fault> {
    let (limit, count) = node::limit_count(&block.bytes, start);
    let fits = node::fits(vol.block_size(), start, vol.has_csum());
    if limit != fits {
        let words = format!("has a limit of {limit} htree entries where {fits} fit");
        return Err(bad(vol, dir, block.lblk, words));
    }
    if count == 0 || count > limit {
        let words = format!("has {count} htree entries of {limit}");
        return Err(bad(vol, dir, block.lblk, words));
    }
    let pos = node::search(&block.bytes, start, count, hash);
    Ok(Frame {
        at: block.at,
        lblk: block.lblk,
        start,
        count,
        limit,
        pos,
        child: node::child(&block.bytes, start, pos),
    })
}

/// The way to the leaf where a hash belongs.
pub(super) fn probe(
    vol: &mut Volume,
    dir: &InodeInfo,
    root: &DirBlock,
    levels: usize,
    hash: u32,
) -> std::result::Result<Path, Fault> {
    let mut path = Path::new(step(vol, dir, root, node::ROOT_ENTRIES, hash)?);
    loop {
        let child = path.last().child;
        if path.frames().iter().any(|f| f.lblk.0 == child) {
            let words = format!("leads back to block {child} of its htree");
            return Err(bad(vol, dir, path.last().lblk, words));
        }
        if path.len > levels {
            return Ok(path);
        }
        let block = block::read(vol, dir, Lblk(child), Expect::Node)?;
        path.frames[path.len] = step(vol, dir, &block, node::NODE_ENTRIES, hash)?;
        path.len += 1;
    }
}

/// Goes on to the next leaf. The answer is its first hash, or `None` at the end. With
/// `only`, it goes there only where that hash goes on.
pub(super) fn next_leaf(
    vol: &mut Volume,
    dir: &InodeInfo,
    path: &mut Path,
    only: Option<u32>,
) -> Result<Option<u32>> {
    let Some(level) = (0..path.len).rfind(|&l| path.frames[l].pos + 1 < path.frames[l].count)
    else {
        return Ok(None);
    };
    let frame = path.frames[level];
    let bytes = vol.block(frame.at)?;
    let hash = node::hash(&bytes, frame.start, frame.pos + 1);
    if only.is_some_and(|only| hash & !1 != only) {
        return Ok(None);
    }
    path.frames[level].pos += 1;
    path.frames[level].child = node::child(&bytes, frame.start, frame.pos + 1);
    for below in level + 1..path.len {
        let lblk = Lblk(path.frames[below - 1].child);
        let block = block::read(vol, dir, lblk, Expect::Node)?;
        let start = node::NODE_ENTRIES;
        let (limit, count) = node::limit_count(&block.bytes, start);
        path.frames[below] = Frame {
            at: block.at,
            lblk,
            start,
            limit,
            count: count.min(node::fits(vol.block_size(), start, vol.has_csum())),
            pos: 0,
            child: node::child(&block.bytes, start, 0),
        };
    }
    Ok(Some(hash))
}

/// Looks for a name in the leaves where its hash may be.
pub(super) fn find(
    vol: &mut Volume,
    dir: &InodeInfo,
    name: &[u8],
) -> std::result::Result<Option<(DirBlock, entry::Place)>, Fault> {
    let root = root(vol, dir)?;
    let (version, levels) = root_info(vol, dir, &root)?;
    let (hash, _) = hash_of(vol, version, name);
    let mut path = probe(vol, dir, &root, levels, hash)?;
    let (size, inodes) = (vol.block_size(), vol.geo.inodes);
    // Each leaf comes once: a tree has no more than the directory has blocks.
    for _ in 0..block::blocks(vol, dir) {
        let leaf = block::read(vol, dir, path.leaf(), Expect::Leaf)?;
        if let Some(place) = entry::find(&leaf.bytes, name, size) {
            if let Some(words) = place.slot.flaw(size, inodes) {
                block::bad_entry(vol, dir, leaf.lblk, place.slot.at, words);
                return Err(Fault::BadIndex);
            }
            return Ok(Some((leaf, place)));
        }
        if next_leaf(vol, dir, &mut path, Some(hash))?.is_none() {
            break;
        }
    }
    Ok(None)
}
