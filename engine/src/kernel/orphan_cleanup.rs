//! At a mount: what was left to do for orphans, those of the list and those of the orphan
//! file.

use super::{InodeInfo, Mount, Result, Volume, map};
use crate::event::Meta;
use crate::ext4::layout::{Compat, Order, RoCompat, wire};
use crate::ext4::{Place, Problem, checksum};
use crate::units::{BlockNr, InodeNr, Lblk};
use std::collections::BTreeSet;

/// Last eight bytes of an orphan file's block: magic and checksum.
const TAIL: usize = 8;
const MAGIC: u32 = 0x0B10_CA04;

impl Mount {
    /// Finishes what was left to do for the orphans on disk.
    pub(super) fn delete_orphans(&mut self) -> Result<()> {
        self.delete_listed_orphans()?;
        if self.vol.has_ro_compat(RoCompat::ORPHAN_PRESENT) {
            self.delete_filed_orphans()?;
            let bits = self.vol.sb.s_feature_ro_compat() & !RoCompat::ORPHAN_PRESENT.bits();
            self.vol.sb.set_s_feature_ro_compat(bits);
            self.vol.commit_super()?;
        }
        Ok(())
    }

    fn delete_listed_orphans(&mut self) -> Result<()> {
        let mut left = self.vol.geo.inodes;
        while self.vol.sb.s_last_orphan() != 0 && left > 0 {
            left -= 1;
            let nr = InodeNr(self.vol.sb.s_last_orphan());
            let mut inode = self.vol.read_inode(nr)?;
            let next = inode.raw.i_dtime();
            self.vol.sb.set_s_last_orphan(next);
            inode.raw.set_i_dtime(0);
            self.finish_orphan(inode)?;
            self.commit_if_large()?;
        }
        Ok(())
    }

    /// One with names was being cut: its size tells to where. One without is deleted.
    fn finish_orphan(&mut self, mut inode: InodeInfo) -> Result<()> {
        let (nr, size) = (inode.nr, inode.size);
        let named = inode.links() > 0;
        inode.orphan = !named;
        self.inodes.insert(inode);
        if named {
            self.truncate_inode(nr, size)
        } else {
            self.evict(nr)
        }
    }

    fn delete_filed_orphans(&mut self) -> Result<()> {
        if !self.vol.has_compat(Compat::ORPHAN_FILE) {
            return Ok(());
        }
        let nr = InodeNr(self.vol.sb.s_orphan_file_inum());
        let file = self.vol.read_inode(nr)?;
        let blocks = file.size / self.vol.block_size() as u64;
        // Linux takes an orphan file of 2^23 blocks at most.
        let mut lblk = 0;
        while lblk < blocks.min(1 << 23) {
            let run = map::lookup(&mut self.vol, &file, Lblk(lblk as u32), u32::MAX)?;
            let len = u64::from(run.len.max(1)).min(blocks - lblk);
            for i in 0..len {
                if run.state != map::State::Hole {
                    self.empty_block(&file, lblk + i, run.start.plus(i))?;
                }
            }
            lblk += len;
        }
        Ok(())
    }

    fn empty_block(&mut self, file: &InodeInfo, lblk: u64, at: BlockNr) -> Result<()> {
        let mut done = BTreeSet::new();
        for nr in entries(&mut self.vol, file, lblk, at)? {
            if !done.insert(nr) {
                continue;
            }
            let inode = self.vol.read_inode(nr)?;
            // An inode that was deleted already has nothing to be finished.
            if inode.links() > 0 || inode.raw.i_dtime() == 0 {
                self.finish_orphan(inode)?;
            }
        }
        if !done.is_empty() {
            clear(&mut self.vol, file, at)?;
        }
        self.commit_if_large()
    }
}

/// The inodes that a block of the orphan file names.
fn entries(vol: &mut Volume, file: &InodeInfo, lblk: u64, at: BlockNr) -> Result<Vec<InodeNr>> {
    let bytes = vol.block(at)?;
    let (slots, tail) = bytes.split_at(bytes.len() - TAIL);
    let sum = checksum::orphan_block(file.seed, at, slots);
    let magic: u32 = wire::get(tail, 0, Order::Little);
    let found: u32 = wire::get(tail, 4, Order::Little);
    if magic != MAGIC || vol.has_csum() && found != sum {
        let words = "has a wrong magic or checksum";
        let problem = Problem::other(Place::OrphanBlock(file.nr, lblk), words);
        return Err(vol.corrupt(problem));
    }
    let numbers = slots.chunks_exact(4);
    let numbers = numbers.map(|slot| InodeNr(wire::get(slot, 0, Order::Little)));
    Ok(numbers.filter(|nr| nr.0 != 0).collect())
}

fn clear(vol: &mut Volume, file: &InodeInfo, at: BlockNr) -> Result<()> {
    let has_csum = vol.has_csum();
    let bytes = vol.change(at, Meta::OrphanFile, file.nr)?;
    let end = bytes.len() - TAIL;
    bytes[..end].fill(0);
    if has_csum {
        let sum = checksum::orphan_block(file.seed, at, &bytes[..end]);
        bytes[end + 4..].copy_from_slice(&sum.to_le_bytes());
    }
    Ok(())
}
