//! The generators of workloads that come with the language, written in it.

use super::codegen::Unit;
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
