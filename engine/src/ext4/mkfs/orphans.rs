//! The file in which the kernel lists inodes to be deleted or cut short.

use super::build::Build;
use super::error::MkfsError;
use super::files::{self, InodeSpec, Mapped};
use crate::disk::WriteAt;
use crate::ext4::checksum;
use crate::ext4::layout::InodeFlags;
use crate::units::BlockNr;

/// Ends each of its blocks, before the checksum.
const MAGIC: u32 = 0x0B10_CA04;
const FAILED: MkfsError = MkfsError::NoSpace("while creating orphan file");

impl<M: WriteAt> Build<'_, M> {
    /// Makes the file, of 32 to 512 blocks, a 4096th of the filesystem between, where no
    /// length was asked for.
    pub(super) fn orphans(&mut self) -> Result<(), MkfsError> {
        let len = self.o.orphan_blocks.unwrap_or(match self.p.blocks {
            n if n < 128 << 10 => 32,
            n if n < 2 << 20 => n / 4096,
            _ => 512,
        });
        let len = len.next_multiple_of(self.p.ratio);
        if len > self.p.blocks {
            return Err(FAILED);
        }
        let ino = self.new_inode();
        self.orphan_file = ino;
        let mapped = if self.extents() {
            self.orphans_by_extents(ino, len)?
        } else {
            self.orphans_by_blocks(ino, len)?
        };
        let spec = InodeSpec {
            mode: 0o100_600,
            size: len * u64::from(self.p.block_size),
            links: 1,
            sectors: self.sectors(mapped.clusters),
            flags: mapped.flags,
            i_block: mapped.i_block,
            ..InodeSpec::default()
        };
        self.put(ino, &spec);
        Ok(())
    }

    fn orphans_by_extents(&mut self, ino: u32, len: u64) -> Result<Mapped, MkfsError> {
        let mut runs: Vec<(u64, u64, u64)> = Vec::new();
        let (mut last, mut clusters) = (0, 0);
        for lblk in 0..len {
            let at = if lblk > 0 && (last + 1) % self.p.ratio != 0 {
                last + 1
            } else {
                clusters += 1;
                self.alloc(last).map_err(|_| FAILED)?
            };
            last = at;
            match runs.last_mut() {
                Some(r) if r.1 + r.2 == at && r.2 < 32768 => r.2 += 1,
                _ => runs.push((lblk, at, 1)),
            }
        }
        for block in runs.iter().flat_map(|r| r.1..r.1 + r.2) {
            self.orphan_block(ino, block)?;
        }
        if runs.len() > 4 {
            return Err(FAILED);
        }
        Ok(Mapped {
            first: 0,
            clusters,
            flags: InodeFlags::EXTENTS,
            i_block: files::extent_root(&runs, None),
        })
    }

    fn orphans_by_blocks(&mut self, ino: u32, len: u64) -> Result<Mapped, MkfsError> {
        let mut map = files::BlockTree::new(self.p.block_size);
        let mut at = 0;
        while map.len() < len {
            at = self.alloc(at).map_err(|_| FAILED)?;
            let before = map.len();
            if !map.push(at as u32) {
                return Err(FAILED);
            }
            if map.len() > before {
                self.orphan_block(ino, at)?;
            }
        }
        for (block, bytes) in map.indirect_blocks() {
            self.write_block(u64::from(block), &bytes)?;
        }
        Ok(Mapped {
            first: 0,
            clusters: map.blocks(),
            flags: InodeFlags::empty(),
            i_block: map.i_block(),
        })
    }

    fn orphan_block(&mut self, ino: u32, at: u64) -> Result<(), MkfsError> {
        let mut block = vec![0; self.p.block_size as usize];
        let tail = block.len() - 8;
        block[tail..tail + 4].copy_from_slice(&MAGIC.to_le_bytes());
        if self.has_csum() {
            let seed = self.inode_seed(ino);
            let sum = checksum::orphan_block(seed, BlockNr(at), &block[..tail]);
            block[tail + 4..].copy_from_slice(&sum.to_le_bytes());
        }
        self.write_block(at, &block)
    }
}
