//! Attributes inside an inode.

use super::name::SYSTEM;
use super::region::{Place, Region, Value};
use crate::ext4::layout::{GOOD_OLD_INODE_SIZE, XATTR_MAGIC};
use crate::ext4::{Place as Where, Problem};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use std::ops::Range;

/// `i_extra_isize` that an inode gets whose extra fields were never used: that of the
/// fields that ext4 knows.
const EXTRA: u16 = 32;

/// Notes damage in an inode's attributes.
pub(super) fn damaged(vol: &mut Volume, inode: &InodeInfo, words: &str) -> Errno {
    vol.corrupt(Problem::other(Where::InodeXattrs(inode.nr), words))
}

/// Where an inode's attributes may be: the bytes of its slot behind the magic.
fn room(inode: &InodeInfo) -> Option<Range<usize>> {
    let raw = &inode.raw.0;
    let extra = inode.raw.i_extra_isize();
    let from = GOOD_OLD_INODE_SIZE + usize::from(extra) + 4;
    let fits = raw.len() > GOOD_OLD_INODE_SIZE && extra != 0 && from + 4 <= raw.len();
    fits.then_some(from..raw.len())
}

/// Whether there are attributes: the magic before them.
fn has_magic(inode: &InodeInfo, room: &Range<usize>) -> bool {
    inode.raw.0.get(room.start - 4..room.start) == Some(&XATTR_MAGIC.to_le_bytes())
}

/// The attributes of an inode, where there are any.
fn region(inode: &InodeInfo) -> Option<Region<&[u8]>> {
    let room = room(inode).filter(|r| has_magic(inode, r))?;
    let bytes = inode.raw.0.get(room)?;
    Some(Region { bytes, first: 0 })
}

/// The attributes of an inode, where there are any and they are sound.
pub(super) fn checked<'a>(
    vol: &mut Volume,
    inode: &'a InodeInfo,
) -> Result<Option<Region<&'a [u8]>>> {
    let Some(region) = region(inode) else {
        return Ok(None);
    };
    match region.flaw() {
        Some(words) => Err(damaged(vol, inode, words)),
        None => Ok(Some(region)),
    }
}

/// The attributes of an inode, to be changed; `None` where it has no room for any.
pub(super) fn changeable(inode: &mut InodeInfo) -> Option<Region<&mut [u8]>> {
    if inode.raw.0.len() >= GOOD_OLD_INODE_SIZE + usize::from(EXTRA)
        && inode.raw.i_extra_isize() == 0
    {
        // What is behind byte 128 was never used.
        inode.raw.0[GOOD_OLD_INODE_SIZE..].fill(0);
        inode.raw.set_i_extra_isize(EXTRA);
    }
    let room = room(inode)?;
    let fresh = !has_magic(inode, &room);
    let bytes = inode.raw.0.get_mut(room)?;
    if fresh {
        bytes.fill(0);
    }
    Some(Region { bytes, first: 0 })
}

/// Sets or removes an attribute where it fits; the magic says whether there are any.
pub(super) fn set(
    inode: &mut InodeInfo,
    index: u8,
    name: &[u8],
    (value, hash): (Value<'_>, u32),
) -> Result<()> {
    let mut region = changeable(inode).ok_or(Errno::ENOSPC)?;
    let place = region.find(index, name, false);
    let fits = matches!(value, Value::None) || region.fits(place, name.len(), value, 0);
    if fits {
        let at = region.set(place, index, name, value);
        if !matches!(value, Value::None) {
            region.set_hash(at, hash);
        }
    }
    let any = region.entries().next().is_some();
    set_magic(inode, any);
    if fits { Ok(()) } else { Err(Errno::ENOSPC) }
}

fn set_magic(inode: &mut InodeInfo, any: bool) {
    let magic = if any { XATTR_MAGIC } else { 0 };
    if let Some(room) = room(inode)
        && let Some(bytes) = inode.raw.0.get_mut(room.start - 4..room.start)
    {
        bytes.copy_from_slice(&magic.to_le_bytes());
    }
}

/// Where in an inode's slot the rest of its inline contents is.
pub(in crate::kernel) fn inline_value(inode: &InodeInfo) -> Option<Range<usize>> {
    let base = room(inode)?.start;
    let region = region(inode)?;
    match region.find(SYSTEM, b"data", false) {
        Place::Found(e) => {
            let value = e.value_range()?;
            let end = base + value.start + e.size;
            (end <= inode.raw.0.len()).then(|| base + value.start..end)
        }
        Place::Missing(_) => None,
    }
}

/// Takes the rest of inline contents out of an inode.
pub(in crate::kernel) fn remove_inline_value(inode: &mut InodeInfo) {
    let sound = region(inode).is_some_and(|r| r.flaw().is_none());
    if sound {
        // Nothing is to fit, so that this does not fail.
        let _ = set(inode, SYSTEM, b"data", (Value::None, 0));
    }
}
