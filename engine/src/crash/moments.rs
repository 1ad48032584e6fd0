//! The instants of a run at which pulling the plug can make a difference.
//!
//! Until a write comes to be safe, more and more writes may be lost: whatever a power cut
//! leaves earlier, it may leave later. So one looks at the last instant of each such time,
//! and of each time in which the processes know the same, as far as conditions ask.

use super::judge::Judge;
use super::pending::Pending;
use crate::device::Drive;
use crate::machine::Machine;
use crate::scenario::lang::Given;
use std::collections::{BTreeMap, BTreeSet};

/// An instant.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The last event before it.
    pub event: u64,
    /// Simulated time, ns.
    pub time_ns: u64,
    /// What a power cut may take.
    pub pending: Pending,
    /// Who judges what it leaves.
    pub judge: Judge,
}

impl Moment {
    /// The present instant of a machine; `None`: its device keeps no contents.
    pub fn of(machine: &Machine) -> Option<Self> {
        let scenario = machine.scenario();
        let watch = Watch::new(machine);
        let now = watch.now(machine)?;
        Some(watch.moment(now, scenario.rules))
    }
}

/// What there is to know of an instant before it is looked at.
#[derive(Clone, Debug)]
struct Now {
    event: u64,
    time_ns: u64,
    drive: Drive,
    given: BTreeMap<String, Given>,
}

/// Watches a machine step by step and gives its moments.
#[derive(Clone, Debug)]
pub struct Watch {
    judge: Judge,
    asked: BTreeSet<String>,
    last: Option<Now>,
}

impl Watch {
    /// Watches a machine from now on.
    pub fn new(machine: &Machine) -> Self {
        let judge = Judge::of(machine.scenario());
        let all = judge.classes.iter().chain(&judge.expectations);
        Self {
            asked: all
                .flat_map(|c| c.program.given().iter().cloned())
                .collect(),
            judge,
            last: None,
        }
    }

    /// To be called after every step. Gives the instant before it where that was the last of
    /// its time.
    pub fn step(&mut self, machine: &Machine) -> Option<Moment> {
        let now = self.now(machine)?;
        let same =
            |last: &Now| last.drive.settled() == now.drive.settled() && last.given == now.given;
        let ended = self.last.take().filter(|last| !same(last));
        self.last = Some(now);
        ended.map(|last| self.moment(last, machine.scenario().rules))
    }

    /// To be called at the end: the last instant.
    pub fn end(&mut self, machine: &Machine) -> Option<Moment> {
        let last = self.last.take()?;
        Some(self.moment(last, machine.scenario().rules))
    }

    fn now(&self, machine: &Machine) -> Option<Now> {
        let mut given = BTreeMap::new();
        for process in machine.processes().iter().rev() {
            let known = process.vm().globals();
            let asked = known.filter(|(name, _)| self.asked.contains(*name));
            given.extend(asked.map(|(name, value)| (name.to_owned(), value)));
        }
        Some(Now {
            event: machine.next_event().saturating_sub(1),
            time_ns: machine.now().0,
            drive: machine.drive()?.clone(),
            given,
        })
    }

    fn moment(&self, now: Now, rules: super::Rules) -> Moment {
        let mut judge = self.judge.clone();
        judge.given = now.given;
        judge.now = crate::units::SimTime(now.time_ns);
        Moment {
            event: now.event,
            time_ns: now.time_ns,
            pending: Pending::of(&now.drive, rules),
            judge,
        }
    }
}

/// Every moment of a run, from where the machine is to its end.
pub fn moments(mut machine: Machine) -> Vec<Moment> {
    machine.keep_events(false);
    let mut watch = Watch::new(&machine);
    let mut all: Vec<Moment> = watch.step(&machine).into_iter().collect();
    while machine.step() {
        all.extend(watch.step(&machine));
    }
    all.extend(watch.end(&machine));
    all
}
