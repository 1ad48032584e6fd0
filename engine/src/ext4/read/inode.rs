use super::Fs;
use crate::disk::ReadAt;
use crate::ext4::layout::{GroupFlags, Inode, InodeFlags, RoCompat};
use crate::ext4::{Error, Flaw, Place, Problem, checksum};
use crate::units::{BlockNr, GroupNr, InodeNr};
use std::ops::Deref;

/// Inode tables are read in pieces of about this many bytes.
const TABLE_PIECE: usize = 256 << 10;

/// An inode with its number, at its full size in the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InodeBuf {
    /// Its number.
    pub nr: InodeNr,
    inode: Inode<Box<[u8]>>,
}

impl InodeBuf {
    /// Wraps the bytes of an inode's slot.
    pub fn new(nr: InodeNr, raw: Box<[u8]>) -> Self {
        Self {
            nr,
            inode: Inode(raw),
        }
    }

    /// The bytes of its slot.
    pub fn raw(&self) -> &[u8] {
        &self.inode.0
    }
}

impl Deref for InodeBuf {
    type Target = Inode<Box<[u8]>>;

    fn deref(&self) -> &Self::Target {
        &self.inode
    }
}

impl<R: ReadAt> Fs<R> {
    /// Where an inode is: its block, and the byte in it.
    pub fn inode_place(&self, ino: InodeNr) -> Result<(BlockNr, usize), Error> {
        self.geo.check_inode(ino)?;
        let (group, index) = self.geo.inode_home(ino);
        let byte = u64::from(index) * u64::from(self.geo.inode_size);
        let size = u64::from(self.geo.block_size);
        let table = self.group_desc(group)?.inode_table();
        if !self.geo.holds(table, self.geo.itable_blocks.into()) {
            let problem = Problem::value(
                Place::Group(group),
                "bg_inode_table",
                table.0,
                "a block of the filesystem",
            );
            return Err(problem.into());
        }
        Ok((table.plus(byte / size), (byte % size) as usize))
    }

    /// An inode, whether in use or not.
    pub fn inode(&self, ino: InodeNr) -> Result<InodeBuf, Error> {
        let (block, at) = self.inode_place(ino)?;
        let mut raw = vec![0; self.geo.inode_size.into()].into_boxed_slice();
        let offset = block.0 * u64::from(self.geo.block_size) + at as u64;
        self.medium
            .read_at(offset, &mut raw)
            .map_err(|e| Error::unreadable(Place::Inode(ino), e))?;
        Ok(InodeBuf::new(ino, raw))
    }

    /// Whether an inode's checksum holds; `None` without metadata_csum.
    pub fn inode_checksum_ok(&self, ino: InodeNr, raw: &[u8]) -> Option<bool> {
        self.sb
            .has_metadata_csum()
            .then(|| checksum::inode(self.seed, ino, raw) == Inode(raw).checksum())
    }

    /// The flaw in an inode's checksum, if there is one.
    pub fn inode_checksum_flaw(&self, inode: &InodeBuf) -> Option<Problem> {
        if self.inode_checksum_ok(inode.nr, inode.raw()) != Some(false) {
            return None;
        }
        let (found, expected) = (
            inode.checksum(),
            checksum::inode(self.seed, inode.nr, inode.raw()),
        );
        Some(Problem::new(
            Place::Inode(inode.nr),
            Flaw::Checksum { found, expected },
        ))
    }

    /// Seed of the checksums of what belongs to an inode.
    pub fn inode_seed(&self, inode: &InodeBuf) -> u32 {
        checksum::inode_seed(self.seed, inode.nr, inode.i_generation())
    }

    /// 512-byte sectors that an inode counts as its own.
    pub fn sectors(&self, inode: &InodeBuf) -> u64 {
        let huge = self.sb.ro_compat().contains(RoCompat::HUGE_FILE);
        inode.sectors(huge, self.geo.block_size)
    }

    /// Inodes at the start of a group's table that may ever have been used.
    pub fn inodes_used_in(&self, g: GroupNr) -> Result<u32, Error> {
        let d = self.group_desc(g)?;
        if !self.trusts_uninit() {
            return Ok(self.geo.inodes_per_group);
        }
        if d.flags().contains(GroupFlags::INODE_UNINIT) {
            return Ok(0);
        }
        Ok(self.geo.inodes_per_group.saturating_sub(d.itable_unused()))
    }

    /// Hands the inodes of a group that its bitmap has in use to `each`, in order, with the
    /// bytes of their slots: those from index `from` on, as far as one read of the table
    /// goes. Answers with the index to go on from, `None` at the end.
    pub fn each_inode_in(
        &self,
        g: GroupNr,
        from: u32,
        mut each: impl FnMut(InodeNr, &[u8]),
    ) -> Result<Option<u32>, Error> {
        let used = self.inodes_used_in(g)?;
        if from >= used {
            return Ok(None);
        }
        let bits = self.inode_bitmap(g)?;
        let table = self.group_desc(g)?.inode_table();
        if !self.geo.holds(table, self.geo.itable_blocks.into()) {
            return Err(Problem::value(
                Place::Group(g),
                "bg_inode_table",
                table.0,
                "a block of the filesystem",
            )
            .into());
        }
        let size = usize::from(self.geo.inode_size);
        let is_used = |i: &u32| bits[*i as usize / 8] & (1 << (i % 8)) != 0;
        let Some(from) = (from..used).find(is_used) else {
            return Ok(None);
        };
        let count = (used - from).min((TABLE_PIECE / size) as u32);
        let mut piece = vec![0; count as usize * size];
        let at = table.0 * u64::from(self.geo.block_size) + u64::from(from) * size as u64;
        self.medium
            .read_at(at, &mut piece)
            .map_err(|e| Error::unreadable(Place::InodeTable(g), e))?;
        let first = g.0 * self.geo.inodes_per_group + 1;
        for (i, raw) in (from..from + count).zip(piece.chunks_exact(size)) {
            if is_used(&i) {
                each(InodeNr(first + i), raw);
            }
        }
        Ok(Some(from + count).filter(|next| *next < used))
    }

    /// Whether a group's bitmap has an inode in use.
    pub fn inode_in_use(&self, ino: InodeNr) -> Result<bool, Error> {
        self.geo.check_inode(ino)?;
        let (g, i) = self.geo.inode_home(ino);
        let bits = self.inode_bitmap(g)?;
        Ok(bits[i as usize / 8] & (1 << (i % 8)) != 0)
    }
}

impl InodeBuf {
    /// Whether contents are mapped to blocks at all: not so for inline data, fast
    /// symbolic links and devices.
    pub fn maps_blocks(&self, fast_symlink: bool) -> bool {
        use crate::ext4::layout::FileType::{Directory, Regular, Symlink};
        !self.flags().contains(InodeFlags::INLINE_DATA)
            && match self.file_type() {
                Regular | Directory => true,
                Symlink => !fast_symlink,
                _ => false,
            }
    }
}
