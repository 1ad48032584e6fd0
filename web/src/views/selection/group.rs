use yew::prelude::*;

use super::pair;
use crate::format;
use crate::store::{Selection, use_query, use_store};
use crate::views::notes::{block_link, checksum, waiting};
use crate::worker::protocol::{Query, Reply};

#[derive(Properties, PartialEq)]
pub struct Props {
    /// The group.
    pub nr: u32,
}

/// A block group.
#[component]
pub fn Group(props: &Props) -> Html {
    let store = use_store();
    let nr = props.nr;
    let fetched = use_query(Some(Query::Groups { from: nr, count: 1 }));
    let row = match fetched.data().map(|data| &data.reply) {
        Some(Reply::Groups(rows)) => rows.first(),
        _ => None,
    };
    let Some(row) = row else {
        return html! { <div class="scroll">{ waiting(&fetched) }</div> };
    };
    let info = &row.info;
    let opened = store.state.opened();
    let clusters = opened.map_or(1, |o| o.summary.cluster_blocks.max(1));
    let free = u64::from(info.free_blocks) * u64::from(clusters);
    let used = u64::from(info.len).saturating_sub(free);
    let words = format!(
        "Group {nr} is the {} from {} on; {} of them are in use.{}",
        format::count(info.len.into(), "block"),
        format::grouped(info.start.0),
        format::percent(used, info.len.into()),
        if row.has_super {
            " It begins with a copy of the superblock and the group descriptors."
        } else {
            ""
        }
    );
    let flags = if row.flags.is_empty() {
        html! { <span class="soft">{ "none" }</span> }
    } else {
        html! { row.flags.join(", ") }
    };
    html! {
        <div class="scroll">
            <div class="say"><p>{ words }</p></div>
            <dl>
                { pair("First block", block_link(&store, info.start.0)) }
                { pair("Free blocks", format::grouped(free)) }
                { pair("Free inodes", format::grouped(info.free_inodes.into())) }
                { pair("Directories", format::grouped(info.used_dirs.into())) }
                { pair("Inodes never used", format::grouped(info.itable_unused.into())) }
                { pair("Block bitmap", html! { <>{ block_link(&store, info.block_bitmap.0) }{ " " }{ checksum(row.block_bitmap_ok) }</> }) }
                { pair("Inode bitmap", html! { <>{ block_link(&store, info.inode_bitmap.0) }{ " " }{ checksum(row.inode_bitmap_ok) }</> }) }
                { pair("Inode table", block_link(&store, info.inode_table.0)) }
                { pair("Flags", flags) }
                { pair("Descriptor’s checksum", checksum(info.checksum_ok)) }
            </dl>
            <p class="row-of-buttons">
                { neighbour(&store, nr.checked_sub(1), "Previous group") }
                { neighbour(&store, nr.checked_add(1).filter(|&n| opened.is_some_and(|o| n < o.summary.groups)), "Next group") }
            </p>
        </div>
    }
}

fn neighbour(store: &crate::store::Store, nr: Option<u32>, words: &'static str) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |_| {
        if let Some(nr) = nr {
            to.select(Selection::group(nr));
        }
    });
    html! { <button type="button" disabled={nr.is_none()} {onclick}>{ words }</button> }
}
