//! A recording as text.

use super::Recording;
use crate::device::hdd::SECTOR;
use crate::device::trace::{self, Action, Line, Traced};
use crate::event::What;
use crate::machine::Gauges;
use std::collections::BTreeMap;

/// Events that are made again at once.
const PAGE: u64 = 4096;

/// What was asked of the device and when it was done, as blkparse prints it: a block trace
/// that `device::trace` reads, and other simulators as well.
pub fn block_trace(recording: &Recording) -> String {
    let mut open: BTreeMap<u64, Traced> = BTreeMap::new();
    let mut lines: Vec<Line> = Vec::new();
    let mut from = recording.first();
    while from < recording.len() {
        let to = from.saturating_add(PAGE).min(recording.len());
        for event in recording.events(from, to, PAGE as usize) {
            let at = |request: &Traced| Traced {
                at_ns: event.at.0,
                ..*request
            };
            let line = match event.what {
                What::Queued {
                    request,
                    kind,
                    sector,
                    sectors,
                } => {
                    let asked = Traced {
                        at_ns: event.at.0,
                        kind,
                        offset: sector.saturating_mul(SECTOR),
                        len: sectors.saturating_mul(SECTOR),
                    };
                    open.insert(request, asked);
                    Some((Action::Queued, asked))
                }
                What::Started { request } => open.get(&request).map(|r| (Action::Issued, at(r))),
                What::Completed { request } => {
                    open.remove(&request).map(|r| (Action::Completed, at(&r)))
                }
                _ => None,
            };
            lines.extend(line.map(|(action, request)| Line { action, request }));
        }
        from = to;
    }
    trace::text(&lines)
}

/// The gauges over time as CSV, a line a sample, names first.
pub fn counters_csv(recording: &Recording) -> String {
    let mut out = Gauges::NAMES.join(",");
    out.push('\n');
    for sample in recording.samples() {
        let values: Vec<String> = sample.values().iter().map(u64::to_string).collect();
        out.push_str(&values.join(","));
        out.push('\n');
    }
    out
}
