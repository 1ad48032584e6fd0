//! Flash: what is said of it, and what of that cannot be.

use super::super::Reader;
use super::super::units::{Size, Time};
use super::keys::{Count, Device, Percent, quoted};
use crate::device::flash::{
    BlockMappedSpec, CardSpec, Collector, FlashError, FlashTiming, SsdSpec,
};
use crate::device::ftl::{FtlConfig, FtlError, Policy};
use crate::scenario::Medium;
use toml::Spanned;

/// Most pages of flash that are kept track of: 4 bytes each, twice.
const MAX_PAGES: u64 = 1 << 24;
/// Most blocks of a page map: 16 bytes each.
const MAX_BLOCKS: u32 = 1 << 22;
/// Most segments of a card, and erase blocks of a block-mapped device.
const MAX_UNITS: u64 = 1 << 22;
/// Gap of static wear levelling where none is said, erases.
const USUAL_GAP: u32 = 32;

/// Static wear levelling's gap is asked for apart.
#[derive(Clone, Copy, PartialEq)]
enum Wear {
    None,
    Dynamic,
    Static,
    Both,
}

fn set<T: Copy>(to: &mut T, from: &Option<Spanned<T>>) {
    if let Some(from) = from {
        *to = *from.get_ref();
    }
}

fn set_size(to: &mut u64, from: &Option<Spanned<Size>>) {
    if let Some(from) = from {
        *to = from.get_ref().0;
    }
}

fn timing(t: &mut FlashTiming, raw: &Device) {
    let set = |to: &mut u64, from: &Option<Spanned<Time>>| {
        if let Some(from) = from {
            *to = from.get_ref().0;
        }
    };
    set(&mut t.read, &raw.page_read);
    set(&mut t.program, &raw.page_program);
    set(&mut t.bus, &raw.page_bus);
    set(&mut t.erase, &raw.block_erase);
}

impl Reader<'_> {
    pub(super) fn ssd(&mut self, raw: &Device, size: u64) -> Medium {
        let name = raw.canonical().unwrap_or("mlc");
        let Some(mut spec) = SsdSpec::named(name, size) else {
            return Medium::Ram;
        };
        set_size(&mut spec.page, &raw.page_size);
        set(&mut spec.channels, &raw.channels);
        set(&mut spec.dies, &raw.dies);
        if raw.dies.is_none() && raw.channels.is_some() {
            spec.dies = spec.dies.max(spec.channels);
        }
        timing(&mut spec.timing, raw);
        set(&mut spec.protected, &raw.power_loss_protection);
        if let Some(map) = &raw.map_pages {
            spec.map_pages = self.count("map_pages", "all", map);
        }
        let mut good = self.bounded(raw, &spec, size);
        spec.ftl = self.layer(raw, &spec, size);
        if good && (spec.ftl.physical_pages() > 4 * MAX_PAGES || spec.ftl.blocks > MAX_BLOCKS) {
            let words = format!(
                "{} blocks of {} pages are more than is kept track of: {MAX_BLOCKS} blocks, {} pages in all",
                spec.ftl.blocks,
                spec.ftl.pages_per_block,
                4 * MAX_PAGES
            );
            self.wrong(
                raw.span_of(&["blocks", "spare", "over_provisioning"]),
                words,
            );
            good = false;
        }
        if !good {
            return Medium::Ram;
        }
        if let Err(e) = spec.check() {
            self.impossible(raw, &e);
        }
        let filled = raw.filled.as_ref().is_some_and(|f| *f.get_ref());
        Medium::Ssd {
            spec: Box::new(spec),
            filled,
        }
    }

    /// Whether it is no more than can be kept track of.
    fn bounded(&mut self, raw: &Device, spec: &SsdSpec, size: u64) -> bool {
        let page = spec.page;
        if !(512..=1 << 20).contains(&page) {
            let span = raw.span_of(&["page_size"]);
            self.wrong(span, "a page of flash has 512 bytes to 1 MiB");
            return false;
        }
        if spec.dies > 1024 || spec.channels > 1024 {
            let span = raw.span_of(&["dies", "channels"]);
            self.wrong(span, "there may be 1024 channels, and 1024 dies on them");
            return false;
        }
        if size.div_ceil(page) > MAX_PAGES {
            let words = format!(
                "{} pages of {page} bytes are more than the {MAX_PAGES} that are kept track of: \
                 {} bytes are possible",
                size.div_ceil(page),
                MAX_PAGES.saturating_mul(page)
            );
            self.wrong(raw.span_of(&["size", "page_size", "start"]), words);
            return false;
        }
        true
    }

    /// The translation layer: the class's, or one of the sizes that are said.
    fn layer(&mut self, raw: &Device, spec: &SsdSpec, size: u64) -> FtlConfig {
        let mut layer = spec.ftl.clone();
        let logical = size.div_ceil(spec.page.max(1)).clamp(1, MAX_PAGES);
        layer.logical_pages = logical as u32;
        let physical = layer.physical_pages();
        let usual = physical.saturating_sub(logical).saturating_mul(1_000_000);
        let spare = self.spare(raw);
        set(&mut layer.pages_per_block, &raw.pages_per_block);
        if let Some(f) = &raw.frontiers {
            layer.two_frontiers = match f.get_ref() {
                1 => false,
                2 => true,
                n => {
                    let words = format!(
                        "frontiers is 1 or 2, not {n}: one open block for all, or one for the collector as well"
                    );
                    self.wrong(f.span(), words);
                    layer.two_frontiers
                }
            };
        }
        if raw.hot_cold.as_ref().is_some_and(|h| *h.get_ref()) {
            layer.streams = 2;
        }
        set(&mut layer.bad_blocks, &raw.bad_blocks);
        match (&raw.blocks, spare) {
            (Some(blocks), _) => layer.blocks = *blocks.get_ref(),
            (None, spare) => {
                let keep = match spare {
                    Some(spare) => u64::from(1_000_000u32.saturating_sub(spare).max(1)),
                    None => 1_000_000u64.saturating_sub(usual / physical.max(1)).max(1),
                };
                let pages = logical.saturating_mul(1_000_000).div_ceil(keep);
                let blocks = pages.div_ceil(layer.pages_per_block.max(1).into());
                // What is set aside comes on top, as does a block to begin with.
                let aside = u64::from(layer.set_aside()) + u64::from(layer.bad_blocks) + 1;
                if spare.is_some() || raw.changes_layer() {
                    layer.blocks = u32::try_from(blocks + aside).unwrap_or(u32::MAX);
                }
            }
        }
        self.rules(raw, &mut layer);
        layer
    }

    /// Spare space in millionths of all pages.
    fn spare(&mut self, raw: &Device) -> Option<u32> {
        let all: Vec<&str> = raw.given().iter().map(|g| g.0).collect();
        let ways = ["blocks", "spare", "over_provisioning"];
        let said: Vec<&str> = ways.into_iter().filter(|w| all.contains(w)).collect();
        if let [first, second, ..] = said[..] {
            let words = format!("`{first}` and `{second}` both say how much is spare: one will do");
            self.wrong(raw.span_of(&[second]), words);
            return None;
        }
        if let Some(p) = &raw.spare {
            let part = self.percent("spare", p, 999_000, "0 to 99.9")?;
            return Some(part);
        }
        let p = raw.over_provisioning.as_ref()?;
        let part = self.percent("over_provisioning", p, 1_000_000_000, "0 to 100000")?;
        // (T − U) / U is told, (T − U) / T is wanted.
        let (part, whole) = (u64::from(part), u64::from(part) + 1_000_000);
        Some((part * 1_000_000 / whole) as u32)
    }

    fn percent(
        &mut self,
        key: &str,
        said: &Spanned<Percent>,
        most: u32,
        range: &str,
    ) -> Option<u32> {
        let part = said.get_ref().millionths().filter(|p| *p <= most);
        if part.is_none() {
            self.wrong(said.span(), format!("{key} is a percentage from {range}"));
        }
        part
    }

    /// A number, or the word for "no bound".
    fn count(&mut self, key: &str, word: &str, said: &Spanned<Count>) -> Option<u32> {
        match said.get_ref() {
            Count::Word(w) if w == word => None,
            Count::Number(n) if *n > 0 => Some(*n),
            _ => {
                let words = format!("{key} is a number from 1 on, or \"{word}\"");
                self.wrong(said.span(), words);
                None
            }
        }
    }

    /// What is collected, how wear is spread, when a block breaks.
    fn rules(&mut self, raw: &Device, layer: &mut FtlConfig) {
        if let Some(said) = &raw.collector {
            match policy(said.get_ref()) {
                Some(p) => layer.policy = p,
                None => {
                    let words = format!(
                        "collector is {}, not \"{}\"",
                        quoted(&["greedy", "fifo", "random", "d10", "cost-benefit"]),
                        said.get_ref()
                    );
                    self.wrong(said.span(), words);
                }
            }
        }
        if let Some(said) = &raw.endurance {
            layer.endurance = self.count("endurance", "none", said);
        }
        let known = [
            ("none", Wear::None),
            ("dynamic", Wear::Dynamic),
            ("static", Wear::Static),
            ("both", Wear::Both),
        ];
        let gap = raw.wear_gap.as_ref().map(|g| *g.get_ref());
        if let Some(wear) = self.word("wear_levelling", &raw.wear_levelling, &known) {
            layer.dynamic_wear = matches!(wear, Wear::Dynamic | Wear::Both);
            layer.static_wear = matches!(wear, Wear::Static | Wear::Both).then_some(USUAL_GAP);
        }
        if let (Some(gap), Some(to)) = (gap, &mut layer.static_wear) {
            *to = gap;
        }
    }

    pub(super) fn block_mapped(&mut self, raw: &Device, size: u64) -> Medium {
        let mut spec = BlockMappedSpec::new(size);
        set_size(&mut spec.page, &raw.page_size);
        set_size(&mut spec.erase_block, &raw.erase_block);
        timing(&mut spec.timing, raw);
        spec.size = size.next_multiple_of(spec.erase_block.clamp(1, 1 << 40));
        self.units(raw, size, spec.erase_block, "erase blocks");
        if let Err(e) = spec.check() {
            self.impossible(raw, &e);
        }
        Medium::BlockMapped(spec)
    }

    pub(super) fn card(&mut self, raw: &Device, size: u64) -> Medium {
        let name = raw.canonical().unwrap_or("card");
        let Some(mut spec) = CardSpec::named(name, size) else {
            return Medium::Ram;
        };
        set_size(&mut spec.page, &raw.page_size);
        set_size(&mut spec.segment, &raw.segment);
        set(&mut spec.open, &raw.open_segments);
        set(&mut spec.fat_segments, &raw.fat_segments);
        let known = [
            ("linear", Collector::Linear),
            ("remap", Collector::Remap),
            ("log", Collector::Log),
        ];
        if let Some(c) = self.word("collector", &raw.collector, &known) {
            spec.collector = c;
        }
        spec.size = size.next_multiple_of(spec.segment.clamp(1, 1 << 40));
        self.units(raw, size, spec.segment, "segments");
        let few = |n: u32| n <= 4096;
        if !few(spec.open) || !few(spec.fat_segments) {
            let span = raw.span_of(&["open_segments", "fat_segments"]);
            self.wrong(
                span,
                "a card has at most 4096 open segments, and 4096 of a FAT area",
            );
            return Medium::Ram;
        }
        if let Err(e) = spec.check() {
            self.impossible(raw, &e);
        }
        Medium::Card(spec)
    }

    /// Refuses more blocks or segments than are kept track of.
    fn units(&mut self, raw: &Device, size: u64, unit: u64, what: &str) {
        let n = size.div_ceil(unit.max(1));
        if unit > 0 && n > MAX_UNITS {
            let words = format!("{n} {what} are more than the {MAX_UNITS} that are kept track of");
            self.wrong(raw.span_of(&["segment", "erase_block", "size"]), words);
        }
    }

    /// Tells of what cannot be, at the key that is most to blame.
    fn impossible(&mut self, raw: &Device, e: &FlashError) {
        let blamed: &[&str] = match e {
            FlashError::Ftl(FtlError::NoSpare { .. }) => &[
                "blocks",
                "spare",
                "over_provisioning",
                "bad_blocks",
                "pages_per_block",
                "size",
            ],
            FlashError::Ftl(FtlError::Nothing) => &["pages_per_block", "blocks"],
            FlashError::Ftl(FtlError::LongBlock(_)) => &["pages_per_block"],
            FlashError::Ftl(_) => &["size", "blocks"],
            FlashError::Zero("a page") => &["page_size"],
            FlashError::Zero("a segment") => &["segment"],
            FlashError::Zero("the number of channels") => &["channels"],
            FlashError::Zero("the number of open segments") => &["open_segments"],
            FlashError::Zero(_) => &["page_size", "erase_block", "size"],
            FlashError::PageOverBlock { .. } | FlashError::Uneven { .. } => {
                &["page_size", "segment", "erase_block"]
            }
            FlashError::Dies { .. } => &["dies", "channels"],
            FlashError::TooLarge(_) => &["segment", "erase_block", "page_size", "size"],
            FlashError::Unknown(_) => &["name"],
        };
        let hint = match e {
            FlashError::Ftl(FtlError::NoSpare {
                logical, set_aside, ..
            }) => {
                let pages = raw.pages_per_block.as_ref().map_or(0, |p| *p.get_ref());
                (pages > 0).then(|| {
                    let least = logical / pages + set_aside + 1;
                    format!("; with blocks of {pages} pages at least {least} blocks are needed")
                })
            }
            FlashError::Dies { channels, .. } => Some(format!("; at least {channels} are needed")),
            FlashError::Uneven { .. } => Some("; powers of two always do".to_owned()),
            _ => None,
        };
        let words = format!("{e}{}", hint.unwrap_or_default());
        self.wrong(raw.span_of(blamed), words);
    }
}

impl Device {
    /// Whether something is said that the number of blocks follows from.
    fn changes_layer(&self) -> bool {
        self.pages_per_block.is_some()
            || self.page_size.is_some()
            || self.frontiers.is_some()
            || self.hot_cold.is_some()
            || self.bad_blocks.is_some()
    }
}

/// `d10` is the least of ten picked at random, `d4` of four.
fn policy(word: &str) -> Option<Policy> {
    Some(match word {
        "greedy" => Policy::Greedy,
        "fifo" => Policy::Fifo,
        "random" => Policy::Random,
        "cost-benefit" => Policy::CostBenefit,
        other => {
            let d = other.strip_prefix('d')?.parse().ok();
            Policy::DChoices(d.filter(|d| *d > 0)?)
        }
    })
}
