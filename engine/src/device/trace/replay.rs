//! Driving a device by a trace.

use super::write::{Action, Line};
use super::{SECTOR, Traced};
use crate::device::{
    Counters, Device as _, DeviceError, DeviceEvent, Drive, FlashTotals, Op, Request,
};
use crate::disk::{Data, ReadAt as _};
use crate::event::Io;
use crate::units::SimTime;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a trace is replayed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replay {
    /// Requests go out at the trace's times; else so many are kept in the queue.
    pub depth: Option<u32>,
    /// Requests past the device's end are folded back into it.
    pub fold: bool,
}

/// Why a trace cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// A request does not lie on the device.
    #[error(
        "request {nr} of the trace ends at byte {end}, and the device has {len}: fold it, or take a larger device"
    )]
    PastEnd {
        /// Which, from 1.
        nr: usize,
        /// Where it ends.
        end: u64,
        /// Bytes of the device.
        len: u64,
    },
    /// The device refused.
    #[error("request {nr} of the trace: {why}")]
    Refused {
        /// Which, from 1.
        nr: usize,
        /// Why.
        why: DeviceError,
    },
}

/// What came of a trace.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Replayed {
    /// Requests.
    pub requests: u64,
    /// When the last was done, ns.
    pub took_ns: u64,
    /// Times from queueing to the end, ns: mean, median, 99 of 100, longest.
    pub mean_ns: u64,
    /// The time that a half of the requests took at most.
    pub median_ns: u64,
    /// The time that 99 of 100 took at most.
    pub p99_ns: u64,
    /// The longest.
    pub most_ns: u64,
    /// Requests a second, from the first to the end.
    pub per_second: f64,
    /// What was asked of the device.
    pub counters: Counters,
    /// What was done to flash.
    #[serde(skip)]
    pub flash: FlashTotals,
    /// Every step of every request, for [`super::text`].
    #[serde(skip)]
    pub lines: Vec<Line>,
}

/// One replay at work.
struct Run<'t> {
    drive: Drive,
    trace: &'t [Traced],
    how: Replay,
    sent: usize,
    /// When each request in the queue was sent, and what it is.
    open: BTreeMap<u64, Traced>,
    waits: Vec<u64>,
    lines: Vec<Line>,
}

/// Drives a device by a trace, until all of it is done.
pub fn replay(drive: Drive, trace: &[Traced], how: Replay) -> Result<Replayed, ReplayError> {
    let mut run = Run {
        drive,
        trace,
        how,
        sent: 0,
        open: BTreeMap::new(),
        waits: Vec::new(),
        lines: Vec::new(),
    };
    let mut now = SimTime(0);
    while run.sent < trace.len() || !run.open.is_empty() {
        let due = run.due(now);
        if let Some(at) = due.filter(|at| run.next_event().is_none_or(|n| *at <= n)) {
            now = now.max(at);
            // Time passes in the device as well: nothing of its own comes before.
            run.advance(now);
            run.send(now)?;
        } else if let Some(at) = run.next_event() {
            now = now.max(at);
            run.advance(now);
        } else {
            break;
        }
    }
    Ok(run.outcome(now))
}

impl Run<'_> {
    /// What the device does next for a request; its rest is of no interest.
    fn next_event(&self) -> Option<SimTime> {
        self.drive.next_event().filter(|_| !self.open.is_empty())
    }

    /// When the next request goes out, as far as that is known.
    fn due(&self, now: SimTime) -> Option<SimTime> {
        let next = self.trace.get(self.sent)?;
        match self.how.depth {
            None => Some(SimTime(next.at_ns)),
            Some(depth) => (self.open.len() < depth.max(1) as usize).then_some(now),
        }
    }

    fn send(&mut self, now: SimTime) -> Result<(), ReplayError> {
        let nr = self.sent + 1;
        let Some(&wanted) = self.trace.get(self.sent) else {
            return Ok(());
        };
        self.sent += 1;
        let len = self.drive.len();
        let mut request = Traced {
            at_ns: now.0,
            ..wanted
        };
        if request.end() > len {
            if !self.how.fold {
                let end = request.end();
                return Err(ReplayError::PastEnd { nr, end, len });
            }
            request.len = request.len.min(len);
            let room = (len - request.len) / SECTOR + 1;
            request.offset = request.offset / SECTOR % room * SECTOR;
        }
        let data = || vec![(Data::Zero, request.len)];
        let op = match request.kind {
            Io::Read => Op::Read,
            Io::Write => Op::Write {
                data: data(),
                fua: false,
            },
            Io::WriteFua => Op::Write {
                data: data(),
                fua: true,
            },
            Io::Discard => Op::Discard,
            Io::Flush => Op::Flush,
        };
        let number = self.drive.next_request();
        let refused = |why| ReplayError::Refused { nr, why };
        self.drive
            .submit(Request {
                op,
                offset: request.offset,
                len: request.len,
                cause: None,
            })
            .map_err(refused)?;
        self.open.insert(number, request);
        self.note(Action::Queued, request);
        Ok(())
    }

    fn note(&mut self, action: Action, request: Traced) {
        self.lines.push(Line { action, request });
    }

    fn advance(&mut self, to: SimTime) {
        for happening in self.drive.advance(to) {
            let at = |r: &Traced| Traced { at_ns: to.0, ..*r };
            match happening.what {
                DeviceEvent::Started(nr) => {
                    if let Some(request) = self.open.get(&nr).map(at) {
                        self.note(Action::Issued, request);
                    }
                }
                DeviceEvent::Completed(nr) => {
                    if let Some(request) = self.open.remove(&nr) {
                        self.waits.push(to.0.saturating_sub(request.at_ns));
                        self.note(Action::Completed, at(&request));
                    }
                }
                _ => {}
            }
        }
        self.drive.take_queued();
    }

    fn outcome(mut self, now: SimTime) -> Replayed {
        self.waits.sort_unstable();
        let n = self.waits.len() as u64;
        let share = |part: u64| {
            let at = (n * part).div_ceil(100).saturating_sub(1);
            self.waits.get(at as usize).copied().unwrap_or(0)
        };
        let sum: u128 = self.waits.iter().map(|w| u128::from(*w)).sum();
        Replayed {
            requests: n,
            took_ns: now.0,
            mean_ns: (sum / u128::from(n.max(1))) as u64,
            median_ns: share(50),
            p99_ns: share(99),
            most_ns: self.waits.last().copied().unwrap_or(0),
            per_second: n as f64 * 1e9 / now.0.max(1) as f64,
            counters: self.drive.counters(),
            flash: self.drive.flash_totals(),
            lines: self.lines,
        }
    }
}
