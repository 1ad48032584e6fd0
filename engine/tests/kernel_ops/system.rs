//! What can run a sequence.

use super::op::Op;
use super::outcome::Outcome;

/// A filesystem that calls are made on. Descriptors are named by slots; opening into a
/// slot closes what was in it.
pub trait System {
    /// Makes one call.
    fn run(&mut self, op: &Op) -> Outcome;

    /// For messages.
    fn name(&self) -> &'static str;
}
