//! Random calls on the model, the real kernel and fslab.
//!
//! * [`op`], [`strategy`]: what a sequence is, and how sequences are made.
//! * [`model`]: the filesystem in memory that says what must come.
//! * [`linux`]: the real kernel, by loop mounts of images in memory.
//! * [`fslab`]: fslab's kernel.
//! * [`tree`]: whole trees, read by the same calls.
//! * [`sets`]: feature sets. [`run`]: sequences, failures, shrinking.

// Each integration test is a crate of its own and uses a part of this.
#![allow(dead_code)]

mod fiemap;
pub mod fslab;
pub mod linux;
pub mod model;
pub mod op;
pub mod outcome;
pub mod run;
pub mod sets;
pub mod strategy;
pub mod system;
pub mod tree;
