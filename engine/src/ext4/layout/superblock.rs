use super::features::{Compat, Incompat, RoCompat};
use super::wire::{Bytes, on_disk};
use super::{join16, join32};

/// `s_magic` of every ext2, ext3 and ext4 superblock.
pub const EXT4_MAGIC: u16 = 0xEF53;
/// Byte offset of the primary superblock.
pub const SUPERBLOCK_OFFSET: u64 = 1024;

on_disk! {
    /// The superblock: 1024 bytes at byte 1024, and in backups at the start of some
    /// groups.
    Superblock[1024] Little {
        0x000 s_inodes_count: u32, Number, "inodes in all";
        0x004 s_blocks_count_lo: u32, Number, "blocks in all, low 32 bits";
        0x008 s_r_blocks_count_lo: u32, Number, "blocks reserved for the super-user, low 32 bits";
        0x00C s_free_blocks_count_lo: u32, Number, "free blocks, low 32 bits";
        0x010 s_free_inodes_count: u32, Number, "free inodes";
        0x014 s_first_data_block: u32, Block, "first block of group 0: 1 with 1 KiB blocks, else 0";
        0x018 s_log_block_size: u32, Number, "block size is 2^(10 + this) bytes";
        0x01C s_log_cluster_size: u32, Number, "cluster size is 2^(10 + this) bytes (bigalloc)";
        0x020 s_blocks_per_group: u32, Number, "blocks in a group";
        0x024 s_clusters_per_group: u32, Number, "clusters in a group";
        0x028 s_inodes_per_group: u32, Number, "inodes in a group";
        0x02C s_mtime: u32, Time, "last mount, low 32 bits";
        0x030 s_wtime: u32, Time, "last write, low 32 bits";
        0x034 s_mnt_count: u16, Number, "mounts since the last check";
        0x036 s_max_mnt_count: u16, Number, "mounts after which a check is due";
        0x038 s_magic: u16, Hex, "0xEF53";
        0x03A s_state: u16, Hex, "1 cleanly unmounted, 2 errors seen, 4 orphans being recovered";
        0x03C s_errors: u16, Number, "on an error: 1 go on, 2 remount read-only, 3 panic";
        0x03E s_minor_rev_level: u16, Number, "minor revision";
        0x040 s_lastcheck: u32, Time, "last check, low 32 bits";
        0x044 s_checkinterval: u32, Number, "seconds after which a check is due";
        0x048 s_creator_os: u32, Number, "made by: 0 Linux, 1 Hurd, 2 Masix, 3 FreeBSD, 4 Lites";
        0x04C s_rev_level: u32, Number, "revision: 0 original, 1 with inode sizes and features";
        0x050 s_def_resuid: u16, Number, "user who may use reserved blocks, low 16 bits";
        0x052 s_def_resgid: u16, Number, "group who may use reserved blocks, low 16 bits";
        0x054 s_first_ino: u32, Inode, "first inode that is not reserved";
        0x058 s_inode_size: u16, Number, "bytes of an inode";
        0x05A s_block_group_nr: u16, Number, "group that this copy of the superblock is in";
        0x05C s_feature_compat: u32, Hex, "features that a reader and writer may ignore";
        0x060 s_feature_incompat: u32, Hex, "features without which not even reading is safe";
        0x064 s_feature_ro_compat: u32, Hex, "features without which writing is not safe";
        0x068 s_uuid: Bytes<16>, Uuid, "identity of the filesystem";
        0x078 s_volume_name: Bytes<16>, Text, "label";
        0x088 s_last_mounted: Bytes<64>, Text, "where it was last mounted";
        0x0C8 s_algorithm_usage_bitmap: u32, Hex, "compression algorithms (never used in Linux)";
        0x0CC s_prealloc_blocks: u8, Number, "blocks to try to preallocate for files";
        0x0CD s_prealloc_dir_blocks: u8, Number, "blocks to preallocate for directories";
        0x0CE s_reserved_gdt_blocks: u16, Number, "descriptor blocks kept free for growing, in each group with a superblock";
        0x0D0 s_journal_uuid: Bytes<16>, Uuid, "identity of the journal's own device";
        0x0E0 s_journal_inum: u32, Inode, "inode of the journal";
        0x0E4 s_journal_dev: u32, Hex, "device number of an external journal";
        0x0E8 s_last_orphan: u32, Inode, "head of the list of orphans";
        0x0EC s_hash_seed_0: u32, Hex, "htree hash seed, first word";
        0x0F0 s_hash_seed_1: u32, Hex, "htree hash seed, second word";
        0x0F4 s_hash_seed_2: u32, Hex, "htree hash seed, third word";
        0x0F8 s_hash_seed_3: u32, Hex, "htree hash seed, fourth word";
        0x0FC s_def_hash_version: u8, Number, "htree hash of new directories: 0 legacy, 1 half MD4, 2 TEA, 6 SipHash";
        0x0FD s_jnl_backup_type: u8, Number, "1: s_jnl_blocks holds a copy of the journal inode's map";
        0x0FE s_desc_size: u16, Number, "bytes of a group descriptor (64bit)";
        0x100 s_default_mount_opts: u32, Hex, "mount options that hold unless said otherwise";
        0x104 s_first_meta_bg: u32, Number, "first descriptor block that meta_bg places";
        0x108 s_mkfs_time: u32, Time, "made, low 32 bits";
        0x10C s_jnl_blocks: Bytes<68>, Raw, "copy of the journal inode's i_block, then its size";
        0x150 s_blocks_count_hi: u32, Number, "blocks in all, high 32 bits";
        0x154 s_r_blocks_count_hi: u32, Number, "reserved blocks, high 32 bits";
        0x158 s_free_blocks_count_hi: u32, Number, "free blocks, high 32 bits";
        0x15C s_min_extra_isize: u16, Number, "extra bytes that every inode has";
        0x15E s_want_extra_isize: u16, Number, "extra bytes that new inodes should get";
        0x160 s_flags: u32, Hex, "1 signed hash, 2 unsigned hash, 4 to test development code";
        0x164 s_raid_stride: u16, Number, "RAID: blocks on one disk before the next";
        0x166 s_mmp_interval: u16, Number, "seconds between checks for a second mount";
        0x168 s_mmp_block: u64, Block, "block that guards against a second mount";
        0x170 s_raid_stripe_width: u32, Number, "RAID: data blocks of a whole stripe";
        0x174 s_log_groups_per_flex: u8, Number, "a flex group is 2^this groups";
        0x175 s_checksum_type: u8, Number, "1: crc32c";
        0x176 s_encryption_level: u8, Number, "version of encryption";
        0x177 s_reserved_pad: u8, Raw, "padding";
        0x178 s_kbytes_written: u64, Number, "KiB written in the filesystem's life";
        0x180 s_snapshot_inum: u32, Inode, "inode of the active snapshot (never in Linux)";
        0x184 s_snapshot_id: u32, Number, "sequence of the active snapshot";
        0x188 s_snapshot_r_blocks_count: u64, Number, "blocks reserved for the snapshot";
        0x190 s_snapshot_list: u32, Inode, "head of the list of snapshots";
        0x194 s_error_count: u32, Number, "errors seen";
        0x198 s_first_error_time: u32, Time, "first error, low 32 bits";
        0x19C s_first_error_ino: u32, Inode, "inode of the first error";
        0x1A0 s_first_error_block: u64, Block, "block of the first error";
        0x1A8 s_first_error_func: Bytes<32>, Text, "kernel function of the first error";
        0x1C8 s_first_error_line: u32, Number, "source line of the first error";
        0x1CC s_last_error_time: u32, Time, "last error, low 32 bits";
        0x1D0 s_last_error_ino: u32, Inode, "inode of the last error";
        0x1D4 s_last_error_line: u32, Number, "source line of the last error";
        0x1D8 s_last_error_block: u64, Block, "block of the last error";
        0x1E0 s_last_error_func: Bytes<32>, Text, "kernel function of the last error";
        0x200 s_mount_opts: Bytes<64>, Text, "mount options, as text";
        0x240 s_usr_quota_inum: u32, Inode, "inode of the user quota";
        0x244 s_grp_quota_inum: u32, Inode, "inode of the group quota";
        0x248 s_overhead_clusters: u32, Number, "clusters that metadata takes";
        0x24C s_backup_bgs_0: u32, Number, "first group with a backup superblock (sparse_super2)";
        0x250 s_backup_bgs_1: u32, Number, "second group with a backup superblock (sparse_super2)";
        0x254 s_encrypt_algos: Bytes<4>, Raw, "encryption algorithms in use";
        0x258 s_encrypt_pw_salt: Bytes<16>, Raw, "salt for encryption passwords";
        0x268 s_lpf_ino: u32, Inode, "inode of lost+found, where known";
        0x26C s_prj_quota_inum: u32, Inode, "inode of the project quota";
        0x270 s_checksum_seed: u32, Hex, "seed of all crc32c checksums (metadata_csum_seed)";
        0x274 s_wtime_hi: u8, Number, "last write, high 8 bits";
        0x275 s_mtime_hi: u8, Number, "last mount, high 8 bits";
        0x276 s_mkfs_time_hi: u8, Number, "made, high 8 bits";
        0x277 s_lastcheck_hi: u8, Number, "last check, high 8 bits";
        0x278 s_first_error_time_hi: u8, Number, "first error, high 8 bits";
        0x279 s_last_error_time_hi: u8, Number, "last error, high 8 bits";
        0x27A s_first_error_errcode: u8, Number, "code of the first error";
        0x27B s_last_error_errcode: u8, Number, "code of the last error";
        0x27C s_encoding: u16, Number, "character encoding of names: 1 UTF-8 12.1";
        0x27E s_encoding_flags: u16, Hex, "1: refuse names that are not in the encoding";
        0x280 s_orphan_file_inum: u32, Inode, "inode of the orphan file";
        0x284 s_def_resuid_hi: u16, Number, "user who may use reserved blocks, high 16 bits";
        0x286 s_def_resgid_hi: u16, Number, "group who may use reserved blocks, high 16 bits";
        0x288 s_reserved: Bytes<372>, Raw, "reserved";
        0x3FC s_checksum: u32, Hex, "crc32c of the 1020 bytes before";
    }
}

impl<T: AsRef<[u8]>> Superblock<T> {
    /// Blocks in all; the high half counts only with the 64bit feature.
    pub fn blocks_count(&self) -> u64 {
        self.with_high(self.s_blocks_count_lo(), self.s_blocks_count_hi())
    }

    /// Blocks reserved for the super-user.
    pub fn reserved_blocks_count(&self) -> u64 {
        self.with_high(self.s_r_blocks_count_lo(), self.s_r_blocks_count_hi())
    }

    /// Free blocks.
    pub fn free_blocks_count(&self) -> u64 {
        self.with_high(self.s_free_blocks_count_lo(), self.s_free_blocks_count_hi())
    }

    fn with_high(&self, low: u32, high: u32) -> u64 {
        let wide = self.incompat().contains(Incompat::BIT64);
        join32(low, if wide { high } else { 0 })
    }

    /// Features that a reader and writer may ignore.
    pub fn compat(&self) -> Compat {
        Compat::from_bits_retain(self.s_feature_compat())
    }

    /// Features without which not even reading is safe.
    pub fn incompat(&self) -> Incompat {
        Incompat::from_bits_retain(self.s_feature_incompat())
    }

    /// Features without which writing is not safe.
    pub fn ro_compat(&self) -> RoCompat {
        RoCompat::from_bits_retain(self.s_feature_ro_compat())
    }

    /// Names of all features, as `dumpe2fs` prints them.
    pub fn feature_names(&self) -> Vec<String> {
        let mut names = self.compat().names();
        names.extend(self.incompat().names());
        names.extend(self.ro_compat().names());
        names
    }

    /// Seed words of the htree hash.
    pub fn hash_seed(&self) -> [u32; 4] {
        [
            self.s_hash_seed_0(),
            self.s_hash_seed_1(),
            self.s_hash_seed_2(),
            self.s_hash_seed_3(),
        ]
    }

    /// User and group who may use the reserved blocks.
    pub fn reserved_for(&self) -> (u32, u32) {
        (
            join16(self.s_def_resuid(), self.s_def_resuid_hi()),
            join16(self.s_def_resgid(), self.s_def_resgid_hi()),
        )
    }

    /// Whether descriptors carry a checksum of either kind.
    pub fn has_group_checksum(&self) -> bool {
        self.ro_compat()
            .intersects(RoCompat::GDT_CSUM | RoCompat::METADATA_CSUM)
    }

    /// Whether metadata carries crc32c checksums.
    pub fn has_metadata_csum(&self) -> bool {
        self.ro_compat().contains(RoCompat::METADATA_CSUM)
    }
}

on_disk! {
    /// The block that guards against mounting twice (feature mmp).
    MmpBlock[1024] Little {
        0x000 mmp_magic: u32, Hex, "0x004D4D50";
        0x004 mmp_seq: u32, Hex, "changes while mounted; 0xFF4D4D50 clean, 0xE24D4D50 being checked";
        0x008 mmp_time: u64, Time, "last update";
        0x010 mmp_nodename: Bytes<64>, Text, "host that last mounted";
        0x050 mmp_bdevname: Bytes<32>, Text, "device that was mounted";
        0x070 mmp_check_interval: u16, Number, "seconds between updates";
        0x072 mmp_pad: u16, Raw, "padding";
        0x3FC mmp_checksum: u32, Hex, "crc32c of the 1020 bytes before";
    }
}

/// `mmp_magic`.
pub const MMP_MAGIC: u32 = 0x004D_4D50;
