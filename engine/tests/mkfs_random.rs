//! Whatever mkfs is asked for, it answers: with a filesystem in which our own reader finds
//! nothing wrong, or with a reason, and never with a panic.

mod exercise;

use fslab_engine::disk::CowDisk;
use fslab_engine::ext4::mkfs::{
    FsType, JournalOptions, JournalPlacement, MkfsError, Options, QuotaTypes, mkfs, plan,
};
use fslab_engine::ext4::read::Fs;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

/// Words of `-O`; most of them can stand together.
const FEATURES: &[&str] = &[
    "has_journal",
    "^has_journal",
    "extent",
    "^extent,^64bit",
    "flex_bg",
    "^flex_bg",
    "metadata_csum",
    "^metadata_csum",
    "extent,64bit",
    "^64bit",
    "resize_inode",
    "^resize_inode",
    "sparse_super",
    "^sparse_super,^resize_inode",
    "sparse_super2",
    "extent,bigalloc",
    "inline_data",
    "meta_bg,^resize_inode",
    "uninit_bg",
    "quota",
    "project",
    "orphan_file,has_journal",
    "mmp",
    "fast_commit",
    "ea_inode",
    "casefold",
    "encrypt",
    "metadata_csum_seed",
    "large_dir",
    "^filetype",
    "meta_bg",
    "bigalloc",
    "^extent",
    "none",
    "journal_dev",
];

/// Now and then a number that makes sense, now and then any.
fn number(usual: &'static [u32]) -> impl Strategy<Value = Option<u32>> {
    prop_oneof![
        30 => Just(None),
        18 => select(usual).prop_map(Some),
        1 => any::<u32>().prop_map(Some),
        1 => (0u32..5000).prop_map(Some),
    ]
}

fn shape() -> impl Strategy<Value = Options> {
    let types = select(&[FsType::Ext2, FsType::Ext3, FsType::Ext4][..]);
    let features = subsequence(FEATURES, 0..6).prop_shuffle();
    let sizes = (
        number(&[1024, 2048, 4096, 8192, 65536]),
        number(&[2048, 16384, 65536, 1 << 20]),
        number(&[256, 512, 8192, 32768]),
        number(&[1, 2, 16, 64, 1 << 31]),
        number(&[128, 256, 512, 1024]),
        number(&[1024, 4096, 65536]),
        number(&[1, 11, 12, 17, 5000]),
    );
    (types, features, sizes).prop_map(|(fs_type, features, n)| Options {
        fs_type,
        block_size: n.0,
        cluster_size: n
            .1
            .filter(|_| features.iter().any(|f| f.contains("bigalloc"))),
        features: features.into_iter().map(str::to_string).collect(),
        blocks_per_group: n.2,
        flex_groups: n.3.filter(|_| fs_type == FsType::Ext4),
        inode_size: n.4,
        inode_ratio: n.5,
        inodes: n.6.map(u64::from),
        now: 1_600_000_000,
        uuid: [7; 16],
        ..Options::default()
    })
}

fn journal() -> impl Strategy<Value = JournalOptions> {
    let places = prop_oneof![
        Just(JournalPlacement::Default),
        Just(JournalPlacement::LargestOfThree),
        Just(JournalPlacement::FirstFree),
        any::<u64>().prop_map(JournalPlacement::At),
        (0u64..100_000).prop_map(JournalPlacement::At),
    ];
    let sizes = (number(&[1, 2, 4, 16]), number(&[16, 256, 1024]));
    (any::<bool>(), sizes, places).prop_map(|(wanted, sizes, placement)| JournalOptions {
        wanted,
        megabytes: sizes.0.map(u64::from),
        fast_commit_kilobytes: sizes.1.map(u64::from),
        placement,
        map: None,
    })
}

fn options() -> impl Strategy<Value = Options> {
    let extended = (
        number(&[16, 64]),
        number(&[100_000, 10_000_000]),
        number(&[64, 128, 256]),
        number(&[1, 50]),
        any::<[bool; 4]>(),
        (any::<u32>(), any::<u32>()),
        prop_oneof![9 => 0.0..50.0, 1 => -10.0..60.0],
    );
    (shape(), journal(), extended).prop_map(|(mut o, journal, e)| {
        o.journal = journal;
        o.stride = e.0.unwrap_or(0) as u16;
        o.resize = e.1.map(u64::from);
        o.desc_size = e.2.filter(|_| o.fs_type == FsType::Ext4);
        o.orphan_blocks = e.3.map(|n| u64::from(n % 10_000));
        let [packed, types, projects, lazy] = e.4;
        o.packed_meta_blocks = packed;
        o.quota_types = types.then_some(QuotaTypes {
            users: true,
            groups: lazy,
            projects,
        });
        o.lazy_itable_init = Some(lazy);
        // One in a hundred.
        o.revision = (e.5.0 % 100 == 0).then_some(0);
        o.root_owner = e.5;
        o.reserved_percent = Some(e.6);
        o
    })
}

/// A medium's length: small as a rule, so that it can be looked through.
fn length() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..4 << 20, 0u64..300 << 20, Just(0), 0u64..2 << 30]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_is_made_has_no_problem(o in options(), len in length()) {
        let mut disk = CowDisk::new(len);
        match mkfs(&o, &mut disk, len) {
            Ok(made) => {
                prop_assert!(made.blocks * u64::from(made.block_size) <= len);
                let fs = Fs::open(&disk).unwrap();
                let map = exercise::map(&fs);
                let problem = map.problems.iter().chain(fs.problems()).next();
                prop_assert!(problem.is_none(), "{}", problem.unwrap());
            }
            Err(MkfsError::Medium(why)) => prop_assert!(false, "{why}"),
            Err(why) => prop_assert!(!why.to_string().is_empty()),
        }
    }

    #[test]
    fn any_length_is_planned_or_refused(o in options(), len in any::<u64>(), less in 0..54) {
        if let Ok(made) = plan(&o, len >> less) {
            prop_assert!(made.blocks.checked_mul(made.block_size.into()) <= Some(len >> less));
        }
    }

    #[test]
    fn a_medium_that_is_too_short_is_an_error(o in options(), len in length()) {
        let mut disk = CowDisk::new(0);
        prop_assert!(mkfs(&o, &mut disk, len).is_err());
    }
}
