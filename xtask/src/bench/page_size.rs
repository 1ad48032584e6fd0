//! What a first visit transfers.

use anyhow::Result;

use super::Measure;
use crate::workspace::Workspace;
use crate::{dist, sizes};

pub fn run(workspace: &Workspace) -> Result<Vec<Measure>> {
    let (_, total) = sizes::measure(&dist::build(workspace)?)?;
    let kib = |bytes: usize| bytes as f64 / 1024.0;
    let measure = |what: &str, bytes| Measure {
        what: what.into(),
        value: kib(bytes),
        unit: "KiB",
        limit: None,
    };
    Ok(vec![
        measure("whole site, raw", total.raw),
        measure("whole site, brotli", total.brotli),
    ])
}
