//! `import`: what others recorded, as a scenario.

use crate::out;
use anyhow::Context;
use clap::{Args, Subcommand};
use fslab_engine::scenario::import::{Imported, StraceOptions, strace};
use std::ffi::OsString;
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

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
}

pub fn run(args: &ImportArgs) -> anyhow::Result<()> {
    let From::Strace {
        log,
        root,
        cwd,
        output,
    } = &args.from;
    let name = || log.display().to_string();
    let bytes = std::fs::read(log).with_context(name)?;
    let text = String::from_utf8_lossy(&bytes);
    let bytes = |path: &Option<OsString>| path.clone().map(OsStringExt::into_vec);
    let options = StraceOptions {
        root: bytes(root),
        cwd: bytes(cwd),
        title: format!(
            "Imported from {}",
            log.file_name().unwrap_or_default().to_string_lossy()
        ),
        ..StraceOptions::default()
    };
    let imported = strace(&text, &options).with_context(name)?;
    tell(&imported);
    match output {
        Some(path) => {
            std::fs::write(path, &imported.text).with_context(|| path.display().to_string())
        }
        None => {
            let mut out = out::stdout();
            out.write_all(imported.text.as_bytes())?;
            Ok(out.flush()?)
        }
    }
}

/// What is not in the scenario.
fn tell(imported: &Imported) {
    for skipped in imported.skipped.iter().take(MOST_LISTED) {
        out::note(format!(
            "line {}: {} cannot be done again: {}",
            skipped.line, skipped.text, skipped.why
        ));
    }
    if imported.skipped.len() > MOST_LISTED {
        out::note(format!(
            "{} more cannot be done again",
            imported.skipped.len() - MOST_LISTED
        ));
    }
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
