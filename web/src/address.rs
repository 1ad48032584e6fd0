//! Keeps the address and the state together.

use gloo::events::EventListener;
use wasm_bindgen::JsValue;
use yew::prelude::*;

use crate::route::Address;
use crate::samples;
use crate::store::{Action, Source, Store};

/// Follows the address when the visitor changes it, and writes it when the state changes.
#[hook]
pub fn use_address(store: &Store) {
    let written = use_mut_ref(|| None::<Address>);
    // Where the page was opened.
    {
        let store = store.clone();
        use_effect_with((), move |()| begin(&store));
    }
    // Back and forward, and what is typed into the address.
    {
        let (current, written) = (use_mut_ref(|| store.clone()), written.clone());
        *current.borrow_mut() = store.clone();
        use_effect_with((), move |()| {
            let listener = EventListener::new(&gloo::utils::window(), "popstate", move |_| {
                let store = current.borrow().clone();
                let at = Address::parse(&fragment());
                *written.borrow_mut() = Some(at.clone());
                store.engine.go(at, &store.state);
            });
            move || drop(listener)
        });
    }
    let title = match &store.state.image.source {
        Some(source) => format!("{} · fslab", source.name()),
        None => "fslab".to_owned(),
    };
    use_effect_with(title, |title| gloo::utils::document().set_title(title));

    let now = Address::of(&store.state);
    let quiet = store.state.welcome;
    use_effect_with((now, quiet), move |(now, quiet)| {
        let mut written = written.borrow_mut();
        let text = now.to_fragment();
        // The first state knows nothing of the address yet.
        if let Some(before) = written.replace(now.clone())
            && text != fragment()
        {
            // What a new visitor did not ask for is no step to go back over.
            let unasked = *quiet && before.source.is_none();
            write(&text, before.is_step_to(now) && !unasked);
        }
    });
}

/// Opens what the address names; for a visitor who asked for nothing, a sample.
fn begin(store: &Store) {
    let at = Address::parse(&fragment());
    if at.source.is_some() {
        store.engine.open_address(at);
        return;
    }
    if let Some(sample) = samples::SAMPLES.first() {
        store.engine.open_address(Address {
            source: Some(Source::Sample(sample.name.into())),
            ..Address::default()
        });
        store.act(Action::Welcome(true));
    }
}

fn fragment() -> String {
    gloo::utils::window().location().hash().unwrap_or_default()
}

fn write(text: &str, step: bool) {
    let window = gloo::utils::window();
    // An empty fragment still has to replace the one that is there.
    let target = match text {
        "" => window.location().pathname().unwrap_or_default(),
        text => text.to_owned(),
    };
    let Ok(history) = window.history() else {
        return;
    };
    let done = if step {
        history.push_state_with_url(&JsValue::NULL, "", Some(&target))
    } else {
        history.replace_state_with_url(&JsValue::NULL, "", Some(&target))
    };
    if let Err(error) = done {
        // Browsers refuse when there are too many in too short a time: the address then
        // lags behind, and the next change catches up.
        web_sys::console::warn_1(&error);
    }
}
