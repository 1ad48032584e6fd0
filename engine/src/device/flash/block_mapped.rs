//! The first solid-state disks: a map of whole erase blocks. A write of less than a block
//! has the rest of it read and programmed again, beside what is written.

use super::{Deed, FlashError, FlashTiming, SLC, Touch};
use std::collections::VecDeque;
use std::sync::Arc;

/// Blocks kept for copies, beyond those that the host sees.
const SPARE: u32 = 8;

/// Sizes and times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockMappedSpec {
    /// Bytes that the host sees.
    pub size: u64,
    /// Bytes of a page.
    pub page: u64,
    /// Bytes of an erase block.
    pub erase_block: u64,
    /// What the chip takes. There is one.
    pub timing: FlashTiming,
}

impl BlockMappedSpec {
    /// Pages of 4 KiB, blocks of 128 KiB, one chip of [`SLC`] (shared/devices).
    pub fn new(size: u64) -> Self {
        Self {
            size,
            page: 4096,
            erase_block: 128 << 10,
            timing: SLC,
        }
    }

    /// Whether such a device can be.
    pub fn check(&self) -> Result<(), FlashError> {
        if self.page == 0 || self.erase_block == 0 || self.size == 0 {
            return Err(FlashError::Zero("a size"));
        }
        if self.page > self.erase_block {
            return Err(FlashError::PageOverBlock {
                page: self.page,
                block: self.erase_block,
            });
        }
        if !self.erase_block.is_multiple_of(self.page) {
            return Err(FlashError::Uneven {
                part: self.page,
                whole: self.erase_block,
            });
        }
        let blocks = self.size.div_ceil(self.erase_block);
        if blocks >= u64::from(u32::MAX - SPARE) {
            return Err(FlashError::TooLarge(blocks));
        }
        Ok(())
    }
}

/// What was done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BlockMappedStats {
    /// Pages that the host wrote, in whole or in part.
    pub host_pages: u64,
    /// Pages programmed.
    pub programmed: u64,
    /// Blocks erased.
    pub erases: u64,
}

/// A block-mapped solid-state disk that has been written all over once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockMapped {
    spec: Arc<BlockMappedSpec>,
    /// Where each logical block is.
    map: Arc<Vec<u32>>,
    /// Erased blocks, the next to be used first.
    spare: VecDeque<u32>,
    /// Logical blocks that were given up as a whole: there is nothing to read in them.
    empty: imbl::OrdSet<u32>,
    stats: BlockMappedStats,
}

impl BlockMapped {
    /// A device whose blocks all hold something.
    pub fn new(spec: BlockMappedSpec) -> Result<Self, FlashError> {
        spec.check()?;
        let blocks = spec.size.div_ceil(spec.erase_block) as u32;
        Ok(Self {
            map: Arc::new((0..blocks).collect()),
            spare: (blocks..blocks + SPARE).collect(),
            empty: imbl::OrdSet::new(),
            stats: BlockMappedStats::default(),
            spec: Arc::new(spec),
        })
    }

    /// Its sizes and times.
    pub fn spec(&self) -> &BlockMappedSpec {
        &self.spec
    }

    /// What was done so far.
    pub fn stats(&self) -> BlockMappedStats {
        self.stats
    }

    /// Where a logical erase block is.
    pub fn physical(&self, block: u32) -> Option<u32> {
        self.map.get(block as usize).copied()
    }

    /// Logical erase blocks.
    pub fn blocks(&self) -> u32 {
        self.map.len() as u32
    }

    /// Erased blocks, the next to be used first.
    pub fn spare(&self) -> impl ExactSizeIterator<Item = u32> {
        self.spare.iter().copied()
    }

    /// Whether a logical erase block was given up as a whole.
    pub fn is_empty(&self, block: u32) -> bool {
        self.empty.contains(&block)
    }

    /// Does something with pieces of bytes, given as offset and length, ascending; pieces of
    /// one erase block are written together. Tells how long it takes, ns.
    pub fn access(&mut self, touch: Touch, pieces: &[(u64, u64)], deeds: &mut Vec<Deed>) -> u64 {
        match touch {
            Touch::Read => self.read(pieces),
            Touch::Discard => self.discard(pieces),
            Touch::Write => self.write(pieces, deeds),
        }
    }

    fn read(&self, pieces: &[(u64, u64)]) -> u64 {
        let pages = |&(offset, len): &(u64, u64)| {
            let (first, end) = super::pages(offset, len, self.spec.page);
            end - first
        };
        pieces.iter().map(pages).sum::<u64>() * self.spec.timing.read_out()
    }

    /// Only whole blocks are given up; what is left of others stays.
    fn discard(&mut self, pieces: &[(u64, u64)]) -> u64 {
        let size = self.spec.erase_block;
        for &(offset, len) in pieces {
            let (first, end) = (offset.div_ceil(size), (offset + len) / size);
            for block in first..end.min(self.map.len() as u64) {
                self.empty.insert(block as u32);
            }
        }
        0
    }

    fn write(&mut self, pieces: &[(u64, u64)], deeds: &mut Vec<Deed>) -> u64 {
        let size = self.spec.erase_block;
        // Which pages of which block are written, and which of them only in part.
        let mut blocks: std::collections::BTreeMap<u32, Vec<(u64, u64)>> = Default::default();
        for &(offset, len) in pieces.iter().filter(|p| p.1 > 0) {
            let (first, end) = super::pages(offset, len, size);
            for block in first..end.min(self.map.len() as u64) {
                let (from, to) = (block * size, (block + 1) * size);
                let (from, to) = (from.max(offset), to.min(offset + len));
                blocks
                    .entry(block as u32)
                    .or_default()
                    .push((from, to - from));
            }
        }
        blocks
            .iter()
            .map(|(block, pieces)| self.rewrite(*block, pieces, deeds))
            .sum()
    }

    /// Writes pieces of one block: its other pages are read, all of them programmed into an
    /// erased block, and the old one erased.
    fn rewrite(&mut self, block: u32, pieces: &[(u64, u64)], deeds: &mut Vec<Deed>) -> u64 {
        let (page, timing) = (self.spec.page, self.spec.timing);
        let per_block = self.spec.erase_block / page;
        let mut written = vec![false; per_block as usize];
        let mut partly = 0;
        for &(offset, len) in pieces {
            let (first, end) = super::pages(offset, len, page);
            partly += super::partial(offset, len, page);
            for p in first..end {
                written[(p % per_block) as usize] = true;
            }
        }
        let touched = written.iter().filter(|w| **w).count() as u64;
        let empty = self.empty.remove(&block).is_some();
        let (Some(old), Some(new)) = (self.physical(block), self.spare.pop_front()) else {
            return 0;
        };
        self.spare.push_back(old);
        if let Some(place) = Arc::make_mut(&mut self.map).get_mut(block as usize) {
            *place = new;
        }
        for (p, by_host) in (0..per_block).zip(&written) {
            if *by_host || !empty {
                deeds.push(Deed::Programmed {
                    page: u64::from(new) * per_block + p,
                    logical: u64::from(block) * per_block + p,
                    from: (!by_host).then_some(u64::from(old) * per_block + p),
                });
            }
        }
        deeds.push(Deed::Erased { block: old });
        let (read, programmed) = match empty {
            true => (0, touched),
            false => (per_block - touched + partly, per_block),
        };
        self.stats.host_pages += touched;
        self.stats.programmed += programmed;
        self.stats.erases += 1;
        read * timing.read_out() + programmed * timing.write_in() + timing.erase
    }
}
