//! What a new filesystem has in it: root, lost+found and the inodes that hold reserved
//! descriptors, the journal and orphans.

use super::error::MkfsError;
use super::files::{self, InodeSpec, Mapped};
use super::options::{JournalMap, JournalPlacement, Options};
use super::plan::{FIRST_INO, Plan};
use super::quota::Cost;
use super::space::Space;
use super::tables::Group;
use crate::disk::WriteAt;
use crate::ext4::checksum;
use crate::ext4::layout::{
    Compat, GroupFlags, Incompat, InodeFlags, MMP_MAGIC, MmpBlock, RoCompat,
};
use crate::units::InodeNr;
use std::collections::BTreeMap;

pub(super) const ROOT: u32 = 2;
const RESIZE: u32 = 7;
const JOURNAL: u32 = 8;

/// A filesystem half made.
pub(super) struct Build<'a, M> {
    pub(super) o: &'a Options,
    pub(super) p: Plan,
    pub(super) space: Space,
    pub(super) groups: Vec<Group>,
    pub(super) medium: &'a mut M,
    /// Seed of metadata checksums.
    pub(super) seed: u32,
    pub(super) inodes: BTreeMap<u32, Vec<u8>>,
    pub(super) overhead: u64,
    /// The journal's map and size, for the superblock.
    pub(super) journal_copy: Option<([u8; 60], u64)>,
    pub(super) orphan_file: u32,
    /// Inodes of the quotas of users, groups, projects; 0 for none.
    pub(super) quota_inodes: [u32; 3],
    /// What the first inodes cost their owners.
    pub(super) costs: Vec<Cost>,
    /// The next free inode.
    pub(super) next_inode: u32,
    pub(super) mmp_block: u64,
    pub(super) written: u64,
}

impl<M: WriteAt> Build<'_, M> {
    pub(super) fn write_block(&mut self, block: u64, bytes: &[u8]) -> Result<(), MkfsError> {
        self.written += bytes.len() as u64;
        let at = block * u64::from(self.p.block_size);
        Ok(self.medium.write_at(at, bytes)?)
    }

    pub(super) fn has_csum(&self) -> bool {
        self.p.features.has_ro(RoCompat::METADATA_CSUM)
    }

    pub(super) fn extents(&self) -> bool {
        self.p.features.has_incompat(Incompat::EXTENTS)
    }

    /// A group's bitmap can no longer be told from its descriptor.
    fn touch(&mut self, block: u64, len: u64) {
        let last = self.p.group_of(block + len.max(1) - 1);
        for g in self.p.group_of(block)..=last {
            if let Some(group) = self.groups.get_mut(g as usize) {
                group.flags.remove(GroupFlags::BLOCK_UNINIT);
            }
        }
    }

    pub(super) fn alloc(&mut self, goal: u64) -> Result<u64, MkfsError> {
        let at = self.space.alloc(goal);
        let at = at.ok_or(MkfsError::NoSpace("while making its first files"))?;
        self.touch(at, 1);
        Ok(at)
    }

    /// What a search for a free inode leaves behind: the group where it was found first
    /// gets both of its bitmaps.
    fn find_inode(&mut self, ino: u32) {
        let group = (ino - 1) / self.p.inodes_per_group;
        if let Some(group) = self.groups.get_mut(group as usize)
            && group.flags.contains(GroupFlags::INODE_UNINIT)
        {
            group.flags.remove(GroupFlags::BLOCK_UNINIT);
        }
    }

    /// Takes the next free inode.
    pub(super) fn new_inode(&mut self) -> u32 {
        let ino = self.next_inode;
        self.next_inode += 1;
        self.find_inode(ino);
        self.take_inode(ino, false);
        ino
    }

    /// Where an inode's blocks are looked for: the start of its flex group.
    pub(super) fn inode_goal(&self, ino: u32) -> u64 {
        let group = (ino - 1) / self.p.inodes_per_group;
        let size = 1u32 << self.p.log_flex.min(31);
        self.p.group_first(group & !(size - 1))
    }

    /// Marks an inode as used.
    fn take_inode(&mut self, ino: u32, dir: bool) {
        let per_group = self.p.inodes_per_group;
        let checksums = self.p.features.group_checksums();
        let place = (ino - 1) % per_group;
        if let Some(group) = self.groups.get_mut(((ino - 1) / per_group) as usize) {
            group.free_inodes -= 1;
            group.used_dirs += u32::from(dir);
            group.flags.remove(GroupFlags::INODE_UNINIT);
            if checksums {
                group.itable_unused = group.itable_unused.min(per_group - place - 1);
            }
        }
    }

    pub(super) fn put(&mut self, ino: u32, spec: &InodeSpec) {
        let bytes = spec.bytes(self.p.inode_size, self.o.now);
        self.inodes.insert(ino, bytes);
    }

    pub(super) fn inode_seed(&self, ino: u32) -> u32 {
        checksum::inode_seed(self.seed, InodeNr(ino), 0)
    }

    /// Sectors of 512 bytes in a number of clusters.
    pub(super) fn sectors(&self, clusters: u64) -> u64 {
        clusters * self.p.ratio * u64::from(self.p.block_size / 512)
    }

    pub(super) fn first_files(&mut self) -> Result<(), MkfsError> {
        if self.has_csum() {
            for ino in 1..FIRST_INO {
                self.inodes.insert(ino, vec![0; self.p.inode_size as usize]);
            }
        }
        self.directories()?;
        self.take_inode(1, false);
        let bad = InodeSpec {
            plain: true,
            ..InodeSpec::default()
        };
        self.put(1, &bad);
        if self.p.features.has_compat(Compat::RESIZE_INODE) {
            self.resize_inode()?;
        }
        if let Some((main, fc)) = self.p.journal {
            self.overhead += (main + fc).div_ceil(self.p.ratio);
            self.journal(main, fc)?;
        }
        if self.p.features.has_incompat(Incompat::MMP) {
            self.mmp()?;
        }
        self.overhead += self.p.first;
        if self.p.features.has_ro(RoCompat::QUOTA) {
            self.quotas()?;
        }
        if self.p.features.has_compat(Compat::ORPHAN_FILE) {
            self.orphans()?;
        }
        Ok(())
    }

    fn directories(&mut self) -> Result<(), MkfsError> {
        let size = self.p.block_size;
        let first = self.p.group_first(0);
        let root = self.alloc(first)?;
        self.take_inode(ROOT, true);
        // Lost+found's is looked for before the reserved ones are taken.
        self.find_inode(FIRST_INO);
        for ino in ROOT + 1..FIRST_INO {
            self.take_inode(ino, false);
        }
        let inline = self.p.features.has_incompat(Incompat::INLINE_DATA);
        // One that grows out of its inode takes the filesystem's first free block.
        let goal = if inline {
            first
        } else {
            self.inode_goal(FIRST_INO)
        };
        let lost = self.alloc(goal)?;
        self.take_inode(FIRST_INO, true);
        // 16 KiB, and two blocks at least, but none past the twelve that need no indirect
        // block. With inline_data the first entries begin in the inode: one block fewer.
        let want = (16384 / size).clamp(2, 12) - u32::from(inline);
        let (mut blocks, mut clusters) = (vec![lost], 1);
        while (blocks.len() as u32) < want {
            let last = blocks.last().copied().unwrap_or(lost);
            let ratio = self.space.ratio();
            let next = if (last + 1) % ratio != 0 {
                last + 1
            } else {
                clusters += 1;
                self.alloc(last)?
            };
            blocks.push(next);
        }
        self.write_directories(root, &blocks)?;
        let (flags, i_block) = self.dir_map(&[root]);
        let root_spec = InodeSpec {
            mode: 0o40755,
            owner: self.o.root_owner,
            size: u64::from(size),
            links: 3,
            sectors: self.sectors(1),
            flags,
            i_block,
            ..InodeSpec::default()
        };
        self.count(ROOT, root_spec.sectors);
        self.put(ROOT, &root_spec);
        let (flags, i_block) = self.dir_map(&blocks);
        let lost_spec = InodeSpec {
            mode: 0o40700,
            owner: (0, 0),
            size: u64::from(size) * blocks.len() as u64,
            links: 2,
            sectors: self.sectors(clusters),
            flags,
            i_block,
            was_inline: inline,
            ..InodeSpec::default()
        };
        self.count(FIRST_INO, lost_spec.sectors);
        self.put(FIRST_INO, &lost_spec);
        Ok(())
    }

    fn dir_map(&self, blocks: &[u64]) -> (InodeFlags, [u8; 60]) {
        if self.extents() {
            let mut runs: Vec<(u64, u64, u64)> = Vec::new();
            for (lblk, &pblk) in (0..).zip(blocks) {
                match runs.last_mut() {
                    Some(r) if r.1 + r.2 == pblk => r.2 += 1,
                    _ => runs.push((lblk, pblk, 1)),
                }
            }
            return (InodeFlags::EXTENTS, files::extent_root(&runs, None));
        }
        let mut i_block = [0; 60];
        for (slot, &block) in i_block.chunks_exact_mut(4).zip(blocks) {
            slot.copy_from_slice(&(block as u32).to_le_bytes());
        }
        (InodeFlags::empty(), i_block)
    }

    fn write_directories(&mut self, root: u64, lost: &[u64]) -> Result<(), MkfsError> {
        let size = self.p.block_size;
        let typed = self.p.features.has_incompat(Incompat::FILETYPE);
        let csum = self.has_csum();
        let seeds = [ROOT, FIRST_INO].map(|ino| csum.then(|| self.inode_seed(ino)));
        let names: [(u32, &[u8]); 3] = [(ROOT, b"."), (ROOT, b".."), (FIRST_INO, b"lost+found")];
        let block = files::dir_block(size, &names, typed, seeds[0]);
        self.write_block(root, &block)?;
        // With inline_data it began in the inode, with an empty entry after "..".
        let inline = self.p.features.has_incompat(Incompat::INLINE_DATA);
        let names: [(u32, &[u8]); 3] = [(FIRST_INO, b"."), (ROOT, b".."), (0, b"")];
        let first = if inline { &names[..] } else { &names[..2] };
        for (i, &at) in lost.iter().enumerate() {
            let names = if i == 0 { first } else { &[] };
            let block = files::dir_block(size, names, typed, seeds[1]);
            self.write_block(at, &block)?;
        }
        Ok(())
    }

    /// Inode 7 holds the reserved descriptor blocks by its double indirect block: each
    /// primary one is an indirect block that lists its copies.
    fn resize_inode(&mut self) -> Result<(), MkfsError> {
        let per_block = u64::from(self.p.block_size / 4);
        let reserved = u64::from(self.p.reserved_gdt);
        let tables = reserved + self.p.desc_blocks + self.p.itable_blocks;
        let goal = 2 + self.p.first + tables;
        let dind = self.alloc(goal)?;
        let mut list = vec![0u8; self.p.block_size as usize];
        let start = self.p.super_block(0).unwrap_or(0) + 1 + self.p.desc_blocks;
        let backups: Vec<u32> = self.p.backup_groups().collect();
        let mut blocks = 0;
        for i in 0..reserved {
            let at = start + i;
            let slot = ((self.p.desc_blocks + i) % per_block) as usize * 4;
            list[slot..slot + 4].copy_from_slice(&(at as u32).to_le_bytes());
            let mut copies = vec![0u8; self.p.block_size as usize];
            for (slot, &g) in copies.chunks_exact_mut(4).zip(&backups) {
                let copy = at + u64::from(g) * self.p.blocks_per_group;
                slot.copy_from_slice(&(copy as u32).to_le_bytes());
                blocks += 1;
            }
            blocks += 1;
            self.write_block(at, &copies)?;
        }
        self.write_block(dind, &list)?;
        let size = (per_block * per_block + per_block + 12) * u64::from(self.p.block_size);
        if size > u64::from(u32::MAX) {
            self.p.features.ro |= RoCompat::LARGE_FILE;
        }
        let mut i_block = [0; 60];
        i_block[52..56].copy_from_slice(&(dind as u32).to_le_bytes());
        let spec = InodeSpec {
            mode: 0o100_600,
            size,
            links: 1,
            // mke2fs and e2fsck count each of its blocks as a cluster.
            sectors: self.sectors(blocks + 1),
            i_block,
            ..InodeSpec::default()
        };
        self.put(RESIZE, &spec);
        Ok(())
    }

    fn journal(&mut self, main: u64, fc: u64) -> Result<(), MkfsError> {
        let o = &self.o.journal;
        let map = o.map.unwrap_or(if self.extents() {
            JournalMap::Extents
        } else {
            JournalMap::Indirect
        });
        let goal = self.journal_goal(map);
        let mapped = match map {
            JournalMap::Extents => self.map_by_extents(JOURNAL, goal, main + fc)?,
            JournalMap::Indirect => {
                // Until 2009 mke2fs did not count the first block: it took one more.
                let one_more = matches!(
                    o.placement,
                    JournalPlacement::LargestOfThree | JournalPlacement::FirstFree
                );
                self.map_by_blocks(goal, main + fc + u64::from(one_more))?
            }
        };
        let block = files::journal_superblock(self.p.block_size, main + fc, fc, &self.o.uuid);
        self.write_block(mapped.first, &block)?;
        let size = (main + fc) * u64::from(self.p.block_size);
        let spec = InodeSpec {
            mode: 0o100_600,
            size,
            links: 1,
            sectors: self.sectors(mapped.clusters),
            flags: mapped.flags,
            i_block: mapped.i_block,
            ..InodeSpec::default()
        };
        self.journal_copy = Some((mapped.i_block, size));
        self.put(JOURNAL, &spec);
        Ok(())
    }

    fn journal_goal(&self, map: JournalMap) -> u64 {
        let goal = match self.o.journal.placement {
            JournalPlacement::FirstFree => 0,
            JournalPlacement::LargestOfThree => self.p.group_first(self.middle(false)),
            // mke2fs does not look at the goal of a journal without extents.
            _ if map == JournalMap::Indirect => 0,
            _ if self.o.packed_meta_blocks => 0,
            JournalPlacement::At(block) => block,
            JournalPlacement::Default => self.p.group_first(self.middle(true)),
        };
        self.space.peek(goal).unwrap_or(goal)
    }

    /// The group with most free blocks of those at the middle: from the start of the
    /// middle flex group where `flex` says so and it is not the first.
    fn middle(&self, flex: bool) -> u32 {
        let free = |g: u32| {
            let (from, to) = (self.p.group_first(g), self.p.group_end(g));
            (to - from) - self.space.used_between(from, to)
        };
        let mut group = self.p.group_of((self.p.blocks - self.p.first) / 2);
        let size = 1u32 << self.p.log_flex.min(31);
        let mut start = group.saturating_sub(1);
        if flex && self.p.log_flex > 0 && group > size {
            group &= !(size - 1);
            let some = (group..self.p.groups).find(|&g| free(g) > 0);
            group = some.unwrap_or(0);
            start = group;
        }
        let end = (group + 1).min(self.p.groups - 1);
        let better = |best: u32, g: u32| if free(g) > free(best) { g } else { best };
        (start + 1..=end).fold(start, better)
    }

    fn map_by_extents(&mut self, ino: u32, goal: u64, len: u64) -> Result<Mapped, MkfsError> {
        let failed = MkfsError::NoSpace("while trying to create journal");
        let most = 32768 - 32768 % self.p.ratio;
        let (mut runs, mut clusters) = (Vec::new(), 0);
        let (mut lblk, mut goal, mut leaf) = (0, goal, None);
        while lblk < len {
            let want = (len - lblk).min(most);
            let run = self.space.alloc_run(goal, want);
            let (at, n) = run.ok_or(failed.clone())?;
            self.touch(at, n);
            runs.push((lblk, at, n));
            clusters += n.div_ceil(self.p.ratio);
            // The fifth no longer fits into the inode: all move to a leaf, which mke2fs
            // wants in the block before the first run.
            if runs.len() == 5 {
                leaf = Some(self.alloc(runs[0].1.saturating_sub(1))?);
                clusters += 1;
            }
            lblk += n;
            goal = at + n;
        }
        let first = runs.first().map_or(0, |r| r.1);
        if let Some(leaf) = leaf {
            let seed = self.has_csum().then(|| self.inode_seed(ino));
            let block = files::extent_leaf(self.p.block_size, &runs, seed).ok_or(failed)?;
            self.write_block(leaf, &block)?;
        }
        Ok(Mapped {
            first,
            clusters,
            flags: InodeFlags::EXTENTS,
            i_block: files::extent_root(&runs, leaf),
        })
    }

    /// Block after block, each in the first free one after the block before, indirect
    /// blocks among them.
    fn map_by_blocks(&mut self, goal: u64, len: u64) -> Result<Mapped, MkfsError> {
        let mut map = files::BlockTree::new(self.p.block_size);
        let (mut at, mut first) = (goal, 0);
        while map.len() < len {
            at = self.alloc(at)?;
            if map.len() == 0 {
                first = at;
            }
            if !map.push(at as u32) {
                return Err(MkfsError::NoSpace("while trying to create journal"));
            }
        }
        for (block, bytes) in map.indirect_blocks() {
            self.write_block(u64::from(block), &bytes)?;
        }
        Ok(Mapped {
            first,
            clusters: map.blocks(),
            flags: InodeFlags::empty(),
            i_block: map.i_block(),
        })
    }

    fn mmp(&mut self) -> Result<(), MkfsError> {
        self.mmp_block = self.alloc(0)?;
        let mut block = vec![0; self.p.block_size as usize];
        let mut mmp = MmpBlock(&mut block[..1024]);
        mmp.set_mmp_magic(MMP_MAGIC);
        mmp.set_mmp_seq(0xFF4D_4D50);
        mmp.set_mmp_time(u64::from(self.o.now));
        mmp.set_mmp_check_interval(self.o.mmp_interval.max(5));
        if self.has_csum() {
            let sum = checksum::crc32c(self.seed, &block[..0x3FC]);
            MmpBlock(&mut block[..1024]).set_mmp_checksum(sum);
        }
        let at = self.mmp_block;
        self.write_block(at, &block)
    }
}
