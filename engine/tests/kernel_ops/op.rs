//! The calls of a sequence, as plain data.

/// Descriptors that a sequence has at a time.
pub const SLOTS: usize = 6;

/// `open`'s flags and `mknod`'s types, by Linux's numbers.
pub mod bits {
    pub const O_WRONLY: u32 = 1;
    pub const O_RDWR: u32 = 2;
    pub const O_CREAT: u32 = 0o100;
    pub const O_EXCL: u32 = 0o200;
    pub const O_TRUNC: u32 = 0o1000;
    pub const O_APPEND: u32 = 0o2000;
    pub const O_DIRECTORY: u32 = 0o200_000;
    pub const O_NOFOLLOW: u32 = 0o400_000;
    pub const O_TMPFILE: u32 = 0o20_000_000 | O_DIRECTORY;

    pub const KEEP_SIZE: u32 = 1;
    pub const PUNCH_HOLE: u32 = 2;
    pub const COLLAPSE_RANGE: u32 = 8;
    pub const ZERO_RANGE: u32 = 0x10;
    pub const INSERT_RANGE: u32 = 0x20;

    pub const NOREPLACE: u32 = 1;
    pub const EXCHANGE: u32 = 2;
    pub const WHITEOUT: u32 = 4;

    pub const XATTR_CREATE: u32 = 1;
    pub const XATTR_REPLACE: u32 = 2;

    pub const S_IFMT: u32 = 0o170_000;
    pub const S_IFIFO: u32 = 0o010_000;
    pub const S_IFCHR: u32 = 0o020_000;
    pub const S_IFDIR: u32 = 0o040_000;
    pub const S_IFBLK: u32 = 0o060_000;
    pub const S_IFREG: u32 = 0o100_000;
    pub const S_IFLNK: u32 = 0o120_000;
    pub const S_IFSOCK: u32 = 0o140_000;

    pub const FL_SYNC: u32 = 0x8;
    pub const FL_IMMUTABLE: u32 = 0x10;
    pub const FL_APPEND: u32 = 0x20;
    pub const FL_NODUMP: u32 = 0x40;
    pub const FL_NOATIME: u32 = 0x80;
    pub const FL_NOTAIL: u32 = 0x8000;
    pub const FL_DIRSYNC: u32 = 0x1_0000;
    pub const FL_TOPDIR: u32 = 0x2_0000;
    /// Those that sequences change, which are also those that the model knows.
    pub const FL_OURS: u32 = FL_SYNC
        | FL_IMMUTABLE
        | FL_APPEND
        | FL_NODUMP
        | FL_NOATIME
        | FL_NOTAIL
        | FL_DIRSYNC
        | FL_TOPDIR;
}

/// `lseek`'s way of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whence {
    Set,
    Cur,
    End,
    Data,
    Hole,
}

/// Seconds and nanoseconds.
pub type Time = (i64, u32);

/// One call, or a run of similar ones. Paths are relative to the filesystem's root.
#[derive(Clone, PartialEq, Eq)]
pub enum Op {
    Open {
        slot: usize,
        path: String,
        flags: u32,
        mode: u32,
    },
    Close {
        slot: usize,
    },
    Read {
        slot: usize,
        len: u64,
    },
    Pread {
        slot: usize,
        off: u64,
        len: u64,
    },
    Write {
        slot: usize,
        len: u64,
        seed: u8,
    },
    Pwrite {
        slot: usize,
        off: u64,
        len: u64,
        seed: u8,
    },
    Seek {
        slot: usize,
        off: i64,
        whence: Whence,
    },
    Ftruncate {
        slot: usize,
        len: u64,
    },
    Truncate {
        path: String,
        len: u64,
    },
    Fallocate {
        slot: usize,
        mode: u32,
        off: u64,
        len: u64,
    },
    Fsync {
        slot: usize,
    },
    Fdatasync {
        slot: usize,
    },
    Syncfs,
    Rename {
        from: String,
        to: String,
        flags: u32,
    },
    Link {
        from: String,
        to: String,
    },
    Symlink {
        target: String,
        path: String,
    },
    Readlink {
        path: String,
    },
    Unlink {
        path: String,
    },
    Mkdir {
        path: String,
        mode: u32,
    },
    Rmdir {
        path: String,
    },
    Mknod {
        path: String,
        mode: u32,
        major: u32,
        minor: u32,
    },
    Chmod {
        path: String,
        mode: u32,
    },
    Fchmod {
        slot: usize,
        mode: u32,
    },
    Chown {
        path: String,
        uid: Option<u32>,
        gid: Option<u32>,
    },
    Lchown {
        path: String,
        uid: Option<u32>,
        gid: Option<u32>,
    },
    Utimens {
        path: String,
        atime: Time,
        mtime: Time,
    },
    Stat {
        path: String,
    },
    Lstat {
        path: String,
    },
    Fstat {
        slot: usize,
    },
    Getdents {
        slot: usize,
    },
    SetXattr {
        path: String,
        name: String,
        len: usize,
        seed: u8,
        flags: u32,
        follow: bool,
    },
    GetXattr {
        path: String,
        name: String,
        follow: bool,
    },
    ListXattr {
        path: String,
        follow: bool,
    },
    RemoveXattr {
        path: String,
        name: String,
        follow: bool,
    },
    Fiemap {
        slot: usize,
        start: u64,
        len: u64,
        sync: bool,
    },
    GetFlags {
        slot: usize,
    },
    /// Reads the flags, sets and clears some, writes them.
    SetFlags {
        slot: usize,
        set: u32,
        clear: u32,
    },
    /// Unmounts and mounts again.
    Remount,
    /// Makes files `prefix000`, `prefix001`, … in a directory.
    Burst {
        dir: String,
        prefix: String,
        count: u32,
    },
    /// Unlinks those of a burst whose number is not a multiple of `keep`.
    Purge {
        dir: String,
        prefix: String,
        count: u32,
        keep: u32,
    },
    /// Writes `count` times `len` bytes, one after another.
    Fill {
        slot: usize,
        off: u64,
        len: u64,
        count: u32,
    },
}

impl Op {
    /// The single calls that this one stands for.
    pub fn expand(&self) -> Vec<Op> {
        let last = SLOTS - 1;
        match self {
            Op::Burst { dir, prefix, count } => {
                let make = |n| {
                    let path = format!("{dir}/{prefix}{n:03}");
                    let open = Op::Open {
                        slot: last,
                        path,
                        flags: bits::O_CREAT | bits::O_WRONLY,
                        mode: 0o644,
                    };
                    [open, Op::Close { slot: last }]
                };
                (0..*count).flat_map(make).collect()
            }
            Op::Purge {
                dir,
                prefix,
                count,
                keep,
            } => {
                let gone = (0..*count).filter(|n| n % keep.max(&1) != 0);
                let take = |n| Op::Unlink {
                    path: format!("{dir}/{prefix}{n:03}"),
                };
                gone.map(take).collect()
            }
            Op::Fill {
                slot,
                off,
                len,
                count,
            } => {
                let write = |n: u32| Op::Pwrite {
                    slot: *slot,
                    off: off + u64::from(n) * len,
                    len: *len,
                    seed: n as u8,
                };
                (0..*count).map(write).collect()
            }
            // Where it leads is the page cache's affair; what follows must not be.
            Op::Seek {
                slot,
                off,
                whence: Whence::Data | Whence::Hole,
            } => {
                let back = Op::Seek {
                    slot: *slot,
                    off: *off,
                    whence: Whence::Set,
                };
                vec![self.clone(), back]
            }
            other => vec![other.clone()],
        }
    }
}

/// What is written by a call with this seed.
pub fn pattern(seed: u8, len: u64) -> Vec<u8> {
    let byte = |i: u64| (i.wrapping_mul(31) ^ (i >> 8).wrapping_mul(17)) as u8;
    (0..len).map(|i| byte(i).wrapping_add(seed)).collect()
}

/// Long names are told by their length.
struct Text<'a>(&'a str);

impl std::fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = |part: &str| match part.len() {
            0..=40 => part.to_owned(),
            n => format!("{}…({n})", &part[..1]),
        };
        let parts: Vec<String> = self.0.split('/').map(short).collect();
        write!(f, "\"{}\"", parts.join("/"))
    }
}

macro_rules! show {
    ($f:ident, $self:ident; $($name:ident { $($field:ident $(: $how:ident)?),* })*) => {
        match $self {
            $(Op::$name { $($field),* } => {
                let mut s = $f.debug_struct(stringify!($name));
                $(show!(@one s, $field $(, $how)?);)*
                s.finish()
            })*
            Op::Syncfs => $f.write_str("Syncfs"),
            Op::Remount => $f.write_str("Remount"),
        }
    };
    (@one $s:ident, $field:ident) => { $s.field(stringify!($field), $field); };
    (@one $s:ident, $field:ident, text) => { $s.field(stringify!($field), &Text($field)); };
    (@one $s:ident, $field:ident, hex) => { $s.field(stringify!($field), &format_args!("{:#x}", $field)); };
    (@one $s:ident, $field:ident, oct) => { $s.field(stringify!($field), &format_args!("{:#o}", $field)); };
}

impl std::fmt::Debug for Op {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        show! { f, self;
            Open { slot, path: text, flags: oct, mode: oct }
            Close { slot }
            Read { slot, len }
            Pread { slot, off, len }
            Write { slot, len, seed }
            Pwrite { slot, off, len, seed }
            Seek { slot, off, whence }
            Ftruncate { slot, len }
            Truncate { path: text, len }
            Fallocate { slot, mode: hex, off, len }
            Fsync { slot }
            Fdatasync { slot }
            Rename { from: text, to: text, flags }
            Link { from: text, to: text }
            Symlink { target: text, path: text }
            Readlink { path: text }
            Unlink { path: text }
            Mkdir { path: text, mode: oct }
            Rmdir { path: text }
            Mknod { path: text, mode: oct, major, minor }
            Chmod { path: text, mode: oct }
            Fchmod { slot, mode: oct }
            Chown { path: text, uid, gid }
            Lchown { path: text, uid, gid }
            Utimens { path: text, atime, mtime }
            Stat { path: text }
            Lstat { path: text }
            Fstat { slot }
            Getdents { slot }
            SetXattr { path: text, name: text, len, seed, flags, follow }
            GetXattr { path: text, name: text, follow }
            ListXattr { path: text, follow }
            RemoveXattr { path: text, name: text, follow }
            Fiemap { slot, start, len, sync }
            GetFlags { slot }
            SetFlags { slot, set: hex, clear: hex }
            Burst { dir: text, prefix, count }
            Purge { dir: text, prefix, count, keep }
            Fill { slot, off, len, count }
        }
    }
}
