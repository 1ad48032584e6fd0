//! Whose a block is.

use crate::disk::ReadAt;
use crate::ext4::Problem;
use crate::ext4::layout::{Compat, Incompat};
use crate::ext4::read::{Fs, InodeBuf, MapVisitor, MetaKind, NodeInfo, Run};
use crate::units::{BlockNr, GroupNr, InodeNr};
use crate::view::escape;
use crate::view::owners::{BlockMap, Flags, Kind, Names};

/// Claimants of a block owned twice that are told.
const MOST_CLAIMANTS: usize = 8;

/// Whose a block is, as a scan found it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OwnerInfo {
    /// What the block is.
    pub kind: Kind,
    /// What else is known of it.
    pub flags: Flags,
    /// The inode that owns it.
    pub inode: Option<u32>,
    /// A path to that inode, escaped.
    pub path: Option<String>,
    /// Who claims a block that is owned twice: inode (0 for the filesystem) and what for.
    pub claimants: Vec<(u32, Kind)>,
}

impl OwnerInfo {
    /// What a scan's map and names say of a block.
    pub fn find(map: &BlockMap, names: &Names, nr: u64) -> Option<Self> {
        let run = map.at(nr)?;
        Some(Self {
            kind: run.kind,
            flags: run.flags,
            inode: (run.inode != 0).then_some(run.inode),
            path: names.path(run.inode).map(|p| escape(&p)),
            claimants: map
                .claimants(nr)
                .take(MOST_CLAIMANTS)
                .map(|c| (c.inode, c.kind))
                .collect(),
        })
    }
}

/// Fixed metadata that a block is part of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    pub group: GroupNr,
    pub kind: MetaKind,
    /// Block of the run of that kind, from 0.
    pub index: u64,
}

/// The fixed metadata that a block is, by geometry and descriptors.
pub(super) fn fixed<R: ReadAt>(fs: &Fs<R>, nr: BlockNr) -> Option<Fixed> {
    let geo = fs.geometry();
    let here = geo.group_of(nr)?;
    let base = fs
        .base_meta(here)
        .into_iter()
        .find(|r| r.start <= nr && nr < r.start.plus(r.len));
    if let Some(run) = base {
        return Some(Fixed {
            group: here,
            kind: run.kind,
            index: nr.0 - run.start.0,
        });
    }
    // Most often a group's metadata is in the group; with flex_bg it may be in any.
    std::iter::once(here).chain(fs.groups()).find_map(|g| {
        let d = fs.group_desc(g).ok()?;
        let found = |kind, index| {
            Some(Fixed {
                group: g,
                kind,
                index,
            })
        };
        if d.block_bitmap() == nr {
            return found(MetaKind::BlockBitmap, 0);
        }
        if d.inode_bitmap() == nr {
            return found(MetaKind::InodeBitmap, 0);
        }
        let index = nr.0.checked_sub(d.inode_table().0)?;
        if index < u64::from(geo.itable_blocks) {
            found(MetaKind::InodeTable, index)
        } else {
            None
        }
    })
}

pub(super) fn kind_of(meta: MetaKind) -> Kind {
    match meta {
        MetaKind::Boot => Kind::Boot,
        MetaKind::Superblock => Kind::Superblock,
        MetaKind::Descriptors => Kind::Descriptors,
        MetaKind::ReservedDescriptors => Kind::ReservedDescriptors,
        MetaKind::BlockBitmap => Kind::BlockBitmap,
        MetaKind::InodeBitmap => Kind::InodeBitmap,
        MetaKind::InodeTable => Kind::InodeTable,
    }
}

/// What a block is in the map of its inode.
#[derive(Clone, Copy, Debug)]
pub(super) enum InMap {
    /// A block of the contents: its number in the file.
    Content(u64),
    /// A node.
    Node(NodeInfo),
}

/// Finds a block in an inode's map.
pub(super) fn in_map<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf, nr: BlockNr) -> Option<InMap> {
    struct Finder {
        nr: BlockNr,
        found: Option<InMap>,
    }
    impl MapVisitor for Finder {
        fn node(&mut self, node: &NodeInfo) {
            if node.block == Some(self.nr) {
                self.found.get_or_insert(InMap::Node(*node));
            }
        }
        fn run(&mut self, run: Run) {
            if let Some(i) = self.nr.0.checked_sub(run.start.0)
                && i < u64::from(run.len)
            {
                self.found
                    .get_or_insert(InMap::Content(u64::from(run.lblk.0) + i));
            }
        }
        fn problem(&mut self, _: Problem) {}
    }
    let mut finder = Finder { nr, found: None };
    if inode.i_mode() & 0xF000 == 0 {
        fs.walk_map_of_any(inode, &mut finder);
    } else {
        fs.walk_map(inode, &mut finder);
    }
    finder.found
}

/// Whether a block is the one that guards against mounting twice.
pub(super) fn is_mmp<R: ReadAt>(fs: &Fs<R>, nr: BlockNr) -> bool {
    let sb = fs.superblock();
    sb.incompat().contains(Incompat::MMP) && sb.s_mmp_block() == nr.0
}

/// Whether an inode is the orphan file.
pub(super) fn is_orphan_file<R: ReadAt>(fs: &Fs<R>, ino: InodeNr) -> bool {
    let sb = fs.superblock();
    sb.compat().contains(Compat::ORPHAN_FILE) && sb.s_orphan_file_inum() == ino.0
}
