//! The drive keeps its word: what was flushed is on the medium, what is read is what was
//! written last, and time only goes forward.

use fslab_engine::device::{Device, DeviceEvent, Drive, HddSpec, Mechanism, Op, Request};
use fslab_engine::disk::{CowDisk, Data, ReadAt, WriteAt};
use fslab_engine::units::SimTime;
use proptest::prelude::*;
use std::collections::BTreeSet;

const LEN: u64 = 4 << 20;
const UNIT: u64 = 4096;

#[derive(Clone, Debug)]
enum Step {
    Write {
        at: u64,
        units: u64,
        fill: u8,
        fua: bool,
    },
    Discard {
        at: u64,
        units: u64,
    },
    Read {
        at: u64,
        units: u64,
    },
    Flush,
    /// Time passes, ns.
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let place = (0u64..LEN / UNIT - 8, 1u64..8);
    prop_oneof![
        6 => (place.clone(), any::<u8>(), prop::bool::weighted(0.2))
            .prop_map(|((at, units), fill, fua)| Step::Write { at, units, fill, fua }),
        1 => place.clone().prop_map(|(at, units)| Step::Discard { at, units }),
        1 => place.prop_map(|(at, units)| Step::Read { at, units }),
        1 => Just(Step::Flush),
        3 => (0u64..60_000_000).prop_map(Step::Wait),
    ]
}

fn drive() -> impl Strategy<Value = Drive> {
    let cache = prop_oneof![Just(None), Just(Some(32 * UNIT)), Just(Some(8 << 20))];
    (cache, any::<bool>()).prop_map(|(cache, turns)| {
        let mechanism = if turns {
            Mechanism::hdd(HddSpec::default(), LEN)
        } else {
            Mechanism::Ram
        };
        Drive::new(CowDisk::new(LEN), mechanism, cache)
    })
}

fn request(step: &Step) -> Option<Request> {
    let (op, offset, len) = match *step {
        Step::Write {
            at,
            units,
            fill,
            fua,
        } => {
            let unit = || (Data::Bytes(vec![fill; UNIT as usize].into()), UNIT);
            let data = (0..units).map(|_| unit()).collect();
            (Op::Write { data, fua }, at * UNIT, units * UNIT)
        }
        Step::Discard { at, units } => (Op::Discard, at * UNIT, units * UNIT),
        Step::Read { at, units } => (Op::Read, at * UNIT, units * UNIT),
        Step::Flush => (Op::Flush, 0, 0),
        Step::Wait(_) => return None,
    };
    Some(Request {
        op,
        offset,
        len,
        cause: None,
    })
}

fn bytes(disk: &CowDisk) -> Vec<u8> {
    let mut all = vec![0; LEN as usize];
    disk.read_at(0, &mut all).unwrap();
    all
}

/// The medium with everything that may still be lost laid over it.
fn with_all(drive: &Drive) -> CowDisk {
    let mut disk = drive.stable().clone();
    for write in drive.unstable() {
        let mut at = write.offset;
        for (piece, n) in write.data.iter() {
            let mut bytes = vec![0; *n as usize];
            piece.read(0, &mut bytes);
            disk.write_at(at, &bytes).unwrap();
            at += n;
        }
    }
    disk
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_drive_keeps_its_word(mut drive in drive(), steps in prop::collection::vec(step(), 1..80)) {
        // What a disk without any memory of its own would hold.
        let mut plain = vec![0u8; LEN as usize];
        let mut now = 0;
        let mut flushes = BTreeSet::new();
        let mut fua = BTreeSet::new();
        for step in &steps {
            if let Step::Wait(ns) = step {
                now += ns;
                while let Some(at) = drive.next_event().filter(|at| at.0 <= now) {
                    for told in drive.advance(at) {
                        let DeviceEvent::Completed(id) = told.what else { continue };
                        if flushes.contains(&id) {
                            prop_assert!(drive.unstable().all(|w| w.request > id));
                        }
                        if fua.contains(&id) {
                            prop_assert!(drive.unstable().all(|w| w.request != id));
                        }
                    }
                }
                drive.advance(SimTime(now));
                continue;
            }
            let id = drive.next_request();
            match *step {
                Step::Write { at, units, fill, fua: safe } => {
                    plain[(at * UNIT) as usize..((at + units) * UNIT) as usize].fill(fill);
                    if safe { fua.insert(id); }
                }
                Step::Discard { at, units } => {
                    plain[(at * UNIT) as usize..((at + units) * UNIT) as usize].fill(0);
                }
                Step::Flush => { flushes.insert(id); }
                _ => {}
            }
            drive.submit(request(step).unwrap()).unwrap();
        }
        prop_assert_eq!(bytes(drive.contents()), plain.clone());
        prop_assert_eq!(bytes(&with_all(&drive)), plain.clone());
        // A last flush, and all the time it needs: everything is on the medium.
        drive.submit(request(&Step::Flush).unwrap()).unwrap();
        let mut last = 0;
        for _ in 0..100_000 {
            let Some(at) = drive.next_event() else { break };
            prop_assert!(at.0 >= last, "time goes back from {last} to {}", at.0);
            last = at.0;
            drive.advance(at);
        }
        prop_assert!(drive.next_event().is_none(), "it never comes to rest");
        prop_assert!(!drive.outstanding(0, u64::MAX));
        prop_assert_eq!(drive.unstable().len(), 0);
        prop_assert_eq!(bytes(drive.stable()), plain);
    }
}

/// Without a cache, a write of one sector a time to the same place takes a turn each:
/// 60 s / 7200 = 8.333333 ms.
#[test]
fn synchronous_writes_take_a_turn_each() {
    let mechanism = Mechanism::hdd(HddSpec::default(), LEN);
    let mut drive = Drive::new(CowDisk::new(LEN), mechanism, None);
    let mut done = Vec::new();
    let write = Step::Write {
        at: 0,
        units: 1,
        fill: 1,
        fua: false,
    };
    for _ in 0..4 {
        drive.submit(request(&write).unwrap()).unwrap();
        while let Some(at) = drive.next_event() {
            let told = drive.advance(at);
            let completed = |t: &&_| {
                matches!(
                    t,
                    fslab_engine::device::Happening {
                        what: DeviceEvent::Completed(_),
                        ..
                    }
                )
            };
            if told.iter().any(|t| completed(&t)) {
                done.push(at.0);
            }
        }
    }
    let between: Vec<u64> = done.windows(2).map(|two| two[1] - two[0]).collect();
    assert_eq!(between, [8_333_333, 8_333_333, 8_333_333]);
}

/// With a cache it takes what the wire takes, until a flush.
#[test]
fn a_cache_answers_at_once() {
    let mechanism = Mechanism::hdd(HddSpec::default(), LEN);
    let mut drive = Drive::new(CowDisk::new(LEN), mechanism, Some(8 << 20));
    drive
        .submit(
            request(&Step::Write {
                at: 100,
                units: 1,
                fill: 1,
                fua: false,
            })
            .unwrap(),
        )
        .unwrap();
    drive.advance(SimTime(0));
    // 50 us for the command and 4096 bytes at 10 ns.
    assert_eq!(drive.next_event(), Some(SimTime(50_000 + 40_960)));
    drive.advance(SimTime(90_960));
    assert!(!drive.outstanding(0, 1));
    assert_eq!(drive.unstable().len(), 1);
    assert_eq!(drive.cached_bytes(), 4096);
}
