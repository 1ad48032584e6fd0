//! What a card is made of.

use super::super::FlashError;
use serde::{Deserialize, Serialize};

/// What a card does with writes inside a segment, and when it closes one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Collector {
    /// A new segment is filled from its begin to its end only: what is skipped is copied,
    /// and to go back means to begin anew.
    #[default]
    Linear,
    /// Pages come into the new segment in any order; closing copies those that are missing.
    Remap,
    /// Pages come into a log in any order; closing merges log and old segment into a third.
    Log,
}

/// Sizes, rules and times. All times are in ns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CardSpec {
    /// Short name.
    pub name: String,
    /// What it is.
    pub words: String,
    /// Where its numbers come from.
    pub source: String,
    /// Bytes that the host sees.
    pub size: u64,
    /// Bytes of a segment (allocation unit): what is erased together.
    pub segment: u64,
    /// Bytes of a page.
    pub page: u64,
    /// Segments that can be open at a time, those of the FAT area aside.
    pub open: u32,
    /// What it does with writes.
    pub collector: Collector,
    /// Segments at the begin that are kept by logging, for a FAT's small writes.
    pub fat_segments: u32,
    /// A command.
    pub command: u64,
    /// A byte to the host, picoseconds.
    pub read_byte: u64,
    /// Bringing a pair of pages from the cells, on two planes.
    pub pair_load: u64,
    /// The pair's second page, where both are wanted.
    pub second_load: u64,
    /// What the slower of the two kinds of page takes more: the two bits of a cell are in
    /// pages of two kinds.
    pub slow_page: u64,
    /// Beginning to read in another segment.
    pub segment_load: u64,
    /// A page that the host writes, from the wire into the cells.
    pub program: u64,
    /// A page copied inside.
    pub copy: u64,
    /// Erasing a segment.
    pub erase: u64,
    /// What a read of an open segment takes less.
    pub open_faster: u64,
    /// What a read of the FAT area takes more.
    pub fat_slower: u64,
    /// What a read of an erased segment takes less.
    pub erased_faster: u64,
}

/// Names of the cards that are built in.
pub const NAMES: [&str; 2] = ["card", "card2"];

impl CardSpec {
    /// A card by its name.
    pub fn named(name: &str, size: u64) -> Option<Self> {
        match name {
            "card" => Some(Self::lwn(size)),
            "card2" => Some(Self::flashbench(size)),
            _ => None,
        }
    }

    /// The card of LWN, 23 February 2011: 13.5 MB/s read, 11.5 MB/s written in order,
    /// 33 KB/s between two segments in turns.
    fn lwn(size: u64) -> Self {
        Self {
            name: "card".into(),
            words: "the SD card of LWN's article on cheap flash: one open segment".into(),
            source: "segments, pages, rates, FAT area: shared/devices, \"SD card\"; loads \
                     from flashbench's -a there; command, erase and the small differences \
                     between kinds of segment and page: assumptions"
                .into(),
            size,
            segment: 4 << 20,
            page: 8 << 10,
            open: 1,
            collector: Collector::Linear,
            fat_segments: 2,
            command: 200_000,
            // 16 KiB by 13.5 MB/s are 1213.6 µs, of which 203 are loads: 61.68 ns a byte.
            read_byte: 61_680,
            pair_load: 150_000,
            second_load: 53_000,
            slow_page: 10_000,
            segment_load: 150_000,
            // 4 MiB by 11.5 MB/s are 364.7 ms, less command and erase, over 512 pages.
            program: 706_000,
            // 8 KiB by 33 KB/s are 248.2 ms, less 3.9 ms, over the 511 other pages.
            copy: 478_200,
            // An erase of flash with two bits a cell (shared/devices).
            erase: 3_000_000,
            open_faster: 40_000,
            fat_slower: 30_000,
            erased_faster: 20_000,
        }
    }

    /// The card of flashbench's README: two open segments.
    fn flashbench(size: u64) -> Self {
        Self {
            name: "card2".into(),
            words: "the card of flashbench's README: two open segments".into(),
            source: "--open-au's table in shared/devices: 8.79 MB/s in order, copies from \
                     the row of three segments; the rest as for \"card\""
                .into(),
            open: 2,
            // 4 MiB by 8.79 MB/s are 477.2 ms, less command and erase, over 512 pages.
            program: 925_000,
            // 256 KiB by 0.912 MB/s are 287.4 ms, less 32 programs, over 480 pages.
            copy: 530_000,
            ..Self::lwn(size)
        }
    }

    /// Pages of a segment.
    pub fn pages(&self) -> u32 {
        (self.segment / self.page.max(1)) as u32
    }

    /// Segments that the host sees.
    pub fn segments(&self) -> u64 {
        self.size.div_ceil(self.segment.max(1))
    }

    /// Whether such a card can be.
    pub fn check(&self) -> Result<(), FlashError> {
        for (size, name) in [
            (self.size, "a card's size"),
            (self.segment, "a segment"),
            (self.page, "a page"),
            (self.open.into(), "the number of open segments"),
        ] {
            if size == 0 {
                return Err(FlashError::Zero(name));
            }
        }
        if self.page > self.segment {
            return Err(FlashError::PageOverBlock {
                page: self.page,
                block: self.segment,
            });
        }
        if !self.segment.is_multiple_of(self.page) {
            return Err(FlashError::Uneven {
                part: self.page,
                whole: self.segment,
            });
        }
        if self.segments() > 1 << 24 || self.segment / self.page >= u64::from(u16::MAX) {
            return Err(FlashError::TooLarge(self.segments()));
        }
        Ok(())
    }
}
