//! The simulated hardware. Knows no filesystem.

pub mod catalogue;
mod drive;
pub mod flash;
pub mod ftl;
pub mod hdd;
mod overlay;
mod ram;

pub use drive::{AtWork, Drive, FlashTotals, HddSpec, Mechanism, Origin, Unstable, Waiting};
pub use overlay::Overlaid;
pub use ram::Ram;

use crate::disk::{Data, ReadAt};
use crate::event::{EventId, Io};
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// What a device is asked to do.
#[derive(Clone, Debug)]
pub enum Op {
    /// Bring bytes into memory.
    Read,
    /// Write these pieces, one after another. `fua`: it counts as done only once it is on
    /// the medium.
    Write {
        /// What to write, each piece with its length in bytes.
        data: Vec<(Data, u64)>,
        /// Forced unit access.
        fua: bool,
    },
    /// These bytes are no longer needed.
    Discard,
    /// Everything done before goes to the medium.
    Flush,
}

/// A request, as it is queued.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do.
    pub op: Op,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// The event that it follows from.
    pub cause: Option<EventId>,
}

impl Op {
    /// What it is, without what it carries.
    pub fn kind(&self) -> Io {
        match self {
            Self::Read => Io::Read,
            Self::Write { fua: false, .. } => Io::Write,
            Self::Write { fua: true, .. } => Io::WriteFua,
            Self::Discard => Io::Discard,
            Self::Flush => Io::Flush,
        }
    }
}

impl Request {
    /// Refuses a range that does not lie on a device of `len` bytes.
    pub(crate) fn check(&self, len: u64) -> Result<(), DeviceError> {
        crate::disk::check_range(self.offset, self.len, len).map_err(|_| self.past_end(len))
    }

    pub(crate) fn past_end(&self, len: u64) -> DeviceError {
        DeviceError::PastEnd {
            offset: self.offset,
            wanted: self.len,
            len,
        }
    }
}

/// What a device has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Requests to read.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Requests to write.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Requests to discard.
    pub discards: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Flushes.
    pub flushes: u64,
}

impl Counters {
    pub(crate) fn count(&mut self, kind: Io, bytes: u64) {
        match kind {
            Io::Read => {
                self.reads += 1;
                self.read_bytes += bytes;
            }
            Io::Write | Io::WriteFua => {
                self.writes += 1;
                self.written_bytes += bytes;
            }
            Io::Discard => {
                self.discards += 1;
                self.discarded_bytes += bytes;
            }
            Io::Flush => self.flushes += 1,
        }
    }
}

/// A block device. Reading by [`ReadAt`] tells what is there without being charged: the
/// one who reads queues a [`Op::Read`] beside it.
pub trait Device: ReadAt + std::fmt::Debug {
    /// Queues a request. Its effect shows in what is read at once; when it is done, and
    /// when it is safe, is the device's affair.
    fn submit(&mut self, request: Request) -> Result<(), DeviceError>;

    /// What it has done so far.
    fn counters(&self) -> Counters;

    /// A copy that shares its contents until one of the two changes.
    fn boxed_clone(&self) -> Box<dyn Device>;

    /// The device as what it is, for the one who made it.
    fn as_any(&self) -> &dyn std::any::Any;

    /// When something happens in it next, if nobody asks for more; `None`: it is at rest.
    /// An ideal device always is.
    fn next_event(&self) -> Option<SimTime> {
        None
    }

    /// Time passes up to `to`, at most up to the next thing that happens, which is told.
    fn advance(&mut self, _to: SimTime) -> Vec<Happening> {
        Vec::new()
    }

    /// Requests that were queued since this was last asked.
    fn take_queued(&mut self) -> Vec<Queued> {
        Vec::new()
    }

    /// Requests numbered from `from` up to, not including, `to` that are not done yet.
    fn outstanding(&self, _from: u64, _to: u64) -> bool {
        false
    }

    /// The number that the next request gets.
    fn next_request(&self) -> u64 {
        0
    }
}

/// A request that entered the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Queued {
    /// Its number; they count up from 0.
    pub request: u64,
    /// What it asks.
    pub kind: Io,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// The event that it follows from.
    pub cause: Option<EventId>,
}

/// Something that happened in a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Happening {
    /// What.
    pub what: DeviceEvent,
    /// The event that it follows from.
    pub cause: Option<EventId>,
}

/// What happens in a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceEvent {
    /// Work on a request began.
    Started(u64),
    /// A request is done.
    Completed(u64),
    /// The cache wrote bytes to the medium: offset, length.
    Destaged(u64, u64),
    /// Pages of flash were programmed, one behind the other, pages of the medium one behind
    /// the other in them.
    Programmed {
        /// First physical page.
        page: u64,
        /// First logical page.
        logical: u64,
        /// The first physical page that they were copied from; `None`: the host wrote them.
        from: Option<u64>,
        /// How many.
        len: u32,
    },
    /// A block of flash was erased.
    Erased(u32),
    /// A block of flash broke.
    Broke(u32),
}

impl Clone for Box<dyn Device> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// Why a device did not do what it was asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DeviceError {
    /// The range is not on the device.
    #[error("bytes {offset} to {end} are past the device's end at {len}", end = offset.saturating_add(*wanted))]
    PastEnd {
        /// First byte.
        offset: u64,
        /// Bytes.
        wanted: u64,
        /// Bytes of the device.
        len: u64,
    },
    /// The medium writes no more.
    #[error(transparent)]
    Failed(#[from] flash::FlashError),
}
