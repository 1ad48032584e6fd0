//! Read-only pictures of an image as plain data: what the page draws and the command
//! line prints. Reads and never changes.

mod names;
pub mod owners;
mod types;

pub use names::{escape, unescape};
pub use types::*;
