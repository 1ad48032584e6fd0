use yew::prelude::*;

use super::pair;
use crate::format;
use crate::store::{Selection, Store, View, use_store};
use crate::views::notes::{inode_link, problems, time};

/// The filesystem as a whole.
#[component]
pub fn Filesystem() -> Html {
    let store = use_store();
    let Some(opened) = store.state.opened().cloned() else {
        return html! {};
    };
    let s = &opened.summary;
    let size = s.blocks.saturating_mul(s.block_size.into());
    let used = s.blocks.saturating_sub(s.free_blocks);
    let words = format!(
        "An {} filesystem of {}, {} of it in use.",
        s.kind,
        format::bytes(size),
        format::percent(used, s.blocks)
    );
    let or_none = |text: &str| match text {
        "" => html! { <span class="soft">{ "none" }</span> },
        text => html! { text.to_owned() },
    };
    html! {
        <div class="scroll">
            <div class="say">
                <p>{ words }</p>
                { for s.state.iter().filter(|s| !is_times(s)).map(|sentence| html! { <p>{ stop(sentence) }</p> }) }
            </div>
            { wrong(&store) }
            <dl>
                { pair("Label", or_none(&s.label)) }
                { pair("UUID", html! { <span class="code">{ &s.uuid }</span> }) }
                { pair("Mount point", or_none(&s.last_mounted)) }
                { for s.state.iter().filter(|s| is_times(s)).map(|sentence| times(sentence)) }
                { pair("Blocks", format!("{} of {}, {} free", format::grouped(s.blocks),
                    format::bytes(s.block_size.into()), format::grouped(s.free_blocks))) }
                if s.cluster_blocks > 1 {
                    { pair("Clusters", format!("of {} blocks", s.cluster_blocks)) }
                }
                { pair("Inodes", format!("{} of {} bytes, {} free", format::grouped(s.inodes.into()),
                    s.inode_size, format::grouped(s.free_inodes.into()))) }
                { pair("Groups", format!("{} of {} blocks", format::grouped(s.groups.into()),
                    format::grouped(s.blocks_per_group.into()))) }
                { pair("Image", format::bytes(s.image_bytes)) }
                if !opened.layers.is_empty() {
                    { pair("Unpacked from", format::numbers(&opened.layers.join(", then "))) }
                }
                { pair("Features", html! { <span class="code">{ or_none(&s.features.join(" ")) }</span> }) }
            </dl>
            if !s.orphans.is_empty() {
                <h3>{ "Deleted or cut while open" }</h3>
                <ul class="links">
                    { for s.orphans.iter().map(|orphan| html! {
                        <li>
                            { inode_link(&store, orphan.inode.0, &format!("Inode {}", orphan.inode.0)) }
                            <span class="soft">{ if orphan.links == 0 { " deleted, space to be freed" } else { " was being truncated" } }</span>
                        </li>
                    }) }
                </ul>
            }
            <h3>{ "Where to look first" }</h3>
            <ul class="links">
                <li>{ inode_link(&store, 2, "The root directory, inode 2") }</li>
                if opened.superblock_at().is_some() { <li>{ to_superblock(&store) }</li> }
                if s.features.iter().any(|name| name == "has_journal") {
                    <li>{ to_view(&store, View::Journal, "The journal’s transactions") }</li>
                }
            </ul>
        </div>
    }
}

/// Whether a sentence is the engine's list of times.
fn is_times(sentence: &str) -> bool {
    sentence.starts_with("Made: ")
}

/// The list of times as rows, where one finds them faster than in a sentence.
fn times(sentence: &str) -> Html {
    let pairs = sentence
        .split("; ")
        .filter_map(|part| part.split_once(": "));
    html! {
        { for pairs.map(|(name, value)| html! {
            <><dt>{ format::sentence(name) }</dt><dd>{ time(value) }</dd></>
        }) }
    }
}

/// The first few problems.
fn wrong(store: &Store) -> Html {
    let list: Vec<_> = store.state.problems().take(5).cloned().collect();
    if list.is_empty() && store.state.map.damage().is_empty() {
        return html! {};
    }
    html! {
        <>
            <h3>{ "What is wrong" }</h3>
            { problems(store, &list) }
            <p class="pad">{ to_view(store, View::Problems, "Show all problems") }</p>
        </>
    }
}

fn to_view(store: &Store, view: View, words: &'static str) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |_| to.show(view));
    html! { <button type="button" class="link" {onclick}>{ words }</button> }
}

fn to_superblock(store: &Store) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |_| {
        if let Some((block, _)) = to.state.opened().and_then(|opened| opened.superblock_at()) {
            to.select(Selection::block(block, None));
        }
    });
    html! { <button type="button" class="link" {onclick}>{ "The superblock’s bytes" }</button> }
}

/// A sentence that ends as one.
fn stop(sentence: &str) -> String {
    let sentence = format::sentence(sentence.trim());
    if sentence.ends_with(['.', '!', '?', ':']) {
        sentence
    } else {
        sentence + "."
    }
}
