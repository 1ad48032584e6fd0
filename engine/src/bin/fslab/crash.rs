//! `crash`: every disk that a power cut could leave.

use crate::out;
use crate::run as runs;
use anyhow::{Context, bail};
use clap::Args;
use fslab_engine::crash::{Field, Moment, Watch};
use fslab_engine::machine::Machine;
use fslab_engine::recording::Recording;
use fslab_engine::scenario::Scenario;
use fslab_engine::view::crash::{FieldView, Taken, Teller, field, outcome_words, state, taken};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
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
    /// The scenario's file
    file: PathBuf,
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
    let scenario = Arc::new(runs::read(&args.file)?);
    let mut explored: Vec<Explored> = moments(&scenario, args.at)?
        .into_par_iter()
        .map(|moment| explore(moment, args.limit))
        .collect();
    let mut recording = Recording::new(scenario.clone())?;
    while recording.record(SLICE as u64) {}
    let broken = proofs(&mut explored, &recording);
    let report = report(&scenario, &explored, broken, args.at.is_some());
    if args.json {
        out::json(&report)?;
    } else {
        print(&report)?;
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

fn moments(scenario: &Arc<Scenario>, at: Option<u64>) -> anyhow::Result<Vec<Moment>> {
    let Some(event) = at else {
        return Ok(all_moments(Machine::new(scenario.clone())?));
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

fn all_moments(mut machine: Machine) -> Vec<Moment> {
    machine.keep_events(false);
    let mut watch = Watch::new(&machine);
    let mut all: Vec<Moment> = watch.step(&machine).into_iter().collect();
    while machine.step() {
        all.extend(watch.step(&machine));
    }
    all.extend(watch.end(&machine));
    all
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
fn proofs(explored: &mut [Explored], recording: &Recording) -> Vec<Proof> {
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
            let machine = recording.at(e.event).machine;
            let teller = Teller::new(recording, e.event, &machine, e.field.pending());
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

fn print(report: &Report) -> anyhow::Result<()> {
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
    for (words, states) in &report.outcomes {
        writeln!(out, "{states:>10}  {words}")?;
    }
    for proof in &report.broken {
        writeln!(
            out,
            "\nafter event {} ({:.6} s): {}\n  {}",
            proof.event,
            proof.time_ns as f64 / 1e9,
            proof.outcome,
            proof.sentence
        )?;
    }
    Ok(out.flush()?)
}
