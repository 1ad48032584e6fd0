//! Directories inside their inode: the parent's number, then entries to the end of
//! `i_block`, then entries in the value of an attribute. `.` is not stored.

use super::entry::{self, DIRECTORY, Slots};
use super::{Found, block, cursor, first_block};
use crate::ext4::layout::{FileType, InodeFlags};
use crate::kernel::{Errno, InodeInfo, Result, Volume, map, xattr};
use crate::units::{InodeNr, Lblk};
use std::ops::Range;

/// Where `i_block` is in an inode's slot.
const I_BLOCK: Range<usize> = 0x28..0x64;

/// The stretches of an inode's slot that hold entries.
fn parts(dir: &InodeInfo) -> [Range<usize>; 2] {
    let first = I_BLOCK.start + 4..I_BLOCK.end;
    [first, xattr::inline_value(dir).unwrap_or(0..0)]
}

fn parent(dir: &InodeInfo) -> InodeNr {
    let block = dir.i_block();
    InodeNr(u32::from_le_bytes([block[0], block[1], block[2], block[3]]))
}

/// The entry with a name: the stretch, and the place in it.
fn locate(vol: &Volume, dir: &InodeInfo, name: &[u8]) -> Option<(Range<usize>, entry::Place)> {
    parts(dir).into_iter().find_map(|part| {
        let bytes = dir.raw.0.get(part.clone())?;
        let place = entry::find(bytes, name, vol.block_size())?;
        let sound = place.slot.flaw(bytes.len(), vol.geo.inodes).is_none();
        sound.then_some((part, place))
    })
}

pub(super) fn lookup(vol: &Volume, dir: &InodeInfo, name: &[u8]) -> Option<Found> {
    let dot = |inode| Found {
        inode,
        file_type: block::stored_type(vol, DIRECTORY),
        lblk: Lblk(0),
    };
    match name {
        b"." => Some(dot(dir.nr)),
        b".." => Some(dot(parent(dir))),
        _ => locate(vol, dir, name).map(|(_, place)| super::found(vol, Lblk(0), &place.slot)),
    }
}

/// Takes a name away; the answer is where it led.
pub(super) fn remove(vol: &Volume, dir: &mut InodeInfo, name: &[u8]) -> Option<Found> {
    let (part, place) = locate(vol, dir, name)?;
    let bytes = dir.raw.0.get_mut(part)?;
    entry::erase(bytes, place, vol.block_size());
    Some(super::found(vol, Lblk(0), &place.slot))
}

/// Lets a name lead to another inode; the answer is the one before.
pub(super) fn replace(
    vol: &Volume,
    dir: &mut InodeInfo,
    name: &[u8],
    inode: InodeNr,
    file_type: u8,
) -> Option<InodeNr> {
    if name == b".." {
        let before = parent(dir);
        let mut block = dir.i_block();
        block[..4].copy_from_slice(&inode.0.to_le_bytes());
        dir.set_i_block(block);
        return Some(before);
    }
    let (part, place) = locate(vol, dir, name)?;
    let bytes = dir.raw.0.get_mut(part)?;
    entry::set_inode(bytes, place.slot.at, inode.0, file_type);
    Some(InodeNr(place.slot.inode))
}

/// The names other than `.` and `..`, as they are stored.
fn stored(vol: &Volume, dir: &InodeInfo) -> Vec<(Vec<u8>, InodeNr, u8)> {
    let mut all = Vec::new();
    for part in parts(dir) {
        let bytes = dir.raw.0.get(part).unwrap_or_default();
        for slot in Slots::new(bytes, vol.block_size()) {
            if slot.flaw(bytes.len(), vol.geo.inodes).is_some() {
                break;
            }
            if slot.inode != 0 {
                let name = slot.name(bytes).to_vec();
                all.push((name, InodeNr(slot.inode), slot.file_type));
            }
        }
    }
    all
}

pub(super) fn is_empty(vol: &Volume, dir: &InodeInfo) -> bool {
    stored(vol, dir).is_empty()
}

/// All names, `.` and `..` first.
pub(super) fn entries(vol: &Volume, dir: &InodeInfo) -> Vec<cursor::Entry> {
    let dots = [
        (b".".to_vec(), dir.nr, DIRECTORY),
        (b"..".to_vec(), parent(dir), DIRECTORY),
    ];
    dots.into_iter()
        .chain(stored(vol, dir))
        .map(|(name, inode, file_type)| cursor::Entry {
            inode,
            file_type: FileType::from_dir_entry(block::stored_type(vol, file_type)),
            name,
        })
        .collect()
}

/// Moves the entries to a block of the directory's own.
pub(super) fn to_block(vol: &mut Volume, dir: &mut InodeInfo) -> Result<()> {
    let names = stored(vol, dir);
    let dots = [(b".", dir.nr, DIRECTORY)];
    let parents = [(b"..", parent(dir), DIRECTORY)];
    let mut all: Vec<(&[u8], InodeNr, u8)> = Vec::with_capacity(names.len() + 2);
    all.extend(dots.iter().map(|d| (&d.0[..], d.1, d.2)));
    all.extend(parents.iter().map(|d| (&d.0[..], d.1, d.2)));
    all.extend(names.iter().map(|n| (&n.0[..], n.1, n.2)));
    let room: usize = all.iter().map(|n| entry::needed(n.0.len())).sum();
    if room > block::entries_end(vol) {
        return Err(Errno::ENOSPC);
    }
    let before = dir.clone();
    xattr::remove_inline_value(dir);
    dir.set_flag(InodeFlags::INLINE_DATA, false);
    map::init(vol, dir);
    block::set_size(dir, 0);
    let done = first_block(vol, dir, &all);
    if done.is_err() {
        *dir = before;
    }
    done
}
