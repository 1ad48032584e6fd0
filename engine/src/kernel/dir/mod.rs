//! Names in directories: linear ones, hashed ones, and those inside the inode.
//!
//! Times, link counts and versions are the caller's affair, as is writing the inode
//! back.

mod block;
mod cursor;
mod entry;
mod grow;
mod index;
mod inline;
mod linear;
mod node;
#[cfg(test)]
mod tests;

pub use cursor::{Cursor, Entry, entries, read};

use super::{Errno, InodeInfo, Result, Volume};
use crate::event::What;
use crate::ext4::layout::{InodeFlags, NAME_MAX};
use crate::units::{InodeNr, Lblk};
use block::DirBlock;
use entry::{New, Place};
use index::Fault;

/// Where a name leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// The inode.
    pub inode: InodeNr,
    /// What the entry says it is: 1 file, 2 directory, …; 0 without the filetype feature.
    pub file_type: u8,
    /// The block of the directory that has the entry.
    pub lblk: Lblk,
}

/// Names of these directories are hashed or kept in a way that fslab only reads.
const UNCHANGEABLE: InodeFlags = InodeFlags::CASEFOLD.union(InodeFlags::ENCRYPT);

fn found(vol: &Volume, lblk: Lblk, slot: &entry::Slot) -> Found {
    Found {
        inode: InodeNr(slot.inode),
        file_type: block::stored_type(vol, slot.file_type),
        lblk,
    }
}

fn check_name(name: &[u8]) -> Result<()> {
    if name.is_empty() {
        Err(Errno::EINVAL)
    } else if name.len() > NAME_MAX {
        Err(Errno::ENAMETOOLONG)
    } else {
        Ok(())
    }
}

fn check_changeable(dir: &InodeInfo) -> Result<()> {
    if dir.has(UNCHANGEABLE) {
        Err(Errno::EOPNOTSUPP)
    } else {
        Ok(())
    }
}

/// The entry with a name in a directory that has blocks.
fn locate(vol: &mut Volume, dir: &InodeInfo, name: &[u8]) -> Result<Option<(DirBlock, Place)>> {
    if matches!(name, b"." | b"..") {
        return linear::find_dot(vol, dir, name);
    }
    if block::is_indexed(vol, dir) && !dir.has(UNCHANGEABLE) {
        match index::find(vol, dir, name) {
            Ok(found) => return Ok(found),
            Err(Fault::Fails(e)) => return Err(e),
            Err(Fault::BadIndex) => {}
        }
    }
    linear::find(vol, dir, name)
}

/// Where a name leads; `None` where it is not.
pub fn lookup(vol: &mut Volume, dir: &InodeInfo, name: &[u8]) -> Result<Option<Found>> {
    if name.len() > NAME_MAX {
        return Ok(None);
    }
    if dir.has(InodeFlags::INLINE_DATA) {
        return Ok(inline::lookup(vol, dir, name));
    }
    let place = locate(vol, dir, name)?;
    Ok(place.map(|(block, place)| found(vol, block.lblk, &place.slot)))
}

/// Adds a name. EEXIST is given only where the name is met by chance.
pub fn add(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    name: &[u8],
    inode: InodeNr,
    file_type: u8,
) -> Result<()> {
    check_name(name)?;
    check_changeable(dir)?;
    if dir.has(InodeFlags::INLINE_DATA) {
        inline::to_block(vol, dir)?;
    }
    let new = New {
        inode: inode.0,
        file_type: block::stored_type(vol, file_type),
        name,
    };
    let lblk = add_to_blocks(vol, dir, new)?;
    let dir = dir.nr;
    vol.events.emit(|| What::NameAdded {
        dir,
        name: name.to_vec(),
        inode,
        lblk,
    });
    Ok(())
}

fn add_to_blocks(vol: &mut Volume, dir: &mut InodeInfo, new: New<'_>) -> Result<Lblk> {
    if !block::is_indexed(vol, dir) {
        // Without the feature nobody keeps the index right.
        dir.set_flag(InodeFlags::INDEX, false);
        return linear::add(vol, dir, new, false);
    }
    match grow::add(vol, dir, new) {
        Ok(lblk) => Ok(lblk),
        Err(Fault::Fails(e)) => Err(e),
        Err(Fault::BadIndex) if vol.has_csum() => {
            Err(block::damaged(vol, dir, Lblk(0), "has a damaged htree"))
        }
        Err(Fault::BadIndex) => {
            dir.set_flag(InodeFlags::INDEX, false);
            linear::add(vol, dir, new, true)
        }
    }
}

/// Takes a name away; the answer is where it led.
pub fn remove(vol: &mut Volume, dir: &mut InodeInfo, name: &[u8]) -> Result<Option<Found>> {
    check_changeable(dir)?;
    let gone = if dir.has(InodeFlags::INLINE_DATA) {
        inline::remove(vol, dir, name)
    } else {
        match locate(vol, dir, name)? {
            None => None,
            Some((block, place)) => {
                let gone = found(vol, block.lblk, &place.slot);
                let (to, size) = ((block.at, block.is_node), vol.block_size());
                drop(block);
                block::change_any(vol, dir, to, |bytes| entry::erase(bytes, place, size))?;
                Some(gone)
            }
        }
    };
    if let Some(gone) = &gone {
        let (dir, inode) = (dir.nr, gone.inode);
        vol.events.emit(|| What::NameRemoved {
            dir,
            name: name.to_vec(),
            inode,
        });
    }
    Ok(gone)
}

/// Lets a name lead to another inode.
pub fn replace(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    name: &[u8],
    inode: InodeNr,
    file_type: u8,
) -> Result<()> {
    check_changeable(dir)?;
    lead_to(vol, dir, name, inode, file_type)
}

/// Lets `..` lead to another directory.
pub fn set_parent(vol: &mut Volume, dir: &mut InodeInfo, parent: InodeNr) -> Result<()> {
    lead_to(vol, dir, b"..", parent, entry::DIRECTORY)
}

fn lead_to(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    name: &[u8],
    inode: InodeNr,
    file_type: u8,
) -> Result<()> {
    let file_type = block::stored_type(vol, file_type);
    let from = if dir.has(InodeFlags::INLINE_DATA) {
        inline::replace(vol, dir, name, inode, file_type).ok_or(Errno::ENOENT)?
    } else {
        let (block, place) = locate(vol, dir, name)?.ok_or(Errno::ENOENT)?;
        let to = (block.at, block.is_node);
        drop(block);
        let at = place.slot.at;
        block::change_any(vol, dir, to, |bytes| {
            entry::set_inode(bytes, at, inode.0, file_type);
        })?;
        InodeNr(place.slot.inode)
    };
    let dir = dir.nr;
    vol.events.emit(|| What::NameReplaced {
        dir,
        name: name.to_vec(),
        from,
        to: inode,
    });
    Ok(())
}

/// Gives a new directory its first block, with `.` and `..`.
pub fn init(vol: &mut Volume, dir: &mut InodeInfo, parent: InodeNr) -> Result<()> {
    block::set_size(dir, 0);
    let dots = [(&b"."[..], dir.nr), (b"..", parent)];
    first_block(
        vol,
        dir,
        &dots.map(|(name, inode)| (name, inode, entry::DIRECTORY)),
    )
}

/// Gives a directory without blocks a first one with these entries.
fn first_block(
    vol: &mut Volume,
    dir: &mut InodeInfo,
    entries: &[(&[u8], InodeNr, u8)],
) -> Result<()> {
    let (_, at, mut slot) = grow::empty_leaf(vol, dir)?;
    for &(name, inode, file_type) in entries {
        let new = New {
            inode: inode.0,
            file_type: block::stored_type(vol, file_type),
            name,
        };
        block::insert(vol, dir, at, slot, new)?;
        if slot.inode != 0 {
            let own = entry::needed(slot.name_len);
            slot.at += own;
            slot.rec_len -= own.min(slot.rec_len);
        }
        (slot.inode, slot.name_len) = (inode.0, name.len());
    }
    Ok(())
}

/// Whether there is nothing but `.` and `..`.
pub fn is_empty(vol: &mut Volume, dir: &InodeInfo) -> Result<bool> {
    if dir.has(InodeFlags::INLINE_DATA) {
        return Ok(inline::is_empty(vol, dir));
    }
    linear::is_empty(vol, dir)
}
