//! `link`: a scenario as a link, and a link as a scenario.

use crate::out;
use crate::run::parse;
use anyhow::{Context, bail};
use clap::Args;
use fslab_engine::scenario::link::{Link, decode, encode};
use std::io::Write;
use std::path::PathBuf;

/// Turn a scenario into a share link, or a link back into its scenario
#[derive(Args, Debug)]
pub struct LinkArgs {
    /// The scenario's file
    #[arg(required_unless_present = "open")]
    file: Option<PathBuf>,
    /// The event to open at
    #[arg(long, value_name = "EVENT", conflicts_with = "open")]
    at: Option<u64>,
    /// The page's address, before the fragment
    #[arg(long, value_name = "URL", default_value = "")]
    page: String,
    /// Print the scenario that a link holds
    #[arg(long, value_name = "LINK", conflicts_with = "file")]
    open: Option<String>,
}

pub fn run(args: &LinkArgs) -> anyhow::Result<()> {
    let mut stdout = out::stdout();
    if let Some(link) = &args.open {
        let link = decode(link)?;
        write!(stdout, "{}", link.text)?;
        return Ok(stdout.flush()?);
    }
    let Some(path) = &args.file else {
        bail!("a file or --open is needed");
    };
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    // What cannot be run is not to be sent to anybody.
    parse(&text, &path.display().to_string())?;
    let fragment = encode(&Link {
        text,
        at: args.at,
        ..Link::default()
    })?;
    writeln!(stdout, "{}#{fragment}", args.page)?;
    Ok(stdout.flush()?)
}
