//! The start of a file's contents, as text or as bytes.

use std::rc::Rc;

use fslab_engine::ext4::layout::FileType;
use yew::prelude::*;

use super::has_contents;
use super::header::CommandButton;
use super::hex::Hex;
use super::notes::waiting;
use crate::command::Command;
use crate::format;
use crate::store::{Data, Fetched, use_query, use_store};
use crate::worker::protocol::{Query, Reply};

/// Bytes that are shown.
const SHOWN: u32 = 64 << 10;

/// How contents are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum As {
    Text,
    Bytes,
}

/// The chosen file's contents.
#[component]
pub fn Contents() -> Html {
    let store = use_store();
    let nr = store.state.selection.inode;
    let inode = use_query(nr.map(|nr| Query::Inode { nr }));
    let kind = file_type(&inode);
    let readable = kind.is_some_and(has_contents);
    let fetched = use_query(nr.filter(|_| readable).map(|nr| Query::Bytes {
        nr,
        offset: 0,
        len: SHOWN,
    }));
    let shown = use_state(|| None::<As>);
    let Some(nr) = nr else {
        return html! {
            <section class="picture" aria-label="Contents">
                <h2>{ "Contents" }</h2>
                <p class="hint">{ "Choose a file to see its contents" }</p>
            </section>
        };
    };
    let title = format!("Contents of {}", store.title(nr));
    let body = match (&fetched, kind) {
        (_, Some(_)) if !readable => {
            html! { <p class="hint">{ "Only regular files and symbolic links have contents of this kind" }</p> }
        }
        (Fetched::Got(data), _) => {
            let how = shown.unwrap_or_else(|| guess(&data.bytes));
            contents(data, how)
        }
        (_, None) => waiting(&inode),
        _ => waiting(&fetched),
    };
    let tab = |how: As, name: &'static str| {
        let on = fetched
            .data()
            .is_some_and(|data| shown.unwrap_or_else(|| guess(&data.bytes)) == how);
        let shown = shown.clone();
        let onclick = Callback::from(move |_| shown.set(Some(how)));
        html! { <button type="button" aria-pressed={on.to_string()} {onclick}>{ name }</button> }
    };
    html! {
        <section class="picture contents" aria-label="Contents">
            <h2>{ title }<span>{ fetched.data().map(|data| note(&inode, data)) }</span></h2>
            <div class="row-of-buttons">
                { tab(As::Text, "Text") }
                { tab(As::Bytes, "Bytes") }
                <CommandButton command={Command::Save} />
            </div>
            { body }
        </section>
    }
}

fn file_type(fetched: &Fetched) -> Option<FileType> {
    match &fetched.data()?.reply {
        Reply::Inode(inode) => Some(inode.file_type),
        _ => None,
    }
}

fn note(inode: &Fetched, data: &Data) -> String {
    let size = match inode.data().map(|data| &data.reply) {
        Some(Reply::Inode(inode)) => inode.size,
        _ => 0,
    };
    let here = data.bytes.len() as u64;
    if here < size {
        format!(
            "the first {} of {}",
            format::bytes(here),
            format::bytes(size)
        )
    } else {
        format::count(here, "byte")
    }
}

/// Text if it reads as such: valid UTF-8 (but for a character cut off at the end) without
/// the bytes that text has not.
fn guess(bytes: &[u8]) -> As {
    let valid = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    if valid && !bytes.contains(&0) {
        As::Text
    } else {
        As::Bytes
    }
}

fn contents(data: &Rc<Data>, how: As) -> Html {
    if data.bytes.is_empty() {
        return html! { <p class="hint">{ "The file is empty" }</p> };
    }
    match how {
        As::Text => html! { <pre class="text" tabindex="0">{ text(&data.bytes) }</pre> },
        As::Bytes => html! { <Hex bytes={Rc::<[u8]>::from(data.bytes.as_slice())} columns=16 /> },
    }
}

/// The bytes as text; what is no text shows as a mark.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| match c {
            '\n' | '\t' => c,
            // As one sees them where text is edited: ␀, ␛ and their like.
            c if u32::from(c) < 32 => char::from_u32(0x2400 + u32::from(c)).unwrap_or('�'),
            c if c.is_control() => '�',
            // What turns the direction of reading would make text look like another.
            '\u{061C}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}' => '�',
            c => c,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cut_off_in_a_character_is_still_text() {
        assert!(guess("grüß".as_bytes()) == As::Text);
        assert!(guess(&"grü".as_bytes()[..3]) == As::Text);
        assert!(guess(b"\x7fELF\0") == As::Bytes);
        assert!(guess(b"\xff\xfe") == As::Bytes);
    }

    #[test]
    fn control_characters_are_seen_but_do_nothing() {
        assert_eq!(text(b"a\x1b[1m\n\0"), "a␛[1m\n␀");
        assert_eq!(text("\u{202e}x".as_bytes()), "�x");
    }
}
