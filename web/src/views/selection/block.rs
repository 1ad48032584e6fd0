use std::rc::Rc;

use fslab_engine::view::BlockView;
use yew::prelude::*;

use super::bytes::{Bytes, use_light};
use super::pair;
use super::parts::Parts;
use crate::command::Command;
use crate::format;
use crate::store::{Store, use_query, use_store};
use crate::views::header::CommandButton;
use crate::views::notes::{checksum, inode_link, problems, waiting};
use crate::worker::protocol::{Query, Reply, VersionRow};

#[derive(Properties, PartialEq)]
pub struct Props {
    /// The block.
    pub nr: u64,
}

/// A block.
#[component]
pub fn Block(props: &Props) -> Html {
    let store = use_store();
    let nr = props.nr;
    let fetched = use_query(Some(Query::Block { nr }));
    let light = use_light(&store);
    let owner = store.state.selection.inode;
    // Its path, for the owner's line.
    use_query(owner.map(|nr| Query::Paths { inodes: vec![nr] }));
    let view = match fetched.data().map(|data| &data.reply) {
        Some(Reply::Block(view)) => view,
        _ => return html! { <div class="scroll">{ waiting(&fetched) }</div> },
    };
    let parts = Rc::new(view.parts.clone());
    html! {
        <>
            <div class="scroll">
                <div class="say"><p>{ &view.words }</p></div>
                { facts(&store, view, owner) }
                { problems(&store, &view.problems) }
                <Twice {nr} />
                <Versions {nr} />
                <div class="row-of-buttons">
                    <CommandButton command={Command::Previous} />
                    <CommandButton command={Command::Next} />
                </div>
                if !parts.is_empty() {
                    <h3>{ format!("What is in it: {}", format::count(parts.len() as u64, "structure")) }</h3>
                    <Parts parts={Rc::clone(&parts)} lit={light.lit} chosen={light.chosen}
                        onpoint={light.onpoint.clone()} onchoose={light.onchoose.clone()} />
                }
            </div>
            <Bytes title={format!("Bytes of block {}", format::grouped(nr))}
                bytes={Rc::<[u8]>::from(view.bytes.as_slice())} {parts} lit={light.lit} chosen={light.chosen}
                onpoint={light.onpoint} onchoose={light.onchoose} />
        </>
    }
}

fn facts(store: &Store, view: &BlockView, owner: Option<u32>) -> Html {
    let size = store.state.opened().map_or(0, |o| o.summary.block_size);
    let run = store.state.map.map().and_then(|map| map.at(view.nr));
    let place = view.nr.saturating_mul(size.into());
    html! {
        <dl>
            if let Some(run) = run { { pair("Kind", run.kind.words()) } }
            if let Some(nr) = owner {
                { pair("Owner", inode_link(store, nr, &match store.path(nr) {
                    Some(path) => format!("{path} (inode {nr})"),
                    None => format!("inode {nr}"),
                })) }
            }
            if let Some(run) = run.filter(|run| run.len > 1) {
                { pair("In a run", format!("of {}, {} to {}", format::count(run.len.into(), "block"),
                    format::grouped(run.start), format::grouped(run.start.saturating_add(u64::from(run.len) - 1)))) }
            }
            { pair("First byte", format!("{} of the filesystem", format::grouped(place))) }
            if view.checksum_ok.is_some() { { pair("Checksum", checksum(view.checksum_ok)) } }
        </dl>
    }
}

/// Who claims a block that is owned twice.
#[component]
fn Twice(props: &Props) -> Html {
    use fslab_engine::view::owners::Kind;
    let store = use_store();
    let run = store.state.map.map().and_then(|map| map.at(props.nr));
    let twice = run.is_some_and(|run| run.kind == Kind::Twice);
    let fetched = use_query(twice.then_some(Query::Claimants { nr: props.nr }));
    let Some(Reply::Claimants(list)) = fetched.data().map(|data| &data.reply) else {
        return html! {};
    };
    html! {
        <>
            <h3 class="bad">{ "✕ Claimed by" }</h3>
            <ul class="links">
                { for list.iter().map(|(inode, kind)| html! {
                    <li>
                        if *inode == 0 { { "the filesystem itself" } }
                        else { { inode_link(&store, *inode, &format!("inode {inode}")) } }
                        <span class="soft">{ format!(" as {kind}") }</span>
                    </li>
                }) }
            </ul>
        </>
    }
}

/// Versions that are listed before one asks for more.
const VERSIONS: usize = 4;

/// Older contents of the block in the journal.
#[component]
fn Versions(props: &Props) -> Html {
    let store = use_store();
    let nr = props.nr;
    let all = use_state(|| false);
    let fetched = use_query(Some(Query::Versions { nr }));
    let list = match fetched.data().map(|data| &data.reply) {
        Some(Reply::Versions(list)) if !list.is_empty() => list,
        _ => return html! {},
    };
    let row = |row: &VersionRow| {
        let (to, version) = (store.clone(), row.journal_block);
        let onclick = Callback::from(move |_| to.select_version(nr, version));
        let chosen = store.state.selection.version == Some(version);
        html! {
            <li class={chosen.then_some("selected")}>
                <button type="button" class="link" {onclick} aria-pressed={chosen.to_string()}
                    title="Show it beside the current block">
                    { format!("Transaction {}", row.transaction) }
                </button>
                <span class="soft">
                    { format!(" in journal block {}", format::grouped(version.into())) }
                    if row.replayed { { ", a replay would write it here" } }
                </span>
            </li>
        }
    };
    html! {
        <>
            <h3>{ "Older versions in the journal" }</h3>
            <ul class="links">
                { for list.iter().take(if *all { usize::MAX } else { VERSIONS }).map(row) }
                if !*all && list.len() > VERSIONS {
                    <li>
                        <button type="button" class="link" onclick={move |_| all.set(true)}>
                            { format!("{} more…", list.len() - VERSIONS) }
                        </button>
                    </li>
                }
            </ul>
        </>
    }
}
