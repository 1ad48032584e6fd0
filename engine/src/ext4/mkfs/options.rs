//! What mkfs is told, and what it answers when that cannot be done.

/// Everything that `mke2fs` can be told and fslab does. `None` and empty mean what
/// mke2fs makes of an option that is not given.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// `-t`: ext2, ext3 or ext4.
    pub fs_type: FsType,
    /// `-T`: usage types of mke2fs.conf; from the size where empty.
    pub usage: Vec<String>,
    /// `-b`: bytes of a block.
    pub block_size: Option<u32>,
    /// `-b` with a minus sign: at least this many bytes of a block.
    pub min_block_size: u32,
    /// `-C`: bytes of a cluster (bigalloc).
    pub cluster_size: Option<u32>,
    /// `-g`: blocks of a group (clusters, with bigalloc).
    pub blocks_per_group: Option<u32>,
    /// `-G`: groups of a flex group.
    pub flex_groups: Option<u32>,
    /// `-I`: bytes of an inode.
    pub inode_size: Option<u32>,
    /// `-i`: bytes of the filesystem for each inode.
    pub inode_ratio: Option<u32>,
    /// `-N`: inodes.
    pub inodes: Option<u64>,
    /// `-m`: percent of blocks reserved for the super-user.
    pub reserved_percent: Option<f64>,
    /// `-L`: label.
    pub label: Vec<u8>,
    /// `-M`: where it was last mounted.
    pub last_mounted: Vec<u8>,
    /// `-O`: features, as mke2fs takes them; `^` takes one away.
    pub features: Vec<String>,
    /// `-j` or `-J`.
    pub journal: JournalOptions,
    /// `-r`: revision.
    pub revision: Option<u32>,
    /// `-e`: what to do on an error: 1 go on, 2 remount read-only, 3 panic.
    pub errors: Option<u16>,
    /// `-E stride`: blocks on one disk before the next.
    pub stride: u16,
    /// `-E stripe-width`: data blocks of a whole stripe.
    pub stripe_width: u32,
    /// `-E resize`: blocks that the filesystem should be able to grow to.
    pub resize: Option<u64>,
    /// `-E lazy_itable_init`: leave the zeroing of inode tables to the kernel.
    pub lazy_itable_init: Option<bool>,
    /// `-E packed_meta_blocks`: all bitmaps and inode tables at the beginning.
    pub packed_meta_blocks: bool,
    /// `-E num_backup_sb`: backups with sparse_super2.
    pub backups: Option<u32>,
    /// `-E root_owner`: user and group of the root directory.
    pub root_owner: (u32, u32),
    /// `-E mmp_update_interval`: seconds.
    pub mmp_interval: u16,
    /// `-E desc_size`: bytes of a group descriptor (64bit).
    pub desc_size: Option<u32>,
    /// `desc_size` comes after `resize`, which has been worked out without it: refused.
    pub desc_size_late: bool,
    /// `-E encoding=utf8`: names are UTF-8, case can be folded.
    pub encoding: bool,
    /// `-E encoding_flags=strict`: refuse names that are not UTF-8.
    pub encoding_strict: bool,
    /// `-E quotatype`: whose usage is counted (quota); users and groups where `None`.
    pub quota_types: Option<QuotaTypes>,
    /// `-E orphan_file_size`: blocks of the orphan file.
    pub orphan_blocks: Option<u64>,
    /// `-o`: who made it; 0 Linux, 3 FreeBSD, 4 Lites.
    pub creator_os: u32,
    /// `-E test_fs`: marks the filesystem as one for development code.
    pub test_fs: bool,
    /// `-U`: identity.
    pub uuid: [u8; 16],
    /// `-E hash_seed`: seed of the htree hash.
    pub hash_seed: [u8; 16],
    /// The time that goes into the superblock and inodes, seconds since 1970.
    pub now: u32,
}

/// `-E quotatype`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuotaTypes {
    /// `usrquota`.
    pub users: bool,
    /// `grpquota`.
    pub groups: bool,
    /// `prjquota`; sets the project feature.
    pub projects: bool,
}

impl Default for QuotaTypes {
    fn default() -> Self {
        Self {
            users: true,
            groups: true,
            projects: false,
        }
    }
}

/// `-t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum FsType {
    /// The second extended filesystem: no journal.
    #[default]
    Ext2,
    /// With a journal.
    Ext3,
    /// With a journal, extents, flex groups, checksums.
    Ext4,
}

/// `-j` and `-J`.
#[derive(Clone, Debug, Default)]
pub struct JournalOptions {
    /// `-j`: asked for, whatever the type.
    pub wanted: bool,
    /// `size=`, MiB.
    pub megabytes: Option<u64>,
    /// `fast_commit_size=`, KiB.
    pub fast_commit_kilobytes: Option<u64>,
    /// `location=` and what came before it.
    pub placement: JournalPlacement,
    /// How its blocks are mapped; by the extents feature where `None`.
    pub map: Option<JournalMap>,
}

/// Where the journal goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JournalPlacement {
    /// As mke2fs 1.47 does: from the start of the flex group at the middle; a
    /// block-mapped one in the first free blocks.
    #[default]
    Default,
    /// `location=`: from the first free block at or after this one.
    At(u64),
    /// As proposed in 2008: the group with most free blocks of the three at the middle.
    LargestOfThree,
    /// As it was before: the first free blocks of the filesystem.
    FirstFree,
}

/// How the journal's blocks are mapped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JournalMap {
    /// An extent tree.
    Extents,
    /// A block map with indirect blocks.
    Indirect,
}
