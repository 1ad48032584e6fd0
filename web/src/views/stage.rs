//! The middle: one picture or several, and the choice between them.

use yew::prelude::*;

use super::compare::Compare;
use super::contents::Contents;
use super::groups::Groups;
use super::header::CommandButton;
use super::journal::Journal;
use super::map_picture::MapPicture;
use super::problems::Problems;
use super::superblock::Superblock;
use super::tree::Tree;
use crate::command::Command;
use crate::store::{State, Store, View, use_store};

/// The pictures that can always be shown.
const ALWAYS: [View; 7] = [
    View::Overview,
    View::Map,
    View::Tree,
    View::Groups,
    View::Journal,
    View::Problems,
    View::Superblock,
];

/// Those that need something chosen.
const SOMETIMES: [View; 2] = [View::Contents, View::Compare];

/// Tabs, and the picture of the chosen one.
#[component]
pub fn Stage() -> Html {
    let store = use_store();
    let view = store.state.view;
    html! {
        <div class="stage">
            <div class="tabs" role="tablist" aria-label="Pictures" onkeydown={turn(&store)}>
                { for views(&store.state).map(|view| tab(&store, view)) }
            </div>
            <div class={classes!("pictures", (view == View::Overview).then_some("several"))}
                role="tabpanel" id="pictures" aria-labelledby={format!("tab-{}", crate::route::word(view))}>
                { picture(view) }
            </div>
        </div>
    }
}

fn picture(view: View) -> Html {
    match view {
        View::Overview => html! { <><MapPicture /><Tree /><Groups /></> },
        View::Map => html! { <MapPicture /> },
        View::Tree => html! { <Tree /> },
        View::Groups => html! { <Groups /> },
        View::Journal => html! { <Journal /> },
        View::Problems => html! { <Problems /> },
        View::Superblock => html! { <Superblock /> },
        View::Contents => html! { <Contents /> },
        View::Compare => html! { <Compare /> },
    }
}

fn views(state: &State) -> impl Iterator<Item = View> {
    let sometimes = SOMETIMES
        .into_iter()
        .filter(|&view| view == state.view || Command::Show(view).is_possible(state));
    ALWAYS.into_iter().chain(sometimes.collect::<Vec<_>>())
}

fn tab(store: &Store, view: View) -> Html {
    let chosen = store.state.view == view;
    let to = store.clone();
    let onclick = Callback::from(move |_| to.show(view));
    let count = match view {
        View::Problems => problems(&store.state),
        _ => 0,
    };
    html! {
        <button type="button" role="tab" id={format!("tab-{}", crate::route::word(view))}
            aria-selected={chosen.to_string()} aria-controls="pictures"
            tabindex={if chosen { "0" } else { "-1" }} {onclick}
            title={format!("{} ({})", view.help(), Command::Show(view).key().1)}>
            { view.name() }
            if count > 0 { <span class="bad">{ format!(" ✕ {}", crate::format::grouped(count)) }</span> }
        </button>
    }
}

/// How many problems are known.
fn problems(state: &State) -> u64 {
    let listed = state.problems().count() + state.map.damage().len();
    listed as u64 + state.map.more_problems()
}

/// Arrow keys turn from tab to tab.
fn turn(store: &Store) -> Callback<KeyboardEvent> {
    let store = store.clone();
    Callback::from(move |event: KeyboardEvent| {
        let all: Vec<_> = views(&store.state).collect();
        let at = all
            .iter()
            .position(|&view| view == store.state.view)
            .unwrap_or(0);
        let next = match event.code().as_str() {
            "ArrowRight" => (at + 1) % all.len(),
            "ArrowLeft" => (at + all.len() - 1) % all.len(),
            "Home" => 0,
            "End" => all.len() - 1,
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        store.show(all[next]);
        super::pick::focus_soon(match all[next] {
            View::Overview => "tab-overview",
            View::Map => "tab-map",
            View::Tree => "tab-tree",
            View::Groups => "tab-groups",
            View::Journal => "tab-journal",
            View::Problems => "tab-problems",
            View::Superblock => "tab-superblock",
            View::Contents => "tab-contents",
            View::Compare => "tab-compare",
        });
    })
}

/// What a narrow screen has no tabs for.
#[component]
pub fn More() -> Html {
    let store = use_store();
    // Without room for several pictures the overview is the map.
    let shown = match store.state.view {
        View::Overview => View::Map,
        view => view,
    };
    html! {
        <section class="more" aria-label="More">
            <h2>{ "Pictures" }</h2>
            <ul>
                { for views(&store.state).filter(|&view| view != View::Overview).map(|view| html! {
                    <li>
                        <CommandButton command={Command::Show(view)} pressed={view == shown} />
                        <span class="soft">{ view.help() }</span>
                    </li>
                }) }
            </ul>
            <h2>{ "This page" }</h2>
            <ul>
                { for [Command::Samples, Command::Open, Command::Help].into_iter().map(|command| html! {
                    <li><CommandButton {command} words={command.name()} /><span class="soft">{ command.help() }</span></li>
                }) }
            </ul>
        </section>
    }
}
