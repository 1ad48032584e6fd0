//! `run`: a scenario from start to end.

use crate::out;
use anyhow::{Context, bail};
use clap::Args;
use fslab_engine::disk::{CowDisk, ReadAt};
use fslab_engine::event::{Event, Kind, What};
use fslab_engine::recording::{Condition, Recording, counters_csv};
use fslab_engine::scenario::Scenario;
use fslab_engine::scenario::lang::marked;
use fslab_engine::view::lab::event_text;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Events that are recorded before one looks whether to stop.
const SLICE: u64 = 20_000;
/// Events that are made again and printed at once.
const PAGE: u64 = 4096;
/// Failed calls that are listed in a summary.
const MOST_FAILURES: usize = 10;

/// Run a scenario and tell what came of it
#[derive(Args, Debug)]
pub struct RunArgs {
    /// The scenario's file
    file: PathBuf,
    /// Print every event, a line each
    #[arg(long)]
    events: bool,
    /// Print as JSON: with --events a line for each, else the summary
    #[arg(long)]
    json: bool,
    /// Write the counters over time to this file, as CSV
    #[arg(long, value_name = "FILE")]
    counters: Option<PathBuf>,
    /// Write the disk as it is at the end to this file; Linux mounts it
    #[arg(long, value_name = "FILE")]
    image: Option<PathBuf>,
    /// Stop at the first event for which this holds, as 'call=fsync', 'kind=Allocated
    /// inode=12', 'error', 'event=500', 'dirty_pages>64'
    #[arg(long, value_name = "CONDITION")]
    until: Option<String>,
}

pub fn run(args: &RunArgs) -> anyhow::Result<()> {
    let scenario = read(&args.file)?;
    let until: Option<Condition> = args.until.as_deref().map(str::parse).transpose()?;
    let mut recording = Recording::new(Arc::new(scenario))?;
    let stop = record(&mut recording, until.as_ref());
    if let (Some(condition), None) = (&args.until, stop) {
        out::note(format!("`{condition}` never held; the run went to its end"));
    }
    let end = stop.unwrap_or(recording.len().saturating_sub(1));
    if args.events {
        print_events(&recording, end, args.json)?;
    } else {
        summary(&recording, end, args.json)?;
    }
    if let Some(path) = &args.counters {
        std::fs::write(path, counters_csv(&recording))
            .with_context(|| path.display().to_string())?;
    }
    if let Some(path) = &args.image {
        let machine = recording.at(end).machine;
        let drive = machine.drive().context("the device keeps no contents")?;
        save(drive.contents(), path).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// Reads a scenario; what is wrong with it is told line by line.
pub fn read(path: &Path) -> anyhow::Result<Scenario> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    parse(&text, &path.display().to_string())
}

/// The scenario in a text that came from somewhere.
pub fn parse(text: &str, from: &str) -> anyhow::Result<Scenario> {
    let errors = match Scenario::parse(text) {
        Ok(scenario) => return Ok(scenario),
        Err(errors) => errors,
    };
    for e in &errors {
        out::note(format!("{from}:{}:{}: {}", e.line, e.column, e.words));
        let shown = marked(text, e.line, e.column, 1);
        shown.lines().for_each(|line| out::note(line.to_owned()));
        if let Some(help) = &e.help {
            out::note(format!("  {help}"));
        }
    }
    bail!(
        "{from} cannot be run: {} of its lines are wrong",
        errors.len()
    )
}

/// Records to the end, or to where a condition holds first.
fn record(recording: &mut Recording, until: Option<&Condition>) -> Option<u64> {
    let mut looked = recording.first();
    loop {
        let more = recording.record(SLICE);
        if let Some(condition) = until {
            let from = looked.checked_sub(1);
            let found = recording.find_from(from.map_or(0, |n| n + 1), condition);
            if found.is_some() {
                return found;
            }
            looked = recording.len();
        }
        if !more {
            return None;
        }
    }
}

fn print_events(recording: &Recording, end: u64, json: bool) -> anyhow::Result<()> {
    let mut out = out::stdout();
    let mut at = recording.first();
    while at <= end {
        let to = (at + PAGE).min(end + 1);
        for event in recording.events(at, to, PAGE as usize) {
            let line = if json {
                serde_json::to_string(&event)?
            } else {
                event_text(&event)
            };
            writeln!(out, "{line}")?;
        }
        at = to;
    }
    Ok(out.flush()?)
}

#[derive(serde::Serialize)]
struct Summary {
    title: String,
    events: u64,
    hash: String,
    end: Option<String>,
    said: Vec<String>,
    failures: Vec<String>,
    counters: fslab_engine::machine::Gauges,
}

fn summary(recording: &Recording, end: u64, json: bool) -> anyhow::Result<()> {
    let machine = recording.at(end).machine;
    let told = told(recording, end);
    let summary = Summary {
        title: recording.scenario().title.clone(),
        events: end + 1,
        hash: format!("{:016x}", recording.hash()),
        end: recording.end().map(|e| e.to_string()),
        said: told.said,
        failures: told.failures,
        counters: machine.gauges(),
    };
    if json {
        return out::json(&summary);
    }
    let g = &summary.counters;
    let mut out = out::stdout();
    writeln!(out, "{}", summary.title)?;
    for line in &summary.said {
        writeln!(out, "  {line}")?;
    }
    let ms = g.time_ns / 1_000_000;
    writeln!(
        out,
        "{}.{:03} s simulated, {} events, {} calls",
        ms / 1000,
        ms % 1000,
        summary.events,
        g.calls
    )?;
    writeln!(
        out,
        "device: {} reads of {} bytes, {} writes of {} bytes, {} flushes",
        g.device_reads,
        g.device_read_bytes,
        g.device_writes,
        g.device_written_bytes,
        g.device_flushes
    )?;
    writeln!(
        out,
        "memory: {} dirty pages, {} clusters promised; a power cut now could lose {} writes",
        g.dirty_pages, g.reserved_clusters, g.unstable_writes
    )?;
    for failure in &summary.failures {
        writeln!(out, "failed: {failure}")?;
    }
    if told.more > 0 {
        writeln!(out, "failed: {} more", told.more)?;
    }
    if let Some(end) = &summary.end {
        writeln!(out, "{end}")?;
    }
    writeln!(out, "hash of all events: {}", summary.hash)?;
    Ok(out.flush()?)
}

/// What processes said and what failed.
#[derive(Default)]
struct Told {
    said: Vec<String>,
    failures: Vec<String>,
    more: usize,
}

fn told(recording: &Recording, end: u64) -> Told {
    let mut told = Told::default();
    let wanted = |kind| {
        matches!(
            kind,
            Kind::Printed | Kind::ProcessFailed | Kind::Returned | Kind::Error
        )
    };
    let mut at = recording.first();
    while let Some(next) = recording
        .index()
        .next_where(at, wanted)
        .filter(|&n| n <= end)
    {
        let (start, to) = recording.index().step_of(next);
        if recording.kind(next) == Some(Kind::Returned) && told.failures.len() >= MOST_FAILURES {
            // Nobody reads on, and each costs a look at the machine.
            at = next + 1;
            continue;
        }
        let events = recording.events(start, to, PAGE as usize);
        for event in events.iter().filter(|e| e.id.0 >= at) {
            note(event, &mut told);
        }
        at = to.max(next + 1);
    }
    told
}

fn note(event: &Event, told: &mut Told) {
    let line = match &event.what {
        What::Printed { text } => return told.said.push(text.clone()),
        What::ProcessFailed { line, words, .. } => format!("line {line}: {words}"),
        What::Returned { value: Err(e) } => format!("event {}: {e}", event.id.0),
        What::Error { words } => words.clone(),
        _ => return,
    };
    if told.failures.len() < MOST_FAILURES {
        told.failures.push(line);
    } else {
        told.more += 1;
    }
}

/// Writes what is on a disk to a sparse file.
pub fn save(disk: &CowDisk, path: &Path) -> std::io::Result<()> {
    let file = std::fs::File::create(path)?;
    file.set_len(ReadAt::len(disk))?;
    let mut piece = vec![0; 1 << 20];
    for (at, len) in disk.data() {
        let mut done = 0;
        while done < len {
            let n = (len - done).min(piece.len() as u64) as usize;
            disk.read_at(at + done, &mut piece[..n])
                .map_err(std::io::Error::other)?;
            file.write_all_at(&piece[..n], at + done)?;
            done += n as u64;
        }
    }
    Ok(())
}
