//! The table of images. Between them: every feature that mke2fs 1.47.0 knows.
//!
//! Not made, and why: `verity` with a real Merkle tree (this kernel is built
//! without fs-verity; the flag alone is set), `casefold` filled by the kernel
//! (built without Unicode; debugfs and `e2fsck -D` make its directories), blocks
//! above 4 KiB filled by the kernel (`mke2fs -d` does), `huge_file` with a file
//! of 2 TiB (an inode that counts in blocks is made by hand), checksum v2
//! journals (no kernel since 3.18 writes them: `special` makes one by debugfs).

use super::recipe::{Recipe, Source, Step};
use Step::{Debugfs, Fsck, Tune};

const fn new(name: &'static str, mkfs: &'static str) -> Recipe {
    Recipe::new(name, mkfs)
}

const fn small(name: &'static str, mkfs: &'static str) -> Recipe {
    Recipe::small_blocks(name, mkfs)
}

/// A directory hash other than the one mke2fs chooses; flag 2 in the superblock
/// says that characters are unsigned, 1 that they are signed.
const fn hash(name: &'static str, before: &'static [Step]) -> Recipe {
    Recipe {
        before,
        extra: &["htree2"],
        standard: false,
        mib: 16,
        ..small(name, "-t ext4")
    }
}

const UNSIGNED: Step = Debugfs(&["ssv flags 2"]);
const SIGNED: Step = Debugfs(&["ssv flags 1"]);

pub static RECIPES: &[Recipe] = &[
    small("ext2-1k", "-t ext2"),
    Recipe {
        block_size: 2048,
        ..new("ext2-2k", "-t ext2")
    },
    new("ext2-4k", "-t ext2"),
    small("ext3-1k", "-t ext3"),
    Recipe {
        block_size: 2048,
        ..new("ext3-2k", "-t ext3")
    },
    new("ext3-4k", "-t ext3"),
    Recipe {
        extra: &["htree2"],
        ..small("ext4-1k", "-t ext4")
    },
    Recipe {
        block_size: 2048,
        ..new("ext4-2k", "-t ext4")
    },
    new("ext4-4k", "-t ext4"),
    Recipe {
        source: Source::Staged,
        block_size: 65536,
        mib: 256,
        ..new("ext4-64k", "-t ext4")
    },
    Recipe {
        source: Source::Staged,
        block_size: 65536,
        mib: 128,
        ..new("ext2-64k", "-t ext2")
    },
    Recipe {
        source: Source::Staged,
        block_size: 8192,
        mib: 96,
        ..new("ext4-8k", "-t ext4")
    },
    new("bigalloc", "-t ext4 -O bigalloc -C 16384"),
    small("bigalloc-1k", "-t ext4 -O bigalloc -C 8192"),
    Recipe {
        extra: &["inline"],
        ..new("inline-data", "-t ext4 -O inline_data")
    },
    Recipe {
        extra: &["inline"],
        ..small("inline-data-1k", "-t ext4 -O inline_data -I 1024")
    },
    Recipe {
        about: "three meta groups of sixteen",
        ..small(
            "meta-bg",
            "-t ext4 -O meta_bg,^resize_inode -g 1024 -N 6000",
        )
    },
    Recipe {
        about: "32-byte descriptors: meta groups of thirty-two",
        ..small(
            "meta-bg-32",
            "-t ext4 -O meta_bg,^resize_inode,^64bit -g 1024 -N 6000",
        )
    },
    new("64bit", "-t ext4 -O 64bit"),
    new("no-64bit", "-t ext4 -O ^64bit"),
    new("ext2-64bit", "-t ext2 -O 64bit,extent"),
    new("no-metadata-csum", "-t ext4 -O ^metadata_csum"),
    small("uninit-bg", "-t ext4 -O uninit_bg,^metadata_csum"),
    new(
        "uninit-bg-64bit",
        "-t ext4 -O uninit_bg,^metadata_csum,64bit",
    ),
    Recipe {
        extra: &["htree3"],
        standard: false,
        about: "a directory index three levels deep",
        ..small("large-dir", "-t ext4 -O large_dir")
    },
    Recipe {
        extra: &["big_values"],
        ..new("ea-inode", "-t ext4 -O ea_inode")
    },
    Recipe {
        extra: &["big_values"],
        ..small("ea-inode-1k", "-t ext4 -O ea_inode")
    },
    Recipe {
        extra: &["encrypted"],
        ..new("encrypt", "-t ext4 -O encrypt")
    },
    Recipe {
        source: Source::Debugfs,
        standard: false,
        mib: 16,
        after: CASEFOLD,
        ..small("casefold", "-t ext4 -O casefold")
    },
    Recipe {
        after: &[Tune("-O quota -Q usrquota,grpquota")],
        ..new("quota", "-t ext4")
    },
    Recipe {
        after: PROJECT,
        ..new("project", "-t ext4")
    },
    new("orphan-file", "-t ext4 -O orphan_file"),
    small("sparse-super2", "-t ext4 -O sparse_super2,^resize_inode"),
    Recipe {
        after: HUGE,
        about: "an inode that counts in blocks",
        ..new("huge-file", "-t ext4")
    },
    new("inode-512", "-t ext4 -I 512"),
    small("inode-128", "-t ext4 -I 128"),
    Recipe {
        mount: "",
        ..new("no-extra-isize", "-t ext4 -O ^extra_isize")
    },
    small("no-flex-bg", "-t ext4 -O ^flex_bg"),
    small(
        "no-sparse-super",
        "-t ext4 -O ^sparse_super,^resize_inode -g 2048",
    ),
    small("no-extents", "-t ext4 -O ^extents,^64bit"),
    new("no-dir-index", "-t ext4 -O ^dir_index"),
    small("no-filetype", "-t ext4 -O ^filetype"),
    Recipe {
        before: &[Tune("-U 0f5ab000-1111-2222-3333-444455556666")],
        about: "the UUID is no longer what checksums are seeded with",
        ..new("csum-seed", "-t ext4 -O metadata_csum_seed")
    },
    Recipe {
        external_journal: true,
        ..new("external-journal", "-t ext4")
    },
    new("mmp", "-t ext4 -O mmp"),
    small("resize-inode", "-t ext4 -E resize=4194304"),
    new("no-resize-inode", "-t ext4 -O ^resize_inode"),
    new("stable-inodes", "-t ext4 -O stable_inodes"),
    Recipe {
        source: Source::KernelBefore,
        after: VERITY,
        ..new("verity", "-t ext4 -O verity")
    },
    hash("hash-legacy", &[Tune("-E hash_alg=legacy"), SIGNED]),
    hash(
        "hash-legacy-unsigned",
        &[Tune("-E hash_alg=legacy"), UNSIGNED],
    ),
    hash("hash-half-md4", &[Tune("-E hash_alg=half_md4"), SIGNED]),
    hash(
        "hash-half-md4-unsigned",
        &[Tune("-E hash_alg=half_md4"), UNSIGNED],
    ),
    hash("hash-tea", &[Tune("-E hash_alg=tea"), SIGNED]),
    hash("hash-tea-unsigned", &[Tune("-E hash_alg=tea"), UNSIGNED]),
    small("revision-0", "-t ext2 -r 0"),
    new("fast-commit", "-t ext4 -O fast_commit -J size=8"),
    new("no-journal", "-t ext4 -O ^has_journal"),
    new("packed-meta", "-t ext4 -E packed_meta_blocks=1"),
];

/// Directories whose names e2fsck hashes folded, one of them indexed.
const CASEFOLD: &[Step] = &[
    Debugfs(&[
        "mkdir folded",
        "mkdir big",
        "sif folded flags 0x40080000",
        "sif big flags 0x40080000",
    ]),
    Debugfs(&[
        "symlink folded/Straße ../target",
        "mkdir folded/ÀÉÎ",
        "mkdir folded/Sub",
    ]),
    // The last word is replaced by 400 files: see `image.rs`.
    Debugfs(&["cd big", "FILES"]),
    Fsck("-D"),
];

const PROJECT: &[Step] = &[
    Debugfs(&[
        "sif /wide projid 7",
        "sif /wide/d01 projid 70000",
        "sif /sizes/1000 projid 4000000000",
    ]),
    Debugfs(&["sif /wide flags 0x20080000"]),
    Tune("-O project,quota -Q prjquota"),
];

/// One block counted as 1, not as 8 sectors.
const HUGE: &[Step] = &[Debugfs(&[
    "sif /sizes/1000 flags 0xC0000",
    "sif /sizes/1000 blocks 1",
])];

const VERITY: &[Step] = &[Debugfs(&["sif /sizes/1000 flags 0x180000"])];
