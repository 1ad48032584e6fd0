//! A run that can be scrubbed.
//!
//! Kept are copies of the machine at some instants, which share what did not change between
//! them, and a byte for each event. Everything else is made again when it is asked for: the
//! nearest copy is taken and stepped forward. The state at an event is the state after the
//! step that the event belongs to.

mod condition;
mod export;
mod index;

pub use condition::{BadCondition, Condition};
pub use export::{block_trace, counters_csv};
pub use index::Index;

use crate::device::Drive;
use crate::event::{Event, Kind};
use crate::machine::{End, Gauges, Machine, MachineError};
use crate::scenario::{ProcessSpec, Scenario};
use crate::units::SimTime;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

/// Bytes that a recording may take.
const BUDGET: u64 = 256 << 20;
/// Copies of the machine that are kept at most; then every other one is given up.
const MAX_COPIES: usize = 512;
/// Events between two copies at first.
const FIRST_INTERVAL: u64 = 500;
/// What a copy is taken to cost beside contents that were written meanwhile, bytes.
const COPY_COST: u64 = 32 << 10;
/// What an event between two copies is taken to add to the later one, bytes: nodes of
/// shared trees that the two no longer share.
const EVENT_COST: u64 = 160;
/// Samples of the gauges that are kept at most.
const MAX_SAMPLES: usize = 4096;

/// A copy of the machine, before the event with this number.
#[derive(Clone, Debug)]
struct Copy {
    event: u64,
    cost: u64,
    machine: Machine,
}

/// A run, as far as it was recorded.
#[derive(Clone, Debug)]
pub struct Recording {
    copies: Vec<Copy>,
    /// Events from before the first copy: those of the mount.
    opening: Vec<Event>,
    /// Events between two copies.
    interval: u64,
    index: Index,
    samples: Vec<Gauges>,
    /// Simulated time between two samples, ns.
    sample_every: u64,
    hash: Hash,
    /// Where the recording has got to.
    head: Machine,
    /// Bytes written and events made when the last copy was taken.
    copied: (u64, u64),
}

/// The hash of all events so far.
#[derive(Clone)]
struct Hash(Xxh3);

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0.digest())
    }
}

/// An instant of a recording.
#[derive(Clone, Debug)]
pub struct Instant {
    /// The event that was asked for; the last one where that was past the end.
    pub event: u64,
    /// The machine after the step that the event belongs to.
    pub machine: Machine,
    /// The events of that step.
    pub events: Vec<Event>,
}

/// A machine that goes through a recording once more.
struct Walk {
    machine: Machine,
}

impl Walk {
    /// The number of the next event.
    fn position(&self) -> u64 {
        self.machine.next_event()
    }

    /// Steps up to an event; nothing is kept on the way.
    fn skip_to(&mut self, event: u64) {
        self.machine.keep_events(false);
        while self.position() < event && self.machine.step() {}
        self.machine.keep_events(true);
    }

    /// Steps until there are events up to, not including, this one, and gives them.
    fn until(&mut self, end: u64) -> Vec<Event> {
        while self.position() < end && self.machine.step() {}
        self.machine.take_events()
    }

    /// The first event of a step, between two numbers, for which a condition holds.
    fn holds(&mut self, condition: &Condition, range: (u64, u64)) -> Option<u64> {
        self.matching(condition, range).first().copied()
    }

    fn last_that_holds(&mut self, condition: &Condition, range: (u64, u64)) -> Option<u64> {
        self.matching(condition, range).last().copied()
    }

    fn matching(&mut self, condition: &Condition, (from, to): (u64, u64)) -> Vec<u64> {
        let wants = condition.wants_gauges();
        let before = wants.then(|| self.machine.gauges());
        let events = self.until(to);
        let after = wants.then(|| self.machine.gauges());
        let gauges = before.as_ref().zip(after.as_ref());
        let all = events.iter().filter(|e| (from..to).contains(&e.id.0));
        all.filter(|e| condition.holds(e, gauges))
            .map(|e| e.id.0)
            .collect()
    }
}

impl Recording {
    /// A run at its start: the filesystem is made and mounted.
    pub fn new(scenario: Arc<Scenario>) -> Result<Self, MachineError> {
        Ok(Self::of(Machine::new(scenario)?))
    }

    /// A run that goes on from a machine.
    pub fn of(mut machine: Machine) -> Self {
        let first = machine.take_events();
        let mut recording = Self {
            copies: Vec::new(),
            opening: Vec::new(),
            interval: FIRST_INTERVAL,
            index: Index::new(machine.next_event() - first.len() as u64),
            samples: Vec::new(),
            sample_every: 1_000_000,
            hash: Hash(Xxh3::new()),
            copied: (0, 0),
            head: machine,
        };
        recording.note(&first);
        recording.opening = first;
        recording.copy();
        recording.samples.push(recording.head.gauges());
        recording
    }

    /// Goes on until about `events` more events were made, or to the end; whether there is
    /// more to come.
    pub fn record(&mut self, events: u64) -> bool {
        self.record_watched(events, &mut |_, _| {})
    }

    /// The same, telling of every step: the machine after it, and its events.
    pub fn record_watched(
        &mut self,
        events: u64,
        watch: &mut dyn FnMut(&Machine, &[Event]),
    ) -> bool {
        let until = self.len().saturating_add(events);
        while self.len() < until {
            if !self.step(watch) {
                return false;
            }
        }
        true
    }

    fn step(&mut self, watch: &mut dyn FnMut(&Machine, &[Event])) -> bool {
        if !self.head.step() {
            return false;
        }
        let events = self.head.take_events();
        self.note(&events);
        watch(&self.head, &events);
        let last = self.copies.last().map_or(0, |c| c.event);
        if self.len() - last >= self.interval {
            self.copy();
        }
        self.sample();
        true
    }

    fn note(&mut self, events: &[Event]) {
        let mut bytes = [0; 512];
        for event in events {
            self.index.push(event);
            match postcard::to_slice(event, &mut bytes) {
                Ok(short) => self.hash.0.update(short),
                // Longer ones are rare: long names, long lines.
                Err(_) => self
                    .hash
                    .0
                    .update(&postcard::to_allocvec(event).unwrap_or_default()),
            }
        }
        self.index.end_step();
    }

    fn copy(&mut self) {
        let event = self.len();
        let written = self.head.drive().map_or(0, Drive::kept_bytes);
        let cost = COPY_COST
            + (written - self.copied.0.min(written))
            + (event - self.copied.1.min(event)) * EVENT_COST;
        self.copied = (written, event);
        self.copies.push(Copy {
            event,
            cost,
            machine: self.head.clone(),
        });
        while self.copies.len() > MAX_COPIES || self.bytes() > BUDGET && self.copies.len() > 2 {
            self.thin();
        }
    }

    /// Gives up every other copy. What lies between two is then twice as long.
    fn thin(&mut self) {
        let mut carried = 0;
        let mut nth = 0;
        self.copies.retain_mut(|c| {
            nth += 1;
            let stays = nth % 2 == 1;
            if stays {
                // What the one before held alone is mostly still reached from this one.
                c.cost = c.cost.saturating_add(std::mem::take(&mut carried) / 2);
            } else {
                carried = c.cost;
            }
            stays
        });
        self.interval = self.interval.saturating_mul(2);
    }

    fn sample(&mut self) {
        let last = self.samples.last().map_or(0, |s| s.time_ns);
        if self.head.now().0 - last < self.sample_every {
            return;
        }
        self.samples.push(self.head.gauges());
        if self.samples.len() > MAX_SAMPLES {
            let mut nth = 0;
            self.samples.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.sample_every = self.sample_every.saturating_mul(2);
        }
    }

    /// Events so far, those before a fork among them.
    pub fn len(&self) -> u64 {
        self.index.end()
    }

    /// Events from before the first step: those of the mount.
    pub fn opening(&self) -> &[Event] {
        &self.opening
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.index.end() == self.index.first()
    }

    /// The number of its first event: 0, or where it was forked.
    pub fn first(&self) -> u64 {
        self.index.first()
    }

    /// Kinds and times of the events.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Figures over time.
    pub fn samples(&self) -> &[Gauges] {
        &self.samples
    }

    /// The machine where the recording has got to.
    pub fn head(&self) -> &Machine {
        &self.head
    }

    /// Why it is at its end, if so.
    pub fn end(&self) -> Option<End> {
        self.head.end()
    }

    /// The scenario.
    pub fn scenario(&self) -> &Arc<Scenario> {
        self.head.scenario()
    }

    /// A hash of all events so far (XXH3, 64 bits, over their postcard form): the same
    /// wherever the same scenario ran.
    pub fn hash(&self) -> u64 {
        self.hash.0.digest()
    }

    /// What the recording is taken to cost, bytes.
    pub fn bytes(&self) -> u64 {
        let copies: u64 = self.copies.iter().map(|c| c.cost).sum();
        copies + self.index.bytes()
    }

    /// Copies of the machine that are kept, and events between two.
    pub fn copies(&self) -> (usize, u64) {
        (self.copies.len(), self.interval)
    }

    /// The state at an event.
    pub fn at(&self, event: u64) -> Instant {
        let event = event.clamp(self.first(), self.len().saturating_sub(1));
        let (start, end) = self.index.step_of(event);
        let mut walk = self.walk_from(event);
        walk.skip_to(start);
        let events = if event < self.opened() {
            self.opening.clone()
        } else {
            walk.until(end)
        };
        Instant {
            event,
            machine: walk.machine,
            events,
        }
    }

    /// The events of a range, made again; at most `most`.
    pub fn events(&self, from: u64, to: u64, most: usize) -> Vec<Event> {
        let to = to.min(self.len());
        let mut walk = self.walk_from(from);
        walk.skip_to(self.index.step_of(from).0);
        let opening = self.opening.iter().filter(|e| (from..to).contains(&e.id.0));
        let mut found: Vec<Event> = opening.cloned().collect();
        while walk.position() < to && found.len() < most {
            let events = walk.until(walk.position() + 1);
            if events.is_empty() {
                break;
            }
            found.extend(events.into_iter().filter(|e| (from..to).contains(&e.id.0)));
        }
        found.truncate(most);
        found
    }

    /// The first event after `from` for which a condition holds; recording goes no further
    /// for it.
    pub fn find_after(&self, from: u64, condition: &Condition) -> Option<u64> {
        self.find_from(from.saturating_add(1), condition)
    }

    /// The same, `from` among those that are looked at.
    pub fn find_from(&self, from: u64, condition: &Condition) -> Option<u64> {
        let mut early = self.opening.iter().filter(|e| e.id.0 >= from);
        if let Some(event) = early.find(|e| condition.holds(e, None)) {
            return Some(event.id.0);
        }
        let mut walk: Option<Walk> = None;
        let mut at = from.max(self.opened());
        loop {
            at = self.index.next_where(at, |kind| condition.may_hold(kind))?;
            let (start, end) = self.index.step_of(at);
            let mut here = match walk.take() {
                Some(walk) if !self.copy_between(walk.position(), start) => walk,
                _ => self.walk_from(start),
            };
            here.skip_to(start);
            let found = here.holds(condition, (at, end));
            if found.is_some() {
                return found;
            }
            walk = Some(here);
            at = end;
        }
    }

    /// The last event before `from` for which a condition holds.
    pub fn find_before(&self, from: u64, condition: &Condition) -> Option<u64> {
        let mut end = from.min(self.len());
        loop {
            let last = self
                .index
                .last_where(end, |kind| condition.may_hold(kind))?;
            let mut walk = self.walk_from(last);
            let begin = walk.position();
            let mut found = None;
            let mut at = begin;
            while let Some(next) = self
                .index
                .next_where(at, |kind| condition.may_hold(kind))
                .filter(|&n| n < end)
            {
                let (start, stop) = self.index.step_of(next);
                walk.skip_to(start);
                let range = (next, stop.min(end));
                found = walk.last_that_holds(condition, range).or(found);
                at = stop;
            }
            if found.is_some() {
                return found;
            }
            if begin <= self.opened() {
                let mut early = self.opening.iter().rev().filter(|e| e.id.0 < end);
                return early.find(|e| condition.holds(e, None)).map(|e| e.id.0);
            }
            end = begin;
        }
    }

    /// One past the mount's own events.
    fn opened(&self) -> u64 {
        self.first() + self.opening.len() as u64
    }

    /// Whether a copy lies between two events, so that it is nearer to the second.
    fn copy_between(&self, from: u64, to: u64) -> bool {
        let nearest = self.copies.partition_point(|c| c.event <= to);
        nearest > 0 && self.copies[nearest - 1].event > from
    }

    /// The machine at the nearest copy before an event.
    fn walk_from(&self, event: u64) -> Walk {
        let nearest = self.copies.partition_point(|c| c.event <= event);
        let copy = &self.copies[nearest.saturating_sub(1)];
        Walk {
            machine: copy.machine.clone(),
        }
    }

    /// Another run that goes on from the step of an event; this one stays as it is. With
    /// `processes`, those there were end, and these begin.
    pub fn fork(&self, event: u64, processes: Option<Vec<ProcessSpec>>) -> Self {
        let mut machine = self.at(event).machine;
        let _ = machine.take_events();
        if let Some(processes) = processes {
            machine.replace_processes(processes);
        }
        Self::of(machine)
    }

    /// The first event at or after a time.
    pub fn at_time(&self, time: SimTime) -> u64 {
        self.index.at_time(time).min(self.len().saturating_sub(1))
    }

    /// The kind of an event.
    pub fn kind(&self, event: u64) -> Option<Kind> {
        self.index.kind(event)
    }
}
