//! A whole computer: clock, device, mounted filesystem, processes.
//!
//! [`Machine::step`] runs the one thing that happens next: something in the device, a phase
//! of a commit, a thread of the kernel, a process up to its next call. A call's logic runs
//! at an instant; the process then waits for the requests that it has to wait for. Plain
//! data: a clone goes on as the original would.

mod calls;
mod gauges;
mod hardware;
mod process;
mod step;
mod threads;

pub(crate) use calls::run as run_call;
pub use gauges::Gauges;
pub use hardware::HardwareError;
pub use process::{Doing, Process};

use crate::device::{Device, Drive};
use crate::disk::CowDisk;
use crate::event::{Actor, Event, EventId};
use crate::ext4::mkfs::{MkfsError, mkfs};
use crate::kernel::{Mount, MountError};
use crate::scenario::{Limits, ProcessSpec, Scenario};
use crate::units::SimTime;
use std::sync::Arc;

/// A computer at an instant.
#[derive(Clone, Debug)]
pub struct Machine {
    scenario: Arc<Scenario>,
    mount: Mount,
    processes: Vec<Process>,
    commit: threads::CommitThread,
    /// Contents on their way have arrived when no request below this is open.
    in_flight: Option<u64>,
    phase: Life,
    calls: u64,
}

/// Where a run is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    /// The mount's own requests are not done.
    Mounting,
    /// Processes run.
    Running,
    /// All have ended; the kernel goes on until then.
    Lingering(SimTime),
    /// Unmounted; the device works off its queue.
    Unmounted,
    /// Nothing happens any more.
    Over(End),
}

/// Why nothing happens any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, serde::Deserialize)]
pub enum End {
    /// All is done.
    Finished,
    /// So many events were made.
    TooManyEvents(u64),
    /// So many calls were made.
    TooManyCalls(u64),
    /// So much time passed, ns.
    TooLong(u64),
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Finished => write!(f, "The run is over"),
            Self::TooManyEvents(n) => write!(
                f,
                "The run was stopped at its limit of {n} events; `[limits] events` in the scenario sets it"
            ),
            Self::TooManyCalls(n) => write!(
                f,
                "The run was stopped at its limit of {n} calls; `[limits] calls` in the scenario sets it"
            ),
            Self::TooLong(ns) => write!(
                f,
                "The run was stopped at its limit of {} s of simulated time; `[limits] time` in the scenario sets it",
                ns / 1_000_000_000
            ),
        }
    }
}

/// Why a machine cannot be set up.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum MachineError {
    /// There cannot be such hardware.
    #[error("device: {0}")]
    Device(#[from] HardwareError),
    /// The filesystem cannot be made.
    #[error("mkfs: {0}")]
    Mkfs(#[from] MkfsError),
    /// It cannot be mounted.
    #[error("mount: {0}")]
    Mount(#[from] MountError),
}

impl Machine {
    /// A machine with a new filesystem, just mounted.
    pub fn new(scenario: Arc<Scenario>) -> Result<Self, MachineError> {
        let size = scenario.device.size;
        let mut disk = CowDisk::new(size);
        mkfs(&scenario.mkfs, &mut disk, size)?;
        Self::with_disk(scenario, disk)
    }

    /// A machine over a disk that holds a filesystem already.
    pub fn with_disk(scenario: Arc<Scenario>, disk: CowDisk) -> Result<Self, MachineError> {
        let mechanism = hardware::mechanism(&scenario.device)?;
        let cache = scenario.device.cache.as_ref().map(|c| c.size);
        let drive = Drive::new(disk, mechanism, cache)
            .starting_at(scenario.device.start)
            .lying(scenario.rules.lies);
        let mount = Mount::mount_watched(Box::new(drive), scenario.mount.clone())?;
        let processes = scenario
            .processes
            .iter()
            .zip(1u32..)
            .map(|(spec, pid)| {
                let seed = scenario.seed.wrapping_add(u64::from(pid) << 32);
                Process::new(pid, &Arc::new(spec.clone()), seed)
            })
            .collect();
        let mut machine = Self {
            scenario,
            mount,
            processes,
            commit: threads::CommitThread::default(),
            in_flight: None,
            phase: Life::Mounting,
            calls: 0,
        };
        machine.tell_queued();
        machine.note_in_flight();
        Ok(machine)
    }

    /// What it was made from.
    pub fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// The mounted filesystem.
    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// The processes, by their numbers.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        self.mount.vol.device()
    }

    /// The device as the drive that it is.
    pub fn drive(&self) -> Option<&Drive> {
        self.device().as_any().downcast_ref()
    }

    /// The time.
    pub fn now(&self) -> SimTime {
        self.mount.now()
    }

    /// The number that the next event gets.
    pub fn next_event(&self) -> u64 {
        self.mount.vol.events.next_id().0
    }

    /// Calls made so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Why nothing happens any more, if so.
    pub fn end(&self) -> Option<End> {
        match self.phase {
            Life::Over(end) => Some(end),
            _ => None,
        }
    }

    /// What has happened since this was last asked.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.mount.take_events()
    }

    /// Whether events are kept; they are counted all the same.
    pub fn keep_events(&mut self, on: bool) {
        self.mount.vol.events.keep(on);
    }

    /// Ends the processes there are; these begin now, at their own starting times from
    /// now on.
    pub fn replace_processes(&mut self, specs: Vec<ProcessSpec>) {
        let (now, seed) = (self.now(), self.scenario.seed);
        let begin = |(mut spec, pid): (ProcessSpec, u32)| {
            spec.start = SimTime(spec.start.0.saturating_add(now.0));
            let seed = seed.wrapping_add(u64::from(pid) << 32);
            Process::new(pid, &Arc::new(spec), seed)
        };
        let first = self.processes.len() as u32 + 1;
        self.processes = specs.into_iter().zip(first..).map(begin).collect();
        if matches!(self.phase, Life::Lingering(_)) {
            self.phase = Life::Running;
        }
    }

    /// A hash of everything that it is (XXH3, 64 bits, over its `Debug` form): slow, for
    /// tests that ask whether two machines are the same.
    pub fn state_hash(&self) -> u64 {
        struct Sink(xxhash_rust::xxh3::Xxh3);
        impl std::fmt::Write for Sink {
            fn write_str(&mut self, s: &str) -> std::fmt::Result {
                self.0.update(s.as_bytes());
                Ok(())
            }
        }
        let mut sink = Sink(xxhash_rust::xxh3::Xxh3::new());
        // Writing to a hash cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut sink, format_args!("{self:?}"));
        sink.0.digest()
    }

    fn limits(&self) -> &Limits {
        &self.scenario.run.limits
    }

    /// Puts what happens now to somebody's account.
    fn act_as<T>(
        &mut self,
        actor: Actor,
        cause: Option<EventId>,
        act: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let events = &mut self.mount.vol.events;
        let before = (events.actor, events.cause);
        (events.actor, events.cause) = (actor, cause);
        let done = act(self);
        let events = &mut self.mount.vol.events;
        (events.actor, events.cause) = before;
        done
    }
}
