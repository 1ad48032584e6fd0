//! The section's keys, and which kinds of device each is for.

use super::super::units::{Size, Time};
use crate::device::catalogue;
use serde::Deserialize;
use std::ops::Range;
use toml::Spanned;

/// What kind of hardware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Ram,
    Hdd,
    Disk,
    Ssd,
    BlockMapped,
    Card,
}

impl Kind {
    pub(super) const ALL: [Self; 6] = [
        Self::Ram,
        Self::Hdd,
        Self::Disk,
        Self::Ssd,
        Self::BlockMapped,
        Self::Card,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ram => "ram",
            Self::Hdd => "hdd",
            Self::Disk => "disk",
            Self::Ssd => "ssd",
            Self::BlockMapped => "block-mapped",
            Self::Card => "card",
        }
    }

    pub(super) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.word() == word)
    }
}

/// Kinds as a sentence has them.
pub(super) fn list(kinds: &[Kind]) -> String {
    let words: Vec<&str> = kinds.iter().map(|k| k.word()).collect();
    quoted(&words)
}

/// `"a", "b" or "c"`.
pub(super) fn quoted(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// A number, or a word that stands for one.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(untagged, expecting = "a number or a word in quotes")]
pub(super) enum Count {
    Number(u32),
    Word(String),
}

/// A percentage, as `7`, `12.5` or `"7%"`.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(untagged, expecting = "a percentage, as 7 or \"7%\"")]
pub(super) enum Percent {
    Number(f64),
    Word(String),
}

impl Percent {
    /// In millionths of the whole; `None`: it is no number.
    pub(super) fn millionths(&self) -> Option<u32> {
        let percent = match self {
            Self::Number(n) => *n,
            Self::Word(w) => w.trim().trim_end_matches('%').trim().parse().ok()?,
        };
        let fits = (0.0..=100_000.0).contains(&percent);
        fits.then(|| (percent * 10_000.0).round() as u32)
    }
}

/// Where a partition begins.
#[derive(Deserialize, Clone, PartialEq, Debug)]
#[serde(untagged, expecting = "a size, or a geometry as \"255/63\"")]
pub(super) enum Start {
    Bytes(u64),
    Words(String),
}

macro_rules! keys {
    ($($key:ident: $type:ty $(, $kind:ident)*;)*) => {
        #[derive(Deserialize, Default)]
        #[serde(deny_unknown_fields)]
        pub(in super::super) struct Device {
            $(pub(super) $key: Option<Spanned<$type>>,)*
        }

        impl Device {
            /// Keys that are there: name, place, and the kinds that each is for (none: all).
            pub(super) fn given(&self) -> Vec<(&'static str, Range<usize>, &'static [Kind])> {
                let mut all: Vec<(&'static str, Range<usize>, &'static [Kind])> = Vec::new();
                $(if let Some(it) = &self.$key {
                    all.push((stringify!($key), it.span(), &[$(Kind::$kind),*]));
                })*
                all
            }
        }
    };
}

keys! {
    kind: String;
    name: String;
    size: Size;
    start: Start;
    cache: String;
    cache_size: Size;
    rpm: u32, Hdd;
    heads: u32, Hdd;
    sectors_per_cylinder: u32, Hdd;
    seek_track: Time, Hdd;
    seek_average: Time, Hdd;
    seek_full: Time, Hdd;
    order: String, Disk;
    page_size: Size, Ssd, BlockMapped, Card;
    pages_per_block: u32, Ssd;
    blocks: u32, Ssd;
    spare: Percent, Ssd;
    over_provisioning: Percent, Ssd;
    channels: u32, Ssd;
    dies: u32, Ssd;
    collector: String, Ssd, Card;
    frontiers: u32, Ssd;
    hot_cold: bool, Ssd;
    endurance: Count, Ssd;
    wear_levelling: String, Ssd;
    wear_gap: u32, Ssd;
    bad_blocks: u32, Ssd;
    map_pages: Count, Ssd;
    power_loss_protection: bool, Ssd;
    filled: bool, Ssd;
    page_read: Time, Ssd, BlockMapped;
    page_program: Time, Ssd, BlockMapped;
    page_bus: Time, Ssd, BlockMapped;
    block_erase: Time, Ssd, BlockMapped;
    erase_block: Size, BlockMapped;
    segment: Size, Card;
    open_segments: u32, Card;
    fat_segments: u32, Card;
}

impl Device {
    /// The catalogue's name for what is named.
    pub(super) fn canonical(&self) -> Option<&'static str> {
        catalogue::find(self.name.as_ref()?.get_ref())
    }

    /// The place of the first of these keys that is there.
    pub(super) fn span_of(&self, keys: &[&str]) -> Range<usize> {
        let given = self.given();
        let find = |key: &&str| given.iter().find(|g| g.0 == *key).map(|g| g.1.clone());
        let any = given.first().map(|g| g.1.clone());
        keys.iter().find_map(find).or(any).unwrap_or(0..0)
    }
}
