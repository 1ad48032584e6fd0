//! What a scenario says, as data.

use super::lang::Program;
use crate::crash::Rules;
use crate::device::HddSpec;
use crate::device::flash::{BlockMappedSpec, CardSpec, SsdSpec};
use crate::device::hdd::{DiskSpec, Order};
use crate::ext4::mkfs;
use crate::kernel::MountOptions;
use crate::units::SimTime;
use std::sync::Arc;

/// A scenario: everything that a run depends on.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The text it was read from, byte for byte: what is shared and saved.
    pub text: Arc<str>,
    /// A line that names it.
    pub title: String,
    /// What one will see, in a few sentences.
    pub about: String,
    /// Where all random numbers come from.
    pub seed: u64,
    /// The hardware.
    pub device: DeviceSpec,
    /// How the filesystem is made.
    pub mkfs: mkfs::Options,
    /// How it is mounted, and the kernel's settings.
    pub mount: MountOptions,
    /// Who does what.
    pub processes: Vec<ProcessSpec>,
    /// How long it runs, and what ends it.
    pub run: RunSpec,
    /// What the device promises of writes that no flush has made safe.
    pub rules: Rules,
    /// Classes of what a power cut leaves: a disk is of the first whose condition is true.
    pub outcomes: Vec<Expectation>,
    /// What has to hold after a power cut.
    pub expectations: Vec<Expectation>,
    /// What the page is to show: the page's affair, kept as it was written.
    pub show: Vec<String>,
}

/// The hardware under the filesystem.
#[derive(Clone, PartialEq, Debug)]
pub struct DeviceSpec {
    /// Bytes.
    pub size: u64,
    /// What it is.
    pub medium: Medium,
    /// Where on the medium it begins, bytes: the offset of its partition.
    pub start: u64,
    /// Its write cache; `None`: a write is done when it is on the medium.
    pub cache: Option<CacheSpec>,
}

/// A volatile write cache.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CacheSpec {
    /// Bytes.
    pub size: u64,
}

/// What holds the bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum Medium {
    /// Memory: every request takes the same short time.
    Ram,
    /// A disk that turns, in its simplest form.
    Hdd(HddSpec),
    /// A disk with zones and a seek curve, which serves its queue in an order.
    Disk(DiskSpec, Order),
    /// A solid-state disk with a page map. `filled`: all of it was written once before.
    Ssd {
        /// Sizes, rules, times.
        spec: Box<SsdSpec>,
        /// All of it was written once before.
        filled: bool,
    },
    /// A solid-state disk with a map of blocks.
    BlockMapped(BlockMappedSpec),
    /// A card.
    Card(CardSpec),
}

/// A process.
#[derive(Clone, Debug)]
pub struct ProcessSpec {
    /// What it is called; different for each.
    pub name: String,
    /// User, group, other groups.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Other groups that it is in.
    pub groups: Vec<u32>,
    /// Permissions that it takes away from what it makes.
    pub umask: u16,
    /// When it starts.
    pub start: SimTime,
    /// Whether a call that fails ends it.
    pub stop_on_error: bool,
    /// Its program, as written.
    pub source: Arc<str>,
    /// Where the program begins in the scenario's text: line (from 1) of its first line.
    pub first_line: u32,
    /// Its program.
    pub program: Arc<Program>,
}

/// How long a run goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunSpec {
    /// After the last process has ended, the kernel goes on for so long.
    pub linger: SimTime,
    /// The filesystem is unmounted at the end.
    pub unmount: bool,
    /// What ends it in any case.
    pub limits: Limits,
    /// What a call costs the processor, ns.
    pub call_cost: SimTime,
    /// What a page (4 KiB) that is copied costs it, ns.
    pub page_cost: SimTime,
}

/// Bounds of a run: a stranger's scenario cannot run past them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Events.
    pub events: u64,
    /// Calls.
    pub calls: u64,
    /// Instructions of programs between two calls.
    pub instructions: u64,
    /// Simulated time.
    pub time: SimTime,
}

/// What is asked of a disk after a power cut.
#[derive(Clone, PartialEq, Debug)]
pub struct Expectation {
    /// What it is called.
    pub name: String,
    /// The condition, in the workload language.
    pub condition: String,
    /// Line (from 1) in the scenario's text.
    pub line: u32,
    /// The condition, compiled.
    pub program: Arc<Program>,
}

const SECOND: u64 = 1_000_000_000;

impl Limits {
    /// No scenario may ask for more.
    pub const MOST: Self = Self {
        events: 20_000_000,
        calls: 5_000_000,
        instructions: 50_000_000,
        time: SimTime(30 * 24 * 3600 * SECOND),
    };
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            events: 2_000_000,
            calls: 500_000,
            instructions: 5_000_000,
            time: SimTime(24 * 3600 * SECOND),
        }
    }
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            linger: SimTime(35 * SECOND),
            unmount: true,
            limits: Limits::default(),
            call_cost: SimTime(2_000),
            page_cost: SimTime(300),
        }
    }
}
