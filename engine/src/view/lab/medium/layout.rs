//! What lies where in flash, asked alike of every kind of medium.

use super::flash::{BlockState, PageState};
use crate::device::flash::{BlockMapped, Card, Flash, Open, Ssd};
use crate::device::ftl;

/// A block, before it is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Held {
    pub(super) state: BlockState,
    /// The logical block or segment that it holds.
    pub(super) logical: Option<u32>,
    pub(super) stream: u8,
}

/// What lies where.
pub(super) enum Layout<'d> {
    Ssd(&'d Ssd),
    BlockMapped(&'d BlockMapped, Vec<Option<u32>>),
    Card(&'d Card, Vec<CardPlace>),
}

/// What a card's physical segment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum CardPlace {
    Spare,
    Holds(u32),
    /// Being filled, for a segment.
    New(u32),
}

impl<'d> Layout<'d> {
    pub(super) fn of(flash: &'d Flash) -> Self {
        match flash {
            Flash::Ssd(d) => Self::Ssd(d),
            Flash::BlockMapped(d) => {
                let mut back = vec![None; d.blocks() as usize + d.spare().len()];
                for nr in 0..d.blocks() {
                    let at = d.physical(nr).and_then(|p| back.get_mut(p as usize));
                    if let Some(at) = at {
                        *at = Some(nr);
                    }
                }
                Self::BlockMapped(d, back)
            }
            Flash::Card(d) => {
                let n = d.segments().len() + d.spare().len() + d.open().count();
                let mut places = vec![CardPlace::Spare; n];
                let mut set = |at: u32, what| {
                    if let Some(place) = places.get_mut(at as usize) {
                        *place = what;
                    }
                };
                for (nr, s) in (0..).zip(d.segments()) {
                    set(s.physical, CardPlace::Holds(nr));
                }
                for o in d.open() {
                    set(o.new, CardPlace::New(o.segment));
                }
                Self::Card(d, places)
            }
        }
    }

    pub(super) fn blocks(&self) -> u32 {
        match self {
            Self::Ssd(d) => d.ftl().blocks().len() as u32,
            Self::BlockMapped(_, back) => back.len() as u32,
            Self::Card(_, places) => places.len() as u32,
        }
    }

    pub(super) fn pages_per_block(&self) -> u32 {
        match self {
            Self::Ssd(d) => d.spec().ftl.pages_per_block,
            Self::BlockMapped(d, _) => (d.spec().erase_block / d.spec().page.max(1)) as u32,
            Self::Card(d, _) => d.spec().pages(),
        }
    }

    pub(super) fn logical_pages(&self) -> u64 {
        match self {
            Self::Ssd(d) => d.spec().ftl.logical_pages.into(),
            Self::BlockMapped(d, _) => d.spec().size / d.spec().page.max(1),
            Self::Card(d, _) => d.spec().size / d.spec().page.max(1),
        }
    }

    pub(super) fn block(&self, nr: u32) -> Held {
        let held = |state, logical| Held {
            state,
            logical,
            stream: 0,
        };
        match self {
            Self::Ssd(d) => {
                let Some(b) = d.ftl().blocks().get(nr as usize) else {
                    return held(BlockState::Bad, None);
                };
                let state = match b.state {
                    ftl::BlockState::Free => BlockState::Free,
                    ftl::BlockState::Open => BlockState::Open,
                    ftl::BlockState::Full => BlockState::Full,
                    ftl::BlockState::Bad => BlockState::Bad,
                };
                Held {
                    stream: b.stream,
                    ..held(state, None)
                }
            }
            Self::BlockMapped(_, back) => match back.get(nr as usize).copied().flatten() {
                Some(logical) => held(BlockState::Full, Some(logical)),
                None => held(BlockState::Free, None),
            },
            Self::Card(d, places) => match places.get(nr as usize) {
                Some(CardPlace::Holds(segment)) => {
                    let open = open(d, *segment).is_some();
                    let state = match () {
                        () if open => BlockState::Old,
                        () if d.is_fat(*segment) => BlockState::Fat,
                        () => BlockState::Full,
                    };
                    held(state, Some(*segment))
                }
                Some(CardPlace::New(segment)) => held(BlockState::Open, Some(*segment)),
                Some(CardPlace::Spare) | None => held(BlockState::Free, None),
            },
        }
    }

    /// What a physical page is, and which logical page it holds.
    pub(super) fn page(&self, block: u32, page: u32) -> (PageState, Option<u64>) {
        match self {
            Self::Ssd(d) => {
                let Some(b) = d.ftl().blocks().get(block as usize) else {
                    return (PageState::Bad, None);
                };
                if b.state == ftl::BlockState::Bad {
                    return (PageState::Bad, None);
                }
                if page >= u32::from(b.filled) {
                    return (PageState::Erased, None);
                }
                let physical = block * d.spec().ftl.pages_per_block + page;
                valid(d.ftl().logical(physical).map(u64::from))
            }
            Self::BlockMapped(d, back) => match back.get(block as usize).copied().flatten() {
                None => (PageState::Erased, None),
                Some(nr) if d.is_empty(nr) => (PageState::Stale, None),
                Some(nr) => {
                    let logical = u64::from(nr) * u64::from(self.pages_per_block());
                    valid(Some(logical + u64::from(page)))
                }
            },
            Self::Card(d, places) => match places.get(block as usize) {
                Some(CardPlace::Holds(segment)) => self.held_page(d, *segment, page),
                Some(CardPlace::New(segment)) => self.new_page(d, *segment, page),
                Some(CardPlace::Spare) | None => (PageState::Erased, None),
            },
        }
    }

    /// A page of a segment's old place: the last that was programmed for each page counts.
    fn held_page(&self, card: &Card, segment: u32, place: u32) -> (PageState, Option<u64>) {
        let Some(s) = card.segments().get(segment as usize) else {
            return (PageState::Erased, None);
        };
        if s.erased {
            return (PageState::Erased, None);
        }
        let page = match &s.places {
            None => Some(place),
            Some(places) => {
                let found = places.iter().position(|p| u32::from(*p) == place);
                found.and_then(|p| u32::try_from(p).ok())
            }
        };
        let newer = open(card, segment).is_some_and(|o| {
            page.is_some_and(|page| o.slots.iter().any(|s| u32::from(*s) == page))
        });
        let first = u64::from(segment) * u64::from(card.spec().pages());
        valid(page.filter(|_| !newer).map(|p| first + u64::from(p)))
    }

    fn new_page(&self, card: &Card, segment: u32, place: u32) -> (PageState, Option<u64>) {
        let Some(o) = open(card, segment).filter(|o| place < o.fill) else {
            return (PageState::Erased, None);
        };
        let Some(slot) = o.slots.get(place as usize).copied() else {
            return (PageState::Erased, None);
        };
        let later = o.slots.iter().skip(place as usize + 1);
        let newest = u32::from(slot) < card.spec().pages() && !later.clone().any(|s| *s == slot);
        let first = u64::from(segment) * u64::from(card.spec().pages());
        valid(newest.then(|| first + u64::from(slot)))
    }
}

fn valid(logical: Option<u64>) -> (PageState, Option<u64>) {
    match logical {
        Some(_) => (PageState::Valid, logical),
        None => (PageState::Stale, None),
    }
}

fn open(card: &Card, segment: u32) -> Option<&Open> {
    card.open().find(|o| o.segment == segment)
}
