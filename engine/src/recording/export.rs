//! A recording as text.

use super::Recording;
use crate::machine::Gauges;

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
