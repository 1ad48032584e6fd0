//! The engine of fslab: the ext2/3/4 filesystem, the hardware under it, and the
//! pictures of both as plain data.
//!
//! Deterministic, synchronous, without `unsafe`, without a clock or a browser.
//! Nothing here panics on any image.
#![forbid(unsafe_code)]

pub mod crash;
pub mod device;
pub mod disk;
pub mod event;
pub mod ext4;
pub mod image;
pub mod jbd2;
pub mod kernel;
pub mod machine;
pub mod recording;
pub mod scenario;
pub mod units;
pub mod view;
