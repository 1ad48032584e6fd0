//! Pictures of what is inside a device: the figures agree with each other and with what the
//! run's events say, at every instant that is looked at.

use fslab_engine::event::What;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use fslab_engine::view::lab::{
    Colouring, FlashState, FlashView, Frame, MediumView, PageFacts, flash_effects, frame,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn lesson(name: &str) -> Recording {
    let path = format!(
        "{}/../lessons/{name}/scenario.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    recorded(&std::fs::read_to_string(path).unwrap())
}

fn recorded(text: &str) -> Recording {
    let scenario = Scenario::parse(text).unwrap_or_else(|e| panic!("{}", e[0]));
    let mut recording = Recording::new(Arc::new(scenario)).unwrap();
    while recording.record(100_000) {}
    recording
}

fn at(recording: &Recording, event: u64) -> Frame {
    frame(recording, &recording.at(event), None)
}

fn flash(frame: &Frame) -> &FlashView {
    match &frame.medium {
        MediumView::Flash(f) => f,
        other => panic!("{other:?}"),
    }
}

fn instants(recording: &Recording) -> impl Iterator<Item = u64> {
    let (first, end) = (recording.first(), recording.len());
    (0..=12).map(move |i| first + (end - 1 - first) * i / 12)
}

/// Runs cover each physical page once; each logical page is valid at one place at most; each
/// block's counts are those of its pages; counters are those of the events so far.
#[test]
fn flash_adds_up() {
    for name in [
        "14-database-on-an-ssd",
        "15-garbage-collection",
        "16-trim",
        "17-card",
        "18-misaligned",
    ] {
        let recording = lesson(name);
        let events = recording.events(0, recording.len(), usize::MAX);
        for event in instants(&recording) {
            let instant = recording.at(event);
            let frame = frame(&recording, &instant, None);
            let f = flash(&frame);
            let mut next = 0;
            let mut seen = BTreeSet::new();
            let mut valid = vec![0; f.each.len()];
            for r in &f.runs {
                assert_eq!(r.first, next, "{name}");
                next += r.len;
                assert_eq!(r.logical.is_some(), r.state == FlashState::Valid);
                if let Some(l) = r.logical {
                    valid[(r.first / f.pages_per_block) as usize] += r.len;
                    for i in 0..u64::from(r.len) {
                        assert!(
                            l + i < f.logical_pages && seen.insert(l + i),
                            "{name}: page {l} twice"
                        );
                    }
                }
            }
            assert_eq!(next, f.blocks * f.pages_per_block, "{name}");
            for (b, v) in f.each.iter().zip(valid) {
                assert_eq!(b.valid, v, "{name}: block {}", b.first);
            }
            // The instant is after its whole step.
            let until = instant.machine.next_event();
            let mut told = (0, 0, 0);
            for e in events.iter().filter(|e| e.id.0 < until) {
                match e.what {
                    What::FlashProgrammed { from, len, .. } => {
                        told.0 += u64::from(len);
                        told.1 += if from.is_some() { u64::from(len) } else { 0 };
                    }
                    What::FlashErased { .. } => told.2 += 1,
                    _ => {}
                }
            }
            assert_eq!(
                (f.programmed, f.copied, f.erases),
                told,
                "{name} at {event}"
            );
        }
    }
}

/// A page tells the event that it was written because of: the last that programmed it from
/// the host.
#[test]
fn pages_know_their_writers() {
    let recording = lesson("15-garbage-collection");
    let last = recording.len() - 1;
    let frame = at(&recording, last);
    let f = flash(&frame);
    let mut writers = std::collections::BTreeMap::new();
    for e in recording.events(0, recording.len(), usize::MAX) {
        if let What::FlashProgrammed {
            logical,
            from: None,
            len,
            ..
        } = e.what
        {
            for i in 0..u64::from(len) {
                writers.insert(logical + i, (e.cause.map(|c| c.0), e.at.0));
            }
        }
    }
    let mut checked = 0;
    for r in f.runs.iter().filter(|r| r.state == FlashState::Valid) {
        for i in 0..u64::from(r.len) {
            if let Some((cause, _)) = writers.get(&(r.logical.unwrap() + i)) {
                assert_eq!(r.cause, *cause);
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "{checked}");
    assert!(f.runs.iter().any(|r| r.moves > 0), "nothing was moved");
}

/// A call's effects: what all calls caused, and what none did, is all that was done.
#[test]
fn calls_and_their_flash() {
    let recording = lesson("15-garbage-collection");
    let events = recording.events(0, recording.len(), usize::MAX);
    let calls = events
        .iter()
        .filter(|e| matches!(&e.what, What::Call { text } if text.starts_with("fdatasync")));
    let (mut written, mut moved) = (0, 0);
    for call in calls {
        let found = flash_effects(&recording, call.id.0);
        written += found.written;
        moved += found.moved;
        let listed: u64 = found.pages.iter().map(|p| u64::from(p.1)).sum();
        assert!(found.pages.len() >= 256 || listed == found.written + found.moved);
    }
    // 40 rounds of 24 pages at random among 2048, nearly all of them different, each a
    // block; inodes and indirect blocks are not fdatasync's affair, or not each time.
    assert!((40 * 23..=40 * 30).contains(&written), "{written}");
    assert!(moved > 0);
}

/// A disk's requests lie where the drive has them, and in its zones.
#[test]
fn disk_places() {
    let recording = lesson("13-database-on-a-disk");
    let mut placed = 0;
    let mut arms = BTreeSet::new();
    let (first, end) = (recording.first(), recording.len());
    for event in (0..400).map(|i| first + (end - 1 - first) * i / 400) {
        let frame = at(&recording, event);
        let MediumView::Disk(d) = &frame.medium else {
            panic!()
        };
        arms.insert(d.arm);
        assert!(d.turned < 1_000_000);
        for p in d.queue.iter().chain(&d.at_work) {
            placed += 1;
            assert!(p.angle < 1_000_000 && p.head < d.heads);
            assert!(
                d.zones
                    .iter()
                    .any(|z| (z.first..=z.last).contains(&p.cylinder))
            );
            assert!((d.partition.0..=d.partition.1).contains(&p.cylinder));
        }
    }
    assert!(placed > 50 && arms.len() > 2, "{placed} {arms:?}");
}

/// The card's open segments, with old and new place, and never more than it can have.
#[test]
fn a_cards_open_segments() {
    let recording = lesson("17-card");
    let mut open = BTreeSet::new();
    for event in instants(&recording) {
        let frame = at(&recording, event);
        let card = flash(&frame).card.clone().unwrap();
        assert!(card.open.iter().filter(|o| !o.fat).count() <= card.most_open as usize);
        for o in card.open {
            assert_ne!(o.old, o.new);
            open.insert(o.segment);
        }
    }
    assert!(open.len() >= 2, "{open:?}");
}

/// A device of a million pages and more comes as a bounded picture.
#[test]
fn large_flash_is_bounded() {
    let text = "fslab = 1\n[device]\nkind = \"ssd\"\nsize = \"8G\"\n[mkfs]\noptions = \"-t ext2\"\n\
                [[process]]\nprogram = '''\nfd = open(\"/a\", O_CREAT | O_WRONLY)\nwrite(fd, data(1M))\nfsync(fd)\n'''\n";
    let recording = recorded(text);
    let frame = at(&recording, recording.len() - 1);
    let f = flash(&frame);
    assert!(u64::from(f.blocks) * u64::from(f.pages_per_block) > 2_000_000);
    assert!(f.runs.is_empty() && f.each.len() <= 4096);
    let valid: u64 = f.each.iter().map(|b| u64::from(b.valid)).sum();
    assert!(valid > 256, "{valid} valid pages");
}

/// At least twelve, each with a name, a sentence and a legend that has every colour used.
#[test]
fn colourings_have_words() {
    assert!(Colouring::ALL.len() >= 12);
    let names: BTreeSet<&str> = Colouring::ALL.iter().map(|c| c.name()).collect();
    assert_eq!(names.len(), Colouring::ALL.len());
    for name in ["15-garbage-collection", "17-card"] {
        let recording = lesson(name);
        for event in instants(&recording) {
            let frame = at(&recording, event);
            let f = flash(&frame);
            let most = f.each.iter().map(|b| b.erases).max().unwrap_or(0);
            for colouring in Colouring::ALL {
                let legend = colouring.legend();
                assert!(!colouring.sentence().is_empty() && !legend.is_empty());
                for run in &f.runs {
                    let block = &f.each[(run.first / f.pages_per_block / f.grain) as usize];
                    let facts = PageFacts {
                        flash: f,
                        block,
                        run,
                        nth: 0,
                        owned: None,
                        now_ns: frame.time_ns,
                        most_erases: most,
                        chosen: None,
                    };
                    let tone = colouring.tone(&facts);
                    let ramp = matches!(tone, fslab_engine::view::lab::Tone::Step(_));
                    let told = legend.iter().any(|(t, _)| {
                        *t == tone || ramp && matches!(t, fslab_engine::view::lab::Tone::Step(_))
                    });
                    assert!(told, "{}: {tone:?} is not in the legend", colouring.name());
                }
            }
        }
    }
}
