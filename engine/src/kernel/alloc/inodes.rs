//! Inodes: marks of those that are used, and of those that are not any more.

use super::flex::Counts;
use super::orlov;
use super::{State, bits, group};
use crate::event::{Meta, What};
use crate::ext4::layout::{FileType, GroupDesc, GroupFlags};
use crate::ext4::{Place, Problem};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{GroupNr, InodeNr};

/// Takes an inode for a new name in a directory. Its slot in the table is the caller's to
/// write.
pub fn new_inode(
    vol: &mut Volume,
    dir: Option<&InodeInfo>,
    mode: u16,
    name: &[u8],
) -> Result<InodeNr> {
    vol.check_writable()?;
    Counts::prepare(vol)?;
    let is_dir = FileType::from_mode(mode) == FileType::Directory;
    let parent = dir.map_or(InodeNr(2), |d| d.nr);
    let topdir = dir.is_none_or(orlov::is_top);
    let group = orlov::group_for(vol, parent, is_dir, topdir, name)?.ok_or(Errno::ENOSPC)?;
    vol.alloc.last_groups.insert(parent.0, group.0);
    let groups = vol.geo.groups;
    for i in 0..groups {
        let g = GroupNr(((u64::from(group.0) + u64::from(i)) % u64::from(groups)) as u32);
        if let Some(bit) = free_bit(vol, g)? {
            return take(vol, g, bit, mode);
        }
    }
    Err(Errno::ENOSPC)
}

/// The first free inode of a group.
fn free_bit(vol: &mut Volume, g: GroupNr) -> Result<Option<u32>> {
    if vol.desc(g)?.free_inodes() == 0 {
        return Ok(None);
    }
    let map = match group::inode_bitmap(vol, g) {
        Ok(map) => map,
        // Damage was noted: the group is passed over.
        Err(Errno::EFSCORRUPTED) if !vol.read_only => return Ok(None),
        Err(e) => return Err(e),
    };
    let count = vol.geo.inodes_per_group;
    let bit = bits::next_zero(&map, 0, count);
    if bit >= count {
        return Ok(None);
    }
    if g.0 == 0 && bit + 1 < vol.geo.first_inode {
        vol.alloc.mark(g, State::BAD_INODES);
        vol.corrupt(Problem::other(
            Place::InodeBitmap(g),
            "does not mark the reserved inodes",
        ));
        vol.check_writable()?;
        return Ok(None);
    }
    Ok(Some(bit))
}

/// Marks an inode as used.
pub(super) fn take(vol: &mut Volume, g: GroupNr, bit: u32, mode: u16) -> Result<InodeNr> {
    let mut d = if group::has_uninit(vol) {
        // A group that has inodes has its bitmap of blocks as well.
        group::settle_blocks(vol, g)?
    } else {
        vol.desc(g)?
    };
    if group::has_uninit(vol) {
        settle_inodes(vol, g, &mut d, bit)?;
    }
    set_bit(vol, &mut d, bit, true)?;
    let free = d.free_inodes().saturating_sub(1);
    group::set_free_inodes(vol, &mut d, free);
    let is_dir = FileType::from_mode(mode) == FileType::Directory;
    if is_dir {
        let dirs = d.used_dirs().saturating_add(1);
        group::set_used_dirs(vol, &mut d, dirs);
        vol.dirs = vol.dirs.saturating_add(1);
    }
    vol.set_desc(g, &d)?;
    vol.free_inodes = vol.free_inodes.saturating_sub(1);
    vol.alloc.count_inode(g, true, is_dir);
    let inode = vol.geo.inodes_per_group.saturating_mul(g.0);
    let inode = InodeNr(inode.saturating_add(bit + 1));
    vol.events.emit(|| What::InodeAllocated {
        inode,
        group: g,
        mode,
    });
    Ok(inode)
}

/// Makes sure that a group's inode bitmap is on disk, and that the part of the table that
/// was never used ends before a bit.
fn settle_inodes(
    vol: &mut Volume,
    g: GroupNr,
    d: &mut GroupDesc<[u8; 64]>,
    bit: u32,
) -> Result<()> {
    let count = vol.geo.inodes_per_group;
    let mut used = count.saturating_sub(d.itable_unused());
    let mut flags = d.flags();
    if flags.contains(GroupFlags::INODE_UNINIT) {
        let map = group::inode_bitmap(vol, g)?;
        let at = d.inode_bitmap();
        if !vol.geo.holds(at, 1) {
            let expected = "a block of the filesystem";
            let problem = Problem::value(Place::Group(g), "bg_inode_bitmap", at.0, expected);
            return Err(vol.corrupt(problem));
        }
        vol.fresh(at, Meta::InodeBitmap, InodeNr(0))?
            .copy_from_slice(&map);
        flags.remove(GroupFlags::INODE_UNINIT);
        d.set_bg_flags(flags.bits());
        vol.alloc.mark(g, State::INODES_CHECKED);
        used = 0;
    }
    if bit >= used {
        group::set_itable_unused(vol, d, count.saturating_sub(bit + 1));
    }
    Ok(())
}

/// Sets or clears an inode's bit, and the bitmap's checksum in the descriptor.
fn set_bit(vol: &mut Volume, d: &mut GroupDesc<[u8; 64]>, bit: u32, on: bool) -> Result<()> {
    let at = d.inode_bitmap();
    let map = vol.change(at, Meta::InodeBitmap, InodeNr(0))?;
    if on {
        bits::set(map, bit);
    } else {
        bits::clear(map, bit);
    }
    let map = vol.block(at)?;
    group::sum_inodes(vol, d, &map);
    Ok(())
}

/// Gives an inode back.
pub fn free_inode(vol: &mut Volume, nr: InodeNr, is_dir: bool) -> Result<()> {
    if nr.0 < vol.geo.first_inode || nr.0 > vol.geo.inodes {
        return Err(vol.corrupt(Problem::other(
            Place::Inode(nr),
            "was to be freed, but is reserved or does not exist",
        )));
    }
    Counts::prepare(vol)?;
    super::mb::discard_inode(vol, nr);
    vol.alloc.windows.discard(nr);
    vol.alloc.last_groups.remove(&nr.0);
    let (g, bit) = vol.geo.inode_home(nr);
    let used = bits::test(&group::inode_bitmap(vol, g)?, bit);
    let mut d = vol.desc(g)?;
    if !used || group::has_uninit(vol) && d.flags().contains(GroupFlags::INODE_UNINIT) {
        vol.alloc.mark(g, State::BAD_INODES);
        return Err(vol.corrupt(Problem::other(
            Place::Inode(nr),
            "was freed, but is free already",
        )));
    }
    set_bit(vol, &mut d, bit, false)?;
    let free = d.free_inodes().saturating_add(1);
    group::set_free_inodes(vol, &mut d, free);
    if is_dir {
        let dirs = d.used_dirs().saturating_sub(1);
        group::set_used_dirs(vol, &mut d, dirs);
        vol.dirs = vol.dirs.saturating_sub(1);
    }
    vol.set_desc(g, &d)?;
    vol.free_inodes = vol.free_inodes.saturating_add(1);
    vol.alloc.count_inode(g, false, is_dir);
    vol.events.emit(|| What::InodeFreed {
        inode: nr,
        group: g,
    });
    Ok(())
}
