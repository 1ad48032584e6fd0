//! The bytes of inodes, directories, maps and the journal's superblock.

use crate::ext4::checksum;
use crate::ext4::layout::{
    Bytes, DIR_TAIL_TYPE, DirEntryHead, DirTail, EXTENT_MAGIC, ExtentHeader, ExtentIndex,
    ExtentLeaf, Inode, InodeFlags, JOURNAL_MAGIC, JournalSuperblock, XATTR_MAGIC,
};

/// Where attributes in an inode begin: past its 128 bytes and 32 of extra fields.
const XATTRS: usize = 160;

/// A file's map, and what it costs.
pub(super) struct Mapped {
    /// First block of the file.
    pub(super) first: u64,
    /// Clusters that file and map take.
    pub(super) clusters: u64,
    pub(super) flags: InodeFlags,
    pub(super) i_block: [u8; 60],
}

/// What is to be in an inode.
pub(super) struct InodeSpec {
    pub(super) mode: u16,
    pub(super) owner: (u32, u32),
    pub(super) size: u64,
    pub(super) links: u16,
    pub(super) sectors: u64,
    pub(super) flags: InodeFlags,
    pub(super) i_block: [u8; 60],
    /// Without the fields past byte 128.
    pub(super) plain: bool,
    /// The head of attributes in the inode stays where its contents were moved out.
    pub(super) was_inline: bool,
}

impl Default for InodeSpec {
    fn default() -> Self {
        Self {
            mode: 0,
            owner: (0, 0),
            size: 0,
            links: 0,
            sectors: 0,
            flags: InodeFlags::empty(),
            i_block: [0; 60],
            plain: false,
            was_inline: false,
        }
    }
}

impl InodeSpec {
    pub(super) fn bytes(&self, size: u32, now: u32) -> Vec<u8> {
        let mut bytes = vec![0; size as usize];
        let mut inode = Inode(&mut bytes[..]);
        inode.set_i_mode(self.mode);
        inode.set_i_uid((self.owner.0 & 0xFFFF) as u16);
        inode.set_i_uid_high((self.owner.0 >> 16) as u16);
        inode.set_i_gid((self.owner.1 & 0xFFFF) as u16);
        inode.set_i_gid_high((self.owner.1 >> 16) as u16);
        inode.set_i_size_lo((self.size & 0xFFFF_FFFF) as u32);
        inode.set_i_size_high((self.size >> 32) as u32);
        inode.set_i_atime(now);
        inode.set_i_ctime(now);
        inode.set_i_mtime(now);
        inode.set_i_links_count(self.links);
        inode.set_i_blocks_lo((self.sectors & 0xFFFF_FFFF) as u32);
        inode.set_i_blocks_high((self.sectors >> 32) as u16);
        inode.set_i_flags(self.flags.bits());
        inode.set_i_block(Bytes(self.i_block));
        if size > 128 && !self.plain {
            inode.set_i_extra_isize(32);
            inode.set_i_crtime(now);
        }
        if self.was_inline
            && let Some(magic) = bytes.get_mut(XATTRS..XATTRS + 4)
        {
            magic.copy_from_slice(&XATTR_MAGIC.to_le_bytes());
        }
        bytes
    }
}

/// A directory's block; with `seed`, closed by a checksum.
pub(super) fn dir_block(
    size: u32,
    names: &[(u32, &[u8])],
    typed: bool,
    seed: Option<u32>,
) -> Vec<u8> {
    let mut block = vec![0; size as usize];
    let end = block.len() - if seed.is_some() { 12 } else { 0 };
    let mut at = 0;
    for (i, (ino, name)) in names.iter().enumerate() {
        let last = i + 1 == names.len();
        let len = if last {
            end - at
        } else {
            (8 + name.len()).next_multiple_of(4)
        };
        let mut head = DirEntryHead(&mut block[at..at + 8]);
        head.set_inode(*ino);
        head.set_rec_len(rec_len(len));
        head.set_name_len(name.len() as u8);
        head.set_file_type(if typed && *ino != 0 { 2 } else { 0 });
        block[at + 8..at + 8 + name.len()].copy_from_slice(name);
        at += len;
    }
    if names.is_empty() {
        DirEntryHead(&mut block[..8]).set_rec_len(rec_len(end));
    }
    if let Some(seed) = seed {
        let sum = checksum::of_inode(seed, &block[..end]);
        let mut tail = DirTail(&mut block[end..]);
        tail.set_det_rec_len(12);
        tail.set_det_reserved_ft(DIR_TAIL_TYPE);
        tail.set_det_checksum(sum);
    }
    block
}

/// A record's length as two bytes tell it: 65536 does not fit and is told as 65535.
fn rec_len(len: usize) -> u16 {
    u16::try_from(len).unwrap_or(u16::MAX)
}

fn put_header(node: &mut [u8], entries: usize, max: usize, depth: u16) {
    let mut head = ExtentHeader(&mut node[..12]);
    head.set_eh_magic(EXTENT_MAGIC);
    head.set_eh_entries(entries as u16);
    head.set_eh_max(max as u16);
    head.set_eh_depth(depth);
}

fn put_extents(node: &mut [u8], runs: &[(u64, u64, u64)]) {
    for (slot, &(lblk, pblk, len)) in node[12..].chunks_exact_mut(12).zip(runs) {
        let mut leaf = ExtentLeaf(slot);
        leaf.set_ee_block(lblk as u32);
        leaf.set_ee_len(len as u16);
        leaf.set_ee_start_hi((pblk >> 32) as u16);
        leaf.set_ee_start_lo((pblk & 0xFFFF_FFFF) as u32);
    }
}

/// The root of an extent tree of runs (first block of the file, block, length), or the
/// entry for the leaf that holds them.
pub(super) fn extent_root(runs: &[(u64, u64, u64)], leaf: Option<u64>) -> [u8; 60] {
    let mut root = [0; 60];
    put_extents(&mut root, runs);
    let Some(leaf) = leaf else {
        put_header(&mut root, runs.len().min(4), 4, 0);
        return root;
    };
    // What stood in the other three places before it moved to the leaf stays there.
    put_header(&mut root, 1, 4, 1);
    root[12..24].fill(0);
    let mut index = ExtentIndex(&mut root[12..24]);
    index.set_ei_block(runs.first().map_or(0, |r| r.0) as u32);
    index.set_ei_leaf_lo((leaf & 0xFFFF_FFFF) as u32);
    index.set_ei_leaf_hi((leaf >> 32) as u16);
    root
}

/// Runs of blocks that got their places one after the other (block of the file, place):
/// one beside a run makes it longer, two runs are not joined.
pub(super) fn runs_in_order(placed: &[(u64, u64)]) -> Vec<(u64, u64, u64)> {
    let mut runs: Vec<(u64, u64, u64)> = Vec::new();
    for &(lblk, at) in placed {
        let before = |r: &&mut (u64, u64, u64)| r.0 + r.2 == lblk && r.1 + r.2 == at;
        let after = |r: &&mut (u64, u64, u64)| r.0 == lblk + 1 && r.1 == at + 1;
        if let Some(run) = runs.iter_mut().find(before) {
            run.2 += 1;
        } else if let Some(run) = runs.iter_mut().find(after) {
            *run = (lblk, at, run.2 + 1);
        } else {
            runs.push((lblk, at, 1));
        }
    }
    runs.sort_unstable();
    runs
}

/// A leaf of an extent tree; `None` where it cannot hold them all.
pub(super) fn extent_leaf(
    size: u32,
    runs: &[(u64, u64, u64)],
    seed: Option<u32>,
) -> Option<Vec<u8>> {
    let max = (size as usize - 12) / 12;
    if runs.len() > max {
        return None;
    }
    let mut block = vec![0; size as usize];
    put_header(&mut block, runs.len(), max, 0);
    put_extents(&mut block, runs);
    if let Some(seed) = seed {
        let tail = 12 + max * 12;
        let sum = checksum::of_inode(seed, &block[..tail]);
        block[tail..tail + 4].copy_from_slice(&sum.to_le_bytes());
    }
    Some(block)
}

/// The journal's superblock, as a block.
pub(super) fn journal_superblock(size: u32, blocks: u64, fc: u64, uuid: &[u8; 16]) -> Vec<u8> {
    let mut block = vec![0; size as usize];
    let mut sb = JournalSuperblock(&mut block[..1024]);
    sb.set_h_magic(JOURNAL_MAGIC);
    sb.set_h_blocktype(4);
    sb.set_s_blocksize(size);
    sb.set_s_maxlen(blocks as u32);
    sb.set_s_first(1);
    sb.set_s_sequence(1);
    sb.set_s_nr_users(1);
    sb.set_s_num_fc_blks(fc as u32);
    sb.set_s_uuid(Bytes(*uuid));
    block
}

/// A block map as it grows block by block: each block handed to it becomes what the map
/// needs next, an indirect block or one of the file's.
pub(super) struct BlockTree {
    per_block: u64,
    /// Blocks of the file so far.
    len: u64,
    i_block: [u32; 15],
    /// Indirect blocks: number and entries.
    nodes: Vec<(u32, Vec<u32>)>,
    /// The indirect blocks on the way to the next block of the file, by index in `nodes`.
    path: Vec<usize>,
    size: u32,
}

impl BlockTree {
    pub(super) fn new(size: u32) -> Self {
        Self {
            per_block: u64::from(size / 4),
            len: 0,
            i_block: [0; 15],
            nodes: Vec::new(),
            path: Vec::new(),
            size,
        }
    }

    /// Blocks of the file so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Blocks of file and map.
    pub(super) fn blocks(&self) -> u64 {
        self.len + self.nodes.len() as u64
    }

    /// Levels of indirect blocks above block `n` of the file, and the slot of `i_block`.
    fn levels(&self, n: u64) -> Option<(usize, usize)> {
        let mut rest = n;
        if rest < 12 {
            return Some((0, n as usize));
        }
        rest -= 12;
        let mut span = self.per_block;
        for levels in 1..=3 {
            if rest < span {
                return Some((levels, 11 + levels));
            }
            rest -= span;
            span *= self.per_block;
        }
        None
    }

    /// Takes a block; `false` where the map is full.
    pub(super) fn push(&mut self, block: u32) -> bool {
        let Some((levels, slot)) = self.levels(self.len) else {
            return false;
        };
        if levels == 0 {
            self.i_block[slot] = block;
            self.len += 1;
            return true;
        }
        if self.i_block[slot] == 0 {
            self.i_block[slot] = block;
            self.path = vec![self.nodes.len()];
            self.nodes.push((block, Vec::new()));
            return true;
        }
        // Full nodes at the end of the path are done with.
        while let Some(&node) = self.path.last()
            && self.nodes[node].1.len() as u64 == self.per_block
        {
            self.path.pop();
        }
        let Some(&node) = self.path.last() else {
            return false;
        };
        self.nodes[node].1.push(block);
        if self.path.len() < levels {
            self.path.push(self.nodes.len());
            self.nodes.push((block, Vec::new()));
        } else {
            self.len += 1;
        }
        true
    }

    pub(super) fn i_block(&self) -> [u8; 60] {
        let mut bytes = [0; 60];
        for (slot, block) in bytes.chunks_exact_mut(4).zip(self.i_block) {
            slot.copy_from_slice(&block.to_le_bytes());
        }
        bytes
    }

    /// Every indirect block with its bytes.
    pub(super) fn indirect_blocks(&self) -> Vec<(u32, Vec<u8>)> {
        let block = |entries: &Vec<u32>| {
            let mut bytes = vec![0; self.size as usize];
            for (slot, entry) in bytes.chunks_exact_mut(4).zip(entries) {
                slot.copy_from_slice(&entry.to_le_bytes());
            }
            bytes
        };
        self.nodes.iter().map(|(nr, e)| (*nr, block(e))).collect()
    }
}
