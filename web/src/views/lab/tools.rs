//! The Lab's part of the bar on top: sharing and saving.

use js_sys::JsString;
use yew::prelude::*;

use crate::command::Command;
use crate::lab_command::LabCommand;
use crate::store::{LabAction, Store, download_bytes, use_store};
use crate::views::header::CommandButton;
use crate::worker::lab::Export;

/// Sharing and saving.
#[component]
pub fn LabTools() -> Html {
    let store = use_store();
    let open = store.state.lab.menu;
    let toggle = {
        let store = store.clone();
        Callback::from(move |_| store.lab(LabAction::Menu(!open)))
    };
    let possible = store.state.lab.frame.is_some();
    html! {
        <>
            <CommandButton command={Command::Lab(LabCommand::Share)} />
            <div class="menu">
                <button type="button" aria-expanded={open.to_string()} aria-controls="save-menu"
                    disabled={!possible} onclick={toggle}>{ "Save…" }</button>
                if open {
                    <ul id="save-menu">
                        { item(&store, "Events as text", Export::EventsText) }
                        { item(&store, "Events as JSON lines", Export::EventsJson) }
                        { item(&store, "Counters as CSV", Export::Counters) }
                        { item(&store, "The disk at this event, as an image", Export::Disk) }
                        { scenario(&store) }
                    </ul>
                }
            </div>
        </>
    }
}

fn item(store: &Store, words: &'static str, what: Export) -> Html {
    let store = store.clone();
    let onclick = Callback::from(move |_| {
        store.engine.export(what);
        store.lab(LabAction::Menu(false));
    });
    html! { <li><button type="button" class="link" {onclick}>{ words }</button></li> }
}

fn scenario(store: &Store) -> Html {
    let store = store.clone();
    let onclick = Callback::from(move |_| {
        download_bytes(&JsString::from(&*store.state.lab.text), "scenario.toml");
        store.lab(LabAction::Menu(false));
    });
    html! { <li><button type="button" class="link" {onclick}>{ "The scenario" }</button></li> }
}
