//! A solid-state disk: a page-mapped translation layer over dies on channels.
//!
//! A block of the layer lies across all dies, page i on die i modulo their number, so that
//! a long write keeps all of them busy.

use super::super::ftl::{Ftl, FtlConfig, FtlError, Note, Policy, Recent};
use super::{Deed, FlashError, FlashTiming, MLC, SLC, TLC, Touch};
use std::sync::Arc;

/// Logical pages whose places one page of the map holds: 4 bytes each in 4 KiB.
const MAP_ENTRIES: u32 = 1024;

/// Sizes, rules and times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SsdSpec {
    /// Short name.
    pub name: String,
    /// What it is.
    pub words: String,
    /// Where its numbers come from.
    pub source: String,
    /// Bytes of a page.
    pub page: u64,
    /// Channels.
    pub channels: u32,
    /// Dies, spread over the channels.
    pub dies: u32,
    /// What a die takes.
    pub timing: FlashTiming,
    /// A command's way through controller and wire, ns.
    pub command: u64,
    /// A byte on the wire to the host, picoseconds.
    pub wire_byte: u64,
    /// Pages of the map that the controller keeps in memory; `None`: all of it.
    pub map_pages: Option<u32>,
    /// A capacitor lets it save its cache when power goes.
    pub protected: bool,
    /// The translation layer.
    pub ftl: FtlConfig,
}

/// Names of the classes that are built in.
pub const NAMES: [&str; 5] = ["x25m", "slc", "mlc", "tlc", "dumb"];

impl SsdSpec {
    /// A device of `size` bytes for the host of a class by its name.
    pub fn named(name: &str, size: u64) -> Option<Self> {
        Some(match name {
            "x25m" => Self::x25m(size),
            "slc" => Self::class(
                name,
                "one bit a cell, 25 % spare space",
                SLC,
                250_000,
                100_000,
                size,
            ),
            "mlc" => Self::class(
                name,
                "two bits a cell, 7 % spare space",
                MLC,
                70_000,
                3_000,
                size,
            ),
            "tlc" => Self::class(
                name,
                "three bits a cell, 7 % spare space",
                TLC,
                70_000,
                1_000,
                size,
            ),
            "dumb" => Self::dumb(size),
            _ => return None,
        })
    }

    fn class(
        name: &str,
        words: &str,
        timing: FlashTiming,
        spare: u32,
        cycles: u32,
        size: u64,
    ) -> Self {
        let mut spec = Self {
            name: name.into(),
            words: words.into(),
            source: "flash timing and cycles: shared/devices; 4 channels, a die on each, \
                     SATA's 300 MB/s and blocks of 64 pages on each die: assumptions"
                .into(),
            page: 4096,
            channels: 4,
            dies: 4,
            timing,
            command: 20_000,
            wire_byte: 3_333,
            map_pages: None,
            protected: false,
            ftl: FtlConfig::new(1, 1, 0),
        };
        spec.ftl = spec.layer(size, 64, spare);
        spec.ftl.two_frontiers = true;
        spec.ftl.dynamic_wear = true;
        spec.ftl.static_wear = Some(32);
        spec.ftl.endurance = Some(cycles);
        spec
    }

    /// Intel X25-M of 2008: 10 channels, 4 KiB pages, 512 KiB blocks, 250 MB/s read and
    /// 70 MB/s written (shared/devices).
    fn x25m(size: u64) -> Self {
        let mut spec = Self::class(
            "x25m",
            "Intel X25-M, first generation",
            MLC,
            70_000,
            3_000,
            size,
        );
        spec.source = "10 channels, 4 KiB page, 512 KiB block, 250/70 MB/s: shared/devices; \
                       2 dies a channel, program time and 7 % spare from 80 GB of 80 GiB: \
                       assumptions"
            .into();
        (spec.channels, spec.dies) = (10, 20);
        // 70 MB/s by 20 dies are 4096 bytes in 1.17 ms each, less the bus.
        spec.timing.program = 1_139_000;
        // 250 MB/s on the wire.
        spec.wire_byte = 4_000;
        spec.ftl = FtlConfig {
            streams: spec.ftl.streams,
            ..spec.layer(size, 128, 70_000)
        };
        spec.ftl.dynamic_wear = true;
        spec.ftl.static_wear = Some(32);
        spec.ftl.endurance = Some(3_000);
        spec
    }

    /// A page map and nothing else: one chip, little spare space, blocks collected in the
    /// order in which they were filled, no wear levelling, a small map cache.
    fn dumb(size: u64) -> Self {
        let mut spec = Self::class(
            "dumb",
            "a page map and nothing else on one chip",
            MLC,
            30_000,
            3_000,
            size,
        );
        (spec.channels, spec.dies) = (1, 1);
        spec.ftl = spec.layer(size, 128, 30_000);
        spec.ftl.policy = Policy::Fifo;
        spec.ftl.endurance = Some(3_000);
        spec.map_pages = Some(16);
        spec
    }

    /// A layer for `size` bytes with blocks of so many pages on each die, and `spare`
    /// millionths of all pages beyond.
    pub fn layer(&self, size: u64, pages: u32, spare: u32) -> FtlConfig {
        let logical = size.div_ceil(self.page.max(1)).max(1);
        let keep = u64::from(1_000_000u32.saturating_sub(spare).max(1));
        let physical = logical.saturating_mul(1_000_000).div_ceil(keep);
        // Blocks lie across all dies, unless too few would be left to work with.
        let mut per_block = u64::from(pages) * u64::from(self.dies.max(1));
        while per_block > 8 && physical / per_block < 128 {
            per_block /= 2;
        }
        let mut config = FtlConfig::new(1, per_block.min(1 << 15) as u32, 0);
        config.logical_pages = u32::try_from(logical).unwrap_or(u32::MAX - 1);
        // Blocks that are always free come on top.
        config.two_frontiers = true;
        let blocks = physical.div_ceil(per_block) + u64::from(config.set_aside()) + 1;
        config.blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
        config
    }

    /// Whether such a device can be.
    pub fn check(&self) -> Result<(), FlashError> {
        if self.page == 0 {
            return Err(FlashError::Zero("a page"));
        }
        if self.channels == 0 {
            return Err(FlashError::Zero("the number of channels"));
        }
        if self.dies < self.channels {
            return Err(FlashError::Dies {
                channels: self.channels,
                dies: self.dies,
            });
        }
        Ok(self.ftl.check()?)
    }
}

/// Pages of the map that are in the controller's memory: each has one slot that it can be
/// in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MapCache {
    /// Which page is in each slot, and whether it was changed.
    slots: Vec<Option<(u32, bool)>>,
}

impl MapCache {
    fn new(pages: u32) -> Self {
        Self {
            slots: vec![None; pages.max(1) as usize],
        }
    }

    /// Brings a page of the map in; tells whether it had to be read, and another written.
    fn touch(&mut self, page: u32, change: bool) -> (bool, bool) {
        let n = self.slots.len();
        let slot = &mut self.slots[page as usize % n];
        match slot {
            Some((held, dirty)) if *held == page => {
                *dirty |= change;
                (false, false)
            }
            other => {
                let writes = other.is_some_and(|(_, dirty)| dirty);
                *other = Some((page, change));
                (true, writes)
            }
        }
    }
}

/// What was done so far, beside what the layer counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SsdStats {
    /// Pages of the map that were read because they were not in memory.
    pub map_reads: u64,
    /// Pages of the map that were written to make room for others.
    pub map_writes: u64,
    /// Pages that were read because only a part of them was written.
    pub partial_pages: u64,
}

/// A solid-state disk.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ssd {
    spec: Arc<SsdSpec>,
    ftl: Ftl,
    map: Option<MapCache>,
    /// Where hot and cold data are kept apart: when each page was written last.
    recent: Option<Recent>,
    stats: SsdStats,
}

/// When each die and channel is free again, ns from the access's beginning.
struct Lanes {
    dies: Vec<u64>,
    channels: Vec<u64>,
    timing: FlashTiming,
}

impl Lanes {
    fn new(spec: &SsdSpec) -> Self {
        Self {
            dies: vec![0; spec.dies as usize],
            channels: vec![0; spec.channels as usize],
            timing: spec.timing,
        }
    }

    /// Takes a page from a die's cells to the controller.
    fn read(&mut self, page: u32) {
        let (die, channel) = self.lanes(page);
        self.dies[die] += self.timing.read;
        let begin = self.dies[die].max(self.channels[channel]);
        self.channels[channel] = begin + self.timing.bus;
        self.dies[die] = begin + self.timing.bus;
    }

    /// Sends a page to a die and programs it.
    fn program(&mut self, page: u32) {
        let (die, channel) = self.lanes(page);
        let begin = self.dies[die].max(self.channels[channel]);
        self.channels[channel] = begin + self.timing.bus;
        self.dies[die] = begin + self.timing.bus + self.timing.program;
    }

    /// A block is on all dies.
    fn erase(&mut self) {
        for die in &mut self.dies {
            *die += self.timing.erase;
        }
    }

    fn lanes(&self, page: u32) -> (usize, usize) {
        let die = page as usize % self.dies.len();
        (die, die % self.channels.len())
    }

    fn end(&self) -> u64 {
        self.dies.iter().copied().max().unwrap_or(0)
    }
}

impl Ssd {
    /// A fresh device: nothing was ever written.
    pub fn new(spec: SsdSpec) -> Result<Self, FlashError> {
        spec.check()?;
        Ok(Self {
            ftl: Ftl::new(spec.ftl.clone())?,
            map: spec.map_pages.map(MapCache::new),
            recent: (spec.ftl.streams > 1).then(|| Recent::new(spec.ftl.logical_pages)),
            stats: SsdStats::default(),
            spec: Arc::new(spec),
        })
    }

    /// Sizes, rules and times.
    pub fn spec(&self) -> &SsdSpec {
        &self.spec
    }

    /// The translation layer.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// What was done so far, beside what the layer counts.
    pub fn stats(&self) -> SsdStats {
        self.stats
    }

    /// Writes every page once, and forgets that it did: a device that was in use. Pages stay
    /// in order.
    pub fn fill(&mut self) -> Result<(), FlashError> {
        for page in 0..self.spec.ftl.logical_pages {
            self.ftl.write(page, 0, &mut ())?;
        }
        self.ftl.restart_stats();
        Ok(())
    }

    /// What bytes take between host and controller, ns.
    pub fn by_cache(&self, len: u64) -> u64 {
        self.spec.command + len.saturating_mul(self.spec.wire_byte) / 1000
    }

    /// Does something with pieces of bytes; tells how long it takes, ns. A worn-out device
    /// reads, but writes no more.
    pub fn access(
        &mut self,
        touch: Touch,
        pieces: &[(u64, u64)],
        deeds: &mut Vec<Deed>,
    ) -> Result<u64, FlashError> {
        let mut lanes = Lanes::new(&self.spec);
        let mut bytes = 0;
        for &(offset, len) in pieces {
            bytes += if touch == Touch::Discard { 0 } else { len };
            match touch {
                Touch::Read => self.read(offset, len, &mut lanes),
                Touch::Write => self.write(offset, len, &mut lanes, deeds)?,
                Touch::Discard => self.discard(offset, len, &mut lanes)?,
            }
        }
        // The wire and the flash work side by side.
        Ok(self.by_cache(bytes).max(self.spec.command + lanes.end()))
    }

    fn range(&self, offset: u64, len: u64) -> std::ops::Range<u32> {
        let (first, end) = super::pages(offset, len, self.spec.page);
        let last = u64::from(self.spec.ftl.logical_pages);
        first.min(last) as u32..end.min(last) as u32
    }

    fn read(&mut self, offset: u64, len: u64, lanes: &mut Lanes) {
        for page in self.range(offset, len) {
            self.look_up(page, false, lanes);
            // What was never written is answered from the map.
            if let Some(at) = self.ftl.physical(page) {
                lanes.read(at);
            }
        }
    }

    fn write(
        &mut self,
        offset: u64,
        len: u64,
        lanes: &mut Lanes,
        deeds: &mut Vec<Deed>,
    ) -> Result<(), FlashError> {
        let mut notes: Vec<Note> = Vec::new();
        let size = self.spec.page;
        for page in self.range(offset, len) {
            self.look_up(page, true, lanes);
            let (from, to) = (u64::from(page) * size, (u64::from(page) + 1) * size);
            if from < offset || to > offset + len {
                self.stats.partial_pages += 1;
                if let Some(at) = self.ftl.physical(page) {
                    lanes.read(at);
                }
            }
            let stream = self.recent.as_mut().map_or(0, |r| r.written(page));
            let done = self.ftl.write(page, stream, &mut notes);
            self.charge(&mut notes, lanes, deeds);
            done?;
        }
        Ok(())
    }

    /// Only pages that are given up as a whole count.
    fn discard(&mut self, offset: u64, len: u64, lanes: &mut Lanes) -> Result<(), FtlError> {
        let size = self.spec.page;
        let (first, end) = (offset.div_ceil(size), (offset + len) / size);
        let end = end.min(u64::from(self.spec.ftl.logical_pages));
        for page in first..end {
            if page == first || page.is_multiple_of(u64::from(MAP_ENTRIES)) {
                self.look_up(page as u32, true, lanes);
            }
            self.ftl.trim(page as u32)?;
        }
        Ok(())
    }

    /// Time for what the layer did, and the word of it.
    fn charge(&self, notes: &mut Vec<Note>, lanes: &mut Lanes, deeds: &mut Vec<Deed>) {
        for note in notes.drain(..) {
            deeds.push(match note {
                Note::Programmed {
                    page,
                    logical,
                    from,
                } => {
                    if let Some(from) = from {
                        lanes.read(from);
                    }
                    lanes.program(page);
                    Deed::Programmed {
                        page: page.into(),
                        logical: logical.into(),
                        from: from.map(u64::from),
                    }
                }
                Note::Erased { block } => {
                    lanes.erase();
                    Deed::Erased { block }
                }
                Note::Broke { block } => Deed::Broke { block },
            });
        }
    }

    /// Looks a page up in the map: where a part of it is in memory only, that part may have
    /// to be brought in, and another one saved.
    fn look_up(&mut self, page: u32, change: bool, lanes: &mut Lanes) {
        let Some(map) = &mut self.map else {
            return;
        };
        let part = page / MAP_ENTRIES;
        let (read, written) = map.touch(part, change);
        if written {
            self.stats.map_writes += 1;
            lanes.program(part);
        }
        if read {
            self.stats.map_reads += 1;
            lanes.read(part);
        }
    }
}
