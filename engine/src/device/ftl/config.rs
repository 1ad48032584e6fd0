//! What a translation layer is made of, and what cannot be.

use serde::{Deserialize, Serialize};

/// How the block to collect is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// The one with the fewest valid pages.
    #[default]
    Greedy,
    /// The one that was filled first.
    Fifo,
    /// Any.
    Random,
    /// The one with the fewest valid pages of so many picked at random.
    DChoices(u8),
    /// The greatest age · (1 − u) / (2u), u being the share of valid pages (Kawaguchi,
    /// Nishioka, Motoda, "A flash-memory based file system", 1995).
    CostBenefit,
}

/// Sizes and rules of a translation layer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FtlConfig {
    /// Physical blocks.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// How victims are chosen.
    pub policy: Policy,
    /// The host's writes and the collector's go to open blocks of their own.
    pub two_frontiers: bool,
    /// How many kinds of data have open blocks of their own: 2 for hot and cold.
    pub streams: u8,
    /// Free blocks with few erases are used first.
    pub dynamic_wear: bool,
    /// A full block that lags so many erases behind the one just erased is moved, so that
    /// it wears as well. `None`: never.
    pub static_wear: Option<u32>,
    /// A block breaks at so many erases. `None`: never.
    pub endurance: Option<u32>,
    /// Blocks that are broken from the start, chosen by the seed.
    pub bad_blocks: u32,
    /// Where random numbers come from.
    pub seed: u64,
}

impl FtlConfig {
    /// Blocks × pages with a share of spare space, greedy, one frontier. `spare`: Sf, of the
    /// physical pages, in millionths.
    pub fn new(blocks: u32, pages_per_block: u32, spare: u32) -> Self {
        let physical = u64::from(blocks) * u64::from(pages_per_block);
        let used = u64::from(1_000_000u32.saturating_sub(spare));
        let logical = physical.saturating_mul(used) / 1_000_000;
        Self {
            blocks,
            pages_per_block,
            logical_pages: u32::try_from(logical).unwrap_or(u32::MAX),
            policy: Policy::Greedy,
            two_frontiers: false,
            streams: 1,
            dynamic_wear: false,
            static_wear: None,
            endurance: None,
            bad_blocks: 0,
            seed: 1,
        }
    }

    /// Physical pages.
    pub fn physical_pages(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.pages_per_block)
    }

    /// Free blocks that the host cannot have: one for each kind of open block, so that a
    /// victim's valid pages always have somewhere to go.
    pub fn kept_free(&self) -> u32 {
        1 + u32::from(self.two_frontiers)
    }

    /// Blocks that never hold what the host may fill: those kept free, and open ones but
    /// the first.
    pub fn set_aside(&self) -> u32 {
        let fronts = u32::from(self.streams) * (1 + u32::from(self.two_frontiers));
        self.kept_free() + fronts.saturating_sub(1)
    }

    /// Whether such a layer can work.
    pub fn check(&self) -> Result<(), FtlError> {
        if self.blocks == 0 || self.pages_per_block == 0 {
            return Err(FtlError::Nothing);
        }
        if self.pages_per_block > 1 << 15 {
            return Err(FtlError::LongBlock(self.pages_per_block));
        }
        // Numbers of pages are kept in 32 bits, the last of which means "none".
        if self.physical_pages() >= u64::from(u32::MAX) {
            return Err(FtlError::TooMany(self.physical_pages()));
        }
        if self.logical_pages == 0 {
            return Err(FtlError::NoLogical);
        }
        if self.streams == 0 || self.streams > 8 {
            return Err(FtlError::Streams(self.streams));
        }
        if self.policy == Policy::DChoices(0) {
            return Err(FtlError::NoChoice);
        }
        let gone = self.set_aside().saturating_add(self.bad_blocks);
        let left = u64::from(self.blocks.saturating_sub(gone)) * u64::from(self.pages_per_block);
        if u64::from(self.logical_pages) >= left {
            return Err(FtlError::NoSpare {
                logical: self.logical_pages,
                physical: self.physical_pages(),
                set_aside: gone,
            });
        }
        Ok(())
    }
}

/// Why a translation layer cannot be, or cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FtlError {
    /// No blocks or no pages.
    #[error("flash needs at least one block, and a block at least one page")]
    Nothing,
    /// Blocks are too long.
    #[error("a block of {0} pages is more than the 32768 that are counted")]
    LongBlock(u32),
    /// There are too many pages.
    #[error("{0} pages are more than the 4294967294 that can be numbered")]
    TooMany(u64),
    /// Nothing is left for the host.
    #[error("no pages are left for the host: the spare share has to be less than all")]
    NoLogical,
    /// Too few or too many streams.
    #[error("{0} streams: there have to be 1 to 8")]
    Streams(u8),
    /// d-choices of none.
    #[error("of no blocks none can be chosen: d has to be at least 1")]
    NoChoice,
    /// There is no room to collect in.
    #[error(
        "no spare blocks: {logical} logical pages of {physical} physical ones leave nothing \
         to collect in, with {set_aside} blocks set aside"
    )]
    NoSpare {
        /// Pages of the host.
        logical: u32,
        /// Pages of the flash.
        physical: u64,
        /// Blocks that never hold the host's data.
        set_aside: u32,
    },
    /// A page that is not there.
    #[error("page {page} is past the device's {pages} pages")]
    PastEnd {
        /// The page.
        page: u32,
        /// How many there are.
        pages: u32,
    },
    /// It is worn out.
    #[error(
        "the flash is worn out: {bad} of {blocks} blocks are broken, and no room is left to write"
    )]
    WornOut {
        /// Broken blocks.
        bad: u32,
        /// Blocks.
        blocks: u32,
    },
}
