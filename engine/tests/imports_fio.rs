//! The two fio jobs of experiment F2 (`shared/experiments`): random writes, each waited
//! for, into a file that was fallocated. Into unwritten extents, into written ones, and
//! into such as show what was there before (`NO_HIDE_STALE`). Scaled to some megabytes, on
//! the kernel of the experiment's time, which cut extents, or zeroed, before it wrote
//! (`dioread_lock`).

use fslab_engine::event::{Event, Kind, What};
use fslab_engine::machine::End;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use fslab_engine::scenario::import::{FioOptions, fio};
use std::sync::Arc;

fn job(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fio")
        .join(name);
    std::fs::read_to_string(path).unwrap()
}

fn scenario(job: &str) -> String {
    let imported = fio(job, &FioOptions::default()).unwrap();
    assert_eq!(imported.skipped, [], "{job}");
    imported.text
}

/// How the file is made ready.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ready {
    Unwritten,
    Written,
    Stale,
}

/// What the random writes of a run came to.
#[derive(Debug)]
struct Cost {
    seconds: f64,
    /// Blocks of contents, zeros put beside them included.
    data: u64,
    /// Blocks of metadata that went to their place or into the log.
    metadata: u64,
    /// Extents that were cut in two.
    splits: u64,
    depth: u16,
    extents: u64,
}

fn run(name: &str, size: &str, ready: Ready, zeroout: u32) -> Cost {
    let mut job = job(name).replace("size=1g", &format!("size={size}"));
    if ready == Ready::Written {
        job = job.replace("[global]", "[global]\noverwrite=1");
    }
    let mut text = scenario(&job)
        .replacen("order =", "print(\"begins\")\norder =", 1)
        .replacen(
            "[[process]]",
            &format!(
                "[mkfs]\noptions = \"-t ext4 -b 4096 -E lazy_itable_init=0\"\n[mount]\noptions = \"nohide_stale_gid=0,dioread_lock\"\n\
                 [kernel]\nmax_zeroout_kb = {zeroout}\n[run]\nlinger = \"0s\"\n[[process]]"
            ),
            1,
        );
    if ready == Ready::Stale {
        text = text.replacen(
            "fallocate(fd, 0,",
            "fallocate(fd, FALLOC_FL_NO_HIDE_STALE,",
            1,
        );
    }
    // How many extents there are is asked at the end.
    let end = text.rfind("must(close(fd))").unwrap();
    text.insert_str(end, "print(len(must(fiemap(fd))))\n");
    let scenario = Scenario::parse(&text).unwrap_or_else(|e| panic!("{}\n{text}", e[0]));
    let mut recording = Recording::new(Arc::new(scenario)).unwrap();
    while recording.record(100_000) {}
    assert_eq!(recording.end(), Some(End::Finished));
    cost(&recording)
}

fn cost(recording: &Recording) -> Cost {
    let printed = |from| {
        recording
            .index()
            .next_where(from, |k| k == Kind::Printed)
            .unwrap()
    };
    let begin = printed(recording.first());
    let end = printed(begin + 1);
    let events = recording.events(begin, end + 1, usize::MAX);
    let count = |wanted: &dyn Fn(&What) -> u64| events.iter().map(|e| wanted(&e.what)).sum::<u64>();
    let depth = |e: &Event| match e.what {
        What::TreeDepth { depth, .. } => Some(depth),
        _ => None,
    };
    let extents = match &events.last().unwrap().what {
        What::Printed { text } => text.parse().unwrap(),
        other => panic!("{other:?}"),
    };
    Cost {
        seconds: (events.last().unwrap().at.0 - events[0].at.0) as f64 / 1e9,
        data: count(&|w| match w {
            What::PageCleaned { .. } => 1,
            What::ZeroedOut { len, .. } => u64::from(*len),
            _ => 0,
        }),
        metadata: count(&|w| {
            u64::from(matches!(
                w,
                What::BufferWritten { .. } | What::Logged { .. }
            ))
        }),
        splits: count(&|w| u64::from(matches!(w, What::ExtentSplit { .. }))),
        depth: events.iter().rev().find_map(depth).unwrap_or(0),
        extents,
    }
}

#[test]
fn both_jobs_are_imported_as_they_are() {
    for name in ["f2-4k.fio", "f2-1m.fio"] {
        Scenario::parse(&scenario(&job(name))).unwrap_or_else(|e| panic!("{}", e[0]));
    }
}

#[test]
fn the_command_line_imports_a_job() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fio");
    let import = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fslab"));
        command
            .current_dir(&folder)
            .args(["import", "fio"])
            .args(args)
            .output()
            .unwrap()
    };
    let out = import(&["f2-4k.fio"]);
    assert!(out.status.success() && out.stderr.is_empty(), "{out:?}");
    let text = String::from_utf8(out.stdout).unwrap();
    assert!(Scenario::parse(&text).unwrap().title.contains("f2-4k.fio"));
    let missing = import(&["f3.fio"]);
    assert!(!missing.status.success() && !missing.stderr.is_empty());
}

/// Large writes: what the extents are makes no difference.
#[test]
fn f2_a_megabyte_at_a_time() {
    let all =
        [Ready::Unwritten, Ready::Written, Ready::Stale].map(|r| run("f2-1m.fio", "128m", r, 32));
    let times = all.each_ref().map(|c| c.seconds);
    let (least, most) = times
        .iter()
        .fold((f64::MAX, 0.0f64), |(l, m), t| (l.min(*t), m.max(*t)));
    assert!(most < least * 1.10, "{times:?}");
}

/// Small writes: unwritten extents are cut up, which is metadata; the more is zeroed
/// beside what is written, the less.
#[test]
fn f2_four_kilobytes_at_a_time() {
    let [unwritten, written, stale] =
        [Ready::Unwritten, Ready::Written, Ready::Stale].map(|r| run("f2-4k.fio", "8m", r, 0));
    let some = run("f2-4k.fio", "8m", Ready::Unwritten, 64);
    let most = run("f2-4k.fio", "8m", Ready::Unwritten, 1024);
    let writes = 2048;
    assert_eq!([unwritten.data, written.data, stale.data], [writes; 3]);
    // Each write has its inode, a descriptor and a commit block in the log in any case;
    // what comes on top is the extent tree's.
    let tree = |c: &Cost| c.metadata.saturating_sub(written.metadata);
    let about = |n: u64, of: u64| n * 10 > of * 8 && n * 10 < of * 12;
    assert!(about(tree(&unwritten), writes), "{unwritten:?} {written:?}");
    assert!(tree(&stale) < writes / 100, "{stale:?} {written:?}");
    assert!(
        unwritten.splits > writes / 2 && unwritten.depth >= 1,
        "{unwritten:?}"
    );
    assert_eq!([written.splits, stale.splits], [0; 2]);
    assert_eq!([written.depth, stale.depth], [0; 2]);
    assert_eq!([written.extents, stale.extents], [1; 2]);
    assert!(tree(&some) * 4 < tree(&unwritten), "{some:?} {unwritten:?}");
    assert!(tree(&most) * 4 < tree(&some), "{most:?} {some:?}");
    assert!(some.splits * 4 < unwritten.splits && most.splits * 4 < some.splits);
    assert!(
        some.data > writes && most.data > writes,
        "nothing was zeroed"
    );
}
