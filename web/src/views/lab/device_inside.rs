//! What is inside the device: one picture for each kind.

use fslab_engine::view::lab::MediumView;
use yew::prelude::*;

use super::device_disk::Platters;
use super::device_flash::FlashPicture;
use crate::store::use_store;

/// What is inside the device.
#[component]
pub fn Inside() -> Html {
    let store = use_store();
    let Some(frame) = &store.state.lab.frame else {
        return html! {};
    };
    match &frame.medium {
        MediumView::Disk(_) => html! { <Platters /> },
        MediumView::Flash(_) => html! { <FlashPicture /> },
        MediumView::Ram => html! {
            <section class="picture" aria-label="Inside the device">
                <h2>{ "Inside the device" }</h2>
                <p class="hint">{ "This device is memory: any byte is as near as any other" }</p>
            </section>
        },
    }
}
