//! Small things that many views say: waiting, problems, checksums.

use fslab_engine::ext4::{Place, Problem};
use yew::prelude::*;

use crate::format;
use crate::store::{Fetched, Selection, Store, View};

/// What stands where an answer is to come, or why there is none.
pub fn waiting(fetched: &Fetched) -> Html {
    match fetched {
        Fetched::Failed(why) => {
            html! { <p class="hint bad" role="alert">{ format::sentence(why) }</p> }
        }
        _ => html! { <p class="hint" aria-busy="true">{ "Reading…" }</p> },
    }
}

/// The mark of a checksum and its words; none where there is no checksum.
pub fn mark(ok: Option<bool>) -> Option<(&'static str, &'static str)> {
    match ok {
        Some(true) => Some(("✓", ", checksum holds")),
        Some(false) => Some(("✕", ", checksum does not hold")),
        None => None,
    }
}

/// What follows from a checksum, as a line of its own.
pub fn checksum(ok: Option<bool>) -> Html {
    match ok {
        None => html! { <span class="soft">{ "none" }</span> },
        Some(true) => html! { "✓ holds" },
        Some(false) => html! { <span class="bad">{ "✕ does not hold" }</span> },
    }
}

/// Problems, each with a way to its place; nothing if there are none.
pub fn problems(store: &Store, list: &[Problem]) -> Html {
    if list.is_empty() {
        return html! {};
    }
    html! { <ul class="problems">{ for list.iter().map(|problem| row(store, problem)) }</ul> }
}

/// A problem as a sentence that leads to its place.
pub fn row(store: &Store, problem: &Problem) -> Html {
    let words = format::sentence(&problem.to_string());
    let to = store.clone();
    let target = place(store, problem.place).filter(|target| *target != store.state.selection);
    let in_journal = matches!(
        problem.place,
        Place::JournalSuperblock | Place::JournalBlock(_)
    ) && store.state.view != View::Journal;
    let words = if target.is_none() && !in_journal {
        html! { <span>{ words }</span> }
    } else {
        let onclick = Callback::from(move |_| match target {
            Some(target) => to.select(target),
            None => to.show(View::Journal),
        });
        html! { <button type="button" class="link" {onclick}>{ words }</button> }
    };
    html! { <li><span class="cross" aria-hidden="true">{ "✕" }</span>{ words }</li> }
}

/// What to choose to see a place.
pub fn place(store: &Store, place: Place) -> Option<Selection> {
    let opened = store.state.opened()?;
    Some(match place {
        Place::Superblock => {
            Selection::block(u64::from(1024 / opened.summary.block_size.max(1)), None)
        }
        Place::Backup(b) | Place::Mmp(b) | Place::Block(b) => store.block(b.0),
        Place::Group(g) | Place::BlockBitmap(g) | Place::InodeBitmap(g) | Place::InodeTable(g) => {
            Selection::group(g.0)
        }
        Place::Inode(i) | Place::InodeXattrs(i) => Selection::inode(i.0),
        Place::MapNode(i, b) | Place::XattrBlock(i, b) => Selection::block(b.0, Some(i.0)),
        Place::DirBlock(i, _) | Place::OrphanBlock(i, _) => Selection::inode(i.0),
        Place::JournalSuperblock | Place::JournalBlock(_) => return None,
    })
}

/// A link to a block.
pub fn block_link(store: &Store, nr: u64) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |_| to.select(to.block(nr)));
    html! {
        <button type="button" class="link figure" {onclick} title={format!("Block {nr}")}>
            { format::grouped(nr) }
        </button>
    }
}

/// A link to an inode.
pub fn inode_link(store: &Store, nr: u32, words: &str) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |_| to.select(Selection::inode(nr)));
    html! { <button type="button" class="link" {onclick}>{ words.to_owned() }</button> }
}

/// A time as the engine writes it, with date, time and fraction set apart.
pub fn time(text: &str) -> Html {
    let parts = text
        .strip_suffix('Z')
        .and_then(|text| text.split_once('T'))
        .map(|(date, time)| (date, time.split_once('.').unwrap_or((time, ""))));
    match parts {
        Some((date, (time, fraction))) => html! {
            <span class="figure" title="UTC">
                { format!("{date} {time}") }
                // Tools that set times set whole seconds: nine zeros say nothing.
                if fraction.contains(|c| c != '0') { <span class="soft">{ format!(".{fraction}") }</span> }
            </span>
        },
        None => html! { <span class="figure">{ text.to_owned() }</span> },
    }
}
