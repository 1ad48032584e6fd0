//! What is to happen: a scenario's file, its workloads, where they come from.
//!
//! A [`Scenario`] is plain data. Its workloads are programs ([`lang`]) that give one
//! [`Call`] after another; the machine runs them.

mod call;
mod file;
pub mod import;
pub mod lang;
pub mod link;
mod model;

pub use crate::device::HddSpec;
pub use call::{Answer, Call, Contents, Reply};
pub use file::ScenarioError;
pub use model::{
    CacheSpec, DeviceSpec, Expectation, Limits, Medium, ProcessSpec, RunSpec, Scenario,
};
