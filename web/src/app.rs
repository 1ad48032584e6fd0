//! The page's root: what holds the rooms, and what works in all of them.

use yew::prelude::*;

use crate::address::use_address;
use crate::input::{use_drops, use_keys};
use crate::room::Room;
use crate::store::{Action, Health, StoreProvider, use_store};
use crate::views::explore::Explore;
use crate::views::header::Header;
use crate::views::help::Help;
use crate::views::lab::Lab;
use crate::views::pick::FileInput;

/// The page.
#[component]
pub fn App() -> Html {
    html! { <StoreProvider><Page /></StoreProvider> }
}

#[component]
fn Page() -> Html {
    let store = use_store();
    use_address(&store);
    use_keys(&store);
    let dragging = use_drops(&store);
    let room = store.state.room;
    html! {
        <div class={classes!("page-frame", dragging.then_some("dragging"))}>
            <Header {room} />
            <Banners />
            { match room {
                Room::Explore => html! { <Explore /> },
                Room::Lab => html! { <Lab /> },
            } }
            <FileInput />
            <Help />
            if dragging {
                <div class="drop-here" aria-hidden="true"><p>{ "Drop the image to open it" }</p></div>
            }
        </div>
    }
}

/// What is to be said across the page.
#[component]
fn Banners() -> Html {
    let store = use_store();
    if let Health::Failed(why) = &store.state.health {
        let again = store.clone();
        let restart = Callback::from(move |_| again.engine.restart(&again.state));
        return html! {
            <div class="banner bad" role="alert">
                <p>{ format!("The engine stopped: {why}") }</p>
                <button type="button" onclick={restart}>{ "Restart the engine" }</button>
            </div>
        };
    }
    if store.state.room == Room::Explore && store.state.welcome && store.state.opened().is_some() {
        let close = {
            let store = store.clone();
            Callback::from(move |_| store.act(Action::Welcome(false)))
        };
        return html! {
            <div class="banner" role="note">
                <p>
                    { "This is a small sample: choose a file or a block to see what it is made of. \
                       Or drop an image of your own, of any size: it never leaves this machine" }
                </p>
                <button type="button" onclick={close}>{ "Dismiss" }</button>
            </div>
        };
    }
    html! {}
}
