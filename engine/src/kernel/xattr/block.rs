//! Attribute blocks, which inodes with the same attributes share.

use super::region::{HEADER, Region, block_hash};
use super::value;
use crate::event::{Meta, Reason, What};
use crate::ext4::layout::{Incompat, XATTR_MAGIC, XattrHeader};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::kernel::alloc::{self, Want};
use crate::kernel::buffer::Block;
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Inodes that may share a block (`EXT4_XATTR_REFCOUNT_MAX`).
const MAX_SHARERS: u32 = 1024;

/// An inode's attribute block.
pub(super) fn of(inode: &InodeInfo) -> Option<BlockNr> {
    let at = inode.raw.file_acl();
    (at.0 != 0).then_some(at)
}

/// Sets an inode's attribute block.
pub(super) fn set_of(inode: &mut InodeInfo, at: Option<BlockNr>) {
    let at = at.unwrap_or_default().0;
    inode.raw.set_i_file_acl_lo((at & 0xFFFF_FFFF) as u32);
    inode.raw.set_i_file_acl_high((at >> 32 & 0xFFFF) as u16);
}

/// The entries of a block.
pub(super) fn region<T>(bytes: T) -> Region<T> {
    Region {
        bytes,
        first: HEADER,
    }
}

/// An empty block.
pub(super) fn empty(vol: &Volume) -> Vec<u8> {
    let mut bytes = vec![0; vol.block_size()];
    let mut head = XattrHeader(&mut bytes[..]);
    head.set_h_magic(XATTR_MAGIC);
    head.set_h_blocks(1);
    head.set_h_refcount(1);
    bytes
}

/// What is wrong with a block, but for its checksum.
fn flaw(bytes: &[u8]) -> Option<Flaw> {
    let head = XattrHeader(bytes);
    if head.h_magic() != XATTR_MAGIC {
        return Some(Flaw::Magic {
            found: head.h_magic().into(),
            expected: XATTR_MAGIC.into(),
        });
    }
    if head.h_blocks() != 1 {
        return Some(Flaw::Value {
            field: "h_blocks".into(),
            found: head.h_blocks().into(),
            expected: "1".into(),
        });
    }
    region(bytes).flaw().map(|w| Flaw::Other(w.into()))
}

/// Reads an inode's attribute block and remembers it as one that could be shared.
pub(super) fn read(vol: &mut Volume, inode: &InodeInfo, at: BlockNr) -> Result<Block> {
    let place = Place::XattrBlock(inode.nr, at);
    if !vol.data_blocks_valid(at, 1) {
        let words = "is not a block that an inode may have";
        return Err(vol.corrupt(Problem::other(place, words)));
    }
    let (csum, seed) = (vol.has_csum(), vol.seed);
    let holds = |bytes: &[u8]| {
        !csum || XattrHeader(bytes).h_checksum() == checksum::xattr_block(seed, at, bytes)
    };
    let Some(bytes) = vol.verified_block(at, holds)? else {
        let words = "has a checksum that does not hold";
        return Err(vol.corrupt(Problem::other(place, words)));
    };
    if let Some(flaw) = flaw(&bytes) {
        return Err(vol.corrupt(Problem::new(place, flaw)));
    }
    vol.xattr.note_block(XattrHeader(&bytes[..]).h_hash(), at);
    Ok(bytes)
}

/// Inodes that share a block.
pub(super) fn sharers(bytes: &[u8]) -> u32 {
    XattrHeader(bytes).h_refcount()
}

/// Computes the hash of a block anew.
pub(super) fn rehash(bytes: &mut [u8]) {
    let hash = block_hash(region(&bytes[..]).entries().map(|e| e.hash));
    XattrHeader(bytes).set_h_hash(hash);
}

/// Changes a block and its checksum.
pub(super) fn change<T>(
    vol: &mut Volume,
    inode: &InodeInfo,
    at: BlockNr,
    change: impl FnOnce(&mut [u8]) -> T,
) -> Result<T> {
    let (csum, seed) = (vol.has_csum(), vol.seed);
    let bytes = vol.change(at, Meta::Xattr, inode.nr)?;
    let answer = change(bytes);
    if csum {
        let sum = checksum::xattr_block(seed, at, bytes);
        XattrHeader(bytes).set_h_checksum(sum);
    }
    Ok(answer)
}

/// Whether two blocks hold the same attributes.
fn same(a: &[u8], b: &[u8]) -> bool {
    let (a, b) = (region(a), region(b));
    let (mut left, mut right) = (a.entries(), b.entries());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(x), Some(y)) => {
                let head = (x.hash, x.index, x.inum, x.size) == (y.hash, y.index, y.inum, y.size);
                if !head || a.name(&x) != b.name(&y) || a.value(&x) != b.value(&y) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

/// Another block with the same attributes that one more inode may share.
fn twin(vol: &mut Volume, bytes: &[u8], own: Option<BlockNr>) -> Result<Option<BlockNr>> {
    let hash = XattrHeader(bytes).h_hash();
    if hash == 0 {
        return Ok(None);
    }
    for at in vol.xattr.blocks(hash) {
        if Some(at) == own {
            continue;
        }
        let other = vol.block(at)?;
        let head = XattrHeader(&other[..]);
        let alive = head.h_magic() == XATTR_MAGIC && head.h_hash() == hash;
        if alive && head.h_refcount() < MAX_SHARERS && same(bytes, &other) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// Lets an inode share a block.
fn share(vol: &mut Volume, inode: &mut InodeInfo, at: BlockNr) -> Result<()> {
    let count = change(vol, inode, at, |bytes| {
        let mut head = XattrHeader(bytes);
        let count = head.h_refcount().saturating_add(1);
        head.set_h_refcount(count);
        count
    })?;
    inode.add_blocks(vol, vol.geo.cluster_blocks.into());
    let nr = inode.nr;
    vol.events.emit(|| What::XattrBlockShared {
        inode: nr,
        block: at,
        sharers: count,
    });
    Ok(())
}

/// Gives a changed block of an inode's own its new place in what is known: it is dropped
/// where another is the same.
pub(super) fn settle(vol: &mut Volume, inode: &mut InodeInfo, at: BlockNr) -> Result<()> {
    let bytes = vol.block(at)?;
    if region(&bytes[..]).entries().next().is_none() {
        drop(bytes);
        set_of(inode, None);
        return release(vol, inode, at);
    }
    if let Some(other) = twin(vol, &bytes, Some(at))? {
        drop(bytes);
        share(vol, inode, other)?;
        set_of(inode, Some(other));
        return release(vol, inode, at);
    }
    vol.xattr.note_block(XattrHeader(&bytes[..]).h_hash(), at);
    Ok(())
}

/// Gives an inode a block with these bytes, shared where there is one. `new_value`: the
/// inode of a value that already counts the reference of this block.
pub(super) fn install(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    bytes: &[u8],
    new_value: Option<u32>,
) -> Result<()> {
    if let Some(other) = twin(vol, bytes, None)? {
        share(vol, inode, other)?;
        set_of(inode, Some(other));
        // Its own reference is that of the block that is shared.
        return new_value.map_or(Ok(()), |inum| value::put(vol, inum));
    }
    let (group, _) = vol.geo.inode_home(inode.nr);
    let want = Want {
        goal: vol.geo.group_start(group),
        lblk: Lblk(0),
        len: 1,
        reason: Reason::Metadata,
        reserved: false,
        root: false,
    };
    let (at, _) = alloc::new_blocks(vol, inode, &want)?;
    let mut values: Vec<u32> = region(bytes).entries().map(|e| e.inum).collect();
    values.retain(|&i| i != 0);
    if let Some(i) = values.iter().position(|&i| Some(i) == new_value) {
        values.swap_remove(i);
    }
    for inum in values {
        value::take(vol, inum)?;
    }
    vol.fresh(at, Meta::Xattr, inode.nr)?;
    change(vol, inode, at, |new| {
        let n = new.len().min(bytes.len());
        new[..n].copy_from_slice(&bytes[..n]);
    })?;
    vol.xattr.note_block(XattrHeader(bytes).h_hash(), at);
    set_of(inode, Some(at));
    Ok(())
}

/// Gives up an inode's part in a block: the last one frees it.
pub(super) fn release(vol: &mut Volume, inode: &mut InodeInfo, at: BlockNr) -> Result<()> {
    let bytes = vol.block(at)?;
    let head = XattrHeader(&bytes[..]);
    let (hash, sharers) = (head.h_hash(), head.h_refcount());
    if sharers > 1 {
        drop(bytes);
        change(vol, inode, at, |b| {
            XattrHeader(b).set_h_refcount(sharers - 1);
        })?;
        inode.add_blocks(vol, -i64::from(vol.geo.cluster_blocks));
        return Ok(());
    }
    vol.xattr.forget_block(hash, at);
    if vol.has_incompat(Incompat::EA_INODE) {
        let values: Vec<u32> = region(&bytes[..]).entries().map(|e| e.inum).collect();
        for inum in values.into_iter().filter(|&i| i != 0) {
            value::put(vol, inum)?;
        }
    }
    drop(bytes);
    alloc::free_blocks(vol, inode, at, 1, true)
}
