//! `fslab device wa`.

use crate::out;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use fslab_engine::device::ftl::wa::{Experiment, Outcome, Skew};
use fslab_engine::device::ftl::{FtlConfig, Policy};
use serde::Serialize;
use std::io::Write;

#[derive(Args, Debug)]
pub struct WaArgs {
    /// Which block is collected
    #[arg(long, value_enum, default_value = "greedy")]
    policy: PolicyName,
    /// Spare space, in percent of the physical pages (the spare factor Sf = 1 - U/T)
    #[arg(long, value_name = "PERCENT_SF", value_parser = millionths)]
    spare: u32,
    /// Blocks of the flash
    #[arg(long, value_name = "N", default_value = "2048")]
    blocks: u32,
    /// Pages of a block
    #[arg(long, value_name = "B", default_value = "64")]
    pages: u32,
    /// 1: the host and the collector fill one open block; 2: each has its own
    #[arg(long, value_name = "1|2", default_value = "1", value_parser = clap::value_parser!(u8).range(1..=2))]
    frontiers: u8,
    /// Share of the writes and of the space they go to, in percent, as 80/20 [default: all alike]
    #[arg(long, value_name = "WRITES/SPACE", value_parser = skew)]
    skew: Option<Skew>,
    /// Give hot and cold pages blocks of their own
    #[arg(long, value_enum, requires = "skew")]
    separate: Option<Separate>,
    /// Where random numbers come from
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// Writes before counting begins, in multiples of the logical pages
    #[arg(long, value_name = "N", default_value = "6")]
    warm: u32,
    /// Writes counted, in multiples of the logical pages
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum PolicyName {
    /// The fewest valid pages
    Greedy,
    /// Filled first
    Fifo,
    /// Any
    Random,
    /// The fewest valid pages of ten at random
    D10,
    /// The best of age and room
    CostBenefit,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Separate {
    HotCold,
}

impl From<PolicyName> for Policy {
    fn from(name: PolicyName) -> Self {
        match name {
            PolicyName::Greedy => Self::Greedy,
            PolicyName::Fifo => Self::Fifo,
            PolicyName::Random => Self::Random,
            PolicyName::D10 => Self::DChoices(10),
            PolicyName::CostBenefit => Self::CostBenefit,
        }
    }
}

#[derive(Serialize)]
struct Json {
    config: FtlConfig,
    skew: Option<Skew>,
    #[serde(flatten)]
    outcome: Outcome,
}

/// A percentage as millionths of the whole.
fn millionths(text: &str) -> Result<u32, String> {
    let percent: f64 = text.parse().map_err(|_| "expected a percentage, as 20")?;
    if !(0.0..100.0).contains(&percent) {
        return Err("spare space is at least 0 and less than 100 percent".into());
    }
    Ok((percent * 10_000.0).round() as u32)
}

fn skew(text: &str) -> Result<Skew, String> {
    let parts = text
        .split_once('/')
        .and_then(|(w, s)| Some((w.parse().ok()?, s.parse().ok()?)));
    match parts {
        Some((writes, space)) if (1..100).contains(&writes) && (1..100).contains(&space) => {
            Ok(Skew { writes, space })
        }
        _ => Err("expected two percentages from 1 to 99, as 80/20".into()),
    }
}

pub fn run(args: &WaArgs) -> anyhow::Result<()> {
    let mut config = FtlConfig::new(args.blocks, args.pages, args.spare);
    config.policy = args.policy.into();
    config.two_frontiers = args.frontiers == 2;
    config.streams = if args.separate.is_some() { 2 } else { 1 };
    config.seed = args.seed;
    config.check()?;
    let experiment = Experiment {
        config: config.clone(),
        skew: args.skew,
        warm: args.warm,
        rounds: args.rounds,
    };
    let outcome = experiment.run().context("the run ended early")?;
    if args.json {
        return out::json(&Json {
            config,
            skew: args.skew,
            outcome,
        });
    }
    print(&outcome)
}

fn print(outcome: &Outcome) -> anyhow::Result<()> {
    let mut out = out::stdout();
    writeln!(
        out,
        "write amplification {:.4}: {} pages programmed for {} that the host wrote, {} blocks erased",
        outcome.write_amplification, outcome.programmed_pages, outcome.host_pages, outcome.erases
    )?;
    if let (Some(all), Some(less)) = (outcome.theory, outcome.theory_without_reserve) {
        writeln!(
            out,
            "theory {all:.4}; {less:.4} with the blocks left out that are always free"
        )?;
    }
    let (fewest, most) = outcome.erases_of_blocks;
    writeln!(out, "erases of a block: {fewest} to {most}")?;
    for (valid, share) in outcome.victims.iter().filter(|v| v.1 >= 0.001) {
        writeln!(
            out,
            "{:5.1} % of victims had {valid} valid pages",
            share * 100.0
        )?;
    }
    Ok(out.flush()?)
}
