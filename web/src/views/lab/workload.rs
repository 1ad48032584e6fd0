//! The left column: which scenario, its text, and its processes.

use std::rc::Rc;

use fslab_engine::machine::Doing;
use fslab_engine::view::lab::{OpenRow, ProcessView};
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::editor::Editor;
use crate::command::Command;
use crate::format;
use crate::lab_command::LabCommand;
use crate::lessons::LESSONS;
use crate::store::{LabAction, LabState, Selection, Store, use_store};
use crate::views::header::CommandButton;

/// The column.
#[component]
pub fn Workload() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    html! {
        <section class="side workload" aria-label="Workload">
            <Picker />
            if let Some(run) = lab.info().filter(|run| !run.about.is_empty()) {
                <p class="about" tabindex="0" role="region" aria-label="About the scenario">{ run.about.trim().to_owned() }</p>
            }
            <Editor />
            <Mistakes />
            <Processes />
        </section>
    }
}

/// The scenarios, and what is done with the text.
#[component]
fn Picker() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let onchange = {
        let store = store.clone();
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            choose(&store, &select.value());
        })
    };
    let own = lab.lesson.is_none();
    let option = |lesson: &crate::lessons::Lesson| {
        let on = lab.lesson.as_deref() == Some(lesson.name);
        html! { <option value={lesson.name} selected={on}>{ lesson.title }</option> }
    };
    let edited = lab.is_edited();
    html! {
        <div class="picker">
            <select aria-label="Scenario" {onchange}>
                if own { <option value="" selected=true>{ "A scenario of your own" }</option> }
                { for LESSONS.iter().map(option) }
            </select>
            <label class="file-button">
                { "Open…" }
                <input type="file" class="unseen" id="scenario-file" accept=".toml,.txt"
                    onchange={open_file(&store)} />
            </label>
            <CommandButton command={Command::Lab(LabCommand::Run)}
                class={classes!(edited.then_some("main-button"))}
                words={if edited { "Run the changed text" } else { "Run" }} />
            if let Some(run) = lab.info().filter(|run| run.ending.is_none()) {
                <span class="soft figure" role="status">{ format!("Recording, {} events", format::grouped(run.end)) }</span>
                <CommandButton command={Command::Lab(LabCommand::Stop)} words="Stop" />
            }
            { runs(&store) }
        </div>
    }
}

fn choose(store: &Store, name: &str) {
    let Some(lesson) = LESSONS.iter().find(|lesson| lesson.name == name) else {
        return;
    };
    let text: Rc<str> = lesson.text.into();
    store.lab(LabAction::Lesson(
        Some(lesson.name.into()),
        Rc::clone(&text),
    ));
    store.engine.run_text(text, None);
}

/// Reads a scenario of the visitor's.
fn open_file(store: &Store) -> Callback<Event> {
    let store = store.clone();
    Callback::from(move |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        let Some(file) = input.files().and_then(|files| files.get(0)) else {
            return;
        };
        input.set_value("");
        let store = store.clone();
        wasm_bindgen_futures::spawn_local(async move {
            let text = wasm_bindgen_futures::JsFuture::from(file.text()).await;
            let text = text.ok().and_then(|text| text.as_string());
            match text {
                Some(text) => {
                    let text: Rc<str> = text.into();
                    store.lab(LabAction::Lesson(None, Rc::clone(&text)));
                    store.engine.run_text(text, None);
                }
                None => store.lab(LabAction::Note(Some("The file cannot be read".into()))),
            }
        });
    })
}

/// The runs there are, where there are several.
fn runs(store: &Store) -> Html {
    let lab = &store.state.lab;
    if lab.runs.len() < 2 {
        return html! {};
    }
    let onchange = {
        let store = store.clone();
        Callback::from(move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            let Ok(nr) = select.value().parse::<u32>() else {
                return;
            };
            let run = store.state.lab.runs.iter().find(|run| run.nr == nr);
            if let Some(run) = run {
                let event = store.state.lab.event().clamp(run.first, run.end.max(1) - 1);
                store.lab(LabAction::Text(Rc::clone(&run.text)));
                store.engine.switch_run(nr, event);
            }
        })
    };
    let option = |run: &crate::store::RunInfo| {
        let from = run.parent.map_or_else(String::new, |(nr, event)| {
            format!(", from run {nr} at {}", format::grouped(event))
        });
        html! {
            <option value={run.nr.to_string()} selected={run.nr == lab.run}>{ format!("Run {}: {}{from}", run.nr, run.title) }</option>
        }
    };
    html! {
        <select class="runs" aria-label="Run" {onchange}>{ for lab.runs.iter().map(option) }</select>
    }
}

/// What is wrong with the text, each with a way there.
#[component]
fn Mistakes() -> Html {
    let store = use_store();
    let mistakes = &store.state.lab.mistakes;
    let item = |m: &crate::worker::lab::Mistake| {
        let words = match m.line {
            0 => format::sentence(&m.words),
            line => format!("Line {line}: {}", m.words),
        };
        html! { <li>{ "✕ " }{ words }</li> }
    };
    html! {
        <div role="status" class="mistakes-box">
            if !mistakes.is_empty() {
                <ul class="mistakes" id="mistakes">{ for mistakes.iter().take(8).map(item) }</ul>
            }
        </div>
    }
}

/// Processes with what they do, their variables and their open files.
#[component]
fn Processes() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let Some(frame) = &lab.frame else {
        return html! {};
    };
    html! {
        <div class="processes">
            { for frame.processes.iter().map(|p| process(&store, lab, p, &frame.open)) }
        </div>
    }
}

fn process(store: &Store, lab: &LabState, p: &ProcessView, open: &[OpenRow]) -> Html {
    let edited = lab.is_edited();
    let place = if p.line > 0 && !edited && !matches!(p.doing, Doing::Ended | Doing::NotStarted) {
        format!(", line {}", p.line)
    } else {
        String::new()
    };
    let file = |row: &OpenRow| {
        let to = store.clone();
        let inode = row.inode;
        let onclick = Callback::from(move |_| to.select(Selection::inode(inode)));
        html! {
            <><dt>{ format!("fd {}", row.fd) }</dt>
            <dd><button type="button" class="link" {onclick}>{ store.title(inode) }</button>
                { format!(" at {}", format::bytes(row.offset)) }</dd></>
        }
    };
    html! {
        <section aria-label={format!("Process {}", p.name)}>
            <h2>{ &p.name }<span class="soft">{ format!("{}{place}", doing(p.doing)) }</span></h2>
            <dl class="variables">
                { for p.variables.iter().map(|(name, value)| html! {
                    <><dt>{ name.clone() }</dt><dd>{ value.clone() }</dd></>
                }) }
                { for open.iter().filter(|row| row.pid == p.pid).map(file) }
            </dl>
        </section>
    }
}

/// What a process does, in words.
pub fn doing(doing: Doing) -> &'static str {
    match doing {
        Doing::NotStarted => "has not begun",
        Doing::Running => "runs",
        Doing::Sleeping => "sleeps",
        Doing::WaitingForDevice => "waits for the device",
        Doing::WaitingForCommit => "waits for a commit",
        Doing::Ended => "has ended",
    }
}
