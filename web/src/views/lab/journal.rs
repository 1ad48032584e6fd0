//! The running journal: its ring, and its transactions with their phases.

use std::f64::consts::TAU;

use fslab_engine::jbd2::Phase;
use fslab_engine::view::lab::{LogView, Stage, TransactionView};
use yew::prelude::*;

use crate::format;
use crate::store::{Store, use_store};

/// Blocks of a transaction that are listed at once.
const BLOCKS: usize = 24;

/// The ring and the transactions.
#[component]
pub fn RingPicture() -> Html {
    let store = use_store();
    let open = use_state_eq(|| None::<u32>);
    let Some(frame) = &store.state.lab.frame else {
        return html! {};
    };
    let Some(log) = &frame.journal else {
        return html! {
            <section class="picture" aria-label="Journal">
                <h2>{ "Journal" }</h2>
                <p class="hint">{ absent(&store) }</p>
            </section>
        };
    };
    let row = |t: &TransactionView| {
        let is_open = *open == Some(t.tid);
        let (open, tid) = (open.clone(), t.tid);
        let toggle = Callback::from(move |_| open.set((!is_open).then_some(tid)));
        transaction(&store, frame.time_ns, log, t, is_open, toggle)
    };
    html! {
        <section class="picture ring-picture" aria-label="Journal">
            <h2>{ "Journal" }<span>{ note(log) }</span></h2>
            <div class="page-body ring-body">
                { ring(log) }
                <ul class="lives">
                    { for log.transactions.iter().rev().map(row) }
                    if log.transactions.is_empty() {
                        <li class="soft">{ "Nothing has changed since all was home" }</li>
                    }
                </ul>
            </div>
        </section>
    }
}

/// Why no journal runs.
fn absent(store: &Store) -> &'static str {
    let features = store.state.opened().map(|o| &o.summary.features);
    match features {
        Some(all) if all.iter().any(|name| name == "has_journal") => {
            "The filesystem is not mounted for writing any more: all that was in the journal is home"
        }
        _ => {
            "This filesystem has no journal: after a power cut it is for e2fsck to find what was being written"
        }
    }
}

fn note(log: &LogView) -> String {
    let all = log.last - log.first;
    let used = all.saturating_sub(1).saturating_sub(log.free);
    format!(
        "{} of {} in use",
        format::grouped(used.into()),
        format::count(all.into(), "block")
    )
}

const SIZE: f64 = 140.0;
const OUTER: f64 = 66.0;
const INNER: f64 = 46.0;

/// The log as a ring, from the top clockwise.
fn ring(log: &LogView) -> Html {
    let all = f64::from((log.last - log.first).max(1));
    let part = |block: u32| f64::from(block - log.first) / all;
    let arcs = log.transactions.iter().filter_map(|t| {
        let (start, len) = t.log.filter(|(_, len)| *len > 0)?;
        Some(arc(part(start), f64::from(len) / all, class(t.stage)))
    });
    let promised = log
        .transactions
        .iter()
        .filter(|t| t.stage == Stage::Running && t.needs > 0)
        .map(|t| arc(part(log.head), f64::from(t.needs) / all, "running"));
    let summary = log
        .transactions
        .iter()
        .map(|t| format!("transaction {} {}", t.tid, stage_words(t.stage)));
    let summary: Vec<String> = summary.collect();
    html! {
        <svg class="log-ring" viewBox={format!("0 0 {SIZE} {SIZE}")} role="img"
            aria-label={format!("The log: {}", summary.join(", "))}>
            <defs>
                <pattern id="home-hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                    <rect width="5" height="5" class="ring-ground" /><rect width="2" height="5" class="hatch-home" />
                </pattern>
            </defs>
            { arc(0.0, 1.0, "empty") }
            { for arcs }
            { for promised }
            { hand(part(log.tail), "tail") }
            { hand(part(log.head), "head") }
            <text x={(SIZE / 2.0).to_string()} y={(SIZE / 2.0 - 4.0).to_string()}>{ format!("head {}", log.head) }</text>
            <text x={(SIZE / 2.0).to_string()} y={(SIZE / 2.0 + 14.0).to_string()} class="soft">{ format!("tail {}", log.tail) }</text>
        </svg>
    }
}

fn point(part: f64, radius: f64) -> (f64, f64) {
    let angle = part * TAU;
    (
        SIZE / 2.0 + radius * angle.sin(),
        SIZE / 2.0 - radius * angle.cos(),
    )
}

/// A piece of the ring; never so thin that it is not seen.
fn arc(from: f64, len: f64, class: &'static str) -> Html {
    let len = len.clamp(0.008, 0.9999);
    let (a, b) = (from, from + len);
    let large = u8::from(len > 0.5);
    let ((x1, y1), (x2, y2)) = (point(a, OUTER), point(b, OUTER));
    let ((x3, y3), (x4, y4)) = (point(b, INNER), point(a, INNER));
    let d = format!(
        "M{x1:.2} {y1:.2}A{OUTER} {OUTER} 0 {large} 1 {x2:.2} {y2:.2}\
         L{x3:.2} {y3:.2}A{INNER} {INNER} 0 {large} 0 {x4:.2} {y4:.2}Z"
    );
    html! { <path {d} class={format!("ring-{class}")} /> }
}

/// Where head and tail are.
fn hand(part: f64, class: &'static str) -> Html {
    let ((x1, y1), (x2, y2)) = (point(part, INNER - 6.0), point(part, OUTER + 3.0));
    html! {
        <line class={format!("ring-{class}")} x1={format!("{x1:.2}")} y1={format!("{y1:.2}")}
            x2={format!("{x2:.2}")} y2={format!("{y2:.2}")} />
    }
}

fn class(stage: Stage) -> &'static str {
    match stage {
        Stage::Checkpointing => "checkpointing",
        Stage::Home => "home",
        Stage::Committing(_) => "committing",
        Stage::Running => "running",
    }
}

fn stage_words(stage: Stage) -> &'static str {
    match stage {
        Stage::Checkpointing => "committed, home writes due",
        Stage::Home => "committed, all home",
        Stage::Committing(Phase::Locked) => "locked",
        Stage::Committing(Phase::Flush) => "contents go first",
        Stage::Committing(Phase::Commit) => "blocks go to the log",
        Stage::Committing(Phase::CommitRecord) => "commit block",
        Stage::Committing(Phase::Committed) => "committed",
        Stage::Running => "running",
    }
}

fn transaction(
    store: &Store,
    now: u64,
    log: &LogView,
    t: &TransactionView,
    open: bool,
    toggle: Callback<MouseEvent>,
) -> Html {
    let words = stage_words(t.stage);
    let count = match t.stage {
        Stage::Checkpointing => format!("{} not home", format::count(t.count.into(), "block")),
        Stage::Home => String::new(),
        _ => format::count(t.count.into(), "block"),
    };
    let due = log
        .commit_ns
        .filter(|at| t.stage == Stage::Running && *at > now)
        .map(|at| format!(", commits in {}", format::time(at - now)));
    html! {
        <li>
            <button type="button" class="life" aria-expanded={open.to_string()} onclick={toggle}>
                <i class={format!("key life-{}", class(t.stage))} aria-hidden="true" />
                <span class="strong figure">{ t.tid }</span>
                <span>{ words }</span>
                <span class="soft">{ count }{ due }</span>
            </button>
            if open { { blocks(store, t) } }
        </li>
    }
}

/// Blocks of a transaction, each with a way to its home.
fn blocks(store: &Store, t: &TransactionView) -> Html {
    let block = |&(home, _): &(u64, Option<u64>)| {
        let to = store.clone();
        let onclick = Callback::from(move |_| to.select(to.block(home)));
        let run = store.state.map.map().and_then(|map| map.at(home));
        let kind = run.map_or("metadata", |run| run.kind.words());
        html! {
            <li><button type="button" class="link" {onclick}>{ format!("Block {}", format::grouped(home)) }</button>
                <span class="soft">{ format!(" {kind}") }</span></li>
        }
    };
    let more = t.count as usize - t.blocks.len().min(BLOCKS).min(t.count as usize);
    html! {
        <ul class="life-blocks">
            { for t.blocks.iter().take(BLOCKS).map(block) }
            if more > 0 { <li class="soft">{ format!("and {more} more") }</li> }
            if !t.ordered.is_empty() {
                <li class="soft">{ format!("First the contents of {}", format::count(t.ordered.len() as u64, "file")) }</li>
            }
        </ul>
    }
}
