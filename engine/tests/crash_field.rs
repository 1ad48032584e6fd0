//! The field of states against every disk there is, made one by one by the test itself.

#[allow(dead_code, reason = "other tests use the rest")]
mod crash_support;

use crash_support::{RENAME, RENAME_SYNCED, TRUNCATE, explored, moments, parse, scenario};
use fslab_engine::crash::{Field, Order, Pending, Rules, Tear};
use fslab_engine::device::Ram;
use fslab_engine::disk::{CowDisk, ReadAt, WriteAt, pattern_byte};
use fslab_engine::kernel::{Caller, Errno, Mount, MountOptions, OpenFlags};
use std::collections::BTreeMap;

/// Parts of writes of which every subset is made here.
const MOST: usize = 10;

/// A part of a write: where, and what.
struct Part {
    offset: u64,
    bytes: Vec<u8>,
}

/// The writes cut as the rules say, oldest first; those that change nothing are left out,
/// as long as everything before them does.
fn parts(pending: &Pending, tear: Tear) -> Vec<Part> {
    let mut all = Vec::new();
    for w in pending.writes() {
        let mut bytes = Vec::new();
        for (data, len) in w.data.iter() {
            let mut part = vec![0; *len as usize];
            data.read(0, &mut part);
            bytes.extend(part);
        }
        let unit = match tear {
            Tear::Sector => 512,
            Tear::Block(n) => u64::from(n),
            Tear::Never => u64::MAX,
        };
        let mut at = w.offset;
        while at < w.offset + w.len {
            let end = (at / unit + 1).saturating_mul(unit).min(w.offset + w.len);
            let from = (at - w.offset) as usize;
            let part = bytes[from..(end - w.offset) as usize].to_vec();
            all.push(Part {
                offset: at,
                bytes: part,
            });
            at = end;
        }
    }
    all
}

/// Leaves out parts that are the same as what is there whatever else is lost.
fn that_matter(pending: &Pending, all: Vec<Part>) -> Vec<Part> {
    let meets = |a: &Part, b: &Part| {
        a.offset < b.offset + b.bytes.len() as u64 && b.offset < a.offset + a.bytes.len() as u64
    };
    let mut kept: Vec<Part> = Vec::new();
    for part in all {
        let mut now = vec![0; part.bytes.len()];
        pending.stable().read_at(part.offset, &mut now).unwrap();
        if now != part.bytes || kept.iter().any(|k| meets(k, &part)) {
            kept.push(part);
        }
    }
    kept
}

fn with(pending: &Pending, parts: &[Part], there: impl Fn(usize) -> bool) -> CowDisk {
    let mut disk = pending.stable().clone();
    for (nr, part) in parts.iter().enumerate() {
        if there(nr) {
            disk.write_at(part.offset, &part.bytes).unwrap();
        }
    }
    disk
}

/// What is found on a disk, by the kernel's own calls.
fn found(disk: CowDisk, options: &MountOptions) -> String {
    let Ok(mut m) = Mount::mount(Box::new(Ram::new(disk)), options.clone()) else {
        return "unmountable".into();
    };
    let read = m
        .open(&Caller::root(), b"/file", OpenFlags::default(), 0)
        .and_then(|fd| m.read(fd, 1 << 20));
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(Errno::ENOENT) => return "absent".into(),
        Err(_) => return "unreadable".into(),
    };
    let is = |seed: u64| {
        bytes.len() == 5000 && (0..).zip(&bytes).all(|(i, b)| *b == pattern_byte(seed, i))
    };
    match () {
        () if is(1) => "old",
        () if is(2) => "new",
        () if bytes.is_empty() => "empty",
        () if bytes.iter().all(|b| *b == 0) => "zeros",
        () => "other",
    }
    .into()
}

fn named(field: &Field, verdict: u32) -> String {
    let v = &field.verdicts()[verdict as usize];
    match v.class {
        _ if v.unmountable.is_some() => "unmountable".into(),
        Some(class) => field.judge().classes[class as usize].name.clone(),
        None => "none".into(),
    }
}

/// Every disk that the rules allow, made by hand, counted by what is found on it.
fn by_hand(pending: &Pending, rules: Rules, parts: &[Part], options: &MountOptions) -> Counts {
    let mut counts = Counts::new();
    match rules.order {
        Order::Any => {
            for subset in 0..1u32 << parts.len() {
                let disk = with(pending, parts, |nr| subset >> nr & 1 == 1);
                *counts.entry(found(disk, options)).or_default() += 1;
            }
        }
        Order::Kept => {
            for end in 0..=parts.len() {
                let disk = with(pending, parts, |nr| nr < end);
                *counts.entry(found(disk, options)).or_default() += 1;
            }
        }
    }
    counts
}

type Counts = BTreeMap<String, u64>;

#[test]
fn the_field_is_all_disks_counted_by_hand() {
    let runs = [
        ("-t ext4 -b 1024 -J size=1", "", RENAME),
        ("-t ext4 -b 4096 -J size=4", "noauto_da_alloc", RENAME),
        (
            "-t ext4 -b 1024 -J size=1",
            "data=writeback,nodelalloc",
            TRUNCATE,
        ),
        ("-t ext4 -b 1024 -J size=1", "noauto_da_alloc", TRUNCATE),
        ("-t ext4 -b 4096 -J size=4", "nobarrier", RENAME_SYNCED),
        (
            "-t ext4 -b 4096 -O ^metadata_csum -J size=4",
            "data=journal",
            RENAME,
        ),
        ("-t ext3 -b 1024 -J size=1", "", TRUNCATE),
        ("-t ext3 -b 4096 -J size=4", "data=writeback", RENAME),
        ("-t ext2 -b 1024", "", RENAME_SYNCED),
        ("-t ext2 -b 4096", "", TRUNCATE),
    ];
    let tears = [Tear::Block(4096), Tear::Sector, Tear::Never];
    let (mut disks, mut states, mut instants) = (0, 0, 0);
    for (mkfs, mount, lines) in runs {
        let scenario = parse(&scenario(mkfs, mount, lines));
        let all = moments(scenario.clone());
        for moment in &all {
            for (tear, order) in tears
                .iter()
                .flat_map(|t| [(*t, Order::Any), (*t, Order::Kept)])
            {
                let rules = Rules {
                    tear,
                    order,
                    lies: false,
                };
                let mut moment = moment.clone();
                moment.pending = moment.pending.under(rules);
                let parts = that_matter(&moment.pending, parts(&moment.pending, tear));
                if parts.is_empty() || parts.len() > MOST {
                    continue;
                }
                let pending = moment.pending.clone();
                let field = explored(moment, 10_000);
                assert!(field.coverage().complete);
                let expected = by_hand(&pending, rules, &parts, &scenario.mount);
                let whole: u64 = expected.values().sum();
                let mut shares: BTreeMap<String, f64> = BTreeMap::new();
                for s in field.states() {
                    *shares.entry(named(&field, s.verdict)).or_default() += s.share;
                }
                let got: Counts = shares
                    .into_iter()
                    .map(|(name, share)| (name, (share * whole as f64).round() as u64))
                    .collect();
                assert_eq!(got, expected, "{mkfs} {mount} {lines} {rules:?}");
                instants += 1;
                disks += whole;
                states += field.states().len();
            }
        }
    }
    println!("{instants} fields: {disks} disks by hand, {states} states");
    assert!(instants > 100 && disks > 2000);
}

/// The disk of a state gives what the state says, without anything left to decide.
#[test]
fn a_state_is_its_disk() {
    let text = scenario("-t ext4 -b 1024 -J size=1", "noauto_da_alloc", RENAME);
    for moment in moments(parse(&text)) {
        let field = explored(moment, 200);
        for (nr, state) in (0u32..).zip(field.states()) {
            let disk = field.disk(nr).unwrap();
            let settled = Pending::new(disk, Vec::new(), Rules::default());
            let mut alone = Field::new(settled.into(), field.judge().clone(), 2);
            while alone.explore(10) {}
            assert_eq!(alone.states().len(), 1);
            assert_eq!(
                alone.verdicts()[0],
                field.verdicts()[state.verdict as usize]
            );
        }
    }
}

/// With too many disks to look at all, the share that was is told, and grows.
#[test]
fn a_limit_is_told() {
    let lines = "fd = open(\"/file\", O_WRONLY)\nwrite(fd, pattern(300k, 2))\nsleep(5s)";
    let text = scenario("-t ext2 -b 4096", "", lines);
    let many = moments(parse(&text))
        .into_iter()
        .max_by_key(|m| m.pending.atoms())
        .unwrap();
    assert!(many.pending.atoms() > 60);
    let shares: Vec<f64> = [50, 500]
        .into_iter()
        .map(|limit| {
            let field = explored(many.clone(), limit);
            assert!(field.states().len() <= limit);
            assert!(!field.coverage().complete);
            field.coverage().share
        })
        .collect();
    assert!(
        shares[0] > 0.0 && shares[0] < shares[1] && shares[1] < 1.0,
        "{shares:?}"
    );
}
