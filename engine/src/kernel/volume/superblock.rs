//! The superblock, and what it notes of errors.

use super::super::buffer::Block;
use super::{ERROR_FS, Volume};
use crate::event::{Meta, What};
use crate::ext4::layout::{Incompat, SUPERBLOCK_OFFSET};
use crate::ext4::{Problem, checksum};
use crate::kernel::{Errno, ErrorsBehaviour, Result};
use crate::units::{BlockNr, InodeNr};

impl Volume {
    /// Notes what is odd but no damage, as Linux writes it to its log.
    pub fn warn(&mut self, problem: &Problem) {
        self.events.emit(|| What::Warning {
            words: problem.to_string(),
        });
    }

    /// Notes damage, does what `errors=` asks, and gives the error that calls return.
    pub fn corrupt(&mut self, problem: Problem) -> Errno {
        let words = problem.to_string();
        self.events.emit(|| What::Error { words });
        self.sb.set_s_state(self.sb.s_state() | ERROR_FS);
        self.sb
            .set_s_error_count(self.sb.s_error_count().saturating_add(1));
        let now = (self.time().secs & 0xFFFF_FFFF) as u32;
        if self.sb.s_first_error_time() == 0 {
            self.sb.set_s_first_error_time(now);
        }
        self.sb.set_s_last_error_time(now);
        let behaviour = self.options.errors.unwrap_or(match self.sb.s_errors() {
            1 => ErrorsBehaviour::Continue,
            3 => ErrorsBehaviour::Panic,
            _ => ErrorsBehaviour::RemountRo,
        });
        // A machine that panics is one that changes nothing any more.
        if behaviour != ErrorsBehaviour::Continue && !self.read_only {
            self.read_only = true;
            self.events.emit(|| What::ReadOnly);
        }
        Errno::EFSCORRUPTED
    }

    /// The superblock's block as it is in memory.
    pub(in crate::kernel) fn superblock_block(&mut self) -> Result<(BlockNr, Block)> {
        let at = BlockNr(SUPERBLOCK_OFFSET / u64::from(self.geo.block_size));
        Ok((at, self.block(at)?))
    }

    /// Writes the superblock with the counts as they are now.
    pub fn commit_super(&mut self) -> Result<()> {
        let secs = self.time().secs;
        let (lo, hi) = ((secs & 0xFFFF_FFFF) as u32, (secs >> 32 & 0xFF) as u8);
        self.sb.set_s_wtime(lo);
        self.sb.set_s_wtime_hi(hi);
        let free = self.free_clusters * u64::from(self.geo.cluster_blocks);
        self.sb
            .set_s_free_blocks_count_lo((free & 0xFFFF_FFFF) as u32);
        if self.has_incompat(Incompat::BIT64) {
            self.sb.set_s_free_blocks_count_hi((free >> 32) as u32);
        }
        self.sb.set_s_free_inodes_count(self.free_inodes);
        let kib = self.sb.s_kbytes_written() + self.sectors_written / 2;
        self.sectors_written %= 2;
        self.sb.set_s_kbytes_written(kib);
        if self.has_csum()
            && let Some(raw) = self.sb.0.first_chunk::<1024>()
        {
            let sum = checksum::superblock(raw);
            self.sb.set_s_checksum(sum);
        }
        let size = u64::from(self.geo.block_size);
        let (at, byte) = (
            BlockNr(SUPERBLOCK_OFFSET / size),
            (SUPERBLOCK_OFFSET % size) as usize,
        );
        let raw = self.sb.0.clone();
        let block = self.change(at, Meta::Superblock, InodeNr(0))?;
        block[byte..byte + 1024].copy_from_slice(&raw);
        Ok(())
    }
}
