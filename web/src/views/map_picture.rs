//! The block map with its heading, its legend, and how far the scan is.

use yew::prelude::*;

use super::progress::Progress;
use crate::format;
use crate::store::{MapState, State, use_store};

/// The block map.
#[component]
pub fn MapPicture() -> Html {
    let store = use_store();
    html! {
        <section class="picture map" aria-label="Block map">
            <h2>{ "Blocks" }<span>{ note(&store.state) }</span></h2>
            <Scan />
            <p class="hint">{ "(map)" }</p>
        </section>
    }
}

fn note(state: &State) -> Option<String> {
    let opened = state.opened()?;
    Some(format!(
        "{} of {}",
        format::count(opened.summary.blocks, "block"),
        format::bytes(opened.summary.block_size.into())
    ))
}

/// How far the scan is; nothing once it is complete.
#[component]
fn Scan() -> Html {
    let store = use_store();
    let engine = store.engine.clone();
    match store.state.map {
        MapState::Complete(_) => html! {},
        MapState::None => html! {
            <Progress label="Scan" done={0} of={0} words="Looking who owns each block" cancel=true />
        },
        MapState::Scanning {
            cancelled: true, ..
        } => {
            let again = Callback::from(move |_| engine.scan());
            html! {
                <div class="progress" role="status">
                    <span>{ "The scan was cancelled: not every owner is known" }</span>
                    <button type="button" onclick={again}>{ "Scan again" }</button>
                </div>
            }
        }
        MapState::Scanning { done, of, .. } => html! {
            <Progress label="Scan" {done} {of} cancel=true
                words={format!("Looking who owns each block: {}", format::percent(done, of))} />
        },
    }
}
