//! Every field of the superblock.

use fslab_engine::view::FieldValue;
use yew::prelude::*;

use crate::store::{Opened, Selection, Store, use_store};

/// Features and fields, each field a way to its bytes.
#[component]
pub fn Superblock() -> Html {
    let store = use_store();
    let filter = use_state(String::new);
    let Some(opened) = store.state.opened().cloned() else {
        return html! {};
    };
    let oninput = {
        let filter = filter.clone();
        Callback::from(move |event: InputEvent| {
            let input: web_sys::HtmlInputElement = event.target_unchecked_into();
            filter.set(input.value().to_lowercase());
        })
    };
    let fields = opened.summary.fields.iter().filter(|field| {
        filter.is_empty()
            || field.name.contains(filter.as_str())
            || field.help.to_lowercase().contains(filter.as_str())
    });
    html! {
        <section class="picture page" aria-label="Superblock">
            <h2>{ "Superblock" }<span>{ place(&opened) }</span></h2>
            <div class="page-body">
                <h3>{ "Features" }</h3>
                <p class="features">
                    { for opened.summary.features.iter().map(|name| html! { <code>{ name }</code> }) }
                </p>
                <h3>{ "Fields" }
                    <input type="search" aria-label="Show only fields with this in name or meaning"
                        placeholder="Name or meaning" {oninput} />
                </h3>
                <div class="scroll-x">
                    <table class="plain fields-table">
                        <thead><tr>
                            <th class="figure">{ "Byte" }</th><th>{ "Field" }</th>
                            <th>{ "Value" }</th><th>{ "Meaning" }</th>
                        </tr></thead>
                        <tbody>{ for fields.map(|field| row(&store, &opened, field)) }</tbody>
                    </table>
                </div>
            </div>
        </section>
    }
}

fn place(opened: &Opened) -> String {
    match opened.superblock_at() {
        Some((block, 0)) => format!("block {block}"),
        Some((block, byte)) => format!("block {block}, from byte {byte}"),
        None => "a backup".into(),
    }
}

fn row(store: &Store, opened: &Opened, field: &FieldValue) -> Html {
    let first = opened
        .summary
        .fields
        .first()
        .map_or(0, |first| first.offset);
    let offset = field.offset.saturating_sub(first);
    let target = opened
        .superblock_at()
        .map(|(block, base)| Selection::block(block, None).with_bytes(base + offset, field.len));
    let chosen = target == Some(store.state.selection);
    let to = store.clone();
    let onclick = Callback::from(move |_| {
        if let Some(target) = target {
            to.select(target);
        }
    });
    html! {
        <tr class={chosen.then_some("selected")}>
            <td class="figure soft">{ format!("{offset:#x}") }</td>
            <td><button type="button" class="link code" {onclick}>{ &field.name }</button></td>
            <td class="value">{ &field.value }</td>
            <td class="soft">{ &field.help }</td>
        </tr>
    }
}
