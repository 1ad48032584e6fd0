//! Block traces: read in each format, replayed, written, read again.

use fslab_engine::device::flash::Flash;
use fslab_engine::device::hdd::{Disk, Order, Sweeping, drive};
use fslab_engine::device::trace::{Action, Line, Replay, ReplayError, Traced, parse, replay, text};
use fslab_engine::device::{Drive, Mechanism};
use fslab_engine::disk::CowDisk;
use fslab_engine::event::Io;
use proptest::prelude::*;

const SIZE: u64 = 64 << 20;

fn flash(name: &str) -> Drive {
    let flash = Flash::named(name, SIZE).unwrap();
    Drive::new(CowDisk::new(SIZE), Mechanism::flash(flash), None)
}

fn disk() -> Drive {
    let spec = drive("barracuda").unwrap();
    let size = spec.sectors() * 512;
    let order = Sweeping::new(Order::CLook);
    Drive::new(
        CowDisk::new(size),
        Mechanism::disk(Disk::new(spec).unwrap(), order),
        None,
    )
}

const OPEN: Replay = Replay {
    depth: None,
    fold: false,
};

/// The lines of blkparse(1)'s manual page and of the kernel's letters for kinds.
#[test]
fn blkparse_lines() {
    let lines = "\
  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  P   R [kjournald]
  8,0    3        3     0.000002197   697  Q   W 223490 + 8 [kjournald]
  8,0    3        4     0.000005533   697  M   W 223498 + 8 [kjournald]
  8,0    0        5     0.000009533   697  Q WFS 100 + 16 [x]
  8,0    0        6     0.000009600   697  Q FWFS 200 + 8 [x]
  8,0    0        7     0.000010000   697  Q  FN [x]
  8,0    0        8     0.000010001   697  Q   D 4096 + 2048 [fstrim]
  8,0    0        9     1.500000000   697  Q  RA 8 + 8 [x]
  8,0    3       10     1.600000000   697  D   W 223490 + 16 [kjournald]
  8,0    0       11     2.000000000     0  C   W 223490 + 16 [0]
CPU3 (8,0):
 Reads Queued:           0,        0KiB	 Writes Queued:           7,      128KiB
";
    let found = parse(lines).unwrap();
    let rows: Vec<(u64, Io, u64, u64)> = found
        .iter()
        .map(|r| (r.at_ns, r.kind, r.offset, r.len))
        .collect();
    assert_eq!(
        rows,
        [
            (0, Io::Write, 223_490 * 512, 4096),
            (9533 - 2197, Io::WriteFua, 100 * 512, 8192),
            (9600 - 2197, Io::WriteFua, 200 * 512, 4096),
            (10_000 - 2197, Io::Flush, 0, 0),
            (10_001 - 2197, Io::Discard, 4096 * 512, 1 << 20),
            (1_500_000_000 - 2197, Io::Read, 4096, 4096),
        ]
    );
}

/// Rows as the two collections at SNIA have them.
#[test]
fn rows_of_csv() {
    let msr = "128166372003061629,hm,1,Read,383496192,32768,1331\n128166372016382155,hm,1,Write,310983168,4096,2317\n";
    let found = parse(msr).unwrap();
    // Ticks of 100 ns.
    assert_eq!(
        found[1].at_ns,
        (128_166_372_016_382_155 - 128_166_372_003_061_629) * 100
    );
    assert_eq!(
        (found[0].kind, found[0].offset, found[0].len),
        (Io::Read, 383_496_192, 32_768)
    );
    let systor = "Timestamp,Response,IOType,LUN,Offset,Size\n1456056000.012345678,0.001,W,2,4096,512\n1456056001.5,,R,2,0,8192\n";
    let found = parse(systor).unwrap();
    assert_eq!(found[1].at_ns, 1_500_000_000 - 12_345_678);
    assert_eq!(
        (found[0].kind, found[0].offset, found[0].len),
        (Io::Write, 4096, 512)
    );
}

#[test]
fn mistakes_are_told_by_line() {
    let says = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(
        says("1,hm,1,Read,x,512,1"),
        "line 1: `x` in column 5 (Offset) is no number"
    );
    assert_eq!(
        says("1,hm,1,Jump,0,512,1"),
        "line 1: `jump` is no kind of request: Read or Write is expected"
    );
    assert!(says("1,2,3\n").starts_with("line 1: 3 columns: MSR Cambridge has 7"));
    assert!(says("8,0 0 1 0.0 1 Q W 5 [x]").starts_with("line 1: a first sector"));
    assert!(says("").starts_with("there is no request"));
    let far = [Traced {
        at_ns: 0,
        kind: Io::Read,
        offset: SIZE,
        len: 512,
    }];
    let refused = replay(flash("mlc"), &far, OPEN).unwrap_err();
    assert!(
        matches!(refused, ReplayError::PastEnd { nr: 1, .. }),
        "{refused}"
    );
    let folded = replay(flash("mlc"), &far, Replay { fold: true, ..OPEN }).unwrap();
    assert_eq!(folded.requests, 1);
}

fn requests() -> impl Strategy<Value = Vec<Traced>> {
    let kind = prop_oneof![
        Just(Io::Read),
        Just(Io::Write),
        Just(Io::WriteFua),
        Just(Io::Discard),
        Just(Io::Flush)
    ];
    let one = (0u64..3_000_000, kind, 0u64..SIZE / 512 - 256, 1u64..256);
    prop::collection::vec(one, 1..60).prop_map(|rows| {
        let mut at = 0;
        let each = rows
            .into_iter()
            .enumerate()
            .map(|(i, (gap, kind, sector, sectors))| {
                at += if i == 0 { 0 } else { gap };
                let flush = kind == Io::Flush;
                let (offset, len) = if flush {
                    (0, 0)
                } else {
                    (sector * 512, sectors * 512)
                };
                Traced {
                    at_ns: at,
                    kind,
                    offset,
                    len,
                }
            });
        each.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// What a device did, written and read again, is what it was asked: and each request is
    /// queued, issued and completed, in this order.
    #[test]
    fn what_is_recorded_is_what_was_asked(asked in requests(), which in 0usize..4, depth in prop_oneof![Just(None), (1u32..8).prop_map(Some)]) {
        let device = match which {
            0 => flash("mlc"),
            1 => flash("block-mapped"),
            2 => flash("card"),
            _ => disk(),
        };
        let how = Replay { depth, fold: false };
        let done = replay(device.clone(), &asked, how).unwrap();
        prop_assert_eq!(done.requests, asked.len() as u64);
        let again = parse(&text(&done.lines)).unwrap();
        let what = |list: &[Traced]| list.iter().map(|r| (r.kind, r.offset, r.len)).collect::<Vec<_>>();
        prop_assert_eq!(what(&again), what(&asked));
        if depth.is_none() {
            prop_assert_eq!(&again, &asked);
            // The same once more: a trace that was recorded does what the first did.
            let twice = replay(device, &again, how).unwrap();
            prop_assert_eq!(text(&twice.lines), text(&done.lines));
        }
        let of = |action| done.lines.iter().filter(move |l: &&Line| l.action == action).count();
        prop_assert_eq!(of(Action::Queued), asked.len());
        prop_assert_eq!(of(Action::Completed), asked.len());
        prop_assert!(done.median_ns <= done.p99_ns && done.p99_ns <= done.most_ns);
    }

    /// Any text is a trace or a sentence.
    #[test]
    fn any_text(text in ".{0,200}", rows in prop::collection::vec("[0-9]{1,20},[0-9]{1,9} [0-9 ]{0,6}[0-9.]{1,12} 1 [QDC] [RWDFN]{1,4} [0-9]{1,20} \\+ [0-9]{1,20}", 0..5)) {
        let _ = parse(&text);
        let _ = parse(&rows.join("\n"));
    }
}

/// By a queue of one a drive serves one request a time: at depth 32 by C-LOOK it serves
/// more a second.
#[test]
fn a_deeper_queue_serves_more() {
    let mut random = fslab_engine::device::ftl::Random::new(9);
    let asked: Vec<Traced> = (0..400)
        .map(|_| Traced {
            at_ns: 0,
            kind: Io::Read,
            offset: u64::from(random.below(500_000)) * 4096,
            len: 4096,
        })
        .collect();
    let rate = |depth| {
        replay(
            disk(),
            &asked,
            Replay {
                depth: Some(depth),
                fold: false,
            },
        )
        .unwrap()
        .per_second
    };
    let (one, many) = (rate(1), rate(32));
    assert!(many > 1.3 * one, "{one} {many}");
}

/// Reads one behind the other, each 10 ms after the last: with a track buffer all but the
/// first are in it, and take a command (0.83 ms) and 4096 bytes at 10 ns; without, each
/// waits for its sectors to come round.
#[test]
fn a_track_buffer_has_what_comes_next() {
    let asked: Vec<Traced> = (0..20)
        .map(|i| Traced {
            at_ns: i * 10_000_000,
            kind: Io::Read,
            offset: i * 4096,
            len: 4096,
        })
        .collect();
    let median = |track_buffer| {
        let mut spec = drive("barracuda").unwrap();
        spec.track_buffer = track_buffer;
        let size = spec.sectors() * 512;
        let disk = Mechanism::disk(Disk::new(spec).unwrap(), Sweeping::new(Order::Fcfs));
        replay(Drive::new(CowDisk::new(size), disk, None), &asked, OPEN)
            .unwrap()
            .median_ns
    };
    assert_eq!(median(true), 830_000 + 40_960);
    assert!(median(false) > 2_000_000);
}

/// A run's block trace, replayed on a device of the same kind, asks what the run asked.
#[test]
fn a_runs_trace_is_replayed() {
    use fslab_engine::recording::{Recording, block_trace};
    let text_of = "fslab = 1\n[device]\nname = \"MLC\"\nsize = \"16M\"\ncache = \"none\"\n[[process]]\nprogram = '''\nrandom_writes(\"/a\", 1M, 4k, 20, true)\n'''\n";
    let scenario = fslab_engine::scenario::Scenario::parse(text_of).unwrap();
    let mut recording = Recording::new(std::sync::Arc::new(scenario)).unwrap();
    while recording.record(100_000) {}
    let asked = parse(&block_trace(&recording)).unwrap();
    let counters = recording.head().gauges();
    let written: u64 = asked
        .iter()
        .filter(|r| matches!(r.kind, Io::Write | Io::WriteFua))
        .map(|r| r.len)
        .sum();
    // mkfs and mount write before the run's first event.
    assert!(written > 20 * 4096 && written <= counters.device_written_bytes);
    let done = replay(flash("mlc"), &asked, OPEN).unwrap();
    assert_eq!(done.requests, asked.len() as u64);
    assert_eq!(done.counters.written_bytes, written);
}
