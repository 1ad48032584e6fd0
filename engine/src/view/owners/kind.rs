use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $n:literal, $letter:literal, $word:literal, $words:literal;)*) => {
        /// What a block is.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Kind {
            $($(#[$doc])* $kind = $n,)*
        }

        impl Kind {
            /// Every kind, by [`Kind::index`].
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];
            /// How many kinds there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The letter that marks it in maps.
            pub fn letter(self) -> char {
                match self { $(Self::$kind => $letter,)* }
            }

            /// One word for it, for lists and scripts.
            pub fn word(self) -> &'static str {
                match self { $(Self::$kind => $word,)* }
            }

            /// What it is, in a phrase.
            pub fn words(self) -> &'static str {
                match self { $(Self::$kind => $words,)* }
            }
        }
    };
}

kinds! {
    /// Free.
    Free = 0, ' ', "free", "free";
    /// Before the filesystem's first block: left to a boot loader.
    Boot = 1, 'P', "boot", "boot block, not the filesystem's";
    /// The superblock or a backup.
    Superblock = 2, 'S', "superblock", "superblock";
    /// Group descriptors or a backup.
    Descriptors = 3, 'G', "descriptors", "group descriptors";
    /// Kept for descriptors to come.
    ReservedDescriptors = 4, 'g', "reserved-descriptors", "reserved for group descriptors to come";
    /// A block bitmap.
    BlockBitmap = 5, 'B', "block-bitmap", "block bitmap";
    /// An inode bitmap.
    InodeBitmap = 6, 'b', "inode-bitmap", "inode bitmap";
    /// An inode table.
    InodeTable = 7, 'I', "inode-table", "inode table";
    /// The journal.
    Journal = 8, 'J', "journal", "journal";
    /// A directory's names.
    Directory = 9, 'D', "directory", "directory";
    /// A node of a directory's htree.
    Htree = 10, 'H', "htree", "index of a directory";
    /// A node of an extent tree.
    ExtentIndex = 11, 'X', "extent-index", "node of an extent tree";
    /// A block of block numbers.
    Indirect = 12, 'N', "indirect", "indirect block";
    /// Contents of a file.
    Data = 13, '.', "data", "file data";
    /// Extended attributes, or the value of one.
    Xattr = 14, 'A', "xattr", "extended attributes";
    /// Target of a symbolic link.
    Symlink = 15, 'L', "symlink", "target of a symbolic link";
    /// The filesystem's own files: quota, orphans, bad blocks, MMP.
    Internal = 16, 'Q', "internal", "the filesystem's own file";
    /// In use by the bitmap, but owned by nobody; while a scan runs: not yet known.
    Unowned = 17, '?', "unowned", "marked used, but owned by nobody";
    /// Claimed more than once.
    Twice = 18, '!', "twice", "owned twice";
    /// Neither owned nor known to be free: the bitmap cannot be read, or the image ends
    /// before.
    Unknown = 19, 'u', "unknown", "not known: its bitmap cannot be read, or the image ends before it";
}

impl Kind {
    /// Its place in [`Kind::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The kind with an index.
    pub fn from_index(i: u8) -> Option<Self> {
        Self::ALL.get(usize::from(i)).copied()
    }
}

bitflags::bitflags! {
    /// What else is known of blocks in a map.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
    #[serde(transparent)]
    pub struct Flags: u8 {
        /// Allocated, but reads as zeros.
        const UNWRITTEN = 1;
        /// Owned, but free by the bitmap.
        const MARKED_FREE = 2;
        /// Owned by several, as the filesystem allows: attribute blocks, shared blocks.
        const SHARED = 4;
        /// Not mapped, but in a cluster whose other blocks are.
        const SLACK = 8;
        /// A backup or other copy.
        const BACKUP = 16;
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn index_and_kind_agree() {
        for (i, kind) in Kind::ALL.iter().enumerate() {
            assert_eq!(kind.index(), i);
        }
    }
}
