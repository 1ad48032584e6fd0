//! Reading: from pages in memory, else from the disk, which leaves clean pages behind.

use crate::disk::Data;
use crate::ext4::layout::{InodeFlags, Timestamp};
use crate::kernel::options::Atime;
use crate::kernel::pages::Page;
use crate::kernel::{Errno, Fd, InodeInfo, Mount, Result, Volume, map};
use crate::units::{BlockNr, InodeNr, Lblk, SimTime};

/// Bytes that one call reads at most (Linux: `MAX_RW_COUNT` is 2 GiB; fslab's own bound,
/// since the bytes are held in memory).
const MAX_READ: u64 = 1 << 28;

impl Mount {
    /// `read`.
    pub(in crate::kernel) fn do_read(&mut self, fd: Fd, len: u64) -> Result<Vec<u8>> {
        let file = self.readable(fd)?;
        let bytes = self.read_file(file.inode, file.offset, len, file.flags)?;
        self.set_offset(fd, file.offset + bytes.len() as u64);
        Ok(bytes)
    }

    /// `pread`.
    pub(in crate::kernel) fn do_pread(&mut self, fd: Fd, len: u64, offset: u64) -> Result<Vec<u8>> {
        if offset > i64::MAX as u64 {
            return Err(Errno::EINVAL);
        }
        let file = self.readable(fd)?;
        self.read_file(file.inode, offset, len, file.flags)
    }

    fn read_file(
        &mut self,
        nr: InodeNr,
        offset: u64,
        len: u64,
        flags: crate::kernel::OpenFlags,
    ) -> Result<Vec<u8>> {
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if inode.is_dir() {
            return Err(Errno::EISDIR);
        }
        if !inode.is_file() {
            return Err(Errno::EINVAL);
        }
        let end = offset.saturating_add(len.min(MAX_READ)).min(inode.size);
        if offset >= end {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; (end - offset) as usize];
        read_into(&mut self.vol, inode, offset, &mut bytes)?;
        if !flags.contains(crate::kernel::OpenFlags::NOATIME) {
            self.accessed(nr)?;
        }
        Ok(bytes)
    }

    /// Sets the access time where the mount options ask for it.
    pub(in crate::kernel) fn accessed(&mut self, nr: InodeNr) -> Result<()> {
        if self.vol.read_only {
            return Ok(());
        }
        let now = self.vol.time();
        let inode = self.inodes.get(&mut self.vol, nr)?;
        if inode.has(InodeFlags::NOATIME) || !atime_is_due(self.vol.options.atime, inode, now) {
            return Ok(());
        }
        inode.set_atime(now);
        if self.vol.options.lazytime {
            return Ok(());
        }
        self.vol.write_inode(inode)
    }
}

fn atime_is_due(policy: Atime, inode: &InodeInfo, now: Timestamp) -> bool {
    const DAY: i64 = 24 * 60 * 60;
    let last = inode.raw.atime();
    match policy {
        Atime::No => false,
        Atime::Strict => last != now,
        Atime::Relative => {
            last <= inode.raw.mtime() || last <= inode.raw.ctime() || now.secs - last.secs >= DAY
        }
    }
}

/// Fills `bytes` with what a file holds from `offset` on. The range is inside the file.
fn read_into(vol: &mut Volume, inode: &mut InodeInfo, offset: u64, bytes: &mut [u8]) -> Result<()> {
    if let Some(inside) = crate::kernel::inline::content(vol, inode)? {
        let from = inside.get(offset as usize..).unwrap_or_default();
        let n = from.len().min(bytes.len());
        bytes[..n].copy_from_slice(&from[..n]);
        return Ok(());
    }
    let size = vol.block_size() as u64;
    let end = offset + bytes.len() as u64;
    let mut run: Option<map::Mapped> = None;
    let mut at = offset;
    while at < end {
        let (lblk, skip) = (Lblk((at / size) as u32), (at % size) as usize);
        let n = (size - skip as u64).min(end - at) as usize;
        let out = &mut bytes[(at - offset) as usize..][..n];
        at += n as u64;
        if let Some(data) = inode.pages.get(lblk).and_then(|p| p.dirty.as_ref()) {
            data.read(skip, out);
            continue;
        }
        let rest = (end.div_ceil(size) - u64::from(lblk.0)).min(u64::from(u32::MAX)) as u32;
        let covers = |r: &map::Mapped| u64::from(lblk.0) < u64::from(r.lblk.0) + u64::from(r.len);
        let mapped = match run {
            Some(r) if covers(&r) => r,
            _ => map::lookup(vol, inode, lblk, rest)?,
        };
        run = Some(mapped);
        if mapped.state == map::State::Written {
            let block = mapped.start.plus(u64::from(lblk.0 - mapped.lblk.0));
            charge(vol, inode, lblk, block, mapped, rest)?;
            read_block(vol, block, skip, out)?;
        } else {
            out.fill(0);
        }
        keep(inode, lblk);
    }
    Ok(())
}

/// A page that is not in memory is read from the device, with those after it that lie
/// beside it and are wanted too.
fn charge(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: Lblk,
    block: BlockNr,
    run: map::Mapped,
    rest: u32,
) -> Result<()> {
    if inode.pages.get(lblk).is_some() {
        return Ok(());
    }
    let left = run.len - (lblk.0 - run.lblk.0);
    let wanted = left.min(rest);
    let missing = (lblk.0..lblk.0 + wanted)
        .take_while(|&l| inode.pages.get(Lblk(l)).is_none())
        .count() as u32;
    vol.charge_read(block, missing.into())?;
    for l in lblk.0..lblk.0 + missing {
        keep(inode, Lblk(l));
    }
    Ok(())
}

/// Notes that a page is in memory.
pub(super) fn keep(inode: &mut InodeInfo, lblk: Lblk) {
    if inode.pages.get(lblk).is_none() {
        inode.pages.put(lblk, CLEAN);
    }
}

const CLEAN: Page = Page {
    dirty: None,
    delayed: false,
    since: SimTime(0),
};

fn read_block(vol: &mut Volume, block: BlockNr, skip: usize, out: &mut [u8]) -> Result<()> {
    // Contents that go through the journal are buffers until they are home.
    if let Some(bytes) = vol.buffered(block) {
        let part = bytes.get(skip..skip + out.len()).ok_or(Errno::EIO)?;
        out.copy_from_slice(part);
        return Ok(());
    }
    let offset = block.0.saturating_mul(u64::from(vol.geo.block_size)) + skip as u64;
    vol.dev.read_at(offset, out).map_err(|_| Errno::EIO)
}

/// A whole block of a file as calls see it: from its page, its place on disk, or zeros.
pub(super) fn whole_block(vol: &mut Volume, inode: &mut InodeInfo, lblk: Lblk) -> Result<Vec<u8>> {
    let mut bytes = vec![0; vol.block_size()];
    if let Some(data) = inode.pages.get(lblk).and_then(|p| p.dirty.as_ref()) {
        data.read(0, &mut bytes);
        return Ok(bytes);
    }
    let mapped = map::lookup(vol, inode, lblk, 1)?;
    if mapped.state == map::State::Written {
        charge(vol, inode, lblk, mapped.start, mapped, 1)?;
        read_block(vol, mapped.start, 0, &mut bytes)?;
    }
    Ok(bytes)
}

/// The contents of a whole block, without a copy where they cost nothing.
pub(super) fn is_zero(data: &Data) -> bool {
    match data {
        Data::Zero => true,
        Data::Pattern { .. } => false,
        Data::Bytes(bytes) => bytes.iter().all(|&b| b == 0),
    }
}
