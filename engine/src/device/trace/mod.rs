//! Traces of block devices: read as blkparse prints them or as the CSV of MSR Cambridge and
//! of SYSTOR '17 (both at SNIA), replayed on a device, and written as blkparse would.

mod read;
mod replay;
mod write;

pub use read::{TraceError, parse};
pub use replay::{Replay, ReplayError, Replayed, replay};
pub use write::{Action, Line, text};

use crate::event::Io;
use serde::{Deserialize, Serialize};

/// Bytes of a sector, in which blkparse counts.
const SECTOR: u64 = 512;

/// A request of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Traced {
    /// When it was queued, ns after the first.
    pub at_ns: u64,
    /// What it asks.
    pub kind: Io,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
}

impl Traced {
    /// The byte behind its last.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}
