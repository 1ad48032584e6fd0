//! A flash translation layer with a page map: any logical page can be on any physical one;
//! writes go to open blocks, and full blocks are collected for the valid pages in them.
//!
//! Plain data: a clone shares its maps until one of the two changes them. It knows no time
//! but the count of pages that the host wrote.

mod collect;
mod config;
mod random;
mod recent;
mod table;
pub mod theory;
mod victims;
pub mod wa;

pub use config::{FtlConfig, FtlError, Policy};
pub use random::Random;
pub use recent::Recent;
pub use table::NONE;

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use table::Table;
use victims::Victims;

/// What happened to the flash, in its order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Note {
    /// A page was programmed.
    Programmed {
        /// The physical page.
        page: u32,
        /// The logical page that it holds.
        logical: u32,
        /// The physical page that it was moved from; `None`: the host wrote it.
        from: Option<u32>,
    },
    /// A block was erased.
    Erased {
        /// The block.
        block: u32,
    },
    /// A block broke.
    Broke {
        /// The block.
        block: u32,
    },
}

/// Who wants to know what happens. `()` does not, and costs nothing.
pub trait Sink {
    /// Something happened.
    fn note(&mut self, note: Note);
}

impl Sink for () {
    #[inline]
    fn note(&mut self, _: Note) {}
}

impl Sink for Vec<Note> {
    fn note(&mut self, note: Note) {
        self.push(note);
    }
}

/// What a block is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum BlockState {
    /// Erased.
    Free,
    /// Being filled.
    Open,
    /// Filled.
    Full,
    /// Broken: never used again.
    Bad,
}

/// A block of flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Pages that hold what the host last wrote.
    pub valid: u16,
    /// Pages that were programmed since the last erase.
    pub filled: u16,
    /// Which kind of data it holds.
    pub stream: u8,
    /// What it is.
    pub state: BlockState,
    /// How often it was erased.
    pub erases: u32,
}

/// What was done so far.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FtlStats {
    /// Pages that the host wrote.
    pub host_pages: u64,
    /// Pages that the collector moved.
    pub moved_pages: u64,
    /// Pages that wear levelling moved.
    pub wear_pages: u64,
    /// Pages that the host gave up.
    pub trimmed_pages: u64,
    /// Erases.
    pub erases: u64,
    /// Broken blocks.
    pub bad_blocks: u32,
    /// Of victims, how many had so many valid pages.
    pub victims: Vec<u64>,
}

impl FtlStats {
    /// Pages that were programmed.
    pub fn programmed(&self) -> u64 {
        self.host_pages + self.moved_pages + self.wear_pages
    }

    /// Pages programmed for each that the host wrote.
    pub fn write_amplification(&self) -> f64 {
        self.programmed() as f64 / (self.host_pages.max(1)) as f64
    }
}

/// A page-mapped translation layer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ftl {
    config: FtlConfig,
    to_physical: Table,
    to_logical: Table,
    blocks: Vec<Block>,
    victims: Victims,
    /// Free blocks, the next to be used first.
    free: BTreeSet<(u64, u32)>,
    /// Open blocks: one a stream for the host, and behind them one a stream for the
    /// collector where it has its own.
    fronts: Vec<u32>,
    /// Full blocks by their erases, kept where static wear levelling asks.
    worn: BTreeSet<(u32, u32)>,
    random: Random,
    /// Pages that the host ever wrote: the layer's clock.
    clock: u64,
    /// Counts blocks that became free.
    freed: u64,
    stats: FtlStats,
    /// Nothing can be written any more.
    worn_out: bool,
}

impl Ftl {
    /// A fresh one: nothing is mapped, every block is free.
    pub fn new(config: FtlConfig) -> Result<Self, FtlError> {
        config.check()?;
        let block = Block {
            valid: 0,
            filled: 0,
            stream: 0,
            state: BlockState::Free,
            erases: 0,
        };
        let fronts = usize::from(config.streams) * if config.two_frontiers { 2 } else { 1 };
        let mut ftl = Self {
            to_physical: Table::new(config.logical_pages),
            to_logical: Table::new(config.blocks * config.pages_per_block),
            blocks: vec![block; config.blocks as usize],
            victims: Victims::new(config.policy, config.blocks, config.pages_per_block),
            free: BTreeSet::new(),
            fronts: vec![NONE; fronts],
            worn: BTreeSet::new(),
            random: Random::new(config.seed),
            clock: 0,
            freed: 0,
            stats: FtlStats {
                victims: vec![0; config.pages_per_block as usize + 1],
                ..FtlStats::default()
            },
            worn_out: false,
            config,
        };
        ftl.break_some();
        for nr in 0..ftl.config.blocks {
            if ftl.blocks[nr as usize].state == BlockState::Free {
                ftl.set_free(nr);
            }
        }
        Ok(ftl)
    }

    /// Breaks as many blocks as the configuration says were broken when it was made.
    fn break_some(&mut self) {
        while self.stats.bad_blocks < self.config.bad_blocks {
            let nr = self.random.below(self.config.blocks) as usize;
            if self.blocks[nr].state == BlockState::Free {
                self.blocks[nr].state = BlockState::Bad;
                self.stats.bad_blocks += 1;
            }
        }
    }

    /// Its sizes and rules.
    pub fn config(&self) -> &FtlConfig {
        &self.config
    }

    /// What was done so far.
    pub fn stats(&self) -> &FtlStats {
        &self.stats
    }

    /// Forgets what was done so far: counting begins anew. Blocks stay as worn as they are.
    pub fn restart_stats(&mut self) {
        let s = &mut self.stats;
        *s = FtlStats {
            bad_blocks: s.bad_blocks,
            victims: vec![0; s.victims.len()],
            ..FtlStats::default()
        };
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Free blocks.
    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    /// Where a logical page is.
    pub fn physical(&self, logical: u32) -> Option<u32> {
        let page = self.to_physical.get(logical);
        (page != NONE && logical < self.config.logical_pages).then_some(page)
    }

    /// Which logical page a physical page holds; `None`: it is free, or what it holds is out
    /// of date.
    pub fn logical(&self, physical: u32) -> Option<u32> {
        let page = self.to_logical.get(physical);
        (page != NONE).then_some(page)
    }

    /// Whether nothing can be written any more.
    pub fn is_worn_out(&self) -> bool {
        self.worn_out
    }

    fn in_range(&self, logical: u32) -> Result<(), FtlError> {
        if logical < self.config.logical_pages {
            return Ok(());
        }
        Err(FtlError::PastEnd {
            page: logical,
            pages: self.config.logical_pages,
        })
    }

    /// The host writes a page, of a kind of data (0 where kinds are not kept apart). Tells
    /// the physical page.
    pub fn write(
        &mut self,
        logical: u32,
        stream: u8,
        sink: &mut impl Sink,
    ) -> Result<u32, FtlError> {
        self.in_range(logical)?;
        let front = usize::from(stream.min(self.config.streams - 1));
        self.make_room(front, sink)?;
        self.stats.host_pages += 1;
        self.clock += 1;
        let page = self.program(front, logical, None, sink);
        let old = self.to_physical.replace(logical, page);
        if old != NONE {
            self.invalidate(old);
        }
        Ok(page)
    }

    /// The host needs a page no longer.
    pub fn trim(&mut self, logical: u32) -> Result<(), FtlError> {
        self.in_range(logical)?;
        let old = self.to_physical.replace(logical, NONE);
        if old != NONE {
            self.stats.trimmed_pages += 1;
            self.invalidate(old);
        }
        Ok(())
    }

    /// Programs the next page of an open block, which has one.
    #[inline]
    fn program(
        &mut self,
        front: usize,
        logical: u32,
        from: Option<u32>,
        sink: &mut impl Sink,
    ) -> u32 {
        let nr = self.fronts[front];
        let block = &mut self.blocks[nr as usize];
        let page = nr * self.config.pages_per_block + u32::from(block.filled);
        block.filled += 1;
        block.valid += 1;
        self.to_logical.replace(page, logical);
        sink.note(Note::Programmed {
            page,
            logical,
            from,
        });
        if u32::from(block.filled) == self.config.pages_per_block {
            self.close(front);
        }
        page
    }

    /// An open block is full.
    fn close(&mut self, front: usize) {
        let nr = std::mem::replace(&mut self.fronts[front], NONE);
        let block = &mut self.blocks[nr as usize];
        block.state = BlockState::Full;
        self.victims.insert(nr, block.valid.into(), self.clock);
        if self.config.static_wear.is_some() {
            self.worn.insert((block.erases, nr));
        }
    }

    #[inline]
    fn invalidate(&mut self, page: u32) {
        self.to_logical.replace(page, NONE);
        let nr = page / self.config.pages_per_block;
        let block = &mut self.blocks[nr as usize];
        block.valid -= 1;
        if block.state == BlockState::Full {
            self.victims.lost_page(nr, block.valid.into());
        }
    }

    fn set_free(&mut self, nr: u32) {
        let block = &mut self.blocks[nr as usize];
        block.state = BlockState::Free;
        self.freed += 1;
        let rank = match self.config.dynamic_wear {
            true => u64::from(block.erases),
            false => self.freed,
        };
        self.free.insert((rank, nr));
    }
}
