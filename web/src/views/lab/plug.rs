//! The field of states: every disk that pulling the plug here could leave.

use std::rc::Rc;

use fslab_engine::view::crash::{FieldView, OutcomeView, StateWords, Taken};
use yew::prelude::*;

use crate::command::Command;
use crate::format;
use crate::lab_command::{LabCommand, go};
use crate::store::{PlugAction, Store, use_store};
use crate::views::header::CommandButton;
use crate::worker::lab::Export;

/// States that are drawn, one each.
const CELLS: usize = 600;
/// Patterns of outcomes: as many as can be told apart.
const LOOKS: u32 = 8;

/// The picture.
#[component]
pub fn PlugPicture() -> Html {
    let store = use_store();
    let plug = &store.state.lab.plug;
    let Some(field) = &plug.field else {
        return html! {
            <section class="picture plug" aria-label="Power cut">
                <h2>{ "Power cut" }</h2>
                <div class="page-body">
                    <p>{ "Pull the plug at this event, and see every disk that the device’s rules allow: what was accepted and not made safe may be there or not, in any combination." }</p>
                    <p><CommandButton command={Command::Lab(LabCommand::Pull)} /></p>
                </div>
            </section>
        };
    };
    let elsewhere = store.state.lab.event() != field.event && plug.open.is_none();
    html! {
        <section class="picture plug" aria-label="Power cut">
            <h2>{ "Power cut" }<span>{ format!("after event {} · {}", format::grouped(field.event), format::time(field.time_ns)) }</span></h2>
            <div class="page-body">
                { covered(&store, field, plug.more) }
                if elsewhere {
                    <p class="buttons">
                        { button("Back to that event", { let (s, e) = (store.clone(), field.event); move || go(&s, e) }) }
                        <CommandButton command={Command::Lab(LabCommand::Pull)} />
                    </p>
                }
                if plug.asks() {
                    { guess(&store, field) }
                } else {
                    { outcomes(&store, field) }
                    { cells(&store, field) }
                    { chosen(&store, field) }
                }
            </div>
        </section>
    }
}

fn button(words: &'static str, act: impl Fn() + 'static) -> Html {
    html! { <button type="button" onclick={Callback::from(move |_| act())}>{ words }</button> }
}

/// How many disks there are, and how many of them were looked at.
fn covered(store: &Store, field: &FieldView, more: bool) -> Html {
    let found = (field.states.len() as u64).saturating_add(field.more_states);
    let disks = disks(field.log2_disks);
    let of = match field.atoms {
        1 => "1 part of a write is".to_owned(),
        n => format!("{} parts of writes are", format::grouped(n)),
    };
    let words = match (field.atoms, field.complete) {
        (0, _) => "Everything that was written is safe: there is one disk".to_owned(),
        (_, true) => format!(
            "{of} not safe: {disks}. Recovery and what is asked tell {} apart; every disk is one of them",
            format::count(found, "state")
        ),
        (_, false) => format!(
            "{of} not safe: {disks}. {} found so far, {} of all disks",
            format::count(found, "state"),
            share(field.share)
        ),
    };
    let stop = {
        let store = store.clone();
        move || store.engine.enough()
    };
    html! {
        <p class="covered" aria-live="polite">
            { words }
            if field.coarse { { " (so much is not safe that writes are taken as whole, or the oldest as safe)" } }
            if more { { " · looking… " }{ button("Stop", stop) } }
        </p>
    }
}

/// A number of disks, given as a power of two.
fn disks(log2: f64) -> String {
    if log2 < 20.0 {
        let n = log2.exp2().round() as u64;
        return format!("{} possible", format::count(n, "disk"));
    }
    format!("2^{log2:.0} possible disks")
}

fn share(share: f64) -> String {
    match share * 100.0 {
        p if p >= 99.95 => "nearly 100 %".into(),
        p if p >= 0.1 => format!("{p:.1} %"),
        p if p > 0.0 => format!("less than 0.1 % ({p:.0e} %)"),
        _ => "none".into(),
    }
}

/// What an outcome is called.
fn name(field: &FieldView, o: &OutcomeView) -> String {
    let class = o.class.and_then(|c| field.classes.get(c as usize)).cloned();
    let wrong = match o.taken {
        Taken::Good if class.is_none() => Some("as it should be".to_owned()),
        Taken::Good => None,
        Taken::Damaged => Some("filesystem damaged".into()),
        Taken::Unmountable => Some("cannot be mounted".into()),
        Taken::Broken => {
            let broken = o
                .broken
                .iter()
                .filter_map(|b| field.expectations.get(*b as usize));
            let broken: Vec<&str> = broken.map(String::as_str).collect();
            match broken.is_empty() {
                true => Some("a condition cannot be told".into()),
                false => Some(format!("breaks “{}”", broken.join("”, “"))),
            }
        }
    };
    class
        .into_iter()
        .chain(wrong)
        .collect::<Vec<_>>()
        .join(", ")
}

/// The mark of an outcome: a letter, and a class for its colour and pattern.
fn mark(nr: u32, o: &OutcomeView) -> (char, Classes) {
    let letter = char::from(b'A' + (nr % 26) as u8);
    let look = format!("look{}", o.class.unwrap_or(nr) % LOOKS);
    let bad = (o.taken != Taken::Good).then_some("wrong");
    (letter, classes!("state-mark", look, bad))
}

fn outcomes(store: &Store, field: &FieldView) -> Html {
    let plug = &store.state.lab.plug;
    let row = |(nr, o): (u32, &OutcomeView)| {
        let (letter, class) = mark(nr, o);
        let to = store.clone();
        let onclick = Callback::from(move |_| to.plug(PlugAction::Filter(Some(nr))));
        let on = plug.filter == Some(nr);
        let share = match field.complete {
            true => share(o.share),
            false => String::new(),
        };
        html! {
            <li>
                <button type="button" class="outcome" aria-pressed={on.to_string()} {onclick}
                    title={o.words.join("; ")}>
                    <i {class} aria-hidden="true">{ letter }</i>
                    <span>{ name(field, o) }</span>
                    <span class="figure soft">{ format::count(o.states, "state") }{ " " }{ share }</span>
                </button>
            </li>
        }
    };
    html! {
        <>
            { guessed(store, field) }
            <ul class="outcomes" aria-label="What can be found">{ for (0u32..).zip(&field.outcomes).map(row) }</ul>
        </>
    }
}

/// One square a state, those that need least lost first.
fn cells(store: &Store, field: &FieldView) -> Html {
    let plug = &store.state.lab.plug;
    let mut all: Vec<(u32, u32)> = (0u32..)
        .zip(&field.states)
        .filter(|(_, s)| plug.filter.is_none_or(|f| f == s.outcome))
        .map(|(nr, s)| (s.lost, nr))
        .collect();
    all.sort_unstable();
    let more = (all.len().saturating_sub(CELLS)) as u64 + field.more_states;
    let cell = |&(lost, nr): &(u32, u32)| {
        let state = field.states[nr as usize];
        let (letter, class) = field
            .outcomes
            .get(state.outcome as usize)
            .map_or((' ', classes!()), |o| mark(state.outcome, o));
        let to = store.clone();
        let onclick = Callback::from(move |_| choose(&to, Some(nr)));
        let on = plug.chosen == Some(nr);
        let outcome = field.outcomes.get(state.outcome as usize);
        let title = format!(
            "State {nr}: {}; {}",
            outcome.map_or_else(String::new, |o| name(field, o)),
            match lost {
                0 => "nothing has to be lost".to_owned(),
                n => format!("{} lost", format::count(u64::from(n), "part")),
            }
        );
        html! {
            <button type="button" class={class} aria-pressed={on.to_string()} aria-label={title.clone()} {title} {onclick}>{ letter }</button>
        }
    };
    html! {
        <>
            <div class="state-field" role="group" aria-label="States, those with least lost first">
                { for all.iter().take(CELLS).map(cell) }
            </div>
            if more > 0 { <p class="soft">{ format!("and {}", format::count(more, "more state")) }</p> }
        </>
    }
}

/// Tells of a state.
pub fn choose(store: &Store, state: Option<u32>) {
    store.plug(PlugAction::Choose(state));
    if let Some(state) = state {
        store.engine.ask_state(state);
    }
}

fn chosen(store: &Store, field: &FieldView) -> Html {
    let plug = &store.state.lab.plug;
    let Some(nr) = plug.chosen else {
        return html! { <p class="soft">{ "Choose a state to see what was lost in it, and to open its disk" }</p> };
    };
    let Some(words) = &plug.words else {
        return html! { <p class="soft">{ format!("State {nr}…") }</p> };
    };
    let outcome = field.outcomes.get(words.outcome as usize);
    let open = |recovered: bool| {
        let store = store.clone();
        move || store.engine.open_state(nr, recovered)
    };
    let save = {
        let store = store.clone();
        move || store.engine.export(Export::State(nr))
    };
    let back = {
        let (store, event) = (store.clone(), field.event);
        move || {
            store.plug(PlugAction::Open(None));
            store.engine.show_again(event);
        }
    };
    let mountable = outcome.is_none_or(|o| o.taken != Taken::Unmountable);
    html! {
        <section class="state-told" aria-live="polite">
            <h3>{ format!("State {nr}") }<span>{ outcome.map(|o| name(field, o)) }</span></h3>
            <p class="say">{ words.sentence.clone() }</p>
            if let Some(o) = outcome {
                { for o.words.iter().map(|w| html! { <p class="bad-words">{ format!("✕ {w}") }</p> }) }
                <p class="soft">{ match o.replayed {
                    0 => "Recovery replayed nothing".to_owned(),
                    n => format!("Recovery replayed {}", format::count(u64::from(n), "transaction")),
                } }</p>
            }
            <p class="buttons">
                { button("Open the disk before recovery", open(false)) }
                if mountable { { button("Open it after recovery", open(true)) } }
                { button("Save it as an image", save) }
                if plug.open.is_some() { { button("Back to the run", back) } }
            </p>
            if let Some((_, recovered)) = plug.open {
                <p class="note">{ if recovered { "The pictures of blocks, files and groups show this disk after its recovery" } else { "The pictures of blocks, files and groups show this disk as the power cut left it" } }</p>
            }
            { decisions(words) }
        </section>
    }
}

fn decisions(words: &Rc<StateWords>) -> Html {
    if words.decisions.is_empty() {
        return html! {};
    }
    let row = |(what, kept): &(String, bool)| {
        let (sign, class, said) = match kept {
            true => ("✓", "kept", "reached the disk"),
            false => ("✕", "lost", "was lost"),
        };
        html! { <li {class}><i aria-hidden="true">{ sign }</i><span>{ what.clone() }</span><span class="soft">{ said }</span></li> }
    };
    html! {
        <details>
            <summary>{ format!("What decides it, in the order in which it was read ({})", words.decisions.len() as u64 + words.more_decisions) }</summary>
            <ol class="decisions">{ for words.decisions.iter().map(row) }</ol>
            if words.more_decisions > 0 { <p class="soft">{ format!("and {} more", format::grouped(words.more_decisions)) }</p> }
        </details>
    }
}

/// Asks what the visitor thinks before it is shown.
fn guess(store: &Store, field: &FieldView) -> Html {
    let plug = &store.state.lab.plug;
    let other = field.classes.len() as u32;
    let box_of = |(nr, words): (u32, String)| {
        let to = store.clone();
        let onchange = Callback::from(move |_| to.plug(PlugAction::Guess(nr)));
        html! {
            <li><label><input type="checkbox" checked={plug.guess.contains(&nr)} {onchange} />{ words }</label></li>
        }
    };
    let named = (0u32..).zip(field.classes.iter().cloned());
    let reveal = {
        let store = store.clone();
        move || store.plug(PlugAction::Reveal)
    };
    html! {
        <fieldset class="guess">
            <legend>{ "What can be found after this power cut? Think first, then look" }</legend>
            <ul>{ for named.chain([(other, "something else".to_owned())]).map(box_of) }</ul>
            { button("Look", reveal) }
        </fieldset>
    }
}

/// What was thought, beside what is so.
fn guessed(store: &Store, field: &FieldView) -> Html {
    let plug = &store.state.lab.plug;
    if plug.guess.is_empty() || !field.complete && plug.more {
        return html! {};
    }
    let other = field.classes.len() as u32;
    let there = |nr: u32| {
        field
            .outcomes
            .iter()
            .any(|o| o.class.unwrap_or(other) == nr)
    };
    let named = (0u32..).zip(field.classes.iter().map(String::as_str));
    let row = |(nr, words): (u32, &str)| {
        let (thought, is) = (plug.guess.contains(&nr), there(nr));
        let said = match (thought, is) {
            (true, true) => "✓ as you thought, it can be found",
            (true, false) => "✕ you thought so, and it cannot be found",
            (false, true) => "✕ it can be found, which you did not think",
            (false, false) => return html! {},
        };
        html! { <li><b>{ words.to_owned() }</b>{ ": " }{ said }</li> }
    };
    html! { <ul class="guessed" aria-label="What you thought">{ for named.chain([(other, "something else")]).map(row) }</ul> }
}
