//! A card's open segments: the old and the new place of each, and how full the new one is.

use fslab_engine::view::lab::{CardView, FlashView, MediumView, OpenView};
use yew::prelude::*;

use crate::format;
use crate::store::use_store;

/// The segments that are open.
#[component]
pub fn CardSegments() -> Html {
    let store = use_store();
    let Some(frame) = &store.state.lab.frame else {
        return html! {};
    };
    let MediumView::Flash(f) = &frame.medium else {
        return html! {};
    };
    let Some(card) = &f.card else {
        return html! {};
    };
    let others = card.open.iter().filter(|o| !o.fat).count() as u64;
    html! {
        <div class="open-segments">
            <h3>{ "Open segments" }<span class="soft">
                { format!("{others} of {} that can be, {} in the FAT area besides", card.most_open, card.fat) }
            </span></h3>
            <ul>{ for card.open.iter().map(|o| row(f, card, o)) }</ul>
            if card.open.is_empty() { <p class="soft">{ "None: nothing was written yet" }</p> }
        </div>
    }
}

fn row(f: &FlashView, card: &CardView, o: &OpenView) -> Html {
    let part = f64::from(o.fill) / f64::from(f.pages_per_block.max(1));
    let from = u64::from(o.segment) * card.segment;
    html! {
        <li>
            <span class="name">{ format!("Segment {}", o.segment) }</span>
            <span class="soft">{ format!("from {}{}", format::bytes(from), if o.fat { ", FAT area" } else { "" }) }</span>
            <span class="way">{ format!("old place {} → new place {}", o.old, o.new) }</span>
            <span class="fill" aria-hidden="true"><i style={format!("width:{:.1}%", part * 100.0)} /></span>
            <span class="figure soft">{ format!("{} of {} pages", o.fill, f.pages_per_block) }</span>
        </li>
    }
}
