//! Writing what a device did, as blkparse prints it.

use super::{SECTOR, Traced};
use crate::event::Io;
use std::fmt::Write as _;

/// What happened to a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// It was queued.
    Queued,
    /// Work on it began.
    Issued,
    /// It is done.
    Completed,
}

impl Action {
    fn letter(self) -> char {
        match self {
            Self::Queued => 'Q',
            Self::Issued => 'D',
            Self::Completed => 'C',
        }
    }
}

/// A line of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// What happened.
    pub action: Action,
    /// The request, with the time of what happened.
    pub request: Traced,
}

fn letters(kind: Io) -> &'static str {
    match kind {
        Io::Read => "R",
        Io::Write => "W",
        Io::WriteFua => "WF",
        Io::Discard => "D",
        Io::Flush => "FN",
    }
}

/// Lines as blkparse's default format has them: device, processor, number, time, process,
/// action, kind, first sector, sectors, who.
pub fn text(lines: &[Line]) -> String {
    let mut out = String::new();
    for (nr, line) in (1..).zip(lines) {
        let r = &line.request;
        let (whole, part) = (r.at_ns / 1_000_000_000, r.at_ns % 1_000_000_000);
        let who = match line.action {
            Action::Completed => "[0]",
            Action::Queued | Action::Issued => "[fslab]",
        };
        let place = match r.kind {
            Io::Flush => String::new(),
            _ => format!("{} + {} ", r.offset / SECTOR, r.len / SECTOR),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "  8,0    0 {nr:8} {whole:5}.{part:09}     1 {:>2} {:>3} {place}{who}",
            line.action.letter(),
            letters(r.kind)
        );
    }
    out
}
