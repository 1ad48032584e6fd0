//! A machine at an instant.

use super::device::{self, DeviceView};
use super::events::{EventView, event_view};
use super::journal::{self, LogView};
use super::medium::{self, MediumView};
use super::memory::{self, FileView};
use crate::event::Event;
use crate::machine::{Doing, Gauges, Machine, Process};
use crate::recording::{Instant, Recording};
use crate::units::InodeNr;
use serde::{Deserialize, Serialize};

/// Most events of a step that are told; a step of a large call has thousands.
const EVENTS: usize = 400;
/// Most open files that are listed.
const OPEN: usize = 64;
/// Most variables of a process, and characters of a value.
const VARIABLES: usize = 32;
const VALUE: usize = 120;

/// A machine at an instant: what is not on its disk, and what just happened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// The event that it is at.
    pub event: u64,
    /// The step that the event belongs to: first event, one past the last.
    pub step: (u64, u64),
    /// Simulated time, ns.
    pub time_ns: u64,
    /// Figures.
    pub gauges: Gauges,
    /// Processes, by their numbers.
    pub processes: Vec<ProcessView>,
    /// Open files.
    pub open: Vec<OpenRow>,
    /// Files with something in memory that matters: dirty, open, or chosen.
    pub files: Vec<FileView>,
    /// Files beyond those.
    pub more_files: u64,
    /// The journal, where there is one.
    pub journal: Option<LogView>,
    /// The device.
    pub device: DeviceView,
    /// What is inside it.
    pub medium: MediumView,
    /// What happened in this step.
    pub events: Vec<EventView>,
    /// Events of the step beyond those.
    pub more_events: u64,
}

/// A process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ProcessView {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// What it does.
    pub doing: Doing,
    /// The line being executed, from 1, in the scenario's text; 0 where there is none.
    pub line: u32,
    /// Variables in sight.
    pub variables: Vec<(String, String)>,
    /// Calls made.
    pub calls: u64,
}

/// An open file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpenRow {
    /// The process that has it.
    pub pid: u32,
    /// The descriptor.
    pub fd: u32,
    /// The file.
    pub inode: u32,
    /// Where the next read or write is, bytes.
    pub offset: u64,
}

/// The picture of an instant. `chosen`: a file to show whatever is in memory of it.
pub fn frame(recording: &Recording, instant: &Instant, chosen: Option<InodeNr>) -> Frame {
    let machine = &instant.machine;
    let (files, more_files) = memory::files(machine, chosen);
    let told = around(&instant.events, instant.event);
    Frame {
        event: instant.event,
        step: recording.index().step_of(instant.event),
        time_ns: recording.index().time(instant.event).0,
        gauges: machine.gauges(),
        processes: machine.processes().iter().map(process).collect(),
        open: open(machine),
        files,
        more_files,
        journal: journal::log(machine),
        device: device::device(machine),
        medium: medium::medium(machine, &instant.events),
        events: told.iter().map(event_view).collect(),
        more_events: (instant.events.len() - told.len()) as u64,
    }
}

/// The part of a step's events that the chosen one is in.
fn around(events: &[Event], chosen: u64) -> &[Event] {
    let at = events.partition_point(|e| e.id.0 < chosen);
    let from = at
        .saturating_sub(EVENTS / 2)
        .min(events.len().saturating_sub(EVENTS));
    &events[from..(from + EVENTS).min(events.len())]
}

fn process(p: &Process) -> ProcessView {
    let inner = p.vm().line();
    let line = match inner {
        0 => 0,
        n => p.first_line().saturating_add(n - 1),
    };
    let variables = p.vm().variables().into_iter().take(VARIABLES);
    ProcessView {
        pid: p.pid(),
        name: p.name().to_owned(),
        doing: p.doing(),
        line,
        variables: variables.map(|(n, v)| (n, short(v))).collect(),
        calls: p.calls(),
    }
}

fn short(value: String) -> String {
    if value.chars().count() <= VALUE {
        return value;
    }
    value.chars().take(VALUE - 1).chain(['…']).collect()
}

fn open(machine: &Machine) -> Vec<OpenRow> {
    let row = |o: crate::kernel::OpenView| OpenRow {
        pid: o.pid,
        fd: o.fd.0,
        inode: o.inode.0,
        offset: o.offset,
    };
    machine.mount().open_files().take(OPEN).map(row).collect()
}
