//! The `[device]` section: what it says comes out as it is said, and what cannot be is told
//! at its place.

use fslab_engine::device::flash::{BlockMappedSpec, CardSpec, Collector, SsdSpec};
use fslab_engine::device::ftl::Policy;
use fslab_engine::device::hdd::{Order, drive};
use fslab_engine::scenario::{DeviceSpec, Medium, Scenario};
use proptest::prelude::*;

fn text(device: &str) -> String {
    format!("fslab = 1\n[device]\n{device}\n[[process]]\nprogram = ''\n")
}

fn device(keys: &str) -> DeviceSpec {
    Scenario::parse(&text(keys))
        .unwrap_or_else(|e| panic!("{keys}: {}", e[0]))
        .device
}

fn ssd(keys: &str) -> (SsdSpec, bool) {
    match device(keys).medium {
        Medium::Ssd { spec, filled } => (*spec, filled),
        other => panic!("{other:?}"),
    }
}

#[test]
fn catalogue_by_the_names_people_use() {
    for (name, short) in [
        ("X25-M", "x25m"),
        ("SLC", "slc"),
        ("TLC", "tlc"),
        ("dumb SSD", "dumb"),
    ] {
        let (spec, _) = ssd(&format!("name = \"{name}\"\nsize = \"64M\""));
        assert_eq!(spec, SsdSpec::named(short, 64 << 20).unwrap(), "{name}");
    }
    for (name, short) in [
        ("Barracuda ST32171W", "barracuda"),
        ("Cheetah 9LP", "cheetah9lp"),
    ] {
        let d = device(&format!("name = \"{name}\"\norder = \"sptf\""));
        assert_eq!(d.medium, Medium::Disk(drive(short).unwrap(), Order::Sptf));
    }
    let d = device("name = \"LWN card\"\nsize = \"32M\"");
    assert_eq!(
        d.medium,
        Medium::Card(CardSpec::named("card", 32 << 20).unwrap())
    );
    let d = device("kind = \"block-mapped\"\nsize = \"32M\"");
    assert_eq!(
        d.medium,
        Medium::BlockMapped(BlockMappedSpec::new(32 << 20))
    );
}

#[test]
fn everything_that_is_said_of_an_ssd() {
    let (spec, filled) = ssd(
        "kind = \"ssd\"\nsize = \"32M\"\nfilled = true\npage_size = \"8k\"\nchannels = 2\ndies = 4\n\
         pages_per_block = 32\nblocks = 200\ncollector = \"d4\"\nfrontiers = 1\nhot_cold = true\n\
         endurance = 500\nwear_levelling = \"static\"\nwear_gap = 7\nbad_blocks = 3\nmap_pages = 5\n\
         power_loss_protection = true\npage_read = \"1us\"\npage_program = \"2us\"\npage_bus = \"3us\"\n\
         block_erase = \"4us\"",
    );
    assert!(filled && spec.protected);
    assert_eq!((spec.page, spec.channels, spec.dies), (8192, 2, 4));
    let f = &spec.ftl;
    // 32 MiB of 8 KiB are 4096 pages.
    assert_eq!(
        (f.logical_pages, f.pages_per_block, f.blocks),
        (4096, 32, 200)
    );
    assert_eq!(
        (f.policy, f.two_frontiers, f.streams),
        (Policy::DChoices(4), false, 2)
    );
    assert_eq!(
        (f.endurance, f.static_wear, f.dynamic_wear),
        (Some(500), Some(7), false)
    );
    assert_eq!((f.bad_blocks, spec.map_pages), (3, Some(5)));
    let t = spec.timing;
    assert_eq!(
        (t.read, t.program, t.bus, t.erase),
        (1000, 2000, 3000, 4000)
    );
    let (spec, _) = ssd("kind = \"ssd\"\nmap_pages = \"all\"\nendurance = \"none\"");
    assert_eq!((spec.map_pages, spec.ftl.endurance), (None, None));
}

/// 16 MiB are 4096 pages; a fifth of all spare makes 5120, as does a quarter beyond: 160
/// blocks of 32. Two blocks always free, another open one, and one to begin with: 164.
#[test]
fn spare_space_both_ways() {
    for keys in ["spare = \"20%\"", "over_provisioning = 25"] {
        let (spec, _) = ssd(&format!(
            "kind = \"ssd\"\nsize = \"16M\"\npages_per_block = 32\n{keys}"
        ));
        assert_eq!(spec.ftl.blocks, 160 + spec.ftl.set_aside() + 1, "{keys}");
    }
}

#[test]
fn partitions_of_old_geometries() {
    // Heads · sectors of a track, 512 bytes each.
    for (start, sectors) in [
        ("\"255/63\"", 16065),
        ("\"240/63\"", 15120),
        ("\"224/56\"", 12544),
        ("32256", 63),
    ] {
        let d = device(&format!("kind = \"card\"\nsize = \"8M\"\nstart = {start}"));
        assert_eq!(d.start, sectors * 512);
        let Medium::Card(card) = d.medium else {
            panic!()
        };
        assert!(card.size >= d.start + d.size);
    }
}

#[test]
fn a_cards_keys() {
    let d = device(
        "kind = \"card\"\nopen_segments = 5\nfat_segments = 0\ncollector = \"log\"\nsegment = \"1M\"\npage_size = \"4k\"",
    );
    let Medium::Card(c) = d.medium else { panic!() };
    assert_eq!(
        (c.open, c.fat_segments, c.collector),
        (5, 0, Collector::Log)
    );
    assert_eq!((c.segment, c.page, d.cache), (1 << 20, 4096, None));
}

#[test]
fn what_cannot_be_is_told_at_its_place() {
    let cases = [
        (
            "name = \"X26-M\"",
            "3:8: there is no device named \"X26-M\"; did you mean \"x25m\"?",
        ),
        (
            "kind = \"disk\"\nname = \"SLC\"",
            "4:8: \"SLC\" is of kind \"ssd\", not \"disk\"",
        ),
        (
            "kind = \"hdd\"\nchannels = 2",
            "4:12: `channels` is for a device of kind \"ssd\"; this one is of kind \"hdd\"",
        ),
        (
            "kind = \"ssd\"\nchanels = 2",
            "4:1: there is no key `chanels` here (did you mean `channels`?)",
        ),
        (
            "kind = \"ssd\"\nchannels = 0",
            "4:12: the number of channels cannot be zero",
        ),
        (
            "kind = \"ssd\"\nchannels = 4\ndies = 2",
            "5:8: 2 dies cannot hang on 4 channels: each has at least one; at least 4 are needed",
        ),
        (
            "kind = \"ssd\"\nsize = \"16M\"\npages_per_block = 64\nblocks = 60",
            "6:10: no spare blocks: 4096 logical pages of 3840 physical ones leave nothing to collect in, with 3 blocks set aside; with blocks of 64 pages at least 68 blocks are needed",
        ),
        (
            "kind = \"ssd\"\nblocks = 3000\nspare = 7",
            "5:9: `blocks` and `spare` both say how much is spare: one will do",
        ),
        (
            "kind = \"ssd\"\nspare = 100",
            "4:9: spare is a percentage from 0 to 99.9",
        ),
        (
            "kind = \"ssd\"\ncollector = \"greeedy\"",
            "4:13: collector is \"greedy\", \"fifo\", \"random\", \"d10\" or \"cost-benefit\", not \"greeedy\"",
        ),
        (
            "kind = \"ssd\"\nfrontiers = 3",
            "4:13: frontiers is 1 or 2, not 3: one open block for all, or one for the collector as well",
        ),
        (
            "kind = \"ssd\"\nsize = \"1T\"",
            "4:8: 268435456 pages of 4096 bytes are more than the 16777216 that are kept track of: 68719476736 bytes are possible",
        ),
        (
            "kind = \"block-mapped\"\npage_size = \"256k\"",
            "4:13: a page of 262144 bytes is larger than a block of 131072",
        ),
        (
            "kind = \"block-mapped\"\npage_size = 3000",
            "4:13: 3000 bytes do not divide 131072; powers of two always do",
        ),
        (
            "kind = \"card\"\nopen_segments = 0",
            "4:17: the number of open segments cannot be zero",
        ),
        (
            "kind = \"disk\"\norder = \"elevator\"",
            "4:9: order is \"fcfs\", \"look\", \"clook\", \"sstf\" or \"sptf\", not \"elevator\"",
        ),
        (
            "name = \"barracuda\"\nsize = \"3G\"",
            "4:8: Seagate Barracuda ST32171W: 2.1 GB, 7200 rpm, 5172 cylinders has 2104320000 bytes; 3221225472 are asked for, with what lies before the partition",
        ),
        (
            "start = \"1/2\"",
            "3:9: start is a size, as \"1M\", or a geometry: \"255/63\", \"240/63\" or \"224/56\", heads and sectors of a track",
        ),
        (
            "start = 100",
            "3:9: a partition begins with a sector of 512 bytes and before 16 TiB, not at byte 100",
        ),
    ];
    for (keys, words) in cases {
        let errors = Scenario::parse(&text(keys)).unwrap_err();
        assert_eq!(errors[0].to_string(), words, "{keys}");
    }
}

proptest! {
    /// Whatever numbers are said, the answer is a device that can be, or a sentence.
    #[test]
    fn any_numbers(kind in "ssd|card|block-mapped|disk|hdd", size in 0u64..1 << 32, page in 0u64..1 << 21,
        per_block in prop_oneof![0u32..70, any::<u32>()], blocks in prop_oneof![Just(None), any::<u32>().prop_map(Some)],
        channels in 0u32..9, dies in 0u32..20, bad in 0u32..50, segment in 0u64..1 << 24) {
        let mut keys = format!("kind = \"{kind}\"\nsize = {size}\n");
        let flash = match kind.as_str() {
            "ssd" => format!("page_size = {page}\npages_per_block = {per_block}\nchannels = {channels}\ndies = {dies}\nbad_blocks = {bad}\n{}",
                blocks.map_or(String::new(), |b| format!("blocks = {b}"))),
            "card" => format!("page_size = {page}\nsegment = {segment}\nopen_segments = {channels}"),
            "block-mapped" => format!("page_size = {page}\nerase_block = {segment}"),
            _ => String::new(),
        };
        keys.push_str(&flash);
        if let Ok(scenario) = Scenario::parse(&text(&keys)) {
            match &scenario.device.medium {
                Medium::Ssd { spec, .. } => prop_assert!(spec.check().is_ok()),
                Medium::Card(spec) => prop_assert!(spec.check().is_ok()),
                Medium::BlockMapped(spec) => prop_assert!(spec.check().is_ok()),
                Medium::Disk(..) | Medium::Hdd(_) | Medium::Ram => {}
            }
        }
    }
}
