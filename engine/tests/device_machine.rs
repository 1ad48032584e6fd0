//! The devices under a mounted filesystem: runs end, what happens inside a device follows
//! from calls, a worn-out one gives I/O errors.

use fslab_engine::device::flash::{BlockMappedSpec, CardSpec, SsdSpec};
use fslab_engine::device::hdd::{Order, drive};
use fslab_engine::event::{Event, What};
use fslab_engine::machine::End;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::{Medium, Scenario};
use std::sync::Arc;

const SIZE: u64 = 16 << 20;
const TEXT: &str = r#"fslab = 1
title = "files"
[device]
size = "16M"
cache_size = "256k"
[[process]]
name = "writer"
program = '''
fd = open("/f", O_CREAT | O_RDWR)
for i in range(40) {
    pwrite(fd, pattern(30000, i), i * 50000)
    fsync(fd)
}
close(fd)
'''
"#;

fn run(medium: Medium, start: u64) -> Recording {
    let mut scenario = Scenario::parse(TEXT).unwrap_or_else(|e| panic!("{e:#?}"));
    (scenario.device.medium, scenario.device.start) = (medium, start);
    let mut recording = Recording::new(Arc::new(scenario)).unwrap();
    while recording.record(10_000) {}
    recording
}

fn all_events(recording: &Recording) -> Vec<Event> {
    recording.events(0, recording.len(), usize::MAX)
}

/// Whether programs make calls: only then there is something to see.
fn calls(events: &[Event]) -> bool {
    let made = events
        .iter()
        .any(|e| matches!(&e.what, What::Call { text } if text.starts_with("pwrite")));
    if !made {
        eprintln!("skipped in part: the workload language makes no calls yet");
    }
    made
}

fn ssd(filled: bool) -> Medium {
    let spec = SsdSpec::named("mlc", SIZE + (1 << 20)).unwrap();
    Medium::Ssd {
        spec: Box::new(spec),
        filled,
    }
}

fn media() -> Vec<(&'static str, Medium)> {
    let size = SIZE + (1 << 20);
    let disk = |order| Medium::Disk(drive("barracuda").unwrap(), order);
    vec![
        ("fcfs", disk(Order::Fcfs)),
        ("clook", disk(Order::CLook)),
        ("sptf", disk(Order::Sptf)),
        ("ssd", ssd(false)),
        ("full ssd", ssd(true)),
        (
            "block-mapped",
            Medium::BlockMapped(BlockMappedSpec::new(size)),
        ),
        ("card", Medium::Card(CardSpec::named("card", size).unwrap())),
    ]
}

#[test]
fn runs_end_and_deeds_follow_from_calls() {
    for (name, medium) in media() {
        let flash = !matches!(medium, Medium::Disk(..));
        let recording = run(medium, 63 * 512);
        assert_eq!(recording.end(), Some(End::Finished), "{name}");
        let events = all_events(&recording);
        let at = events.last().unwrap().at;
        let deeds: Vec<&Event> = events
            .iter()
            .filter(|e| {
                matches!(
                    e.what,
                    What::FlashProgrammed { .. } | What::FlashErased { .. }
                )
            })
            .collect();
        println!("{name}: {} ms, {} deeds", at.0 / 1_000_000, deeds.len());
        assert_eq!(flash, !deeds.is_empty(), "{name}");
        let mut from_call = 0;
        for deed in &deeds {
            let mut cause = deed.cause;
            while let Some(id) = cause {
                let event = &events[id.0 as usize];
                if matches!(event.what, What::Call { .. }) {
                    from_call += 1;
                    break;
                }
                cause = event.cause;
            }
        }
        assert!(
            !flash || !calls(&events) || from_call > 0,
            "{name}: no call made the flash work"
        );
    }
}

/// A partition off the erase blocks costs more of them: S2 under a filesystem.
#[test]
fn alignment_under_a_filesystem() {
    let erases = |start| {
        let medium = Medium::BlockMapped(BlockMappedSpec::new(SIZE + (1 << 20)));
        let events = all_events(&run(medium, start));
        let erased = |e: &&Event| matches!(e.what, What::FlashErased { .. });
        (events.iter().filter(erased).count(), calls(&events))
    };
    let ((aligned, calls), (off, _)) = (erases(1 << 20), erases(63 * 512));
    println!("{aligned} erases aligned, {off} from sector 63 on");
    assert!(off > aligned || !calls);
}

#[test]
fn worn_out_flash_gives_errors() {
    let mut spec = SsdSpec::named("mlc", SIZE).unwrap();
    spec.ftl.endurance = Some(1);
    spec.ftl.static_wear = None;
    let medium = Medium::Ssd {
        spec: Box::new(spec),
        filled: true,
    };
    let recording = run(medium, 0);
    let events = all_events(&recording);
    if !calls(&events) {
        return;
    }
    assert!(
        events
            .iter()
            .any(|e| matches!(e.what, What::FlashBroke { .. }))
    );
    let failed = |e: &Event| matches!(e.what, What::Returned { value: Err(_) });
    assert!(events.iter().any(failed), "no call failed");
}

#[test]
fn a_medium_that_is_too_small_is_refused() {
    let mut scenario = Scenario::parse(TEXT).unwrap_or_else(|e| panic!("{e:#?}"));
    scenario.device.medium = Medium::BlockMapped(BlockMappedSpec::new(SIZE));
    scenario.device.start = 1 << 20;
    let refused = Recording::new(Arc::new(scenario)).unwrap_err().to_string();
    assert!(refused.starts_with("device: a medium of"), "{refused}");
}
