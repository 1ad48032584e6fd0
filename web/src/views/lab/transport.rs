//! Buttons to go through time, and where in it one is.

use fslab_engine::machine::End;
use fslab_engine::view::lab::Axis;
use web_sys::{HtmlInputElement, SubmitEvent};
use yew::prelude::*;

use crate::command::Command;
use crate::format;
use crate::lab_command::{LabCommand, find};
use crate::store::{LabAction, LabState, SPEEDS, Store, use_store};
use crate::views::header::CommandButton;
use crate::worker::lab::Ending;

/// What can be sought without knowing the words.
const PRESETS: [(&str, &str); 10] = [
    ("commit", "a transaction is committed"),
    ("kind=Flushed", "the device is told to flush"),
    ("error", "something goes wrong"),
    ("kind=Call", "a call is made"),
    ("kind=Allocated", "blocks are taken"),
    ("kind=ExtentInserted", "an extent is added"),
    ("kind=ExtentSplit", "an extent splits"),
    ("kind=DataWritten", "contents are sent to the device"),
    ("kind=TailMoved", "room in the log is free again"),
    ("dirty_pages>16", "more than 16 pages are dirty"),
];

/// The bar of buttons.
#[component]
pub fn Transport() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let button = |command: LabCommand, words: &'static str| {
        html! { <CommandButton command={Command::Lab(command)} {words} /> }
    };
    html! {
        <div class="transport" role="toolbar" aria-label="Transport">
            <div class="buttons">
                { button(LabCommand::Start, "|◀") }
                { button(LabCommand::Back, "1 ◀") }
                <CommandButton command={Command::Lab(LabCommand::Play)} class={classes!("play")}
                    words={if lab.playing { "❚❚ Pause" } else { "▶ Play" }} />
                { button(LabCommand::On, "▶ 1") }
                { button(LabCommand::End, "▶|") }
            </div>
            <div class="buttons speed">
                { button(LabCommand::Slower, "−") }
                <span class="figure" title={speed_help(lab.axis)}>{ speed(lab) }</span>
                { button(LabCommand::Faster, "+") }
            </div>
            <CommandButton command={Command::Lab(LabCommand::Pull)} class={classes!("pull")} />
            <Where />
            <Find />
            <div class="buttons more-buttons">
                <CommandButton command={Command::Lab(LabCommand::Axis)} pressed={lab.axis == Axis::Time} />
                <CommandButton command={Command::Lab(LabCommand::Bookmark)}
                    pressed={lab.bookmarks.contains(&lab.event())} />
                <CommandButton command={Command::Lab(LabCommand::Fork)} />
            </div>
        </div>
    }
}

fn speed(lab: &LabState) -> String {
    let speed = SPEEDS[lab.speed.min(SPEEDS.len() - 1)];
    match lab.axis {
        Axis::Events => format!("{speed} steps/s"),
        Axis::Time => format!("{speed} ms/s"),
    }
}

fn speed_help(axis: Axis) -> &'static str {
    match axis {
        Axis::Events => "Steps of the machine for each second that passes here",
        Axis::Time => "Simulated milliseconds for each second that passes here",
    }
}

/// Where one is, in words; told to screen readers when it rests.
#[component]
fn Where() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let (Some(frame), Some(run)) = (&lab.frame, lab.info()) else {
        return html! { <p class="where" /> };
    };
    let said = frame.events.iter().find(|e| e.id == frame.event);
    let words = match (&lab.note, said) {
        (Some(note), _) => note.to_string(),
        (None, Some(event)) => event.words.clone(),
        (None, None) => String::new(),
    };
    let live = if lab.playing { "off" } else { "polite" };
    let at_end = frame.event + 1 >= run.end;
    let over = ending(run.ending).filter(|_| at_end);
    html! {
        <p class="where" aria-live={live} data-complete={run.ending.map(|_| "true")}
            data-hash={format!("{:016x}", run.hash)} title={format!("Hash of all events: {:016x}", run.hash)}>
            <span class="figure">
                { format!("event {} of {} · {}", format::grouped(frame.event), format::grouped(run.end), format::time(frame.time_ns)) }
            </span>
            <span class={classes!("soft", lab.note.is_some().then_some("note"))}>{ words }</span>
            if let Some(over) = over { <span class="ending">{ over }</span> }
        </p>
    }
}

fn ending(ending: Option<Ending>) -> Option<String> {
    match ending? {
        Ending::Ended(End::Finished) => Some("The run is over".into()),
        Ending::Ended(end) => Some(end.to_string()),
        Ending::Stopped => Some("Recording was stopped here".into()),
    }
}

/// What is sought, and the ways there.
#[component]
fn Find() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let oninput = {
        let store = store.clone();
        Callback::from(move |event: InputEvent| {
            let input: HtmlInputElement = event.target_unchecked_into();
            store.lab(LabAction::Find(input.value().into()));
        })
    };
    let onsubmit = {
        let store = store.clone();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            find(&store, false);
        })
    };
    let go = |back: bool, words: &'static str, command: LabCommand, store: &Store| {
        let to = store.clone();
        let onclick = Callback::from(move |_| find(&to, back));
        html! {
            <button type="button" {onclick} aria-label={command.name()}
                title={format!("{} ({})", command.help(), command.key().1)}>{ words }</button>
        }
    };
    html! {
        <form class="find" {onsubmit} role="search">
            <label for="condition">{ "Stop at" }</label>
            <input id="condition" type="search" list="conditions" value={lab.find.to_string()} {oninput}
                placeholder={crate::lab_command::USUAL} autocomplete="off" spellcheck="false" />
            <datalist id="conditions">
                { for PRESETS.iter().map(|(value, words)| html! { <option value={*value}>{ *words }</option> }) }
            </datalist>
            { go(true, "◀", LabCommand::FindBack, &store) }
            { go(false, "▶", LabCommand::FindOn, &store) }
        </form>
    }
}
