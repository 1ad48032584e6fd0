//! The list of commands.

use web_sys::HtmlDialogElement;
use yew::prelude::*;

use crate::command::Command;
use crate::store::{Action, use_store};

/// Keys of the block map, which only it understands.
const MAP_KEYS: [(&str, &str); 5] = [
    ("← ↑ → ↓", "Move from block to block"),
    (
        "PgUp PgDn",
        "Move farther; Home and End to the first and last block",
    ),
    ("Enter", "Choose the block"),
    ("+ −", "Nearer and farther"),
    ("0", "Show everything"),
];

/// Keys of lists and trees.
const LIST_KEYS: [(&str, &str); 3] = [
    ("↑ ↓", "Move from row to row"),
    ("→ ←", "Open and close a directory"),
    ("Enter", "Choose the row"),
];

/// A dialog with every command, its key and what it does.
#[component]
pub fn Help() -> Html {
    let store = use_store();
    let node = use_node_ref();
    use_effect_with((node.clone(), store.state.help), |(node, open)| {
        if let Some(dialog) = node.cast::<HtmlDialogElement>() {
            if *open && !dialog.open() {
                // It throws only if it is open already.
                let _ = dialog.show_modal();
            } else if !*open && dialog.open() {
                dialog.close();
            }
        }
    });
    let close = {
        let store = store.clone();
        Callback::from(move |_: Event| store.act(Action::Help(false)))
    };
    let leave = {
        let store = store.clone();
        Callback::from(move |_: MouseEvent| store.act(Action::Help(false)))
    };
    html! {
        <dialog ref={node} class="help" aria-labelledby="help-title" onclose={close}>
            <div class="help-head">
                <h2 id="help-title">{ "Commands and keys" }</h2>
                <button type="button" onclick={leave}>{ "Close" }</button>
            </div>
            <table class="plain">
                <tbody>{ for Command::of_room(store.state.room).iter().map(|command| row(
                    command.key().1, command.name(), command.help(),
                )) }</tbody>
            </table>
            <h3>{ "In the map" }</h3>
            <table class="plain"><tbody>
                { for MAP_KEYS.iter().map(|(key, words)| row(key, "", words)) }
            </tbody></table>
            <h3>{ "In lists and trees" }</h3>
            <table class="plain"><tbody>
                { for LIST_KEYS.iter().map(|(key, words)| row(key, "", words)) }
            </tbody></table>
        </dialog>
    }
}

fn row(key: &str, name: &str, words: &str) -> Html {
    html! {
        <tr>
            <td><kbd>{ key.to_owned() }</kbd></td>
            if !name.is_empty() { <td class="strong">{ name.to_owned() }</td> }
            <td class="soft" colspan={if name.is_empty() { "2" } else { "1" }}>{ words.to_owned() }</td>
        </tr>
    }
}
