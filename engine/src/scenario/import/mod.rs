//! What others recorded, as a scenario: logs of `strace`, jobs of `fio`.
//!
//! An import gives a scenario's *text*, in the workload language: what a person can read,
//! change and share.

mod emit;
mod fio;
mod line;
mod strace;
mod world;

pub use fio::{FioOptions, fio};
pub use strace::{StraceOptions, strace};

/// An imported recording.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Imported {
    /// The scenario.
    pub text: String,
    /// What cannot be done again here, with its line in the log and why.
    pub skipped: Vec<Skipped>,
    /// Calls that were left out because they change nothing or are about other places: how
    /// many of each name.
    pub ignored: std::collections::BTreeMap<String, u64>,
    /// Calls that are in the scenario.
    pub calls: u64,
    /// Writes whose bytes are not in the log: a pattern of the same length stands for each.
    pub unknown: u64,
}

/// Something that was left out although it matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Skipped {
    /// Its line, from 1.
    pub line: u64,
    /// What it was.
    pub text: String,
    /// Why, as a sentence.
    pub why: String,
}

/// Why something cannot be imported at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ImportError {
    /// It is too long.
    #[error("the file is {0} bytes long; {MAX_LOG} is the most that is imported")]
    TooLong(usize),
    /// There is nothing in it.
    #[error("{0}")]
    Nothing(&'static str),
    /// A line is not understood.
    #[error("line {line}: {words}")]
    Line {
        /// From 1.
        line: u64,
        /// A sentence.
        words: String,
    },
}

/// Longest log, bytes.
pub const MAX_LOG: usize = 64 << 20;
/// Most lines that are listed as skipped.
const MAX_SKIPPED: usize = 1000;
