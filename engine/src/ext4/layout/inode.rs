use super::wire::{Bytes, on_disk};
use super::{join16, join32};
use crate::units::{BlockNr, InodeNr};
use bitflags::bitflags;
use serde::{Deserialize, Serialize};

/// Bytes of the part that every inode has.
pub const GOOD_OLD_INODE_SIZE: usize = 128;

on_disk! {
    /// An inode: 128 bytes, and past them as many as the superblock and `i_extra_isize`
    /// say. Attributes fill the rest.
    Inode[160] Little {
        0x00 i_mode: u16, Hex, "type and permissions";
        0x02 i_uid: u16, Number, "owner, low 16 bits";
        0x04 i_size_lo: u32, Number, "bytes, low 32 bits";
        0x08 i_atime: u32, Time, "last read (in a value inode: hash of the value)";
        0x0C i_ctime: u32, Time, "last change of the inode";
        0x10 i_mtime: u32, Time, "last change of the contents";
        0x14 i_dtime: u32, Time, "deleted; on the orphan list: the next orphan";
        0x18 i_gid: u16, Number, "group, low 16 bits";
        0x1A i_links_count: u16, Number, "names";
        0x1C i_blocks_lo: u32, Number, "512-byte sectors (or blocks, see flag huge_file), low 32 bits";
        0x20 i_flags: u32, Hex, "flags";
        0x24 i_version_lo: u32, Number, "version, low 32 bits";
        0x28 i_block: Bytes<60>, Raw, "extent tree's root, block map, link target, device number or small contents";
        0x64 i_generation: u32, Hex, "generation (for NFS, and in checksums)";
        0x68 i_file_acl_lo: u32, Block, "attribute block, low 32 bits";
        0x6C i_size_high: u32, Number, "bytes, high 32 bits";
        0x70 i_obso_faddr: u32, Raw, "obsolete fragment address";
        0x74 i_blocks_high: u16, Number, "sectors, high 16 bits";
        0x76 i_file_acl_high: u16, Block, "attribute block, high 16 bits";
        0x78 i_uid_high: u16, Number, "owner, high 16 bits";
        0x7A i_gid_high: u16, Number, "group, high 16 bits";
        0x7C i_checksum_lo: u16, Hex, "checksum, low 16 bits";
        0x7E i_reserved: u16, Raw, "unused";
        0x80 i_extra_isize: u16, Number, "bytes of fields past byte 128";
        0x82 i_checksum_hi: u16, Hex, "checksum, high 16 bits";
        0x84 i_ctime_extra: u32, Hex, "change: nanoseconds and two more bits of seconds";
        0x88 i_mtime_extra: u32, Hex, "modification: nanoseconds and two more bits of seconds";
        0x8C i_atime_extra: u32, Hex, "access: nanoseconds and two more bits of seconds";
        0x90 i_crtime: u32, Time, "made";
        0x94 i_crtime_extra: u32, Hex, "made: nanoseconds and two more bits of seconds";
        0x98 i_version_hi: u32, Number, "version, high 32 bits";
        0x9C i_projid: u32, Number, "project";
    }
}

bitflags! {
    /// `i_flags`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct InodeFlags: u32 {
        /// Secure deletion (not done).
        const SECRM = 0x1;
        /// Undelete (not done).
        const UNRM = 0x2;
        /// Compressed (not done).
        const COMPR = 0x4;
        /// Synchronous updates.
        const SYNC = 0x8;
        /// May not change.
        const IMMUTABLE = 0x10;
        /// May only grow.
        const APPEND = 0x20;
        /// Left out by `dump`.
        const NODUMP = 0x40;
        /// Reading leaves the access time alone.
        const NOATIME = 0x80;
        /// Compression: dirty.
        const DIRTY = 0x100;
        /// Compression: has compressed clusters.
        const COMPRBLK = 0x200;
        /// Compression: not wanted.
        const NOCOMPR = 0x400;
        /// Encrypted.
        const ENCRYPT = 0x800;
        /// Hashed directory.
        const INDEX = 0x1000;
        /// AFS directory.
        const IMAGIC = 0x2000;
        /// Contents go through the journal.
        const JOURNAL_DATA = 0x4000;
        /// Tail may not be merged.
        const NOTAIL = 0x8000;
        /// Directory updates are synchronous.
        const DIRSYNC = 0x10000;
        /// Top of a tree: the Orlov allocator spreads its subdirectories.
        const TOPDIR = 0x20000;
        /// `i_blocks` counts blocks.
        const HUGE_FILE = 0x40000;
        /// Mapped by extents.
        const EXTENTS = 0x80000;
        /// Has a verity tree.
        const VERITY = 0x0010_0000;
        /// Holds the value of an attribute.
        const EA_INODE = 0x0020_0000;
        /// Blocks past the end are meant (obsolete).
        const EOFBLOCKS = 0x0040_0000;
        /// Snapshot.
        const SNAPFILE = 0x0100_0000;
        /// Direct access.
        const DAX = 0x0200_0000;
        /// Snapshot being deleted.
        const SNAPFILE_DELETED = 0x0400_0000;
        /// Snapshot shrunk.
        const SNAPFILE_SHRUNK = 0x0800_0000;
        /// Contents inside the inode.
        const INLINE_DATA = 0x1000_0000;
        /// New files inherit the project.
        const PROJINHERIT = 0x2000_0000;
        /// Names ignore case.
        const CASEFOLD = 0x4000_0000;
        /// Reserved.
        const RESERVED = 0x8000_0000;
        const _ = !0;
    }
}

/// What an inode is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum FileType {
    /// Regular file.
    Regular,
    /// Directory.
    Directory,
    /// Character device.
    CharDevice,
    /// Block device.
    BlockDevice,
    /// Named pipe.
    Fifo,
    /// Socket.
    Socket,
    /// Symbolic link.
    Symlink,
    /// None of these: a mode that ext4 does not know.
    Unknown,
}

impl FileType {
    /// From the upper bits of `i_mode`.
    pub fn from_mode(mode: u16) -> Self {
        match mode & 0xF000 {
            0x1000 => Self::Fifo,
            0x2000 => Self::CharDevice,
            0x4000 => Self::Directory,
            0x6000 => Self::BlockDevice,
            0x8000 => Self::Regular,
            0xA000 => Self::Symlink,
            0xC000 => Self::Socket,
            _ => Self::Unknown,
        }
    }

    /// From the type byte of a directory entry.
    pub fn from_dir_entry(byte: u8) -> Self {
        match byte & 7 {
            1 => Self::Regular,
            2 => Self::Directory,
            3 => Self::CharDevice,
            4 => Self::BlockDevice,
            5 => Self::Fifo,
            6 => Self::Socket,
            7 => Self::Symlink,
            _ => Self::Unknown,
        }
    }

    /// The letter that `ls -l` shows.
    pub fn letter(self) -> char {
        match self {
            Self::Regular => '-',
            Self::Directory => 'd',
            Self::CharDevice => 'c',
            Self::BlockDevice => 'b',
            Self::Fifo => 'p',
            Self::Socket => 's',
            Self::Symlink => 'l',
            Self::Unknown => '?',
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Regular => "regular file",
            Self::Directory => "directory",
            Self::CharDevice => "character device",
            Self::BlockDevice => "block device",
            Self::Fifo => "named pipe",
            Self::Socket => "socket",
            Self::Symlink => "symbolic link",
            Self::Unknown => "file of unknown type",
        }
    }
}

/// A point in time as an inode keeps it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub struct Timestamp {
    /// Seconds since 1970, UTC.
    pub secs: i64,
    /// Nanoseconds, 0 to 999,999,999 in a sound inode.
    pub nanos: u32,
}

impl Timestamp {
    /// From the 32 bits of seconds and the extra word: the low two bits extend the
    /// seconds to the year 2446, the rest are nanoseconds.
    pub fn decode(secs: u32, extra: u32) -> Self {
        Self {
            secs: i64::from(secs.cast_signed()) + (i64::from(extra & 3) << 32),
            nanos: extra >> 2,
        }
    }
}

impl<T: AsRef<[u8]>> Inode<T> {
    /// Type and permissions' type.
    pub fn file_type(&self) -> FileType {
        FileType::from_mode(self.i_mode())
    }

    /// Flags.
    pub fn flags(&self) -> InodeFlags {
        InodeFlags::from_bits_retain(self.i_flags())
    }

    /// Owner.
    pub fn uid(&self) -> u32 {
        join16(self.i_uid(), self.i_uid_high())
    }

    /// Group.
    pub fn gid(&self) -> u32 {
        join16(self.i_gid(), self.i_gid_high())
    }

    /// Bytes. Both halves count for files, directories and links alike, as Linux reads
    /// them.
    pub fn size(&self) -> u64 {
        join32(self.i_size_lo(), self.i_size_high())
    }

    /// The attribute block, or block 0 for none.
    pub fn file_acl(&self) -> BlockNr {
        BlockNr(join32(
            self.i_file_acl_lo(),
            u32::from(self.i_file_acl_high()),
        ))
    }

    /// 512-byte sectors, as `stat` gives them. `huge_file` is the filesystem's feature,
    /// without which the high half and the flag mean nothing.
    pub fn sectors(&self, huge_file: bool, block_size: u32) -> u64 {
        if !huge_file {
            return u64::from(self.i_blocks_lo());
        }
        let n = join32(self.i_blocks_lo(), u32::from(self.i_blocks_high()));
        if self.flags().contains(InodeFlags::HUGE_FILE) {
            n.saturating_mul(u64::from(block_size / 512))
        } else {
            n
        }
    }

    /// Whether the field of `len` bytes at `offset` past byte 128 is inside
    /// `i_extra_isize`.
    pub fn has_extra(&self, offset: usize, len: usize) -> bool {
        let bytes = self.0.as_ref().len();
        let end = GOOD_OLD_INODE_SIZE + usize::from(self.i_extra_isize());
        bytes > GOOD_OLD_INODE_SIZE && offset + len <= end.min(bytes)
    }

    fn extra(&self, offset: usize, word: u32) -> u32 {
        if self.has_extra(offset, 4) { word } else { 0 }
    }

    /// Last read.
    pub fn atime(&self) -> Timestamp {
        Timestamp::decode(self.i_atime(), self.extra(0x8C, self.i_atime_extra()))
    }

    /// Last change of the inode.
    pub fn ctime(&self) -> Timestamp {
        Timestamp::decode(self.i_ctime(), self.extra(0x84, self.i_ctime_extra()))
    }

    /// Last change of the contents.
    pub fn mtime(&self) -> Timestamp {
        Timestamp::decode(self.i_mtime(), self.extra(0x88, self.i_mtime_extra()))
    }

    /// When it was made, where the inode is long enough to say.
    pub fn crtime(&self) -> Option<Timestamp> {
        self.has_extra(0x90, 4)
            .then(|| Timestamp::decode(self.i_crtime(), self.extra(0x94, self.i_crtime_extra())))
    }

    /// Project, where the inode is long enough to say.
    pub fn project(&self) -> Option<u32> {
        self.has_extra(0x9C, 4).then(|| self.i_projid())
    }

    /// Device number of a device file: major and minor, in the old encoding of 8 bits
    /// each or the new of 12 and 20.
    pub fn device(&self) -> Option<(u32, u32)> {
        if !matches!(
            self.file_type(),
            FileType::CharDevice | FileType::BlockDevice
        ) {
            return None;
        }
        let block = self.i_block().0;
        let word =
            |i: usize| u32::from_le_bytes([block[i], block[i + 1], block[i + 2], block[i + 3]]);
        let (old, new) = (word(0), word(4));
        Some(if old != 0 {
            (old >> 8 & 0xFF, old & 0xFF)
        } else {
            (new >> 8 & 0xFFF, (new & 0xFF) | (new >> 12 & 0xF_FF00))
        })
    }

    /// The stored checksum: 32 bits where the inode has room for the high half.
    pub fn checksum(&self) -> u32 {
        let high = if self.has_checksum_hi() {
            self.i_checksum_hi()
        } else {
            0
        };
        join16(self.i_checksum_lo(), high)
    }

    /// Whether the checksum's high half is inside the inode.
    pub fn has_checksum_hi(&self) -> bool {
        self.has_extra(0x82, 2)
    }
}

/// Inodes with a meaning of their own.
pub fn reserved_inode_name(ino: InodeNr) -> Option<&'static str> {
    Some(match ino.0 {
        1 => "bad blocks",
        2 => "root directory",
        3 => "user quota",
        4 => "group quota",
        5 => "boot loader",
        6 => "undelete directory",
        7 => "reserved descriptors (resize inode)",
        8 => "journal",
        9 => "exclude inode",
        10 => "replica inode",
        _ => return None,
    })
}
