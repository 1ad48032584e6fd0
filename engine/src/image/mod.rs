//! Opens what people upload: compressed images, Android's and QEMU's sparse formats,
//! partition tables; and names what fslab does not read.
//!
//! [`open`] (or [`Opener`], in steps) peels off layers until a disk or a filesystem is
//! left. Every layer reads through [`ReadAt`](crate::disk::ReadAt); only compressed data
//! is kept in memory, without its zeros and up to [`Limits`]. The bound on memory of
//! each part is in its documentation. Nothing here trusts a byte of the input: sizes are
//! checked before they are used, chains have a longest length.

pub mod android;
pub mod expand;
pub mod identify;
mod open;
pub mod partition;
pub mod qcow2;

#[cfg(test)]
mod tests;

pub use expand::Limits;
pub use identify::{Identity, Kind, identify};
pub use open::{LAYERS_MAX, Layer, LayerKind, OpenProgress, Opened, Opener, open};
pub use partition::{Partition, PartitionTable, TableKind};

/// A medium that several layers share.
pub type Medium = std::rc::Rc<dyn crate::disk::ReadAt>;

/// Why an image cannot be opened, or not wholly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Expanding failed.
    #[error(transparent)]
    Expand(#[from] expand::ExpandError),
    /// An Android sparse image that is not usable.
    #[error(transparent)]
    Android(#[from] android::AndroidError),
    /// A qcow2 image that is not usable or not supported.
    #[error(transparent)]
    Qcow2(#[from] qcow2::Qcow2Error),
    /// A layer failed after an outer one came out only in part.
    #[error("{first}; and within that, {then}")]
    After {
        /// The outer layer's problem.
        first: Box<ImageError>,
        /// The inner layer's.
        then: Box<ImageError>,
    },
    /// Layers within layers.
    #[error("the image is packed more than {LAYERS_MAX} times; no more layers are opened")]
    TooDeep,
    /// A partition was asked for where there is no table.
    #[error("there is no partition {number}: the image has no partition table")]
    NoTable {
        /// The number asked for.
        number: u32,
    },
    /// A partition that the table does not have.
    #[error("there is no partition {number} in the image's table; {have}")]
    NoPartition {
        /// The number asked for.
        number: u32,
        /// Those that there are, in words.
        have: String,
    },
    /// A partition of which the image has nothing.
    #[error(
        "partition {number} starts at byte {start}, past the end of the image, which has {len} bytes"
    )]
    PastEnd {
        /// The number asked for.
        number: u32,
        /// Its first byte.
        start: u64,
        /// Bytes of the image.
        len: u64,
    },
}
