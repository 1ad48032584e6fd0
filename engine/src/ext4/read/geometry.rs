use crate::ext4::layout::{EXT4_MAGIC, GOOD_OLD_INODE_SIZE, Incompat, RoCompat, Superblock};
use crate::ext4::{Error, Flaw, Place, Problem};
use crate::units::{BlockNr, GroupNr, InodeNr};
use serde::{Deserialize, Serialize};

/// More groups than this are refused: their descriptors alone would take 64 MiB.
const MAX_GROUPS: u64 = 1 << 20;

/// Sizes and counts of a filesystem, checked against each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Geometry {
    /// Bytes of a block: 1 KiB to 64 KiB.
    pub block_size: u32,
    /// Blocks of a cluster; 1 without bigalloc.
    pub cluster_blocks: u32,
    /// Blocks in all.
    pub blocks: u64,
    /// First block of group 0.
    pub first_data_block: u64,
    /// Blocks of a group (the last may have fewer).
    pub blocks_per_group: u32,
    /// Groups.
    pub groups: u32,
    /// Inodes of a group.
    pub inodes_per_group: u32,
    /// Inodes in all.
    pub inodes: u32,
    /// Bytes of an inode.
    pub inode_size: u16,
    /// Bytes of a group descriptor.
    pub desc_size: u16,
    /// Blocks of a group's inode table.
    pub itable_blocks: u32,
    /// First inode that is not reserved.
    pub first_inode: u32,
}

impl Geometry {
    /// Reads the geometry out of a superblock at `place`, or says what is wrong with it.
    pub fn from_superblock<T: AsRef<[u8]>>(
        sb: &Superblock<T>,
        place: Place,
    ) -> Result<Self, Error> {
        if sb.s_magic() != EXT4_MAGIC {
            let (found, expected) = (sb.s_magic().into(), EXT4_MAGIC.into());
            return Err(Problem::new(place, Flaw::Magic { found, expected }).into());
        }
        if sb.incompat().contains(Incompat::JOURNAL_DEV) {
            return Err(Error::Unsupported(
                "This is an external journal, not a filesystem; open it beside the filesystem it belongs to".into(),
            ));
        }
        let bad = |field: &str, found: u64, expected: &str| {
            Err(Problem::value(place, field, found, expected).into())
        };
        let log = sb.s_log_block_size();
        if log > 6 {
            return bad("s_log_block_size", log.into(), "0 to 6 (1 KiB to 64 KiB)");
        }
        let block_size = 1024u32 << log;
        let bigalloc = sb.ro_compat().contains(RoCompat::BIGALLOC);
        let cluster_log = if bigalloc {
            sb.s_log_cluster_size()
        } else {
            log
        };
        if cluster_log < log || cluster_log > log.saturating_add(16) {
            return bad(
                "s_log_cluster_size",
                cluster_log.into(),
                "at least s_log_block_size",
            );
        }
        let cluster_blocks = 1u32 << (cluster_log - log);
        let bits = u64::from(block_size) * 8;
        let blocks_per_group = sb.s_blocks_per_group();
        let most = bits * u64::from(cluster_blocks);
        if blocks_per_group == 0
            || u64::from(blocks_per_group) > most
            || !blocks_per_group.is_multiple_of(8)
        {
            return bad(
                "s_blocks_per_group",
                blocks_per_group.into(),
                &format!("a multiple of 8, at most {most}"),
            );
        }
        let inodes_per_group = sb.s_inodes_per_group();
        if inodes_per_group == 0 || u64::from(inodes_per_group) > bits {
            return bad(
                "s_inodes_per_group",
                inodes_per_group.into(),
                &format!("1 to {bits}"),
            );
        }
        let blocks = sb.blocks_count();
        let first_data_block = u64::from(sb.s_first_data_block());
        if first_data_block >= blocks {
            return bad(
                "s_first_data_block",
                first_data_block,
                &format!("less than the {blocks} blocks there are"),
            );
        }
        let groups = (blocks - first_data_block).div_ceil(blocks_per_group.into());
        if groups > MAX_GROUPS {
            return Err(Error::Limit(format!(
                "The superblock claims {groups} block groups; fslab opens up to {MAX_GROUPS}"
            )));
        }
        let inode_size = Self::inode_size(sb, block_size, place)?;
        let inodes = (groups * u64::from(inodes_per_group)).min(u32::MAX.into()) as u32;
        let itable = u64::from(inodes_per_group) * u64::from(inode_size);
        Ok(Self {
            block_size,
            cluster_blocks,
            blocks,
            first_data_block,
            blocks_per_group,
            groups: groups as u32,
            inodes_per_group,
            inodes,
            inode_size,
            desc_size: Self::desc_size(sb, block_size, place)?,
            itable_blocks: itable.div_ceil(block_size.into()) as u32,
            first_inode: if sb.s_rev_level() == 0 {
                11
            } else {
                sb.s_first_ino()
            },
        })
    }

    fn inode_size<T: AsRef<[u8]>>(
        sb: &Superblock<T>,
        block_size: u32,
        place: Place,
    ) -> Result<u16, Error> {
        if sb.s_rev_level() == 0 {
            return Ok(GOOD_OLD_INODE_SIZE as u16);
        }
        let n = sb.s_inode_size();
        if usize::from(n) < GOOD_OLD_INODE_SIZE || u32::from(n) > block_size || !n.is_power_of_two()
        {
            let expected = format!("a power of two from 128 to {block_size}");
            return Err(Problem::value(place, "s_inode_size", n, expected).into());
        }
        Ok(n)
    }

    fn desc_size<T: AsRef<[u8]>>(
        sb: &Superblock<T>,
        block_size: u32,
        place: Place,
    ) -> Result<u16, Error> {
        if !sb.incompat().contains(Incompat::BIT64) {
            return Ok(32);
        }
        match sb.s_desc_size() {
            // e2fsprogs takes 0 as the shortest; so does its test f_desc_size_zero.
            0 => Ok(32),
            n if (32..=1024).contains(&n) && n.is_power_of_two() && u32::from(n) <= block_size => {
                Ok(n)
            }
            n => Err(
                Problem::value(place, "s_desc_size", n, "a power of two from 32 to 1024").into(),
            ),
        }
    }

    /// First block of a group.
    pub fn group_start(&self, g: GroupNr) -> BlockNr {
        BlockNr(self.first_data_block + u64::from(g.0) * u64::from(self.blocks_per_group))
    }

    /// Blocks of a group: fewer in the last.
    pub fn group_len(&self, g: GroupNr) -> u32 {
        let left = self.blocks.saturating_sub(self.group_start(g).0);
        left.min(self.blocks_per_group.into()) as u32
    }

    /// The group a block is in; `None` before group 0 and past the end.
    pub fn group_of(&self, at: BlockNr) -> Option<GroupNr> {
        if at.0 >= self.blocks {
            return None;
        }
        let n = at.0.checked_sub(self.first_data_block)?;
        Some(GroupNr((n / u64::from(self.blocks_per_group)) as u32))
    }

    /// The group whose table holds an inode, and its index there. The number is one that
    /// [`Geometry::check_inode`] accepts.
    pub fn inode_home(&self, ino: InodeNr) -> (GroupNr, u32) {
        let n = ino.0.saturating_sub(1);
        (
            GroupNr(n / self.inodes_per_group),
            n % self.inodes_per_group,
        )
    }

    /// Descriptors in a block.
    pub fn descs_per_block(&self) -> u32 {
        self.block_size / u32::from(self.desc_size)
    }

    /// Blocks that all descriptors take.
    pub fn desc_blocks(&self) -> u32 {
        self.groups.div_ceil(self.descs_per_block())
    }

    /// Clusters of a group.
    pub fn clusters_in(&self, g: GroupNr) -> u32 {
        self.group_len(g).div_ceil(self.cluster_blocks)
    }

    /// Fails for a block that the filesystem does not have.
    pub fn check_block(&self, at: BlockNr) -> Result<(), Error> {
        if at.0 < self.blocks {
            return Ok(());
        }
        Err(Error::NoSuch {
            what: "block",
            number: at.0,
            first: 0,
            last: self.blocks - 1,
        })
    }

    /// Fails for an inode that the filesystem does not have.
    pub fn check_inode(&self, ino: InodeNr) -> Result<(), Error> {
        if (1..=self.inodes).contains(&ino.0) {
            return Ok(());
        }
        Err(Error::NoSuch {
            what: "inode",
            number: ino.0.into(),
            first: 1,
            last: self.inodes.into(),
        })
    }

    /// Fails for a group that the filesystem does not have.
    pub fn check_group(&self, g: GroupNr) -> Result<(), Error> {
        if g.0 < self.groups {
            return Ok(());
        }
        Err(Error::NoSuch {
            what: "group",
            number: g.0.into(),
            first: 0,
            last: u64::from(self.groups) - 1,
        })
    }

    /// Whether `len` blocks from `at` on are all inside the filesystem, and past its first
    /// block, which is the superblock's or a boot loader's.
    pub fn holds(&self, at: BlockNr, len: u64) -> bool {
        at.0 > self.first_data_block && at.0.checked_add(len).is_some_and(|end| end <= self.blocks)
    }
}
