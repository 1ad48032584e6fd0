//! Every event as a line: for reading, and for screen readers.

use fslab_engine::view::lab::{EventView, Lane};
use yew::prelude::*;

use crate::format;
use crate::lab_command::go;
use crate::store::{LabAction, Store, use_store};
use crate::views::lines::{self, Lines};

/// Height of a line in CSS pixels.
const HEIGHT: f64 = 20.0;
/// Events of a page.
const PAGE: u64 = 200;

/// The log of events.
#[component]
pub fn Events() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let Some(run) = lab.info().cloned() else {
        return html! {};
    };
    let count = run.end.saturating_sub(run.first);
    let at = lab.chosen.unwrap_or(lab.event());
    let line = {
        let store = store.clone();
        Callback::from(move |nr: u64| draw(&store, run.first + nr))
    };
    // What is in sight is asked for by pages.
    let onrange = {
        let store = store.clone();
        Callback::from(move |(first, last): (u64, u64)| {
            for page in first / PAGE..=last.saturating_sub(1) / PAGE {
                let from = run.first + page * PAGE;
                let known = store.state.lab.log.get(&from);
                let whole =
                    known.is_some_and(|k| k.len() as u64 >= PAGE.min(run.end - from.min(run.end)));
                if !whole && from < run.end {
                    store.engine.ask_log(from, PAGE as u32);
                }
            }
        })
    };
    let onkeydown = {
        let store = store.clone();
        Callback::from(move |event: KeyboardEvent| {
            let to = match event.code().as_str() {
                "ArrowDown" => at + 1,
                "ArrowUp" => at.saturating_sub(1),
                "PageDown" => at + 20,
                "PageUp" => at.saturating_sub(20),
                "Enter" | "Space" => return choose(&store, at, &event),
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            let to = to.clamp(run.first, run.end.saturating_sub(1));
            store.lab(LabAction::Choose(Some(to)));
        })
    };
    html! {
        <section class="picture events" aria-label="Events">
            <h2>{ "Events" }<span>{ format::count(count, "event") }</span></h2>
            <Lines {count} height={lines::height(HEIGHT)} {line} {onrange} {onkeydown} role="listbox"
                label="Events" class="event-lines" reveal={at.saturating_sub(run.first)}
                active={format!("event-{at}")} />
        </section>
    }
}

fn choose(store: &Store, event: u64, key: &KeyboardEvent) {
    key.prevent_default();
    key.stop_propagation();
    go(store, event);
}

fn known(store: &Store, id: u64) -> Option<EventView> {
    let log = &store.state.lab.log;
    let (from, page) = log.range(..=id).next_back()?;
    page.get((id - from) as usize).cloned()
}

fn draw(store: &Store, id: u64) -> Html {
    let lab = &store.state.lab;
    let Some(event) = known(store, id) else {
        return html! { <div key={id} id={format!("event-{id}")} class="event-line soft" role="option"><span class="id">{ id }</span>{ "…" }</div> };
    };
    let now = id == lab.event();
    let chosen = lab.chosen == Some(id);
    let chain = lab.chain.as_deref();
    let caused = chain.is_some_and(|c| c.effects.iter().any(|e| e.id == id));
    let causes = chain.is_some_and(|c| c.causes.iter().any(|e| e.id == id));
    let past = id < lab.event();
    let class = classes!(
        "event-line",
        lane_class(event.lane),
        now.then_some("selected"),
        chosen.then_some("cursor"),
        (caused || causes).then_some("linked"),
        (!past && !now).then_some("ahead"),
        event.error.then_some("error")
    );
    let to = store.clone();
    let onclick = Callback::from(move |_| go(&to, id));
    html! {
        <div key={id} id={format!("event-{id}")} {class} role="option" aria-selected={now.to_string()} {onclick}
            title={format!("{}, {}", event.actor, format::time(event.at_ns))}>
            <span class="id">{ id }</span>
            <span class="lane" aria-hidden="true" />
            <span class="words-of">{ if event.error { "✕ " } else { "" } }{ &event.words }</span>
            if causes { <span class="tag">{ "cause" }</span> }
            if caused { <span class="tag">{ "effect" }</span> }
        </div>
    }
}

/// The class of a lane's mark.
pub fn lane_class(lane: Lane) -> &'static str {
    match lane {
        Lane::Calls => "lane-calls",
        Lane::Cache => "lane-cache",
        Lane::Journal => "lane-journal",
        Lane::Device => "lane-device",
    }
}
