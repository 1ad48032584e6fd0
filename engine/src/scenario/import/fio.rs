//! A job file of fio as a scenario: each job a process, its program as plain as one would
//! write it. What each option does is told by fio's own documentation (`HOWTO`, fio 3.36)
//! and was looked at in what `strace` shows of it.

mod ini;
mod job;
mod program;
mod units;

use super::{ImportError, Imported, MAX_SKIPPED, Skipped, emit};
use ini::{Section, Setting};
use job::Job;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Longest job file, bytes.
const MAX_JOB: usize = 1 << 20;
/// Most jobs, each counted as often as `numjobs` has it: what a scenario can hold.
const MAX_JOBS: u64 = 64;
/// The device is never smaller, bytes.
const SMALLEST_DEVICE: u64 = 256 << 20;
/// The device's size comes in steps of this, bytes.
const STEP: u64 = 64 << 20;

/// How a job file is imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FioOptions {
    /// The scenario's title.
    pub title: String,
}

impl Default for FioOptions {
    fn default() -> Self {
        Self {
            title: "Imported from fio".to_owned(),
        }
    }
}

/// What is told about a job file beside the scenario.
#[derive(Debug, Default)]
struct Notes {
    skipped: Vec<Skipped>,
    ignored: BTreeMap<String, u64>,
}

impl Notes {
    fn skip(&mut self, setting: &Setting<'_>, why: impl Into<String>) {
        self.skip_line(setting.line, setting.written.to_owned(), why);
    }

    fn skip_line(&mut self, line: u64, text: String, why: impl Into<String>) {
        let skipped = Skipped {
            line,
            text,
            why: why.into(),
        };
        // An option of the global section is met once for each job.
        if self.skipped.len() < MAX_SKIPPED && !self.skipped.contains(&skipped) {
            self.skipped.push(skipped);
        }
    }
}

/// Imports a job file of fio.
pub fn fio(text: &str, options: &FioOptions) -> Result<Imported, ImportError> {
    if text.len() > MAX_JOB {
        return Err(ImportError::Line {
            line: 1,
            words: format!(
                "the file is {} bytes long; {MAX_JOB} is the most",
                text.len()
            ),
        });
    }
    let sections = ini::sections(text)?;
    let mut notes = Notes::default();
    let jobs = jobs(&sections, &mut notes)?;
    if jobs.is_empty() {
        return Err(ImportError::Nothing(
            "there is no job in this file; a job is a section [name] with rw= and size=",
        ));
    }
    let copies: u64 = jobs.iter().map(|j| j.copies).sum();
    if copies > MAX_JOBS {
        return Err(ImportError::Line {
            line: jobs.last().map_or(1, |j| j.line),
            words: format!("these are {copies} jobs by numjobs; {MAX_JOBS} is the most"),
        });
    }
    Ok(scenario(&jobs, notes, options))
}

/// The jobs of a file: each section with what the global ones before it say.
fn jobs(sections: &[Section<'_>], notes: &mut Notes) -> Result<Vec<Job>, ImportError> {
    let mut global: Vec<Setting<'_>> = Vec::new();
    let mut jobs = Vec::new();
    for section in sections {
        if section.name == "global" {
            global.extend(section.settings.iter().copied());
            continue;
        }
        let settings = global.iter().chain(&section.settings);
        let job = Job::read(section, settings.copied().collect(), notes)?;
        jobs.push(job);
    }
    Ok(jobs)
}

/// Whether jobs can be told to wait for one another: where each stands alone.
fn in_a_row(jobs: &[Job]) -> bool {
    let rest = jobs.get(1..).unwrap_or(&[]);
    !rest.is_empty() && rest.iter().all(|j| j.waits) && jobs.iter().all(|j| j.copies == 1)
}

fn scenario(jobs: &[Job], mut notes: Notes, options: &FioOptions) -> Imported {
    let in_a_row = in_a_row(jobs);
    if !in_a_row {
        for job in jobs.iter().skip(1).filter(|j| j.waits) {
            notes.skip_line(
                job.line,
                format!("stonewall of [{}]", job.name),
                "jobs wait for one another here only where each stands alone: these run at once",
            );
        }
    }
    let bytes: u64 = jobs
        .iter()
        .fold(0, |sum, j| sum.saturating_add(j.bytes_on_disk()));
    let calls: u64 = jobs.iter().fold(0, |sum, j| sum.saturating_add(j.calls()));
    let wanted = bytes
        .saturating_add(bytes / 4)
        .saturating_add(SMALLEST_DEVICE / 2);
    let device = wanted
        .max(SMALLEST_DEVICE)
        .div_ceil(STEP)
        .saturating_mul(STEP);
    let mut text = format!(
        "fslab = 1\ntitle = {}\nabout = {}\n",
        emit::toml(&options.title),
        emit::toml(&about(jobs, &notes)),
    );
    if let Some(seed) = jobs.iter().find_map(|j| j.seed) {
        let _ = writeln!(text, "seed = {seed}");
    }
    let _ = write!(text, "\n[device]\nsize = \"{}M\"\n\n", device >> 20);
    text.push_str(&limits(calls));
    if in_a_row {
        let programs = jobs.iter().map(|job| program::program(job, 0));
        let program = programs.collect::<Vec<_>>().join("\n");
        process(&mut text, "jobs", 0, &program);
    } else {
        for job in jobs {
            for n in 0..job.copies {
                let name = match job.copies {
                    1 => job.name.clone(),
                    _ => format!("{}.{n}", job.name),
                };
                process(&mut text, &name, job.start, &program::program(job, n));
            }
        }
    }
    Imported {
        text,
        skipped: notes.skipped,
        ignored: notes.ignored,
        calls,
        unknown: 0,
    }
}

fn about(jobs: &[Job], notes: &Notes) -> String {
    let names = jobs.iter().map(|j| j.name.as_str()).collect::<Vec<_>>();
    format!(
        "Jobs of fio: {}. {} of their options are not carried over.",
        names.join(", "),
        notes.skipped.len()
    )
}

/// The run's limits, where a run may go beyond the usual ones.
fn limits(calls: u64) -> String {
    use crate::scenario::Limits;
    let (usual, most) = (Limits::default(), Limits::MOST);
    // What one call is in events differs; fsync of a fragmented file is some tens.
    const EVENTS_OF_A_CALL: u64 = 30;
    let events = calls.saturating_mul(EVENTS_OF_A_CALL);
    if calls < usual.calls / 2 && events < usual.events {
        return String::new();
    }
    format!(
        "[limits]\ncalls = {}\nevents = {}\n\n",
        calls.saturating_mul(2).clamp(usual.calls, most.calls),
        events.clamp(usual.events, most.events),
    )
}

fn process(text: &mut String, name: &str, start: u64, program: &str) {
    let _ = writeln!(text, "[[process]]\nname = {}", emit::toml(name));
    if start > 0 {
        let _ = writeln!(text, "start = \"{}\"", emit::time(start));
    }
    let _ = writeln!(text, "program = '''\n{program}'''\n");
}

#[cfg(test)]
mod tests;
