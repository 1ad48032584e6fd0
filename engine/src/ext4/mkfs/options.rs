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
    /// `-E test_fs`: marks the filesystem as one for development code.
    pub test_fs: bool,
    /// `-U`: identity.
    pub uuid: [u8; 16],
    /// `-E hash_seed`: seed of the htree hash.
    pub hash_seed: [u8; 16],
    /// The time that goes into the superblock and inodes, seconds since 1970.
    pub now: u32,
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

/// Why no filesystem was made, in mke2fs's words where it has some.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MkfsError {
    /// `-b`.
    #[error("invalid block size - {0}")]
    BlockSize(u32),
    /// `-C`.
    #[error("invalid cluster size - {0}")]
    ClusterSize(u32),
    /// `-C` below `-b`.
    #[error("the cluster size may not be smaller than the block size")]
    ClusterBelowBlock,
    /// `-C` without bigalloc.
    #[error("specifying a cluster size requires the bigalloc feature")]
    ClusterNeedsBigalloc,
    /// `-g`.
    #[error("blocks per group must be multiple of 8")]
    GroupNotMultipleOf8,
    /// `-g`.
    #[error("blocks per group count out of range")]
    GroupRange,
    /// `-G`.
    #[error("flex_bg size must be a power of 2")]
    FlexPower,
    /// `-G` without flex_bg.
    #[error("Flex_bg feature not enabled, so flex_bg size may not be specified")]
    FlexNeedsFeature,
    /// `-i`.
    #[error("invalid inode ratio {0} (min 1024/max 67108864)")]
    InodeRatio(u32),
    /// `-I`.
    #[error("invalid inode size {size} (min 128/max {block_size})")]
    InodeSize {
        /// Asked for.
        size: u32,
        /// Largest there can be.
        block_size: u32,
    },
    /// `-I 128` with inline_data.
    #[error("128 byte inodes are too small for inline data; specify larger size")]
    InlineNeedsSpace,
    /// `-I 128` with project.
    #[error("128 byte inodes are too small for project quota")]
    ProjectNeedsSpace,
    /// `-m`.
    #[error("invalid reserved blocks percent - {0}")]
    Reserved(f64),
    /// `-O`.
    #[error("Invalid filesystem option set: {0}")]
    Feature(String),
    /// `-r`.
    #[error("Filesystem revision too high while trying to create revision {0}")]
    Revision(u32),
    /// `-r 0` and features.
    #[error("Filesystem features not supported with revision 0 filesystems")]
    FeaturesNeedRevision1,
    /// `-r 0` and a journal.
    #[error("Journals not supported with revision 0 filesystems")]
    JournalNeedsRevision1,
    /// `-r 0` and `-E resize`.
    #[error("On-line resizing not supported with revision 0 filesystems")]
    ResizeNeedsRevision1,
    /// 64bit without extents.
    #[error("Extents MUST be enabled for a 64-bit filesystem.  Pass -O extents to rectify")]
    WideNeedsExtents,
    /// bigalloc without extents.
    #[error("Can't support bigalloc feature without extents feature")]
    BigallocNeedsExtents,
    /// meta_bg with resize_inode.
    #[error(
        "The resize_inode and meta_bg features are not compatible.  They can not be both enabled simultaneously"
    )]
    MetaBgAndResizeInode,
    /// resize_inode without sparse_super.
    #[error("reserved online resize blocks not supported on non-sparse filesystem")]
    ResizeNeedsSparse,
    /// metadata_csum_seed without metadata_csum.
    #[error("The metadata_csum_seed feature requires the metadata_csum feature")]
    SeedNeedsChecksums,
    /// orphan_file without a journal.
    #[error("cannot set orphan_file feature without a journal")]
    OrphanFileNeedsJournal,
    /// `-E resize`.
    #[error("The resize maximum must be greater than the filesystem size")]
    ResizeTooSmall,
    /// `-E num_backup_sb`.
    #[error("Invalid # of backup superblocks: {0}")]
    Backups(u32),
    /// Too many blocks for 32 bits.
    #[error(
        "Size of device ({blocks:#x} blocks) too big to be expressed in 32 bits using a blocksize of {block_size}"
    )]
    TooBigFor32Bits {
        /// Blocks asked for.
        blocks: u64,
        /// Bytes of a block.
        block_size: u32,
    },
    /// Too many blocks for any filesystem.
    #[error(
        "Size of device ({blocks:#x} blocks) too big to create a filesystem using a blocksize of {block_size}"
    )]
    TooBig {
        /// Blocks asked for.
        blocks: u64,
        /// Bytes of a block.
        block_size: u32,
    },
    /// By the ratio.
    #[error("too many inodes ({0}), raise inode ratio?")]
    TooManyByRatio(u64),
    /// `-N`.
    #[error("too many inodes ({0}), specify < 2^32 inodes")]
    TooManyInodes(u64),
    /// Tables would fill everything.
    #[error(
        "inode_size ({inode_size}) * inodes_count ({inodes}) too big for a filesystem with {blocks} blocks, specify higher inode_ratio (-i) or lower inode count (-N)"
    )]
    TablesTooBig {
        /// Bytes of an inode.
        inode_size: u32,
        /// Inodes.
        inodes: u64,
        /// Blocks.
        blocks: u64,
    },
    /// A group cannot hold its tables.
    #[error("Cannot create filesystem with requested number of inodes while setting up superblock")]
    NoRoomForInodes,
    /// Not even one group.
    #[error("Not enough space to build proposed filesystem while setting up superblock")]
    TooSmall,
    /// Nothing to make it of.
    #[error("Invalid argument passed to ext2 library while setting up superblock")]
    InvalidArgument,
    /// Reserved descriptors.
    #[error("Too many reserved group descriptor blocks while setting up superblock")]
    TooManyReservedGdt,
    /// `-J size`.
    #[error(
        "The total requested journal size is {blocks} blocks; it must be between 1024 and 10240000 filesystem blocks.  Aborting"
    )]
    JournalRange {
        /// Blocks asked for.
        blocks: u64,
    },
    /// `-J size`.
    #[error("Total journal size too big for filesystem")]
    JournalTooBig,
    /// The allocator found nothing.
    #[error("Could not allocate block in ext2 filesystem {0}")]
    NoSpace(&'static str),
    /// mke2fs can, fslab cannot.
    #[error("{0} is not supported by fslab's mkfs")]
    Unsupported(String),
    /// The medium is too short or failed.
    #[error("writing the filesystem: {0}")]
    Medium(#[from] crate::disk::ReadError),
}
