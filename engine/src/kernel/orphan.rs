//! Orphans: inodes to be deleted or cut once nobody has them open, or at the next mount.
//!
//! As in Linux, only a filesystem with a journal keeps them on disk, in the list that
//! starts in the superblock and goes on in `i_dtime`, or in the orphan file's slots.

use super::{InodeInfo, Mount, Result, alloc, map, xattr};
use crate::event::What;
use crate::ext4::layout::{Compat, FileType};
use crate::units::InodeNr;

impl Mount {
    /// Notes an inode as an orphan.
    pub(super) fn orphan_add(&mut self, inode: &mut InodeInfo) -> Result<()> {
        if inode.orphan {
            return Ok(());
        }
        inode.orphan = true;
        let nr = inode.nr;
        self.vol.events.emit(|| What::OrphanAdded { inode: nr });
        if !self.vol.has_compat(Compat::HAS_JOURNAL) {
            return Ok(());
        }
        inode.raw.set_i_dtime(self.vol.sb.s_last_orphan());
        self.vol.sb.set_s_last_orphan(nr.0);
        self.orphans.push(nr);
        self.vol.commit_super()
    }

    /// Takes an inode off the list of orphans.
    pub(super) fn orphan_remove(&mut self, inode: &mut InodeInfo) -> Result<()> {
        if !inode.orphan {
            return Ok(());
        }
        inode.orphan = false;
        let nr = inode.nr;
        self.vol.events.emit(|| What::OrphanRemoved { inode: nr });
        let Some(at) = self.orphans.iter().position(|&o| o == nr) else {
            return Ok(());
        };
        self.orphans.remove(at);
        let next = inode.raw.i_dtime();
        inode.raw.set_i_dtime(0);
        // The newest is the list's head; each names the one that came before it.
        match self.orphans.get(at).copied() {
            None => {
                self.vol.sb.set_s_last_orphan(next);
                self.vol.commit_super()?;
            }
            Some(newer) => {
                let newer = self.inodes.get(&mut self.vol, newer)?;
                newer.raw.set_i_dtime(next);
                self.vol.write_inode(newer)?;
            }
        }
        Ok(())
    }

    /// Deletes an inode that has no names and is not open.
    pub(super) fn evict(&mut self, nr: InodeNr) -> Result<()> {
        let mut inode = self.inodes.take(&mut self.vol, nr)?;
        let deleted = self.delete(&mut inode);
        self.inodes.forget(nr);
        deleted
    }

    fn delete(&mut self, inode: &mut InodeInfo) -> Result<()> {
        self.vol.in_flight.retain(|io| io.inode != inode.nr);
        alloc::discard_preallocations(&mut self.vol, inode);
        let delayed = inode.delayed;
        alloc::release(&mut self.vol, inode, delayed);
        let mapped = match inode.file_type() {
            FileType::Regular | FileType::Directory => true,
            FileType::Symlink => !inode.is_fast_symlink(&self.vol),
            _ => false,
        };
        if mapped {
            let end = map::max_blocks(&self.vol, inode);
            map::remove(&mut self.vol, inode, 0, end)?;
        }
        xattr::release(&mut self.vol, inode)?;
        self.orphan_remove(inode)?;
        inode.size = 0;
        inode.set_disk_size(0);
        inode.raw.set_i_links_count(0);
        inode
            .raw
            .set_i_dtime((self.vol.time().secs & 0xFFFF_FFFF) as u32);
        self.vol.write_inode(inode)?;
        alloc::free_inode(&mut self.vol, inode.nr, inode.is_dir())
    }
}
