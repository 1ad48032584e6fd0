//! What a journal costs: bytes written while a source tree is copied in, built and cleaned,
//! with and without one, for three ways of keeping access times (experiment W1 of
//! `../shared/experiments`; T. Ts'o, "SSD's, Journaling, and noatime/relatime", March 2009).

use fslab_engine::machine::Machine;
use fslab_engine::scenario::{ProcessSpec, Scenario};
use std::sync::Arc;

const PHASES: [(&str, &str); 3] = [
    ("clone", include_str!("overhead/clone.fsl")),
    ("make", include_str!("overhead/make.fsl")),
    ("clean", include_str!("overhead/clean.fsl")),
];

/// The published table (`journal_writes.csv`): MB written with a journal and without, of
/// cloning, making, cleaning.
const PUBLISHED: [Row; 4] = [
    Row::new(
        "ext4",
        "strictatime",
        [(367.7, 353.0), (231.1, 203.4), (14.6, 7.7)],
    ),
    Row::new(
        "ext4",
        "noatime",
        [(367.0, 353.0), (207.6, 199.4), (6.45, 3.73)],
    ),
    Row::new(
        "ext4",
        "relatime",
        [(366.6, 353.0), (216.8, 203.7), (13.34, 6.97)],
    ),
    Row::new(
        "ext3",
        "strictatime",
        [(374.6, 357.2), (230.9, 204.4), (14.56, 6.54)],
    ),
];

/// MB written with a journal and without, by each phase.
struct Row {
    fs: &'static str,
    atime: &'static str,
    mb: [(f64, f64); 3],
}

impl Row {
    const fn new(fs: &'static str, atime: &'static str, mb: [(f64, f64); 3]) -> Self {
        Self { fs, atime, mb }
    }

    /// What the journal costs, in percent of what is written with one.
    fn costs(&self) -> [f64; 3] {
        self.mb
            .map(|(with, without)| 100.0 * (with - without) / with)
    }

    /// The same by fslab.
    fn simulated(&self) -> Self {
        let (with, without) = match self.fs {
            "ext4" => ("-t ext4 -J size=64", "-t ext4 -O ^has_journal"),
            _ => ("-t ext3 -J size=64", "-t ext2"),
        };
        let (with, without) = (written(with, self.atime), written(without, self.atime));
        let mb = std::array::from_fn(|i| (with[i] as f64 / 1e6, without[i] as f64 / 1e6));
        Self { mb, ..*self }
    }
}

fn scenario(mkfs: &str, mount: &str, program: &str) -> Scenario {
    let text = format!(
        "fslab = 1\nseed = 9\n[device]\nkind = \"ram\"\nsize = \"1G\"\n\
         [mkfs]\noptions = \"{mkfs} -b 4096 -E lazy_itable_init=0\"\n\
         [mount]\noptions = \"{mount}\"\n\
         [limits]\nevents = 20_000_000\ncalls = 5_000_000\n\
         [[process]]\nname = \"shell\"\non_error = \"stop\"\nprogram = '''\n{program}'''\n"
    );
    Scenario::parse(&text).unwrap_or_else(|e| panic!("{e:#?}"))
}

/// Bytes written by each phase, up to the end of its `sync`.
fn written(mkfs: &str, mount: &str) -> [u64; 3] {
    let scenarios = PHASES.map(|(_, program)| scenario(mkfs, mount, program));
    let programs: Vec<ProcessSpec> = scenarios.iter().map(|s| s.processes[0].clone()).collect();
    let [first, ..] = scenarios;
    let mut machine = Machine::new(Arc::new(first)).unwrap();
    machine.keep_events(false);
    let mut bytes = [0; 3];
    for (n, program) in programs.into_iter().enumerate() {
        if n > 0 {
            machine.replace_processes(vec![program]);
        }
        let before = machine.device().counters().written_bytes;
        while !machine.processes().iter().all(|p| p.has_ended()) {
            assert!(machine.step(), "{:?}", machine.end());
        }
        bytes[n] = machine.device().counters().written_bytes - before;
    }
    bytes
}

fn print(published: &[Row], ours: &[Row]) {
    eprintln!(
        "{:<6}{:<13}{:<7}{:>9}{:>9}{:>8}   published:{:>8}{:>8}{:>8}",
        "", "", "", "MB with", "without", "cost", "MB with", "without", "cost"
    );
    for (p, o) in published.iter().zip(ours) {
        for (i, (phase, _)) in PHASES.iter().enumerate() {
            let ((a, b), (c, d)) = (o.mb[i], p.mb[i]);
            let (ours, theirs) = (o.costs()[i], p.costs()[i]);
            eprintln!(
                "{:<6}{:<13}{phase:<7}{a:>9.1}{b:>9.1}{ours:>7.1}%   {:>10}{c:>8.1}{d:>8.1}{theirs:>7.1}%",
                p.fs, p.atime, ""
            );
        }
    }
}

/// Its shape: a quarter of the files, so about a quarter of the bytes; the journal costs
/// little where contents are copied in, more where they are built, half where they go;
/// without access times a build costs what copying does, and with `relatime` it lies between.
#[test]
fn w1_what_a_journal_costs() {
    let ours: Vec<Row> = PUBLISHED.iter().map(Row::simulated).collect();
    print(&PUBLISHED, &ours);
    for (p, o) in PUBLISHED.iter().zip(&ours) {
        let what = format!("{} {}", p.fs, p.atime);
        let [clone, make, clean] = o.costs();
        assert!(0.0 < clone && make < clean, "{what}");
        for ((i, ours), theirs) in o.costs().iter().enumerate().zip(p.costs()) {
            let ratio = ours / theirs;
            assert!((0.66..1.5).contains(&ratio), "{what}, phase {i}: {ratio}");
        }
        for (ours, theirs) in o.mb.iter().zip(p.mb) {
            let scale = ours.1 / theirs.1;
            assert!((0.15..0.4).contains(&scale), "{what}: {scale}");
        }
    }
    let make = |n: usize| ours[n].costs()[1];
    let (strict, no, relative) = (make(0), make(1), make(2));
    assert!(
        no < relative && relative < strict,
        "{no} {relative} {strict}"
    );
    for row in [&ours[0], &ours[3]] {
        let [clone, make, clean] = row.costs();
        assert!(2.0 * clone < make && 3.0 * make < clean);
    }
    // Cleaning reads directories and removes what is in them: access times are half of it.
    assert!(ours[1].mb[2].1 < 0.66 * ours[0].mb[2].1);
}
