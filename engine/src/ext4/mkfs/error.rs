//! Why mkfs made nothing, and what it made in spite of a doubt.

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
    #[error("The cluster size may not be smaller than the block size")]
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
        "The total requested journal size is {blocks} blocks; it must be between 1024 and 10240000 blocks.  Aborting"
    )]
    JournalRange {
        /// Blocks asked for.
        blocks: u64,
    },
    /// `-J size`.
    #[error("Total journal size too big for filesystem")]
    JournalTooBig,
    /// There are not even enough inodes for the reserved ones, which have checksums.
    #[error("Illegal inode number while writing reserved inodes")]
    TooFewForReserved,
    /// There are not even enough inodes for lost+found.
    #[error("Could not allocate inode in ext2 filesystem while creating /lost+found")]
    TooFewForLostFound,
    /// `-J size` with `fast_commit_size`.
    #[error("Journal must be at least 1024 blocks while trying to create journal")]
    JournalTooShort,
    /// `-E mmp_update_interval`.
    #[error("Error while enabling multiple mount protection feature")]
    MmpInterval,
    /// `-E desc_size`.
    #[error("Invalid desc_size: '{0}'")]
    DescSize(u32),
    /// `-E resize,desc_size`.
    #[error("'desc_size' must be before 'resize={0}'")]
    DescAfterResize(u32),
    /// `-E desc_size` without 64bit.
    #[error("desc_size requires '-O 64bit'")]
    DescNeedsWide,
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

/// What mke2fs warns of, and goes on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// `-T`.
    #[error("Warning: the fs_type {0} is not defined in mke2fs.conf")]
    UnknownUsage(String),
    /// `-b` beyond a page.
    #[error("Warning: blocksize {0} not usable on most systems.")]
    BlockSize(u32),
    /// `-E stride,stripe-width`.
    #[error("Warning: RAID stripe-width {width} not an even multiple of stride {stride}.")]
    Stripe {
        /// Blocks of a stripe.
        width: u32,
        /// Blocks on one disk.
        stride: u16,
    },
    /// The journal that was asked for is left out.
    #[error("Filesystem too small for a journal")]
    TooSmallForJournal,
}
