//! Media of flash: how long an access takes, and what it did to the flash.

mod block_mapped;
mod card;
pub mod probe;
mod ssd;
mod timing;

pub use block_mapped::{BlockMapped, BlockMappedSpec, BlockMappedStats};
pub use card::{Card, CardSpec, CardStats, Collector, Open, Segment};
pub use ssd::{MapCache, Ssd, SsdSpec, SsdStats};
pub use timing::{FlashTiming, MLC, SLC, TLC};

use super::DeviceEvent;
use super::ftl::FtlError;
use crate::event::EventId;

/// A medium of flash.
#[allow(
    clippy::large_enum_variant,
    reason = "there is one in a machine, and its owner boxes it"
)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flash {
    /// A solid-state disk with a page map.
    Ssd(Ssd),
    /// A solid-state disk with a map of blocks.
    BlockMapped(BlockMapped),
    /// A card.
    Card(Card),
}

/// Names of the media that are built in.
pub fn names() -> impl Iterator<Item = &'static str> {
    ssd::NAMES
        .into_iter()
        .chain(["block-mapped"])
        .chain(card::NAMES)
}

impl Flash {
    /// A medium of `size` bytes by its name.
    pub fn named(name: &str, size: u64) -> Result<Self, FlashError> {
        if let Some(spec) = SsdSpec::named(name, size) {
            return Ok(Self::Ssd(Ssd::new(spec)?));
        }
        if let Some(spec) = CardSpec::named(name, size) {
            return Ok(Self::Card(Card::new(spec)?));
        }
        match name {
            "block-mapped" => {
                let spec = BlockMappedSpec::new(size);
                Ok(Self::BlockMapped(BlockMapped::new(spec)?))
            }
            _ => Err(FlashError::Unknown(name.to_owned())),
        }
    }

    /// Bytes that the host sees.
    pub fn size(&self) -> u64 {
        match self {
            Self::Ssd(d) => u64::from(d.spec().ftl.logical_pages) * d.spec().page,
            Self::BlockMapped(d) => d.spec().size,
            Self::Card(d) => d.spec().size,
        }
    }

    /// Bytes that are best written together: a block of the block-mapped, a segment of a
    /// card; an SSD does not care.
    pub fn unit(&self) -> u64 {
        match self {
            Self::Ssd(d) => d.spec().page,
            Self::BlockMapped(d) => d.spec().erase_block,
            Self::Card(d) => d.spec().segment,
        }
    }

    /// Erased blocks, or a card's erased segments.
    pub fn free_blocks(&self) -> u64 {
        match self {
            Self::Ssd(d) => d.ftl().free_blocks() as u64,
            Self::BlockMapped(d) => d.spare().len() as u64,
            Self::Card(d) => d.spare().len() as u64,
        }
    }

    /// Bytes of a page: what [`Deed`]s count in.
    pub fn page(&self) -> u64 {
        match self {
            Self::Ssd(d) => d.spec().page,
            Self::BlockMapped(d) => d.spec().page,
            Self::Card(d) => d.spec().page,
        }
    }

    /// What bytes take between host and controller, ns.
    pub fn by_cache(&self, len: u64) -> u64 {
        match self {
            Self::Ssd(d) => d.by_cache(len),
            // SATA of the time: 150 MB/s.
            Self::BlockMapped(_) => 20_000 + len.saturating_mul(6_667) / 1000,
            Self::Card(d) => d.spec().command + len.saturating_mul(d.spec().read_byte) / 1000,
        }
    }

    /// Does something with pieces of bytes, given as offset and length, ascending; tells how
    /// long it takes, ns, and what was done.
    pub fn access(
        &mut self,
        touch: Touch,
        pieces: &[(u64, u64)],
        deeds: &mut Vec<Deed>,
    ) -> Result<u64, FlashError> {
        match self {
            Self::Ssd(d) => d.access(touch, pieces, deeds),
            Self::BlockMapped(d) => Ok(d.access(touch, pieces, deeds)),
            Self::Card(d) => Ok(d.access(touch, pieces, deeds)),
        }
    }
}

/// What a medium is asked to do with a range of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// Read it.
    Read,
    /// Write it.
    Write,
    /// It is no longer needed.
    Discard,
}

/// What a medium did inside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A page was programmed; pages are counted over the whole flash.
    Programmed {
        /// The physical page.
        page: u64,
        /// The logical page that it holds.
        logical: u64,
        /// The physical page that it was copied from; `None`: the host wrote it.
        from: Option<u64>,
    },
    /// A block was erased.
    Erased {
        /// The block.
        block: u32,
    },
    /// A block broke.
    Broke {
        /// The block.
        block: u32,
    },
}

/// Why a medium of flash cannot be, or does not do what it was asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FlashError {
    /// The translation layer says so.
    #[error(transparent)]
    Ftl(#[from] FtlError),
    /// A size is zero.
    #[error("{0} cannot be zero")]
    Zero(&'static str),
    /// A page is larger than a block.
    #[error("a page of {page} bytes is larger than a block of {block}")]
    PageOverBlock {
        /// Bytes of a page.
        page: u64,
        /// Bytes of a block.
        block: u64,
    },
    /// A size does not divide another.
    #[error("{part} bytes do not divide {whole}")]
    Uneven {
        /// The smaller.
        part: u64,
        /// The larger.
        whole: u64,
    },
    /// It has too few dies.
    #[error("{dies} dies cannot hang on {channels} channels: each has at least one")]
    Dies {
        /// Channels.
        channels: u32,
        /// Dies.
        dies: u32,
    },
    /// There is no device of this name.
    #[error("there is no device \"{0}\"; `fslab device list` names them")]
    Unknown(String),
    /// There are too many blocks.
    #[error("{0} blocks are more than a device of this kind can number")]
    TooLarge(u64),
}

/// Tells of deeds and their causes; pages that follow each other for one cause as one.
pub(super) fn tell(
    deeds: &[Deed],
    cause_of: impl Fn(&Deed) -> Option<EventId>,
    mut told: impl FnMut(DeviceEvent, Option<EventId>),
) {
    let mut run: Option<(u64, u64, Option<u64>, u32)> = None;
    let mut cause = None;
    let programmed = |(page, logical, from, len)| DeviceEvent::Programmed {
        page,
        logical,
        from,
        len,
    };
    for deed in deeds {
        let this = cause_of(deed);
        if let (
            Deed::Programmed {
                page,
                logical,
                from,
            },
            Some((p, l, f, n)),
        ) = (*deed, &mut run)
            && page == *p + u64::from(*n)
            && logical == *l + u64::from(*n)
            && from == f.map(|f| f + u64::from(*n))
            && this == cause
        {
            *n += 1;
            continue;
        }
        if let Some(done) = run.take() {
            told(programmed(done), cause);
        }
        cause = this;
        match *deed {
            Deed::Programmed {
                page,
                logical,
                from,
            } => run = Some((page, logical, from, 1)),
            Deed::Erased { block } => told(DeviceEvent::Erased(block), this),
            Deed::Broke { block } => told(DeviceEvent::Broke(block), this),
        }
    }
    if let Some(last) = run {
        told(programmed(last), cause);
    }
}

/// The pages of `size` bytes that a range touches: the first, and the one behind the last.
fn pages(offset: u64, len: u64, size: u64) -> (u64, u64) {
    (offset / size, offset.saturating_add(len).div_ceil(size))
}

/// Pages at a range's ends that are touched in part: what is not written has to be read.
fn partial(offset: u64, len: u64, size: u64) -> u64 {
    let (first, end) = pages(offset, len, size);
    let off = |at: u64| !at.is_multiple_of(size);
    let (begins, ends) = (off(offset), off(offset.saturating_add(len)));
    match end - first {
        0 => 0,
        1 => u64::from(begins || ends),
        _ => u64::from(begins) + u64::from(ends),
    }
}
