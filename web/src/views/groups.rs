//! The group table.

use std::rc::Rc;

use fslab_engine::view::GroupRow;
use yew::prelude::*;

use super::lines::{self, Lines};
use super::notes::{block_link, mark};
use crate::format;
use crate::store::{Data, Opened, Selection, Store, use_store};
use crate::worker::protocol::{Query, Reply};

/// Height of a row in CSS pixels.
const HEIGHT: f64 = 24.0;
/// Groups asked for at once.
const PAGE: u64 = 256;

/// Every group in a row.
#[component]
pub fn Groups() -> Html {
    let store = use_store();
    let cursor = use_state_eq(|| 0_u64);
    let Some(opened) = store.state.opened().cloned() else {
        return html! {};
    };
    let count = u64::from(opened.summary.groups);
    let chosen = chosen(&store);
    let line = {
        let (store, cursor) = (store.clone(), cursor.clone());
        Callback::from(move |nr| line(&store, &cursor, chosen, nr))
    };
    let onrange = {
        let store = store.clone();
        Callback::from(move |(first, last)| fetch(&store, first, last))
    };
    let onkeydown = {
        let (store, cursor) = (store.clone(), cursor.clone());
        Callback::from(move |event: KeyboardEvent| {
            let last = count.saturating_sub(1);
            match event.code().as_str() {
                "ArrowDown" => cursor.set((*cursor + 1).min(last)),
                "ArrowUp" => cursor.set(cursor.saturating_sub(1)),
                "PageDown" => cursor.set((*cursor + 20).min(last)),
                "PageUp" => cursor.set(cursor.saturating_sub(20)),
                "Home" => cursor.set(0),
                "End" => cursor.set(last),
                "Enter" | "Space" => store.select(Selection::group(*cursor as u32)),
                _ => return,
            }
            event.prevent_default();
            event.stop_propagation();
        })
    };
    {
        // A group chosen elsewhere comes into sight.
        let cursor = cursor.clone();
        use_effect_with(chosen, move |chosen| {
            if let Some(chosen) = chosen {
                cursor.set(u64::from(*chosen));
            }
        });
    }
    html! {
        <section class="picture groups" aria-label="Groups">
            <h2>{ "Groups" }{ note(&opened) }</h2>
            <div class="grid" style={digits(&opened)}>
                { head() }
                <Lines {count} height={lines::height(HEIGHT)} {line} {onrange} {onkeydown} role="grid"
                    label="Groups" rowcount={count.to_string()} reveal={*cursor}
                    active={format!("group-{}", *cursor)} />
            </div>
        </section>
    }
}

fn note(opened: &Opened) -> Html {
    let s = &opened.summary;
    let most = format::grouped(s.blocks_per_group.into());
    html! {
        <span>
            { format::count(s.groups.into(), "group") }
            <span class="few">{ format!(" of up to {most} blocks") }</span>
            if s.flex_groups > 1 {
                <span class="some">{ format!(", flex groups of {}", s.flex_groups) }</span>
            }
        </span>
    }
}

/// How wide numbers of blocks can be: of all, and of a group's. Every row is a grid of its
/// own, so that the columns cannot learn it from one another.
fn digits(opened: &Opened) -> String {
    let s = &opened.summary;
    let wide = |n: u64| format::grouped(n).len();
    format!(
        "--digits:{};--few-digits:{}",
        wide(s.blocks),
        wide(s.blocks_per_group.into())
    )
}

/// The chosen group, or that of the chosen block.
fn chosen(store: &Store) -> Option<u32> {
    let selection = &store.state.selection;
    let of_block = || store.state.opened()?.group_of(selection.block?);
    selection.group.or_else(of_block)
}

fn query(nr: u64) -> Query {
    Query::Groups {
        from: (nr / PAGE * PAGE) as u32,
        count: PAGE as u32,
    }
}

fn fetch(store: &Store, first: u64, last: u64) {
    if first >= last {
        return;
    }
    for page in first / PAGE..=(last - 1) / PAGE {
        let query = query(page * PAGE);
        if store.state.replies.lacks(&query) {
            store.engine.ask(query);
        }
    }
}

/// The columns. Where there is less room, only those of `few`, `some` or `many` are shown:
/// a group's selection tells the rest.
fn head() -> Html {
    html! {
        <div class="grid-head" aria-hidden="true">
            <span class="figure">{ "Group" }</span>
            <span class="figure few">{ "First block" }</span>
            <span class="figure some">{ "Blocks" }</span>
            <span class="figure">{ "Free" }</span>
            <span>{ "Used" }</span>
            <span class="figure few">{ "Free inodes" }</span>
            <span class="figure some">{ "Dirs" }</span>
            <span class="figure many">{ "Block bitmap" }</span>
            <span class="figure many">{ "Inode bitmap" }</span>
            <span class="figure many">{ "Inode table" }</span>
            <span class="all">{ "Flags" }</span>
        </div>
    }
}

fn line(store: &Store, cursor: &UseStateHandle<u64>, chosen: Option<u32>, nr: u64) -> Html {
    let reply = store.state.replies.get(&query(nr));
    let row = match reply {
        Some(Ok(data)) => row(data, nr),
        _ => None,
    };
    let lack = match reply {
        Some(_) => "its descriptor lies past the end of the image",
        None => "…",
    };
    let selected = chosen.is_some_and(|chosen| u64::from(chosen) == nr);
    let onclick = {
        let (store, cursor) = (store.clone(), cursor.clone());
        Callback::from(move |_| {
            cursor.set(nr);
            store.select(Selection::group(nr as u32));
        })
    };
    html! {
        <div key={nr} id={format!("group-{nr}")} role="row" aria-rowindex={(nr + 1).to_string()}
            aria-selected={selected.to_string()} {onclick}
            class={classes!("grid-row", selected.then_some("selected"), (nr == **cursor).then_some("cursor"))}>
            { match row {
                Some((data, at)) => match &data.reply {
                    Reply::Groups(rows) => cells(store, &rows[at]),
                    _ => html! {},
                },
                None => html! { <><span class="figure" role="gridcell">{ nr }</span><span class="soft lack" role="gridcell">{ lack }</span></> },
            } }
        </div>
    }
}

/// The reply that holds a group, and its place there.
fn row(data: &Rc<Data>, nr: u64) -> Option<(Rc<Data>, usize)> {
    let Reply::Groups(rows) = &data.reply else {
        return None;
    };
    let at = rows.iter().position(|row| u64::from(row.info.nr.0) == nr)?;
    Some((Rc::clone(data), at))
}

fn cells(store: &Store, row: &GroupRow) -> Html {
    let info = &row.info;
    let clusters = store
        .state
        .opened()
        .map_or(1, |opened| opened.summary.cluster_blocks.max(1));
    let free = u64::from(info.free_blocks) * u64::from(clusters);
    let used = 1.0 - (free as f64 / f64::from(info.len.max(1))).min(1.0);
    let mut flags: Vec<&str> = row.flags.iter().map(String::as_str).collect();
    if row.has_super {
        flags.insert(0, "superblock");
    }
    html! {
        <>
            <span class="figure strong" role="gridcell">{ info.nr.0 }{ checked(info.checksum_ok) }</span>
            <span class="figure few" role="gridcell">{ block_link(store, info.start.0) }</span>
            <span class="figure some" role="gridcell">{ format::grouped(info.len.into()) }</span>
            <span class="figure" role="gridcell">{ format::grouped(free) }</span>
            <span class="fill" role="gridcell" aria-label={format!("{:.0} % used", used * 100.0)}>
                <i style={format!("width:{:.1}%", used * 100.0)} />
            </span>
            <span class="figure few" role="gridcell">{ format::grouped(info.free_inodes.into()) }</span>
            <span class="figure some" role="gridcell">{ format::grouped(info.used_dirs.into()) }</span>
            <span class="figure many" role="gridcell">{ block_link(store, info.block_bitmap.0) }{ checked(row.block_bitmap_ok) }</span>
            <span class="figure many" role="gridcell">{ block_link(store, info.inode_bitmap.0) }{ checked(row.inode_bitmap_ok) }</span>
            <span class="figure many" role="gridcell">{ block_link(store, info.inode_table.0) }</span>
            <span class="soft flags all" role="gridcell" title={flags.join(", ")}>{ flags.join(", ") }</span>
        </>
    }
}

/// The mark of a checksum, of one width so that figures stay below one another.
fn checked(ok: Option<bool>) -> Html {
    let (sign, words) = match mark(ok) {
        Some((sign, words)) => (sign, words.trim_start_matches(", ")),
        None => ("", "no checksum"),
    };
    let class = if ok == Some(false) {
        "check bad"
    } else {
        "check soft"
    };
    html! { <i {class} title={words}>{ sign }</i> }
}
