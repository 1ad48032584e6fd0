//! Extended attributes: inside the inode, in a block of their own that inodes may share,
//! and values in inodes of their own.
//!
//! Times and permissions are the caller's affair, as is writing the inode back.

mod acl;
mod block;
mod body;
mod name;
mod region;
mod set;
mod state;
#[cfg(test)]
mod tests;
mod value;

pub use acl::{chmod as acl_chmod, inherit as acl_inherit};
pub(super) use body::{inline_value, remove_inline_value};
pub use set::{SetFlags, set};
pub(super) use state::State;

use super::{Errno, InodeInfo, Result, Volume};
use crate::ext4::layout::Incompat;
use region::{Entry, Place, Region};

/// Longest value inside an inode or a block, bytes (`XATTR_SIZE_MAX`).
const SIZE_MAX: usize = 65536;

/// The value of an attribute, by its whole name.
pub fn get(vol: &mut Volume, inode: &InodeInfo, name: &[u8]) -> Result<Vec<u8>> {
    let (index, suffix) = name::split(name)?;
    if name::is_acl(index) {
        return acl::get(vol, inode, index);
    }
    get_raw(vol, inode, index, suffix)?.ok_or(Errno::ENODATA)
}

/// The value of an attribute as it is stored; `None` where it is not.
fn get_raw(
    vol: &mut Volume,
    inode: &InodeInfo,
    index: u8,
    suffix: &[u8],
) -> Result<Option<Vec<u8>>> {
    if let Some(region) = body::checked(vol, inode)?
        && let Place::Found(e) = region.find(index, suffix, false)
    {
        let here = region.value(&e).map(<[u8]>::to_vec);
        return value_of(vol, inode, &e, suffix, here).map(Some);
    }
    let Some(at) = block::of(inode) else {
        return Ok(None);
    };
    let bytes = block::read(vol, inode, at)?;
    let region = block::region(&bytes[..]);
    match region.find(index, suffix, true) {
        Place::Missing(_) => Ok(None),
        Place::Found(e) => {
            let here = region.value(&e).map(<[u8]>::to_vec);
            value_of(vol, inode, &e, suffix, here).map(Some)
        }
    }
}

fn value_of(
    vol: &mut Volume,
    inode: &InodeInfo,
    entry: &Entry,
    suffix: &[u8],
    here: Option<Vec<u8>>,
) -> Result<Vec<u8>> {
    if entry.inum != 0 {
        return value::read(vol, entry, suffix);
    }
    here.ok_or_else(|| body::damaged(vol, inode, "has an attribute whose value is not there"))
}

/// The whole names of all attributes that Linux lists, those in the inode first.
pub fn list(vol: &mut Volume, inode: &InodeInfo) -> Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    if let Some(region) = body::checked(vol, inode)? {
        names.extend(region.entries().filter_map(|e| listed(&region, &e)));
    }
    if let Some(at) = block::of(inode) {
        let bytes = block::read(vol, inode, at)?;
        let region = block::region(&bytes[..]);
        names.extend(region.entries().filter_map(|e| listed(&region, &e)));
    }
    Ok(names)
}

fn listed<T: AsRef<[u8]>>(region: &Region<T>, entry: &Entry) -> Option<Vec<u8>> {
    let mut name = name::listed_prefix(entry.index)?.as_bytes().to_vec();
    name.extend_from_slice(region.name(entry));
    Some(name)
}

/// Gives up all that an inode has, when it is deleted.
pub fn release(vol: &mut Volume, inode: &mut InodeInfo) -> Result<()> {
    let own = vol.has_incompat(Incompat::EA_INODE);
    if own && let Some(region) = body::checked(vol, inode)? {
        let entries: Vec<Entry> = region.entries().filter(|e| e.inum != 0).collect();
        for e in entries {
            inode.add_blocks(vol, -value::charge(vol, &e));
            value::put(vol, e.inum)?;
        }
    }
    if let Some(at) = block::of(inode) {
        let bytes = block::read(vol, inode, at)?;
        if own {
            for e in block::region(&bytes[..]).entries() {
                inode.add_blocks(vol, -value::charge(vol, &e));
            }
        }
        drop(bytes);
        block::release(vol, inode, at)?;
        block::set_of(inode, None);
    }
    Ok(())
}
