//! `cargo xtask test`: every check, one after the other, each with its time.

pub mod browser;
mod capture;
pub mod driver;
pub mod steps;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::workspace::Workspace;
use steps::Step;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run only these steps
    #[arg(long, value_enum, num_args = 1.., value_name = "NAME")]
    only: Vec<Step>,
    /// Of the native and the browser's tests only these, in nextest's words: test(name)
    #[arg(long, value_name = "EXPRESSION")]
    filter: Option<String>,
}

/// How a step ended.
#[derive(Debug)]
pub enum Verdict {
    Passed,
    Failed(String),
    /// It could not run here; the reason.
    Skipped(String),
}

/// A step that is over.
#[derive(Debug)]
struct Outcome {
    step: Step,
    verdict: Verdict,
    /// What tests inside the step said they could not do here.
    notices: Vec<String>,
    took: Duration,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let outcomes: Vec<_> = Step::ALL
        .into_iter()
        .filter(|step| args.only.is_empty() || args.only.contains(step))
        .map(|step| take(step, &workspace, args.filter.as_deref()))
        .collect();
    Ok(summarise(&outcomes))
}

fn take(step: Step, workspace: &Workspace, filter: Option<&str>) -> Outcome {
    println!("\n── {} ──", step.title());
    let start = Instant::now();
    let mut notices = Vec::new();
    let verdict = step
        .run(workspace, filter, &mut notices)
        .unwrap_or_else(|error| Verdict::Failed(format!("{error:#}")));
    // Many tests may lack the same thing.
    notices.sort();
    notices.dedup();
    let outcome = Outcome {
        step,
        verdict,
        notices,
        took: start.elapsed(),
    };
    println!("{}", describe(&outcome));
    outcome
}

fn describe(outcome: &Outcome) -> String {
    let (word, reason) = match &outcome.verdict {
        Verdict::Passed => ("passed", String::new()),
        Verdict::Failed(reason) => ("FAILED", format!("  {reason}")),
        Verdict::Skipped(reason) => ("SKIPPED", format!("  {reason}")),
    };
    let seconds = outcome.took.as_secs_f64();
    format!(
        "{word:<8}{:<40}{seconds:>7.1} s{reason}",
        outcome.step.title()
    )
}

/// Prints what happened and ends with the line that CI reads.
fn summarise(outcomes: &[Outcome]) -> ExitCode {
    println!("\n── Summary ──");
    for outcome in outcomes {
        println!("{}", describe(outcome));
        for notice in &outcome.notices {
            println!("        not run: {notice}");
        }
    }
    let count = |wanted: fn(&Verdict) -> bool| {
        outcomes
            .iter()
            .filter(|outcome| wanted(&outcome.verdict))
            .count()
    };
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
    let failed = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    let skipped = count(|verdict| matches!(verdict, Verdict::Skipped(_)));
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
