//! The room for an image that somebody has: files, pictures, and the selection explained.

use yew::prelude::*;

use super::files::Files;
use super::search::Search;
use super::selection::SelectionColumn;
use super::stage::{More, Stage};
use super::start::Start;
use crate::format;
use crate::store::{Action, Focus, Pane, View, use_store};

/// The room.
#[component]
pub fn Explore() -> Html {
    let store = use_store();
    if store.state.opened().is_none() {
        return html! { <Start /> };
    }
    let pane = store.state.pane;
    html! {
        <>
            <main class={classes!("explore", pane_class(pane))} id="main">
                <section class="side files" aria-label="Files">
                    <Search />
                    <Files />
                </section>
                <Stage />
                <SelectionColumn />
                <More />
            </main>
            <Strip />
            <Panes />
        </>
    }
}

const PANES: [Pane; 4] = [Pane::Stage, Pane::Files, Pane::Selection, Pane::More];

/// A part's name; the stage has that of the picture on it.
fn pane_name(pane: Pane, view: View) -> &'static str {
    match pane {
        // The overview has room for nothing but the map.
        Pane::Stage if view == View::Overview => View::Map.name(),
        Pane::Stage => view.name(),
        Pane::Files => "Files",
        Pane::Selection => "Selection",
        Pane::More => "More",
    }
}

fn pane_class(pane: Pane) -> &'static str {
    match pane {
        Pane::Stage => "pane-stage",
        Pane::Files => "pane-files",
        Pane::Selection => "pane-selection",
        Pane::More => "pane-more",
    }
}

/// The narrow screen's way from one part of the room to another.
#[component]
fn Panes() -> Html {
    let store = use_store();
    let view = store.state.view;
    let button = |pane: Pane| {
        let (to, on) = (store.clone(), store.state.pane == pane);
        let onclick = Callback::from(move |_| to.act(Action::Pane(pane)));
        html! {
            <button type="button" aria-current={on.then_some("true")} {onclick}>{ pane_name(pane, view) }</button>
        }
    };
    html! { <nav class="panes" aria-label="Parts of the room">{ for PANES.into_iter().map(button) }</nav> }
}

/// What is chosen in the map, in a line, where there is no room for its explanation.
#[component]
fn Strip() -> Html {
    let store = use_store();
    let selection = store.state.selection;
    if store.state.pane != Pane::Stage || selection.focus() == Focus::Filesystem {
        return html! {};
    }
    let owner = selection.inode.map(|nr| store.title(nr));
    let kind = selection
        .block
        .and_then(|nr| store.state.map.map()?.at(nr))
        .map(|run| run.kind.words());
    let what = match selection.focus() {
        Focus::Block(nr) => format!("Block {}", format::grouped(nr)),
        Focus::Inode(nr) => format!("Inode {nr}"),
        Focus::Group(nr) => format!("Group {nr}"),
        Focus::Filesystem => String::new(),
    };
    let words = [Some(what), kind.map(str::to_owned), owner];
    let words: Vec<_> = words.into_iter().flatten().collect();
    let explain = Callback::from(move |_| store.act(Action::Pane(Pane::Selection)));
    html! {
        <div class="strip">
            <p>{ words.join(", ") }</p>
            <button type="button" onclick={explain}>{ "Explain" }</button>
        </div>
    }
}
