//! Superblock, group descriptors, inode tables, and the filesystem's own small files.

use super::Context;
use super::owner::{is_mmp, is_orphan_file};
use super::parts::{number_field, part, text_field};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    Compat, EXT4_MAGIC, FileType, GroupDesc, Incompat, Inode, MMP_MAGIC, MmpBlock, Order, Shown,
    Superblock, wire,
};
use crate::ext4::read::{InodeBuf, MetaKind};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::units::{GroupNr, InodeNr};
use crate::view::fields::{Structure, inode_fields, mode_text};
use crate::view::inode::{is_fast_symlink, was_used};

impl<R: ReadAt> Context<'_, R> {
    pub(super) fn superblock(&mut self) {
        // The primary is at byte 1024 whatever the size of blocks; backups begin a block.
        let at = if self.nr.0 == 0 && self.bytes.len() > 1024 {
            1024
        } else {
            0
        };
        let Some(raw) = self.bytes.get(at..at + Superblock::SIZE) else {
            return;
        };
        if at > 0 {
            self.parts
                .push(part("left to a boot loader", 0, at, Vec::new()));
        }
        let sb = Superblock(raw);
        self.parts
            .structure("superblock", Structure::little(Superblock::FIELDS, raw, at));
        let backup = self.fixed.is_some_and(|f| f.group.0 > 0);
        let place = if backup {
            Place::Backup(self.nr)
        } else {
            Place::Superblock
        };
        if sb.s_magic() != EXT4_MAGIC {
            let (found, expected) = (sb.s_magic().into(), EXT4_MAGIC.into());
            self.problems
                .push(Problem::new(place, Flaw::Magic { found, expected }));
            return;
        }
        if sb.has_metadata_csum()
            && let Some(raw) = raw.first_chunk()
        {
            self.checksum(place, sb.s_checksum(), checksum::superblock(raw));
        }
    }

    /// The number of the first group that is described in this block.
    pub(super) fn first_described(&self) -> Option<GroupNr> {
        let (geo, fixed) = (self.fs.geometry(), self.fixed?);
        if fixed.kind != MetaKind::Descriptors {
            return None;
        }
        let per_block = geo.descs_per_block();
        let meta = self.fs.superblock().incompat().contains(Incompat::META_BG)
            && fixed.group.0 / per_block >= self.fs.superblock().s_first_meta_bg();
        let table_block = if meta {
            u64::from(fixed.group.0 / per_block)
        } else {
            fixed.index
        };
        let first = u32::try_from(table_block.saturating_mul(per_block.into())).ok()?;
        (first < geo.groups).then_some(GroupNr(first))
    }

    pub(super) fn descriptors(&mut self) {
        let Some(first) = self.first_described() else {
            return;
        };
        let size = usize::from(self.fs.geometry().desc_size);
        let last = self.fs.geometry().groups;
        let mut wrong = 0u32;
        for (raw, (i, g)) in self
            .bytes
            .chunks_exact(size)
            .zip((first.0..last).enumerate())
        {
            let desc = GroupDesc(raw);
            let fields = Structure::little(GroupDesc::FIELDS, raw, i * size);
            self.parts
                .structure(format!("descriptor of group {g}"), fields);
            let expected = checksum::group(self.fs.superblock(), GroupNr(g), raw);
            if let Some(expected) = expected.filter(|&sum| sum != desc.bg_checksum()) {
                wrong += 1;
                let flaw = Flaw::Checksum {
                    found: desc.bg_checksum().into(),
                    expected: expected.into(),
                };
                if wrong <= 100 {
                    self.problems
                        .push(Problem::new(Place::Group(GroupNr(g)), flaw));
                }
            }
        }
    }

    /// The blocks after the descriptors hold numbers where the resize inode keeps them.
    pub(super) fn reserved_descriptors(&mut self) {
        let primary = self.fixed.is_some_and(|f| f.group.0 == 0);
        if primary && self.fs.superblock().compat().contains(Compat::RESIZE_INODE) {
            self.numbers(None);
        }
    }

    /// The first inode in this block of an inode table.
    pub(super) fn first_inode(&self) -> Option<InodeNr> {
        let (geo, fixed) = (self.fs.geometry(), self.fixed?);
        if fixed.kind != MetaKind::InodeTable {
            return None;
        }
        let per_block = u64::from(geo.block_size / u32::from(geo.inode_size));
        let before = u64::from(fixed.group.0) * u64::from(geo.inodes_per_group);
        let first = before + fixed.index * per_block + 1;
        u32::try_from(first)
            .ok()
            .filter(|&n| n <= geo.inodes)
            .map(InodeNr)
    }

    pub(super) fn inode_table(&mut self) {
        let Some(first) = self.first_inode() else {
            return;
        };
        let geo = *self.fs.geometry();
        let size = usize::from(geo.inode_size);
        // The last block of a group's table may have slots that no inode has.
        let end =
            (u64::from((first.0 - 1) / geo.inodes_per_group) + 1) * u64::from(geo.inodes_per_group);
        for (i, raw) in self.bytes.chunks_exact(size).enumerate() {
            let nr = u64::from(first.0) + i as u64;
            if nr > end.min(geo.inodes.into()) {
                self.parts.push(part(
                    "no inode: past the group's last",
                    i * size,
                    size,
                    Vec::new(),
                ));
                continue;
            }
            self.inode_slot(InodeNr(nr as u32), raw, i * size);
        }
    }

    fn inode_slot(&mut self, nr: InodeNr, raw: &[u8], at: usize) {
        if raw.iter().all(|&b| b == 0) {
            let mut unused = part(format!("inode {nr}: never used"), at, raw.len(), Vec::new());
            unused.inode = Some(nr.0);
            return self.parts.push(unused);
        }
        let inode = InodeBuf::new(nr, raw.into());
        let what = match inode.file_type() {
            FileType::Unknown => "without a type".to_string(),
            kind => format!("{} {}", kind.words(), mode_text(inode.i_mode())),
        };
        let gone = if inode.i_links_count() == 0 {
            ", no names"
        } else {
            ""
        };
        let fields = if self.parts.has_room() {
            inode_fields(raw, at, is_fast_symlink(self.fs, &inode))
        } else {
            Vec::new()
        };
        let len = fields
            .last()
            .map_or(raw.len(), |f| (f.offset + f.len) as usize - at);
        let mut slot = part(format!("inode {nr}: {what}{gone}"), at, len, fields);
        slot.inode = Some(nr.0);
        self.parts.push(slot);
        self.inode_xattrs(&inode, at);
        if self.fs.inode_checksum_ok(nr, raw) == Some(false) && was_used(self.fs, &inode) {
            let (found, expected) = (
                Inode(raw).checksum(),
                checksum::inode(self.fs.checksum_seed(), nr, raw),
            );
            self.problems.push(Problem::new(
                Place::Inode(nr),
                Flaw::Checksum { found, expected },
            ));
        }
    }

    pub(super) fn symlink(&mut self) {
        let end = self
            .bytes
            .iter()
            .position(|&b| b == 0)
            .unwrap_or(self.bytes.len());
        let encrypted = self
            .inode
            .as_ref()
            .is_some_and(|i| i.flags().contains(crate::ext4::layout::InodeFlags::ENCRYPT));
        if end > 0 && !encrypted {
            let target = text_field("target", 0, &self.bytes[..end], "where the link leads");
            self.parts.push(part("target", 0, end, vec![target]));
        }
    }

    pub(super) fn internal(&mut self) {
        let mmp = MmpBlock(self.bytes);
        if is_mmp(self.fs, self.nr) || (self.guessed && mmp.mmp_magic() == MMP_MAGIC) {
            return self.mmp();
        }
        if self
            .inode
            .as_ref()
            .is_some_and(|i| is_orphan_file(self.fs, i.nr))
        {
            self.orphan_block();
        }
    }

    fn mmp(&mut self) {
        let Some(raw) = self.bytes.get(..MmpBlock::SIZE) else {
            return;
        };
        let mmp = MmpBlock(raw);
        self.parts
            .structure("MMP", Structure::little(MmpBlock::FIELDS, raw, 0));
        let place = Place::Mmp(self.nr);
        if mmp.mmp_magic() != MMP_MAGIC {
            let (found, expected) = (mmp.mmp_magic().into(), MMP_MAGIC.into());
            self.problems
                .push(Problem::new(place, Flaw::Magic { found, expected }));
        } else if self.fs.superblock().has_metadata_csum() {
            let expected = checksum::crc32c(self.fs.checksum_seed(), &raw[..0x3FC]);
            self.checksum(place, mmp.mmp_checksum(), expected);
        }
        self.says = Some(
            "It guards against mounting the filesystem twice: while mounted, a \
                          number in it keeps changing."
                .into(),
        );
    }

    /// A block of the orphan file: inode numbers, then a magic number and a checksum.
    fn orphan_block(&mut self) {
        let Some(tail) = self.bytes.len().checked_sub(8) else {
            return;
        };
        let (entries, last) = self.bytes.split_at(tail);
        let mut free = 0u64;
        for (i, slot) in entries.chunks_exact(4).enumerate() {
            let nr: u32 = wire::get(slot, 0, Order::Little);
            if nr == 0 {
                free += 1;
                continue;
            }
            let field = number_field(
                "inode",
                i * 4,
                Shown::Inode,
                nr,
                "an inode without a name, or being truncated",
            );
            let mut entry = part(format!("orphan: inode {nr}"), i * 4, 4, vec![field]);
            entry.inode = Some(nr);
            self.parts.push(entry);
        }
        let word = |at| wire::get::<u32>(last, at, Order::Little);
        let fields = vec![
            number_field("ob_magic", tail, Shown::Hex, word(0), "0x0B10CA04"),
            number_field(
                "ob_checksum",
                tail + 4,
                Shown::Hex,
                word(4),
                "crc32c of block number and entries",
            ),
        ];
        self.parts.push(part("tail", tail, 8, fields));
        self.says = Some(format!("It has room for {free} more orphans."));
        if let Some(seed) = self.owner_seed()
            && let Some(super::InMap::Content(lblk)) = self.in_map
            && let Some(inode) = &self.inode
        {
            let place = Place::OrphanBlock(inode.nr, lblk);
            self.checksum(
                place,
                word(4),
                checksum::orphan_block(seed, self.nr, entries),
            );
        }
    }
}
