//! The names that every program knows: calls, functions, constants.

use crate::ext4::layout::InodeFlags;
use crate::kernel::{
    Errno, FallocateMode, OpenFlags, RENAME_EXCHANGE, RENAME_NOREPLACE, RENAME_WHITEOUT,
};

/// What a parameter is when it is left out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Default {
    /// It has to be there.
    Needed,
    Nothing,
    Int(i64),
    /// As many as one likes.
    Any,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) default: Default,
    /// The default as it is written.
    pub(super) written: &'static str,
}

/// A call or a function of the language.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Signature {
    pub(super) name: &'static str,
    pub(super) what: What,
    pub(super) params: &'static [Parameter],
    pub(super) doc: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    Call(Sys),
    Builtin(Builtin),
}

impl Signature {
    /// `open(path, flags = O_RDONLY, mode = 0644)`.
    pub(super) fn written(&self) -> String {
        let params = self.params.iter().map(|p| match p.default {
            Default::Needed => p.name.to_string(),
            Default::Any => "…".to_string(),
            _ => format!("{} = {}", p.name, p.written),
        });
        format!("{}({})", self.name, params.collect::<Vec<_>>().join(", "))
    }
}

macro_rules! default {
    () => {
        (Default::Needed, "")
    };
    (nothing) => {
        (Default::Nothing, "nothing")
    };
    (any) => {
        (Default::Any, "")
    };
    (($value:literal $written:literal)) => {
        (Default::Int($value), $written)
    };
}

/// Calls and functions, each declared on one line: `"name" Variant [parameters] "doc"`.
macro_rules! signatures {
    ($(#[$meta:meta])* $table:ident $wrap:ident $kind:ident;
     $($name:literal $variant:ident [$($param:ident $(= $default:tt)?),*] $doc:literal)*) => {
        $(#[$meta])*
        pub(super) const $table: &[Signature] = &[$(Signature {
            name: $name,
            what: What::$wrap($kind::$variant),
            params: &[$(Parameter {
                name: stringify!($param),
                default: default!($($default)?).0,
                written: default!($($default)?).1,
            }),*],
            doc: $doc,
        }),*];
    };
}

/// A call of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sys {
    Open,
    Creat,
    Close,
    Read,
    Pread,
    Write,
    Pwrite,
    Lseek,
    Ftruncate,
    Truncate,
    Fsync,
    Fdatasync,
    Sync,
    Syncfs,
    SyncFileRange,
    Fallocate,
    Mkdir,
    Rmdir,
    Unlink,
    Link,
    Symlink,
    Readlink,
    Rename,
    Mknod,
    Chmod,
    Fchmod,
    Chown,
    Lchown,
    Utimens,
    Stat,
    Lstat,
    Fstat,
    Getdents,
    Setxattr,
    Getxattr,
    Listxattr,
    Removexattr,
    Fiemap,
    Getflags,
    Setflags,
    Swapon,
    Statfs,
    Fitrim,
    Sleep,
}

signatures! {
    /// The calls.
    CALLS Call Sys;
    "open" Open [path, flags = (0 "O_RDONLY"), mode = (0o644 "0644")]
        "Opens a file and gives its descriptor."
    "creat" Creat [path, mode = (0o644 "0644")]
        "Makes a file, or cuts it to nothing, and opens it for writing."
    "close" Close [fd]
        "Gives a descriptor back."
    "read" Read [fd, len]
        "Reads up to len bytes from where the descriptor is."
    "pread" Pread [fd, len, offset]
        "Reads up to len bytes from offset on."
    "write" Write [fd, contents]
        "Writes where the descriptor is; a number means so many bytes of data()."
    "pwrite" Pwrite [fd, contents, offset]
        "Writes from offset on."
    "lseek" Lseek [fd, offset, whence = (0 "SEEK_SET")]
        "Moves the descriptor."
    "ftruncate" Ftruncate [fd, len]
        "Makes the file so long."
    "truncate" Truncate [path, len]
        "Makes the file so long."
    "fsync" Fsync [fd]
        "Waits until the file's contents and inode are safe."
    "fdatasync" Fdatasync [fd]
        "As fsync, less what is not needed to read the contents."
    "sync" Sync []
        "Waits until everything is written."
    "syncfs" Syncfs [fd]
        "Waits until everything on the descriptor's filesystem is written."
    "sync_file_range" SyncFileRange [fd, offset = (0 "0"), len = (0 "0")]
        "Writes a range of contents; no metadata, no flush."
    "fallocate" Fallocate [fd, mode, offset, len]
        "Reserves, punches, zeroes, collapses or inserts a range."
    "mkdir" Mkdir [path, mode = (0o755 "0755")]
        "Makes a directory."
    "rmdir" Rmdir [path]
        "Removes an empty directory."
    "unlink" Unlink [path]
        "Removes a name."
    "link" Link [old, new]
        "Gives a file one more name."
    "symlink" Symlink [target, path]
        "Makes a symbolic link."
    "readlink" Readlink [path]
        "Gives a symbolic link's target."
    "rename" Rename [old, new, flags = (0 "0")]
        "Gives a file another name."
    "mknod" Mknod [path, mode, major = (0 "0"), minor = (0 "0")]
        "Makes a device file, a pipe, a socket or a file."
    "chmod" Chmod [path, mode]
        "Changes permissions."
    "fchmod" Fchmod [fd, mode]
        "Changes permissions."
    "chown" Chown [path, uid = nothing, gid = nothing]
        "Changes owner and group."
    "lchown" Lchown [path, uid = nothing, gid = nothing]
        "Changes owner and group of a link itself."
    "utimens" Utimens [path, atime = nothing, mtime = nothing]
        "Sets times, in seconds since 1970."
    "stat" Stat [path]
        "Gives size, mode and so on, as fields."
    "lstat" Lstat [path]
        "As stat, of a link itself."
    "fstat" Fstat [fd]
        "As stat, of an open file."
    "getdents" Getdents [fd]
        "Gives the names in an open directory."
    "readdir" Getdents [fd]
        "Gives the names in an open directory."
    "setxattr" Setxattr [path, name, value]
        "Sets an extended attribute."
    "getxattr" Getxattr [path, name]
        "Gives an extended attribute's value."
    "listxattr" Listxattr [path]
        "Gives the names of extended attributes."
    "removexattr" Removexattr [path, name]
        "Removes an extended attribute."
    "fiemap" Fiemap [fd, start = (0 "0"), len = (0x7FFF_FFFF_FFFF_FFFF "all"), sync = (0 "0")]
        "Gives where the contents are, as a list of extents."
    "getflags" Getflags [fd]
        "Gives the flags that lsattr shows."
    "setflags" Setflags [fd, flags]
        "Sets the flags that chattr sets."
    "swapon" Swapon [path]
        "Tries to use a file as swap: it may have no holes."
    "statfs" Statfs []
        "Gives how much space there is, as fields."
    "fitrim" Fitrim [start = (0 "0"), len = (0x7FFF_FFFF_FFFF_FFFF "all"), min_len = (0 "0")]
        "Tells the device what is free."
    "sleep" Sleep [time]
        "Waits: sleep(5ms)."
}

/// A function of the language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    Print,
    Must,
    Failed,
    Exit,
    Len,
    Range,
    Push,
    Pop,
    Take,
    Slice,
    Random,
    Zipf,
    Choose,
    Shuffle,
    Now,
    Data,
    Pattern,
    Zeros,
    Text,
    Number,
    Pad,
    Hex,
    Oct,
    Repeat,
    Split,
    StartsWith,
    EndsWith,
    Abs,
    Min,
    Max,
}

signatures! {
    /// The functions.
    BUILTINS Builtin Builtin;
    "print" Print [values = any]
        "Shows values, with spaces between them."
    "must" Must [result]
        "Ends the program if a call failed, and shows why; else gives what it gave."
    "failed" Failed [result]
        "Whether a call failed."
    "exit" Exit []
        "Ends the program."
    "len" Len [of]
        "Bytes of a string or of data, items of a list."
    "range" Range [start, end = nothing, step = (1 "1")]
        "range(n): 0 to n-1; range(a, b): a to b-1."
    "push" Push [list, item]
        "Puts an item at the end of a list in a variable."
    "pop" Pop [list]
        "Takes the last item out of a list in a variable."
    "take" Take [list, index]
        "Takes an item out of a list in a variable."
    "slice" Slice [of, from, len = nothing]
        "A part of a string, of data or of a list."
    "random" Random [n, end = nothing]
        "A random number: random(n) below n, random(a, b) from a to b-1."
    "zipf" Zipf [n, theta = (99 "99")]
        "A random number below n, small ones far more often; theta in hundredths."
    "choose" Choose [list]
        "A random item."
    "shuffle" Shuffle [list]
        "The list in random order."
    "now" Now []
        "The simulated time since the start, in nanoseconds."
    "data" Data [len]
        "So many generated bytes, new ones each time; they cost no memory."
    "pattern" Pattern [len, seed, from = (0 "0")]
        "So many generated bytes, the same for the same seed."
    "zeros" Zeros [len]
        "So many zero bytes."
    "text" Text [value]
        "A value as a string."
    "number" Number [text]
        "A string of digits as a number."
    "pad" Pad [n, width, with = nothing]
        "A number as a string, filled up with zeros: pad(7, 3) is \"007\"."
    "hex" Hex [n]
        "A number as a hexadecimal string."
    "oct" Oct [n]
        "A number as an octal string: 0644."
    "repeat" Repeat [value, times]
        "A string or a list, so many times."
    "split" Split [text, by]
        "The parts of a string, as a list."
    "starts_with" StartsWith [text, with]
        "Whether a string begins with another."
    "ends_with" EndsWith [text, with]
        "Whether a string ends with another."
    "abs" Abs [n]
        "A number without its sign."
    "min" Min [a, b]
        "The smaller one."
    "max" Max [a, b]
        "The larger one."
}

/// A constant's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Constant {
    Int(i64),
    Error(Errno),
}

const OPEN: [(&str, OpenFlags); 16] = [
    ("O_RDONLY", OpenFlags::empty()),
    ("O_WRONLY", OpenFlags::WRONLY),
    ("O_RDWR", OpenFlags::RDWR),
    ("O_CREAT", OpenFlags::CREAT),
    ("O_EXCL", OpenFlags::EXCL),
    ("O_TRUNC", OpenFlags::TRUNC),
    ("O_APPEND", OpenFlags::APPEND),
    ("O_DSYNC", OpenFlags::DSYNC),
    ("O_DIRECT", OpenFlags::DIRECT),
    ("O_DIRECTORY", OpenFlags::DIRECTORY),
    ("O_NOFOLLOW", OpenFlags::NOFOLLOW),
    ("O_NOATIME", OpenFlags::NOATIME),
    ("O_SYNC", OpenFlags::SYNC.union(OpenFlags::DSYNC)),
    // What has no meaning here: programs say it all the same.
    ("O_CLOEXEC", OpenFlags::empty()),
    ("O_LARGEFILE", OpenFlags::empty()),
    ("O_TMPFILE", OpenFlags::TMPFILE),
];

const FALLOCATE: [(&str, FallocateMode); 6] = [
    ("FALLOC_FL_KEEP_SIZE", FallocateMode::KEEP_SIZE),
    ("FALLOC_FL_PUNCH_HOLE", FallocateMode::PUNCH_HOLE),
    ("FALLOC_FL_NO_HIDE_STALE", FallocateMode::NO_HIDE_STALE),
    ("FALLOC_FL_COLLAPSE_RANGE", FallocateMode::COLLAPSE_RANGE),
    ("FALLOC_FL_ZERO_RANGE", FallocateMode::ZERO_RANGE),
    ("FALLOC_FL_INSERT_RANGE", FallocateMode::INSERT_RANGE),
];

const FLAGS: [(&str, InodeFlags); 11] = [
    ("FS_SECRM_FL", InodeFlags::SECRM),
    ("FS_UNRM_FL", InodeFlags::UNRM),
    ("FS_COMPR_FL", InodeFlags::COMPR),
    ("FS_SYNC_FL", InodeFlags::SYNC),
    ("FS_IMMUTABLE_FL", InodeFlags::IMMUTABLE),
    ("FS_APPEND_FL", InodeFlags::APPEND),
    ("FS_NODUMP_FL", InodeFlags::NODUMP),
    ("FS_NOATIME_FL", InodeFlags::NOATIME),
    ("FS_DIRSYNC_FL", InodeFlags::DIRSYNC),
    ("FS_TOPDIR_FL", InodeFlags::TOPDIR),
    ("FS_EXTENT_FL", InodeFlags::EXTENTS),
];

/// Plain numbers, as Linux has them.
const NUMBERS: [(&str, i64); 15] = [
    ("SEEK_SET", 0),
    ("SEEK_CUR", 1),
    ("SEEK_END", 2),
    ("SEEK_DATA", 3),
    ("SEEK_HOLE", 4),
    ("S_IFMT", 0o17_0000),
    ("S_IFSOCK", 0o14_0000),
    ("S_IFLNK", 0o12_0000),
    ("S_IFREG", 0o10_0000),
    ("S_IFBLK", 0o6_0000),
    ("S_IFDIR", 0o4_0000),
    ("S_IFCHR", 0o2_0000),
    ("S_IFIFO", 0o1_0000),
    ("FS_JOURNAL_DATA_FL", 0x4000),
    ("FS_PROJINHERIT_FL", 0x2000_0000),
];

const RENAME: [(&str, u32); 3] = [
    ("RENAME_NOREPLACE", RENAME_NOREPLACE),
    ("RENAME_EXCHANGE", RENAME_EXCHANGE),
    ("RENAME_WHITEOUT", RENAME_WHITEOUT),
];

/// Every constant.
pub(super) fn constants() -> impl Iterator<Item = (&'static str, Constant)> {
    let int = |(name, n): (&'static str, u32)| (name, Constant::Int(n.into()));
    let open = OPEN.iter().map(|(n, f)| (*n, f.bits())).map(int);
    let fallocate = FALLOCATE.iter().map(|(n, f)| (*n, f.bits())).map(int);
    let flags = FLAGS.iter().map(|(n, f)| (*n, f.bits())).map(int);
    let rename = RENAME.into_iter().map(int);
    let numbers = NUMBERS.into_iter().map(|(n, v)| (n, Constant::Int(v)));
    let errors = Errno::ALL.iter().map(|e| (e.name(), Constant::Error(*e)));
    open.chain(fallocate)
        .chain(flags)
        .chain(rename)
        .chain(numbers)
        .chain(errors)
}

pub(super) fn constant(name: &str) -> Option<Constant> {
    let capital = name.starts_with(|c: char| c.is_ascii_uppercase());
    capital
        .then(|| constants().find(|(n, _)| *n == name))
        .flatten()
        .map(|(_, c)| c)
}

/// Calls and functions.
pub(super) fn signatures() -> impl Iterator<Item = &'static Signature> {
    CALLS.iter().chain(BUILTINS)
}

pub(super) fn signature(name: &str) -> Option<&'static Signature> {
    signatures().find(|s| s.name == name)
}

/// Fields of what stat, statfs and fiemap give.
pub(super) const FIELDS: [(&str, &str); 23] = [
    ("ino", "the inode's number"),
    ("mode", "type and permissions"),
    ("nlink", "names"),
    ("uid", "owner"),
    ("gid", "group"),
    ("major", "of a device file"),
    ("minor", "of a device file"),
    ("size", "bytes"),
    ("blocks", "stat: sectors of 512 bytes; statfs: all blocks"),
    ("blksize", "bytes that are good to read at once"),
    ("atime", "last read, seconds since 1970"),
    ("mtime", "last change of contents, seconds since 1970"),
    ("ctime", "last change of the inode, seconds since 1970"),
    ("logical", "where an extent begins in the file, bytes"),
    ("physical", "where an extent begins on the device, bytes"),
    ("length", "bytes of an extent"),
    ("flags", "FIEMAP flags of an extent"),
    ("block_size", "bytes of a block"),
    ("free", "free blocks"),
    ("available", "blocks free for everybody"),
    ("inodes", "all inodes"),
    ("free_inodes", "free inodes"),
    ("errno", "the number of an error"),
];

/// The name of a call.
pub(super) fn call_name(sys: Sys) -> &'static str {
    let found = CALLS.iter().find(|s| s.what == What::Call(sys));
    found.map_or("the call", |s| s.name)
}
