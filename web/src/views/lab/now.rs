//! The instant explained: in words first, then what follows, then why it happened.

use fslab_engine::view::lab::{EventView, Frame};
use yew::prelude::*;

use super::events::lane_class;
use crate::format;
use crate::lab_command::go;
use crate::store::{LabAction, Selection, Store, use_store};

/// Events of a list.
const ROWS: usize = 40;

/// The instant explained.
#[component]
pub fn Now() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let Some(frame) = &lab.frame else {
        return html! { <section class="now" aria-label="This event" /> };
    };
    let about = lab.chosen.unwrap_or(frame.event);
    let chain = lab.chain.as_deref().filter(|c| c.event.id == about);
    let event = chain
        .map(|c| &c.event)
        .or_else(|| frame.events.iter().find(|e| e.id == about));
    html! {
        <section class="now scroll" aria-label="This event">
            { headline(&store, event, frame) }
            <h3>{ "If the power failed now" }</h3>
            { risk(frame) }
            if let Some(chain) = chain {
                if !chain.causes.is_empty() {
                    <h3>{ "Because of" }</h3>
                    <ol class="event-list">{ for chain.causes.iter().map(|e| row(&store, e, about)) }</ol>
                }
                if !chain.effects.is_empty() {
                    <h3>{ "Led to" }<span class="soft">{ count(chain.effects.len(), chain.more) }</span></h3>
                    <ol class="event-list">{ for chain.effects.iter().take(ROWS).map(|e| row(&store, e, about)) }</ol>
                }
            }
            <h3>{ "In this step" }<span class="soft">{ format::count(frame.step.1 - frame.step.0, "event") }</span></h3>
            <ol class="event-list">{ for near(&frame.events, about).iter().map(|e| row(&store, e, about)) }</ol>
        </section>
    }
}

/// The events of a step around one of them.
fn near(events: &[EventView], about: u64) -> &[EventView] {
    let at = events.partition_point(|e| e.id < about);
    let last = events.len().saturating_sub(ROWS);
    let from = at.saturating_sub(8).min(last);
    &events[from..(from + ROWS).min(events.len())]
}

fn count(n: usize, more: bool) -> String {
    format!(
        "{}{}",
        format::count(n as u64, "event"),
        if more { " and more" } else { "" }
    )
}

/// The event in a sentence, and what it is about.
fn headline(store: &Store, event: Option<&EventView>, frame: &Frame) -> Html {
    let Some(e) = event else {
        return html! { <div class="say"><p>{ format!("Event {}", format::grouped(frame.event)) }</p></div> };
    };
    html! {
        <div class="say">
            <p class="path">{ format!("Event {} · {} · {}", format::grouped(e.id), format::time(e.at_ns), e.actor) }</p>
            <p class={classes!(e.error.then_some("bad"))}>{ if e.error { "✕ " } else { "" } }{ &e.words }</p>
            { subjects(store, e) }
            if e.id != frame.event { { there(store, e.id) } }
        </div>
    }
}

/// The way to an event that is explained from elsewhere.
fn there(store: &Store, id: u64) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |_| go(&to, id));
    html! { <p><button type="button" {onclick}>{ "Go to this event" }</button></p> }
}

/// What an event is about, each with a way to it.
fn subjects(store: &Store, e: &EventView) -> Html {
    let link = |words: String, target: Selection| {
        let to = store.clone();
        let onclick = Callback::from(move |_| to.select(target));
        html! { <li><button type="button" class="link" {onclick}>{ words }</button></li> }
    };
    let inode = e.inode.filter(|nr| *nr != 0);
    let inode = inode.map(|nr| link(store.title(nr), Selection::inode(nr)));
    let block = e.blocks.map(|(start, _)| {
        link(
            format!("block {}", format::grouped(start)),
            store.block(start),
        )
    });
    html! { <ul class="subjects">{ for inode.into_iter().chain(block) }</ul> }
}

/// What a power cut would take, in a sentence each.
fn risk(frame: &Frame) -> Html {
    let g = &frame.gauges;
    let mut lines: Vec<String> = Vec::new();
    if g.dirty_pages > 0 {
        let without = match g.reserved_clusters {
            0 => String::new(),
            n if n >= g.dirty_pages => ", none of which has an address".into(),
            n => format!(", {} without an address", format::grouped(n)),
        };
        lines.push(format!(
            "{} of contents {} in memory only{without}",
            format::count(g.dirty_pages, "page"),
            is(g.dirty_pages)
        ));
    }
    if g.transaction_blocks > 0 {
        lines.push(format!(
            "{} of metadata {} changed in a transaction that is not committed: the changes would be undone",
            format::count(g.transaction_blocks, "block"),
            is(g.transaction_blocks)
        ));
    }
    if g.unstable_writes > 0 {
        lines.push(format!(
            "{} that the device took may or may not be there",
            format::count(g.unstable_writes, "write")
        ));
    }
    if lines.is_empty() {
        return html! { <p class="pad">{ "Nothing would be lost: everything is on the medium" }</p> };
    }
    html! { <ul class="risk">{ for lines.into_iter().map(|words| html! { <li><span class="cross" aria-hidden="true">{ "✕" }</span>{ words }</li> }) }</ul> }
}

fn is(n: u64) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

/// An event of a list: choosing it explains it, a second time goes there.
fn row(store: &Store, e: &EventView, about: u64) -> Html {
    let (to, id) = (store.clone(), e.id);
    let shown = e.id == about;
    let onclick = Callback::from(move |_| {
        if shown {
            go(&to, id);
        } else {
            to.lab(LabAction::Choose(Some(id)));
        }
    });
    html! {
        <li class={classes!(lane_class(e.lane), shown.then_some("selected"))} key={e.id}>
            <button type="button" {onclick} aria-current={shown.then_some("true")}>
                <span class="lane" aria-hidden="true" />
                <span class="id figure">{ e.id }</span>
                <span class={classes!("words-of", e.error.then_some("bad"))}>{ &e.words }</span>
            </button>
        </li>
    }
}
