//! `crash --bounded`: every workload of one call, through all its disks.

use super::SLICE;
use crate::{out, run as runs};
use anyhow::bail;
use fslab_engine::crash::{Field, Workload, moments, one_call};
use fslab_engine::machine::Machine;
use fslab_engine::view::crash::{Taken, outcome_words, taken};
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

/// What came of a workload.
#[derive(Serialize, Debug)]
struct Result {
    name: String,
    states: usize,
    disks_log2: f64,
    complete: bool,
    broken: BTreeSet<String>,
}

#[derive(Serialize, Debug)]
struct Report {
    workloads: usize,
    complete: usize,
    states: usize,
    broken: Vec<Result>,
}

pub fn run(mkfs: &str, mount: &str, limit: usize, json: bool) -> anyhow::Result<()> {
    let workloads = one_call(mkfs, mount);
    let results: Vec<Result> = workloads
        .par_iter()
        .map(|w| explore(w, limit))
        .collect::<anyhow::Result<_>>()?;
    let report = Report {
        workloads: results.len(),
        complete: results.iter().filter(|r| r.complete).count(),
        states: results.iter().map(|r| r.states).sum(),
        broken: results
            .into_iter()
            .filter(|r| !r.broken.is_empty())
            .collect(),
    };
    if json {
        out::json(&report)?;
    } else {
        print(&report)?;
    }
    match report.broken.len() {
        0 => Ok(()),
        n => bail!("{n} of {} workloads break something", report.workloads),
    }
}

fn explore(workload: &Workload, limit: usize) -> anyhow::Result<Result> {
    let scenario = runs::parse(&workload.text, &workload.name)?;
    let mut result = Result {
        name: workload.name.clone(),
        states: 0,
        disks_log2: 0.0,
        complete: true,
        broken: BTreeSet::new(),
    };
    for moment in moments(Machine::new(Arc::new(scenario))?) {
        let judge = Arc::new(moment.judge);
        let mut field = Field::new(Arc::new(moment.pending), judge.clone(), limit);
        while field.explore(SLICE) {}
        let coverage = field.coverage();
        result.states += field.states().len();
        result.disks_log2 = result.disks_log2.max(coverage.log2_disks);
        result.complete &= coverage.complete;
        let wrong = field.verdicts().iter().filter(|v| taken(v) != Taken::Good);
        result
            .broken
            .extend(wrong.map(|v| outcome_words(v, &judge)));
    }
    Ok(result)
}

fn print(report: &Report) -> anyhow::Result<()> {
    let mut out = out::stdout();
    writeln!(
        out,
        "{} workloads of one call, {} states; of {} of them all disks were looked at",
        report.workloads, report.states, report.complete
    )?;
    for r in &report.broken {
        let broken: Vec<&str> = r.broken.iter().map(String::as_str).collect();
        writeln!(out, "{}: {}", r.name, broken.join("; "))?;
    }
    Ok(out.flush()?)
}
