//! The block map with its heading, its legend, and how far the scan is.

use std::ops::Range;
use std::rc::Rc;

use yew::prelude::*;

use super::block_map::{BlockMap, Geometry, Highlight, Legend, Totals, blocks_of};
use super::progress::Progress;
use crate::format;
use crate::owner_map::OwnerMap;
use crate::store::{Action, MapState, Selection, State, Store, use_query, use_store};
use crate::worker::protocol::{Query, Reply};

/// The block map.
#[component]
pub fn MapPicture() -> Html {
    let store = use_store();
    let state = &store.state;
    let empty = use_memo((), |()| OwnerMap::default());
    let map = state.map.map().cloned().unwrap_or(empty);
    let partial = !state.map.is_complete();
    let totals = use_memo(ByAddress(Rc::clone(&map)), |map| Totals::of(&map.0));
    let highlight = use_highlight(&store, &map);
    let Some(opened) = state.opened() else {
        return html! {};
    };
    let act = |make: fn(Store, u64)| {
        let store = store.clone();
        Callback::from(move |nr: u64| make(store.clone(), nr))
    };
    let on_filter = {
        let store = store.clone();
        Callback::from(move |to| store.act(Action::Filter(to)))
    };
    html! {
        <section class="picture map" aria-label="Block map">
            <h2>{ "Blocks" }<span>{ note(state) }{ show_all(&store) }</span></h2>
            <Scan />
            <Legend totals={*totals} filter={state.filter} {on_filter} {partial} />
            <BlockMap geometry={Geometry::of(&opened.summary)} {map} {partial} filter={state.filter}
                {highlight} owner={owner(&store)} on_point={point(&store)}
                on_select={act(|store, nr| store.select(store.block(nr)))}
                on_group={act(|store, nr| store.select(Selection::group(nr as u32)))} />
        </section>
    }
}

/// A map by where it is kept: whether two hold the same takes too long to tell.
struct ByAddress(Rc<OwnerMap>);

impl PartialEq for ByAddress {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
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

/// The way back from a filter; here, where it moves nothing when it comes.
fn show_all(store: &Store) -> Html {
    if store.state.filter.is_empty() {
        return html! {};
    }
    let store = store.clone();
    let onclick = Callback::from(move |_| store.act(Action::Filter(Default::default())));
    html! { <>{ " · " }<button type="button" class="link" {onclick}>{ "Show all kinds" }</button></> }
}

/// What of the map is chosen: a block with the rest of its file, or with the place of an
/// older version of it in the journal; or a group.
#[hook]
fn use_highlight(store: &Store, map: &Rc<OwnerMap>) -> Highlight {
    let selection = store.state.selection;
    let inode = selection.inode.unwrap_or(0);
    let file = use_memo((ByAddress(Rc::clone(map)), inode), |(map, inode)| {
        blocks_of(&map.0, *inode)
    });
    let journal = use_query(selection.version.map(|_| Query::Journal));
    let copy = selection
        .version
        .and_then(|version| in_journal(&journal.data()?.reply, version));
    Highlight {
        block: selection.block,
        blocks: match copy {
            Some(copy) => Rc::from([copy]),
            None => Rc::clone(&file),
        },
        group: selection.group.map(u64::from),
    }
}

/// Where on the disk a block of the journal is.
fn in_journal(reply: &Reply, version: u32) -> Option<Range<u64>> {
    let Reply::Journal(Some(view)) = reply else {
        return None;
    };
    let rows = view.transactions.rows.iter().chain(&view.history.rows);
    let block = rows
        .flat_map(|row| &row.blocks)
        .find(|block| block.journal_block == version)?
        .block?;
    Some(block..block.saturating_add(1))
}

/// Names the owner of a block by its path, as far as that is known.
fn owner(store: &Store) -> Callback<u64, Option<AttrValue>> {
    let store = store.clone();
    Callback::from(move |nr| {
        let inode = store.state.map.map()?.at(nr)?.inode?;
        let path = store.path(inode)?;
        Some(format!("{path} (inode {inode})").into())
    })
}

/// Asks for the path of what is pointed at.
fn point(store: &Store) -> Callback<Option<u64>> {
    let store = store.clone();
    Callback::from(move |nr: Option<u64>| {
        let inode = nr.and_then(|nr| store.state.map.map()?.at(nr)?.inode);
        if let Some(inode) = inode {
            let query = Query::Paths {
                inodes: vec![inode],
            };
            if store.state.replies.lacks(&query) {
                store.engine.ask(query);
            }
        }
    })
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
