//! What the colours of the map mean, and which of them it shows.

use fslab_engine::view::owners::{Flags, Kind};
use yew::prelude::*;

use super::core::shares::Totals;
use super::core::words;
use crate::format::{count, grouped};
use crate::kinds::KindSet;

#[derive(Properties, PartialEq)]
pub struct Props {
    /// Blocks of each kind.
    pub totals: Totals,
    /// Kinds that are not dimmed; empty for all.
    pub filter: KindSet,
    /// Told the filter that the visitor wants.
    pub on_filter: Callback<KindSet>,
    /// The scan is not done.
    #[prop_or_default]
    pub partial: bool,
}

/// The order of the legend: as on the disk, what is free next to last, damage last.
const ORDER: [Kind; Kind::COUNT] = order();

const fn order() -> [Kind; Kind::COUNT] {
    let mut order = [Kind::Free; Kind::COUNT];
    let mut i = 1;
    // Free is the first kind and goes behind the others.
    while i < Kind::COUNT {
        order[i - 1] = Kind::ALL[i];
        i += 1;
    }
    order
}

/// A button for each kind that the map has.
#[component]
pub fn Legend(props: &Props) -> Html {
    let kinds = ORDER
        .into_iter()
        .filter(|&kind| props.totals.get(kind) > 0 || props.filter.contains(kind));
    html! {
        <div class="map-legend">
            <ul class="kinds" aria-label="Kinds of blocks: choose which to show">
                { for kinds.map(|kind| entry(props, kind)) }
            </ul>
            <ul class="marks" aria-label="Marks">{ for marks(props) }</ul>
        </div>
    }
}

fn entry(props: &Props, kind: Kind) -> Html {
    let on = props.filter.contains(kind);
    let onclick = {
        let (on_filter, filter) = (props.on_filter.clone(), props.filter);
        Callback::from(move |_| on_filter.emit(filter.with(kind, !on)))
    };
    let blocks = props.totals.get(kind);
    let name = words::name(kind, props.partial);
    let dimmed = !props.filter.is_empty() && !on;
    html! {
        <li>
            <button type="button" class={classes!("kind", dimmed.then_some("dimmed"))} {onclick}
                aria-pressed={on.to_string()} title={format!("{}: {}", kind.words(), count(blocks, "block"))}>
                { swatch(kind, props.partial) }
                <span>{ name }</span>
                <span class="figure">{ grouped(blocks) }</span>
            </button>
        </li>
    }
}

/// A square as the map draws it.
fn swatch(kind: Kind, partial: bool) -> Html {
    let damaged = kind == Kind::Twice || (kind == Kind::Unowned && !partial);
    let letter = match kind {
        Kind::Free | Kind::Data => None,
        _ if damaged => Some('✕'),
        _ => Some(kind.letter()),
    };
    let class = classes!(
        "swatch",
        format!("swatch-{}", kind.word()),
        damaged.then_some("damaged")
    );
    html! { <span {class} aria-hidden="true">{ letter }</span> }
}

/// What the marks on squares mean, as far as there are any.
fn marks(props: &Props) -> impl Iterator<Item = Html> {
    [
        (Flags::UNWRITTEN, "unwritten", "Unwritten"),
        (Flags::SLACK, "slack", "Rest of a cluster"),
        (Flags::BACKUP, "backup", "Backup"),
        (Flags::SHARED, "shared", "Shared"),
        (Flags::MARKED_FREE, "marked-free", "In use, but free by the bitmap"),
    ]
    .into_iter()
    .filter(|&(flag, ..)| props.totals.flags.contains(flag))
    .map(|(_, class, words)| {
        html! {
            <li><span class={classes!("swatch", "mark", class)} aria-hidden="true"></span>{ words }</li>
        }
    })
}
