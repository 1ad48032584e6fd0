//! The structures in a block, each with its fields, to unfold.

use std::collections::BTreeSet;

use fslab_engine::ext4::layout::Shown;
use fslab_engine::view::{FieldValue, Part};
use yew::prelude::*;

use crate::store::{Selection, Store, use_store};
use crate::views::hex::Span;
use crate::views::tree::range;

/// Parts listed before one asks for more.
const SHOWN: usize = 300;
/// Parts that are unfolded at first, if there are no more than these.
const FEW: usize = 3;

#[derive(Properties, PartialEq)]
pub struct Props {
    /// The structures.
    pub parts: std::rc::Rc<Vec<Part>>,
    /// What the pointer or the focus is on.
    pub lit: Option<Span>,
    /// What is chosen.
    pub chosen: Option<Span>,
    /// The pointer or the focus is on some bytes, or left.
    pub onpoint: Callback<Option<Span>>,
    /// Some bytes were chosen.
    pub onchoose: Callback<Span>,
}

/// The structures of a block.
#[component]
pub fn Parts(props: &Props) -> Html {
    let store = use_store();
    let turned = use_state(BTreeSet::<usize>::new);
    let shown = use_state(|| SHOWN);
    let parts = &props.parts;
    let few = parts.len() <= FEW;
    let at = props.chosen.or(props.lit);
    let draw = |(i, part): (usize, &Part)| {
        // Unfolded: by itself if there are few or something in it is chosen, else by hand.
        let holds = at.is_some_and(|(first, _)| {
            (part.offset..part.offset.saturating_add(part.len)).contains(&first)
        }) && props.chosen.is_some();
        let open = (few || holds) != turned.contains(&i);
        let toggle = {
            let turned = turned.clone();
            Callback::from(move |_| {
                let mut next = (*turned).clone();
                if !next.remove(&i) {
                    next.insert(i);
                }
                turned.set(next);
            })
        };
        one(&store, props, part, open, toggle)
    };
    let left = parts.len().saturating_sub(*shown);
    let more = {
        let shown = shown.clone();
        Callback::from(move |_| shown.set(*shown + SHOWN))
    };
    html! {
        <div class="parts">
            { for parts.iter().take(*shown).enumerate().map(draw) }
            if left > 0 {
                <button type="button" class="link pad" onclick={more}>{ format!("{left} more…") }</button>
            }
        </div>
    }
}

fn one(
    store: &Store,
    props: &Props,
    part: &Part,
    open: bool,
    toggle: Callback<MouseEvent>,
) -> Html {
    let span = (part.offset, part.len);
    let lit = props.lit == Some(span);
    let (over, out) = pointing(&props.onpoint, span);
    html! {
        <section class={classes!("part", lit.then_some("lit"))}>
            <h4 onmouseenter={over} onmouseleave={out}>
                <button type="button" aria-expanded={open.to_string()} onclick={toggle}
                    onfocus={focusing(&props.onpoint, Some(span))} onblur={focusing(&props.onpoint, None)}>
                    <span class="twist" aria-hidden="true">{ match (part.fields.is_empty(), open) {
                        (true, _) => "",
                        (false, true) => "▾",
                        (false, false) => "▸",
                    } }</span>
                    { &part.title }
                </button>
                <span class="soft figure">{ bytes(part) }</span>
                { leads(store, part) }
            </h4>
            if open {
                <Fields fields={part.fields.clone()} lit={props.lit} chosen={props.chosen}
                    onpoint={props.onpoint.clone()} onchoose={props.onchoose.clone()} />
            }
        </section>
    }
}

/// Which bytes of the block a structure is.
fn bytes(part: &Part) -> String {
    let word = if part.len == 1 { "byte" } else { "bytes" };
    format!("{word} {}", range(part.offset.into(), part.len))
}

/// Where a structure leads to.
fn leads(store: &Store, part: &Part) -> Html {
    let link = |words: String, target: Selection| {
        let to = store.clone();
        let onclick = Callback::from(move |_| to.select(target));
        html! { <button type="button" class="link" {onclick}>{ words }</button> }
    };
    html! {
        <>
            if let Some(nr) = part.inode { { link(format!("inode {nr}"), Selection::inode(nr)) } }
            if let Some(nr) = part.block { { link(format!("block {nr}"), store.block(nr)) } }
        </>
    }
}

#[derive(Properties, PartialEq)]
pub struct FieldsProps {
    /// The fields.
    pub fields: Vec<FieldValue>,
    /// What the pointer or the focus is on.
    pub lit: Option<Span>,
    /// What is chosen.
    pub chosen: Option<Span>,
    /// The pointer or the focus is on some bytes, or left.
    pub onpoint: Callback<Option<Span>>,
    /// Some bytes were chosen.
    pub onchoose: Callback<Span>,
}

/// Fields by name and value, linked with their bytes.
#[component]
pub fn Fields(props: &FieldsProps) -> Html {
    let store = use_store();
    let row = |field: &FieldValue| {
        let span = (field.offset, field.len);
        let (over, out) = pointing(&props.onpoint, span);
        let choose = {
            let onchoose = props.onchoose.clone();
            Callback::from(move |_| onchoose.emit(span))
        };
        let class = classes!(
            "field",
            (props.lit == Some(span)).then_some("lit"),
            (props.chosen == Some(span)).then_some("chosen")
        );
        html! {
            <div {class} onmouseenter={over} onmouseleave={out}>
                <dt>
                    <button type="button" title={field.help.clone()} onclick={choose}
                        aria-pressed={(props.chosen == Some(span)).to_string()}
                        onfocus={focusing(&props.onpoint, Some(span))} onblur={focusing(&props.onpoint, None)}>
                        { &field.name }
                    </button>
                </dt>
                <dd>{ value(&store, field) }</dd>
            </div>
        }
    };
    html! { <dl class="fields">{ for props.fields.iter().map(row) }</dl> }
}

/// A value; one that names a block or an inode leads there.
fn value(store: &Store, field: &FieldValue) -> Html {
    let number = field
        .value
        .replace(',', "")
        .parse::<u64>()
        .ok()
        .filter(|&nr| nr > 0);
    let opened = store.state.opened();
    let target = match (field.shown, number, opened) {
        (Shown::Block, Some(nr), Some(opened)) if nr < opened.summary.blocks => {
            Some(store.block(nr))
        }
        (Shown::Inode, Some(nr), Some(opened)) if nr <= u64::from(opened.summary.inodes) => {
            Some(Selection::inode(nr as u32))
        }
        _ => None,
    };
    match target {
        None => html! { &field.value },
        Some(target) => {
            let to = store.clone();
            let onclick = Callback::from(move |_| to.select(target));
            html! { <button type="button" class="link figure" {onclick}>{ &field.value }</button> }
        }
    }
}

fn pointing(
    onpoint: &Callback<Option<Span>>,
    span: Span,
) -> (Callback<MouseEvent>, Callback<MouseEvent>) {
    let (over, out) = (onpoint.clone(), onpoint.clone());
    (
        Callback::from(move |_| over.emit(Some(span))),
        Callback::from(move |_| out.emit(None)),
    )
}

fn focusing(onpoint: &Callback<Option<Span>>, span: Option<Span>) -> Callback<FocusEvent> {
    let onpoint = onpoint.clone();
    Callback::from(move |_| onpoint.emit(span))
}
