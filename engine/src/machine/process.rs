//! A process: its program, and what it waits for.

use crate::event::EventId;
use crate::kernel::{Caller, Syncing};
use crate::scenario::lang::Vm;
use crate::scenario::{Answer, ProcessSpec};
use crate::units::SimTime;
use std::sync::Arc;

/// A process of the machine.
#[derive(Clone, Debug)]
pub struct Process {
    pub(super) caller: Caller,
    pub(super) vm: Vm,
    pub(super) state: State,
    pub(super) spec: Arc<ProcessSpec>,
    /// Calls made.
    pub(super) calls: u64,
    /// It has begun.
    pub(super) started: bool,
}

/// What a process is doing.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// It runs at this time.
    Ready(SimTime),
    /// It sleeps until this time: a call of its own.
    Asleep { until: SimTime, call: EventId },
    /// Its call has done its work, and waits for requests of the device: those numbered
    /// from `from` up to, not including, `to`.
    Device {
        from: u64,
        to: u64,
        call: EventId,
        answer: Answer,
    },
    /// `fsync` waits for the pages it sent.
    Pages {
        from: u64,
        to: u64,
        call: EventId,
        sync: Syncing,
    },
    /// `fsync` waits for a transaction.
    Commit { tid: u32, call: EventId },
    /// It has ended.
    Ended,
}

/// What a process does, for people.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, serde::Serialize, serde::Deserialize,
)]
pub enum Doing {
    /// It has not begun.
    NotStarted,
    /// It runs.
    Running,
    /// It sleeps.
    Sleeping,
    /// It waits for the device.
    WaitingForDevice,
    /// It waits for a commit of the journal.
    WaitingForCommit,
    /// It has ended.
    Ended,
}

impl Process {
    pub(super) fn new(pid: u32, spec: &Arc<ProcessSpec>, seed: u64) -> Self {
        Self {
            caller: Caller {
                pid,
                uid: spec.uid,
                gid: spec.gid,
                groups: spec.groups.clone(),
                umask: spec.umask,
            },
            vm: Vm::new(spec.program.clone(), seed),
            state: State::Ready(spec.start),
            spec: spec.clone(),
            calls: 0,
            started: false,
        }
    }

    /// Its number.
    pub fn pid(&self) -> u32 {
        self.caller.pid
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The line of the scenario's text that its program begins at, from 1.
    pub fn first_line(&self) -> u32 {
        self.spec.first_line
    }

    /// Its program.
    pub fn vm(&self) -> &Vm {
        &self.vm
    }

    /// Calls it has made.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// What it does.
    pub fn doing(&self) -> Doing {
        match self.state {
            State::Ready(_) if !self.started => Doing::NotStarted,
            State::Ready(_) => Doing::Running,
            State::Asleep { .. } => Doing::Sleeping,
            State::Device { .. } | State::Pages { .. } => Doing::WaitingForDevice,
            State::Commit { .. } => Doing::WaitingForCommit,
            State::Ended => Doing::Ended,
        }
    }
}
