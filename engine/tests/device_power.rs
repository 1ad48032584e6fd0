//! Power cuts (issue "The devices", Shows 4): no write that was acknowledged before a flush
//! is ever lost, and what is read is what the rules allow, with each device, at any moment,
//! in the middle of garbage collection and of wear levelling as well.

use fslab_engine::device::flash::{
    BlockMapped, BlockMappedSpec, Card, CardSpec, Collector, Deed, Flash, Ssd, SsdSpec, Touch,
};
use fslab_engine::device::ftl::{Ftl, FtlConfig, Note, Policy, Random};
use fslab_engine::device::hdd::{Disk, Order, Sweeping, drive};
use fslab_engine::device::{Device, DeviceEvent, Drive, Mechanism, Op, Request};
use fslab_engine::disk::{CowDisk, Data, ReadAt, pattern_byte};
use std::collections::BTreeMap;

/// The cells: which logical page each page holds, in which version. Knows nothing of the
/// layer that uses it; a page is programmed once between two erases, in order.
struct Cells {
    pages: Vec<Option<(u64, u64)>>,
    per_block: usize,
    /// Newest version of each logical page, and how many pages hold it.
    newest: BTreeMap<u64, (u64, u32)>,
}

impl Cells {
    fn new(pages: usize, per_block: usize) -> Self {
        Self {
            pages: vec![None; pages],
            per_block,
            newest: BTreeMap::new(),
        }
    }

    /// After each of these steps power may go: the newest version of every page has to be
    /// somewhere.
    fn program(&mut self, page: u64, logical: u64, from: Option<u64>) {
        let page = page as usize;
        assert_eq!(self.pages[page], None, "programmed twice without an erase");
        if !page.is_multiple_of(self.per_block) {
            assert!(
                self.pages[page - 1].is_some(),
                "pages of a block out of order"
            );
        }
        let version = match from {
            Some(from) => {
                let (l, version) = self.pages[from as usize].expect("copied from nothing");
                assert_eq!(l, logical);
                version
            }
            None => self.newest.get(&logical).map_or(0, |n| n.0) + 1,
        };
        self.pages[page] = Some((logical, version));
        let newest = self.newest.entry(logical).or_insert((version, 0));
        match version.cmp(&newest.0) {
            std::cmp::Ordering::Greater => *newest = (version, 1),
            std::cmp::Ordering::Equal => newest.1 += 1,
            std::cmp::Ordering::Less => panic!("an old version of {logical} was moved"),
        }
    }

    fn erase(&mut self, block: u32) {
        let first = block as usize * self.per_block;
        for page in first..first + self.per_block {
            let Some((logical, version)) = self.pages[page].take() else {
                continue;
            };
            if let Some(newest) = self.newest.get_mut(&logical)
                && newest.0 == version
            {
                newest.1 -= 1;
                assert!(newest.1 > 0, "the last copy of {logical} was erased");
            }
        }
    }
}

#[test]
fn no_moment_of_collection_loses_a_page() {
    let policies = [
        Policy::Greedy,
        Policy::Fifo,
        Policy::Random,
        Policy::DChoices(4),
        Policy::CostBenefit,
    ];
    for (policy, seed) in policies.into_iter().zip(1u64..) {
        for variant in 0..8u32 {
            let mut config = FtlConfig::new(24, 16, 300_000);
            config.policy = policy;
            config.two_frontiers = variant & 1 != 0;
            config.streams = 1 + (variant >> 1 & 1) as u8;
            config.seed = seed;
            if variant & 4 != 0 {
                config.dynamic_wear = true;
                config.static_wear = Some(3);
                config.endurance = Some(60);
                config.bad_blocks = 1;
            }
            abuse(config);
        }
    }
}

fn abuse(config: FtlConfig) {
    let (pages, b) = (config.physical_pages() as usize, config.pages_per_block);
    let (logical, seed) = (config.logical_pages, config.seed);
    let mut ftl = Ftl::new(config).unwrap();
    let mut cells = Cells::new(pages, b as usize);
    let mut random = Random::new(seed);
    let mut notes: Vec<Note> = Vec::new();
    for _ in 0..6000 {
        // Most writes go to a quarter, so that wear differs.
        let end = if random.below(4) > 0 {
            logical / 4
        } else {
            logical
        };
        let page = random.below(end.max(1));
        if random.below(20) == 0 {
            ftl.trim(page).unwrap();
            // What was given up may come back after a cut, but need not be kept.
            cells.newest.remove(&page.into());
            for cell in &mut cells.pages {
                if cell.is_some_and(|(l, _)| l == u64::from(page)) {
                    *cell = Some((u64::MAX, 0));
                }
            }
            continue;
        }
        let done = ftl.write(page, random.below(2) as u8, &mut notes);
        for note in notes.drain(..) {
            match note {
                Note::Programmed {
                    page,
                    logical,
                    from,
                } => cells.program(page.into(), logical.into(), from.map(u64::from)),
                Note::Erased { block } => cells.erase(block),
                Note::Broke { .. } => {}
            }
        }
        if done.is_err() {
            assert!(ftl.is_worn_out());
            break;
        }
        // What is read is what was last written.
        for (l, (version, _)) in &cells.newest {
            let at = ftl.physical(*l as u32).unwrap();
            assert_eq!(cells.pages[at as usize], Some((*l, *version)));
        }
    }
    assert!(ftl.stats().erases > 50);
}

/// The same with the media that keep whole blocks.
#[test]
fn no_moment_of_a_rewrite_loses_a_page() {
    for collector in [Collector::Linear, Collector::Remap, Collector::Log] {
        let mut spec = CardSpec::named("card", 24 << 17).unwrap();
        (spec.segment, spec.page, spec.open) = (128 << 10, 8 << 10, 2);
        spec.collector = collector;
        let mut card = Card::new(spec).unwrap();
        rewrite(16, 24 * 16, |at, deeds| {
            card.access(Touch::Write, &[(at * 8192, 8192)], deeds);
        });
    }
    let mut spec = BlockMappedSpec::new(24 << 17);
    spec.page = 8192;
    let mut mapped = BlockMapped::new(spec).unwrap();
    rewrite(16, 24 * 16, |at, deeds| {
        mapped.access(Touch::Write, &[(at * 8192, 8192)], deeds);
    });
}

fn rewrite(per_block: usize, logical: u64, mut write: impl FnMut(u64, &mut Vec<Deed>)) {
    let mut cells = Cells::new(logical as usize + 40 * per_block, per_block);
    for page in 0..logical {
        // The media begin with everything in its place.
        cells.program(page, page, None);
    }
    let mut random = Random::new(7);
    let mut deeds = Vec::new();
    let mut at = 0;
    for _ in 0..3000 {
        at = match random.below(4) {
            0 => u64::from(random.below(logical as u32)),
            _ => (at + 1) % logical,
        };
        write(at, &mut deeds);
        for deed in deeds.drain(..) {
            match deed {
                Deed::Programmed {
                    page,
                    logical,
                    from,
                } => cells.program(page, logical, from),
                Deed::Erased { block } => cells.erase(block),
                Deed::Broke { .. } => {}
            }
        }
    }
}

const K: u64 = 1024;
const BLOCK: u64 = 4096;
const BLOCKS: u64 = 256;

fn mechanisms() -> Vec<(&'static str, Mechanism)> {
    let size = BLOCK * BLOCKS;
    let disk = |order| {
        let disk = Disk::new(drive("barracuda").unwrap()).unwrap();
        Mechanism::disk(disk, Sweeping::new(order))
    };
    let ssd = |protected| {
        let mut spec = SsdSpec::named("mlc", size + 64 * K).unwrap();
        spec.protected = protected;
        let mut ssd = Ssd::new(spec).unwrap();
        ssd.fill().unwrap();
        Mechanism::flash(Flash::Ssd(ssd))
    };
    let mapped = BlockMapped::new(BlockMappedSpec::new(size + 64 * K)).unwrap();
    let mut card = CardSpec::named("card", size + 64 * K).unwrap();
    card.segment = 128 * K;
    vec![
        ("ram", Mechanism::Ram),
        ("fcfs", disk(Order::Fcfs)),
        ("sptf", disk(Order::Sptf)),
        ("look", disk(Order::Look)),
        ("ssd", ssd(false)),
        ("protected", ssd(true)),
        ("mapped", Mechanism::flash(Flash::BlockMapped(mapped))),
        (
            "card",
            Mechanism::flash(Flash::Card(Card::new(card).unwrap())),
        ),
    ]
}

/// What a block may hold: every write to it, oldest first, by request and seed; and how many
/// of the first are superseded for sure.
#[derive(Default, Clone)]
struct History {
    writes: Vec<(u64, u64)>,
    floor: usize,
}

impl History {
    /// All writes up to a request are on the medium.
    fn settled(&mut self, before: u64) {
        let n = self.writes.iter().filter(|w| w.0 < before).count();
        self.floor = self.floor.max(n.saturating_sub(1));
    }
}

#[test]
fn no_flushed_write_is_lost() {
    for (name, mechanism) in mechanisms() {
        for cache in [None, Some(32 * K), Some(512 * K)] {
            for seed in 0..6 {
                cut(name, mechanism.clone(), cache, seed);
            }
        }
    }
}

fn cut(name: &str, mechanism: Mechanism, cache: Option<u64>, seed: u64) {
    let disk = CowDisk::new(BLOCK * BLOCKS);
    let mut drive = Drive::new(disk, mechanism, cache).starting_at(63 * 512);
    let mut random = Random::new(seed);
    let mut all: Vec<History> = vec![
        History {
            writes: vec![(0, 0)],
            floor: 0
        };
        BLOCKS as usize
    ];
    // Requests by number: what they were, and where.
    let mut asked: Vec<(char, u64, u64)> = Vec::new();
    for step in 1..300u64 {
        let request = drive.next_request();
        let (kind, first, len) = match random.below(20) {
            0..=1 => ('f', 0, 0),
            2 => ('u', u64::from(random.below(BLOCKS as u32)), 1),
            3 => ('r', u64::from(random.below(BLOCKS as u32 - 8)), 8),
            n => (
                'w',
                u64::from(random.below(BLOCKS as u32 - 32)),
                u64::from(n),
            ),
        };
        let data = |fua| Op::Write {
            data: vec![(
                Data::Pattern {
                    seed: step,
                    from: 0,
                },
                len * BLOCK,
            )],
            fua,
        };
        let op = match kind {
            'f' => Op::Flush,
            'r' => Op::Read,
            'u' => data(true),
            _ => data(false),
        };
        drive
            .submit(Request {
                op,
                offset: first * BLOCK,
                len: len * BLOCK,
                cause: None,
            })
            .unwrap();
        asked.push((kind, first, len));
        if matches!(kind, 'w' | 'u') {
            for (block, i) in (first..first + len).zip(0u64..) {
                all[block as usize].writes.push((request, step << 8 | i));
            }
        }
        pass(
            &mut drive,
            &mut random,
            &asked,
            &mut all,
            cache.is_none() || name == "protected",
        );
        if random.below(4) == 0 {
            look(name, &drive, &mut random, &all);
        }
    }
}

/// Some time passes.
fn pass(
    drive: &mut Drive,
    random: &mut Random,
    asked: &[(char, u64, u64)],
    all: &mut [History],
    safe_at_once: bool,
) {
    for _ in 0..random.below(5) {
        let Some(at) = drive.next_event() else {
            return;
        };
        for told in drive.advance(at) {
            let DeviceEvent::Completed(nr) = told.what else {
                continue;
            };
            let (kind, first, len) = asked[nr as usize];
            match kind {
                'f' => all.iter_mut().for_each(|h| h.settled(nr)),
                'u' => all[first as usize].settled(nr + 1),
                'w' if safe_at_once => {
                    for h in &mut all[first as usize..(first + len) as usize] {
                        h.settled(nr + 1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Power goes now: any of the writes not known to be safe may be there, in their order.
fn look(name: &str, drive: &Drive, random: &mut Random, all: &[History]) {
    let mut left = drive.stable().clone();
    for write in drive.unstable() {
        if random.below(2) == 0 {
            continue;
        }
        let mut at = write.offset;
        for (piece, n) in write.data.iter() {
            left.write_data(at, *n, piece).unwrap();
            at += n;
        }
    }
    for (block, h) in (0u64..).zip(all) {
        let byte = |disk: &CowDisk| {
            let mut buf = [0; 16];
            disk.read_at(block * BLOCK, &mut buf).unwrap();
            buf
        };
        let of = |&(_, id): &(u64, u64)| -> [u8; 16] {
            if id == 0 {
                return [0; 16];
            }
            std::array::from_fn(|i| pattern_byte(id >> 8, (id & 255) * BLOCK + i as u64))
        };
        let found = byte(&left);
        let allowed = h.writes[h.floor..].iter().any(|w| of(w) == found);
        assert!(allowed, "{name}: block {block} lost what was flushed");
        let last = h.writes.last().unwrap();
        assert_eq!(byte(drive.contents()), of(last), "{name}: block {block}");
    }
}
