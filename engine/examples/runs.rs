//! Measures a recording of a million events, for `cargo xtask bench runs`: what it costs to
//! make it, to find an instant of it, to keep it. Prints `name value unit` lines.

use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use std::sync::Arc;
use std::time::Instant;

/// Events to record.
const EVENTS: u64 = 1_000_000;
/// Instants to look at.
const LOOKS: u64 = 300;

/// A mail server, a database and somebody who copies, on a disk of 512 MiB.
const SCENARIO: &str = r#"
fslab = 1
title = "A million events"
seed = 1
[device]
size = "512M"
[limits]
events = 1_000_000
[[process]]
name = "mail"
program = '''
mkdir("/mail", 0755)
for i in range(1000000) {
    fd = open("/mail/{i}", O_CREAT | O_WRONLY)
    write(fd, data(1k + random(16k)))
    if i % 5 == 0 {
        fsync(fd)
    }
    close(fd)
    if i > 300 and i % 3 != 0 {
        unlink("/mail/{i - 300}")
    }
}
'''
[[process]]
name = "database"
program = '''
fd = open("/db", O_CREAT | O_RDWR)
for i in range(1000000) {
    pwrite(fd, data(4k), random(4000) * 4k)
    if i % 10 == 9 {
        fdatasync(fd)
    }
    sleep(1ms)
}
'''
[[process]]
name = "copier"
program = '''
for i in range(1000000) {
    fd = open("/copy-{i % 20}", O_CREAT | O_WRONLY | O_TRUNC)
    for k in range(32) {
        write(fd, data(64k))
        sleep(2ms)
    }
    close(fd)
}
'''
"#;

fn main() {
    let scenario = Scenario::parse(SCENARIO).expect("the scenario is sound");
    let begun = Instant::now();
    let mut recording = Recording::new(Arc::new(scenario)).expect("it can be set up");
    while recording.len() < EVENTS && recording.record(50_000) {}
    let took = begun.elapsed().as_secs_f64();
    let events = recording.len();
    println!("events {events} events");
    println!("rate {:.0} events/s", events as f64 / took);
    let (copies, interval) = recording.copies();
    println!("copies {copies} copies");
    println!("interval {interval} events");
    println!("counted {} bytes", recording.bytes());
    println!("memory {} bytes", peak());
    let mut worst = 0f64;
    let mut all = 0f64;
    let mut at = 0x9E37_79B9_7F4A_7C15u64;
    for _ in 0..LOOKS {
        at = at
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let event = (at >> 20) % events;
        let begun = Instant::now();
        let instant = recording.at(event);
        let ms = begun.elapsed().as_secs_f64() * 1e3;
        assert!(instant.machine.next_event() > event);
        (worst, all) = (worst.max(ms), all + ms);
    }
    println!("look-worst {worst:.2} ms");
    println!("look-mean {:.2} ms", all / LOOKS as f64);
}

/// Most memory that this process had, bytes; 0 where the system does not tell.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:"));
    let kib = line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
