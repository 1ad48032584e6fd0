//! Choosing a file, and moving the focus.

use gloo::timers::callback::Timeout;
use wasm_bindgen::JsCast as _;
use web_sys::{File, HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::store::use_store;

/// The `id` of the page's one file input.
pub const INPUT: &str = "image-file";

/// The input behind every "Open…" and "Choose a file…".
#[component]
pub fn FileInput() -> Html {
    let store = use_store();
    let onchange = Callback::from(move |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            store.engine.open_file(file, &store.state);
        }
        // So that the same file can be chosen again.
        input.set_value("");
    });
    html! {
        <input id={INPUT} type="file" class="unseen" tabindex="-1" aria-hidden="true" {onchange} />
    }
}

/// A button that adds the file of a journal that is kept outside the filesystem.
#[component]
pub fn JournalInput() -> Html {
    let store = use_store();
    let node = use_node_ref();
    let onchange = Callback::from(move |event: Event| {
        let input: HtmlInputElement = event.target_unchecked_into();
        if let Some(file) = input.files().and_then(|files| files.get(0)) {
            store.engine.open_journal(&file);
        }
        input.set_value("");
    });
    let onclick = {
        let node = node.clone();
        Callback::from(move |_| {
            if let Some(input) = node.cast::<HtmlInputElement>() {
                input.click();
            }
        })
    };
    html! {
        <>
            <input ref={node} id="journal-file" type="file" class="unseen" tabindex="-1"
                aria-hidden="true" {onchange} />
            <button type="button" {onclick}>{ "Add the journal’s file…" }</button>
        </>
    }
}

/// Shows the system's dialog for choosing a file.
pub fn open_dialog() {
    if let Some(input) = element(INPUT) {
        input.click();
    }
}

/// Moves the focus, once what is being drawn is there.
pub fn focus_soon(id: &'static str) {
    Timeout::new(0, move || {
        if let Some(element) = element(id) {
            // An element that takes no focus leaves it where it is.
            let _ = element.focus();
        }
    })
    .forget();
}

fn element(id: &str) -> Option<HtmlElement> {
    gloo::utils::document()
        .get_element_by_id(id)?
        .dyn_into()
        .ok()
}

/// The first file of a drop.
pub fn dropped(event: &web_sys::DragEvent) -> Option<File> {
    event.data_transfer()?.files()?.get(0)
}
