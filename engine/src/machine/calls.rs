//! A program's call becomes the kernel's.

use crate::ext4::layout::Timestamp;
use crate::kernel::xattr::SetFlags;
use crate::kernel::{Caller, Errno, Fd, Mount, Result};
use crate::scenario::{Answer, Call, Contents, Reply};

/// Bytes that one read gives at most: what was written as a pattern takes memory when read.
const MAX_READ: u64 = 16 << 20;

fn number<T: Into<u64>>(n: T) -> Reply {
    Reply::Number(n.into())
}

fn zero((): ()) -> Reply {
    Reply::Number(0)
}

fn bytes(bytes: Vec<u8>) -> Reply {
    Reply::Bytes(bytes.into())
}

fn seconds(secs: i64) -> Timestamp {
    Timestamp { secs, nanos: 0 }
}

/// Runs a call at once, all of its logic. `fsync` and its like go another way where they
/// have something to wait for on the way.
pub(crate) fn run(m: &mut Mount, who: &Caller, call: &Call) -> Answer {
    match call {
        Call::Open { path, flags, mode } => m.open(who, path, *flags, *mode).map(|fd| number(fd.0)),
        Call::Mkdir { path, mode } => m.mkdir(who, path, *mode).map(zero),
        Call::Rmdir { path } => m.rmdir(who, path).map(zero),
        Call::Unlink { path } => m.unlink(who, path).map(zero),
        Call::Link { old, new } => m.link(who, old, new).map(zero),
        Call::Symlink { target, path } => m.symlink(who, target, path).map(zero),
        Call::Readlink { path } => m.readlink(who, path).map(bytes),
        Call::Rename { old, new, flags } => m.rename(who, old, new, *flags).map(zero),
        Call::Mknod { path, mode, dev } => m.mknod(who, path, *mode, *dev).map(zero),
        Call::Truncate { path, len } => m.truncate(who, path, *len).map(zero),
        Call::Chmod { path, mode } => m.chmod(who, path, *mode).map(zero),
        Call::Chown { path, uid, gid } => m.chown(who, path, *uid, *gid).map(zero),
        Call::Lchown { path, uid, gid } => m.lchown(who, path, *uid, *gid).map(zero),
        Call::Utimens { path, atime, mtime } => m
            .utimens(who, path, atime.map(seconds), mtime.map(seconds))
            .map(zero),
        Call::Stat { path } => m.stat(who, path).map(Reply::Stat),
        Call::Lstat { path } => m.lstat(who, path).map(Reply::Stat),
        Call::Setxattr { path, name, value } => m
            .setxattr(who, path, name, value, SetFlags::empty(), true)
            .map(zero),
        Call::Getxattr { path, name } => m.getxattr(who, path, name, true).map(bytes),
        Call::Listxattr { path } => m.listxattr(who, path, true).map(Reply::Names),
        Call::Removexattr { path, name } => m.removexattr(who, path, name, true).map(zero),
        Call::Swapon { path } => m.swapon(who, path).map(zero),
        Call::Sync => m.sync().map(zero),
        Call::Statfs => Ok(statfs(m)),
        Call::Fitrim {
            start,
            len,
            min_len,
        } => m.fitrim(*start, *len, *min_len).map(number),
        Call::Sleep { .. } => Ok(Reply::Number(0)),
        _ => on_descriptor(m, call),
    }
}

fn on_descriptor(m: &mut Mount, call: &Call) -> Answer {
    match call {
        Call::Close { fd } => m.close(*fd).map(zero),
        Call::Read { fd, len } => m.read(*fd, (*len).min(MAX_READ)).map(bytes),
        Call::Pread { fd, len, offset } => m.pread(*fd, (*len).min(MAX_READ), *offset).map(bytes),
        Call::Write { fd, contents } => write(m, *fd, contents).map(number),
        Call::Pwrite {
            fd,
            contents,
            offset,
        } => pwrite(m, *fd, contents, *offset).map(number),
        Call::Lseek { fd, offset, whence } => m.lseek(*fd, *offset, *whence).map(number),
        Call::Ftruncate { fd, len } => m.ftruncate(*fd, *len).map(zero),
        Call::Fsync { fd } => m.fsync(*fd).map(zero),
        Call::Fdatasync { fd } => m.fdatasync(*fd).map(zero),
        Call::Syncfs { fd } => m.syncfs(*fd).map(zero),
        Call::SyncFileRange { fd, offset, len } => m.sync_file_range(*fd, *offset, *len).map(zero),
        Call::Fallocate {
            fd,
            mode,
            offset,
            len,
        } => m.fallocate(*fd, *mode, *offset, *len).map(zero),
        Call::Fchmod { fd, mode } => m.fchmod(*fd, *mode).map(zero),
        Call::Fstat { fd } => m.fstat(*fd).map(Reply::Stat),
        Call::Getdents { fd } => names(m, *fd),
        Call::Fiemap {
            fd,
            start,
            len,
            sync,
        } => m.fiemap(*fd, *start, *len, *sync).map(Reply::Extents),
        Call::Getflags { fd } => m.getflags(*fd).map(number),
        Call::Setflags { fd, flags } => m.setflags(*fd, *flags).map(zero),
        _ => Err(Errno::EINVAL),
    }
}

fn write(m: &mut Mount, fd: Fd, contents: &Contents) -> Result<u64> {
    match contents {
        Contents::Bytes(bytes) => m.write(fd, bytes),
        Contents::Pattern { seed, from, len } => m.write_pattern(fd, *len, *seed, *from),
    }
}

fn pwrite(m: &mut Mount, fd: Fd, contents: &Contents, offset: u64) -> Result<u64> {
    match contents {
        Contents::Bytes(bytes) => m.pwrite(fd, bytes, offset),
        Contents::Pattern { seed, from, len } => m.pwrite_pattern(fd, *len, offset, *seed, *from),
    }
}

fn names(m: &mut Mount, fd: Fd) -> Answer {
    let entries = m.getdents(fd)?;
    let names = entries.into_iter().map(|e| e.name.to_vec());
    Ok(Reply::Names(
        names.filter(|n| n != b"." && n != b"..").collect(),
    ))
}

fn statfs(m: &Mount) -> Reply {
    let s = m.statfs();
    Reply::Statfs {
        block_size: m.vol.block_size() as u64,
        blocks: [s.blocks, s.free, s.available],
        inodes: [s.inodes, s.free_inodes],
    }
}
