//! An older version of a block, from the journal, beside the current one.

use std::rc::Rc;

use fslab_engine::view::{BlockView, FieldValue};
use yew::prelude::*;

use super::hex::{Hex, Span};
use super::notes::waiting;
use crate::format;
use crate::store::{Fetched, use_query, use_store};
use crate::worker::protocol::{Query, Reply};

/// Fields that differ and are listed.
const SHOWN: usize = 200;

/// Two versions of the chosen block, with what differs marked.
#[component]
pub fn Compare() -> Html {
    let store = use_store();
    let selection = store.state.selection;
    let chosen = selection.block.zip(selection.version);
    let now = use_query(chosen.map(|(nr, _)| Query::Block { nr }));
    let then = use_query(chosen.map(|(nr, journal_block)| Query::Version { nr, journal_block }));
    let only = use_state(|| true);
    let at = use_state(|| 0_u32);
    let Some((nr, version)) = chosen else {
        return html! {
            <section class="picture" aria-label="Versions">
                <h2>{ "Versions" }</h2>
                <p class="hint">{ "Choose an older version of a block in the journal, or beside a block" }</p>
            </section>
        };
    };
    let (Some(old), Some(new)) = (block(&then), block(&now)) else {
        let late = if block(&then).is_none() { &then } else { &now };
        return html! { <section class="picture" aria-label="Versions"><h2>{ "Versions" }</h2>{ waiting(late) }</section> };
    };
    let spans = Rc::new(differences(&old.bytes, &new.bytes));
    let bytes: u32 = spans.iter().map(|(_, len)| len).sum();
    let fields = fields_that_differ(old, new);
    let toggle = {
        let only = only.clone();
        Callback::from(move |_| only.set(!*only))
    };
    let hex = |bytes: &[u8]| {
        html! {
            <Hex bytes={Rc::<[u8]>::from(bytes)} marked={Rc::clone(&spans)} reveal={*at} />
        }
    };
    html! {
        <section class="picture page compare" aria-label="Versions">
            <h2>{ format!("Block {} then and now", format::grouped(nr)) }
                <span>{ match bytes {
                    0 => "no byte differs".to_owned(),
                    n => format!("{} in {}", differ(n), format::count(spans.len() as u64, "place")),
                } }</span>
            </h2>
            <div class="sides">
                <div><h3>{ format!("In the journal, block {}", format::grouped(version.into())) }</h3>{ hex(&old.bytes) }</div>
                <div><h3>{ "Now" }</h3>{ hex(&new.bytes) }</div>
            </div>
            if !spans.is_empty() {
                <div class="row-of-buttons">
                    { jump("Previous difference", &at, previous(&spans, *at)) }
                    { jump("Next difference", &at, following(&spans, *at)) }
                    <button type="button" aria-pressed={only.to_string()} onclick={toggle}>{ "Fields that differ" }</button>
                </div>
            }
            if *only && !spans.is_empty() { { table(&fields) } }
        </section>
    }
}

fn differ(bytes: u32) -> String {
    match bytes {
        1 => "1 byte differs".into(),
        n => format!("{} bytes differ", format::grouped(n.into())),
    }
}

fn block(fetched: &Fetched) -> Option<&BlockView> {
    match &fetched.data()?.reply {
        Reply::Block(block) => Some(block),
        _ => None,
    }
}

fn jump(words: &'static str, at: &UseStateHandle<u32>, to: Option<u32>) -> Html {
    let at = at.clone();
    let onclick = Callback::from(move |_| {
        if let Some(to) = to {
            at.set(to);
        }
    });
    html! { <button type="button" disabled={to.is_none()} {onclick}>{ words }</button> }
}

fn previous(spans: &[Span], at: u32) -> Option<u32> {
    spans.iter().rev().map(|s| s.0).find(|&first| first < at)
}

fn following(spans: &[Span], at: u32) -> Option<u32> {
    spans.iter().map(|s| s.0).find(|&first| first > at)
}

/// Where two versions differ, in order.
fn differences(old: &[u8], new: &[u8]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let longer = old.len().max(new.len());
    for at in 0..longer {
        if old.get(at) == new.get(at) {
            continue;
        }
        match spans.last_mut() {
            Some((first, len)) if *first as usize + *len as usize == at => *len += 1,
            _ => spans.push((at as u32, 1)),
        }
    }
    spans
}

/// A field that differs: in which structure, the value before, the value now.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    part: String,
    name: String,
    then: Option<String>,
    now: Option<String>,
}

fn fields_that_differ(old: &BlockView, new: &BlockView) -> Vec<Change> {
    let (before, after) = (all_fields(old), all_fields(new));
    let mut changes = Vec::new();
    for (part, field) in &after {
        let then = find(&before, field).map(|f| f.value.clone());
        if then.as_ref() != Some(&field.value) {
            changes.push(Change {
                part: (*part).to_owned(),
                name: field.name.clone(),
                then,
                now: Some(field.value.clone()),
            });
        }
    }
    for (part, field) in &before {
        if find(&after, field).is_none() {
            changes.push(Change {
                part: (*part).to_owned(),
                name: field.name.clone(),
                then: Some(field.value.clone()),
                now: None,
            });
        }
    }
    changes
}

type Fields<'a> = Vec<(&'a str, &'a FieldValue)>;

/// All fields, by their place.
fn all_fields(view: &BlockView) -> Fields<'_> {
    let mut fields: Fields<'_> = view
        .parts
        .iter()
        .flat_map(|part| part.fields.iter().map(|field| (part.title.as_str(), field)))
        .collect();
    fields.sort_by_key(|(_, field)| field.offset);
    fields
}

fn find<'a>(fields: &Fields<'a>, like: &FieldValue) -> Option<&'a FieldValue> {
    let first = fields.partition_point(|(_, field)| field.offset < like.offset);
    fields[first..]
        .iter()
        .take_while(|(_, field)| field.offset == like.offset)
        .find(|(_, field)| field.name == like.name)
        .map(|(_, field)| *field)
}

fn table(changes: &[Change]) -> Html {
    if changes.is_empty() {
        return html! { <p class="hint">{ "None of the bytes that differ belongs to a field" }</p> };
    }
    let value = |value: &Option<String>| match value {
        Some(value) => html! { <td class="value">{ value }</td> },
        None => html! { <td class="soft">{ "not there" }</td> },
    };
    let left = changes.len().saturating_sub(SHOWN);
    html! {
        <div class="changes">
            <table class="plain">
                <thead><tr><th>{ "In" }</th><th>{ "Field" }</th><th>{ "Then" }</th><th>{ "Now" }</th></tr></thead>
                <tbody>{ for changes.iter().take(SHOWN).map(|change| html! {
                    <tr>
                        <td class="soft">{ &change.part }</td>
                        <td class="code">{ &change.name }</td>
                        { value(&change.then) }
                        { value(&change.now) }
                    </tr>
                }) }</tbody>
            </table>
            if left > 0 { <p class="soft">{ format!("{} more", format::count(left as u64, "field")) }</p> }
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_differences_are_one_place() {
        assert_eq!(differences(b"abcdef", b"aXYdeZ"), [(1, 2), (5, 1)]);
        assert_eq!(differences(b"ab", b"abc"), [(2, 1)]);
        assert!(differences(b"", b"").is_empty());
        let spans = differences(b"abcdef", b"aXYdeZ");
        assert_eq!(following(&spans, 1), Some(5));
        assert_eq!(previous(&spans, 5), Some(1));
        assert_eq!(previous(&spans, 1), None);
    }
}
