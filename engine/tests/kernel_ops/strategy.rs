//! Sequences: few names so that they meet, offsets near edges, and sometimes many.

use super::op::{Op, SLOTS, Whence, bits::*};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

/// What a sequence does most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taste {
    Mixed,
    Names,
    Contents,
    /// Until there is no space left, and again.
    Full,
}

/// Sequences of a taste, for blocks of this size.
pub fn sequences(taste: Taste, block: u64, len: usize) -> impl Strategy<Value = Vec<Op>> {
    prop::collection::vec(op(taste, block), len)
}

fn op(taste: Taste, block: u64) -> BoxedStrategy<Op> {
    let (names, contents, rest) = match taste {
        Taste::Mixed => (30, 40, 30),
        Taste::Names => (60, 15, 25),
        Taste::Contents => (10, 75, 15),
        Taste::Full => (25, 35, 15),
    };
    let mut kinds = vec![
        (names, name_op(block).boxed()),
        (contents, contents_op(block).boxed()),
        (rest, meta_op(block).boxed()),
        (16, open_op().boxed()),
    ];
    if taste == Taste::Full {
        kinds.push((2, fill_op(block).boxed()));
    }
    if taste == Taste::Names {
        kinds.push((1, many_op(400).boxed()));
    }
    kinds.push((1, many_op(60).boxed()));
    Union::new_weighted(kinds).boxed()
}

fn slot() -> impl Strategy<Value = usize> {
    0..SLOTS - 1
}

/// Long names differ in their first letter, and one is too long.
fn name() -> BoxedStrategy<String> {
    prop_oneof![
        30 => select(vec!["a", "b", "c", "d", "e"]).prop_map(str::to_owned),
        6 => select(vec!["x", "y", "file with a longer name", "UPPER", "ünï"]).prop_map(str::to_owned),
        2 => (select(vec!["l", "m", "n"]), select(vec![120usize, 250, 255])).prop_map(|(c, n)| c.repeat(n)),
        1 => Just("z".repeat(256)),
        1 => select(vec![".", "..", "lost+found"]).prop_map(str::to_owned),
    ]
    .boxed()
}

fn path() -> BoxedStrategy<String> {
    let depth = prop_oneof![8 => Just(1usize), 8 => Just(2), 3 => Just(3), 1 => 4usize..7];
    let parts = depth.prop_flat_map(|n| prop::collection::vec(name(), n));
    (parts, prop::bool::weighted(0.03))
        .prop_map(|(parts, slash)| parts.join("/") + if slash { "/" } else { "" })
        .boxed()
}

/// A directory that is likely to be there.
fn dir() -> BoxedStrategy<String> {
    prop_oneof![3 => Just(".".to_owned()), 5 => name(), 2 => path()].boxed()
}

fn seed() -> impl Strategy<Value = u8> {
    1..=255u8
}

/// Near the edges of blocks, pages and clusters, mostly low; sometimes far away.
fn offset(block: u64) -> BoxedStrategy<u64> {
    let near = prop_oneof![
        6 => Just(0i64),
        3 => -2..=2i64,
        2 => -600..600i64,
    ];
    let edge = prop_oneof![
        10 => 0..12u64,
        6 => 0..64u64,
        2 => 240..300u64,
        1 => select(vec![12 + 256, 12 + 1024, 12 + 256 + 65536, 12 + 1024 + 1_048_576, 32767, 32768]),
    ];
    let low = (edge, near).prop_map(move |(n, d)| (n * block).saturating_add_signed(d));
    let far = select(vec![
        (1 << 31) - 1,
        1 << 31,
        (1 << 32) - 4096,
        1 << 32,
        1 << 34,
        (1 << 40) + 12345,
        17_247_252_480,
        2_194_719_883_264,
        4_398_050_705_408,
        4_402_341_478_400,
        (((1u64 << 32) - 1) << 12) - 1,
        ((1u64 << 32) - 1) << 12,
        ((1u64 << 32) - 2) << 12,
        ((1u64 << 32) - 1) << 10,
        (((1u64 << 32) - 1) << 10) - 5,
        1 << 45,
        1 << 62,
    ]);
    prop_oneof![30 => low, 1 => far].boxed()
}

fn length(block: u64) -> BoxedStrategy<u64> {
    prop_oneof![
        1 => Just(0u64),
        4 => 1..100u64,
        6 => (1..4u64).prop_map(move |n| n * block),
        4 => 1..4 * block,
        2 => 1..40 * block,
        1 => 1..200_000u64,
    ]
    .boxed()
}

fn open_op() -> impl Strategy<Value = Op> {
    let access = prop_oneof![2 => Just(0), 2 => Just(O_WRONLY), 8 => Just(O_RDWR)];
    let bit = |b: u32, p: f64| prop::bool::weighted(p).prop_map(move |on| if on { b } else { 0 });
    let flags = (
        access,
        bit(O_CREAT, 0.6),
        bit(O_EXCL, 0.1),
        bit(O_TRUNC, 0.1),
        bit(O_APPEND, 0.1),
        bit(O_DIRECTORY, 0.03),
        bit(O_NOFOLLOW, 0.05),
    )
        .prop_map(|(a, b, c, d, e, f, g)| a | b | c | d | e | f | g);
    let named = (slot(), path(), flags, mode()).prop_map(|(slot, path, flags, mode)| Op::Open {
        slot,
        path,
        flags,
        mode,
    });
    let temp = (slot(), dir()).prop_map(|(slot, path)| Op::Open {
        slot,
        path,
        flags: O_TMPFILE | O_RDWR,
        mode: 0o600,
    });
    let dirs = (slot(), dir()).prop_map(|(slot, path)| Op::Open {
        slot,
        path,
        flags: O_DIRECTORY,
        mode: 0,
    });
    prop_oneof![20 => named, 1 => temp, 2 => dirs, 2 => slot().prop_map(|slot| Op::Close { slot })]
}

fn mode() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(0o644u32), 2 => Just(0o755), 1 => 0..0o10000u32]
}

fn name_op(block: u64) -> impl Strategy<Value = Op> {
    let target = prop_oneof![
        6 => path(),
        1 => (1..block as usize + 2).prop_map(|n| "t".repeat(n)),
        1 => select(vec![58usize, 59, 60, 61, 255, 1023, 1024, 4095]).prop_map(|n| "t".repeat(n)),
        2 => (name(), name()).prop_map(|(a, b)| format!("../{a}/{b}")),
    ];
    let rename_flags = prop_oneof![10 => Just(0u32), 2 => Just(NOREPLACE), 3 => Just(EXCHANGE), 1 => Just(WHITEOUT), 1 => 0..9u32];
    let kinds = prop_oneof![
        3 => Just(S_IFIFO), 2 => Just(S_IFSOCK), 2 => Just(S_IFCHR), 2 => Just(S_IFBLK), 2 => Just(S_IFREG), 1 => Just(S_IFDIR)
    ];
    prop_oneof![
        8 => (path(), mode()).prop_map(|(path, mode)| Op::Mkdir { path, mode }),
        4 => path().prop_map(|path| Op::Rmdir { path }),
        8 => path().prop_map(|path| Op::Unlink { path }),
        10 => (path(), path(), rename_flags).prop_map(|(from, to, flags)| Op::Rename { from, to, flags }),
        5 => (path(), path()).prop_map(|(from, to)| Op::Link { from, to }),
        4 => (target, path()).prop_map(|(target, path)| Op::Symlink { target, path }),
        2 => (path(), kinds, mode(), 0..300u32, 0..70_000u32)
            .prop_map(|(path, kind, mode, major, minor)| Op::Mknod { path, mode: kind | mode & 0o7777, major, minor }),
    ]
}

fn contents_op(block: u64) -> impl Strategy<Value = Op> {
    let falloc_mode = prop_oneof![
        4 => Just(0u32), 3 => Just(KEEP_SIZE), 6 => Just(PUNCH_HOLE | KEEP_SIZE), 3 => Just(ZERO_RANGE),
        2 => Just(ZERO_RANGE | KEEP_SIZE), 3 => Just(COLLAPSE_RANGE), 3 => Just(INSERT_RANGE), 1 => 0..64u32
    ];
    let whole = prop_oneof![5 => (0..20u64, 1..20u64).prop_map(move |(o, l)| (o * block, l * block)), 4 => (offset(block), length(block))];
    let whence = select(vec![
        Whence::Set,
        Whence::Cur,
        Whence::End,
        Whence::Data,
        Whence::Hole,
        Whence::Data,
        Whence::Hole,
    ]);
    let seek_to = prop_oneof![6 => offset(block).prop_map(u64::cast_signed), 1 => -5000..5000i64];
    prop_oneof![
        14 => (slot(), offset(block), length(block), seed()).prop_map(|(slot, off, len, seed)| Op::Pwrite { slot, off, len, seed }),
        8 => (slot(), length(block), seed()).prop_map(|(slot, len, seed)| Op::Write { slot, len, seed }),
        8 => (slot(), offset(block), length(block)).prop_map(|(slot, off, len)| Op::Pread { slot, off, len }),
        3 => (slot(), length(block)).prop_map(|(slot, len)| Op::Read { slot, len }),
        5 => (slot(), seek_to, whence).prop_map(|(slot, off, whence)| Op::Seek { slot, off, whence }),
        4 => (slot(), offset(block)).prop_map(|(slot, len)| Op::Ftruncate { slot, len }),
        2 => (path(), offset(block)).prop_map(|(path, len)| Op::Truncate { path, len }),
        8 => (slot(), falloc_mode, whole).prop_map(|(slot, mode, (off, len))| Op::Fallocate { slot, mode, off, len }),
        2 => slot().prop_map(|slot| Op::Fsync { slot }),
        1 => slot().prop_map(|slot| Op::Fdatasync { slot }),
        3 => (slot(), offset(block), prop_oneof![2 => Just(1 << 62), 1 => length(block)], prop::bool::weighted(0.8))
            .prop_map(|(slot, start, len, sync)| Op::Fiemap { slot, start, len, sync }),
    ]
}

fn meta_op(block: u64) -> impl Strategy<Value = Op> {
    let id = || prop_oneof![1 => Just(None), 3 => (0..3u32).prop_map(Some), 1 => select(vec![65535u32, 65536, 100_000, 4_294_967_294]).prop_map(Some)];
    let secs = || prop_oneof![4 => 0..2_000_000_000i64, 1 => select(vec![-1i64, i64::from(i32::MIN), i64::from(i32::MIN) - 1, i64::from(i32::MAX), 1 << 31, 1 << 33, (3 << 32) + (1 << 31) - 1, 3 << 33])];
    let time = move || (secs(), 0..1_000_000_000u32);
    let xname = || {
        prop_oneof![
            8 => select(vec!["user.a", "user.b", "user.longer-name", "trusted.t", "security.s", "trusted.a"]).prop_map(str::to_owned),
            1 => select(vec!["user.", "nope.x", "", "user", "system.nothing"]).prop_map(str::to_owned),
            1 => select(vec![245usize, 250, 251]).prop_map(|n| format!("user.{}", "k".repeat(n))),
        ]
    };
    let value = prop_oneof![
        4 => 0..40usize, 3 => 0..200usize, 2 => 0..block as usize, 1 => block as usize - 100..block as usize + 10,
        1 => select(vec![65536usize, 65537, 10_000, 60_000])
    ];
    let xflags = prop_oneof![6 => Just(0u32), 1 => Just(1u32), 1 => Just(2u32), 1 => Just(3u32)];
    let flags = || {
        prop_oneof![
            6 => select(vec![FL_NODUMP, FL_NOATIME, FL_SYNC, FL_NOTAIL, FL_DIRSYNC, FL_TOPDIR]),
            1 => select(vec![FL_IMMUTABLE, FL_APPEND])
        ]
    };
    prop_oneof![
        3 => (path(), mode()).prop_map(|(path, mode)| Op::Chmod { path, mode }),
        1 => (slot(), mode()).prop_map(|(slot, mode)| Op::Fchmod { slot, mode }),
        2 => (path(), id(), id()).prop_map(|(path, uid, gid)| Op::Chown { path, uid, gid }),
        1 => (path(), id(), id()).prop_map(|(path, uid, gid)| Op::Lchown { path, uid, gid }),
        3 => (path(), time(), time()).prop_map(|(path, atime, mtime)| Op::Utimens { path, atime, mtime }),
        5 => path().prop_map(|path| Op::Stat { path }),
        4 => path().prop_map(|path| Op::Lstat { path }),
        3 => slot().prop_map(|slot| Op::Fstat { slot }),
        3 => slot().prop_map(|slot| Op::Getdents { slot }),
        3 => path().prop_map(|path| Op::Readlink { path }),
        8 => (path(), xname(), value, seed(), xflags, any::<bool>())
            .prop_map(|(path, name, len, seed, flags, follow)| Op::SetXattr { path, name, len, seed, flags, follow }),
        2 => (path(), xname(), any::<bool>()).prop_map(|(path, name, follow)| Op::GetXattr { path, name, follow }),
        1 => (path(), any::<bool>()).prop_map(|(path, follow)| Op::ListXattr { path, follow }),
        3 => (path(), xname(), any::<bool>()).prop_map(|(path, name, follow)| Op::RemoveXattr { path, name, follow }),
        1 => slot().prop_map(|slot| Op::GetFlags { slot }),
        2 => (slot(), prop_oneof![2 => Just(0), 3 => flags()], prop_oneof![2 => Just(FL_IMMUTABLE | FL_APPEND), 1 => flags()])
            .prop_map(|(slot, set, clear)| Op::SetFlags { slot, set, clear }),
        1 => Just(Op::Syncfs),
        1 => prop_oneof![3 => Just(Op::Syncfs), 1 => Just(Op::Remount)],
    ]
}

fn many_op(most: u32) -> impl Strategy<Value = Op> {
    let prefix = || {
        prop_oneof![
            3 => select(vec!["f", "g"]).prop_map(str::to_owned),
            1 => select(vec![100usize, 240]).prop_map(|n| "p".repeat(n)),
        ]
    };
    prop_oneof![
        (dir(), prefix(), most / 2..most).prop_map(|(dir, prefix, count)| Op::Burst {
            dir,
            prefix,
            count
        }),
        (dir(), prefix(), most / 2..most, 1..6u32).prop_map(|(dir, prefix, count, keep)| {
            Op::Purge {
                dir,
                prefix,
                count,
                keep,
            }
        }),
    ]
}

fn fill_op(block: u64) -> impl Strategy<Value = Op> {
    (
        slot(),
        0..64u64,
        select(vec![65536u64, 262_144, 1 << 20]),
        1..24u32,
    )
        .prop_map(move |(slot, off, len, count)| Op::Fill {
            slot,
            off: off * block,
            len,
            count,
        })
}
