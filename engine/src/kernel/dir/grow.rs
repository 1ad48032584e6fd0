//! Adding to an htree: leaves are split by hash, nodes by half, and the tree grows.

use super::block::{self, DirBlock, Expect};
use super::entry::{self, New, Room, Slot};
use super::index::{self, Fault, Frame, Path};
use super::node;
use crate::event::{Meta, What};
use crate::ext4::layout::InodeFlags;
use crate::ext4::read::HashVersion;
use crate::ext4::{Place, Problem};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Looks for room for a name in a block of entries.
pub(super) fn room(
    vol: &mut Volume,
    dir: &InodeInfo,
    leaf: &DirBlock,
    name: &[u8],
) -> Result<Option<Slot>> {
    let end = block::entries_end(vol);
    let entries = leaf.bytes.get(..end).unwrap_or_default();
    match entry::room(entries, name, vol.block_size(), vol.geo.inodes) {
        Room::At(slot) => Ok(Some(slot)),
        Room::Full => Ok(None),
        Room::Exists => Err(Errno::EEXIST),
        Room::Bad(at, words) => Err(block::bad_entry(vol, dir, leaf.lblk, at, words)),
    }
}

/// Adds a name; the answer is the block that it went to.
pub(super) fn add(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    new: New<'_>,
) -> std::result::Result<Lblk, Fault> {
    // Each round without an answer makes the tree's way longer or splits a node on it.
    for _ in 0..=2 * index::max_levels(vol) {
        let root = index::root(vol, dir)?;
        let (version, levels) = index::root_info(vol, dir, &root)?;
        let (hash, _) = index::hash_of(vol, version, new.name);
        let mut path = index::probe(vol, dir, &root, levels, hash)?;
        drop(root);
        let leaf = block::read(vol, dir, path.leaf(), Expect::Leaf)?;
        if let Some(slot) = room(vol, dir, &leaf, new.name)? {
            let DirBlock { lblk, at, .. } = leaf;
            drop(leaf.bytes);
            block::insert(vol, dir, at, slot, new)?;
            return Ok(lblk);
        }
        let full = path.last().count >= path.last().limit;
        if !full || split_node(vol, dir, &mut path)? {
            return Ok(split_leaf(vol, dir, &path, (version, hash), leaf, new)?);
        }
    }
    Err(Fault::Fails(Errno::ENOSPC))
}

/// Makes room in a full lowest node. `false`: the way is another one now.
fn split_node(vol: &mut Volume, dir: &mut InodeInfo, path: &mut Path) -> Result<bool> {
    let frames = path.frames();
    let depth = frames.len();
    let Some(above) = frames.iter().rposition(|f| f.count < f.limit) else {
        if depth >= index::max_levels(vol) {
            let words = "has an htree that is full and may have no more levels";
            vol.warn(&Problem::other(Place::Inode(dir.nr), words));
            return Err(Errno::ENOSPC);
        }
        add_level(vol, dir, frames[0])?;
        return Ok(false);
    };
    let (above, frame) = (frames[above], frames[above + 1]);
    let lowest = path.last().lblk == frame.lblk;
    let half = halve(vol, dir, above, frame)?;
    if lowest {
        *path.last_mut() = half;
    }
    Ok(lowest)
}

/// Moves the second half of a node's entries to a new one, with an entry in the node
/// above. The answer is the half where the way goes on.
fn halve(vol: &mut Volume, dir: &mut InodeInfo, above: Frame, frame: Frame) -> Result<Frame> {
    let csum = vol.has_csum();
    let (lblk, at) = block::append(vol, dir)?;
    let first = frame.count / 2;
    let bytes = vol.block(frame.at)?;
    let hash = node::hash(&bytes, frame.start, first);
    let moved = node::entries(&bytes, frame.start, first, frame.count).to_vec();
    drop(bytes);
    vol.fresh(at, Meta::Htree, dir.nr)?;
    block::change_node(vol, dir, at, |new| node::make_inner(new, &moved, csum))?;
    block::change_node(vol, dir, frame.at, |b| {
        node::set_count(b, frame.start, first);
    })?;
    block::change_node(vol, dir, above.at, |b| {
        node::insert(b, above.start, above.pos, hash, lblk.0)
    })?;
    let dir = dir.nr;
    vol.events.emit(|| What::DirBlockSplit {
        dir,
        from: frame.lblk,
        to: lblk,
    });
    let in_first = frame.pos < first;
    Ok(if in_first {
        Frame {
            count: first,
            ..frame
        }
    } else {
        Frame {
            at,
            lblk,
            start: node::NODE_ENTRIES,
            count: frame.count - first,
            pos: frame.pos - first,
            ..frame
        }
    })
}

/// Moves the root's entries to a new node below it.
fn add_level(vol: &mut Volume, dir: &mut InodeInfo, root: Frame) -> Result<()> {
    let csum = vol.has_csum();
    let (lblk, at) = block::append(vol, dir)?;
    let bytes = vol.block(root.at)?;
    let moved = node::entries(&bytes, root.start, 0, root.count).to_vec();
    let levels = node::info(&bytes).map_or(0, |i| i.indirect_levels()) + 1;
    drop(bytes);
    vol.fresh(at, Meta::Htree, dir.nr)?;
    block::change_node(vol, dir, at, |new| node::make_inner(new, &moved, csum))?;
    block::change_node(vol, dir, root.at, |bytes| {
        node::set_only(bytes, lblk.0, root.limit);
        node::set_levels(bytes, levels);
    })?;
    let dir = dir.nr;
    vol.events.emit(|| What::HtreeGrew { dir, levels });
    Ok(())
}

/// An entry of a leaf that is being split.
struct Hashed {
    hash: u32,
    slot: Slot,
}

/// The entries in use, by their hashes.
fn hashed(
    vol: &mut Volume,
    dir: &InodeInfo,
    leaf: &DirBlock,
    version: HashVersion,
) -> Result<Vec<Hashed>> {
    let (size, end, inodes) = (vol.block_size(), block::entries_end(vol), vol.geo.inodes);
    let entries = leaf.bytes.get(..end).unwrap_or_default();
    let mut all = Vec::new();
    for slot in entry::Slots::new(entries, size) {
        if let Some(words) = slot.flaw(end, inodes) {
            return Err(block::bad_entry(vol, dir, leaf.lblk, slot.at, words));
        }
        if slot.inode != 0 && slot.name_len != 0 {
            let (hash, _) = index::hash_of(vol, version, slot.name(entries));
            all.push(Hashed { hash, slot });
        }
    }
    all.sort_by_key(|e| e.hash);
    Ok(all)
}

/// The first entry that goes to the new block: from the end on as many as fill half of
/// one; half of them by number where all do not.
fn split_point(all: &[Hashed], block_size: usize) -> usize {
    let mut size = 0;
    for (i, e) in all.iter().enumerate().rev() {
        if size + e.slot.rec_len / 2 > block_size / 2 {
            return i + 1;
        }
        size += e.slot.rec_len;
    }
    all.len() / 2
}

/// Packs entries from the start of a block of zeros on; the last one reaches to the end.
/// The answer is the last one.
fn pack<'a>(
    to: &mut [u8],
    end: usize,
    from: &[u8],
    slots: impl Iterator<Item = &'a Slot>,
) -> Option<Slot> {
    let size = to.len();
    let mut at = 0;
    let mut last = None;
    for slot in slots {
        let new = New {
            inode: slot.inode,
            file_type: slot.file_type,
            name: slot.name(from),
        };
        let rec_len = entry::needed(slot.name_len);
        entry::write(to, at, rec_len, new, size);
        last = Some(Slot {
            at,
            rec_len,
            ..*slot
        });
        at += rec_len;
    }
    let mut last = last?;
    last.rec_len = end.saturating_sub(last.at);
    entry::set_rec_len(to, last.at, last.rec_len, size);
    Some(last)
}

/// Splits a full leaf by hash and puts a new name into the half where it belongs; the
/// answer is that half.
fn split_leaf(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    path: &Path,
    (version, hash): (HashVersion, u32),
    leaf: DirBlock,
    new: New<'_>,
) -> Result<Lblk> {
    let all = hashed(vol, dir, &leaf, version)?;
    let split = split_point(&all, vol.block_size());
    let (Some(before), Some(first)) = (
        split.checked_sub(1).and_then(|i| all.get(i)),
        all.get(split),
    ) else {
        let words = "is full, but has no two names to split it between";
        return Err(block::damaged(vol, dir, leaf.lblk, words));
    };
    let (border, goes_on) = (first.hash, first.hash == before.hash);
    let (lblk, at) = block::append(vol, dir)?;
    let end = block::entries_end(vol);
    let old = leaf.bytes;
    vol.fresh(at, Meta::Directory, dir.nr)?;
    let moved = all[split..].iter().map(|e| &e.slot);
    let last_moved = block::change_leaf(vol, dir, at, |to| pack(to, end, &old, moved))?;
    // What stays keeps its order in the block.
    let mut stay: Vec<Slot> = all[..split].iter().map(|e| e.slot).collect();
    stay.sort_by_key(|s| s.at);
    let last = block::change_leaf(vol, dir, leaf.at, |to| {
        to.fill(0);
        pack(to, end, &old, stay.iter())
    })?;
    drop(old);
    let frame = *path.last();
    let link = border | u32::from(goes_on);
    block::change_node(vol, dir, frame.at, |b| {
        node::insert(b, frame.start, frame.pos, link, lblk.0)
    })?;
    let nr = dir.nr;
    vol.events.emit(|| What::DirBlockSplit {
        dir: nr,
        from: leaf.lblk,
        to: lblk,
    });
    let (lblk, at, last) = if hash >= border {
        (lblk, at, last_moved)
    } else {
        (leaf.lblk, leaf.at, last)
    };
    let needed = entry::needed(new.name.len());
    match last {
        Some(last) if last.rec_len >= entry::needed(last.name_len) + needed => {
            block::insert(vol, dir, at, last, new)?;
            Ok(lblk)
        }
        _ => Err(block::damaged(vol, dir, lblk, "has no room after a split")),
    }
}

/// Makes an index of a directory whose only block is full, and adds a name; the answer
/// is the block that it went to.
pub(super) fn make_index(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    first: DirBlock,
    new: New<'_>,
) -> Result<Lblk> {
    let byte = vol.sb.s_def_hash_version();
    let Some(version) = index::hash_version(vol, byte) else {
        let expected = "0, 1 or 2";
        let problem = Problem::value(Place::Superblock, "s_def_hash_version", byte, expected);
        return Err(vol.corrupt(problem));
    };
    let slots = names_behind_dots(vol, dir, &first)?;
    let (lblk, at) = block::append(vol, dir)?;
    let (csum, end) = (vol.has_csum(), block::entries_end(vol));
    let old = first.bytes;
    vol.fresh(at, Meta::Directory, dir.nr)?;
    block::change_leaf(vol, dir, at, |to| shift(to, end, &old, &slots))?;
    drop(old);
    dir.set_flag(InodeFlags::INDEX, true);
    block::change_node(vol, dir, first.at, |b| node::make_root(b, byte, csum))?;
    let nr = dir.nr;
    vol.events.emit(|| What::HtreeGrew { dir: nr, levels: 0 });
    let path = Path::new(Frame {
        at: first.at,
        lblk: first.lblk,
        start: node::ROOT_ENTRIES,
        count: 1,
        limit: node::fits(vol.block_size(), node::ROOT_ENTRIES, csum),
        pos: 0,
        child: lblk.0,
    });
    let (hash, _) = index::hash_of(vol, version, new.name);
    let leaf = block::read_at(vol, dir, lblk, at, Expect::Leaf)?;
    split_leaf(vol, dir, &path, (version, hash), leaf, new)
}

/// What comes after `.` and `..` in a directory's first block, checked.
fn names_behind_dots(vol: &mut Volume, dir: &InodeInfo, first: &DirBlock) -> Result<Vec<Slot>> {
    let (size, end, inodes) = (vol.block_size(), block::entries_end(vol), vol.geo.inodes);
    let entries = first.bytes.get(..end).unwrap_or_default();
    let mut slots = Vec::new();
    for slot in entry::Slots::new(entries, size) {
        if let Some(words) = slot.flaw(end, inodes) {
            return Err(block::bad_entry(vol, dir, first.lblk, slot.at, words));
        }
        slots.push(slot);
    }
    let dots = slots.len() > 2
        && slots[0].name(entries) == b"."
        && slots[0].rec_len == entry::DOT
        && slots[1].name(entries) == b".."
        // A name removed behind it leaves its room to it.
        && slots[1].rec_len >= entry::DOT;
    if !dots {
        let words = "does not begin with entries for . and .. and a name";
        return Err(block::damaged(vol, dir, first.lblk, words));
    }
    Ok(slots.split_off(2))
}

/// Moves entries as they are to the start of a block; the last one reaches to the end.
fn shift(to: &mut [u8], end: usize, from: &[u8], slots: &[Slot]) {
    let (Some(first), Some(last)) = (slots.first(), slots.last()) else {
        return;
    };
    if let Some(bytes) = from.get(first.at..end)
        && let Some(room) = to.get_mut(..bytes.len())
    {
        room.copy_from_slice(bytes);
        let at = last.at - first.at;
        entry::set_rec_len(to, at, end - at, to.len());
    }
}

/// Block and number of a new block of entries with room for anything.
pub(super) fn empty_leaf(vol: &mut Volume, dir: &mut InodeInfo) -> Result<(Lblk, BlockNr, Slot)> {
    let (lblk, at) = block::append(vol, dir)?;
    let (size, end) = (vol.block_size(), block::entries_end(vol));
    vol.fresh(at, Meta::Directory, dir.nr)?;
    block::change_leaf(vol, dir, at, |b| entry::set_rec_len(b, 0, end, size))?;
    let slot = Slot {
        at: 0,
        inode: 0,
        rec_len: end,
        name_len: 0,
        file_type: 0,
    };
    Ok((lblk, at, slot))
}
