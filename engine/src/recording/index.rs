//! What is kept of every event: its kind, and of every step its time.

use crate::event::{Event, Kind};
use crate::units::SimTime;

/// Kinds of all events, and where steps begin.
#[derive(Clone, Debug)]
pub struct Index {
    /// The number of the first event.
    first: u64,
    kinds: Vec<u8>,
    /// For each step that made events: its first event, its time.
    steps: Vec<(u64, SimTime)>,
    /// Time of the step that is being noted.
    open: Option<(u64, SimTime)>,
}

impl Index {
    pub(super) fn new(first: u64) -> Self {
        Self {
            first,
            kinds: Vec::new(),
            steps: Vec::new(),
            open: None,
        }
    }

    pub(super) fn push(&mut self, event: &Event) {
        self.kinds.push(Kind::from(&event.what) as u8);
        self.open.get_or_insert((event.id.0, event.at));
    }

    pub(super) fn end_step(&mut self) {
        self.steps.extend(self.open.take());
    }

    /// The number of the first event.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// One past the last event.
    pub fn end(&self) -> u64 {
        self.first + self.kinds.len() as u64
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        (self.kinds.len() + self.steps.len() * size_of::<(u64, SimTime)>()) as u64
    }

    /// Steps that made events.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// The events of the step that an event belongs to: first, one past the last.
    pub fn step_of(&self, event: u64) -> (u64, u64) {
        let after = self.steps.partition_point(|s| s.0 <= event);
        let start = after.checked_sub(1).map_or(self.first, |i| self.steps[i].0);
        let end = self.steps.get(after).map_or(self.end(), |s| s.0);
        (start, end)
    }

    /// When an event was.
    pub fn time(&self, event: u64) -> SimTime {
        let after = self.steps.partition_point(|s| s.0 <= event);
        after.checked_sub(1).map_or(SimTime(0), |i| self.steps[i].1)
    }

    /// The first event at or after a time.
    pub fn at_time(&self, time: SimTime) -> u64 {
        let at = self.steps.partition_point(|s| s.1 < time);
        self.steps.get(at).map_or(self.end(), |s| s.0)
    }

    /// The kind of an event.
    pub fn kind(&self, event: u64) -> Option<Kind> {
        let at = usize::try_from(event.checked_sub(self.first)?).ok()?;
        Kind::from_repr(*self.kinds.get(at)?)
    }

    /// The first event at or after `from` of a kind that is wanted.
    pub fn next_where(&self, from: u64, wanted: impl Fn(Kind) -> bool) -> Option<u64> {
        let table = wanted_kinds(wanted);
        let skip = usize::try_from(from.saturating_sub(self.first)).ok()?;
        let rest = self.kinds.get(skip..)?;
        let at = rest.iter().position(|&k| table[usize::from(k)])?;
        Some(self.first + (skip + at) as u64)
    }

    /// The last event before `to` of a kind that is wanted.
    pub fn last_where(&self, to: u64, wanted: impl Fn(Kind) -> bool) -> Option<u64> {
        let table = wanted_kinds(wanted);
        let end = usize::try_from(to.saturating_sub(self.first)).ok()?;
        let part = self.kinds.get(..end.min(self.kinds.len()))?;
        let at = part.iter().rposition(|&k| table[usize::from(k)])?;
        Some(self.first + at as u64)
    }

    /// How many events of each kind lie in each of `bins` equal parts of a range: for the
    /// timeline's lanes.
    pub fn density(
        &self,
        from: u64,
        to: u64,
        bins: usize,
        lane: impl Fn(Kind) -> bool,
    ) -> Vec<u32> {
        let table = wanted_kinds(lane);
        let mut counts = vec![0; bins];
        let (from, to) = (from.max(self.first), to.min(self.end()));
        if from >= to || bins == 0 {
            return counts;
        }
        let part = &self.kinds[(from - self.first) as usize..(to - self.first) as usize];
        let total = part.len();
        for (i, &kind) in part.iter().enumerate() {
            if table[usize::from(kind)] {
                counts[i * bins / total] += 1;
            }
        }
        counts
    }
}

/// A table by kind, so that a million events cost a look each.
fn wanted_kinds(wanted: impl Fn(Kind) -> bool) -> [bool; 256] {
    let mut table = [false; 256];
    for n in 0..=255 {
        table[usize::from(n)] = Kind::from_repr(n).is_some_and(&wanted);
    }
    table
}
