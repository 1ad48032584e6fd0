//! Block-mapped disks, SSDs and cards against arithmetic and published figures
//! (`../shared/devices`, experiments S1, S2, S4, D1, D2).

use fslab_engine::device::flash::probe;
use fslab_engine::device::flash::{
    BlockMapped, BlockMappedSpec, Card, CardSpec, Deed, Flash, Ssd, SsdSpec, Touch,
};
use fslab_engine::device::ftl::{Ftl, FtlConfig, Random, theory};

const K: u64 = 1024;
const M: u64 = 1 << 20;

fn block_mapped() -> BlockMapped {
    BlockMapped::new(BlockMappedSpec::new(256 * M)).unwrap()
}

fn write(device: &mut BlockMapped, pieces: &[(u64, u64)]) -> u64 {
    device.access(Touch::Write, pieces, &mut Vec::new())
}

/// Amplification 32, 1 and 2; 14.98 ms and 11.1 ms: 31 · 125 µs + 1.5 ms + 32 · 300 µs =
/// 14.975 ms, and 1.5 ms + 32 · 300 µs = 11.1 ms.
#[test]
fn block_mapped_arithmetic() {
    let mut d = block_mapped();
    assert_eq!(write(&mut d, &[(5 * 128 * K + 12 * K, 4 * K)]), 14_975_000);
    assert_eq!((d.stats().host_pages, d.stats().programmed), (1, 32));
    let mut d = block_mapped();
    assert_eq!(write(&mut d, &[(7 * 128 * K, 128 * K)]), 11_100_000);
    assert_eq!((d.stats().host_pages, d.stats().programmed), (32, 32));
    let mut d = block_mapped();
    write(&mut d, &[(7 * 128 * K + 64 * K, 128 * K)]);
    assert_eq!((d.stats().host_pages, d.stats().programmed), (32, 64));
    // Reading 4 KiB is 25 µs and 100 µs on the bus.
    assert_eq!(
        d.access(Touch::Read, &[(0, 4 * K)], &mut Vec::new()),
        125_000
    );
}

/// S1: blocks 10, 12, 13, 32 to 35, 64 to 67, 96 to 99, then a barrier. Block-mapped, four
/// erase blocks are rewritten; page-mapped, 3 + 4 + 4 + 4 = 15 pages are programmed, which
/// one block of 32 pages holds.
#[test]
fn s1_rewrites() {
    let runs = [(10, 1), (12, 2), (32, 4), (64, 4), (96, 4)];
    let pieces: Vec<(u64, u64)> = runs.map(|(b, n)| (b * 4 * K, n * 4 * K)).into();
    let mut d = block_mapped();
    let mut deeds = Vec::new();
    d.access(Touch::Write, &pieces, &mut deeds);
    let erased = |deeds: &[Deed]| {
        deeds
            .iter()
            .filter(|d| matches!(d, Deed::Erased { .. }))
            .count()
    };
    assert_eq!(erased(&deeds), 4);
    assert_eq!(d.stats().programmed, 4 * 32);

    let mut spec = SsdSpec::named("slc", 64 * M).unwrap();
    (spec.channels, spec.dies) = (1, 1);
    spec.ftl = spec.layer(64 * M, 32, 100_000);
    let mut ssd = Ssd::new(spec).unwrap();
    ssd.fill().unwrap();
    let mut deeds = Vec::new();
    ssd.access(Touch::Write, &pieces, &mut deeds).unwrap();
    assert_eq!(erased(&deeds), 0);
    assert_eq!(ssd.ftl().stats().programmed(), 15);
}

/// S2: the partition's first sector decides how many blocks a write of a block costs.
/// 255 · 63 = 16065, 240 · 63 = 15120, 224 · 56 = 12544 = 49 · 256 sectors.
#[test]
fn s2_alignment() {
    assert_eq!(12544, 49 * 256);
    let erased = |cylinder: u64, nth: u64, size: u64| {
        let mut d = block_mapped();
        let start = cylinder * nth * 512;
        write(&mut d, &[(start + 3 * size, size)]);
        d.stats().erases
    };
    // Cylinder 1 of each geometry, writes of 128 KiB: only 49 · 128 KiB is a boundary.
    assert_eq!(erased(255 * 63, 1, 128 * K), 2);
    assert_eq!(erased(240 * 63, 1, 128 * K), 2);
    assert_eq!(erased(224 * 56, 1, 128 * K), 1);
    // Writes of 4 KiB are on a boundary where a cylinder is a multiple of 8 sectors:
    // 16065 is odd, 15120 = 8 · 1890. Where they are not, both pages are read as well.
    let partial = |cylinder: u64| {
        let mut d = block_mapped();
        write(&mut d, &[(cylinder * 512, 4 * K)]);
        d.stats().host_pages
    };
    assert_eq!(partial(255 * 63), 2);
    assert_eq!(partial(240 * 63), 1);
    assert_eq!(partial(224 * 56), 1);
    // The first sector of DOS partitions, 63, is off in any case.
    assert_eq!(partial(63), 2);
}

/// Whole blocks that are given up need neither be read nor erased before they are written;
/// parts stay as they are.
#[test]
fn block_mapped_trim() {
    let mut d = block_mapped();
    d.access(Touch::Discard, &[(64 * K, 256 * K)], &mut Vec::new());
    assert!(!d.is_empty(0) && d.is_empty(1) && !d.is_empty(2));
    let mut deeds = Vec::new();
    d.access(Touch::Write, &[(128 * K, 4 * K)], &mut deeds);
    assert_eq!(d.stats().programmed, 1);
    d.access(Touch::Write, &[(0, 4 * K)], &mut deeds);
    assert_eq!(d.stats().programmed, 33);
}

fn card() -> Flash {
    Flash::Card(Card::new(CardSpec::named("card", 1024 * M).unwrap()).unwrap())
}

fn rate(card: &mut Flash, touch: Touch, offset: u64, len: u64, block: u64) -> f64 {
    let time: u64 = (0..len / block)
        .map(|i| {
            card.access(touch, &[(offset + i * block, block)], &mut Vec::new())
                .unwrap()
        })
        .sum();
    len as f64 * 1000.0 / time as f64
}

fn near(measured: f64, expected: f64, part: f64) {
    let off = (measured - expected).abs() / expected;
    println!("{expected} {measured:.3} {:.1} %", off * 100.0);
    assert!(off <= part, "{measured} for {expected}");
}

/// D1: 13.5 MB/s read, 11.5 MB/s written in order, 33 KB/s in turns between two segments,
/// 64 KiB the smallest efficient access.
#[test]
fn d1_rates() {
    near(
        rate(&mut card(), Touch::Read, 64 * M, 64 * M, 4 * M),
        13.5,
        0.1,
    );
    near(
        rate(&mut card(), Touch::Read, 64 * M, 64 * M, 64 * K),
        13.5,
        0.1,
    );
    assert!(rate(&mut card(), Touch::Read, 64 * M, 4 * M, 4 * K) < 13.5 * 0.7);
    near(
        rate(&mut card(), Touch::Write, 64 * M, 64 * M, 4 * M),
        11.5,
        0.1,
    );
    near(
        rate(&mut card(), Touch::Write, 64 * M, 64 * M, 64 * K),
        11.5,
        0.1,
    );
    near(
        probe::alternating(&mut card(), 8 * K, 200).unwrap(),
        33.0,
        0.1,
    );
    // A segment from its end to its begin: with linear access each write begins it anew.
    let mut c = card();
    let time: u64 = (0..64u64)
        .rev()
        .map(|i| {
            let at = 64 * M + i * 64 * K;
            c.access(Touch::Write, &[(at, 64 * K)], &mut Vec::new())
                .unwrap()
        })
        .sum();
    // Each of 64 copies 4 MiB less 64 KiB: 64 · 504 · 478.2 µs are 15.4 s.
    assert!(time > 15_000_000_000, "{time}");
    // The FAT area takes small writes anywhere, in turns with another segment.
    let mut c = card();
    let mut time = 0;
    for i in 0..100u64 {
        time += c
            .access(
                Touch::Write,
                &[(i * 37 % 512 * 8 * K, 8 * K)],
                &mut Vec::new(),
            )
            .unwrap();
        c.access(
            Touch::Write,
            &[(64 * M + i * 64 * K, 64 * K)],
            &mut Vec::new(),
        )
        .unwrap();
    }
    assert!(time < 100 * 1_500_000, "{time}");
}

/// D2, -a: steps at the segment, at pairs of pages, at pages, none below.
#[test]
fn d2_align() {
    let rows = probe::align(&mut card(), K).unwrap();
    for r in &rows {
        let (least, most) = match r.align {
            a if a >= 4 * M => (270.0, 330.0),
            a if a >= 16 * K => (140.0, 175.0),
            a if a == 8 * K => (45.0, 70.0),
            _ => (-6.0, 6.0),
        };
        assert!((least..=most).contains(&r.diff_us), "{r:?}");
    }
}

/// D2, --open-au: flashbench's card with two and with three segments, MB/s.
#[test]
fn d2_open_segments() {
    let probe = |n| {
        let mut c = Flash::named("card2", 1024 * M).unwrap();
        probe::open_au(&mut c, 4 * M, n, 256 * K).unwrap()
    };
    let (two, three) = (probe(2), probe(3));
    for (r, expected) in two.iter().zip([8.79, 7.41, 6.87, 6.39, 6.27]) {
        println!("2 {} {expected} {:.2}", r.block, r.mb_per_s);
        assert!(r.mb_per_s > 6.0, "{r:?}");
    }
    for (r, expected) in three.iter().zip([7.75, 5.03, 3.24, 1.76, 0.912]) {
        near(r.mb_per_s, expected, 0.16);
    }
    let one = |n| probe::open_au(&mut card(), 4 * M, n, 256 * K).unwrap();
    assert!(one(1)[4].mb_per_s > 10.0 && one(2)[4].mb_per_s < 1.2);
}

/// D2, --find-fat: the first two segments are fast for small scattered writes.
#[test]
fn d2_fat_area() {
    let rows = probe::find_fat(&mut card(), 4 * M, 5, 64 * K).unwrap();
    for r in rows.iter().filter(|r| r.block == 64 * K) {
        assert_eq!(r.segments < 2, r.mb_per_s > 5.0, "{r:?}");
        assert!(r.segments < 2 || r.mb_per_s < 3.5, "{r:?}");
    }
}

/// S4: small writes at random until 170 % of the capacity: the rate falls where free blocks
/// end.
#[test]
fn s4_cliff() {
    let size = 64 * M;
    let mut ssd = Ssd::new(SsdSpec::named("x25m", size).unwrap()).unwrap();
    let mut random = Random::new(1);
    let pages = (size / 4096) as u32;
    // The cache hands on 64 pages at a time.
    let mut step = |n: u32| -> u64 {
        (0..n / 64)
            .map(|_| {
                let mut pieces: Vec<(u64, u64)> = (0..64)
                    .map(|_| (u64::from(random.below(pages)) * 4096, 4096))
                    .collect();
                pieces.sort_unstable();
                ssd.access(Touch::Write, &pieces, &mut Vec::new()).unwrap()
            })
            .sum()
    };
    let tenths: Vec<u64> = (0..17).map(|_| step(pages / 10)).collect();
    println!("{tenths:?}");
    let (first, last) = (tenths[0], tenths[16]);
    assert!(tenths[..9].iter().all(|t| *t < first * 11 / 10));
    assert!(last > 2 * first, "{tenths:?}");
}

/// What the SSD programs for each page written while files come and go: `trim` tells whether
/// it is told of deleted files, `reuse` whether the allocator takes what was freed last
/// rather than what was never used.
///
/// `share`: of the space, in hundredths, is in use at a time.
fn aged(trim: bool, reuse: bool, share: u32) -> f64 {
    let mut config = FtlConfig::new(256, 64, 70_000);
    config.two_frontiers = true;
    let mut ftl = Ftl::new(config).unwrap();
    let pages = ftl.config().logical_pages;
    for page in 0..pages {
        ftl.write(page, 0, &mut ()).unwrap();
    }
    // Files of 64 pages; only a part of the space is in use at a time.
    let slots = pages / 64;
    let full = slots * share / 100;
    let mut free: std::collections::VecDeque<u32> = (full..slots).collect();
    let mut used: Vec<u32> = (0..full).collect();
    let mut random = Random::new(3);
    for &file in free.iter().filter(|_| trim) {
        (0..64).for_each(|i| ftl.trim(file * 64 + i).unwrap());
    }
    ftl.restart_stats();
    for _ in 0..8 * slots {
        let gone = used.swap_remove(random.below(used.len() as u32) as usize);
        if trim {
            (0..64).for_each(|i| ftl.trim(gone * 64 + i).unwrap());
        }
        if reuse {
            free.push_front(gone);
        } else {
            free.push_back(gone);
        }
        // The newest free place, or the one that has been free for longest.
        let file = free.pop_front().unwrap();
        used.push(file);
        // Four files are written at a time, so that they mix in the flash's blocks.
        for i in 0..64 {
            ftl.write(file * 64 + i, 0, &mut ()).unwrap();
            if i % 4 == 0 {
                let other = used[random.below(used.len() as u32) as usize];
                ftl.write(other * 64 + random.below(64), 0, &mut ())
                    .unwrap();
            }
        }
    }
    ftl.stats().write_amplification()
}

/// S3: filled once, then used in part. Without TRIM the flash takes care of what nobody
/// needs; TRIM spares all of that. An allocator that reuses what was freed last writes the
/// same addresses again and again: what it never touches lies in blocks that are valid as a
/// whole, which greedy collection leaves alone, so that all spare space (7 % of the whole)
/// serves the part in use. With a share U in use that part's spare factor is
/// 0.07 / (0.07 + 0.93 U): 13 % at a half, 43 % at a tenth; TRIM's is 1 − 0.93 U. So reuse
/// cannot reach TRIM at a half, and comes close as the part in use becomes small.
#[test]
fn s3_trim_and_reuse() {
    let mut removed = Vec::new();
    for share in [50, 25, 10] {
        let (without, with) = (aged(false, false, share), aged(true, false, share));
        let reuse = aged(false, true, share);
        println!("{share} % in use: without {without:.3}, TRIM {with:.3}, reuse first {reuse:.3}");
        assert!(with < reuse && reuse < without);
        // Greedy with uniform writes is the worst of loads; files that go as a whole are not.
        let u = f64::from(share) / 100.0;
        let spare = 0.07 / (0.07 + 0.93 * u);
        assert!(
            reuse < theory::greedy(1.0 / (1.0 - spare), 64.0) * 1.1,
            "{reuse}"
        );
        removed.push((without - reuse) / (without - with));
    }
    println!("of what TRIM saves, reuse saves {removed:.2?}");
    assert!(removed.is_sorted() && removed[2] > 0.8, "{removed:?}");
}

/// Background collection: what the host waits for is less when the device had time to
/// collect before, though no less is moved in all.
#[test]
fn collecting_in_the_background() {
    let longest = |background: Option<u32>| {
        let mut spec = SsdSpec::named("mlc", 16 * M).unwrap();
        spec.background = background;
        let mut ssd = Ssd::new(spec).unwrap();
        ssd.fill().unwrap();
        let mut random = Random::new(11);
        let (mut worst, mut sum) = (0, 0);
        for i in 0..6000 {
            let at = u64::from(random.below(4096)) * 4096;
            let took = ssd
                .access(Touch::Write, &[(at, 4096)], &mut Vec::new())
                .unwrap();
            if i > 2000 {
                worst = worst.max(took);
                sum += took;
            }
            // The host rests; the device need not.
            for _ in 0..4 {
                let mut deeds = Vec::new();
                if ssd.tidy(&mut deeds).is_none() {
                    break;
                }
            }
        }
        (worst, sum)
    };
    let (usual, background) = (longest(None), longest(Some(8)));
    println!("longest and all: {usual:?} without, {background:?} in the background");
    assert!(background.0 < usual.0 && background.1 < usual.1);
}

/// S5: a journal's rewrites (runs of 4 to 16 blocks one behind the other in 4 MiB, each
/// followed by a block at home elsewhere) cost each scheme differently.
#[test]
fn s5_journal_rewrites() {
    let writes = |device: &mut Flash| {
        let mut random = Random::new(5);
        let (mut at, mut pages) = (0u64, 0u64);
        let mut programmed = 0u64;
        let mut deeds = Vec::new();
        for _ in 0..400 {
            let n = u64::from(4 + random.below(13));
            let log = 32 * M + at % (4 * M - 64 * K);
            let home = 64 * M + u64::from(random.below(4096)) * 4 * K;
            for (offset, len) in [(log, n * 4 * K), (home, 4 * K)] {
                device
                    .access(Touch::Write, &[(offset, len)], &mut deeds)
                    .unwrap();
                pages += len / (4 * K);
            }
            at += n * 4 * K;
        }
        for deed in &deeds {
            programmed += u64::from(matches!(deed, Deed::Programmed { .. }));
        }
        (programmed * device.page()) as f64 / (pages * 4 * K) as f64
    };
    let of = |name: &str| writes(&mut Flash::named(name, 256 * M).unwrap());
    let (paged, mapped, card, card2) = (of("mlc"), of("block-mapped"), of("card"), of("card2"));
    println!(
        "page-mapped {paged:.2}, block-mapped {mapped:.2}, card {card:.2}, two open {card2:.2}"
    );
    // A page map takes them as they come; a block map rewrites two or three blocks of 32
    // pages for 11 pages on average; a card with one open segment copies two of 512 pages
    // of 8 KiB each time.
    assert!(paged < 1.05);
    assert!((4.0..12.0).contains(&mapped));
    assert!(card > 5.0 * mapped);
    assert!(card2 < card);
}

/// Shows 5: a card gives up whole segments only: then nothing is copied for what was in
/// them; of parts it remembers nothing. An SSD gives up whole pages.
#[test]
fn trim_of_parts_and_of_wholes() {
    let copied = |discard: Option<(u64, u64)>| {
        let spec = CardSpec::named("card", 256 * M).unwrap();
        let mut card = Card::new(spec).unwrap();
        if let Some(range) = discard {
            card.access(Touch::Discard, &[range], &mut Vec::new());
        }
        let mut deeds = Vec::new();
        card.access(Touch::Write, &[(64 * M + 8 * K, 8 * K)], &mut deeds);
        card.access(Touch::Write, &[(128 * M, 8 * K)], &mut deeds);
        card.stats().copied
    };
    assert_eq!(copied(None), 511);
    assert_eq!(copied(Some((64 * M + 8 * K, 4 * M - 8 * K))), 511);
    assert_eq!(copied(Some((64 * M, 4 * M))), 0);

    let mut ssd = Ssd::new(SsdSpec::named("mlc", 64 * M).unwrap()).unwrap();
    ssd.fill().unwrap();
    ssd.access(Touch::Discard, &[(2 * K, 12 * K)], &mut Vec::new())
        .unwrap();
    let there: Vec<bool> = (0..4).map(|p| ssd.ftl().physical(p).is_some()).collect();
    assert_eq!(there, [true, false, false, true]);
}
