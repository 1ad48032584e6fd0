//! Writing to a card: opening segments, filling them, closing them.

use super::{Card, Collector, Deed, NOWHERE, Open, Segment};
use std::collections::VecDeque;
use std::sync::Arc;

impl Open {
    /// Pages of the segment that are not in the new one.
    fn missing(&self, pages: u32) -> Vec<u32> {
        let mut there = vec![false; pages as usize];
        for &page in &self.slots {
            if let Some(there) = there.get_mut(usize::from(page)) {
                *there = true;
            }
        }
        (0..pages)
            .zip(there)
            .filter(|(_, t)| !t)
            .map(|(p, _)| p)
            .collect()
    }

    /// Whether all of the segment is in the new one, in its order.
    fn is_whole(&self, pages: u32) -> bool {
        self.fill == pages && (0..).zip(&self.slots).all(|(i, &p)| p == i)
    }
}

impl Card {
    pub(super) fn write(&mut self, offset: u64, len: u64, deeds: &mut Vec<Deed>) -> u64 {
        let (page, end) = (
            self.spec.page,
            offset.saturating_add(len).min(self.spec.size),
        );
        let mut time = self.spec.command;
        let mut at = offset;
        while at < end {
            let next = ((at / page + 1) * page).min(end);
            time += self.write_page(at, next, deeds);
            at = next;
        }
        time
    }

    /// Writes in one page.
    fn write_page(&mut self, from: u64, to: u64, deeds: &mut Vec<Deed>) -> u64 {
        let (segment_size, page_size) = (self.spec.segment, self.spec.page);
        let nr = (from / segment_size) as u32;
        let page = (from % segment_size / page_size) as u32;
        let mut time = self.open_segment(nr, deeds);
        if !from.is_multiple_of(page_size) && self.current(nr).is_some_and(|o| o.tail == from) {
            // The page is still in the register: it goes on.
            time += self.spec.program * (to - from) / page_size;
            self.note_tail(nr, to);
            return time;
        }
        if to - from < page_size {
            time += self.spec.pair_load;
        }
        let collector = match self.is_fat(nr) {
            true => Collector::Log,
            false => self.spec.collector,
        };
        time += match collector {
            Collector::Linear => self.forward_to(nr, page, deeds),
            Collector::Remap | Collector::Log => self.room(nr, deeds),
        };
        self.stats.host_pages += 1;
        time += self.spec.program;
        self.put(nr, page, None, deeds);
        self.note_tail(nr, to);
        time
    }

    fn list(&mut self, nr: u32) -> &mut VecDeque<Open> {
        match self.is_fat(nr) {
            true => &mut self.fat,
            false => &mut self.open,
        }
    }

    fn current(&self, nr: u32) -> Option<&Open> {
        self.open().find(|o| o.segment == nr)
    }

    fn note_tail(&mut self, nr: u32, to: u64) {
        if let Some(o) = self.list(nr).back_mut() {
            o.tail = to;
        }
    }

    /// Sees to it that a segment is open, and the last of its list.
    fn open_segment(&mut self, nr: u32, deeds: &mut Vec<Deed>) -> u64 {
        let fat = self.is_fat(nr);
        if let Some(i) = self.list(nr).iter().position(|o| o.segment == nr) {
            let list = self.list(nr);
            if let Some(o) = list.remove(i) {
                list.push_back(o);
            }
            return 0;
        }
        let mut time = 0;
        if !fat
            && self.open.len() >= self.spec.open as usize
            && let Some(oldest) = self.open.pop_front()
        {
            time += self.close(oldest, deeds);
        }
        if let Some(new) = self.spare.pop_front() {
            self.list(nr).push_back(Open {
                segment: nr,
                new,
                fill: 0,
                slots: Vec::new(),
                tail: u64::MAX,
            });
        }
        time
    }

    /// Programs a page of the last open segment.
    fn put(&mut self, nr: u32, page: u32, from: Option<u64>, deeds: &mut Vec<Deed>) {
        let pages = u64::from(self.spec.pages());
        let Some(o) = self.list(nr).back_mut() else {
            return;
        };
        deeds.push(Deed::Programmed {
            page: u64::from(o.new) * pages + u64::from(o.fill),
            logical: u64::from(nr) * pages + u64::from(page),
            from,
        });
        o.slots.push(u16::try_from(page).unwrap_or(NOWHERE));
        o.fill += 1;
    }

    /// Copies a page from where the segment's contents are.
    fn copy(&mut self, nr: u32, page: u32, deeds: &mut Vec<Deed>) -> u64 {
        let pages = self.spec.pages();
        match self.segment(nr).and_then(|s| s.page(page, pages)) {
            Some(from) => {
                self.put(nr, page, Some(from), deeds);
                self.stats.copied += 1;
                self.spec.copy
            }
            None => {
                // Nothing is in it: the place is passed over.
                if let Some(o) = self.list(nr).back_mut() {
                    o.slots.push(NOWHERE);
                    o.fill += 1;
                }
                0
            }
        }
    }

    /// Linear access: the segment is filled up to a page. To go back means to close it and
    /// to begin anew.
    fn forward_to(&mut self, nr: u32, page: u32, deeds: &mut Vec<Deed>) -> u64 {
        let mut time = 0;
        let fill = self.current(nr).map_or(0, |o| o.fill);
        if page < fill {
            time += self.reopen(nr, deeds);
        }
        let fill = self.current(nr).map_or(0, |o| o.fill);
        for skipped in fill..page {
            time += self.copy(nr, skipped, deeds);
        }
        time
    }

    /// Any order: when the new segment is full, it is closed and another one begun.
    fn room(&mut self, nr: u32, deeds: &mut Vec<Deed>) -> u64 {
        let pages = self.spec.pages();
        match self.current(nr) {
            Some(o) if o.fill >= pages => self.reopen(nr, deeds),
            _ => 0,
        }
    }

    fn reopen(&mut self, nr: u32, deeds: &mut Vec<Deed>) -> u64 {
        let Some(o) = self.list(nr).pop_back() else {
            return 0;
        };
        self.close(o, deeds) + self.open_segment(nr, deeds)
    }

    /// Closes a segment: all of its pages come together in one physical segment.
    fn close(&mut self, mut o: Open, deeds: &mut Vec<Deed>) -> u64 {
        self.stats.closed += 1;
        let pages = self.spec.pages();
        let old = self.segment(o.segment);
        let has = |page: &u32| old.as_ref().is_some_and(|s| s.page(*page, pages).is_some());
        let missing: Vec<u32> = o.missing(pages).into_iter().filter(has).collect();
        let by_log = self.is_fat(o.segment) || self.spec.collector == Collector::Log;
        let fits = o.fill as usize + missing.len() <= pages as usize;
        let mut time = 0;
        if o.is_whole(pages) || (fits && !by_log) {
            for page in missing {
                time += self.carry(&mut o, page, deeds);
            }
        } else {
            time += self.merge(&mut o, deeds);
        }
        time + self.take_over(o, deeds)
    }

    /// The newest of each page goes into a third segment, from log or old segment.
    fn merge(&mut self, o: &mut Open, deeds: &mut Vec<Deed>) -> u64 {
        let pages = self.spec.pages();
        let Some(third) = self.spare.pop_front() else {
            return 0;
        };
        let log = std::mem::replace(&mut o.new, third);
        let mut slots = vec![None; pages as usize];
        for (slot, &page) in (0u64..).zip(&o.slots) {
            if let Some(place) = slots.get_mut(usize::from(page)) {
                *place = Some(slot);
            }
        }
        o.slots.clear();
        o.fill = 0;
        let mut time = 0;
        for (page, slot) in (0..pages).zip(slots) {
            time += match slot {
                Some(slot) => {
                    let from = u64::from(log) * u64::from(pages) + slot;
                    self.place(o, page, from, deeds)
                }
                None => self.carry(o, page, deeds),
            };
        }
        time + self.erase(log, deeds)
    }

    /// The new segment takes the old one's place, which is erased.
    fn take_over(&mut self, o: Open, deeds: &mut Vec<Deed>) -> u64 {
        let pages = self.spec.pages();
        let places = (!o.is_whole(pages)).then(|| {
            let mut places = vec![NOWHERE; pages as usize];
            for (slot, &page) in (0u16..).zip(&o.slots) {
                if let Some(place) = places.get_mut(usize::from(page)) {
                    *place = slot;
                }
            }
            Arc::from(places)
        });
        let Some(segment) = Arc::make_mut(&mut self.segments).get_mut(o.segment as usize) else {
            return 0;
        };
        let new = Segment {
            physical: o.new,
            erased: false,
            places,
        };
        let old = std::mem::replace(segment, new);
        if old.erased {
            self.spare.push_back(old.physical);
            return 0;
        }
        self.erase(old.physical, deeds)
    }

    /// A page that is missing in the new segment comes from the old one, if that has any.
    fn carry(&mut self, o: &mut Open, page: u32, deeds: &mut Vec<Deed>) -> u64 {
        let pages = self.spec.pages();
        match self.segment(o.segment).and_then(|s| s.page(page, pages)) {
            Some(from) => self.place(o, page, from, deeds),
            None => 0,
        }
    }

    fn place(&mut self, o: &mut Open, page: u32, from: u64, deeds: &mut Vec<Deed>) -> u64 {
        let pages = u64::from(self.spec.pages());
        deeds.push(Deed::Programmed {
            page: u64::from(o.new) * pages + u64::from(o.fill),
            logical: u64::from(o.segment) * pages + u64::from(page),
            from: Some(from),
        });
        o.slots.push(u16::try_from(page).unwrap_or(NOWHERE));
        o.fill += 1;
        self.stats.copied += 1;
        self.spec.copy
    }

    fn erase(&mut self, physical: u32, deeds: &mut Vec<Deed>) -> u64 {
        self.stats.erases += 1;
        deeds.push(Deed::Erased { block: physical });
        self.spare.push_back(physical);
        self.spec.erase
    }

    /// A whole segment is given up: it is closed without a copy, and erased.
    pub(super) fn give_up(&mut self, nr: u32, deeds: &mut Vec<Deed>) -> u64 {
        let mut time = 0;
        let at = self.list(nr).iter().position(|o| o.segment == nr);
        if let Some(o) = at.and_then(|i| self.list(nr).remove(i)) {
            time += self.erase(o.new, deeds);
        }
        match Arc::make_mut(&mut self.segments).get_mut(nr as usize) {
            Some(s) if !s.erased => s.erased = true,
            _ => return time,
        }
        // The physical segment stays its own: it is erased in place.
        self.stats.erases += 1;
        let physical = self.segment(nr).map_or(0, |s| s.physical);
        deeds.push(Deed::Erased { block: physical });
        time + self.spec.erase
    }
}
