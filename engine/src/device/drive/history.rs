//! Which write each page of flash comes from: what the medium itself does not know.

use super::{Deed, PIECE};
use crate::event::EventId;
use crate::units::SimTime;
use std::collections::BTreeMap;

/// Where a logical page's contents come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The event that the write followed from.
    pub cause: Option<EventId>,
    /// When it was programmed first.
    pub at: SimTime,
    /// How often it was copied since.
    pub moves: u32,
}

/// What was done to flash so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FlashTotals {
    /// Pages programmed.
    pub programmed: u64,
    /// Of those, pages that were copied.
    pub copied: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Erases of the block that was erased most.
    pub most_erases: u32,
}

impl FlashTotals {
    /// Pages programmed for each that the host wrote, in thousandths; 0 before the first.
    pub fn amplification(&self) -> u64 {
        let host = self.programmed - self.copied;
        (self.programmed * 1000).checked_div(host).unwrap_or(0)
    }
}

/// The past of a medium of flash.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// By logical page.
    pages: imbl::OrdMap<u64, Origin>,
    /// By block.
    erases: imbl::OrdMap<u32, u32>,
    totals: FlashTotals,
    /// Writes whose bytes are in the cache, by piece.
    writers: imbl::OrdMap<u64, EventId>,
}

/// Whom pages are written for.
#[derive(Clone, Debug, Default)]
pub(super) struct Causes {
    /// Of pages that nothing else is known of.
    pub(super) usual: Option<EventId>,
    /// Of pieces.
    pub(super) pieces: BTreeMap<u64, EventId>,
}

impl Causes {
    pub(super) fn one(usual: Option<EventId>) -> Self {
        Self {
            usual,
            pieces: BTreeMap::new(),
        }
    }

    /// Of bytes of the drive.
    fn of(&self, from: u64, to: u64) -> Option<EventId> {
        let mut within = self.pieces.range(from / PIECE..to.div_ceil(PIECE));
        within.next().map(|p| *p.1).or(self.usual)
    }

    /// Of what a medium did, which has pages of so many bytes, `start` bytes before the
    /// drive's first.
    pub(super) fn of_deed(&self, deed: &Deed, page: u64, start: u64) -> Option<EventId> {
        let Deed::Programmed {
            logical,
            from: None,
            ..
        } = deed
        else {
            let first = self.pieces.values().next();
            return self.usual.or(first.copied());
        };
        let at = logical.saturating_mul(page);
        let end = at.saturating_add(page).saturating_sub(start);
        self.of(at.saturating_sub(start), end)
    }
}

impl History {
    /// Bytes came into the cache.
    pub(super) fn cached(&mut self, piece: u64, cause: Option<EventId>) {
        match cause {
            Some(cause) => self.writers.insert(piece, cause),
            None => self.writers.remove(&piece),
        };
    }

    /// Pieces leave the cache; whose they were.
    pub(super) fn leave(&mut self, runs: &[(u64, u64)], usual: Option<EventId>) -> Causes {
        let mut causes = Causes::one(usual);
        for &(offset, len) in runs {
            for piece in offset / PIECE..offset.saturating_add(len).div_ceil(PIECE) {
                if let Some(cause) = self.writers.remove(&piece) {
                    causes.pieces.insert(piece, cause);
                }
            }
        }
        causes
    }

    /// Takes down what the medium did.
    pub(super) fn note(&mut self, deed: &Deed, cause: Option<EventId>, at: SimTime) {
        let t = &mut self.totals;
        match *deed {
            Deed::Programmed { logical, from, .. } => {
                t.programmed += 1;
                t.copied += u64::from(from.is_some());
                let before = from.and_then(|_| self.pages.get(&logical).copied());
                let origin = match before {
                    Some(o) => Origin {
                        moves: o.moves.saturating_add(1),
                        ..o
                    },
                    None => Origin {
                        cause: cause.filter(|_| from.is_none()),
                        at,
                        moves: u32::from(from.is_some()),
                    },
                };
                self.pages.insert(logical, origin);
            }
            Deed::Erased { block } => {
                let n = self.erases.get(&block).map_or(1, |n| n.saturating_add(1));
                self.erases.insert(block, n);
                t.erases += 1;
                t.most_erases = t.most_erases.max(n);
            }
            Deed::Broke { .. } => {}
        }
    }

    pub(super) fn origin(&self, logical: u64) -> Option<Origin> {
        self.pages.get(&logical).copied()
    }

    pub(super) fn erases(&self, block: u32) -> u32 {
        self.erases.get(&block).copied().unwrap_or(0)
    }

    pub(super) fn totals(&self) -> FlashTotals {
        self.totals
    }
}
