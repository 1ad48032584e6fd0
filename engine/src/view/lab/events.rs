//! Events as rows of a log.

use super::words::event_words;
use crate::event::{Event, Kind};
use serde::{Deserialize, Serialize};

/// Where in the machine an event is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Lane {
    /// Processes and their calls.
    Calls,
    /// Pages, and where they are to go.
    Cache,
    /// The journal and metadata.
    Journal,
    /// The device.
    Device,
}

impl Lane {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Calls, Self::Cache, Self::Journal, Self::Device];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calls => "Calls",
            Self::Cache => "Page cache",
            Self::Journal => "Journal",
            Self::Device => "Device",
        }
    }
}

/// An event, told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct EventView {
    /// Its number.
    pub id: u64,
    /// When, ns.
    pub at_ns: u64,
    /// Who acts.
    pub actor: String,
    /// Its kind.
    pub kind: Kind,
    /// Where in the machine.
    pub lane: Lane,
    /// What happened.
    pub words: String,
    /// The event that it follows from.
    pub cause: Option<u64>,
    /// Something went wrong.
    pub error: bool,
    /// The inode that it is about.
    pub inode: Option<u32>,
    /// The blocks that it is about: first, how many.
    pub blocks: Option<(u64, u64)>,
    /// The transaction that it is about.
    pub tid: Option<u32>,
    /// The request that it is about.
    pub request: Option<u64>,
}

/// An event, told.
pub fn event_view(event: &Event) -> EventView {
    let about = event.what.subject();
    let kind = Kind::from(&event.what);
    EventView {
        id: event.id.0,
        at_ns: event.at.0,
        actor: event.actor.to_string(),
        kind,
        lane: lane_of(kind),
        words: event_words(&event.what),
        cause: event.cause.map(|c| c.0),
        error: event.what.is_error(),
        inode: about.inode.map(|i| i.0),
        blocks: about.blocks.map(|(start, len)| (start.0, len)),
        tid: about.tid,
        request: about.request,
    }
}

/// An event as a line of text: number, time in seconds, who, what, and what it follows from.
pub fn event_text(event: &Event) -> String {
    let ns = event.at.0;
    let time = format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000);
    let cause = event
        .cause
        .map(|c| format!("  (from {})", c.0))
        .unwrap_or_default();
    let actor = event.actor.to_string();
    let words = event_words(&event.what);
    format!("{:>7} {time:>12} {actor:<10} {words}{cause}", event.id.0)
}

/// Where in the machine events of a kind are.
pub fn lane_of(kind: Kind) -> Lane {
    match kind {
        Kind::Call
        | Kind::Returned
        | Kind::ProcessStarted
        | Kind::Printed
        | Kind::ProcessEnded
        | Kind::ProcessFailed
        | Kind::Mounted
        | Kind::Unmounted
        | Kind::Error
        | Kind::Warning
        | Kind::ReadOnly => Lane::Calls,
        Kind::Queued
        | Kind::Started
        | Kind::Completed
        | Kind::Destaged
        | Kind::FlashProgrammed
        | Kind::FlashErased
        | Kind::FlashBroke
        | Kind::Read
        | Kind::DataWritten
        | Kind::Discarded
        | Kind::Flushed => Lane::Device,
        Kind::BufferDirtied
        | Kind::BufferWritten
        | Kind::Transaction
        | Kind::Logged
        | Kind::TailMoved
        | Kind::Recovered
        | Kind::Replayed
        | Kind::RecoveryPass
        | Kind::InodeWritten
        | Kind::OrphanAdded
        | Kind::OrphanRemoved => Lane::Journal,
        _ => Lane::Cache,
    }
}

/// A kind in words, for a list to choose from.
pub fn kind_words(kind: Kind) -> String {
    let name: &'static str = kind.into();
    let mut out = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push(' ');
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}
