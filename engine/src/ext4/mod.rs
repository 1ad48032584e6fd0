//! The on-disk format of ext2, ext3 and ext4: its structures, and what needs only
//! blocks. Knows no device and no time.

pub mod checksum;
mod error;
pub mod journal;
pub mod layout;
pub mod mkfs;
pub mod read;

pub use error::{Error, Flaw, Place, Problem};
