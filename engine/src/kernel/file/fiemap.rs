//! FIEMAP: where a file's contents are.

use crate::kernel::{Errno, Fd, InodeInfo, Mount, Result, Volume, map};
use crate::units::Lblk;
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

bitflags! {
    /// Flags of an extent, as Linux numbers them.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct FiemapFlags: u32 {
        /// The file's last.
        const LAST = 0x1;
        /// Its place is not known.
        const UNKNOWN = 0x2;
        /// It has no place yet.
        const DELALLOC = 0x4;
        /// It lies inside a block with other things.
        const NOT_ALIGNED = 0x100;
        /// Inside the inode.
        const DATA_INLINE = 0x200;
        /// It reads as zeros.
        const UNWRITTEN = 0x800;
        /// Joined from several.
        const MERGED = 0x1000;
    }
}

/// A stretch of a file, bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FiemapExtent {
    /// Where in the file.
    pub logical: u64,
    /// Where on the device; 0 where that is not known.
    pub physical: u64,
    /// Bytes.
    pub length: u64,
    /// What is special about it.
    pub flags: FiemapFlags,
}

/// Extents that one call gives at most.
const MOST: usize = 1 << 20;

impl Mount {
    /// FIEMAP over `len` bytes from `start` on. `sync`: write the file first.
    pub(in crate::kernel) fn do_fiemap(
        &mut self,
        fd: Fd,
        start: u64,
        len: u64,
        sync: bool,
    ) -> Result<Vec<FiemapExtent>> {
        let nr = self.file(fd)?.inode;
        if len == 0 {
            return Err(Errno::EINVAL);
        }
        if sync {
            self.write_back_all(nr)?;
        }
        let inode = self.peek(nr)?;
        if let Some(inline) = crate::kernel::inline::place(&mut self.vol, &inode)? {
            return Ok(vec![inline]);
        }
        let size = self.vol.block_size() as u64;
        let end = start.saturating_add(len).div_ceil(size);
        extents(&mut self.vol, &inode, start / size, end)
    }
}

fn extents(vol: &mut Volume, inode: &InodeInfo, from: u64, to: u64) -> Result<Vec<FiemapExtent>> {
    let size = vol.block_size() as u64;
    let shows_delayed = !vol.options.fiemap_misses_delayed;
    let mut all: Vec<FiemapExtent> = Vec::new();
    let end = map::max_blocks(vol, inode);
    let (mut at, mut more) = (from, false);
    while at < end && all.len() < MOST {
        let wanted = (end - at).min(u64::from(u32::MAX)) as u32;
        let run = map::lookup(vol, inode, Lblk(at as u32), wanted)?;
        let mut len = u64::from(run.len.max(1));
        if at >= to {
            // Only whether anything follows is still of interest.
            more = run.state != map::State::Hole || next_delayed(inode, at, u64::MAX).is_some();
            if more || len >= end - at {
                break;
            }
            at += len;
            continue;
        }
        if run.state == map::State::Hole {
            match next_delayed(inode, at, at + len).filter(|_| shows_delayed) {
                Some((first, n)) => {
                    push(
                        &mut all,
                        first,
                        n,
                        None,
                        FiemapFlags::DELALLOC | FiemapFlags::UNKNOWN,
                        size,
                    );
                    at = first + n;
                }
                None => at += len,
            }
            continue;
        }
        len = len.min(to - at);
        let unwritten = run.state == map::State::Unwritten;
        let flags = if unwritten {
            FiemapFlags::UNWRITTEN
        } else {
            FiemapFlags::empty()
        };
        push(&mut all, at, len, Some(run.start.0), flags, size);
        at += len;
    }
    if let Some(last) = all.last_mut()
        && !more
    {
        last.flags |= FiemapFlags::LAST;
    }
    Ok(all)
}

/// The first stretch of delayed pages in a range of blocks.
fn next_delayed(inode: &InodeInfo, from: u64, to: u64) -> Option<(u64, u64)> {
    let mut pages = inode.pages.range(from, to).filter(|(_, p)| p.delayed);
    let first = u64::from(pages.next()?.0.0);
    let rest = pages
        .zip(first + 1..)
        .take_while(|((l, _), wanted)| u64::from(l.0) == *wanted)
        .count();
    Some((first, 1 + rest as u64))
}

fn push(
    all: &mut Vec<FiemapExtent>,
    at: u64,
    len: u64,
    start: Option<u64>,
    flags: FiemapFlags,
    size: u64,
) {
    let next = FiemapExtent {
        logical: at * size,
        physical: start.unwrap_or(0) * size,
        length: len * size,
        flags,
    };
    // A run that the map tells in two parts is one extent all the same only where the map
    // joins it; here neighbours stay apart as the tree has them.
    all.push(next);
}
