//! Setting and removing attributes, and which place they go to.

use super::region::{Entry, Place, Region, Value, entry_hash, padded};
use super::{acl, block, body, name, value};
use crate::event::What;
use crate::ext4::layout::{Compat, Incompat};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::BlockNr;

bitflags::bitflags! {
    /// `setxattr`'s flags.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct SetFlags: u32 {
        /// The attribute may not be there before.
        const CREATE = 1;
        /// It must be.
        const REPLACE = 2;
    }
}

/// Sets an attribute, by its whole name; removes it without a value.
pub fn set(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    name: &[u8],
    value: Option<&[u8]>,
    flags: SetFlags,
) -> Result<()> {
    let (index, suffix) = name::split(name)?;
    if value.is_some_and(|v| v.len() > super::SIZE_MAX) {
        return Err(Errno::E2BIG);
    }
    if name::is_acl(index) {
        acl::set(vol, inode, index, value)?;
    } else {
        set_raw(vol, inode, index, suffix, value, flags)?;
    }
    let nr = inode.nr;
    vol.events.emit(|| match value {
        Some(value) => What::XattrSet {
            inode: nr,
            name: name.to_vec(),
            bytes: value.len() as u64,
        },
        None => What::XattrRemoved {
            inode: nr,
            name: name.to_vec(),
        },
    });
    Ok(())
}

/// An attribute that is being set.
#[derive(Clone, Copy)]
struct Job<'a> {
    index: u8,
    name: &'a [u8],
    value: Option<&'a [u8]>,
}

impl Job<'_> {
    /// What to put, and its entry's hash in a block and in an inode's body.
    fn what(&self, vol: &Volume, inum: Option<u32>) -> (Value<'_>, u32, u32) {
        match (self.value, inum) {
            (None, _) => (Value::None, 0, 0),
            (Some(v), None) => (Value::Here(v), entry_hash(self.name, v), 0),
            (Some(v), Some(inum)) => {
                let hash = value::entry_hash_of(self.name, value::hash(vol, v));
                (Value::Inode(inum, v.len()), hash, hash)
            }
        }
    }
}

/// Where an attribute is before it is set.
#[derive(Clone, Copy)]
enum Home {
    Nowhere,
    Body,
    Block,
}

/// Sets an attribute, by its prefix's number and the rest of its name.
pub(super) fn set_raw(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    index: u8,
    name: &[u8],
    value: Option<&[u8]>,
    flags: SetFlags,
) -> Result<()> {
    let Before { home, same, charge } = find(vol, inode, index, name, value)?;
    match home {
        Home::Nowhere if flags.contains(SetFlags::REPLACE) => return Err(Errno::ENODATA),
        Home::Nowhere if value.is_none() => return Ok(()),
        Home::Body | Home::Block if flags.contains(SetFlags::CREATE) => return Err(Errno::EEXIST),
        _ if same => return Ok(()),
        _ => {}
    }
    let job = Job { index, name, value };
    match (value, &home) {
        (None, Home::Body) => set_body(vol, inode, job, None)?,
        (None, _) => set_block(vol, inode, job, None)?,
        (Some(value), _) => place(vol, inode, job, &home, value)?,
    }
    inode.add_blocks(vol, -charge);
    if !vol.has_compat(Compat::EXT_ATTR) {
        let features = vol.sb.compat() | Compat::EXT_ATTR;
        vol.sb.set_s_feature_compat(features.bits());
    }
    Ok(())
}

/// What an attribute is before it is set.
struct Before {
    home: Home,
    /// It has the value that is to be set.
    same: bool,
    /// Blocks that the inode is charged for the value's inode.
    charge: i64,
}

impl Before {
    fn new<T: AsRef<[u8]>>(
        vol: &Volume,
        home: Home,
        region: &Region<T>,
        entry: &Entry,
        value: Option<&[u8]>,
    ) -> Self {
        Self {
            home,
            same: value.is_some() && region.value(entry) == value,
            charge: value::charge(vol, entry),
        }
    }
}

/// Looks for an attribute.
fn find(
    vol: &mut Volume,
    inode: &InodeInfo,
    index: u8,
    name: &[u8],
    value: Option<&[u8]>,
) -> Result<Before> {
    if let Some(region) = body::checked(vol, inode)?
        && let Place::Found(e) = region.find(index, name, false)
    {
        return Ok(Before::new(vol, Home::Body, &region, &e, value));
    }
    if let Some(at) = block::of(inode) {
        let bytes = block::read(vol, inode, at)?;
        let region = block::region(&bytes[..]);
        if let Place::Found(e) = region.find(index, name, true) {
            return Ok(Before::new(vol, Home::Block, &region, &e, value));
        }
    }
    Ok(Before {
        home: Home::Nowhere,
        same: false,
        charge: 0,
    })
}

/// The body first, then the block, then an inode of its own; the long ones that first.
fn place(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    job: Job<'_>,
    home: &Home,
    value: &[u8],
) -> Result<()> {
    let own = vol.has_incompat(Incompat::EA_INODE);
    // What a block holds at most beside an entry with a name of three bytes.
    let large = vol.block_size().saturating_sub(20 + 32 + 4);
    let mut in_inode = own && padded(value.len()) > large;
    loop {
        let inum = if in_inode {
            Some(value::hold(vol, inode, value)?)
        } else {
            None
        };
        let done = try_place(vol, inode, job, home, inum);
        match (done, inum) {
            (Err(e), Some(inum)) => {
                value::put(vol, inum)?;
                return Err(e);
            }
            (Err(Errno::ENOSPC), None) if own && !value.is_empty() => in_inode = true,
            (Ok(()), Some(_)) => {
                inode.add_blocks(vol, value::blocks(vol, value.len()));
                return Ok(());
            }
            (done, None) => return done,
        }
    }
}

fn try_place(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    job: Job<'_>,
    home: &Home,
    inum: Option<u32>,
) -> Result<()> {
    let removal = Job { value: None, ..job };
    match set_body(vol, inode, job, inum) {
        Ok(()) => match home {
            Home::Block => set_block(vol, inode, removal, None),
            _ => Ok(()),
        },
        Err(Errno::ENOSPC) => {
            set_block(vol, inode, job, inum)?;
            match home {
                Home::Body => set_body(vol, inode, removal, None),
                _ => Ok(()),
            }
        }
        Err(e) => Err(e),
    }
}

fn set_body(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    job: Job<'_>,
    inum: Option<u32>,
) -> Result<()> {
    let old = match body::checked(vol, inode)? {
        None => 0,
        Some(region) => match region.find(job.index, job.name, false) {
            Place::Found(e) => e.inum,
            Place::Missing(_) => 0,
        },
    };
    let (value, _, hash) = job.what(vol, inum);
    body::set(inode, job.index, job.name, (value, hash))?;
    if old == 0 {
        Ok(())
    } else {
        value::put(vol, old)
    }
}

fn set_block(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    job: Job<'_>,
    inum: Option<u32>,
) -> Result<()> {
    let Some(at) = block::of(inode) else {
        let mut bytes = block::empty(vol);
        put(vol, &mut bytes, job, inum)?;
        return block::install(vol, inode, &bytes, inum);
    };
    let bytes = block::read(vol, inode, at)?;
    if block::sharers(&bytes) <= 1 {
        drop(bytes);
        return set_own(vol, inode, at, job, inum);
    }
    let mut copy = bytes.to_vec();
    drop(bytes);
    put(vol, &mut copy, job, inum)?;
    crate::ext4::layout::XattrHeader(&mut copy[..]).set_h_refcount(1);
    block::set_of(inode, None);
    if block::region(&copy[..]).entries().next().is_some()
        && let Err(e) = block::install(vol, inode, &copy, inum)
    {
        block::set_of(inode, Some(at));
        return Err(e);
    }
    block::release(vol, inode, at)
}

/// Sets an attribute in a block that nobody shares.
fn set_own(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    at: BlockNr,
    job: Job<'_>,
    inum: Option<u32>,
) -> Result<()> {
    let bytes = vol.block(at)?;
    let region = block::region(&bytes[..]);
    let old = match region.find(job.index, job.name, true) {
        Place::Found(e) => e.inum,
        Place::Missing(_) => 0,
    };
    if !fits(vol, &bytes, job, inum) {
        return Err(Errno::ENOSPC);
    }
    let hash = crate::ext4::layout::XattrHeader(&bytes[..]).h_hash();
    drop(bytes);
    vol.xattr.forget_block(hash, at);
    let (value, hash, _) = job.what(vol, inum);
    block::change(vol, inode, at, |b| write(b, job, value, hash))?;
    if old != 0 {
        value::put(vol, old)?;
    }
    block::settle(vol, inode, at)
}

/// Puts an attribute into the bytes of a block, where it fits.
fn put(vol: &Volume, bytes: &mut [u8], job: Job<'_>, inum: Option<u32>) -> Result<()> {
    if !fits(vol, bytes, job, inum) {
        return Err(Errno::ENOSPC);
    }
    let (value, hash, _) = job.what(vol, inum);
    write(bytes, job, value, hash);
    Ok(())
}

fn fits(vol: &Volume, bytes: &[u8], job: Job<'_>, inum: Option<u32>) -> bool {
    let (value, ..) = job.what(vol, inum);
    if matches!(value, Value::None) {
        return true;
    }
    // With values in inodes, entries are left some room.
    let reserve = if vol.has_incompat(Incompat::EA_INODE) {
        (vol.block_size() / 8).min(1024)
    } else {
        0
    };
    let region = block::region(bytes);
    let place = region.find(job.index, job.name, true);
    region.fits(place, job.name.len(), value, reserve)
}

fn write(bytes: &mut [u8], job: Job<'_>, value: Value<'_>, hash: u32) {
    let mut region = block::region(&mut bytes[..]);
    let place = region.find(job.index, job.name, true);
    let at = region.set(place, job.index, job.name, value);
    if !matches!(value, Value::None) {
        region.set_hash(at, hash);
    }
    block::rehash(bytes);
}
