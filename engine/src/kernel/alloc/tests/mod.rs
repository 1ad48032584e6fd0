//! The allocators against a plain model, on filesystems of many shapes.

mod damage;
mod inodes;
mod model;
mod shapes;

use super::{Want, group};
use crate::device::Ram;
use crate::disk::CowDisk;
use crate::event::Reason;
use crate::ext4::checksum;
use crate::ext4::layout::GroupDesc;
use crate::ext4::mkfs::{FsType, Options, mkfs};
use crate::kernel::{InodeInfo, MountOptions, Volume};
use crate::units::{BlockNr, GroupNr, InodeNr, Lblk};

const MIB: u64 = 1 << 20;

/// So many cases, or as many as `PROPTEST_CASES` says.
fn cases(n: u32) -> proptest::test_runner::Config {
    let asked = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|v| v.parse().ok());
    proptest::test_runner::Config::with_cases(asked.unwrap_or(n))
}

/// A filesystem to be made: how, and of how many bytes.
pub(super) type Shape = (&'static str, Options, u64);

fn options(fs_type: FsType, block: u32, features: &[&str]) -> Options {
    Options {
        fs_type,
        block_size: Some(block),
        features: features.iter().map(|f| (*f).to_string()).collect(),
        uuid: *b"fslab allocators",
        hash_seed: *b"fslab allocators",
        now: 1_700_000_000,
        ..Options::default()
    }
}

pub(super) fn shapes() -> Vec<Shape> {
    let ext4 = |block, features: &[&str]| options(FsType::Ext4, block, features);
    let bigalloc = Options {
        cluster_size: Some(16384),
        ..ext4(4096, &["bigalloc"])
    };
    let small_flex = Options {
        flex_groups: Some(4),
        ..ext4(1024, &[])
    };
    let short_groups = Options {
        blocks_per_group: Some(1024),
        ..ext4(1024, &["^resize_inode"])
    };
    vec![
        ("1 KiB blocks", ext4(1024, &[]), 64 * MIB),
        ("2 KiB blocks", ext4(2048, &[]), 200 * MIB),
        ("4 KiB blocks", ext4(4096, &[]), 300 * MIB),
        ("flex groups of 4", small_flex, 100 * MIB),
        ("no flex groups", ext4(4096, &["^flex_bg"]), 400 * MIB),
        (
            "meta_bg",
            ext4(1024, &["meta_bg", "^resize_inode"]),
            80 * MIB,
        ),
        ("bigalloc", bigalloc, 600 * MIB),
        (
            "no checksums",
            ext4(1024, &["^metadata_csum", "^uninit_bg"]),
            40 * MIB,
        ),
        (
            "crc16",
            ext4(1024, &["^metadata_csum", "uninit_bg"]),
            40 * MIB,
        ),
        ("32-byte descriptors", ext4(4096, &["^64bit"]), 300 * MIB),
        // 8192 blocks a group, the first group begins at block 1: 300 blocks are left over.
        (
            "tiny last group",
            ext4(1024, &[]),
            (1 + 3 * 8192 + 300) * 1024,
        ),
        ("short groups", short_groups, 12 * MIB),
        ("several GiB", ext4(4096, &[]), 6144 * MIB),
        ("ext2", options(FsType::Ext2, 1024, &[]), 40 * MIB),
        ("ext3", options(FsType::Ext3, 4096, &[]), 300 * MIB),
    ]
}

pub(super) fn volume(shape: &Shape, mount: &MountOptions) -> Volume {
    let mut disk = CowDisk::new(shape.2);
    mkfs(&shape.1, &mut disk, shape.2).expect(shape.0);
    Volume::open(Box::new(Ram::new(disk)), mount.clone()).expect(shape.0)
}

/// An inode in memory, of a regular file.
fn file(vol: &Volume, nr: u32) -> InodeInfo {
    let raw = vec![0; vol.geo.inode_size.into()].into();
    let mut inode = InodeInfo::new(vol, InodeNr(nr), raw);
    inode.raw.set_i_mode(0x81A4);
    inode.opens = 1;
    inode
}

fn want(lblk: u32, len: u32) -> Want {
    Want {
        goal: BlockNr(0),
        lblk: Lblk(lblk),
        len,
        reason: Reason::Data,
        reserved: false,
        root: true,
    }
}

/// Bitmaps, descriptors, counts, checksums and buddies agree with each other.
fn check_sums(vol: &mut Volume) {
    let (mut clusters, mut inodes, mut dirs) = (0, 0, 0);
    for g in (0..vol.geo.groups).map(GroupNr) {
        let map = group::block_bitmap(vol, g).expect("a sound bitmap");
        let imap = group::inode_bitmap(vol, g).expect("a sound bitmap");
        let d = vol.desc(g).expect("a descriptor");
        let size = usize::from(vol.geo.desc_size);
        let free = (0..vol.geo.clusters_in(g)).filter(|&n| !super::bits::test(&map, n));
        assert_eq!(
            free.count() as u32,
            d.free_blocks(),
            "free blocks of group {g}"
        );
        let free = (0..vol.geo.inodes_per_group).filter(|&n| !super::bits::test(&imap, n));
        assert_eq!(
            free.count() as u32,
            d.free_inodes(),
            "free inodes of group {g}"
        );
        clusters += u64::from(d.free_blocks());
        inodes += d.free_inodes();
        dirs += d.used_dirs();
        let raw = GroupDesc(&d.0[..size.min(64)]);
        if let Some(sum) = checksum::group(&vol.sb, g, raw.0) {
            assert_eq!(sum, d.bg_checksum(), "checksum of group {g}");
        }
        if vol.has_csum()
            && !d
                .flags()
                .contains(crate::ext4::layout::GroupFlags::BLOCK_UNINIT)
        {
            let used = &map[..group::clusters_per_group(vol) as usize / 8];
            let sum = checksum::bitmap(vol.seed, used, size);
            assert_eq!(sum, d.block_bitmap_csum(), "checksum of group {g}'s blocks");
        }
        if vol.has_csum()
            && !d
                .flags()
                .contains(crate::ext4::layout::GroupFlags::INODE_UNINIT)
        {
            let used = &imap[..vol.geo.inodes_per_group as usize / 8];
            let sum = checksum::bitmap(vol.seed, used, size);
            assert_eq!(sum, d.inode_bitmap_csum(), "checksum of group {g}'s inodes");
        }
    }
    assert_eq!(clusters, vol.free_clusters);
    assert_eq!(inodes, vol.free_inodes);
    assert_eq!(dirs, vol.dirs);
    vol.alloc.groups.check(clusters);
}
