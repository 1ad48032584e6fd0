//! Contents of files.

mod fallocate;
mod fiemap;
mod read;
mod seek;
mod truncate;
mod write;

pub use fallocate::FallocateMode;
pub use fiemap::{FiemapExtent, FiemapFlags};
pub use seek::Whence;
pub use write::Source;
