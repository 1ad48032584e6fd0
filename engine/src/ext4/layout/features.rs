use bitflags::bitflags;

macro_rules! features {
    ($(#[$doc:meta])* $name:ident, $letter:literal { $($(#[$($help:tt)*])* $flag:ident = $bit:literal, $word:literal;)* }) => {
        bitflags! {
            $(#[$doc])*
            #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
            pub struct $name: u32 {
                $($(#[$($help)*])* const $flag = $bit;)*
                const _ = !0;
            }
        }

        impl $name {
            /// Every known feature with the word that e2fsprogs uses for it.
            pub const WORDS: &'static [($name, &'static str)] = &[$(($name::$flag, $word)),*];

            /// The words for the bits that are set, in the order of bits; unknown bits as
            /// e2fsprogs prints them.
            pub fn names(self) -> Vec<String> {
                (0..32)
                    .filter(|bit| self.bits() & (1 << bit) != 0)
                    .map(|bit| {
                        Self::WORDS
                            .iter()
                            .find(|(f, _)| f.bits() == 1 << bit)
                            .map_or_else(|| format!(concat!("FEATURE_", $letter, "{}"), bit), |(_, w)| (*w).to_string())
                    })
                    .collect()
            }

            /// Bits that fslab does not know.
            pub fn unknown(self) -> u32 {
                Self::WORDS.iter().fold(self.bits(), |left, (f, _)| left & !f.bits())
            }
        }
    };
}

features! {
    /// `s_feature_compat`.
    Compat, "C" {
        /// Directories get preallocated blocks.
        DIR_PREALLOC = 0x1, "dir_prealloc";
        /// AFS inodes.
        IMAGIC_INODES = 0x2, "imagic_inodes";
        /// A journal.
        HAS_JOURNAL = 0x4, "has_journal";
        /// Extended attributes.
        EXT_ATTR = 0x8, "ext_attr";
        /// Descriptor blocks reserved for growth, held by inode 7.
        RESIZE_INODE = 0x10, "resize_inode";
        /// Hashed directories.
        DIR_INDEX = 0x20, "dir_index";
        /// Uninitialised groups (never in Linux).
        LAZY_BG = 0x40, "lazy_bg";
        /// Snapshot exclude inode (never in Linux).
        EXCLUDE_INODE = 0x80, "exclude_inode";
        /// Snapshot exclude bitmap (never in Linux).
        EXCLUDE_BITMAP = 0x100, "snapshot_bitmap";
        /// Backup superblocks in the two groups that the superblock names.
        SPARSE_SUPER2 = 0x200, "sparse_super2";
        /// A fast-commit area in the journal.
        FAST_COMMIT = 0x400, "fast_commit";
        /// Inode numbers and UUID may not change.
        STABLE_INODES = 0x800, "stable_inodes";
        /// A file that lists orphans.
        ORPHAN_FILE = 0x1000, "orphan_file";
    }
}

features! {
    /// `s_feature_incompat`.
    Incompat, "I" {
        /// Compression (never in Linux).
        COMPRESSION = 0x1, "compression";
        /// Directory entries hold the file's type.
        FILETYPE = 0x2, "filetype";
        /// The journal must be replayed.
        RECOVER = 0x4, "needs_recovery";
        /// This is a journal, not a filesystem.
        JOURNAL_DEV = 0x8, "journal_dev";
        /// Descriptors beside the groups they describe.
        META_BG = 0x10, "meta_bg";
        /// Extent trees.
        EXTENTS = 0x40, "extent";
        /// Block numbers of 64 bits.
        BIT64 = 0x80, "64bit";
        /// Guard against mounting twice.
        MMP = 0x100, "mmp";
        /// Bitmaps and inode tables of several groups kept together.
        FLEX_BG = 0x200, "flex_bg";
        /// Attribute values in inodes of their own.
        EA_INODE = 0x400, "ea_inode";
        /// Data in directory entries (Lustre).
        DIRDATA = 0x1000, "dirdata";
        /// The checksum seed is in the superblock.
        CSUM_SEED = 0x2000, "metadata_csum_seed";
        /// Directories over 2 GiB, htrees of three levels.
        LARGEDIR = 0x4000, "large_dir";
        /// Small files and directories inside the inode.
        INLINE_DATA = 0x8000, "inline_data";
        /// Encrypted files.
        ENCRYPT = 0x10000, "encrypt";
        /// Directories that ignore case.
        CASEFOLD = 0x20000, "casefold";
    }
}

features! {
    /// `s_feature_ro_compat`.
    RoCompat, "R" {
        /// Backup superblocks only in groups 0, 1 and powers of 3, 5, 7.
        SPARSE_SUPER = 0x1, "sparse_super";
        /// A file over 2 GiB has been made.
        LARGE_FILE = 0x2, "large_file";
        /// Balanced-tree directories (never in Linux).
        BTREE_DIR = 0x4, "btree_dir";
        /// `i_blocks` of 48 bits, in blocks where the inode says so.
        HUGE_FILE = 0x8, "huge_file";
        /// crc16 over descriptors, uninitialised groups.
        GDT_CSUM = 0x10, "uninit_bg";
        /// Directories may have more than 65,000 subdirectories.
        DIR_NLINK = 0x20, "dir_nlink";
        /// Inodes with fields past byte 128.
        EXTRA_ISIZE = 0x40, "extra_isize";
        /// A snapshot (never in Linux).
        HAS_SNAPSHOT = 0x80, "snapshot";
        /// Quota in hidden inodes.
        QUOTA = 0x100, "quota";
        /// Allocation in clusters.
        BIGALLOC = 0x200, "bigalloc";
        /// crc32c over all metadata.
        METADATA_CSUM = 0x400, "metadata_csum";
        /// Replicas (never in Linux).
        REPLICA = 0x800, "replica";
        /// May never be mounted for writing.
        READONLY = 0x1000, "read-only";
        /// Project identifiers.
        PROJECT = 0x2000, "project";
        /// Blocks shared between files (Android).
        SHARED_BLOCKS = 0x4000, "shared_blocks";
        /// Files with verity trees.
        VERITY = 0x8000, "verity";
        /// The orphan file holds something.
        ORPHAN_PRESENT = 0x10000, "orphan_present";
    }
}
