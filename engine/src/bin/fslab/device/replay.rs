//! `fslab device replay`.

use crate::out;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use fslab_engine::device::flash::Flash;
use fslab_engine::device::hdd::{self, Disk, Order, Sweeping};
use fslab_engine::device::trace::{self, Replay, Replayed};
use fslab_engine::device::{Drive, Mechanism, catalogue};
use fslab_engine::disk::CowDisk;
use serde::Serialize;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// The trace: blkparse's text, or the CSV of MSR Cambridge or SYSTOR '17
    trace: PathBuf,
    /// Which device, by its name in `fslab device list`
    #[arg(long, value_name = "NAME")]
    device: String,
    /// Bytes of a device of flash [default: as many as the trace needs]
    #[arg(long, value_name = "BYTES")]
    size: Option<u64>,
    /// Bytes of a volatile write cache; 0: none
    #[arg(long, value_name = "BYTES", default_value = "0")]
    cache: u64,
    /// The order in which a disk serves its queue
    #[arg(long, value_enum, default_value = "fcfs")]
    policy: OrderName,
    /// Keep so many requests in the queue, whatever the trace's times say
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    depth: Option<u32>,
    /// Fold requests past the device's end back into it
    #[arg(long)]
    fold: bool,
    /// Every page of an SSD was written once before
    #[arg(long)]
    filled: bool,
    /// Write what the device did to this file, as blkparse would
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum OrderName {
    Fcfs,
    Look,
    Clook,
    Sstf,
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
    device: String,
    #[serde(flatten)]
    outcome: Replayed,
    flash_programmed_pages: u64,
    flash_copied_pages: u64,
    flash_erases: u64,
}

pub fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let path = || args.trace.display().to_string();
    let text = std::fs::read_to_string(&args.trace).with_context(path)?;
    let requests = trace::parse(&text).with_context(path)?;
    let needed = requests.iter().map(trace::Traced::end).max().unwrap_or(0);
    let drive = drive(args, needed)?;
    let how = Replay {
        depth: args.depth,
        fold: args.fold,
    };
    let outcome = trace::replay(drive, &requests, how)?;
    if let Some(to) = &args.record {
        let text = trace::text(&outcome.lines);
        std::fs::write(to, text).with_context(|| to.display().to_string())?;
    }
    if args.json {
        let f = outcome.flash;
        return out::json(&Json {
            device: args.device.clone(),
            flash_programmed_pages: f.programmed,
            flash_copied_pages: f.copied,
            flash_erases: f.erases,
            outcome,
        });
    }
    print(&outcome)
}

fn drive(args: &ReplayArgs, needed: u64) -> anyhow::Result<Drive> {
    let cache = (args.cache > 0).then_some(args.cache);
    let name = catalogue::find(&args.device).unwrap_or(&args.device);
    let (mechanism, size) = match hdd::drive(name) {
        Some(spec) => {
            let size = spec.sectors() * hdd::SECTOR;
            let order = Sweeping::new(args.policy.into());
            (Mechanism::disk(Disk::new(spec)?, order), size)
        }
        None => {
            let least = 64 << 20;
            // Larger flash than this would not fit into memory.
            let most = 64 << 30;
            let size = args.size.unwrap_or_else(|| needed.clamp(least, most));
            anyhow::ensure!(
                (1 << 20..=most).contains(&size),
                "a device of flash has 1 MiB to 64 GiB here, not {size} bytes: see --size and --fold"
            );
            let mut flash = Flash::named(name, size)?;
            if let (Flash::Ssd(ssd), true) = (&mut flash, args.filled) {
                ssd.fill()?;
            }
            let size = flash.size();
            (Mechanism::flash(flash), size)
        }
    };
    Ok(Drive::new(CowDisk::new(size), mechanism, cache))
}

fn print(o: &Replayed) -> anyhow::Result<()> {
    let mut out = out::stdout();
    let ms = |ns: u64| ns as f64 / 1e6;
    writeln!(
        out,
        "{} requests in {:.3} s: {:.1} a second",
        o.requests,
        o.took_ns as f64 / 1e9,
        o.per_second
    )?;
    writeln!(
        out,
        "response: mean {:.3} ms, median {:.3} ms, 99 % within {:.3} ms, longest {:.3} ms",
        ms(o.mean_ns),
        ms(o.median_ns),
        ms(o.p99_ns),
        ms(o.most_ns)
    )?;
    let c = &o.counters;
    writeln!(
        out,
        "read {} bytes in {}, wrote {} in {}, discarded {}, {} flushes",
        c.read_bytes, c.reads, c.written_bytes, c.writes, c.discarded_bytes, c.flushes
    )?;
    let f = &o.flash;
    if f.programmed > 0 {
        writeln!(
            out,
            "flash: {} pages programmed, {} of them copied, {} blocks erased, write amplification {:.2}",
            f.programmed,
            f.copied,
            f.erases,
            f.amplification() as f64 / 1000.0
        )?;
    }
    Ok(out.flush()?)
}
