//! Keeps the address and the state together.

use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use wasm_bindgen::JsValue;
use yew::prelude::*;

use crate::room::Room;
use crate::route::Address;
use crate::samples;
use crate::store::{Action, Source, State, Store};

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
    let title = match (&store.state.image.source, store.state.lab.info()) {
        (_, Some(run)) if store.state.room == Room::Lab => format!("{} · fslab", run.title),
        (Some(source), _) => format!("{} · fslab", source.name()),
        (None, _) => "fslab".to_owned(),
    };
    use_effect_with(title, |title| gloo::utils::document().set_title(title));

    let now = Address::of(&store.state);
    let store_room = store.state.room;
    // What a new visitor did not ask for is no step to go back over.
    let quiet = store.state.welcome;
    // The first state knows nothing of the address yet.
    let known = store.state.image.source.is_some() || store.state.room == Room::Explore;
    use_effect_with((now, quiet, known), move |(now, quiet, known)| {
        let (now, quiet, known) = (now.clone(), *quiet, *known);
        let go = move || {
            if !known {
                return;
            }
            let before = written.borrow_mut().replace(now.clone());
            let text = now.to_fragment();
            if text != fragment() {
                let step = before.is_some_and(|before| {
                    let unasked = quiet && before.source.is_none();
                    before.is_step_to(&now) && !unasked
                });
                write(&text, step);
            }
        };
        // A run is gone through faster than a browser lets an address change.
        let wait = (store_room == Room::Lab).then_some(SETTLE);
        let timer = match wait {
            Some(ms) => Some(Timeout::new(ms, go)),
            None => {
                go();
                None
            }
        };
        move || drop(timer)
    });
}

/// How long the Lab has to rest before the address follows, ms.
const SETTLE: u32 = 300;

/// The address that leads to what is shown, as a whole; why there is none otherwise.
pub fn absolute(state: &State) -> Result<String, String> {
    let place = crate::route::LabPlace::of(state);
    if let crate::route::LabSource::Text(text) = &place.source {
        let link = fslab_engine::scenario::link::Link {
            text: text.to_string(),
            ..Default::default()
        };
        fslab_engine::scenario::link::encode(&link).map_err(|e| e.to_string())?;
    }
    let at = Address::of(state).to_fragment();
    let href = gloo::utils::window().location().href().unwrap_or_default();
    let base = href.split('#').next().unwrap_or_default();
    Ok(format!("{base}{at}"))
}

/// Opens what the address names; for a visitor who asked for nothing, a sample.
fn begin(store: &Store) {
    let at = Address::parse(&fragment());
    if let Some(place) = at.lab.clone() {
        store.engine.open_lab(place);
        store.act(Action::Place(at));
        return;
    }
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
