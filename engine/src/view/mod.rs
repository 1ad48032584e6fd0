//! Read-only pictures of an image as plain data: what the page draws and the command
//! line prints. Reads and never changes.

mod block;
pub mod crash;
mod dir;
pub mod fields;
mod groups;
mod inode;
pub mod journal;
pub mod lab;
mod map;
mod names;
pub mod owners;
mod search;
mod summary;
mod types;
mod wording;

pub use block::{OwnerInfo, block, decode_block};
pub use dir::{Listing, dir};
pub use groups::group_rows;
pub use inode::inode;
pub use map::map;
pub use names::{escape, unescape};
pub use search::{SearchError, search};
pub use summary::{fast_commits_left_out, summary, summary_after_replay};
pub use types::*;
