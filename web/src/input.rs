//! What works everywhere on the page: keys, and files that are dropped.

use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast as _;
use web_sys::{DragEvent, Element, HtmlElement, KeyboardEvent};
use yew::prelude::*;

use crate::command::Command;
use crate::store::Store;
use crate::views::pick;

/// Runs the commands of keys that nothing else on the page takes.
#[hook]
pub fn use_keys(store: &Store) {
    let current = use_mut_ref(|| store.clone());
    *current.borrow_mut() = store.clone();
    use_effect_with((), move |()| {
        let options = EventListenerOptions::enable_prevent_default();
        let window = gloo::utils::window();
        let listener = EventListener::new_with_options(&window, "keydown", options, move |event| {
            if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                press(&current.borrow().clone(), event);
            }
        });
        move || drop(listener)
    });
}

fn press(store: &Store, event: &KeyboardEvent) {
    if event.default_prevented() || event.alt_key() {
        return;
    }
    let code = held(event);
    if let Some(writing) = writing(event) {
        // Escape leaves the input; every other key is written into it.
        if event.code() == "Escape" && writing.blur().is_ok() {
            event.prevent_default();
        } else if code == "Ctrl+Enter" {
            run(store, event, &code);
        }
        return;
    }
    // What has the focus takes these for itself.
    if matches!(event.code().as_str(), "Space" | "Enter") && is_pressed_by_keys(event) {
        return;
    }
    // The dialog closes itself by Escape, and has nothing to do with other keys.
    if store.state.help && event.key() != "?" {
        return;
    }
    run(store, event, &code);
}

fn run(store: &Store, event: &KeyboardEvent, code: &str) {
    let room = store.state.room;
    // With Ctrl held a key means what the browser does with it, unless it is ours by name.
    let key = if code.starts_with("Ctrl+") {
        String::new()
    } else {
        event.key()
    };
    if let Some(command) = Command::of_key(room, code, &key)
        && command.is_possible(&store.state)
    {
        event.prevent_default();
        command.run(store);
    }
}

/// A key's code, after what is held down with it.
fn held(event: &KeyboardEvent) -> String {
    let code = event.code();
    if event.ctrl_key() || event.meta_key() {
        format!("Ctrl+{code}")
    } else if event.shift_key() {
        format!("Shift+{code}")
    } else {
        code
    }
}

/// Whether what has the focus is pressed by Space and Enter.
fn is_pressed_by_keys(event: &KeyboardEvent) -> bool {
    let element = event.target().and_then(|t| t.dyn_into::<Element>().ok());
    element.is_some_and(|e| matches!(e.tag_name().as_str(), "BUTTON" | "A" | "SUMMARY"))
}

/// The input that a key is written into.
fn writing(event: &KeyboardEvent) -> Option<HtmlElement> {
    let element: Element = event.target()?.dyn_into().ok()?;
    let tag = element.tag_name();
    let writes = matches!(tag.as_str(), "INPUT" | "TEXTAREA" | "SELECT");
    writes.then(|| element.dyn_into().ok()).flatten()
}

/// Whether files are dragged, rather than a text or a link of some page.
fn holds_files(event: &DragEvent) -> bool {
    let types = event.data_transfer().map(|data| data.types());
    types.is_some_and(|types| types.includes(&"Files".into(), 0))
}

/// Opens files that are dropped anywhere; tells whether one is being dragged over the page.
#[hook]
pub fn use_drops(store: &Store) -> bool {
    let dragging = use_state_eq(|| false);
    let current = use_mut_ref(|| store.clone());
    *current.borrow_mut() = store.clone();
    {
        let dragging = dragging.clone();
        use_effect_with((), move |()| {
            let on = |name: &'static str, does: Box<dyn Fn(&DragEvent)>| {
                let options = EventListenerOptions::enable_prevent_default();
                let window = gloo::utils::window();
                EventListener::new_with_options(&window, name, options, move |event| {
                    if let Some(event) = event.dyn_ref::<DragEvent>() {
                        does(event);
                    }
                })
            };
            let (over, leave) = (dragging.clone(), dragging.clone());
            let listeners = [
                on(
                    "dragover",
                    Box::new(move |event| {
                        event.prevent_default();
                        over.set(holds_files(event));
                    }),
                ),
                on(
                    "dragleave",
                    Box::new(move |event| {
                        // Leaving for nothing is leaving the window.
                        if event.related_target().is_none() {
                            leave.set(false);
                        }
                    }),
                ),
                on(
                    "drop",
                    Box::new(move |event| {
                        event.prevent_default();
                        dragging.set(false);
                        if let Some(file) = pick::dropped(event) {
                            let store = current.borrow().clone();
                            store.engine.open_file(file, &store.state);
                        }
                    }),
                ),
            ];
            move || drop(listeners)
        });
    }
    *dragging
}
