//! What is kept of a run for its timeline, while it is recorded.

use crate::event::{Actor, Event, Io, What};
use crate::jbd2::Phase;
use crate::machine::Machine;
use std::collections::BTreeMap;

/// Most spans of each sort; what comes after is in the log of events only.
const MOST: usize = 200_000;
/// Most samples of levels; then every other one is given up.
const LEVELS: usize = 16_384;

/// A point of a run: event, time in ns.
pub(super) type Point = (u64, u64);

/// A call of a process.
#[derive(Clone, Debug)]
pub(super) struct CallSpan {
    pub pid: u32,
    pub from: Point,
    pub to: Option<Point>,
    pub text: Box<str>,
    pub failed: bool,
}

/// A transaction's life up to its commit.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransactionSpan {
    pub tid: u32,
    pub from: Point,
    pub locked: Option<Point>,
    pub committed: Option<Point>,
}

/// A request at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestSpan {
    pub request: u64,
    pub kind: Io,
    pub queued: Point,
    pub from: Option<Point>,
    pub to: Option<Point>,
    pub sectors: u64,
}

/// What is in memory only, at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub at: Point,
    pub dirty: u64,
    pub delayed: u64,
    pub uncommitted: u64,
    pub unstable: u64,
}

/// What is kept of a run for its timeline.
#[derive(Clone, Debug, Default)]
pub struct Story {
    pub(super) calls: Vec<CallSpan>,
    pub(super) processes: BTreeMap<u32, String>,
    pub(super) transactions: Vec<TransactionSpan>,
    pub(super) requests: Vec<RequestSpan>,
    pub(super) errors: Vec<Point>,
    pub(super) samples: Vec<Sample>,
    pub(super) end: Point,
    pub(super) first: u64,
    /// Steps between two samples, and steps since the last.
    every: u64,
    since: u64,
    open_calls: BTreeMap<u32, usize>,
    open_requests: BTreeMap<u64, usize>,
}

impl Story {
    /// A run at its start: where its events begin, and what happened before the first step.
    pub fn new(first: u64, machine: &Machine, begun: &[Event]) -> Self {
        let mut story = Self {
            first,
            every: 1,
            ..Self::default()
        };
        // Those of a fork began before it.
        for p in machine.processes() {
            story.processes.insert(p.pid(), p.name().to_owned());
        }
        story.note(machine, begun);
        story
    }

    /// Takes note of a step.
    pub fn note(&mut self, machine: &Machine, events: &[Event]) {
        for event in events {
            self.event(event);
        }
        if let Some(last) = events.last() {
            self.end = (last.id.0 + 1, last.at.0);
            self.transaction_began(machine, last);
        }
        self.since += 1;
        if self.since >= self.every {
            self.since = 0;
            self.sample(machine);
        }
    }

    fn event(&mut self, event: &Event) {
        let at = (event.id.0, event.at.0);
        if event.what.is_error() {
            self.errors.push(at);
            self.errors.truncate(MOST);
        }
        match &event.what {
            What::Call { text } => self.call(event.actor, at, text),
            What::Returned { value } => self.returned(event.actor, at, value.is_err()),
            What::ProcessStarted { name } => {
                if let Actor::Process(pid) = event.actor {
                    self.processes.insert(pid, name.clone());
                }
            }
            What::Transaction { tid, phase } => self.phase(*tid, *phase, at),
            What::Queued {
                request,
                kind,
                sectors,
                ..
            } if self.requests.len() < MOST => {
                self.open_requests.insert(*request, self.requests.len());
                self.requests.push(RequestSpan {
                    request: *request,
                    kind: *kind,
                    queued: at,
                    from: None,
                    to: None,
                    sectors: *sectors,
                });
            }
            What::Started { request } => {
                if let Some(i) = self.open_requests.get(request) {
                    self.requests[*i].from = Some(at);
                }
            }
            What::Completed { request } => {
                if let Some(i) = self.open_requests.remove(request) {
                    self.requests[i].to = Some(at);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, actor: Actor, at: Point, text: &str) {
        let Actor::Process(pid) = actor else { return };
        if self.calls.len() >= MOST {
            return;
        }
        self.open_calls.insert(pid, self.calls.len());
        self.calls.push(CallSpan {
            pid,
            from: at,
            to: None,
            text: text.into(),
            failed: false,
        });
    }

    fn returned(&mut self, actor: Actor, at: Point, failed: bool) {
        let Actor::Process(pid) = actor else { return };
        if let Some(i) = self.open_calls.remove(&pid) {
            self.calls[i].to = Some(at);
            self.calls[i].failed = failed;
        }
    }

    /// A transaction begins with the first change that joins it, which is no event.
    fn transaction_began(&mut self, machine: &Machine, last: &Event) {
        let journal = machine.mount().vol.journal.as_ref();
        let Some(running) = journal.and_then(|j| j.running()) else {
            return;
        };
        let known = self
            .transactions
            .last()
            .is_some_and(|t| t.tid == running.tid);
        if !known && self.transactions.len() < MOST {
            self.transactions.push(TransactionSpan {
                tid: running.tid,
                from: (last.id.0, running.started.0),
                locked: None,
                committed: None,
            });
        }
    }

    fn phase(&mut self, tid: u32, phase: Phase, at: Point) {
        let span = self.transactions.iter_mut().rev().find(|t| t.tid == tid);
        let Some(span) = span else { return };
        match phase {
            Phase::Locked => span.locked = Some(at),
            Phase::Committed => span.committed = Some(at),
            _ => {}
        }
    }

    fn sample(&mut self, machine: &Machine) {
        let g = machine.gauges();
        self.samples.push(Sample {
            at: (g.events.saturating_sub(1), g.time_ns),
            dirty: g.dirty_pages,
            delayed: g.reserved_clusters,
            uncommitted: g.transaction_blocks,
            unstable: g.unstable_writes,
        });
        if self.samples.len() > LEVELS {
            let mut nth = 0;
            self.samples.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.every *= 2;
        }
    }
}
