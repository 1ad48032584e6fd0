//! The way from a scenario's text to a scenario: the one place that knows how it is read.

use fslab_engine::scenario::{Scenario, ScenarioError};

use crate::worker::lab::Mistake;

/// Reads a scenario; what is wrong with it otherwise.
pub fn parse(text: &str) -> Result<Scenario, Vec<Mistake>> {
    let mistake = |e: ScenarioError| Mistake {
        line: e.line,
        column: e.column,
        len: 1,
        words: match e.help {
            Some(help) => format!("{} ({help})", e.words),
            None => e.words,
        },
    };
    Scenario::parse(text).map_err(|all| all.into_iter().map(mistake).collect())
}
