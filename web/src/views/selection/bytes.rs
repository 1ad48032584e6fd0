//! The bytes below the fields, and what of both is lit.

use std::rc::Rc;

use fslab_engine::view::{FieldValue, Part};
use yew::prelude::*;

use crate::store::{Action, Selection, Store};
use crate::views::hex::{Hex, Span};

#[derive(Properties, PartialEq)]
pub struct Props {
    /// What the bytes are of.
    pub title: AttrValue,
    /// The bytes.
    pub bytes: Rc<[u8]>,
    /// The structures in them.
    pub parts: Rc<Vec<Part>>,
    /// What the pointer or the focus is on.
    pub lit: Option<Span>,
    /// What is chosen.
    pub chosen: Option<Span>,
    /// The pointer or the focus is on some bytes, or left.
    pub onpoint: Callback<Option<Span>>,
    /// Some bytes were chosen.
    pub onchoose: Callback<Span>,
}

/// The panel of bytes, with a line on what is lit.
#[component]
pub fn Bytes(props: &Props) -> Html {
    let onpoint = {
        let (parts, onpoint) = (Rc::clone(&props.parts), props.onpoint.clone());
        Callback::from(move |byte: Option<u32>| {
            onpoint.emit(byte.map(|byte| span_at(&parts, byte)));
        })
    };
    let onchoose = {
        let (parts, onchoose) = (Rc::clone(&props.parts), props.onchoose.clone());
        Callback::from(move |byte| onchoose.emit(span_at(&parts, byte)))
    };
    let at = props.lit.or(props.chosen);
    html! {
        <section class="bytes" aria-label={props.title.clone()}>
            <h3>{ &props.title }</h3>
            <p class="caption" aria-live="polite">{ caption(&props.parts, at) }</p>
            <Hex bytes={Rc::clone(&props.bytes)} lit={props.lit} chosen={props.chosen}
                reveal={at.map(|(first, _)| first)} {onpoint} {onchoose} />
        </section>
    }
}

/// The smallest field that holds a byte; the byte alone if none does.
fn span_at(parts: &[Part], byte: u32) -> Span {
    field_at(parts, byte).map_or((byte, 1), |field| (field.offset, field.len))
}

fn field_at(parts: &[Part], byte: u32) -> Option<&FieldValue> {
    parts
        .iter()
        .flat_map(|part| &part.fields)
        .filter(|field| (field.offset..field.offset.saturating_add(field.len)).contains(&byte))
        .min_by_key(|field| field.len)
}

/// What some bytes are, in a line.
fn caption(parts: &[Part], span: Option<Span>) -> Html {
    let Some((first, len)) = span else {
        return html! { <span class="soft">{ "Point at a field or a byte to see what belongs together" }</span> };
    };
    let exact = parts
        .iter()
        .flat_map(|part| part.fields.iter().map(move |field| (part, field)))
        .find(|(_, field)| (field.offset, field.len) == (first, len));
    let place = match len {
        0 | 1 => format!("byte {first}"),
        _ => format!("bytes {first}–{}", first.saturating_add(len - 1)),
    };
    if let Some((_, field)) = exact {
        return html! {
            <>
                <b class="code">{ &field.name }</b>{ format!(" = {}", field.value) }
                <span class="soft">{ format!(" · {place} · {}", field.help) }</span>
            </>
        };
    }
    let part = parts
        .iter()
        .find(|part| (part.offset, part.len) == (first, len));
    match part {
        Some(part) => {
            html! { <><b>{ &part.title }</b><span class="soft">{ format!(" · {place}") }</span></> }
        }
        None => html! { <span class="soft">{ format!("{place}: no field") }</span> },
    }
}

/// What the pointer lights, and what was chosen for longer, which is in the address.
#[hook]
pub fn use_light(store: &Store) -> Light {
    let lit = use_state_eq(|| None::<Span>);
    let onpoint = {
        let lit = lit.clone();
        Callback::from(move |span| lit.set(span))
    };
    let onchoose = {
        let store = store.clone();
        Callback::from(move |span: Span| {
            let selection = store.state.selection;
            let bytes = (selection.bytes != Some(span)).then_some(span);
            store.act(Action::Select(Selection { bytes, ..selection }));
        })
    };
    Light {
        lit: *lit,
        chosen: store.state.selection.bytes,
        onpoint,
        onchoose,
    }
}

/// What is lit and what is chosen of the bytes, and how to change it.
pub struct Light {
    /// What the pointer or the focus is on.
    pub lit: Option<Span>,
    /// What is chosen.
    pub chosen: Option<Span>,
    /// The pointer or the focus is on some bytes, or left.
    pub onpoint: Callback<Option<Span>>,
    /// Some bytes were chosen.
    pub onchoose: Callback<Span>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_engine::ext4::layout::Shown;

    #[test]
    fn a_byte_belongs_to_its_smallest_field() {
        let field = |name: &str, offset, len| FieldValue {
            name: name.into(),
            offset,
            len,
            shown: Shown::Number,
            value: String::new(),
            help: String::new(),
        };
        let parts = [Part {
            title: "a".into(),
            offset: 0,
            len: 60,
            fields: vec![field("all", 0, 60), field("one", 8, 4)],
            inode: None,
            block: None,
        }];
        assert_eq!(span_at(&parts, 9), (8, 4));
        assert_eq!(span_at(&parts, 1), (0, 60));
        assert_eq!(span_at(&parts, 60), (60, 1));
    }
}
