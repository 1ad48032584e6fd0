//! `lseek`, to data and holes too.

use super::write::max_bytes;
use crate::kernel::{Errno, Fd, InodeInfo, Mount, Result, Volume, map};
use crate::units::Lblk;

/// Where an offset counts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Whence {
    /// The beginning.
    Set,
    /// Where the descriptor is.
    Cur,
    /// The end.
    End,
    /// The next byte that is not in a hole.
    Data,
    /// The next hole; there is one at the end.
    Hole,
}

impl Mount {
    /// `lseek`.
    pub(in crate::kernel) fn do_lseek(
        &mut self,
        fd: Fd,
        offset: i64,
        whence: Whence,
    ) -> Result<u64> {
        let file = self.file(fd)?.clone();
        let inode = self.peek(file.inode)?;
        let from = |base: u64| -> Result<u64> {
            let at = base.checked_add_signed(offset).ok_or(Errno::EINVAL)?;
            if at > i64::MAX as u64 {
                Err(Errno::EINVAL)
            } else {
                Ok(at)
            }
        };
        let at = match whence {
            Whence::Set => from(0)?,
            Whence::Cur => from(file.offset)?,
            Whence::End => from(inode.size)?,
            Whence::Data | Whence::Hole => {
                let at = u64::try_from(offset).map_err(|_| Errno::ENXIO)?;
                seek(&mut self.vol, &inode, at, whence == Whence::Data)?
            }
        };
        // A position where nothing could be written is none. A directory's are its own.
        if !inode.is_dir() && at > max_bytes(&self.vol, &inode) {
            return Err(Errno::EINVAL);
        }
        self.set_offset(fd, at);
        if let Some(open) = self.files.get_mut(&fd.0)
            && at == 0
        {
            open.dir_entry = 0;
        }
        Ok(at)
    }
}

fn seek(vol: &mut Volume, inode: &InodeInfo, from: u64, data: bool) -> Result<u64> {
    if from >= inode.size {
        return Err(Errno::ENXIO);
    }
    if inode.has(crate::ext4::layout::InodeFlags::INLINE_DATA) {
        return Ok(if data { from } else { inode.size });
    }
    let size = vol.block_size() as u64;
    let end = inode.size.div_ceil(size);
    let mut at = from / size;
    while at < end {
        let (has, len) = run_at(vol, inode, at, end)?;
        if has == data {
            return Ok((at * size).max(from));
        }
        at += len;
    }
    if data {
        Err(Errno::ENXIO)
    } else {
        Ok(inode.size)
    }
}

/// Whether there is data at a block, and for how many blocks that goes on at least.
fn run_at(vol: &mut Volume, inode: &InodeInfo, at: u64, end: u64) -> Result<(bool, u64)> {
    let dirty = |l: u64| {
        inode
            .pages
            .get(Lblk(l as u32))
            .is_some_and(|p| p.dirty.is_some())
    };
    if dirty(at) {
        return Ok((true, 1));
    }
    let wanted = (end - at).min(u64::from(u32::MAX)) as u32;
    let run = map::lookup(vol, inode, Lblk(at as u32), wanted)?;
    let len = u64::from(run.len.max(1));
    if run.state == map::State::Written {
        return Ok((true, len));
    }
    let next = inode
        .pages
        .next_dirty(at)
        .map_or(u64::MAX, |(l, _)| u64::from(l.0));
    Ok((false, len.min(next - at)))
}
