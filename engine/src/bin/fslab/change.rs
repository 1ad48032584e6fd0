//! Commands that change an image: each mounts it, makes its calls, unmounts it, and only
//! then writes what changed.

use crate::in_use;
use anyhow::{Context, bail};
use clap::Args;
use fslab_engine::device::Overlaid;
use fslab_engine::disk::FileReader;
use fslab_engine::kernel::xattr::SetFlags;
use fslab_engine::kernel::{
    Caller, Errno, FallocateMode, Fd, Mount, MountError, MountOptions, OpenFlags,
};
use fslab_engine::units::SimTime;
use fslab_engine::view::escape;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes that go through a call at once.
const PIECE: usize = 1 << 20;

#[derive(Args, Debug)]
pub struct WriteArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// File to write: made where it is not there
    path: OsString,
    /// Where the contents come from; standard input where not given
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Write at this byte and keep what is around it
    #[arg(long, value_name = "BYTE", conflicts_with = "append")]
    at: Option<u64>,
    /// Write at the end
    #[arg(long)]
    append: bool,
    /// Permissions of a new file, octal
    #[arg(long, default_value = "644", value_parser = octal)]
    mode: u16,
}

#[derive(Args, Debug)]
pub struct RmArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Directories too, with everything in them
    #[arg(short, long)]
    recursive: bool,
    /// What to remove
    #[arg(required = true)]
    paths: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct MkdirArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Those above it too; no error where it is there
    #[arg(short, long)]
    parents: bool,
    /// Permissions, octal
    #[arg(short, long, default_value = "755", value_parser = octal)]
    mode: u16,
    /// Directories to make
    #[arg(required = true)]
    paths: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct RmdirArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Directories to remove
    #[arg(required = true)]
    paths: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct LnArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Make a symbolic link
    #[arg(short, long)]
    symbolic: bool,
    /// What the link leads to
    target: OsString,
    /// The new name
    name: OsString,
}

#[derive(Args, Debug)]
pub struct MvArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// The old name
    from: OsString,
    /// The new name
    to: OsString,
    /// Fail where the new name is there
    #[arg(short, long)]
    no_clobber: bool,
    /// The two change places
    #[arg(long, conflicts_with = "no_clobber")]
    exchange: bool,
}

#[derive(Args, Debug)]
pub struct ChmodArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Permissions, octal
    #[arg(value_parser = octal)]
    mode: u16,
    /// Whose
    #[arg(required = true)]
    paths: Vec<OsString>,
}

#[derive(Args, Debug)]
pub struct ChownArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Numbers of user and group, either of which may be left out
    #[arg(value_name = "UID:GID", value_parser = owner)]
    owner: Owner,
    /// Whose (a symbolic link is not followed)
    #[arg(required = true)]
    paths: Vec<OsString>,
}

/// User and group.
type Owner = (Option<u32>, Option<u32>);

#[derive(Args, Debug)]
pub struct TruncateArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Bytes, as 4096 or 64M
    #[arg(short, long, value_parser = size)]
    size: u64,
    /// Which file
    path: OsString,
}

#[derive(Args, Debug)]
pub struct FallocateArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// First byte, as 4096 or 1M
    #[arg(short, long, default_value = "0", value_parser = size)]
    offset: u64,
    /// Bytes, as 4096 or 1M
    #[arg(short, long, value_parser = size)]
    length: u64,
    /// The file's size stays
    #[arg(short = 'n', long)]
    keep_size: bool,
    /// Give the blocks back
    #[arg(short, long, group = "how")]
    punch_hole: bool,
    /// Make it read as zeros
    #[arg(short, long, group = "how")]
    zero_range: bool,
    /// Take it out; what follows moves up
    #[arg(short, long, group = "how")]
    collapse_range: bool,
    /// Put a hole in; what follows moves down
    #[arg(short, long, group = "how")]
    insert_range: bool,
    /// Which file: made where it is not there
    path: OsString,
}

#[derive(Args, Debug)]
pub struct SetfattrArgs {
    /// Image of a filesystem
    image: PathBuf,
    /// Name, as user.comment
    #[arg(short, long)]
    name: String,
    /// Value, as text; without one the attribute is removed
    #[arg(short, long)]
    value: Option<String>,
    /// Whose (a symbolic link is not followed)
    path: OsString,
}

fn size(text: &str) -> Result<u64, String> {
    crate::mkfs::number::bytes(text, 1)
        .ok_or_else(|| format!("expected a number of bytes, as 4096 or 64M, not \"{text}\""))
}

fn octal(text: &str) -> Result<u16, String> {
    match u16::from_str_radix(text, 8) {
        Ok(mode) if mode <= 0o7777 => Ok(mode),
        _ => Err(format!(
            "expected an octal number up to 7777, not \"{text}\""
        )),
    }
}

fn owner(text: &str) -> Result<Owner, String> {
    let number = |part: &str| match part {
        "" => Ok(None),
        digits => digits
            .parse()
            .map(Some)
            .map_err(|_| format!("\"{digits}\" is not a number")),
    };
    let (user, group) = text.split_once(':').unwrap_or((text, ""));
    Ok((number(user)?, number(group)?))
}

/// Mounts an image, runs `work` on it, unmounts it, and writes what changed.
fn change(
    image: &Path,
    work: impl FnOnce(&mut Mount, &Caller) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let name = || image.display().to_string();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(image)
        .with_context(name)?;
    in_use::take(&file, image)?;
    let reader = FileReader::open(image).with_context(name)?;
    let device = Overlaid::new(Arc::new(reader));
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // What the mount itself writes has its time too.
    let options = MountOptions {
        epoch: now.as_secs(),
        ..MountOptions::default()
    };
    let mut mount = Mount::mount(Box::new(device), options).map_err(|e| match e {
        MountError::Unreadable(_) => anyhow::anyhow!(
            "{}: {e}; only a plain image of an ext2, ext3 or ext4 filesystem can be changed",
            name()
        ),
        e => anyhow::Error::new(e).context(name()),
    })?;
    mount.set_now(SimTime(now.subsec_nanos().into()));
    let umask = 0;
    let who = Caller {
        umask,
        ..Caller::root()
    };
    work(&mut mount, &who)?;
    let (device, done) = mount.unmount();
    done.context("unmounting")?;
    let changed = device.as_any().downcast_ref::<Overlaid>();
    for (offset, bytes) in changed.iter().flat_map(|d| d.changes()) {
        file.write_all_at(bytes, offset).with_context(name)?;
    }
    file.sync_all().with_context(name)
}

/// Says which path a call failed for.
trait For<T> {
    fn of(self, path: &(impl AsRef<OsStr> + ?Sized)) -> anyhow::Result<T>;
}

impl<T> For<T> for Result<T, Errno> {
    fn of(self, path: &(impl AsRef<OsStr> + ?Sized)) -> anyhow::Result<T> {
        let shown = || escape(path.as_ref().as_bytes());
        self.map_err(|e| anyhow::anyhow!("{}: {}", shown(), e.words()))
    }
}

pub fn write(a: &WriteArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        let mut flags = OpenFlags::WRONLY | OpenFlags::CREAT;
        if a.append {
            flags |= OpenFlags::APPEND;
        } else if a.at.is_none() {
            flags |= OpenFlags::TRUNC;
        }
        let fd = mount
            .open(who, a.path.as_bytes(), flags, a.mode)
            .of(&a.path)?;
        match &a.from {
            None => copy(mount, fd, a, &mut std::io::stdin().lock())?,
            Some(from) => {
                let name = || from.display().to_string();
                let mut file = std::fs::File::open(from).with_context(name)?;
                copy(mount, fd, a, &mut file)?;
            }
        }
        mount.close(fd).of(&a.path)
    })
}

fn copy(mount: &mut Mount, fd: Fd, a: &WriteArgs, from: &mut dyn Read) -> anyhow::Result<()> {
    let mut at = a.at.unwrap_or(0);
    let mut buf = vec![0; PIECE];
    loop {
        let n = from.read(&mut buf).context("reading the contents")?;
        if n == 0 {
            // What is delayed gets its blocks while an error can still be told.
            return mount.fsync(fd).of(&a.path);
        }
        let mut rest = &buf[..n];
        while !rest.is_empty() {
            let done = mount.pwrite(fd, rest, at).of(&a.path)?;
            at += done;
            rest = &rest[done as usize..];
        }
    }
}

pub fn rm(a: &RmArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        for path in &a.paths {
            if a.recursive {
                remove_tree(mount, who, path.as_bytes())?;
            } else {
                mount.unlink(who, path.as_bytes()).of(path)?;
            }
        }
        Ok(())
    })
}

/// Removes a tree, deepest first, without recursion: a hostile one may be very deep.
fn remove_tree(mount: &mut Mount, who: &Caller, path: &[u8]) -> anyhow::Result<()> {
    let last = path.rsplit(|b| *b == b'/').find(|part| !part.is_empty());
    if matches!(last, Some(b"." | b"..")) {
        bail!("{}: \".\" and \"..\" are not removed", escape(path));
    }
    let mut stack = vec![(path.to_vec(), false)];
    while let Some((path, emptied)) = stack.pop() {
        let name = OsStr::from_bytes(&path).to_owned();
        if emptied {
            mount.rmdir(who, &path).of(&name)?;
            continue;
        }
        if mount.lstat(who, &path).of(&name)?.mode & 0xF000 != 0x4000 {
            mount.unlink(who, &path).of(&name)?;
            continue;
        }
        let fd = mount.open(who, &path, OpenFlags::DIRECTORY, 0).of(&name)?;
        let entries = mount.getdents(fd).of(&name)?;
        mount.close(fd).of(&name)?;
        stack.push((path.clone(), true));
        for entry in entries {
            if entry.name != b"." && entry.name != b".." {
                stack.push(([&path[..], b"/", &entry.name].concat(), false));
            }
        }
    }
    Ok(())
}

pub fn mkdir(a: &MkdirArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        for path in &a.paths {
            if a.parents {
                make_parents(mount, who, path, a.mode)?;
            } else {
                mount.mkdir(who, path.as_bytes(), a.mode).of(path)?;
            }
        }
        Ok(())
    })
}

fn make_parents(mount: &mut Mount, who: &Caller, path: &OsStr, mode: u16) -> anyhow::Result<()> {
    let bytes = path.as_bytes();
    let ends = (1..bytes.len()).filter(|at| bytes[*at] == b'/');
    for end in ends.chain([bytes.len()]) {
        match mount.mkdir(who, &bytes[..end], mode) {
            Err(Errno::EEXIST) => {}
            other => other.of(OsStr::from_bytes(&bytes[..end]))?,
        }
    }
    if mount.stat(who, bytes).of(path)?.mode & 0xF000 != 0x4000 {
        bail!("{}: {}", escape(bytes), Errno::EEXIST.words());
    }
    Ok(())
}

pub fn rmdir(a: &RmdirArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        a.paths
            .iter()
            .try_for_each(|path| mount.rmdir(who, path.as_bytes()).of(path))
    })
}

pub fn ln(a: &LnArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        let (target, name) = (a.target.as_bytes(), a.name.as_bytes());
        if a.symbolic {
            mount.symlink(who, target, name).of(&a.name)
        } else {
            mount.link(who, target, name).of(&a.name)
        }
    })
}

pub fn mv(a: &MvArgs) -> anyhow::Result<()> {
    use fslab_engine::kernel::{RENAME_EXCHANGE, RENAME_NOREPLACE};
    let flags = match (a.no_clobber, a.exchange) {
        (true, _) => RENAME_NOREPLACE,
        (_, true) => RENAME_EXCHANGE,
        _ => 0,
    };
    change(&a.image, |mount, who| {
        mount
            .rename(who, a.from.as_bytes(), a.to.as_bytes(), flags)
            .of(&a.from)
    })
}

pub fn chmod(a: &ChmodArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        a.paths
            .iter()
            .try_for_each(|path| mount.chmod(who, path.as_bytes(), a.mode).of(path))
    })
}

pub fn chown(a: &ChownArgs) -> anyhow::Result<()> {
    let (uid, gid) = a.owner;
    change(&a.image, |mount, who| {
        a.paths
            .iter()
            .try_for_each(|path| mount.lchown(who, path.as_bytes(), uid, gid).of(path))
    })
}

pub fn truncate(a: &TruncateArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        mount.truncate(who, a.path.as_bytes(), a.size).of(&a.path)
    })
}

pub fn fallocate(a: &FallocateArgs) -> anyhow::Result<()> {
    use FallocateMode as M;
    let mut mode = M::empty();
    mode.set(M::KEEP_SIZE, a.keep_size || a.punch_hole);
    mode.set(M::PUNCH_HOLE, a.punch_hole);
    mode.set(M::ZERO_RANGE, a.zero_range);
    mode.set(M::COLLAPSE_RANGE, a.collapse_range);
    mode.set(M::INSERT_RANGE, a.insert_range);
    change(&a.image, |mount, who| {
        let flags = OpenFlags::RDWR | OpenFlags::CREAT;
        let fd = mount
            .open(who, a.path.as_bytes(), flags, 0o644)
            .of(&a.path)?;
        mount.fallocate(fd, mode, a.offset, a.length).of(&a.path)?;
        mount.close(fd).of(&a.path)
    })
}

pub fn setfattr(a: &SetfattrArgs) -> anyhow::Result<()> {
    change(&a.image, |mount, who| {
        let (path, name) = (a.path.as_bytes(), a.name.as_bytes());
        match &a.value {
            Some(value) => mount
                .setxattr(who, path, name, value.as_bytes(), SetFlags::empty(), false)
                .of(&a.path),
            None => mount.removexattr(who, path, name, false).of(&a.path),
        }
    })
}
