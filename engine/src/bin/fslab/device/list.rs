//! `fslab device list`.

use crate::out;
use clap::Args;
use fslab_engine::device::catalogue::{Entry, catalogue};
use serde::Serialize;
use std::io::Write;

#[derive(Args, Debug)]
pub struct ListArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Json {
    devices: Vec<Entry>,
}

pub fn run(args: &ListArgs) -> anyhow::Result<()> {
    let devices = catalogue();
    if args.json {
        return out::json(&Json { devices });
    }
    let mut out = out::stdout();
    for (i, d) in devices.iter().enumerate() {
        if i > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} ({}): {}", d.name, d.kind, d.words)?;
        writeln!(out, "  numbers: {}", d.source)?;
        for p in &d.parameters {
            let value = format!("{} {}", p.value, p.unit);
            writeln!(
                out,
                "  {:32} {:>20}  {}",
                p.name,
                value.trim_end(),
                p.source
            )?;
        }
    }
    Ok(out.flush()?)
}
