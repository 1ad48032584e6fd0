//! J4 and J5 of the published experiments, in shape: a filesystem on a disk with zones.

use fslab_engine::event::What;
use fslab_engine::machine::End;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use std::sync::Arc;

fn recorded(text: &str) -> Recording {
    let scenario = Scenario::parse(text).unwrap_or_else(|e| panic!("{}", e[0]));
    let mut recording = Recording::new(Arc::new(scenario)).unwrap();
    while recording.record(100_000) {}
    assert_eq!(recording.end(), Some(End::Finished));
    recording
}

/// What a program printed last, as a number.
fn told(text: &str) -> u64 {
    let recording = recorded(text);
    let events = recording.events(0, recording.len(), usize::MAX);
    let said = events.iter().rev().find_map(|e| match &e.what {
        What::Printed { text } => text.parse().ok(),
        _ => None,
    });
    said.expect("a number")
}

/// J4: fsync after fsync in a file at the end of the disk. With the journal at the
/// beginning the arm goes over the whole disk twice for each, with the journal in the middle
/// over a half of it.
#[test]
fn j4_the_journal_in_the_middle() {
    let time = |journal: &str| {
        told(&format!(
            r#"fslab = 1
[device]
name = "barracuda"
size = "1900M"
cache = "none"
[mkfs]
options = "-t ext4 -b 4096 -J size=16,location={journal}"
[[process]]
program = '''
big = must(open("/big", O_CREAT | O_RDWR))
must(fallocate(big, 0, 0, 1700M))
fd = must(open("/small", O_CREAT | O_RDWR))
must(write(fd, data(1M)))
must(fsync(fd))
started = now()
for i in range(60) {{
    must(pwrite(fd, data(4k), random(256) * 4k))
    must(fsync(fd))
}}
print((now() - started) / 1us)
'''
"#
        ))
    };
    // 1900 MiB are 486,400 blocks.
    let (zero, middle) = (time("first-free"), time("243200"));
    println!("60 fsyncs: journal at the beginning {zero} µs, in the middle {middle} µs");
    assert!(middle < zero, "{middle} {zero}");
}

/// J5: four threads write files of 4 MiB, a block of 64 KiB at a time, until the disk is
/// full. Published: with delayed allocation 20.8 files a second falling to 12.8, without 16
/// falling to 11.2. The fall is the zones' (186 to 119 sectors a track here: to 64 %).
#[test]
fn j5_files_until_the_disk_is_full() {
    let rates = |options: &str| {
        let process = r#"
[[process]]
program = '''
for i in range(100) {
    fd = must(open("/fileN-{i}", O_CREAT | O_WRONLY))
    for k in range(64) {
        must(write(fd, data(64k)))
        sleep(10us)
    }
    must(fsync(fd))
    must(close(fd))
}
'''
"#;
        let text = format!(
            "fslab = 1\n[device]\nname = \"barracuda\"\nsize = \"1900M\"\n[mkfs]\noptions = \"-t ext4 -b 4096\"\n[mount]\noptions = \"{options}\"\n[run]\nlinger = \"1s\"\n{}",
            (0..4)
                .map(|n| process.replace("fileN", &format!("file{n}")))
                .collect::<String>()
        );
        let recording = recorded(&text);
        let samples = recording.samples();
        let all = samples.last().unwrap().device_written_bytes;
        let when = |percent: u64| {
            let found = samples
                .iter()
                .find(|g| g.device_written_bytes >= all / 100 * percent);
            found.unwrap().time_ns
        };
        // Files of 4 MiB a second: the first fifth and the last but one tenth.
        let rate = |from: u64, to: u64| {
            let bytes = all / 100 * (to - from);
            bytes as f64 / f64::from(4 << 20) * 1e9 / (when(to) - when(from)) as f64
        };
        (rate(5, 25), rate(75, 95))
    };
    let (on, off) = (rates("delalloc"), rates("nodelalloc"));
    println!("files a second, first and last: delayed {on:.1?}, at once {off:.1?}");
    assert!(on.1 < 0.9 * on.0, "{on:?}");
    assert!(on.0 > off.0, "{on:?} {off:?}");
}
