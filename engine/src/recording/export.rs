//! A recording as text: events as JSON lines or words, counters as CSV.

use super::Recording;
use crate::event::{Actor, Event, What};
use crate::machine::Gauges;

/// An event as a line of JSON.
#[cfg(feature = "cli")]
pub fn event_json(event: &Event) -> String {
    serde_json::to_string(event).unwrap_or_default()
}

/// An event as a line of JSON.
#[cfg(not(feature = "cli"))]
pub fn event_json(event: &Event) -> String {
    event_text(event)
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

/// Who acts, in a word or two.
fn actor(actor: Actor) -> String {
    match actor {
        Actor::Mount => "mount".to_owned(),
        Actor::Process(pid) => format!("process {pid}"),
        Actor::Flusher => "flusher".to_owned(),
        Actor::Jbd2 => "jbd2".to_owned(),
        Actor::LazyInit => "lazyinit".to_owned(),
        Actor::Device => "device".to_owned(),
    }
}

/// An event as a line for people: number, time in seconds, actor, what.
pub fn event_text(event: &Event) -> String {
    let ns = event.at.0;
    let time = format!("{}.{:06}", ns / 1_000_000_000, ns % 1_000_000_000 / 1000);
    let cause = event
        .cause
        .map(|c| format!("  (from {})", c.0))
        .unwrap_or_default();
    format!(
        "{:>7} {time:>12} {:<10} {}{cause}",
        event.id.0,
        actor(event.actor),
        words(&event.what)
    )
}

/// What happened, in words.
fn words(what: &What) -> String {
    match what {
        What::Call { text } => text.clone(),
        What::Returned { value: Ok(n) } => format!("returned {n}"),
        What::Returned { value: Err(e) } => format!("failed: {e}"),
        What::Printed { text } => format!("says: {text}"),
        other => format!("{other:?}"),
    }
}
