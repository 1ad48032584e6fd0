//! The generators of workloads that come with the language, written in it.

use super::ast::Function;
use super::codegen::{Unit, written};
use super::complete::comment_above;
use super::diag::Lines;
use super::parse;
use std::sync::LazyLock;

/// Their text: to be read, and to be stepped through.
pub const PRELUDE: &str = include_str!("prelude.fsl");

pub(super) static UNIT: LazyLock<Unit<'static>> = LazyLock::new(|| Unit {
    lines: Lines::new(PRELUDE),
    // A test compiles every function of it; a mistake would be found there.
    block: parse::parse(PRELUDE).0,
    prelude: true,
    given: Vec::new(),
});

/// A function of the prelude, for those who look for one.
pub(super) struct Workload {
    pub(super) name: &'static str,
    /// `sequential(path, size = 1M, …)`.
    pub(super) written: String,
    /// The comment above it.
    pub(super) help: String,
    pub(super) params: Vec<&'static str>,
}

/// Those whose names begin with `_` are the others' own affair.
pub(super) fn workloads() -> impl Iterator<Item = Workload> {
    let told = |f: &&Function<'_>| !f.name.name.starts_with('_');
    UNIT.functions().filter(told).map(|function| Workload {
        name: function.name.name,
        written: written(function),
        help: comment_above(PRELUDE, function.name.span.start as usize),
        params: function.params.iter().map(|p| p.name.name).collect(),
    })
}
