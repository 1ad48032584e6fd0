//! Values in inodes of their own (the ea_inode feature). Such an inode counts its
//! references in its version (low 32 bits) and change time (high), and keeps the value's
//! hash in its access time.

use super::region::{Entry, entry_hash};
use crate::event::{Meta, Reason};
use crate::ext4::layout::{FileType, InodeFlags, Timestamp};
use crate::ext4::{Place, Problem, checksum};
use crate::kernel::map::{self, Create, State};
use crate::kernel::{Errno, InodeInfo, Result, Volume, alloc};
use crate::units::{InodeNr, Lblk};

/// Longest value (`EXT4_XATTR_SIZE_MAX`).
const SIZE_MAX: usize = 1 << 24;
const MODE: u16 = 0o100_600;

fn damaged(vol: &mut Volume, inum: u32, words: &str) -> Errno {
    vol.corrupt(Problem::other(Place::Inode(InodeNr(inum)), words))
}

fn open(vol: &mut Volume, inum: u32) -> Result<InodeInfo> {
    if inum < vol.geo.first_inode {
        return Err(damaged(vol, inum, "cannot hold the value of an attribute"));
    }
    let inode = vol.read_inode(InodeNr(inum))?;
    let sound = inode.has(InodeFlags::EA_INODE)
        && inode.file_type() == FileType::Regular
        && !inode.has(InodeFlags::INLINE_DATA);
    if sound {
        Ok(inode)
    } else {
        let words = "is named as one that holds the value of an attribute, but is none";
        Err(damaged(vol, inum, words))
    }
}

fn references(inode: &InodeInfo) -> u64 {
    u64::from(inode.raw.i_ctime()) << 32 | u64::from(inode.raw.i_version_lo())
}

fn set_references(inode: &mut InodeInfo, n: u64) {
    inode.set_ctime(Timestamp {
        secs: (n >> 32).cast_signed(),
        nanos: 0,
    });
    inode.raw.set_i_version_lo((n & 0xFFFF_FFFF) as u32);
}

fn hash_of(inode: &InodeInfo) -> u32 {
    inode.raw.i_atime()
}

/// The hash of a value.
pub(super) fn hash(vol: &Volume, value: &[u8]) -> u32 {
    checksum::crc32c(vol.seed, value)
}

/// The hash of an entry whose value is in an inode.
pub(super) fn entry_hash_of(name: &[u8], hash: u32) -> u32 {
    entry_hash(name, &hash.to_le_bytes())
}

/// Blocks that an inode is charged for a value of so many bytes in an inode of its own:
/// it counts them as if they were its own.
pub(super) fn blocks(vol: &Volume, bytes: usize) -> i64 {
    let cluster = i64::from(vol.geo.cluster_blocks);
    let per = i64::from(vol.geo.block_size) * cluster;
    let bytes = bytes.min(SIZE_MAX) as i64;
    (bytes + per - 1) / per * cluster
}

/// Blocks that an inode is charged for an entry's value.
pub(super) fn charge(vol: &Volume, entry: &Entry) -> i64 {
    if entry.inum == 0 {
        0
    } else {
        blocks(vol, entry.size)
    }
}

/// Reads the value of an entry.
pub(super) fn read(vol: &mut Volume, entry: &Entry, name: &[u8]) -> Result<Vec<u8>> {
    let inode = open(vol, entry.inum)?;
    if entry.size > SIZE_MAX || inode.size != entry.size as u64 {
        let words = "has another size than the attribute whose value it holds";
        return Err(damaged(vol, entry.inum, words));
    }
    let value = contents(vol, &inode)?;
    let hash = hash(vol, &value);
    let holds = hash == hash_of(&inode) && entry.hash == entry_hash_of(name, hash);
    // Before Linux 6.2, bytes of names counted as signed; such names are ASCII mostly.
    if !holds && name.is_ascii() {
        let words = "holds the value of an attribute, but not with its hash";
        return Err(damaged(vol, entry.inum, words));
    }
    vol.xattr.note_value(hash, inode.nr);
    Ok(value)
}

fn contents(vol: &mut Volume, inode: &InodeInfo) -> Result<Vec<u8>> {
    let (size, per) = (inode.size.min(SIZE_MAX as u64) as usize, vol.block_size());
    let mut value = Vec::with_capacity(size);
    for lblk in 0..size.div_ceil(per) {
        let mapped = map::lookup(vol, inode, Lblk(lblk as u32), 1)?;
        if mapped.state == State::Hole {
            let words = "holds the value of an attribute, but not all of it";
            return Err(damaged(vol, inode.nr.0, words));
        }
        let block = vol.block(mapped.start)?;
        let n = per.min(size - value.len());
        value.extend_from_slice(&block[..n]);
    }
    Ok(value)
}

/// An inode with a value, made or met before; its reference is the caller's.
pub(super) fn hold(vol: &mut Volume, of: &InodeInfo, value: &[u8]) -> Result<u32> {
    let hash = hash(vol, value);
    for nr in vol.xattr.values(hash) {
        let inode = open(vol, nr.0)?;
        let same = inode.size == value.len() as u64 && hash_of(&inode) == hash;
        if same && contents(vol, &inode)? == value {
            take(vol, nr.0)?;
            return Ok(nr.0);
        }
    }
    let mut inode = make(vol, of, hash)?;
    if let Err(e) = fill(vol, &mut inode, value) {
        free(vol, inode)?;
        return Err(e);
    }
    vol.write_inode(&mut inode)?;
    vol.xattr.note_value(hash, inode.nr);
    Ok(inode.nr.0)
}

fn make(vol: &mut Volume, of: &InodeInfo, hash: u32) -> Result<InodeInfo> {
    let nr = alloc::new_inode(vol, Some(of), MODE, b"")?;
    let size = usize::from(vol.geo.inode_size);
    let mut inode = InodeInfo::new(vol, nr, vec![0; size].into_boxed_slice());
    let raw = &mut inode.raw;
    raw.set_i_mode(MODE);
    raw.set_i_uid(of.raw.i_uid());
    raw.set_i_uid_high(of.raw.i_uid_high());
    raw.set_i_gid(of.raw.i_gid());
    raw.set_i_gid_high(of.raw.i_gid_high());
    raw.set_i_links_count(1);
    if size > 128 {
        raw.set_i_extra_isize(
            vol.sb
                .s_want_extra_isize()
                .clamp(32, (size - 128).min(512) as u16)
                & !3,
        );
    }
    map::init(vol, &mut inode);
    inode.set_flag(InodeFlags::EA_INODE, true);
    let now = vol.time();
    inode.set_mtime(now);
    inode.set_crtime(now);
    set_references(&mut inode, 1);
    inode.set_atime(Timestamp {
        secs: hash.into(),
        nanos: 0,
    });
    Ok(inode)
}

fn fill(vol: &mut Volume, inode: &mut InodeInfo, value: &[u8]) -> Result<()> {
    let how = Create {
        reason: Reason::Data,
        ..Create::metadata()
    };
    let per = vol.block_size();
    let blocks = value.len().div_ceil(per) as u32;
    let mut next = 0;
    while next < blocks {
        let mapped = map::map_blocks(vol, inode, Lblk(next), blocks - next, &how)?;
        let len = mapped.len.clamp(1, blocks - next);
        for i in 0..len {
            let from = (next + i) as usize * per;
            let piece = &value[from..value.len().min(from + per)];
            let at = mapped.start.plus(i.into());
            vol.fresh(at, Meta::XattrValue, inode.nr)?[..piece.len()].copy_from_slice(piece);
        }
        next += len;
    }
    inode.size = value.len() as u64;
    inode.set_disk_size(inode.size);
    Ok(())
}

/// One more reference.
pub(super) fn take(vol: &mut Volume, inum: u32) -> Result<()> {
    let mut inode = open(vol, inum)?;
    let n = references(&inode).saturating_add(1);
    set_references(&mut inode, n);
    vol.write_inode(&mut inode)
}

/// One reference less; without any, the inode goes.
pub(super) fn put(vol: &mut Volume, inum: u32) -> Result<()> {
    let mut inode = open(vol, inum)?;
    let n = references(&inode).saturating_sub(1);
    set_references(&mut inode, n);
    if n > 0 {
        return vol.write_inode(&mut inode);
    }
    vol.xattr.forget_value(hash_of(&inode), inode.nr);
    free(vol, inode)
}

fn free(vol: &mut Volume, mut inode: InodeInfo) -> Result<()> {
    // Contents are kept in buffers: they go with the blocks.
    for (start, len) in runs(vol, &inode)? {
        for i in 0..u64::from(len) {
            vol.forget(start.plus(i));
        }
    }
    map::remove(vol, &mut inode, 0, u64::MAX)?;
    inode.size = 0;
    inode.set_disk_size(0);
    inode.raw.set_i_links_count(0);
    let now = (vol.time().secs & 0xFFFF_FFFF) as u32;
    inode.raw.set_i_dtime(now);
    vol.write_inode(&mut inode)?;
    alloc::discard_preallocations(vol, &mut inode);
    alloc::free_inode(vol, inode.nr, false)
}

fn runs(vol: &mut Volume, inode: &InodeInfo) -> Result<Vec<(crate::units::BlockNr, u32)>> {
    let blocks = (SIZE_MAX / vol.block_size()) as u32;
    let mut runs = Vec::new();
    let mut next = 0;
    while next < blocks {
        let mapped = map::lookup(vol, inode, Lblk(next), blocks - next)?;
        if mapped.state != State::Hole {
            runs.push((mapped.start, mapped.len));
        }
        next += mapped.len.max(1);
    }
    Ok(runs)
}
