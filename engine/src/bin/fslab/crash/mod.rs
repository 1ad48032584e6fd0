//! `crash`: every disk that a power cut could leave.

mod bounded;

use crate::out;
use crate::run as runs;
use anyhow::{Context, bail};
use clap::Args;
use fslab_engine::crash::{
    Field, Judge, Moment, Stream, moments as every_moment, taken as taken_in,
};
use fslab_engine::disk::FileReader;
use fslab_engine::machine::Machine;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use fslab_engine::scenario::import::{StraceOptions, strace};
use fslab_engine::view::crash::{FieldView, Taken, Teller, field, outcome_words, state, taken};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Disks that are looked at before one looks whether there is more.
const SLICE: usize = 1024;
/// Instants that are told of one expectation.
const MOST_TOLD: usize = 3;

/// Pull the plug and tell what every disk that this could leave becomes
///
/// Ends with 1 when an expectation of the scenario breaks, or a filesystem comes out damaged.
#[derive(Args, Debug)]
pub struct CrashArgs {
    /// The scenario's file; with --stream or --strace, one whose conditions are asked
    #[arg(required_unless_present_any = ["stream", "strace", "bounded"])]
    file: Option<PathBuf>,
    /// Instead of a run, what a real kernel wrote: a log of blkrec.py or of dm-log-writes
    #[arg(long, value_name = "LOG", requires = "base", conflicts_with_all = ["at", "all", "strace"])]
    stream: Option<PathBuf>,
    /// The device's image from before the log
    #[arg(long, value_name = "IMAGE", requires = "stream")]
    base: Option<PathBuf>,
    /// Instead of a scenario, a program's calls: a log of `strace -f -y -ttt -s 65536`; FILE
    /// then holds the parts that are asked, [crash], [[outcome]] and [[expect]], alone
    #[arg(long, value_name = "LOG")]
    strace: Option<PathBuf>,
    /// Instead of a scenario, every workload of one call over a few files, made safe in every
    /// way: what was made safe has to be there
    #[arg(long, conflicts_with_all = ["file", "at", "all", "stream", "strace", "image"])]
    bounded: bool,
    /// How the filesystems of --bounded are made
    #[arg(
        long,
        value_name = "OPTIONS",
        default_value = "-t ext4",
        requires = "bounded"
    )]
    mkfs: String,
    /// How they are mounted
    #[arg(long, value_name = "OPTIONS", default_value = "", requires = "bounded")]
    mount: String,
    /// Pull it after this event; else at every instant of the run that makes a difference
    #[arg(long, value_name = "EVENT")]
    at: Option<u64>,
    /// Look at every instant of the run (what is done without --at)
    #[arg(long, conflicts_with = "at")]
    all: bool,
    /// States that are looked at, at most, of one instant
    #[arg(long, default_value_t = 10_000)]
    limit: usize,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Write the disk of the first state that breaks something, before its recovery, to
    /// this file
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
}

/// A state that breaks something.
#[derive(Serialize, Debug)]
struct Proof {
    event: u64,
    time_ns: u64,
    state: u32,
    lost: usize,
    outcome: String,
    sentence: String,
}

/// What came of all instants.
#[derive(Serialize, Debug)]
struct Report {
    title: String,
    instants: usize,
    /// Instants of which all disks were looked at.
    complete: usize,
    /// Disks of the instant that has the most, as a power of two.
    log2_disks: f64,
    states: usize,
    recovered: u64,
    /// Instants at which so much is not safe that writes are taken as whole, or the oldest as
    /// safe.
    coarse: usize,
    /// Smallest share of an instant's disks that was looked at.
    share: f64,
    outcomes: BTreeMap<String, usize>,
    broken: Vec<Proof>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<FieldView>,
}

/// An instant, explored.
struct Explored {
    event: u64,
    time_ns: u64,
    field: Field,
}

pub fn run(args: &CrashArgs) -> anyhow::Result<()> {
    if args.bounded {
        return bounded::run(&args.mkfs, &args.mount, args.limit, args.json);
    }
    let scenario = Arc::new(scenario(args)?);
    let moments = match (&args.stream, &args.base) {
        (Some(log), Some(base)) => streamed(&scenario, log, base)?,
        _ => moments(&scenario, args.at)?,
    };
    let mut explored: Vec<Explored> = moments
        .into_par_iter()
        .map(|moment| explore(moment, args.limit))
        .collect();
    let broken = if args.stream.is_some() {
        proofs(&mut explored, None)
    } else {
        let mut recording = Recording::new(scenario.clone())?;
        while recording.record(SLICE as u64) {}
        proofs(&mut explored, Some(&recording))
    };
    let report = report(&scenario, &explored, broken, args.at.is_some());
    if args.json {
        out::json(&report)?;
    } else {
        print(&report, args.stream.is_some())?;
    }
    if let (Some(path), Some(first)) = (&args.image, report.broken.first()) {
        let at = explored.iter().find(|e| e.event == first.event);
        let disk = at.and_then(|e| e.field.disk(first.state));
        let disk = disk.context("the state is not there any more")?;
        runs::save(&disk, path).with_context(|| path.display().to_string())?;
    }
    match report.broken.len() {
        0 => Ok(()),
        _ => bail!("after some power cut something is broken"),
    }
}

/// What is run, and what is asked.
fn scenario(args: &CrashArgs) -> anyhow::Result<Scenario> {
    let text = match &args.file {
        Some(path) => {
            Some(std::fs::read_to_string(path).with_context(|| path.display().to_string())?)
        }
        None => None,
    };
    let name = args.file.as_ref().map(|p| p.display().to_string());
    if let Some(log) = &args.strace {
        let words = std::fs::read(log).with_context(|| log.display().to_string())?;
        let imported = strace(&String::from_utf8_lossy(&words), &StraceOptions::default())?;
        let asked = text.unwrap_or_default();
        return runs::parse(
            &format!("{}\n{asked}", imported.text),
            "the imported scenario",
        );
    }
    match (text, name) {
        (Some(text), Some(name)) => runs::parse(&text, &name),
        // A stream alone: whether the filesystem is whole is what is asked.
        _ => runs::parse("fslab = 1", "no scenario"),
    }
}

/// The instants of a recorded stream.
fn streamed(scenario: &Scenario, log: &Path, base: &Path) -> anyhow::Result<Vec<Moment>> {
    let bytes = std::fs::read(log).with_context(|| log.display().to_string())?;
    let stream = Stream::parse(&bytes).with_context(|| log.display().to_string())?;
    let base = FileReader::open(base).with_context(|| base.display().to_string())?;
    let mut all = Vec::new();
    stream.instants(taken_in(&base)?, scenario.rules, |nr, pending| {
        all.push(Moment {
            event: nr as u64,
            time_ns: 0,
            pending,
            judge: Judge::of(scenario),
        });
    })?;
    Ok(all)
}

fn moments(scenario: &Arc<Scenario>, at: Option<u64>) -> anyhow::Result<Vec<Moment>> {
    let Some(event) = at else {
        return Ok(every_moment(Machine::new(scenario.clone())?));
    };
    let mut recording = Recording::new(scenario.clone())?;
    while recording.len() <= event && recording.record(SLICE as u64) {}
    if event >= recording.len() {
        bail!(
            "the run has {} events; there is none of number {event}",
            recording.len()
        );
    }
    let machine = recording.at(event).machine;
    Ok(vec![
        Moment::of(&machine).context("the device keeps no contents")?,
    ])
}

fn explore(moment: Moment, limit: usize) -> Explored {
    let judge = Arc::new(moment.judge);
    let mut field = Field::new(Arc::new(moment.pending), judge, limit);
    while field.explore(SLICE) {}
    Explored {
        event: moment.event,
        time_ns: moment.time_ns,
        field,
    }
}

/// The states that break something: of each kind of outcome the few with least lost.
fn proofs(explored: &mut [Explored], recording: Option<&Recording>) -> Vec<Proof> {
    let mut found: BTreeMap<String, Vec<(usize, usize, u32)>> = BTreeMap::new();
    for (nr, e) in explored.iter().enumerate() {
        let judge = e.field.judge();
        let mut least: BTreeMap<u32, (usize, u32)> = BTreeMap::new();
        for (state, s) in (0u32..).zip(e.field.states()) {
            let lost = s.lost().count();
            let best = least.entry(s.verdict).or_insert((lost, state));
            *best = (*best).min((lost, state));
        }
        for (verdict, (lost, state)) in least {
            let v = &e.field.verdicts()[verdict as usize];
            if taken(v) != Taken::Good {
                let all = found.entry(outcome_words(v, judge)).or_default();
                all.push((lost, nr, state));
            }
        }
    }
    let mut proofs = Vec::new();
    for (outcome, mut all) in found {
        all.sort_unstable();
        for (_, nr, nth) in all.into_iter().take(MOST_TOLD) {
            let e = &mut explored[nr];
            let teller = match recording {
                Some(recording) => {
                    let machine = recording.at(e.event).machine;
                    Teller::new(recording, e.event, &machine, e.field.pending())
                }
                None => Teller::of_bytes(e.field.pending()),
            };
            if let Some(told) = state(&mut e.field, &teller, nth) {
                let lost = e
                    .field
                    .states()
                    .get(nth as usize)
                    .map_or(0, |s| s.lost().count());
                proofs.push(Proof {
                    event: e.event,
                    time_ns: e.time_ns,
                    state: nth,
                    lost,
                    outcome: outcome.clone(),
                    sentence: told.sentence,
                });
            }
        }
    }
    proofs
}

fn report(scenario: &Scenario, explored: &[Explored], broken: Vec<Proof>, one: bool) -> Report {
    let mut report = Report {
        title: scenario.title.clone(),
        instants: explored.len(),
        complete: 0,
        log2_disks: 0.0,
        states: 0,
        recovered: 0,
        coarse: 0,
        share: 1.0,
        outcomes: BTreeMap::new(),
        broken,
        field: None,
    };
    for e in explored {
        let coverage = e.field.coverage();
        report.complete += usize::from(coverage.complete);
        report.log2_disks = report.log2_disks.max(coverage.log2_disks);
        report.share = report.share.min(coverage.share);
        report.coarse += usize::from(e.field.pending().is_coarse());
        report.states += e.field.states().len();
        report.recovered += e.field.looked();
        for s in e.field.states() {
            let verdict = &e.field.verdicts()[s.verdict as usize];
            let words = outcome_words(verdict, e.field.judge());
            *report.outcomes.entry(words).or_default() += 1;
        }
    }
    if let (true, Some(e)) = (one, explored.first()) {
        report.field = Some(field(&e.field, e.event, e.time_ns));
    }
    report
}

fn print(report: &Report, streamed: bool) -> anyhow::Result<()> {
    let mut out = out::stdout();
    if !report.title.is_empty() {
        writeln!(out, "{}", report.title)?;
    }
    writeln!(
        out,
        "{} instants, up to 2^{:.1} disks each; {} states that can be told apart",
        report.instants, report.log2_disks, report.states
    )?;
    if report.complete == report.instants {
        writeln!(out, "All disks are among them")?;
    } else {
        writeln!(
            out,
            "All disks of {} instants are among them, of another at least {:.3} %: raise --limit for more",
            report.complete,
            report.share * 100.0
        )?;
    }
    if report.coarse > 0 {
        writeln!(
            out,
            "At {} instants so much is not safe that writes are taken as whole, or the oldest as safe",
            report.coarse
        )?;
    }
    for (words, states) in &report.outcomes {
        writeln!(out, "{states:>10}  {words}")?;
    }
    for proof in &report.broken {
        let at = match streamed {
            true => format!("after record {}", proof.event),
            false => format!(
                "after event {} ({:.6} s)",
                proof.event,
                proof.time_ns as f64 / 1e9
            ),
        };
        writeln!(out, "\n{at}: {}\n  {}", proof.outcome, proof.sentence)?;
    }
    Ok(out.flush()?)
}
