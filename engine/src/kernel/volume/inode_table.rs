//! Inodes in their tables.

use super::Volume;
use crate::event::{Meta, What};
use crate::ext4::layout::{Inode, RoCompat};
use crate::ext4::{Place, Problem, checksum};
use crate::kernel::{InodeInfo, Result};
use crate::units::{BlockNr, InodeNr};

impl Volume {
    /// An inode as the disk and its buffers have it.
    pub fn read_inode(&mut self, nr: InodeNr) -> Result<InodeInfo> {
        let (at, byte) = self.inode_place(nr)?;
        let block = self.block(at)?;
        let size = usize::from(self.geo.inode_size);
        let raw: Box<[u8]> = block[byte..byte + size].into();
        if self.has_csum() && checksum::inode(self.seed, nr, &raw) != Inode(&raw).checksum() {
            // A slot that was never written has no checksum and is no inode either.
            if raw.iter().any(|&b| b != 0) {
                return Err(self.corrupt(Problem::other(
                    Place::Inode(nr),
                    "its checksum does not hold",
                )));
            }
        }
        Ok(InodeInfo::new(self, nr, raw))
    }

    /// Puts an inode into its table block, with its checksum.
    pub fn write_inode(&mut self, inode: &mut InodeInfo) -> Result<()> {
        if self.has_csum() {
            let sum = checksum::inode(self.seed, inode.nr, &inode.raw.0);
            inode.raw.set_i_checksum_lo((sum & 0xFFFF) as u16);
            if inode.raw.has_checksum_hi() {
                inode.raw.set_i_checksum_hi((sum >> 16) as u16);
            }
        }
        // Files past 2 GiB are a feature, which the first of them brings.
        let revised = self.sb.s_rev_level() > 0;
        if inode.disk_size() > 0x7FFF_FFFF && revised && !self.has_ro_compat(RoCompat::LARGE_FILE) {
            let features = self.sb.ro_compat() | RoCompat::LARGE_FILE;
            self.sb.set_s_feature_ro_compat(features.bits());
            self.commit_super()?;
        }
        let (at, byte) = self.inode_place(inode.nr)?;
        let block = self.change(at, Meta::InodeTable, InodeNr(0))?;
        let raw: &[u8] = &inode.raw.0;
        let slot = &mut block[byte..byte + raw.len()];
        let needed_to_read = differs_for_readers(slot, raw);
        slot.copy_from_slice(raw);
        if let Some(tid) = self
            .journal
            .as_ref()
            .and_then(|j| j.running())
            .map(|t| t.tid)
        {
            inode.sync_tid = Some(tid);
            if needed_to_read {
                inode.datasync_tid = Some(tid);
            }
        }
        let nr = inode.nr;
        self.events.emit(|| What::InodeWritten { inode: nr });
        Ok(())
    }

    /// Where an inode is: its block, and the byte in it.
    pub fn inode_place(&mut self, nr: InodeNr) -> Result<(BlockNr, usize)> {
        if nr.0 == 0 || nr.0 > self.geo.inodes {
            return Err(self.corrupt(Problem::other(
                Place::Inode(nr),
                format!("was asked for, but the last inode is {}", self.geo.inodes),
            )));
        }
        let (group, index) = self.geo.inode_home(nr);
        let table = self.desc(group)?.inode_table();
        if !self.geo.holds(table, self.geo.itable_blocks.into()) {
            let problem = Problem::value(
                Place::Group(group),
                "bg_inode_table",
                table.0,
                "a block of the filesystem",
            );
            return Err(self.corrupt(problem));
        }
        let byte = u64::from(index) * u64::from(self.geo.inode_size);
        let size = u64::from(self.geo.block_size);
        Ok((table.plus(byte / size), (byte % size) as usize))
    }
}

/// Whether two states of an inode differ in what is needed to read its contents: size, map,
/// blocks, flags.
fn differs_for_readers(old: &[u8], new: &[u8]) -> bool {
    [0x04..0x08, 0x1C..0x24, 0x28..0x64, 0x6C..0x70]
        .into_iter()
        .any(|r| old.get(r.clone()) != new.get(r))
}
