//! What runs beside the processes: the device, the commit thread, contents on their way.

use super::Machine;
use super::process::State;
use crate::device::DeviceEvent;
use crate::event::{Actor, EventId, What};
use crate::kernel::Errno;
use crate::units::SimTime;

const SECTOR: u64 = 512;

/// jbd2's thread.
#[derive(Clone, Debug, Default)]
pub(super) struct CommitThread {
    /// Requests of the phase that is under way: from, up to.
    waits: Option<(u64, u64)>,
    /// Somebody waits for this transaction, because of this event.
    wanted: Option<(u32, EventId)>,
}

impl Machine {
    /// Tells of requests that were queued since the last time.
    pub(super) fn tell_queued(&mut self) {
        for q in self.mount.vol.device_mut().take_queued() {
            let events = &mut self.mount.vol.events;
            let before = std::mem::replace(&mut events.cause, q.cause);
            events.emit(|| What::Queued {
                request: q.request,
                kind: q.kind,
                sector: q.offset / SECTOR,
                sectors: q.len / SECTOR,
            });
            events.cause = before;
        }
    }

    /// The number that the device's next request gets.
    pub(super) fn next_request(&self) -> u64 {
        self.device().next_request()
    }

    pub(super) fn is_done(&self, from: u64, to: u64) -> bool {
        !self.device().outstanding(from, to)
    }

    /// Something happens in the device.
    pub(super) fn step_device(&mut self, at: SimTime) {
        let told = self.mount.vol.device_mut().advance(at);
        for happening in told {
            let what = match happening.what {
                DeviceEvent::Started(request) => What::Started { request },
                DeviceEvent::Completed(request) => What::Completed { request },
                DeviceEvent::Destaged(offset, len) => What::Destaged {
                    sector: offset / SECTOR,
                    sectors: len / SECTOR,
                },
                DeviceEvent::Programmed {
                    page,
                    logical,
                    from,
                    len,
                } => What::FlashProgrammed {
                    page,
                    logical,
                    from,
                    len,
                },
                DeviceEvent::Erased(block) => What::FlashErased { block },
                DeviceEvent::Broke(block) => What::FlashBroke { block },
            };
            self.act_as(Actor::Device, happening.cause, |m| {
                m.mount.vol.events.emit(|| what);
            });
        }
    }

    /// Contents that set out since the last time arrive with the requests made so far.
    pub(super) fn note_in_flight(&mut self) {
        if self.in_flight.is_none() && self.mount.has_in_flight() {
            self.in_flight = Some(self.next_request());
        }
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.in_flight.is_some_and(|to| self.is_done(0, to))
    }

    /// Contents have arrived: unwritten blocks become written.
    pub(super) fn arrive(&mut self) {
        self.in_flight = None;
        self.act_as(Actor::Flusher, None, |m| {
            // An error is told by the next fsync.
            let _ = m.mount.end_io();
        });
    }

    /// Somebody waits for a transaction.
    pub(super) fn want_commit(&mut self, tid: u32, cause: EventId) {
        if self.commit.wanted.is_none_or(|(other, _)| other < tid) {
            self.commit.wanted = Some((tid, cause));
        }
    }

    /// When the commit thread does something next.
    pub(super) fn commit_at(&self) -> Option<SimTime> {
        if self
            .commit
            .waits
            .is_some_and(|(from, to)| !self.is_done(from, to))
        {
            return None;
        }
        let journal = self.mount.vol.journal.as_ref()?;
        let wanted = self
            .commit
            .wanted
            .is_some_and(|(tid, _)| journal.is_pending(tid));
        if journal.committing().is_some() || wanted {
            return Some(self.now());
        }
        self.mount.commit_due()
    }

    /// A commit cannot go on: who waits for it is told, so that nobody waits for ever.
    fn fail_commit(&mut self, errno: Errno) {
        self.commit.wanted = None;
        for p in &mut self.processes {
            if let State::Commit { call, .. } = p.state {
                p.state = State::Device {
                    from: 0,
                    to: 0,
                    call,
                    answer: Err(errno),
                };
            }
        }
    }

    /// A phase of a commit. Errors leave a journal that can only be read, which the kernel
    /// says in its own event.
    pub(super) fn step_commit(&mut self) {
        let from = self.next_request();
        let cause = self.commit.wanted.map(|(_, cause)| cause);
        let moved = self.act_as(Actor::Jbd2, cause, |m| {
            let under_way = m
                .mount
                .vol
                .journal
                .as_ref()
                .is_some_and(|j| j.committing().is_some());
            if under_way {
                m.mount.step_commit()
            } else {
                m.mount.start_commit()
            }
        });
        match moved {
            Ok(true) => {}
            Ok(false) => self.commit.wanted = None,
            Err(errno) => self.fail_commit(errno),
        }
        let pending = |(tid, _): &(u32, EventId)| self.mount.is_pending(*tid);
        let wanted = self.commit.wanted.filter(pending);
        self.commit.wanted = wanted;
        self.commit.waits = Some((from, self.next_request()));
    }
}
