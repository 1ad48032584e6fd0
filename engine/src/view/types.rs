//! What a picture is made of. Names and paths are text as [`super::escape`] makes it;
//! times are RFC 3339 text in UTC with nanoseconds.

use crate::ext4::Problem;
use crate::ext4::layout::{FileType, Shown};
use crate::ext4::read::{DxNodeInfo, GroupInfo, NodeKind, Orphan, Run};
use serde::{Deserialize, Serialize};

/// A named value, as text, of an on-disk structure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FieldValue {
    /// The documented name.
    pub name: String,
    /// Bytes from the start of the block (or of the structure, where it is shown alone).
    pub offset: u32,
    /// Bytes.
    pub len: u32,
    /// How it is read.
    pub shown: Shown,
    /// The value in words or digits.
    pub value: String,
    /// What it means.
    pub help: String,
}

/// An image at a glance.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// "ext2", "ext3" or "ext4", by its features.
    pub kind: String,
    /// Label; may be empty.
    pub label: String,
    /// UUID, as text.
    pub uuid: String,
    /// Where it was last mounted; may be empty.
    pub last_mounted: String,
    /// Bytes of a block.
    pub block_size: u32,
    /// Blocks of a cluster; 1 without bigalloc.
    pub cluster_blocks: u32,
    /// Blocks in all.
    pub blocks: u64,
    /// Free blocks, as the superblock counts.
    pub free_blocks: u64,
    /// First block of group 0.
    pub first_data_block: u64,
    /// Blocks of a group.
    pub blocks_per_group: u32,
    /// Groups.
    pub groups: u32,
    /// Groups of a flex group; 1 without flex_bg.
    pub flex_groups: u32,
    /// Inodes in all.
    pub inodes: u32,
    /// Free inodes, as the superblock counts.
    pub free_inodes: u32,
    /// Bytes of an inode.
    pub inode_size: u16,
    /// Bytes of the image.
    pub image_bytes: u64,
    /// Features, as e2fsprogs names them.
    pub features: Vec<String>,
    /// Sentences on the filesystem's state, most important first: how it was left, whether
    /// its journal wants a replay, which superblock is in use.
    pub state: Vec<String>,
    /// Every field of the superblock.
    pub fields: Vec<FieldValue>,
    /// Inodes that were deleted while open or being truncated.
    pub orphans: Vec<Orphan>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// A group, with its bitmaps' checksums.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupRow {
    /// What the descriptor says.
    pub info: GroupInfo,
    /// Whether it holds a superblock.
    pub has_super: bool,
    /// Flags in e2fsprogs' words.
    pub flags: Vec<String>,
    /// Whether the block bitmap's checksum holds; `None` where there is none.
    pub block_bitmap_ok: Option<bool>,
    /// Whether the inode bitmap's checksum holds; `None` where there is none.
    pub inode_bitmap_ok: Option<bool>,
}

/// A name in a directory, with what it leads to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DirRow {
    /// Inode it names.
    pub inode: u32,
    /// The name.
    pub name: String,
    /// What the inode is (by the inode; by the entry where that cannot be read).
    pub file_type: FileType,
    /// Mode, permissions included.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names.
    pub links: u16,
    /// Bytes.
    pub size: u64,
    /// Modified.
    pub mtime: String,
    /// Target of a symbolic link.
    pub target: Option<String>,
    /// Encrypted, so that the name is not one.
    pub encrypted: bool,
    /// Block of the directory that the name is in.
    pub lblk: u64,
}

/// A directory's names.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DirView {
    /// The directory.
    pub inode: u32,
    /// Names from the one asked for on, in the order of the blocks, without `.` and `..`.
    pub rows: Vec<DirRow>,
    /// Number of the first row.
    pub from: u64,
    /// Names in all, without `.` and `..`.
    pub total: u64,
    /// The parent, by `..`.
    pub parent: Option<u32>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// An extended attribute.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct XattrRow {
    /// Full name.
    pub name: String,
    /// Value as text, escaped.
    pub text: String,
    /// Value, its first 4096 bytes.
    pub value: Vec<u8>,
    /// Bytes of the value.
    pub len: u64,
    /// "in the inode", "in block N", "in inode N".
    pub home: String,
}

/// A node of a file's map, for drawing as a tree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MapNodeRow {
    /// Its block; `None` for the root in the inode.
    pub block: Option<u64>,
    /// Index of the node above in the same list; `None` for the root.
    pub parent: Option<u32>,
    /// What kind.
    pub kind: NodeKind,
    /// Levels of nodes below it.
    pub level: u16,
    /// First block of the file it maps.
    pub lblk: u32,
    /// Entries in use.
    pub entries: u32,
    /// Entries that fit.
    pub max: u32,
    /// Whether its checksum holds.
    pub checksum_ok: Option<bool>,
    /// Runs directly below it: first index and count in [`MapView::runs`].
    pub runs: (u32, u32),
}

/// A file's map from its blocks to the disk's.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MapView {
    /// Nodes, each before what is below it.
    pub nodes: Vec<MapNodeRow>,
    /// Runs in the order of the file; at most [`MapView::MOST`].
    pub runs: Vec<Run>,
    /// Runs in all.
    pub total_runs: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl MapView {
    /// Most nodes and most runs that a picture holds.
    pub const MOST: usize = 20_000;
}

/// An inode, explained.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InodeView {
    /// Its number.
    pub nr: u32,
    /// One or two plain sentences: what it is, how it is kept, what is odd.
    pub words: String,
    /// What it is.
    pub file_type: FileType,
    /// Mode as `ls -l` shows it.
    pub mode_text: String,
    /// `i_mode`.
    pub mode: u16,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names.
    pub links: u16,
    /// Bytes.
    pub size: u64,
    /// 512-byte sectors.
    pub sectors: u64,
    /// Flags, by name.
    pub flags: Vec<String>,
    /// Last read.
    pub atime: String,
    /// Inode changed.
    pub ctime: String,
    /// Contents changed.
    pub mtime: String,
    /// Made.
    pub crtime: Option<String>,
    /// Deleted.
    pub dtime: Option<String>,
    /// Generation.
    pub generation: u32,
    /// Project.
    pub project: Option<u32>,
    /// Device numbers.
    pub device: Option<(u32, u32)>,
    /// Target of a symbolic link.
    pub target: Option<String>,
    /// Meaning of a reserved inode.
    pub reserved: Option<String>,
    /// Whether the bitmap has it in use.
    pub in_use: bool,
    /// Whether its checksum holds; `None` without checksums.
    pub checksum_ok: Option<bool>,
    /// Block of the inode table that holds it.
    pub table_block: u64,
    /// Byte in that block.
    pub table_offset: u32,
    /// Where its contents are kept: "inline", "extents", "block map", "none".
    pub storage: String,
    /// Attributes.
    pub xattrs: Vec<XattrRow>,
    /// Attribute block.
    pub xattr_block: Option<u64>,
    /// Every field, offsets from the start of the inode.
    pub fields: Vec<FieldValue>,
    /// The htree of a directory that has one: name of the hash, levels, nodes.
    pub htree: Option<HtreeView>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// A directory's htree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct HtreeView {
    /// Name of the hash.
    pub hash: String,
    /// Inner levels below the root.
    pub levels: u8,
    /// Nodes, each before its children.
    pub nodes: Vec<DxNodeInfo>,
}

/// A structure inside a block, with its fields.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// What it is, as "inode 12", "extent 3", "entry \"foo\"".
    pub title: String,
    /// Bytes from the start of the block.
    pub offset: u32,
    /// Bytes.
    pub len: u32,
    /// Its fields, offsets from the start of the block.
    pub fields: Vec<FieldValue>,
    /// Inode it leads to, where it does.
    pub inode: Option<u32>,
    /// Block it leads to, where it does.
    pub block: Option<u64>,
}

/// A block, decoded by what it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockView {
    /// Its number.
    pub nr: u64,
    /// One or two plain sentences: whose it is and what for.
    pub words: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The structures in it, in order; empty for a file's data.
    pub parts: Vec<Part>,
    /// Whether the block's own checksum holds; `None` where it has none.
    pub checksum_ok: Option<bool>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Something that a search found.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Found {
    /// An inode, with the path by which it was found if by one.
    Inode {
        /// Its number.
        nr: u32,
        /// The path.
        path: Option<String>,
    },
    /// A block.
    Block {
        /// Its number.
        nr: u64,
    },
    /// A group.
    Group {
        /// Its number.
        nr: u32,
    },
}
