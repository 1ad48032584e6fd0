//! The selection explained: in words first, then by its fields, then by its bytes.

mod block;
mod bytes;
mod filesystem;
mod group;
mod inode;
mod parts;

use yew::prelude::*;

use self::block::Block;
use self::filesystem::Filesystem;
use self::group::Group;
use self::inode::Inode;
use super::header::CommandButton;
use crate::command::Command;
use crate::format;
use crate::store::{Focus, Selection, Store, use_store};

/// The column that explains.
#[component]
pub fn SelectionColumn() -> Html {
    let store = use_store();
    let focus = store.state.selection.focus();
    // Each thing chosen is a new one: nothing of the last, such as what was unfolded, stays.
    let body = match focus {
        Focus::Filesystem => html! { <Filesystem /> },
        Focus::Group(nr) => html! { <Group key={nr} {nr} /> },
        Focus::Inode(nr) => html! { <Inode key={nr} {nr} /> },
        Focus::Block(nr) => html! { <Block key={nr} {nr} /> },
    };
    html! {
        <section class="side selection" id="selection" aria-label="Selection">
            { way(&store) }
            { body }
        </section>
    }
}

/// The way from the whole to the selection; each step can be gone back to.
fn way(store: &Store) -> Html {
    let selection = store.state.selection;
    let group = selection.group.or_else(|| {
        let block = selection.block?;
        store.state.opened()?.group_of(block)
    });
    let focus = selection.focus();
    let steps = [
        Some((
            "Filesystem".to_owned(),
            Selection::default(),
            Focus::Filesystem,
        )),
        group.map(|nr| {
            (
                format!("Group {nr}"),
                Selection::group(nr),
                Focus::Group(nr),
            )
        }),
        selection.inode.map(|nr| {
            (
                format!("Inode {nr}"),
                Selection::inode(nr),
                Focus::Inode(nr),
            )
        }),
        selection.block.map(|nr| {
            let step = Selection {
                version: None,
                bytes: None,
                ..selection
            };
            (
                format!("Block {}", format::grouped(nr)),
                step,
                Focus::Block(nr),
            )
        }),
    ];
    let step = |(words, target, at): (String, Selection, Focus)| {
        let to = store.clone();
        let onclick = Callback::from(move |_| to.select(target));
        let current = at == focus;
        html! {
            <li>
                <button type="button" class="link" aria-current={current.then_some("true")} {onclick}>{ words }</button>
            </li>
        }
    };
    html! {
        <nav class="way" aria-label="Selection">
            <ol>{ for steps.into_iter().flatten().map(step) }</ol>
            if focus != Focus::Filesystem { <CommandButton command={Command::Wider} words="Up" /> }
        </nav>
    }
}

/// A name and a value of a list.
fn pair(name: &'static str, value: impl Into<Html>) -> Html {
    html! { <><dt>{ name }</dt><dd>{ value.into() }</dd></> }
}
