//! `fslab device disk`.

use crate::out;
use clap::{Args, ValueEnum};
use fslab_engine::device::hdd::{DiskError, NAMES, Order, Sweep, SweepOutcome, drive};
use serde::Serialize;
use std::io::Write;

#[derive(Args, Debug)]
pub struct DiskArgs {
    /// Which drive: barracuda, cheetah9lp or 7200
    #[arg(long, value_name = "NAME", default_value = NAMES[0])]
    drive: String,
    /// In which order requests are served
    #[arg(long, value_enum, default_value = "fcfs")]
    policy: OrderName,
    /// Requests that wait, the one being served among them
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1024))]
    depth: u32,
    /// Requests to count
    #[arg(long, value_name = "N", default_value = "20000", value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Bytes of a request
    #[arg(long, value_name = "N", default_value = "4096", value_parser = clap::value_parser!(u64).range(1..=1 << 30))]
    bytes: u64,
    /// Where random numbers come from
    #[arg(long, value_name = "S", default_value = "1")]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum OrderName {
    /// First come, first served
    Fcfs,
    /// On in one direction, then back
    Look,
    /// Upwards, then from the lowest
    Clook,
    /// The nearest
    Sstf,
    /// The one soonest under the head, chosen in the drive
    Sptf,
}

impl From<OrderName> for Order {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Fcfs => Self::Fcfs,
            OrderName::Look => Self::Look,
            OrderName::Clook => Self::CLook,
            OrderName::Sstf => Self::Sstf,
            OrderName::Sptf => Self::Sptf,
        }
    }
}

#[derive(Serialize)]
struct Json {
    drive: String,
    policy: Order,
    depth: u32,
    bytes: u64,
    #[serde(flatten)]
    outcome: SweepOutcome,
}

pub fn run(args: &DiskArgs) -> anyhow::Result<()> {
    let disk = drive(&args.drive).ok_or_else(|| DiskError::Unknown(args.drive.clone()))?;
    let order = Order::from(args.policy);
    let outcome = Sweep {
        disk,
        order,
        depth: args.depth,
        requests: args.requests,
        bytes: args.bytes,
        seed: args.seed,
    }
    .run()?;
    if args.json {
        return out::json(&Json {
            drive: args.drive.clone(),
            policy: order,
            depth: args.depth,
            bytes: args.bytes,
            outcome,
        });
    }
    let o = outcome;
    let mut out = out::stdout();
    writeln!(
        out,
        "{:.1} reads a second, {:.3} ms each from sent to done",
        o.iops, o.resp_ms
    )?;
    writeln!(
        out,
        "seek {:.3} ms over {:.0} cylinders, rotation {:.3} ms, transfer {:.3} ms",
        o.seek_ms, o.seek_cyls, o.rot_ms, o.xfer_ms
    )?;
    Ok(out.flush()?)
}
