//! What happens next.

use super::process::State;
use super::{End, Life, Machine, calls};
use crate::event::{Actor, EventId, What};
use crate::kernel::{Errno, OpenFlags, SyncWait, Syncing};
use crate::scenario::lang::Step;
use crate::scenario::{Answer, Call, Reply};
use crate::units::SimTime;

const PAGE: u64 = 4096;

/// Who is next. Where several are due at once, the first in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Next {
    Device,
    Arrived,
    Commit,
    Process(usize),
    Thread(Actor),
    Life,
}

impl Machine {
    /// Runs the next thing that happens; whether there was one. What it did is told by
    /// [`Machine::take_events`].
    pub fn step(&mut self) -> bool {
        if let Some(end) = self.limit_reached() {
            self.phase = Life::Over(end);
        }
        let Some((at, next)) = self.next() else {
            if self.end().is_none() {
                self.phase = Life::Over(End::Finished);
            }
            return false;
        };
        if at > self.limits().time {
            self.phase = Life::Over(End::TooLong(self.limits().time.0));
            return false;
        }
        self.pass(at);
        match next {
            Next::Device => self.step_device(at),
            Next::Arrived => self.arrive(),
            Next::Commit => self.step_commit(),
            Next::Process(i) => self.step_process(i),
            Next::Thread(actor) => self.step_thread(actor),
            Next::Life => self.step_life(),
        }
        self.act_as(self.actor(next), None, Self::tell_queued);
        self.note_in_flight();
        true
    }

    /// Who acts when this is next.
    fn actor(&self, next: Next) -> Actor {
        match next {
            Next::Device => Actor::Device,
            Next::Arrived => Actor::Flusher,
            Next::Commit => Actor::Jbd2,
            Next::Process(i) => Actor::Process(self.processes[i].pid()),
            Next::Thread(actor) => actor,
            Next::Life => Actor::Mount,
        }
    }

    fn limit_reached(&self) -> Option<End> {
        let limits = self.limits();
        if self.next_event() >= limits.events {
            Some(End::TooManyEvents(limits.events))
        } else if self.calls >= limits.calls {
            Some(End::TooManyCalls(limits.calls))
        } else {
            None
        }
    }

    /// Moves the clock, the device's too.
    fn pass(&mut self, at: SimTime) {
        if at > self.now() {
            self.mount.set_now(at);
        }
    }

    fn next(&self) -> Option<(SimTime, Next)> {
        if matches!(self.phase, Life::Over(_)) {
            return None;
        }
        let now = self.now();
        let device = self.device().next_event().map(|at| (at, Next::Device));
        let up = matches!(self.phase, Life::Running | Life::Lingering(_));
        let kernel = up.then(|| self.next_of_kernel()).flatten();
        let process = match self.phase {
            Life::Running => self.next_process(),
            _ => None,
        };
        let life = self.life_at().map(|at| (at, Next::Life));
        [device, kernel, process, life]
            .into_iter()
            .flatten()
            .map(|(at, next)| (at.max(now), next))
            .min()
    }

    fn next_of_kernel(&self) -> Option<(SimTime, Next)> {
        let arrived = self.has_arrived().then_some((self.now(), Next::Arrived));
        let commit = self.commit_at().map(|at| (at, Next::Commit));
        let thread = self.mount.next_thread();
        let thread = thread.map(|(at, actor)| (at, Next::Thread(actor)));
        [arrived, commit, thread].into_iter().flatten().min()
    }

    fn next_process(&self) -> Option<(SimTime, Next)> {
        let ready = |state: &State| match state {
            State::Ready(at) | State::Asleep { until: at, .. } => Some(*at),
            State::Device { from, to, .. } | State::Pages { from, to, .. } => {
                self.is_done(*from, *to).then(|| self.now())
            }
            State::Commit { tid, .. } => (!self.mount.is_pending(*tid)).then(|| self.now()),
            State::Ended => None,
        };
        let all = self.processes.iter().enumerate();
        all.filter_map(|(i, p)| Some((ready(&p.state)?, Next::Process(i))))
            .min()
    }

    /// When the run enters its next part.
    fn life_at(&self) -> Option<SimTime> {
        let now = self.now();
        match self.phase {
            Life::Mounting => self.is_done(0, u64::MAX).then_some(now),
            Life::Running => self
                .processes
                .iter()
                .all(super::Process::has_ended)
                .then_some(now),
            Life::Lingering(until) => Some(until),
            Life::Unmounted | Life::Over(_) => None,
        }
    }

    fn step_life(&mut self) {
        self.phase = match self.phase {
            Life::Mounting => Life::Running,
            Life::Running => {
                let linger = self.scenario.run.linger.0;
                Life::Lingering(SimTime(self.now().0.saturating_add(linger)))
            }
            Life::Lingering(_) if self.scenario.run.unmount => {
                self.act_as(Actor::Mount, None, |m| {
                    // What cannot be written is told by the kernel's own events.
                    let _ = m.mount.finish();
                });
                Life::Unmounted
            }
            Life::Lingering(_) => Life::Over(End::Finished),
            other => other,
        };
    }

    fn step_thread(&mut self, actor: Actor) {
        self.act_as(actor, None, |m| {
            // An error is told by the next fsync, or by the kernel's own event.
            let _ = m.mount.run_thread(actor);
        });
    }

    fn step_process(&mut self, i: usize) {
        let pid = self.processes[i].pid();
        let state = std::mem::replace(&mut self.processes[i].state, State::Ended);
        match state {
            State::Ready(_) => self.act_as(Actor::Process(pid), None, |m| m.run_program(i)),
            State::Asleep { call, .. } => self.returned(i, call, Ok(Reply::Number(0)), 0),
            State::Device { call, answer, .. } => self.returned(i, call, answer, 0),
            State::Commit { call, .. } => self.returned(i, call, Ok(Reply::Number(0)), 0),
            State::Pages { call, sync, .. } => self.sync_metadata(i, call, &sync),
            State::Ended => {}
        }
    }

    /// Runs a program until it makes a call, says something or ends.
    fn run_program(&mut self, i: usize) {
        let now = self.now();
        let mut fuel = self.limits().instructions;
        let p = &mut self.processes[i];
        if !p.started {
            p.started = true;
            let name = p.spec.name.clone();
            self.mount.vol.events.emit(|| What::ProcessStarted { name });
        }
        let p = &mut self.processes[i];
        p.vm.set_now(now);
        let step = p.vm.step(&mut fuel);
        let what = match step {
            Step::Call(call) => return self.make_call(i, call),
            Step::Print(text) => {
                p.state = State::Ready(now);
                What::Printed { text }
            }
            Step::Done => What::ProcessEnded,
            Step::Failed(e) => What::ProcessFailed {
                line: e.line,
                column: e.column,
                words: e.words,
            },
            Step::OutOfFuel => What::ProcessFailed {
                line: p.vm.line(),
                column: 1,
                words: format!(
                    "the program ran {} instructions without a call: is this loop endless?",
                    self.scenario.run.limits.instructions
                ),
            },
        };
        self.mount.vol.events.emit(|| what);
    }

    fn make_call(&mut self, i: usize, call: Call) {
        self.calls += 1;
        self.processes[i].calls += 1;
        let id = self.mount.vol.events.next_id();
        match call {
            Call::Sleep { time } => {
                let words = || What::Call {
                    text: format!("sleep({})", human(time)),
                };
                self.mount.vol.events.emit(words);
                let until = SimTime(self.now().0.saturating_add(time.0));
                self.processes[i].state = State::Asleep { until, call: id };
            }
            Call::Fsync { fd } => self.sync_begin(i, "fsync", fd, false),
            Call::Fdatasync { fd } => self.sync_begin(i, "fdatasync", fd, true),
            call => self.plain_call(i, id, &call),
        }
    }

    fn plain_call(&mut self, i: usize, id: EventId, call: &Call) {
        let before = self.device().counters();
        let from = self.next_request();
        let who = self.processes[i].caller.clone();
        let answer = calls::run(&mut self.mount, &who, call);
        // A call that was refused before it began is an event all the same.
        if self.mount.vol.events.next_id() == id {
            self.mount.vol.events.emit(|| What::Call {
                text: refused(call),
            });
        }
        let after = self.device().counters();
        let waits = after.reads > before.reads
            || after.flushes > before.flushes
            || self.writes_through(call);
        let to = if waits { self.next_request() } else { from };
        let copied = copied(call, &answer);
        self.finish_call(i, id, answer, (from, to), copied);
    }

    /// Whether a call returns only when what it wrote is done.
    fn writes_through(&self, call: &Call) -> bool {
        match call {
            Call::Sync | Call::Syncfs { .. } | Call::SyncFileRange { .. } => true,
            Call::Write { fd, .. } | Call::Pwrite { fd, .. } => {
                let sync = OpenFlags::DSYNC | OpenFlags::SYNC | OpenFlags::DIRECT;
                self.mount.flags(*fd).is_some_and(|f| f.intersects(sync))
            }
            _ => false,
        }
    }

    fn finish_call(
        &mut self,
        i: usize,
        call: EventId,
        answer: Answer,
        (from, to): (u64, u64),
        copied: u64,
    ) {
        if self.is_done(from, to) {
            return self.returned(i, call, answer, copied);
        }
        self.processes[i].state = State::Device {
            from,
            to,
            call,
            answer,
        };
    }

    fn sync_begin(&mut self, i: usize, name: &str, fd: crate::kernel::Fd, data_only: bool) {
        let text = || What::Call {
            text: format!("{name}({})", fd.0),
        };
        let call = self.mount.vol.events.emit(text);
        let pid = self.processes[i].pid();
        let from = self.next_request();
        let begun = self.act_as(Actor::Process(pid), Some(call), |m| {
            m.mount.sync_begin(fd, data_only)
        });
        let to = self.next_request();
        match begun {
            Err(e) => self.finish_call(i, call, Err(e), (from, to), 0),
            Ok(sync) if self.is_done(from, to) => self.sync_metadata(i, call, &sync),
            Ok(sync) => {
                self.processes[i].state = State::Pages {
                    from,
                    to,
                    call,
                    sync,
                };
            }
        }
    }

    /// The pages are there; now the inode, by a commit or by itself.
    fn sync_metadata(&mut self, i: usize, call: EventId, sync: &Syncing) {
        let pid = self.processes[i].pid();
        let from = self.next_request();
        let waits = self.act_as(Actor::Process(pid), Some(call), |m| {
            m.mount.sync_metadata(sync)
        });
        let to = self.next_request();
        match waits {
            Ok(SyncWait::Commit(tid)) => {
                self.want_commit(tid, call);
                self.processes[i].state = State::Commit { tid, call };
            }
            Ok(SyncWait::Device) => {
                self.finish_call(i, call, Ok(Reply::Number(0)), (from, to), 0);
            }
            Err(e) => self.finish_call(i, call, Err(e), (from, to), 0),
        }
    }

    /// A call returns to its program.
    fn returned(&mut self, i: usize, call: EventId, answer: Answer, copied: u64) {
        let pid = self.processes[i].pid();
        let value = answer.as_ref().map(value).map_err(|e| *e);
        self.act_as(Actor::Process(pid), Some(call), |m| {
            m.mount.vol.events.emit(|| What::Returned { value });
        });
        let run = &self.scenario.run;
        let pages = copied.div_ceil(PAGE);
        let cost = run.call_cost.0 + run.page_cost.0.saturating_mul(pages);
        let now = self.now();
        let p = &mut self.processes[i];
        p.vm.answer(&answer);
        p.state = match answer {
            Err(errno) if p.spec.stop_on_error => return self.give_up(i, errno),
            _ => State::Ready(SimTime(now.0.saturating_add(cost))),
        };
    }

    /// A process that stops at its first error.
    fn give_up(&mut self, i: usize, errno: Errno) {
        let p = &self.processes[i];
        let (pid, line) = (p.pid(), p.vm.line());
        self.act_as(Actor::Process(pid), None, |m| {
            m.mount.vol.events.emit(|| What::ProcessFailed {
                line,
                column: 1,
                words: format!("the call failed: {errno}"),
            });
        });
    }
}

/// The text of a call that was refused because of its descriptor.
fn refused(call: &Call) -> String {
    let words = format!("{call:?}");
    let name = words.split([' ', '{']).next().unwrap_or_default();
    format!("{}(a descriptor that is not open)", name.to_lowercase())
}

fn value(reply: &Reply) -> u64 {
    match reply {
        Reply::Number(n) => *n,
        Reply::Bytes(bytes) => bytes.len() as u64,
        Reply::Names(names) => names.len() as u64,
        Reply::Extents(extents) => extents.len() as u64,
        Reply::Stat(_) | Reply::Statfs { .. } => 0,
    }
}

/// Bytes that a call moved between the process and the page cache.
fn copied(call: &Call, answer: &Answer) -> u64 {
    match (call, answer) {
        (Call::Write { .. } | Call::Pwrite { .. }, Ok(Reply::Number(n))) => *n,
        (_, Ok(Reply::Bytes(bytes))) => bytes.len() as u64,
        _ => 0,
    }
}

/// A time as a person would write it.
fn human(time: SimTime) -> String {
    let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
    for (size, unit) in units {
        if time.0 >= size && time.0.is_multiple_of(size) {
            return format!("{}{unit}", time.0 / size);
        }
    }
    format!("{}ns", time.0)
}
