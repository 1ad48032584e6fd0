//! fslab's own kernel, on a device in memory.

use super::op::{Op, SLOTS, Whence, pattern};
use super::outcome::{Extent, Facts, Name, Outcome};
use super::system::System;
use fslab_engine::device::{Device, Ram};
use fslab_engine::disk::{CowDisk, Data};
use fslab_engine::event::What;
use fslab_engine::ext4::layout::{FileType, Timestamp};
use fslab_engine::kernel::xattr::SetFlags;
use fslab_engine::kernel::{
    Caller, Errno, FallocateMode, Fd, Mount, MountOptions, OpenFlags, Result, Stat,
};
use fslab_engine::units::SimTime;
use std::path::Path;
use std::sync::Arc;

/// Time that passes from call to call: nothing expires in a sequence.
const TICK: u64 = 100_000;

/// A mounted image.
#[derive(Debug)]
pub struct Fslab {
    mount: Option<Mount>,
    options: MountOptions,
    fds: [Option<Fd>; SLOTS],
    who: Caller,
    /// Events are kept, so that damage can be told in words.
    events: bool,
}

impl Fslab {
    /// Mounts a copy of an image.
    pub fn mount(image: &Path, options: MountOptions) -> std::result::Result<Self, String> {
        let device = Box::new(Ram::new(load(image)?));
        let mount =
            Mount::mount(device, options.clone()).map_err(|e| format!("fslab: mount: {e}"))?;
        Ok(Self {
            mount: Some(mount),
            options,
            fds: [None; SLOTS],
            who: Caller::root(),
            events: std::env::var_os("FSLAB_EVENTS").is_some(),
        })
    }

    /// Blocks that are free.
    pub fn free_blocks(&self) -> u64 {
        self.mount.as_ref().map_or(0, |m| m.statfs().free)
    }

    /// Unmounts, and writes the device's contents to a file.
    pub fn save(&mut self, to: &Path) -> std::result::Result<(), String> {
        let mount = self.mount.take().ok_or("not mounted")?;
        let (device, done) = mount.unmount();
        done.map_err(|e| format!("fslab: unmount: {e}"))?;
        save(&*device, to).map_err(|e| format!("{}: {e}", to.display()))
    }

    /// Says what was found damaged, which the error does not.
    fn tell(&mut self) {
        for event in self
            .mount
            .as_mut()
            .map(Mount::take_events)
            .unwrap_or_default()
        {
            if let What::Error { words } = event.what {
                eprintln!("fslab: {words}");
            }
        }
    }

    fn try_op(&mut self, op: &Op) -> Result<Outcome> {
        let who = self.who.clone();
        let mount = self.mount.as_mut().ok_or(Errno::EIO)?;
        if self.events {
            mount.vol.events.keep(true);
            mount.take_events();
        }
        let now = mount.now();
        mount.advance(SimTime(now.0 + TICK))?;
        match op {
            Op::Open {
                slot,
                path,
                flags,
                mode,
            } => {
                if let Some(fd) = self.fds[*slot].take() {
                    mount.close(fd)?;
                }
                let flags = OpenFlags::from_bits_retain(*flags);
                let fd = mount.open(&who, &bytes(path), flags, low(*mode))?;
                self.fds[*slot] = Some(fd);
                Ok(Outcome::Done)
            }
            Op::Close { slot } => {
                let fd = self.fds[*slot].take().ok_or(Errno::EBADF)?;
                mount.close(fd).map(|()| Outcome::Done)
            }
            Op::Syncfs => mount.sync().map(|()| Outcome::Done),
            Op::Remount => {
                self.fds = [None; SLOTS];
                let mount = self.mount.take().ok_or(Errno::EIO)?;
                let (device, done) = mount.unmount();
                done?;
                self.mount = Mount::mount(device, self.options.clone()).ok();
                self.mount.as_ref().map(|_| Outcome::Done).ok_or(Errno::EIO)
            }
            _ => match slot_of(op) {
                Some(slot) => {
                    let fd = self.fds[slot].ok_or(Errno::EBADF)?;
                    on_descriptor(mount, fd, op)
                }
                None => on_path(mount, &who, op),
            },
        }
    }
}

fn slot_of(op: &Op) -> Option<usize> {
    match op {
        Op::Read { slot, .. }
        | Op::Pread { slot, .. }
        | Op::Write { slot, .. }
        | Op::Pwrite { slot, .. }
        | Op::Seek { slot, .. }
        | Op::Ftruncate { slot, .. }
        | Op::Fallocate { slot, .. }
        | Op::Fsync { slot }
        | Op::Fdatasync { slot }
        | Op::Fchmod { slot, .. }
        | Op::Fstat { slot }
        | Op::Getdents { slot }
        | Op::Fiemap { slot, .. }
        | Op::GetFlags { slot }
        | Op::SetFlags { slot, .. } => Some(*slot),
        _ => None,
    }
}

fn on_descriptor(m: &mut Mount, fd: Fd, op: &Op) -> Result<Outcome> {
    match op {
        Op::Read { len, .. } => return m.read(fd, *len).map(Outcome::Data),
        Op::Pread { off, len, .. } => return m.pread(fd, *len, *off).map(Outcome::Data),
        Op::Write { len, seed, .. } => {
            return m.write(fd, &pattern(*seed, *len)).map(Outcome::Number);
        }
        Op::Pwrite { off, len, seed, .. } => {
            return m
                .pwrite(fd, &pattern(*seed, *len), *off)
                .map(Outcome::Number);
        }
        Op::Seek { off, whence, .. } => {
            use fslab_engine::kernel::Whence as To;
            let whence = match whence {
                Whence::Set => To::Set,
                Whence::Cur => To::Cur,
                Whence::End => To::End,
                Whence::Data => To::Data,
                Whence::Hole => To::Hole,
            };
            return m.lseek(fd, *off, whence).map(Outcome::Number);
        }
        Op::Ftruncate { len, .. } => m.ftruncate(fd, *len)?,
        Op::Fallocate { mode, off, len, .. } => {
            m.fallocate(fd, FallocateMode::from_bits_retain(*mode), *off, *len)?;
        }
        Op::Fsync { .. } => m.fsync(fd)?,
        Op::Fdatasync { .. } => m.fdatasync(fd)?,
        Op::Fchmod { mode, .. } => m.fchmod(fd, low(*mode))?,
        Op::Fstat { .. } => return m.fstat(fd).map(|s| facts(&s)),
        Op::Getdents { .. } => return names(m, fd),
        Op::Fiemap {
            start, len, sync, ..
        } => {
            let list = m.fiemap(fd, *start, *len, *sync)?;
            let extent = |e: fslab_engine::kernel::FiemapExtent| Extent {
                logical: e.logical,
                physical: e.physical,
                len: e.length,
                flags: e.flags.bits(),
            };
            return Ok(Outcome::Extents(list.into_iter().map(extent).collect()));
        }
        Op::GetFlags { .. } => return m.getflags(fd).map(Outcome::Flags),
        Op::SetFlags { set, clear, .. } => {
            let flags = m.getflags(fd)?;
            m.setflags(fd, flags & !clear | set)?;
        }
        other => unreachable!("{other:?} is not about a descriptor"),
    }
    Ok(Outcome::Done)
}

fn on_path(m: &mut Mount, who: &Caller, op: &Op) -> Result<Outcome> {
    match op {
        Op::Truncate { path, len } => m.truncate(who, &bytes(path), *len)?,
        Op::Rename { from, to, flags } => m.rename(who, &bytes(from), &bytes(to), *flags)?,
        Op::Link { from, to } => m.link(who, &bytes(from), &bytes(to))?,
        Op::Symlink { target, path } => m.symlink(who, target.as_bytes(), &bytes(path))?,
        Op::Readlink { path } => return m.readlink(who, &bytes(path)).map(Outcome::Data),
        Op::Unlink { path } => m.unlink(who, &bytes(path))?,
        Op::Mkdir { path, mode } => m.mkdir(who, &bytes(path), low(*mode))?,
        Op::Rmdir { path } => m.rmdir(who, &bytes(path))?,
        Op::Mknod {
            path,
            mode,
            major,
            minor,
        } => {
            m.mknod(who, &bytes(path), low(*mode), (*major, *minor))?;
        }
        Op::Chmod { path, mode } => m.chmod(who, &bytes(path), low(*mode))?,
        Op::Chown { path, uid, gid } => m.chown(who, &bytes(path), *uid, *gid)?,
        Op::Lchown { path, uid, gid } => m.lchown(who, &bytes(path), *uid, *gid)?,
        Op::Utimens { path, atime, mtime } => {
            let time = |t: &(i64, u32)| {
                Some(Timestamp {
                    secs: t.0,
                    nanos: t.1,
                })
            };
            m.utimens(who, &bytes(path), time(atime), time(mtime))?;
        }
        Op::Stat { path } => return m.stat(who, &bytes(path)).map(|s| facts(&s)),
        Op::Lstat { path } => return m.lstat(who, &bytes(path)).map(|s| facts(&s)),
        Op::SetXattr {
            path,
            name,
            len,
            seed,
            flags,
            follow,
        } => {
            let flags = SetFlags::from_bits_retain(*flags);
            let value = pattern(*seed, *len as u64);
            m.setxattr(who, &bytes(path), name.as_bytes(), &value, flags, *follow)?;
        }
        Op::GetXattr { path, name, follow } => {
            let value = m.getxattr(who, &bytes(path), name.as_bytes(), *follow)?;
            return Ok(Outcome::Data(value));
        }
        Op::ListXattr { path, follow } => {
            let names = m.listxattr(who, &bytes(path), *follow)?;
            return Ok(Outcome::Xattrs(names.into_iter().collect()));
        }
        Op::RemoveXattr { path, name, follow } => {
            m.removexattr(who, &bytes(path), name.as_bytes(), *follow)?;
        }
        other => unreachable!("{other:?} is not about a path"),
    }
    Ok(Outcome::Done)
}

/// A path from the root.
fn bytes(path: &str) -> Vec<u8> {
    format!("/{path}").into_bytes()
}

fn low(mode: u32) -> u16 {
    (mode & 0xFFFF) as u16
}

fn names(m: &mut Mount, fd: Fd) -> Result<Outcome> {
    if fslab_is_dir(m, fd) {
        m.lseek(fd, 0, fslab_engine::kernel::Whence::Set)?;
    }
    let mut out = std::collections::BTreeSet::new();
    loop {
        let some = m.getdents(fd)?;
        if some.is_empty() {
            return Ok(Outcome::Names(out));
        }
        out.extend(some.into_iter().map(|e| Name {
            name: e.name,
            kind: kind(e.file_type),
        }));
    }
}

fn fslab_is_dir(m: &mut Mount, fd: Fd) -> bool {
    m.fstat(fd).is_ok_and(|s| s.mode & 0o170_000 == 0o040_000)
}

/// `d_type`.
fn kind(t: FileType) -> u8 {
    match t {
        FileType::Fifo => 1,
        FileType::CharDevice => 2,
        FileType::Directory => 4,
        FileType::BlockDevice => 6,
        FileType::Regular => 8,
        FileType::Symlink => 10,
        FileType::Socket => 12,
        _ => 0,
    }
}

fn facts(s: &Stat) -> Outcome {
    Outcome::Facts(Facts {
        ino: u64::from(s.ino.0),
        mode: s.mode.into(),
        nlink: s.nlink.into(),
        uid: s.uid,
        gid: s.gid,
        rdev: s.rdev,
        size: s.size,
        blocks: s.blocks,
        atime: (s.atime.secs, s.atime.nanos),
        mtime: (s.mtime.secs, s.mtime.nanos),
    })
}

impl System for Fslab {
    fn run(&mut self, op: &Op) -> Outcome {
        match self.try_op(op) {
            Ok(outcome) => outcome,
            Err(Errno::EUCLEAN) => {
                self.tell();
                Outcome::Failed(Errno::EUCLEAN.number())
            }
            Err(e) => Outcome::Failed(e.number()),
        }
    }

    fn name(&self) -> &'static str {
        "fslab"
    }
}

/// Reads an image into a disk in memory.
pub fn load(image: &Path) -> std::result::Result<CowDisk, String> {
    let all = std::fs::read(image).map_err(|e| format!("{}: {e}", image.display()))?;
    let mut disk = CowDisk::new(all.len() as u64);
    for (i, page) in all.chunks(4096).enumerate() {
        if page.iter().any(|b| *b != 0) {
            let data = Data::Bytes(Arc::from(page));
            let done = disk.write_data(i as u64 * 4096, page.len() as u64, &data);
            done.map_err(|e| e.to_string())?;
        }
    }
    Ok(disk)
}

/// Writes a device's contents to a file.
fn save(device: &dyn Device, to: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::create(to)?;
    file.set_len(device.len())?;
    let mut at = device.next_data(0);
    let mut page = [0; 4096];
    while at < device.len() {
        let len = (device.len() - at).min(4096) as usize;
        let read = device.read_at(at, &mut page[..len]);
        read.map_err(|e| std::io::Error::other(e.to_string()))?;
        if page[..len].iter().any(|b| *b != 0) {
            file.write_all_at(&page[..len], at)?;
        }
        at = device.next_data(at + len as u64);
    }
    Ok(())
}
