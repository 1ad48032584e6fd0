//! The devices that are built in, each number with its source.

use super::flash::{BlockMappedSpec, CardSpec, FlashTiming, SsdSpec, names};
use super::hdd::{self, DiskSpec, SeekCurve};
use serde::Serialize;

/// The tables and the page that most numbers come from.
const SHARED: &str = "shared/devices";
const ASSUMED: &str = "an assumption";
const SIZE: u64 = 256 << 20;

/// A device that is built in.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What kind it is: disk, ssd, block-mapped, card.
    pub kind: &'static str,
    /// What it is.
    pub words: String,
    /// What its numbers rest on.
    pub source: String,
    /// Its numbers.
    pub parameters: Vec<Parameter>,
}

/// A number of a device.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Parameter {
    /// What it says.
    pub name: &'static str,
    /// The number, or what stands for it.
    pub value: String,
    /// Its unit; empty for counts.
    pub unit: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

fn parameter(
    name: &'static str,
    value: impl ToString,
    unit: &'static str,
    source: &'static str,
) -> Parameter {
    Parameter {
        name,
        value: value.to_string(),
        unit,
        source,
    }
}

/// All of them: disks, then flash. Flash is listed at 256 MiB; its size is free.
pub fn catalogue() -> Vec<Entry> {
    let disks = hdd::NAMES.iter().filter_map(|n| hdd::drive(n));
    let flash = names().filter_map(|name| {
        let ssd = SsdSpec::named(name, SIZE).map(|s| ssd(&s));
        let card = || CardSpec::named(name, SIZE).map(|s| card(&s));
        let mapped = || (name == "block-mapped").then(block_mapped);
        ssd.or_else(card).or_else(mapped)
    });
    disks.map(|d| disk(&d)).chain(flash).collect()
}

/// Other names of what is built in, as people write them, in small letters and digits only.
const ALIASES: [(&str, &str); 15] = [
    ("intelx25m", "x25m"),
    ("barracudast32171w", "barracuda"),
    ("seagatebarracuda", "barracuda"),
    ("seagatebarracudast32171w", "barracuda"),
    ("st32171w", "barracuda"),
    ("seagatecheetah9lp", "cheetah9lp"),
    ("cheetah9lpst39102lw", "cheetah9lp"),
    ("st39102lw", "cheetah9lp"),
    ("7200rpm", "7200"),
    ("dumbssd", "dumb"),
    ("blockmapped", "block-mapped"),
    ("firstgeneration", "block-mapped"),
    ("lwncard", "card"),
    ("sdcard", "card"),
    ("flashbenchcard", "card2"),
];

/// The names of all that is built in.
pub fn all_names() -> impl Iterator<Item = &'static str> {
    hdd::NAMES.into_iter().chain(names())
}

/// The name of something built in, from how people write it: "X25-M", "Barracuda ST32171W",
/// "LWN card".
pub fn find(written: &str) -> Option<&'static str> {
    let plain = plain(written);
    let alias = ALIASES.iter().find(|a| a.0 == plain).map(|a| a.1);
    all_names().find(|n| *n == plain || Some(*n) == alias)
}

/// A name in small letters and digits only.
pub fn plain(written: &str) -> String {
    let kept = written.chars().filter(char::is_ascii_alphanumeric);
    kept.map(|c| c.to_ascii_lowercase()).collect()
}

/// What kind something built in is, by its name: as [`Entry::kind`].
pub fn kind_of(name: &str) -> &'static str {
    match name {
        _ if hdd::NAMES.contains(&name) => "disk",
        "block-mapped" => "block-mapped",
        "card" | "card2" => "card",
        _ => "ssd",
    }
}

fn disk(d: &DiskSpec) -> Entry {
    let (curve, seek) = match &d.seek {
        SeekCurve::Measured(points) => (format!("{} points, measured", points.len()), SHARED),
        SeekCurve::Formula { a, b, knee, c, e } => (
            format!("{a} + {b}·√d below {knee} cylinders, {c} + {e}·d above, ns"),
            "8.5 ms in the mean (shared/devices); ends are assumptions",
        ),
    };
    let measured = d.name != "7200";
    let known = if measured { SHARED } else { ASSUMED };
    let outer = d.zones.first().map_or(0, |z| z.sectors);
    let inner = d.zones.last().map_or(0, |z| z.sectors);
    let last = d.zones.last().map_or(0, |z| z.last);
    let left = match d.name.as_str() {
        "barracuda" => "what DiskSim's response times leave (shared/devices)",
        _ => ASSUMED,
    };
    Entry {
        name: d.name.clone(),
        kind: "disk",
        words: d.words.clone(),
        source: d.source.clone(),
        parameters: vec![
            parameter("speed", d.rpm, "rpm", SHARED),
            parameter(
                "surfaces",
                d.heads,
                "",
                "the drive's capacity over its zones",
            ),
            parameter("cylinders", u64::from(last) + 1, "", known),
            parameter("zones", d.zones.len(), "", known),
            parameter("sectors of an outer track", outer, "", SHARED),
            parameter("sectors of an inner track", inner, "", known),
            parameter("capacity", d.sectors(), "sectors", "data sheet"),
            parameter("seek curve", curve, "", seek),
            parameter("change of surface", d.head_switch, "ns", ASSUMED),
            parameter("command", d.command, "ns", left),
            parameter("late", d.late, "ns", left),
            parameter("between requests", d.wire, "ns", left),
        ],
    }
}

fn timing(t: &FlashTiming, program: &'static str, bus: &'static str) -> Vec<Parameter> {
    vec![
        parameter("read of a page", t.read, "ns", SHARED),
        parameter("program of a page", t.program, "ns", program),
        parameter("erase of a block", t.erase, "ns", SHARED),
        parameter("page on the bus", t.bus, "ns", bus),
    ]
}

fn ssd(s: &SsdSpec) -> Entry {
    let x25m = s.name == "x25m";
    let known = if x25m { SHARED } else { ASSUMED };
    let program = match x25m {
        true => "70 MB/s by 20 dies (shared/devices)",
        false => SHARED,
    };
    let bus = if s.name == "slc" { SHARED } else { ASSUMED };
    let f = &s.ftl;
    let physical = f.physical_pages();
    let mut parameters = vec![
        parameter("page", s.page, "bytes", SHARED),
        parameter("channels", s.channels, "", known),
        parameter("dies", s.dies, "", ASSUMED),
    ];
    parameters.extend(timing(&s.timing, program, bus));
    parameters.extend([
        parameter("command", s.command, "ns", ASSUMED),
        parameter("byte on the wire", s.wire_byte, "ps", known),
        parameter(
            "pages of a block, over all dies",
            f.pages_per_block,
            "",
            known,
        ),
        parameter("blocks", f.blocks, "", "size and spare space"),
        parameter(
            "spare pages",
            physical - u64::from(f.logical_pages),
            "",
            ASSUMED,
        ),
        parameter("collector", format!("{:?}", f.policy), "", ASSUMED),
        parameter(
            "erases until a block breaks",
            count(f.endurance),
            "",
            SHARED,
        ),
        parameter(
            "gap of static wear levelling",
            count(f.static_wear),
            "erases",
            ASSUMED,
        ),
        parameter("map pages in memory", count(s.map_pages), "", ASSUMED),
        parameter("cache survives a power cut", s.protected, "", ASSUMED),
    ]);
    Entry {
        name: s.name.clone(),
        kind: "ssd",
        words: s.words.clone(),
        source: s.source.clone(),
        parameters,
    }
}

fn count(n: Option<u32>) -> String {
    n.map_or("none".into(), |n| n.to_string())
}

fn block_mapped() -> Entry {
    let s = BlockMappedSpec::new(SIZE);
    let mut parameters = vec![
        parameter("page", s.page, "bytes", SHARED),
        parameter("erase block", s.erase_block, "bytes", SHARED),
        parameter("chips", 1, "", SHARED),
    ];
    parameters.extend(timing(&s.timing, SHARED, SHARED));
    Entry {
        name: "block-mapped".into(),
        kind: "block-mapped",
        words: "a first-generation solid-state disk: one chip, a map of erase blocks".into(),
        source: SHARED.into(),
        parameters,
    }
}

fn card(s: &CardSpec) -> Entry {
    let fitted = "fitted to the published rates (shared/devices)";
    Entry {
        name: s.name.clone(),
        kind: "card",
        words: s.words.clone(),
        source: s.source.clone(),
        parameters: vec![
            parameter("segment", s.segment, "bytes", SHARED),
            parameter("page", s.page, "bytes", SHARED),
            parameter("open segments", s.open, "", SHARED),
            parameter("segments of the FAT area", s.fat_segments, "", SHARED),
            parameter("collector", format!("{:?}", s.collector), "", ASSUMED),
            parameter("command", s.command, "ns", ASSUMED),
            parameter("byte read", s.read_byte, "ps", fitted),
            parameter("load of a pair of pages", s.pair_load, "ns", SHARED),
            parameter("load of its second page", s.second_load, "ns", SHARED),
            parameter("slower kind of page", s.slow_page, "ns", ASSUMED),
            parameter("load of another segment", s.segment_load, "ns", SHARED),
            parameter("program of a page", s.program, "ns", fitted),
            parameter("copy of a page", s.copy, "ns", fitted),
            parameter("erase of a segment", s.erase, "ns", SHARED),
            parameter(
                "read of an open segment, less",
                s.open_faster,
                "ns",
                ASSUMED,
            ),
            parameter("read of the FAT area, more", s.fat_slower, "ns", ASSUMED),
            parameter(
                "read of an erased segment, less",
                s.erased_faster,
                "ns",
                ASSUMED,
            ),
        ],
    }
}
