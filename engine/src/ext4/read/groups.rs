use super::{Fs, Geometry};
use crate::disk::ReadAt;
use crate::ext4::layout::{Compat, GroupDesc, GroupFlags, Incompat, RoCompat};
use crate::ext4::{Error, Flaw, Place, Problem, checksum};
use crate::units::{BlockNr, GroupNr};
use serde::{Deserialize, Serialize};

/// What a group's fixed metadata is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum MetaKind {
    /// The boot block, which the filesystem leaves alone.
    Boot,
    /// The superblock or a backup of it.
    Superblock,
    /// Group descriptors or a backup of them.
    Descriptors,
    /// Blocks kept for descriptors to come.
    ReservedDescriptors,
    /// A group's block bitmap.
    BlockBitmap,
    /// A group's inode bitmap.
    InodeBitmap,
    /// A group's inode table.
    InodeTable,
}

/// A run of blocks of fixed metadata.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MetaRun {
    /// What it is.
    pub kind: MetaKind,
    /// First block.
    pub start: BlockNr,
    /// Blocks.
    pub len: u64,
}

/// What a group's descriptor says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupInfo {
    /// Which group.
    pub nr: GroupNr,
    /// First block.
    pub start: BlockNr,
    /// Blocks.
    pub len: u32,
    /// Block of the block bitmap.
    pub block_bitmap: BlockNr,
    /// Block of the inode bitmap.
    pub inode_bitmap: BlockNr,
    /// First block of the inode table.
    pub inode_table: BlockNr,
    /// Free blocks (clusters, with bigalloc).
    pub free_blocks: u32,
    /// Free inodes.
    pub free_inodes: u32,
    /// Directories.
    pub used_dirs: u32,
    /// Inodes never used, at the table's end.
    pub itable_unused: u32,
    /// `bg_flags`.
    pub flags: u16,
    /// Whether the descriptor's checksum holds; `None` without checksums.
    pub checksum_ok: Option<bool>,
}

impl<R: ReadAt> Fs<R> {
    /// A group's descriptor, at its full size.
    pub fn group_desc(&self, g: GroupNr) -> Result<GroupDesc<&[u8]>, Error> {
        self.geo.check_group(g)?;
        if g.0 >= self.known_groups() {
            return Err(Problem::other(Place::Group(g), "lies past the end of the image").into());
        }
        let size = usize::from(self.geo.desc_size);
        let per_block = self.geo.descs_per_block() as usize;
        let (block, index) = (g.0 as usize / per_block, g.0 as usize % per_block);
        let at = block * self.geo.block_size as usize + index * size;
        Ok(GroupDesc(&self.descs[at..at + size]))
    }

    /// A group's descriptor, decoded.
    pub fn group(&self, g: GroupNr) -> Result<GroupInfo, Error> {
        let d = self.group_desc(g)?;
        let expected = checksum::group(&self.sb, g, d.0);
        Ok(GroupInfo {
            nr: g,
            start: self.geo.group_start(g),
            len: self.geo.group_len(g),
            block_bitmap: d.block_bitmap(),
            inode_bitmap: d.inode_bitmap(),
            inode_table: d.inode_table(),
            free_blocks: d.free_blocks(),
            free_inodes: d.free_inodes(),
            used_dirs: d.used_dirs(),
            itable_unused: d.itable_unused(),
            flags: d.bg_flags(),
            checksum_ok: expected.map(|sum| sum == d.bg_checksum()),
        })
    }

    /// Every group whose descriptor is on the image.
    pub fn groups(&self) -> impl Iterator<Item = GroupNr> + use<R> {
        (0..self.known_groups()).map(GroupNr)
    }

    /// Groups whose descriptors are on the image: all, unless it was cut short.
    pub fn known_groups(&self) -> u32 {
        let blocks = (self.descs.len() / self.geo.block_size as usize) as u32;
        self.geo
            .groups
            .min(blocks.saturating_mul(self.geo.descs_per_block()))
    }

    /// Checks every descriptor's checksum and places; replaces one that points outside
    /// the filesystem by its backup where that is sound.
    pub(super) fn check_descriptors(&mut self) {
        const MOST: usize = 100;
        for g in self.groups() {
            if self.problems.len() > MOST {
                break;
            }
            let Ok(info) = self.group(g) else { continue };
            if info.checksum_ok == Some(false) {
                let d = self.group_desc(g).ok();
                let found = d.as_ref().map_or(0, |d| d.bg_checksum().into());
                let expected = d
                    .and_then(|d| checksum::group(&self.sb, g, d.0))
                    .unwrap_or(0)
                    .into();
                self.problems.push(Problem::new(
                    Place::Group(g),
                    Flaw::Checksum { found, expected },
                ));
            }
            if let Some(problem) = misplaced(&self.geo, &info) {
                self.problems.push(problem);
                self.use_backup_descriptor(g);
            }
        }
    }

    /// Takes the descriptor from the copy in group 1, if that one makes sense.
    fn use_backup_descriptor(&mut self, g: GroupNr) {
        if self.geo.groups < 2
            || self.sb.incompat().contains(Incompat::META_BG)
            || !self.has_super(GroupNr(1))
        {
            return;
        }
        let size = usize::from(self.geo.desc_size);
        let per_block = self.geo.descs_per_block();
        let at = self
            .geo
            .group_start(GroupNr(1))
            .plus(1 + u64::from(g.0 / per_block));
        let Ok(block) = self.block(at) else { return };
        let from = (g.0 % per_block) as usize * size;
        let to = (g.0 / per_block) as usize * self.geo.block_size as usize + from;
        let before = self.descs[to..to + size].to_vec();
        self.descs[to..to + size].copy_from_slice(&block[from..from + size]);
        match self.group(g) {
            Ok(info) if misplaced(&self.geo, &info).is_none() => {
                self.problems.push(Problem::other(
                    Place::Group(g),
                    format!("was taken from its backup in block {at}"),
                ));
            }
            _ => self.descs[to..to + size].copy_from_slice(&before),
        }
    }

    /// Whether a group starts with the superblock or a backup of it.
    pub fn has_super(&self, g: GroupNr) -> bool {
        if g.0 == 0 {
            return true;
        }
        if self.sb.compat().contains(Compat::SPARSE_SUPER2) {
            return g.0 == self.sb.s_backup_bgs_0() || g.0 == self.sb.s_backup_bgs_1();
        }
        if !self.sb.ro_compat().contains(RoCompat::SPARSE_SUPER) || g.0 == 1 {
            return true;
        }
        [3, 5, 7].iter().any(|&base| is_power_of(g.0, base))
    }

    /// Descriptor blocks at a group's start, backups included.
    fn desc_blocks_in(&self, g: GroupNr) -> u64 {
        let all = self.geo.desc_blocks();
        if !self.sb.incompat().contains(Incompat::META_BG) {
            return if self.has_super(g) { all.into() } else { 0 };
        }
        let first_meta = self.sb.s_first_meta_bg();
        let per_block = self.geo.descs_per_block();
        if g.0 / per_block < first_meta {
            return if self.has_super(g) {
                first_meta.min(all).into()
            } else {
                0
            };
        }
        let index = g.0 % per_block;
        u64::from(index == 0 || index == 1 || index == per_block - 1)
    }

    /// Superblock, descriptors and reserved descriptors at a group's start.
    pub fn base_meta(&self, g: GroupNr) -> Vec<MetaRun> {
        let mut runs = Vec::new();
        let end = self.geo.group_start(g).0 + u64::from(self.geo.group_len(g));
        let mut at = self.geo.group_start(g);
        let mut push = |kind, len: u64| {
            let len = len.min(end - at.0);
            if len > 0 {
                runs.push(MetaRun {
                    kind,
                    start: at,
                    len,
                });
            }
            at = at.plus(len);
        };
        push(MetaKind::Boot, self.boot_block(g));
        push(MetaKind::Superblock, self.has_super(g).into());
        push(MetaKind::Descriptors, self.desc_blocks_in(g));
        let meta_bg = self.sb.incompat().contains(Incompat::META_BG)
            && g.0 / self.geo.descs_per_block() >= self.sb.s_first_meta_bg();
        if self.has_super(g) && !meta_bg {
            push(
                MetaKind::ReservedDescriptors,
                self.sb.s_reserved_gdt_blocks().into(),
            );
        }
        runs
    }

    /// A group's bitmaps and inode table, wherever they are; only those whose blocks are
    /// inside the filesystem.
    pub fn moved_meta(&self, g: GroupNr) -> Vec<MetaRun> {
        let Ok(d) = self.group_desc(g) else {
            return Vec::new();
        };
        [
            (MetaKind::BlockBitmap, d.block_bitmap(), 1),
            (MetaKind::InodeBitmap, d.inode_bitmap(), 1),
            (
                MetaKind::InodeTable,
                d.inode_table(),
                self.geo.itable_blocks.into(),
            ),
        ]
        .into_iter()
        .filter(|&(_, start, len)| self.geo.holds(start, len))
        .map(|(kind, start, len)| MetaRun { kind, start, len })
        .collect()
    }

    /// Whether marks of what is not initialised count: they do not in a backup of the
    /// descriptors, which nobody keeps up to date.
    pub(super) fn trusts_uninit(&self) -> bool {
        self.sb.has_group_checksum() && !self.stale_descs
    }

    /// Which clusters of a group are in use: a bit each, the lowest of byte 0 first.
    /// Computed where the group says that its bitmap is not initialised.
    pub fn block_bitmap(&self, g: GroupNr) -> Result<Vec<u8>, Error> {
        let d = self.group_desc(g)?;
        if self.trusts_uninit() && d.flags().contains(GroupFlags::BLOCK_UNINIT) {
            return Ok(self.initial_bitmap(g));
        }
        self.bitmap(d.block_bitmap(), Place::BlockBitmap(g))
    }

    /// The bitmap of a group in which only its own metadata is in use.
    fn initial_bitmap(&self, g: GroupNr) -> Vec<u8> {
        let mut bits = vec![0; self.geo.block_size as usize];
        let start = self.geo.group_start(g).0;
        let end = start + u64::from(self.geo.group_len(g));
        for run in self.base_meta(g).into_iter().chain(self.moved_meta(g)) {
            let (from, to) = (run.start.0.max(start), (run.start.0 + run.len).min(end));
            for block in from..to {
                let bit = ((block - start) / u64::from(self.geo.cluster_blocks)) as usize;
                bits[bit / 8] |= 1 << (bit % 8);
            }
        }
        bits
    }

    /// Which inodes of a group are in use: a bit each.
    pub fn inode_bitmap(&self, g: GroupNr) -> Result<Vec<u8>, Error> {
        let d = self.group_desc(g)?;
        if self.trusts_uninit() && d.flags().contains(GroupFlags::INODE_UNINIT) {
            return Ok(vec![0; self.geo.block_size as usize]);
        }
        self.bitmap(d.inode_bitmap(), Place::InodeBitmap(g))
    }

    fn bitmap(&self, at: BlockNr, place: Place) -> Result<Vec<u8>, Error> {
        if !self.geo.holds(at, 1) {
            let words = format!("would be in block {at}, where none can be");
            return Err(Problem::other(place, words).into());
        }
        self.block(at).map_err(|e| e.into_problem(place).into())
    }

    /// Whether the checksums of a group's two bitmaps hold; `None` where there is none
    /// to hold, or the bitmap is not initialised or not readable.
    pub fn bitmap_checksums(&self, g: GroupNr) -> Result<(Option<bool>, Option<bool>), Error> {
        let d = self.group_desc(g)?;
        if !self.sb.has_metadata_csum() || self.stale_descs {
            return Ok((None, None));
        }
        let size = usize::from(self.geo.desc_size);
        let holds = |bits: Result<Vec<u8>, Error>, count: u32, stored: u32| {
            let bits = bits.ok()?;
            let used = bits.get(..count as usize / 8)?;
            Some(checksum::bitmap(self.seed, used, size) == stored)
        };
        let clusters = self.geo.blocks_per_group / self.geo.cluster_blocks;
        let blocks = if d.flags().contains(GroupFlags::BLOCK_UNINIT) {
            None
        } else {
            holds(self.block_bitmap(g), clusters, d.block_bitmap_csum())
        };
        let inodes = if d.flags().contains(GroupFlags::INODE_UNINIT) {
            None
        } else {
            holds(
                self.inode_bitmap(g),
                self.geo.inodes_per_group,
                d.inode_bitmap_csum(),
            )
        };
        Ok((blocks, inodes))
    }
}

/// Says so when a descriptor points outside the filesystem.
fn misplaced(geo: &Geometry, info: &GroupInfo) -> Option<Problem> {
    [
        ("bg_block_bitmap", info.block_bitmap, 1),
        ("bg_inode_bitmap", info.inode_bitmap, 1),
        (
            "bg_inode_table",
            info.inode_table,
            u64::from(geo.itable_blocks),
        ),
    ]
    .into_iter()
    .find(|&(_, at, len)| !geo.holds(at, len))
    .map(|(field, at, _)| {
        let expected = format!(
            "a block of the filesystem, {} to {}",
            geo.first_data_block,
            geo.blocks - 1
        );
        Problem::value(Place::Group(info.nr), field, at.0, expected)
    })
}

fn is_power_of(mut n: u32, base: u32) -> bool {
    while n > 1 && n.is_multiple_of(base) {
        n /= base;
    }
    n == 1
}

#[cfg(test)]
mod tests {
    use super::is_power_of;

    /// The kernel's documentation: "groups whose group number is either 0 or a power of
    /// 3, 5, or 7".
    #[test]
    fn backup_groups_below_100() {
        let groups: Vec<u32> = (1..100)
            .filter(|&g| [3, 5, 7].iter().any(|&b| is_power_of(g, b)))
            .collect();
        assert_eq!(groups, [1, 3, 5, 7, 9, 25, 27, 49, 81]);
    }
}
