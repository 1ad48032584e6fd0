//! The `[device]` section: which hardware, and what of it is otherwise than usual.

mod flash;
mod keys;

pub(super) use keys::Device;

use super::Reader;
use crate::device::catalogue;
use crate::device::hdd::{self, DiskSpec, Order};
use crate::scenario::{CacheSpec, DeviceSpec, HddSpec, Medium};
use crate::units::SimTime;
use keys::Kind;
use std::ops::Range;
use toml::Spanned;

/// Largest device, bytes.
const MAX_DEVICE: u64 = 16 << 40;
/// Smallest device, bytes: what a filesystem needs.
const MIN_DEVICE: u64 = 64 << 10;
/// Size of a device where none is said, bytes.
const USUAL_DEVICE: u64 = 64 << 20;
/// Write cache where none is said, bytes: what desktop disks of the 2000s had.
const USUAL_CACHE: u64 = 8 << 20;
/// Bytes of a sector, in which partitions begin.
const SECTOR: u64 = hdd::SECTOR;

/// Old geometries, by which partitions were laid out: heads and sectors of a track. Such a
/// partition begins with a cylinder.
const GEOMETRIES: [(&str, u64); 3] = [
    ("255/63", 255 * 63),
    ("240/63", 240 * 63),
    ("224/56", 224 * 56),
];

impl Reader<'_> {
    /// What the section says; every impossibility is told where it is.
    pub(super) fn device(&mut self, raw: &Device) -> DeviceSpec {
        let size = self.size(raw);
        let start = raw.start.as_ref().map_or(0, |s| self.start(s));
        let kind = self.kind(raw);
        for (key, span, kinds) in raw.given() {
            if !kinds.is_empty() && !kinds.contains(&kind) {
                self.foreign(key, span, kinds, kind);
            }
        }
        // The medium holds what lies before the partition as well.
        let medium = size.saturating_add(start);
        let medium = match kind {
            Kind::Ram => Medium::Ram,
            Kind::Hdd => Medium::Hdd(self.hdd(raw)),
            Kind::Disk => self.disk(raw, medium),
            Kind::Ssd => self.ssd(raw, medium),
            Kind::BlockMapped => self.block_mapped(raw, medium),
            Kind::Card => self.card(raw, medium),
        };
        DeviceSpec {
            size,
            medium,
            start,
            cache: self.cache(raw, kind),
        }
    }

    fn size(&mut self, raw: &Device) -> u64 {
        let size = raw.size.as_ref().map_or(USUAL_DEVICE, |s| s.get_ref().0);
        if let Some(span) = raw.size.as_ref().map(Spanned::span)
            && !(MIN_DEVICE..=MAX_DEVICE).contains(&size)
        {
            self.wrong(span, "a device has 64 KiB to 16 TiB");
        }
        size.clamp(MIN_DEVICE, MAX_DEVICE)
    }

    /// Where the partition begins: a size, or an old geometry.
    fn start(&mut self, raw: &Spanned<keys::Start>) -> u64 {
        let at = match raw.get_ref() {
            keys::Start::Bytes(at) => Some(*at),
            keys::Start::Words(words) => GEOMETRIES
                .iter()
                .find(|g| g.0 == words)
                .map(|g| g.1 * SECTOR)
                .or_else(|| super::units::size(words)),
        };
        match at {
            Some(at) if at.is_multiple_of(SECTOR) && at <= MAX_DEVICE => at,
            Some(at) => {
                let words = format!(
                    "a partition begins with a sector of {SECTOR} bytes and before 16 TiB, not at byte {at}"
                );
                self.wrong(raw.span(), words);
                0
            }
            None => {
                let words = "start is a size, as \"1M\", or a geometry: \"255/63\", \"240/63\" \
                             or \"224/56\", heads and sectors of a track";
                self.wrong(raw.span(), words);
                0
            }
        }
    }

    /// What kind of device: as it is said, or as the name says.
    fn kind(&mut self, raw: &Device) -> Kind {
        let named = raw.name.as_ref().and_then(|name| {
            let found = catalogue::find(name.get_ref());
            if found.is_none() {
                self.no_such_name(name);
            }
            found.and_then(|n| Kind::of(catalogue::kind_of(n)))
        });
        let Some(said) = &raw.kind else {
            return named.unwrap_or(Kind::Hdd);
        };
        let Some(kind) = Kind::of(said.get_ref()) else {
            let words = format!(
                "there is no device of kind \"{}\": it is {}",
                said.get_ref(),
                keys::list(&Kind::ALL)
            );
            self.wrong(said.span(), words);
            return named.unwrap_or(Kind::Ram);
        };
        if let (Some(other), Some(name)) = (named.filter(|n| *n != kind), &raw.name) {
            let words = format!(
                "\"{}\" is of kind \"{}\", not \"{}\"",
                name.get_ref(),
                other.word(),
                kind.word()
            );
            self.wrong(name.span(), words);
            return other;
        }
        kind
    }

    fn no_such_name(&mut self, name: &Spanned<String>) {
        let names: Vec<&str> = catalogue::all_names().collect();
        let near = super::nearest(&catalogue::plain(name.get_ref()), &names)
            .map(|n| format!("did you mean \"{n}\"?"))
            .unwrap_or_else(|| format!("there are {}", names.join(", ")));
        let words = format!("there is no device named \"{}\"; {near}", name.get_ref());
        self.wrong(name.span(), words);
    }

    fn foreign(&mut self, key: &str, span: Range<usize>, kinds: &[Kind], kind: Kind) {
        let words = format!(
            "`{key}` is for a device of kind {}; this one is of kind \"{}\"",
            keys::list(kinds),
            kind.word()
        );
        self.wrong(span, words);
    }

    /// One of several words.
    fn word<T: Copy>(
        &mut self,
        key: &str,
        said: &Option<Spanned<String>>,
        known: &[(&str, T)],
    ) -> Option<T> {
        let said = said.as_ref()?;
        if let Some((_, value)) = known.iter().find(|k| k.0 == said.get_ref()) {
            return Some(*value);
        }
        let names: Vec<&str> = known.iter().map(|k| k.0).collect();
        let quoted = keys::quoted(&names);
        self.wrong(
            said.span(),
            format!("{key} is {quoted}, not \"{}\"", said.get_ref()),
        );
        None
    }

    fn cache(&mut self, raw: &Device, kind: Kind) -> Option<CacheSpec> {
        let usual = matches!(kind, Kind::Hdd | Kind::Disk | Kind::Ssd);
        let asked = self.word("cache", &raw.cache, &[("none", false), ("volatile", true)]);
        let size = raw
            .cache_size
            .as_ref()
            .map_or(USUAL_CACHE, |s| s.get_ref().0);
        asked.unwrap_or(usual).then_some(CacheSpec { size })
    }

    fn hdd(&mut self, raw: &Device) -> HddSpec {
        let usual = HddSpec::default();
        let number = |n: &Option<Spanned<u32>>, usual| n.as_ref().map_or(usual, |n| *n.get_ref());
        let time = |t: &Option<Spanned<super::units::Time>>, usual| {
            t.as_ref().map_or(usual, |t| SimTime(t.get_ref().0))
        };
        let spec = HddSpec {
            rpm: number(&raw.rpm, usual.rpm),
            sectors_per_cylinder: number(&raw.sectors_per_cylinder, usual.sectors_per_cylinder),
            heads: number(&raw.heads, usual.heads),
            seek_track: time(&raw.seek_track, usual.seek_track),
            seek_average: time(&raw.seek_average, usual.seek_average),
            seek_full: time(&raw.seek_full, usual.seek_full),
        };
        if !(60..=100_000).contains(&spec.rpm) {
            let span = raw.rpm.as_ref().map_or(0..0, Spanned::span);
            self.wrong(span, "rpm is from 60 to 100000");
        }
        self.not_zero("heads", &raw.heads);
        self.not_zero("sectors_per_cylinder", &raw.sectors_per_cylinder);
        spec
    }

    fn not_zero(&mut self, key: &str, n: &Option<Spanned<u32>>) {
        if let Some(n) = n.as_ref().filter(|n| *n.get_ref() == 0) {
            self.wrong(n.span(), format!("{key} is at least 1"));
        }
    }

    /// A drive of the catalogue; it has the size that it has.
    fn disk(&mut self, raw: &Device, needed: u64) -> Medium {
        let name = raw.canonical().unwrap_or("7200");
        let order = self.word("order", &raw.order, &ORDERS).unwrap_or_default();
        let Some(spec) = hdd::drive(name) else {
            return Medium::Ram;
        };
        self.fits(raw, &spec, needed);
        Medium::Disk(spec, order)
    }

    fn fits(&mut self, raw: &Device, spec: &DiskSpec, needed: u64) {
        let has = spec.sectors().saturating_mul(SECTOR);
        if needed > has {
            let words = format!(
                "{} has {has} bytes; {needed} are asked for, with what lies before the partition",
                spec.words
            );
            self.wrong(raw.span_of(&["size", "start", "name", "kind"]), words);
        }
    }
}

const ORDERS: [(&str, Order); 5] = [
    ("fcfs", Order::Fcfs),
    ("look", Order::Look),
    ("clook", Order::CLook),
    ("sstf", Order::Sstf),
    ("sptf", Order::Sptf),
];
