//! The disk against DiskSim (`../shared/devices/hdd_barracuda.csv`, issue "The devices",
//! Shows 2) and against arithmetic. Skipped with a word where that folder is absent.

mod device_support;

use device_support::csv;
use fslab_engine::device::hdd::{Disk, Order, SECTOR, Sweep, drive};

fn order(name: &str) -> Order {
    match name {
        "LOOK" => Order::Look,
        "C-LOOK" => Order::CLook,
        "SSTF" => Order::Sstf,
        "SPTF" => Order::Sptf,
        _ => Order::Fcfs,
    }
}

#[test]
fn queue_and_order() {
    let Some(csv) = csv("hdd_barracuda.csv") else {
        return;
    };
    for row in 0..csv.rows() {
        let (policy, depth) = (csv.text(row, "policy"), csv.number(row, "qd").unwrap());
        let disk = drive("barracuda").unwrap();
        let out = Sweep::new(disk, order(policy), depth as u32).run().unwrap();
        for (name, measured) in [
            ("iops", out.iops),
            ("resp_ms", out.resp_ms),
            ("seek_ms", out.seek_ms),
            ("rot_ms", out.rot_ms),
            ("xfer_ms", out.xfer_ms),
            ("seek_cyls", out.seek_cyls),
        ] {
            let expected = csv.number(row, name).unwrap();
            let off = (measured - expected) / expected;
            println!(
                "{policy} {depth} {name:9} {expected:9.3} {measured:9.3} {:+.2} %",
                off * 100.0
            );
            assert!(
                off.abs() <= 0.05,
                "{policy} {depth} {name}: {measured} for {expected}"
            );
        }
        if policy != "SPTF" {
            // Uniform on [0, 8.333) ms: a tenth of the waits in each tenth of a turn.
            assert!(
                out.rot_tenths.iter().all(|t| (t - 0.1).abs() < 0.012),
                "{out:?}"
            );
        }
    }
}

/// The seek curve is the measured one.
#[test]
fn seek_curves() {
    for (name, file) in [
        ("barracuda", "hdd_barracuda_seek.csv"),
        ("cheetah9lp", "hdd_cheetah9LP_seek.csv"),
    ] {
        let Some(csv) = csv(file) else {
            return;
        };
        let spec = drive(name).unwrap();
        for row in 0..csv.rows() {
            let cylinders = csv.number(row, "cylinders").unwrap() as u32;
            let ms = csv.number(row, "seek_ms").unwrap();
            assert_eq!(
                spec.seek.time(cylinders),
                (ms * 1e6).round() as u64,
                "{name} {row}"
            );
        }
    }
}

/// Sectors written one after another, each when the one before is done, cost a turn each:
/// 60 s / 7200 = 8.333 ms, 120 a second.
#[test]
fn one_synchronous_write_a_turn() {
    let spec = drive("barracuda").unwrap();
    let (turn, command) = (spec.turn(), spec.command + spec.wire);
    let mut disk = Disk::new(spec).unwrap();
    let mut now = 0;
    let mut begin = 0;
    for i in 0..100u64 {
        now += command;
        now += disk.access(now, 8 * i % 180, 8).total();
        if i == 0 {
            begin = now;
        }
    }
    // 99 writes of 8 of 186 sectors: each begins 8 sectors further on than the last one,
    // so that a round costs a turn and 8/186 of one, less as often as the track begins anew.
    let mean = (now - begin) as f64 / 99.0 / turn as f64;
    assert!((mean - 1.0).abs() < 0.06, "{mean} turns");
    // The same sector again and again: a turn exactly.
    let mut again = Vec::new();
    for _ in 0..3 {
        now += command;
        now += disk.access(now, 0, 8).total();
        again.push(now);
    }
    assert_eq!(again[2] - again[1], turn);
}

/// Skew makes a transfer go on over the ends of tracks and cylinders without losing a turn.
#[test]
fn a_long_transfer_loses_no_turn() {
    for name in ["barracuda", "cheetah9lp", "7200"] {
        let spec = drive(name).unwrap();
        let z = spec.zones[0];
        let sectors = u64::from(z.sectors) * u64::from(spec.heads) * 4;
        let turn = spec.turn() as f64;
        let tracks = sectors / u64::from(z.sectors);
        let skews = (tracks - 4) * u64::from(z.track_skew) + 3 * u64::from(z.cylinder_skew);
        let turns = tracks as f64 + skews as f64 / f64::from(z.sectors);
        let mut disk = Disk::new(spec).unwrap();
        let took = disk.access(0, 0, sectors).transfer as f64 / turn;
        assert!(
            took <= turns + 0.01,
            "{name}: {took} turns, {turns} at most"
        );
    }
}

/// shared/devices: 138 MB/s at the outer edge, 79 random reads of 4 KiB a second.
#[test]
fn a_modern_disk() {
    let spec = drive("7200").unwrap();
    let out = Sweep::new(spec.clone(), Order::Fcfs, 1).run().unwrap();
    assert!((out.iops - 79.0).abs() < 79.0 * 0.03, "{}", out.iops);
    assert!((out.seek_ms - 8.5).abs() < 0.3, "{}", out.seek_ms);
    let rate = f64::from(spec.zones[0].sectors) * SECTOR as f64 / spec.turn() as f64 * 1e3;
    assert!((rate - 138.0).abs() < 0.5, "{rate} MB/s");
}
