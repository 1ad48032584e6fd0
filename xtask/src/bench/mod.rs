//! `cargo xtask bench`: sizes and speeds, each with the limit it must keep.
//!
//! A new bench is a module with one function and a line in [`BENCHES`].

mod files;
mod first_picture;
mod ftl;
mod images;
mod journal;
mod map;
mod map_frames;
mod page_size;
mod runs;
mod script;

use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::workspace::Workspace;

/// Something that can be measured.
struct Bench {
    name: &'static str,
    run: fn(&Workspace) -> Result<Vec<Measure>>,
}

/// What was measured.
#[derive(Debug)]
pub struct Measure {
    pub what: String,
    pub value: f64,
    pub unit: &'static str,
    /// More than this is a failure.
    pub limit: Option<f64>,
}

const BENCHES: &[Bench] = &[
    Bench {
        name: "files",
        run: files::run,
    },
    Bench {
        name: "first-picture",
        run: first_picture::run,
    },
    Bench {
        name: "ftl",
        run: ftl::run,
    },
    Bench {
        name: "images",
        run: images::run,
    },
    Bench {
        name: "journal",
        run: journal::run,
    },
    Bench {
        name: "map",
        run: map::run,
    },
    Bench {
        name: "map-frames",
        run: map_frames::run,
    },
    Bench {
        name: "page-size",
        run: page_size::run,
    },
    Bench {
        name: "runs",
        run: runs::run,
    },
];

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which to run [default: all]
    names: Vec<String>,
    /// Only name them
    #[arg(long)]
    list: bool,
}

pub fn run(args: &Args) -> Result<ExitCode> {
    if args.list {
        BENCHES.iter().for_each(|bench| println!("{}", bench.name));
        return Ok(ExitCode::SUCCESS);
    }
    for name in &args.names {
        ensure!(
            BENCHES.iter().any(|bench| bench.name == name),
            "There is no bench “{name}”; --list names them."
        );
    }
    let workspace = Workspace::find()?;
    let mut kept = true;
    for bench in BENCHES {
        if args.names.is_empty() || args.names.iter().any(|name| name == bench.name) {
            println!("{}", bench.name);
            for measure in (bench.run)(&workspace)? {
                kept &= print(&measure);
            }
        }
    }
    Ok(if kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Prints a measure; says whether it is within its limit.
fn print(measure: &Measure) -> bool {
    let Measure {
        what,
        value,
        unit,
        limit,
    } = measure;
    let (verdict, within) = match limit {
        None => (String::new(), true),
        Some(limit) if value <= limit => (format!("  (limit {limit})"), true),
        Some(limit) => (format!("  OVER THE LIMIT of {limit}"), false),
    };
    println!("  {what:<48} {value:>12.3} {unit}{verdict}");
    within
}
