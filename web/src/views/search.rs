//! The search box: a path, an inode, a block or a group.

use fslab_engine::view::Found;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::format;
use crate::store::{Action, Fetched, Pane, Selection, Store, use_query, use_store};
use crate::worker::protocol::{Query, Reply};

/// The box and what was found.
#[component]
pub fn Search() -> Html {
    let store = use_store();
    let input = use_node_ref();
    // What was asked, with the image of which: a new image has other answers.
    let asked = use_state(|| None::<(u32, String)>);
    let image = store.state.image.nr;
    let text = (*asked)
        .clone()
        .filter(|(nr, _)| *nr == image)
        .map(|(_, text)| text);
    let fetched = use_query(text.clone().map(|text| Query::Search { text }));
    use_only_one(&store, &asked, text.as_deref(), &fetched);

    let onsubmit = {
        let (asked, input) = (asked.clone(), input.clone());
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            let text = input
                .cast::<HtmlInputElement>()
                .map(|input| input.value().trim().to_owned())
                .unwrap_or_default();
            asked.set((!text.is_empty()).then_some((image, text)));
        })
    };
    html! {
        <search class="search">
            <form {onsubmit}>
                <input ref={input} id="search" type="search" autocomplete="off" spellcheck="false"
                    aria-label="Find a path, inode, block or group"
                    placeholder="Path, inode or block"
                    title="A path, a number, or as: inode 12, block 34, group 5" />
                <button type="submit">{ "Find" }</button>
            </form>
            if text.is_some() {
                <div class="found" role="status">{ found(&store, &fetched) }</div>
            }
        </search>
    }
}

/// One thing found needs no list.
#[hook]
fn use_only_one(
    store: &Store,
    asked: &UseStateHandle<Option<(u32, String)>>,
    text: Option<&str>,
    fetched: &Fetched,
) {
    let (store, asked) = (store.clone(), asked.clone());
    let only = match fetched.data().map(|data| &data.reply) {
        Some(Reply::Found(list)) if list.len() == 1 => list.first().cloned(),
        _ => None,
    };
    use_effect_with((text.map(str::to_owned), only), move |(_, only)| {
        if let Some(only) = only {
            choose(&store, only);
            asked.set(None);
        }
    });
}

fn choose(store: &Store, found: &Found) {
    store.select(match *found {
        Found::Inode { nr, .. } => Selection::inode(nr),
        Found::Block { nr } => store.block(nr),
        Found::Group { nr } => Selection::group(nr),
    });
    store.act(Action::Pane(Pane::Selection));
}

fn found(store: &Store, fetched: &Fetched) -> Html {
    let data = match fetched {
        Fetched::Waiting => return html! { <p class="soft">{ "Searching…" }</p> },
        Fetched::Failed(why) => return html! { <p class="bad">{ format::sentence(why) }</p> },
        Fetched::Got(data) => data,
    };
    let Reply::Found(list) = &data.reply else {
        return html! {};
    };
    if list.is_empty() {
        return html! { <p>{ "Nothing is found" }</p> };
    }
    html! { <ul>{ for list.iter().map(|found| entry(store, found)) }</ul> }
}

fn entry(store: &Store, found: &Found) -> Html {
    let words = match found {
        Found::Inode { nr, path: None } => format!("Inode {nr}"),
        Found::Inode {
            nr,
            path: Some(path),
        } => format!("Inode {nr}, {path}"),
        Found::Block { nr } => format!("Block {}", format::grouped(*nr)),
        Found::Group { nr } => format!("Group {nr}"),
    };
    let (store, found) = (store.clone(), found.clone());
    let onclick = Callback::from(move |_| choose(&store, &found));
    html! { <li><button type="button" class="link" {onclick}>{ words }</button></li> }
}
