//! SD cards and USB sticks: large segments, few of which can be open for writing at a time.
//! To write in another one means to close one: copying what is missing in it.

mod spec;
mod write;

pub use spec::{CardSpec, Collector, NAMES};

use super::{Deed, FlashError, Touch};
use std::collections::VecDeque;
use std::sync::Arc;

/// A segment as the host sees it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Where its contents are.
    pub physical: u32,
    /// Nothing is in it: it was given up as a whole.
    pub erased: bool,
    /// Where in it each page is, and [`NOWHERE`] for those that are not; `None`: in order.
    pub places: Option<Arc<[u16]>>,
}

/// "In no place".
pub const NOWHERE: u16 = u16::MAX;

impl Segment {
    fn in_place(physical: u32) -> Self {
        Self {
            physical,
            erased: false,
            places: None,
        }
    }

    /// Which of the flash's pages holds a page of the segment, of `pages` pages.
    pub fn page(&self, page: u32, pages: u32) -> Option<u64> {
        if self.erased {
            return None;
        }
        let place = match &self.places {
            None => page,
            Some(places) => match places.get(page as usize) {
                Some(&place) if place != NOWHERE => place.into(),
                _ => return None,
            },
        };
        Some(u64::from(self.physical) * u64::from(pages) + u64::from(place))
    }
}

/// A segment that is open for writing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    /// Which.
    pub segment: u32,
    /// Where new pages go.
    pub new: u32,
    /// Pages programmed there.
    pub fill: u32,
    /// Which logical page of the segment each of them is.
    pub slots: Vec<u16>,
    /// Where the last write ended: going on there in the same page is going on.
    tail: u64,
}

/// What was done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CardStats {
    /// Pages that the host wrote, in whole or in part.
    pub host_pages: u64,
    /// Pages copied.
    pub copied: u64,
    /// Segments erased.
    pub erases: u64,
    /// Segments closed.
    pub closed: u64,
}

/// A card.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Card {
    spec: Arc<CardSpec>,
    segments: Arc<Vec<Segment>>,
    /// Open segments, the one used longest ago first.
    open: VecDeque<Open>,
    /// Open segments of the FAT area.
    fat: VecDeque<Open>,
    /// Erased segments, the next to be used first.
    spare: VecDeque<u32>,
    stats: CardStats,
}

impl Card {
    /// A card whose segments all hold something.
    pub fn new(spec: CardSpec) -> Result<Self, FlashError> {
        spec.check()?;
        let segments = spec.segments() as u32;
        let spare = spec.open + spec.fat_segments + 4;
        Ok(Self {
            segments: Arc::new((0..segments).map(Segment::in_place).collect()),
            open: VecDeque::new(),
            fat: VecDeque::new(),
            spare: (segments..segments.saturating_add(spare)).collect(),
            stats: CardStats::default(),
            spec: Arc::new(spec),
        })
    }

    /// Sizes, rules and times.
    pub fn spec(&self) -> &CardSpec {
        &self.spec
    }

    /// What was done so far.
    pub fn stats(&self) -> CardStats {
        self.stats
    }

    /// A segment.
    pub fn segment(&self, nr: u32) -> Option<Segment> {
        self.segments.get(nr as usize).cloned()
    }

    /// Open segments: those of the FAT area, then the others, the one used longest ago
    /// first.
    pub fn open(&self) -> impl Iterator<Item = &Open> {
        self.fat.iter().chain(&self.open)
    }

    /// Segments, as the host sees them, in order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Erased segments, the next to be used first.
    pub fn spare(&self) -> impl ExactSizeIterator<Item = u32> {
        self.spare.iter().copied()
    }

    /// Whether a segment is of the FAT area.
    pub fn is_fat(&self, segment: u32) -> bool {
        segment < self.spec.fat_segments
    }

    /// Does something with pieces of bytes; tells how long it takes, ns.
    pub fn access(&mut self, touch: Touch, pieces: &[(u64, u64)], deeds: &mut Vec<Deed>) -> u64 {
        let each = |&(offset, len): &(u64, u64)| match touch {
            Touch::Read => self.read(offset, len),
            Touch::Write => self.write(offset, len, deeds),
            Touch::Discard => self.discard(offset, len, deeds),
        };
        pieces.iter().map(each).sum::<u64>()
    }

    fn read(&self, offset: u64, len: u64) -> u64 {
        let s = &*self.spec;
        let (first, end) = super::pages(offset, len, s.page);
        let mut time = s.command + len.saturating_mul(s.read_byte) / 1000;
        // Pages lie in pairs on two planes.
        let pairs = end.div_ceil(2) - first / 2;
        let seconds = (end - first).saturating_sub(pairs);
        time += pairs * s.pair_load + seconds * s.second_load;
        time += if first % 2 == 1 { s.slow_page } else { 0 };
        let (first, end) = super::pages(offset, len, s.segment);
        time += (end - first).saturating_sub(1) * s.segment_load;
        let nr = first.min(u64::from(u32::MAX)) as u32;
        let is_open = self.open().any(|o| o.segment == nr);
        if self.is_fat(nr) {
            time += s.fat_slower;
        } else if is_open {
            time = time.saturating_sub(s.open_faster);
        } else if self.segment(nr).is_some_and(|s| s.erased) {
            time = time.saturating_sub(s.erased_faster);
        }
        time
    }

    /// Only whole segments are given up; what is left of others stays, and costs what it
    /// did.
    fn discard(&mut self, offset: u64, len: u64, deeds: &mut Vec<Deed>) -> u64 {
        let size = self.spec.segment;
        let (first, end) = (offset.div_ceil(size), (offset + len) / size);
        let mut time = 0;
        for nr in first..end.min(self.segments.len() as u64) {
            time += self.give_up(nr as u32, deeds);
        }
        time
    }
}
