//! Writing what describes the rest: inode tables, bitmaps, descriptors, superblocks.

use super::build::Build;
use super::error::MkfsError;
use super::plan::FIRST_INO;
use crate::disk::WriteAt;
use crate::ext4::checksum;
use crate::ext4::layout::{
    Bytes, Compat, EXT4_MAGIC, GroupDesc, GroupFlags, Incompat, Inode, RoCompat, SUPERBLOCK_OFFSET,
    Superblock,
};
use crate::units::{GroupNr, InodeNr};

type Sb = Superblock<[u8; 1024]>;

fn low(n: u64) -> u32 {
    (n & 0xFFFF_FFFF) as u32
}

fn high(n: u64) -> u32 {
    (n >> 32) as u32
}

impl<M: WriteAt> Build<'_, M> {
    pub(super) fn write_all(&mut self) -> Result<(), MkfsError> {
        self.write_inodes()?;
        let bitmaps = self.write_bitmaps()?;
        let sb = self.superblock();
        let table = self.descriptors(&sb, &bitmaps);
        self.write_heads(sb, &table)
    }

    fn write_inodes(&mut self) -> Result<(), MkfsError> {
        let csum = self.p.features.has_ro(RoCompat::METADATA_CSUM);
        for (ino, mut bytes) in std::mem::take(&mut self.inodes) {
            if csum {
                let sum = checksum::inode(self.seed, InodeNr(ino), &bytes);
                let hi = Inode(&bytes[..]).has_checksum_hi();
                let mut inode = Inode(&mut bytes[..]);
                inode.set_i_checksum_lo((sum & 0xFFFF) as u16);
                if hi {
                    inode.set_i_checksum_hi((sum >> 16) as u16);
                }
            }
            let (group, place) = (
                (ino - 1) / self.p.inodes_per_group,
                (ino - 1) % self.p.inodes_per_group,
            );
            let Some(group) = self.groups.get(group as usize) else {
                continue;
            };
            let at = group.inode_table * u64::from(self.p.block_size)
                + u64::from(place) * u64::from(self.p.inode_size);
            self.written += bytes.len() as u64;
            self.medium.write_at(at, &bytes)?;
        }
        Ok(())
    }

    /// Writes the bitmaps that are initialised; answers both checksums of each group.
    fn write_bitmaps(&mut self) -> Result<Vec<(u32, u32)>, MkfsError> {
        let csum = self.p.features.has_ro(RoCompat::METADATA_CSUM);
        let desc_size = self.p.desc_size as usize;
        let clusters = (self.p.blocks_per_group / self.p.ratio) as usize;
        let mut sums = Vec::with_capacity(self.groups.len());
        for g in 0..self.p.groups {
            let group = self.groups[g as usize];
            let mut both = (0, 0);
            if !group.flags.contains(GroupFlags::BLOCK_UNINIT) {
                let bits = self.block_bitmap(g);
                if csum {
                    both.0 = checksum::bitmap(self.seed, &bits[..clusters / 8], desc_size);
                }
                self.write_block(group.block_bitmap, &bits)?;
            }
            if !group.flags.contains(GroupFlags::INODE_UNINIT) {
                let bits = self.inode_bitmap(g);
                let used = self.p.inodes_per_group as usize / 8;
                if csum {
                    both.1 = checksum::bitmap(self.seed, &bits[..used], desc_size);
                }
                self.write_block(group.inode_bitmap, &bits)?;
            }
            sums.push(both);
        }
        Ok(sums)
    }

    fn block_bitmap(&self, g: u32) -> Vec<u8> {
        let (first, end) = (self.p.group_first(g), self.p.group_end(g));
        let count = (end - first).div_ceil(self.p.ratio) as usize;
        let mut bits = vec![0; self.p.block_size as usize];
        let total = bits.len() * 8;
        set(&mut bits, count, total);
        for (from, to) in self.space.runs_between(first, end) {
            let from = (from - first) / self.p.ratio;
            let to = (to - first).div_ceil(self.p.ratio);
            set(&mut bits, from as usize, to as usize);
        }
        bits
    }

    fn inode_bitmap(&self, g: u32) -> Vec<u8> {
        let per_group = self.p.inodes_per_group as usize;
        let mut bits = vec![0; self.p.block_size as usize];
        let total = bits.len() * 8;
        set(&mut bits, per_group, total);
        let last = self.next_inode as usize - 1;
        let used = last.saturating_sub(g as usize * per_group).min(per_group);
        set(&mut bits, 0, used);
        bits
    }

    fn free_clusters(&self, g: u32) -> u64 {
        let (first, end) = (self.p.group_first(g), self.p.group_end(g));
        ((end - first) - self.space.used_between(first, end)) / self.p.ratio
    }

    fn superblock(&self) -> Sb {
        let (p, o, f) = (&self.p, self.o, &self.p.features);
        let mut sb = Superblock([0; 1024]);
        let free = (0..p.groups).map(|g| self.free_clusters(g)).sum::<u64>() * p.ratio;
        let log = p.block_size.ilog2() - 10;
        sb.set_s_inodes_count(p.inodes_per_group.saturating_mul(p.groups));
        sb.set_s_blocks_count_lo(low(p.blocks));
        sb.set_s_blocks_count_hi(high(p.blocks));
        sb.set_s_r_blocks_count_lo(low(p.reserved_blocks));
        sb.set_s_r_blocks_count_hi(high(p.reserved_blocks));
        sb.set_s_free_blocks_count_lo(low(free));
        sb.set_s_free_blocks_count_hi(high(free));
        sb.set_s_free_inodes_count(self.groups.iter().map(|g| g.free_inodes).sum());
        sb.set_s_first_data_block(p.first as u32);
        sb.set_s_log_block_size(log);
        sb.set_s_log_cluster_size(log + p.ratio.ilog2());
        sb.set_s_blocks_per_group(p.blocks_per_group as u32);
        sb.set_s_clusters_per_group((p.blocks_per_group / p.ratio) as u32);
        sb.set_s_inodes_per_group(p.inodes_per_group);
        sb.set_s_wtime(o.now);
        sb.set_s_mkfs_time(o.now);
        sb.set_s_lastcheck(o.now);
        sb.set_s_max_mnt_count(u16::MAX);
        sb.set_s_magic(EXT4_MAGIC);
        sb.set_s_state(1);
        sb.set_s_creator_os(o.creator_os);
        sb.set_s_errors(o.errors.unwrap_or(1));
        sb.set_s_rev_level(p.revision);
        sb.set_s_uuid(Bytes(o.uuid));
        sb.set_s_volume_name(Bytes(text(&o.label)));
        sb.set_s_last_mounted(Bytes(text(&o.last_mounted)));
        sb.set_s_feature_compat(f.compat.bits());
        sb.set_s_feature_incompat(f.incompat.bits());
        sb.set_s_feature_ro_compat(f.ro.bits());
        sb.set_s_reserved_gdt_blocks(p.reserved_gdt as u16);
        sb.set_s_log_groups_per_flex(p.log_flex);
        sb.set_s_overhead_clusters(low(self.overhead));
        sb.set_s_raid_stride(o.stride);
        sb.set_s_raid_stripe_width(o.stripe_width);
        sb.set_s_flags(1 | if o.test_fs { 4 } else { 0 });
        self.set_for_revision_1(&mut sb);
        self.set_by_feature(&mut sb);
        sb
    }

    fn set_for_revision_1(&self, sb: &mut Sb) {
        let seed = |i: usize| {
            let s = &self.o.hash_seed;
            u32::from_le_bytes([s[i], s[i + 1], s[i + 2], s[i + 3]])
        };
        sb.set_s_hash_seed_0(seed(0));
        sb.set_s_hash_seed_1(seed(4));
        sb.set_s_hash_seed_2(seed(8));
        sb.set_s_hash_seed_3(seed(12));
        // half_md4
        sb.set_s_def_hash_version(1);
        // mke2fs writes these two in revision 0 as well.
        sb.set_s_first_ino(FIRST_INO);
        sb.set_s_inode_size(self.p.inode_size as u16);
        if self.p.revision == 0 {
            return;
        }
        // acl and user_xattr
        sb.set_s_default_mount_opts(0xC);
        if self.p.inode_size >= 160 {
            sb.set_s_min_extra_isize(32);
            sb.set_s_want_extra_isize(32);
        }
    }

    fn set_by_feature(&self, sb: &mut Sb) {
        let f = &self.p.features;
        if f.has_incompat(Incompat::BIT64) {
            sb.set_s_desc_size(self.p.desc_size as u16);
        }
        if f.has_ro(RoCompat::METADATA_CSUM) {
            sb.set_s_checksum_type(1);
        }
        if f.has_incompat(Incompat::CSUM_SEED) {
            sb.set_s_checksum_seed(checksum::crc32c(!0, &self.o.uuid));
        }
        if f.has_compat(Compat::SPARSE_SUPER2) {
            sb.set_s_backup_bgs_0(self.p.backups[0]);
            sb.set_s_backup_bgs_1(self.p.backups[1]);
        }
        if f.has_incompat(Incompat::ENCRYPT) {
            // AES-256-XTS for contents, AES-256-CTS for names.
            sb.set_s_encrypt_algos(Bytes([1, 4, 0, 0]));
        }
        if f.has_incompat(Incompat::CASEFOLD) {
            // UTF-8 12.1 is the only one there is.
            sb.set_s_encoding(1);
            sb.set_s_encoding_flags(u16::from(self.o.encoding_strict));
        }
        if f.has_incompat(Incompat::MMP) {
            sb.set_s_mmp_block(self.mmp_block);
            let interval = self.o.mmp_interval;
            sb.set_s_mmp_interval(if interval == 0 { 5 } else { interval });
        }
        sb.set_s_orphan_file_inum(self.orphan_file);
        sb.set_s_usr_quota_inum(self.quota_inodes[0]);
        sb.set_s_grp_quota_inum(self.quota_inodes[1]);
        sb.set_s_prj_quota_inum(self.quota_inodes[2]);
        if let Some((map, size)) = &self.journal_copy {
            let mut copy = [0; 68];
            copy[..60].copy_from_slice(map);
            copy[60..64].copy_from_slice(&high(*size).to_le_bytes());
            copy[64..].copy_from_slice(&low(*size).to_le_bytes());
            sb.set_s_jnl_blocks(Bytes(copy));
            sb.set_s_jnl_backup_type(1);
            sb.set_s_journal_inum(8);
        }
        let counted = RoCompat::HUGE_FILE
            | RoCompat::GDT_CSUM
            | RoCompat::DIR_NLINK
            | RoCompat::METADATA_CSUM
            | RoCompat::EXTRA_ISIZE;
        if f.has_incompat(Incompat::FLEX_BG) || f.ro.intersects(counted) {
            sb.set_s_kbytes_written(1 + self.written / 1024);
        }
    }

    /// The whole table of descriptors, as blocks.
    fn descriptors(&self, sb: &Sb, sums: &[(u32, u32)]) -> Vec<u8> {
        let size = self.p.desc_size as usize;
        let len = self.p.desc_blocks as usize * self.p.block_size as usize;
        let mut table = vec![0; len];
        for (g, raw) in (0..self.p.groups).zip(table.chunks_exact_mut(size)) {
            let sums = sums.get(g as usize).copied().unwrap_or_default();
            self.describe(g, sums, raw);
            if let Some(sum) = checksum::group(sb, GroupNr(g), raw) {
                GroupDesc(raw).set_bg_checksum(sum);
            }
        }
        table
    }

    fn describe(&self, g: u32, sums: (u32, u32), raw: &mut [u8]) {
        let group = &self.groups[g as usize];
        let free = self.free_clusters(g) as u32;
        let wide = raw.len() >= GroupDesc::SIZE;
        let mut d = GroupDesc(raw);
        d.set_bg_block_bitmap_lo(low(group.block_bitmap));
        d.set_bg_inode_bitmap_lo(low(group.inode_bitmap));
        d.set_bg_inode_table_lo(low(group.inode_table));
        d.set_bg_free_blocks_count_lo((free & 0xFFFF) as u16);
        d.set_bg_free_inodes_count_lo((group.free_inodes & 0xFFFF) as u16);
        d.set_bg_used_dirs_count_lo((group.used_dirs & 0xFFFF) as u16);
        d.set_bg_itable_unused_lo((group.itable_unused & 0xFFFF) as u16);
        d.set_bg_flags(group.flags.bits());
        d.set_bg_block_bitmap_csum_lo((sums.0 & 0xFFFF) as u16);
        d.set_bg_inode_bitmap_csum_lo((sums.1 & 0xFFFF) as u16);
        if wide {
            d.set_bg_block_bitmap_hi(high(group.block_bitmap));
            d.set_bg_inode_bitmap_hi(high(group.inode_bitmap));
            d.set_bg_inode_table_hi(high(group.inode_table));
            d.set_bg_free_blocks_count_hi((free >> 16) as u16);
            d.set_bg_free_inodes_count_hi((group.free_inodes >> 16) as u16);
            d.set_bg_itable_unused_hi((group.itable_unused >> 16) as u16);
            d.set_bg_block_bitmap_csum_hi((sums.0 >> 16) as u16);
            d.set_bg_inode_bitmap_csum_hi((sums.1 >> 16) as u16);
        }
    }

    /// Superblocks and descriptors with all backups, the primary last.
    fn write_heads(&mut self, sb: Sb, table: &[u8]) -> Result<(), MkfsError> {
        let size = self.p.block_size as usize;
        for g in 0..self.p.groups {
            if let Some(at) = self.p.desc_start(g) {
                self.write_block(at, table)?;
            }
            if let Some((nr, at)) = self.p.meta_desc(g) {
                let from = nr as usize * size;
                if let Some(block) = table.get(from..from + size) {
                    self.write_block(at, block)?;
                }
            }
            if g > 0
                && let Some(at) = self.p.super_block(g)
            {
                // A backup does not claim that the filesystem is clean.
                let mut copy = sb;
                copy.set_s_state(0);
                copy.set_s_block_group_nr((g & 0xFFFF) as u16);
                self.write_super(at * u64::from(self.p.block_size), copy)?;
            }
        }
        self.write_super(SUPERBLOCK_OFFSET, sb)
    }

    fn write_super(&mut self, at: u64, mut sb: Sb) -> Result<(), MkfsError> {
        if self.p.features.has_ro(RoCompat::METADATA_CSUM) {
            let sum = checksum::superblock(&sb.0);
            sb.set_s_checksum(sum);
        }
        Ok(self.medium.write_at(at, &sb.0)?)
    }
}

/// Sets bits `from` to `to` (the latter not included).
fn set(bits: &mut [u8], from: usize, to: usize) {
    for bit in from..to {
        if let Some(byte) = bits.get_mut(bit / 8) {
            *byte |= 1 << (bit % 8);
        }
    }
}

/// Text cut or filled up to a field's length.
fn text<const N: usize>(from: &[u8]) -> [u8; N] {
    let mut to = [0; N];
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
    to
}
