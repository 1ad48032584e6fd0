//! `import`: what others recorded, as a scenario.

use crate::out;
use anyhow::Context;
use clap::{Args, Subcommand};
use fslab_engine::scenario::import::{FioOptions, Imported, StraceOptions, fio, strace};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Skipped calls that are listed; more are counted.
const MOST_LISTED: usize = 20;

/// Turn a recording of a real program into a scenario
#[derive(Args, Debug)]
pub struct ImportArgs {
    #[command(subcommand)]
    from: From,
}

#[derive(Subcommand, Debug)]
enum From {
    /// A log of `strace -f -y -ttt -s 65536 -o LOG PROGRAM`
    Strace {
        /// The log
        log: PathBuf,
        /// The directory that is replayed; the one that all changes lie in, where not given
        #[arg(long)]
        root: Option<OsString>,
        /// Where the program was started, for logs without -y
        #[arg(long)]
        cwd: Option<OsString>,
        /// Where the scenario goes; standard output where not given
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
    /// A job file of fio
    Fio {
        /// The job file
        job: PathBuf,
        /// Where the scenario goes; standard output where not given
        #[arg(short, long)]
        output: Option<PathBuf>,
    },
}

pub fn run(args: &ImportArgs) -> anyhow::Result<()> {
    match &args.from {
        From::Strace {
            log,
            root,
            cwd,
            output,
        } => run_strace(log, root, cwd, output.as_deref()),
        From::Fio { job, output } => run_fio(job, output.as_deref()),
    }
}

fn title(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    format!("Imported from {}", name.to_string_lossy())
}

fn read(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn run_fio(job: &Path, output: Option<&Path>) -> anyhow::Result<()> {
    let options = FioOptions { title: title(job) };
    let imported = fio(&read(job)?, &options).with_context(|| job.display().to_string())?;
    tell_skipped(&imported, "is not carried over");
    let ignored: Vec<&str> = imported.ignored.keys().map(String::as_str).collect();
    if !ignored.is_empty() {
        out::note(format!(
            "about fio's report, left out: {}",
            ignored.join(", ")
        ));
    }
    write(&imported.text, output)
}

fn run_strace(
    log: &Path,
    root: &Option<OsString>,
    cwd: &Option<OsString>,
    output: Option<&Path>,
) -> anyhow::Result<()> {
    let text = read(log)?;
    let bytes = |path: &Option<OsString>| path.clone().map(OsStringExt::into_vec);
    let options = StraceOptions {
        root: bytes(root),
        cwd: bytes(cwd),
        title: title(log),
        ..StraceOptions::default()
    };
    let imported = strace(&text, &options).with_context(|| log.display().to_string())?;
    tell(&imported);
    write(&imported.text, output)
}

fn write(text: &str, output: Option<&Path>) -> anyhow::Result<()> {
    match output {
        Some(path) => std::fs::write(path, text).with_context(|| path.display().to_string()),
        None => {
            let mut out = out::stdout();
            out.write_all(text.as_bytes())?;
            Ok(out.flush()?)
        }
    }
}

/// What is left out although it matters.
fn tell_skipped(imported: &Imported, what: &str) {
    for skipped in imported.skipped.iter().take(MOST_LISTED) {
        out::note(format!(
            "line {}: {} {what}: {}",
            skipped.line, skipped.text, skipped.why
        ));
    }
    if imported.skipped.len() > MOST_LISTED {
        let more = imported.skipped.len() - MOST_LISTED;
        out::note(format!("{more} more of this kind"));
    }
}

/// What is not in the scenario.
fn tell(imported: &Imported) {
    tell_skipped(imported, "cannot be done again");
    if imported.unknown > 0 {
        out::note(format!(
            "{} writes have bytes that the log does not hold; patterns of their length stand for them",
            imported.unknown
        ));
    }
    let ignored: u64 = imported.ignored.values().sum();
    out::note(format!(
        "{} calls imported, {ignored} left out (they change nothing, failed, or are about other places)",
        imported.calls
    ));
}
