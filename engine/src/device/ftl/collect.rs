//! Making room: opening free blocks, collecting full ones, levelling wear, breaking.

use super::{BlockState, Ftl, FtlError, Note, Sink};
use super::{FtlConfig, table::NONE};

impl FtlConfig {
    /// Which open block the collector writes a kind of data to.
    fn collector(&self, stream: u8) -> usize {
        let own = if self.two_frontiers { self.streams } else { 0 };
        usize::from(own + stream)
    }
}

impl Ftl {
    /// Sees to it that the host can program a page in an open block.
    #[inline]
    pub(super) fn make_room(&mut self, front: usize, sink: &mut impl Sink) -> Result<(), FtlError> {
        if self.fronts[front] != NONE {
            return Ok(());
        }
        self.open_or_collect(front, sink)
    }

    fn open_or_collect(&mut self, front: usize, sink: &mut impl Sink) -> Result<(), FtlError> {
        // A victim may have no page to give; each full block is tried twice at most.
        let mut tries = 2 * self.config.blocks;
        while self.fronts[front] == NONE {
            if self.free.len() as u64 > u64::from(self.config.kept_free()) {
                self.open(front);
                continue;
            }
            if tries == 0 || self.worn_out || !self.collect(sink) {
                self.worn_out = true;
                return Err(FtlError::WornOut {
                    bad: self.stats.bad_blocks,
                    blocks: self.config.blocks,
                });
            }
            tries -= 1;
        }
        Ok(())
    }

    fn open(&mut self, front: usize) -> bool {
        let Some((_, nr)) = self.free.pop_first() else {
            return false;
        };
        let block = &mut self.blocks[nr as usize];
        block.state = BlockState::Open;
        block.stream = (front % usize::from(self.config.streams)) as u8;
        self.fronts[front] = nr;
        true
    }

    /// Collects a victim; `false`: there is none, or nowhere to move its pages.
    fn collect(&mut self, sink: &mut impl Sink) -> bool {
        let blocks = &self.blocks;
        let valid = |b: u32| u32::from(blocks[b as usize].valid);
        let now = self.clock;
        let Some(victim) = self.victims.choose(now, &mut self.random, valid) else {
            return false;
        };
        let valid = self.blocks[victim as usize].valid;
        if !self.empty(victim, sink) {
            return false;
        }
        self.stats.victims[usize::from(valid)] += 1;
        self.stats.moved_pages += u64::from(valid);
        self.erase(victim, sink);
        self.level(victim, sink);
        true
    }

    /// Collects a block though nobody needs it yet; `false`: nothing is gained by it.
    pub fn collect_one(&mut self, sink: &mut impl Sink) -> bool {
        let before = self.stats.moved_pages;
        let done = self.collect(sink);
        let moved = self.stats.moved_pages - before;
        done && moved < u64::from(self.config.pages_per_block)
    }

    /// Moves a full block's valid pages away, where there is room for all of them.
    fn empty(&mut self, nr: u32, sink: &mut impl Sink) -> bool {
        let block = self.blocks[nr as usize];
        let pages = self.config.pages_per_block;
        let front = self.config.collector(block.stream);
        let open = self.fronts[front];
        let room = match open {
            NONE => 0,
            open => pages - u32::from(self.blocks[open as usize].filled),
        };
        if self.free.is_empty() && room < u32::from(block.valid) {
            return false;
        }
        self.victims.remove(nr, block.valid.into());
        self.worn.remove(&(block.erases, nr));
        let first = nr * pages;
        let mut left = block.valid;
        for page in first..first + u32::from(block.filled) {
            if left == 0 {
                break;
            }
            let logical = self.to_logical.replace(page, NONE);
            if logical == NONE {
                continue;
            }
            left -= 1;
            if self.fronts[front] == NONE {
                self.open(front);
            }
            let to = self.program(front, logical, Some(page), sink);
            self.to_physical.replace(logical, to);
        }
        self.blocks[nr as usize].valid = 0;
        true
    }

    fn erase(&mut self, nr: u32, sink: &mut impl Sink) {
        self.stats.erases += 1;
        let block = &mut self.blocks[nr as usize];
        block.erases += 1;
        block.filled = 0;
        sink.note(Note::Erased { block: nr });
        if self
            .config
            .endurance
            .is_some_and(|most| block.erases >= most)
        {
            block.state = BlockState::Bad;
            self.stats.bad_blocks += 1;
            sink.note(Note::Broke { block: nr });
        } else {
            self.set_free(nr);
        }
    }

    /// Static wear levelling: a full block that lags behind the one just erased is moved.
    fn level(&mut self, erased: u32, sink: &mut impl Sink) {
        let Some(gap) = self.config.static_wear else {
            return;
        };
        let Some(&(erases, nr)) = self.worn.first() else {
            return;
        };
        let ahead = self.blocks[erased as usize].erases.saturating_sub(erases);
        let valid = self.blocks[nr as usize].valid;
        if ahead > gap && self.empty(nr, sink) {
            self.stats.wear_pages += u64::from(valid);
            self.erase(nr, sink);
        }
    }
}
