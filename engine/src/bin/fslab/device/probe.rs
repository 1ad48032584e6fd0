//! `fslab device probe`.

use crate::out;
use clap::{Args, ValueEnum};
use fslab_engine::device::flash::Flash;
use fslab_engine::device::flash::probe::{self, AlignRow, RateRow};
use serde::Serialize;
use std::io::Write;

#[derive(Args, Debug)]
pub struct ProbeArgs {
    /// Which device, by its name in `fslab device list`
    #[arg(long, value_name = "NAME", default_value = "card")]
    device: String,
    /// What to find out
    #[arg(value_enum)]
    what: Probe,
    /// Bytes of the device
    #[arg(long, value_name = "BYTES", default_value = "1073741824", value_parser = clap::value_parser!(u64).range(1 << 26..=1 << 36))]
    size: u64,
    /// Bytes of a read (align), of the smallest write (the others)
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u64).range(512..=1 << 22))]
    block: Option<u64>,
    /// Segments: written in turns (open-au), looked at (find-fat)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    segments: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Probe {
    /// What reading across boundaries costs: pages and segments
    Align,
    /// How many segments can be open at a time
    OpenAu,
    /// Where a FAT is expected
    FindFat,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Rows {
    Align(Vec<AlignRow>),
    Rates(Vec<RateRow>),
}

#[derive(Serialize)]
struct Json {
    device: String,
    probe: &'static str,
    rows: Rows,
}

/// Bytes that flashbench takes for a segment where it is not told.
const SEGMENT: u64 = 4 << 20;

pub fn run(args: &ProbeArgs) -> anyhow::Result<()> {
    let mut flash = Flash::named(&args.device, args.size)?;
    let least = args.block.unwrap_or(64 << 10);
    let (probe, rows) = match args.what {
        Probe::Align => {
            let rows = probe::align(&mut flash, args.block.unwrap_or(1024))?;
            ("align", Rows::Align(rows))
        }
        Probe::OpenAu => {
            let n = args.segments.unwrap_or(2);
            let rows = probe::open_au(&mut flash, SEGMENT, n, least)?;
            ("open-au", Rows::Rates(rows))
        }
        Probe::FindFat => {
            let n = args.segments.unwrap_or(6);
            let rows = probe::find_fat(&mut flash, SEGMENT, n, least)?;
            ("find-fat", Rows::Rates(rows))
        }
    };
    if args.json {
        return out::json(&Json {
            device: args.device.clone(),
            probe,
            rows,
        });
    }
    print(&rows)
}

fn print(rows: &Rows) -> anyhow::Result<()> {
    let mut out = out::stdout();
    match rows {
        Rows::Align(rows) => {
            for r in rows {
                writeln!(
                    out,
                    "align {:>10}  pre {:7.1} µs  on {:7.1} µs  post {:7.1} µs  diff {:7.1} µs",
                    r.align, r.pre_us, r.on_us, r.post_us, r.diff_us
                )?;
            }
        }
        Rows::Rates(rows) => {
            for r in rows {
                writeln!(
                    out,
                    "segments {:2}  block {:>8}  {:8.3} MB/s",
                    r.segments, r.block, r.mb_per_s
                )?;
            }
        }
    }
    Ok(out.flush()?)
}
