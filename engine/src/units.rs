//! Newtypes for the numbers that cross rooms, so that a block number is never
//! taken for a byte offset.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! unit {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$inner> for $name {
            fn from(n: $inner) -> Self {
                Self(n)
            }
        }
    };
}

unit!(
    /// A physical block of the filesystem, counted in filesystem blocks from the
    /// start of the partition.
    BlockNr(u64)
);
unit!(
    /// A logical block of a file, counted in filesystem blocks from its start.
    Lblk(u32)
);
unit!(
    /// An inode number. Numbers start at 1; 0 means "none" on disk.
    InodeNr(u32)
);
unit!(
    /// A block group, counted from 0.
    GroupNr(u32)
);

unit!(
    /// Simulated time, nanoseconds since the run began.
    SimTime(u64)
);

impl BlockNr {
    /// The block `n` further on; saturates, so that hostile numbers stay out of range
    /// instead of wrapping into it.
    #[must_use]
    pub fn plus(self, n: u64) -> Self {
        Self(self.0.saturating_add(n))
    }
}
