//! The real kernel: a loop device, mounted nowhere. The mount is a descriptor, and goes
//! with it, whatever happens to the test.

use super::fiemap;
use super::op::{Op, SLOTS, Whence, bits, pattern};
use super::outcome::{Facts, Name, Outcome};
use super::system::System;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, SeekFrom, XattrFlags};
use rustix::io::Errno;
use rustix::mount::{self, FsMountFlags, FsOpenFlags, MountAttrFlags};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A mounted image.
#[derive(Debug)]
pub struct Linux {
    image: PathBuf,
    kind: &'static str,
    options: &'static str,
    /// The loop device.
    device: String,
    root: Option<OwnedFd>,
    /// The root again, opened for more than walking.
    top: Option<OwnedFd>,
    fds: [Option<OwnedFd>; SLOTS],
    /// Free at the start.
    pub free_blocks: u64,
}

type Io<T> = rustix::io::Result<T>;

impl Linux {
    /// Mounts an image as `ext2`, `ext3` or `ext4`, with options as `mount -o` has them.
    pub fn mount(image: &Path, kind: &'static str, options: &'static str) -> Result<Self, String> {
        rustix::process::umask(Mode::from_raw_mode(0o022));
        let mut linux = Self {
            image: image.to_owned(),
            kind,
            options,
            device: String::new(),
            root: None,
            top: None,
            fds: Default::default(),
            free_blocks: 0,
        };
        linux.attach()?;
        Ok(linux)
    }

    fn attach(&mut self) -> Result<(), String> {
        let device = losetup(&self.image)?;
        let root = attached(&device, self.kind, self.options);
        // The device stays until the mount goes.
        let detached = Command::new("losetup").arg("-d").arg(&device).status();
        let root = root.map_err(|e| format!("mounting {}: {e}", self.image.display()))?;
        detached.map_err(|e| e.to_string())?;
        self.free_blocks = fs::fstatfs(&root).map_or(0, |s| s.f_bfree);
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = fs::openat(&root, ".", flags, Mode::empty()).map_err(|e| e.to_string())?;
        self.device = device;
        (self.root, self.top) = (Some(root), Some(top));
        Ok(())
    }

    /// Unmounts; the image is then complete.
    pub fn unmount(&mut self) {
        self.fds = Default::default();
        self.top = None;
        if self.root.take().is_none() {
            return;
        }
        // The kernel may finish the unmount later than the descriptor's end. Until then
        // the device is ours.
        let name = self.device.trim_start_matches("/dev/");
        let backing = PathBuf::from(format!("/sys/block/{name}/loop/backing_file"));
        for _ in 0..5000 {
            let now = std::fs::read_to_string(&backing).unwrap_or_default();
            if Path::new(now.trim_end()) != self.image {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }

    fn root(&self) -> &OwnedFd {
        self.root.as_ref().expect("mounted")
    }

    /// A path for calls that know no directory descriptor.
    fn long(&self, path: &str) -> String {
        format!("/proc/self/fd/{}/{path}", self.root().as_raw_fd())
    }

    fn try_op(&mut self, op: &Op) -> Io<Outcome> {
        if let Some(done) = self.on_descriptor(op) {
            return done;
        }
        match op {
            Op::Open {
                slot,
                path,
                flags,
                mode,
            } => {
                self.fds[*slot] = None;
                let flags = OFlags::from_bits_retain(*flags) | OFlags::CLOEXEC | OFlags::NONBLOCK;
                let mode = Mode::from_raw_mode(*mode);
                self.fds[*slot] = Some(fs::openat(self.root(), path.as_str(), flags, mode)?);
                Ok(Outcome::Done)
            }
            Op::Syncfs => fs::syncfs(self.top.as_ref().ok_or(Errno::BADF)?).map(|()| Outcome::Done),
            Op::Remount => {
                self.unmount();
                self.attach().map_err(|_| Errno::IO)?;
                Ok(Outcome::Done)
            }
            Op::SetXattr { .. }
            | Op::GetXattr { .. }
            | Op::ListXattr { .. }
            | Op::RemoveXattr { .. } => self.on_xattr(op),
            _ => self.on_path(op),
        }
    }

    /// Calls on a descriptor; `None` for other calls.
    fn on_descriptor(&mut self, op: &Op) -> Option<Io<Outcome>> {
        let slot = match op {
            Op::Close { slot } => {
                let was = self.fds[*slot].take();
                return Some(was.map(|_| Outcome::Done).ok_or(Errno::BADF));
            }
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
            | Op::SetFlags { slot, .. } => *slot,
            _ => return None,
        };
        let Some(fd) = &self.fds[slot] else {
            return Some(Err(Errno::BADF));
        };
        Some(described(fd, op))
    }

    fn on_path(&self, op: &Op) -> Io<Outcome> {
        let root = self.root();
        let none = AtFlags::empty();
        match op {
            Op::Truncate { path, len } => {
                let fd = fs::openat(root, path.as_str(), OFlags::WRONLY, Mode::empty())?;
                fs::ftruncate(&fd, *len)?;
            }
            Op::Rename { from, to, flags } => {
                let flags = fs::RenameFlags::from_bits_retain(*flags);
                fs::renameat_with(root, from.as_str(), root, to.as_str(), flags)?;
            }
            Op::Link { from, to } => {
                fs::linkat(root, from.as_str(), root, to.as_str(), none)?;
            }
            Op::Symlink { target, path } => fs::symlinkat(target.as_str(), root, path.as_str())?,
            Op::Readlink { path } => {
                let target = fs::readlinkat(root, path.as_str(), Vec::new())?;
                return Ok(Outcome::Data(target.into_bytes()));
            }
            Op::Unlink { path } => fs::unlinkat(root, path.as_str(), none)?,
            Op::Mkdir { path, mode } => {
                fs::mkdirat(root, path.as_str(), Mode::from_raw_mode(*mode))?;
            }
            Op::Rmdir { path } => fs::unlinkat(root, path.as_str(), AtFlags::REMOVEDIR)?,
            Op::Mknod {
                path,
                mode,
                major,
                minor,
            } => {
                let kind = FileType::from_raw_mode(*mode);
                let mode = Mode::from_raw_mode(*mode & 0o7777);
                fs::mknodat(root, path.as_str(), kind, mode, fs::makedev(*major, *minor))?;
            }
            Op::Chmod { path, mode } => {
                fs::chmodat(root, path.as_str(), Mode::from_raw_mode(*mode), none)?;
            }
            Op::Chown { path, uid, gid } => self.own(path, *uid, *gid, none)?,
            Op::Lchown { path, uid, gid } => {
                self.own(path, *uid, *gid, AtFlags::SYMLINK_NOFOLLOW)?;
            }
            Op::Utimens { path, atime, mtime } => {
                let time = |t: &(i64, u32)| fs::Timespec {
                    tv_sec: t.0,
                    tv_nsec: t.1.into(),
                };
                let times = fs::Timestamps {
                    last_access: time(atime),
                    last_modification: time(mtime),
                };
                fs::utimensat(root, path.as_str(), &times, none)?;
            }
            Op::Stat { path } => return Ok(facts(&fs::statat(root, path.as_str(), none)?)),
            Op::Lstat { path } => {
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                return Ok(facts(&fs::statat(root, path.as_str(), flags)?));
            }
            other => unreachable!("{other:?} is not about a path"),
        }
        Ok(Outcome::Done)
    }

    fn own(&self, path: &str, uid: Option<u32>, gid: Option<u32>, flags: AtFlags) -> Io<()> {
        let uid = uid.map(rustix::process::Uid::from_raw);
        let gid = gid.map(rustix::process::Gid::from_raw);
        fs::chownat(self.root(), path, uid, gid, flags)
    }

    fn on_xattr(&self, op: &Op) -> Io<Outcome> {
        let mut room = vec![0; 70_000];
        match op {
            Op::SetXattr {
                path,
                name,
                len,
                seed,
                flags,
                follow,
            } => {
                let (path, name, value) =
                    (self.long(path), name.as_str(), pattern(*seed, *len as u64));
                let flags = XattrFlags::from_bits_retain(*flags);
                match follow {
                    true => fs::setxattr(path, name, &value, flags)?,
                    false => fs::lsetxattr(path, name, &value, flags)?,
                }
                Ok(Outcome::Done)
            }
            Op::GetXattr { path, name, follow } => {
                let (path, name) = (self.long(path), name.as_str());
                let len = match follow {
                    true => fs::getxattr(path, name, &mut room[..])?,
                    false => fs::lgetxattr(path, name, &mut room[..])?,
                };
                room.truncate(len);
                Ok(Outcome::Data(room))
            }
            Op::ListXattr { path, follow } => {
                let path = self.long(path);
                let len = match follow {
                    true => fs::listxattr(path, &mut room[..])?,
                    false => fs::llistxattr(path, &mut room[..])?,
                };
                let names = room[..len].split(|&b| b == 0).filter(|n| !n.is_empty());
                Ok(Outcome::Xattrs(names.map(<[u8]>::to_vec).collect()))
            }
            Op::RemoveXattr { path, name, follow } => {
                let (path, name) = (self.long(path), name.as_str());
                match follow {
                    true => fs::removexattr(path, name)?,
                    false => fs::lremovexattr(path, name)?,
                }
                Ok(Outcome::Done)
            }
            other => unreachable!("{other:?} is not about attributes"),
        }
    }
}

/// The loop device made for an image.
fn losetup(image: &Path) -> Result<String, String> {
    // Two processes may want the same free device: then one must ask again.
    let mut said = String::new();
    for _ in 0..20 {
        let made = Command::new("losetup")
            .args(["-f", "--show"])
            .arg(image)
            .output();
        let made = made.map_err(|e| e.to_string())?;
        if made.status.success() {
            let device = String::from_utf8_lossy(&made.stdout);
            return Ok(device.trim().to_owned());
        }
        said = String::from_utf8_lossy(&made.stderr).into_owned();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Err(format!("losetup {}: {said}", image.display()))
}

fn attached(device: &str, kind: &str, options: &str) -> Io<OwnedFd> {
    let fs = mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    mount::fsconfig_set_string(fs.as_fd(), "source", device)?;
    for option in options.split(',').filter(|o| !o.is_empty()) {
        match option.split_once('=') {
            Some((key, value)) => mount::fsconfig_set_string(fs.as_fd(), key, value)?,
            None => mount::fsconfig_set_flag(fs.as_fd(), option)?,
        }
    }
    mount::fsconfig_create(fs.as_fd())?;
    // Files for devices are made, but must lead nowhere.
    let attributes = MountAttrFlags::MOUNT_ATTR_NODEV;
    mount::fsmount(fs.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn described(fd: &OwnedFd, op: &Op) -> Io<Outcome> {
    match op {
        Op::Read { len, .. } => {
            let mut buf = vec![0; *len as usize];
            let n = rustix::io::read(fd, &mut buf)?;
            buf.truncate(n);
            return Ok(Outcome::Data(buf));
        }
        Op::Pread { off, len, .. } => {
            let mut buf = vec![0; *len as usize];
            let n = rustix::io::pread(fd, &mut buf, *off)?;
            buf.truncate(n);
            return Ok(Outcome::Data(buf));
        }
        Op::Write { len, seed, .. } => {
            let n = rustix::io::write(fd, &pattern(*seed, *len))?;
            return Ok(Outcome::Number(n as u64));
        }
        Op::Pwrite { off, len, seed, .. } => {
            let n = rustix::io::pwrite(fd, &pattern(*seed, *len), *off)?;
            return Ok(Outcome::Number(n as u64));
        }
        Op::Seek { off, whence, .. } => {
            let pos = match whence {
                Whence::Set if *off < 0 => return Err(Errno::INVAL),
                Whence::Set => SeekFrom::Start(off.cast_unsigned()),
                Whence::Cur => SeekFrom::Current(*off),
                Whence::End => SeekFrom::End(*off),
                Whence::Data => SeekFrom::Data(off.cast_unsigned()),
                Whence::Hole => SeekFrom::Hole(off.cast_unsigned()),
            };
            return Ok(Outcome::Number(fs::seek(fd, pos)?));
        }
        Op::Ftruncate { len, .. } => fs::ftruncate(fd, *len)?,
        Op::Fallocate { mode, off, len, .. } => {
            fs::fallocate(fd, fs::FallocateFlags::from_bits_retain(*mode), *off, *len)?;
        }
        Op::Fsync { .. } => fs::fsync(fd)?,
        Op::Fdatasync { .. } => fs::fdatasync(fd)?,
        Op::Fchmod { mode, .. } => fs::fchmod(fd, Mode::from_raw_mode(*mode))?,
        Op::Fstat { .. } => return Ok(facts(&fs::fstat(fd)?)),
        Op::Getdents { .. } => return names(fd),
        Op::Fiemap {
            start, len, sync, ..
        } => {
            return Ok(Outcome::Extents(fiemap::fiemap(fd, *start, *len, *sync)?));
        }
        Op::GetFlags { .. } => return Ok(Outcome::Flags(fs::ioctl_getflags(fd)?.bits())),
        Op::SetFlags { set, clear, .. } => {
            let flags = fs::ioctl_getflags(fd)?.bits();
            fs::ioctl_setflags(fd, fs::IFlags::from_bits_retain(flags & !clear | set))?;
        }
        other => unreachable!("{other:?} is not about a descriptor"),
    }
    Ok(Outcome::Done)
}

fn names(fd: &OwnedFd) -> Io<Outcome> {
    // Reading starts where the descriptor is: at the start, also the second time.
    if FileType::from_raw_mode(fs::fstat(fd)?.st_mode).is_dir() {
        fs::seek(fd, SeekFrom::Start(0))?;
    }
    let mut buf = Vec::with_capacity(32 << 10);
    let mut dir = fs::RawDir::new(fd, buf.spare_capacity_mut());
    let mut out = std::collections::BTreeSet::new();
    while let Some(entry) = dir.next() {
        let entry = entry?;
        out.insert(Name {
            name: entry.file_name().to_bytes().to_vec(),
            kind: kind(entry.file_type()),
        });
    }
    Ok(Outcome::Names(out))
}

/// `d_type`.
fn kind(t: FileType) -> u8 {
    match t {
        FileType::Unknown => 0,
        other => (other.as_raw_mode() >> 12) as u8,
    }
}

fn facts(s: &fs::Stat) -> Outcome {
    let nanos = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Outcome::Facts(Facts {
        ino: s.st_ino,
        mode: s.st_mode,
        nlink: u32::try_from(s.st_nlink).unwrap_or(u32::MAX),
        uid: s.st_uid,
        gid: s.st_gid,
        rdev: match s.st_mode & bits::S_IFMT {
            bits::S_IFCHR | bits::S_IFBLK => (fs::major(s.st_rdev), fs::minor(s.st_rdev)),
            _ => (0, 0),
        },
        size: s.st_size.cast_unsigned(),
        blocks: s.st_blocks.cast_unsigned(),
        atime: (s.st_atime, nanos(s.st_atime_nsec)),
        mtime: (s.st_mtime, nanos(s.st_mtime_nsec)),
    })
}

impl Drop for Linux {
    fn drop(&mut self) {
        self.unmount();
    }
}

impl System for Linux {
    fn run(&mut self, op: &Op) -> Outcome {
        match self.try_op(op) {
            Ok(outcome) => outcome,
            Err(e) => Outcome::Failed(e.raw_os_error()),
        }
    }

    fn name(&self) -> &'static str {
        "linux"
    }
}
