//! Quota files: what the first inodes use, by owner, as `linux/fs/quota/quota_v2.c` and
//! `quotaio_v2.h` lay it out: 1024-byte blocks, a header, a radix tree of four levels,
//! blocks of entries.

use super::build::{Build, ROOT};
use super::error::MkfsError;
use super::files::{self, InodeSpec};
use crate::disk::WriteAt;
use crate::ext4::layout::{InodeFlags, RoCompat};

const USERS: u32 = 3;
const GROUPS: u32 = 4;
/// Bytes of a quota file's block, whatever the filesystem's.
const BLOCK: usize = 1024;
/// The root of the tree is block 1.
const TREE_ROOT: usize = 1;
/// Levels of the tree: one for each byte of an id.
const LEVELS: u32 = 4;
/// Bytes of a data block's head, and of an entry (version 1).
const HEAD: usize = 16;
const ENTRY: usize = 72;
/// Seconds of grace: a week.
const GRACE: u32 = 7 * 24 * 3600;
/// More than the first inodes can have owners: two files.
const MOST_ENTRIES: u16 = 14;

/// What an inode costs its owners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) bytes: u64,
}

/// A quota file as it grows, and the order in which its blocks were first written: that is
/// the order in which they get places.
struct QuotaFile {
    blocks: Vec<[u8; BLOCK]>,
    order: Vec<usize>,
    /// The block that takes entries.
    entries: usize,
}

fn put32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn put64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

impl QuotaFile {
    /// `usage`: id, inodes, bytes; ids ascending.
    fn new(magic: u32, usage: &[(u32, u64, u64)]) -> Self {
        let mut file = Self {
            blocks: vec![[0; BLOCK]; TREE_ROOT + 1],
            order: vec![0],
            entries: 0,
        };
        for (i, &(id, inodes, bytes)) in (0..MOST_ENTRIES).zip(usage) {
            let leaf = file.path_to(id);
            file.put_entry(leaf, i, (id, inodes, bytes));
            // The root is written once what it leads to is.
            if i == 0 {
                file.order.push(TREE_ROOT);
            }
        }
        file.put_header(magic);
        file
    }

    fn put_header(&mut self, magic: u32) {
        let (blocks, entries) = (self.blocks.len() as u32, self.entries as u32);
        let head = &mut self.blocks[0];
        // Magic, version, grace times of blocks and inodes, flags, blocks, the first free
        // block, the first with free entries.
        let fields = [magic, 1, GRACE, GRACE, 0, blocks, 0, entries];
        for (i, field) in fields.into_iter().enumerate() {
            put32(head, i * 4, field);
        }
    }

    fn new_block(&mut self) -> usize {
        self.order.push(self.blocks.len());
        self.blocks.push([0; BLOCK]);
        self.blocks.len() - 1
    }

    /// The lowest node for an id, made with all above it, and the place in it.
    fn path_to(&mut self, id: u32) -> (usize, usize) {
        let mut node = TREE_ROOT;
        for level in 0..LEVELS - 1 {
            let at = (id >> (8 * (LEVELS - 1 - level)) & 0xFF) as usize * 4;
            let slot = &self.blocks[node][at..at + 4];
            let mut next = u32::from_le_bytes([slot[0], slot[1], slot[2], slot[3]]) as usize;
            if next == 0 {
                next = self.new_block();
                put32(&mut self.blocks[node], at, next as u32);
            }
            node = next;
        }
        (node, (id & 0xFF) as usize * 4)
    }

    fn put_entry(&mut self, leaf: (usize, usize), i: u16, usage: (u32, u64, u64)) {
        if self.entries == 0 {
            self.entries = self.new_block();
        }
        put32(&mut self.blocks[leaf.0], leaf.1, self.entries as u32);
        let block = &mut self.blocks[self.entries];
        block[8..10].copy_from_slice(&(i + 1).to_le_bytes());
        let entry = &mut block[HEAD + usize::from(i) * ENTRY..][..ENTRY];
        // Id; limits of inodes at 8 and 16, of bytes at 32 and 40: none.
        put32(entry, 0, usage.0);
        put64(entry, 24, usage.1);
        put64(entry, 48, usage.2);
    }
}

/// Sums by id, ascending.
fn by_id(costs: impl Iterator<Item = (u32, u64)>) -> Vec<(u32, u64, u64)> {
    let mut sums = std::collections::BTreeMap::new();
    for (id, bytes) in costs {
        let sum: &mut (u64, u64) = sums.entry(id).or_default();
        *sum = (sum.0 + 1, sum.1 + bytes);
    }
    let flat = |(id, (inodes, bytes))| (id, inodes, bytes);
    sums.into_iter().map(flat).collect()
}

impl<M: WriteAt> Build<'_, M> {
    /// Makes the files for the types asked for: users and groups where none are named,
    /// projects with that feature.
    pub(super) fn quotas(&mut self) -> Result<(), MkfsError> {
        let costs = self.costs.clone();
        let types = self.o.quota_types.unwrap_or_default();
        if types.users {
            let usage = by_id(costs.iter().map(|c| (c.user, c.bytes)));
            self.quota_file(USERS, &QuotaFile::new(0xD9C0_1F11, &usage))?;
            self.quota_inodes[0] = USERS;
        }
        if types.groups {
            let usage = by_id(costs.iter().map(|c| (c.group, c.bytes)));
            self.quota_file(GROUPS, &QuotaFile::new(0xD9C0_1927, &usage))?;
            self.quota_inodes[1] = GROUPS;
        }
        if self.p.features.has_ro(RoCompat::PROJECT) {
            let usage = by_id(costs.iter().map(|c| (0, c.bytes)));
            let ino = self.new_inode();
            self.quota_file(ino, &QuotaFile::new(0xD9C0_3F14, &usage))?;
            self.quota_inodes[2] = ino;
        }
        Ok(())
    }

    fn quota_file(&mut self, ino: u32, file: &QuotaFile) -> Result<(), MkfsError> {
        let size = self.p.block_size as usize;
        let mut contents = file.blocks.concat();
        let len = contents.len() as u64;
        contents.resize(contents.len().next_multiple_of(size), 0);
        let (placed, clusters) = self.place_in_order(ino, file, size)?;
        for &(lblk, at) in &placed {
            let from = lblk as usize * size;
            self.write_block(at, &contents[from..from + size])?;
        }
        let (flags, i_block) = if self.extents() {
            let runs = files::runs_in_order(&placed);
            (InodeFlags::EXTENTS, files::extent_root(&runs, None))
        } else {
            let mut i_block = [0; 60];
            for &(lblk, at) in &placed {
                put32(&mut i_block, lblk as usize * 4, at as u32);
            }
            (InodeFlags::empty(), i_block)
        };
        let spec = InodeSpec {
            mode: 0o100_600,
            size: len,
            links: 1,
            sectors: self.sectors(clusters),
            flags: flags | InodeFlags::IMMUTABLE,
            i_block,
            ..InodeSpec::default()
        };
        self.put(ino, &spec);
        Ok(())
    }

    /// Gives each block of a file a place as it is first written; answers (block of the
    /// file, place), and clusters taken.
    fn place_in_order(
        &mut self,
        ino: u32,
        file: &QuotaFile,
        size: usize,
    ) -> Result<(Vec<(u64, u64)>, u64), MkfsError> {
        let ratio = self.space.ratio();
        let (mut placed, mut clusters): (Vec<(u64, u64)>, _) = (Vec::new(), 0);
        for block in &file.order {
            let lblk = (block * BLOCK / size) as u64;
            if placed.iter().any(|p| p.0 == lblk) {
                continue;
            }
            let beside = placed.iter().find(|p| p.0 / ratio == lblk / ratio);
            let at = match beside {
                Some(&(other, at)) => at - other % ratio + lblk % ratio,
                None => {
                    clusters += 1;
                    let goal = placed.last().map_or(self.inode_goal(ino), |p| p.1);
                    self.alloc(goal)?
                }
            };
            placed.push((lblk, at));
        }
        Ok((placed, clusters))
    }

    /// Remembers what the root or lost+found costs.
    pub(super) fn count(&mut self, ino: u32, sectors: u64) {
        let (user, group) = match ino {
            ROOT => self.o.root_owner,
            _ => (0, 0),
        };
        self.costs.push(Cost {
            user,
            group,
            bytes: sectors * 512,
        });
    }
}
