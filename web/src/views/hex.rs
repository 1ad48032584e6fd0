//! Bytes in hexadecimal, with what they mean marked.

use std::rc::Rc;

use wasm_bindgen::JsCast as _;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::lines::Lines;

/// Height of a row in CSS pixels.
pub const HEIGHT: f64 = 17.0;

/// Some bytes that belong together: the first, and how many.
pub type Span = (u32, u32);

#[derive(Properties, PartialEq)]
pub struct Props {
    /// The bytes.
    pub bytes: Rc<[u8]>,
    /// Bytes of a row.
    #[prop_or(8)]
    pub columns: u32,
    /// Number of the first byte, as it is shown.
    #[prop_or_default]
    pub base: u32,
    /// What the pointer or the focus is on.
    #[prop_or_default]
    pub lit: Option<Span>,
    /// What is chosen.
    #[prop_or_default]
    pub chosen: Option<Span>,
    /// Bytes to mark, in order and apart.
    #[prop_or_default]
    pub marked: Rc<Vec<Span>>,
    /// The row to bring into sight, by a byte in it.
    #[prop_or_default]
    pub reveal: Option<u32>,
    /// The pointer or the cursor is on a byte, or left.
    #[prop_or_default]
    pub onpoint: Callback<Option<u32>>,
    /// A byte was chosen.
    #[prop_or_default]
    pub onchoose: Callback<u32>,
}

/// Rows of bytes: their numbers, the bytes, the same as text.
#[component]
pub fn Hex(props: &Props) -> Html {
    let cursor = use_state_eq(|| None::<u32>);
    let columns = props.columns.max(1);
    let total = props.bytes.len() as u32;
    let count = u64::from(total.div_ceil(columns));
    let look = Look {
        bytes: Rc::clone(&props.bytes),
        marked: Rc::clone(&props.marked),
        columns,
        base: props.base,
        lit: props.lit,
        chosen: props.chosen,
        cursor: *cursor,
        digits: if u64::from(props.base) + u64::from(total) > 0x1_0000 {
            6
        } else {
            4
        },
    };
    let line = Callback::from(move |nr: u64| look.row(nr));

    let onmouseover = {
        let onpoint = props.onpoint.clone();
        Callback::from(move |event: MouseEvent| onpoint.emit(byte_of(&event)))
    };
    let onmouseleave = {
        let onpoint = props.onpoint.clone();
        Callback::from(move |_: MouseEvent| onpoint.emit(None))
    };
    let onclick = {
        let (onchoose, cursor) = (props.onchoose.clone(), cursor.clone());
        Callback::from(move |event: MouseEvent| {
            if let Some(byte) = byte_of(&event) {
                cursor.set(Some(byte));
                onchoose.emit(byte);
            }
        })
    };
    let onkeydown = keys(props, &cursor, columns, total);
    let reveal = cursor
        .or(props.reveal)
        .map(|byte| u64::from(byte / columns));
    html! {
        <div class={format!("hex hex-{columns}")} {onmouseover} {onmouseleave} {onclick}>
            <Lines {count} height={HEIGHT} {line} {reveal} {onkeydown} role="group"
                label="Bytes; arrow keys move from byte to byte" active={
                    AttrValue::from(cursor.map_or(String::new(), |byte| format!("byte-{byte}")))
                } />
        </div>
    }
}

fn keys(
    props: &Props,
    cursor: &UseStateHandle<Option<u32>>,
    columns: u32,
    total: u32,
) -> Callback<KeyboardEvent> {
    let cursor = cursor.clone();
    let (onpoint, onchoose) = (props.onpoint.clone(), props.onchoose.clone());
    let start = props.chosen.map_or(0, |(first, _)| first);
    Callback::from(move |event: KeyboardEvent| {
        let at = cursor.unwrap_or(start);
        let last = total.saturating_sub(1);
        let next = match event.code().as_str() {
            "ArrowRight" => at + 1,
            "ArrowLeft" => at.saturating_sub(1),
            "ArrowDown" => at + columns,
            "ArrowUp" => at.checked_sub(columns).unwrap_or(at),
            "PageDown" => at + columns * 16,
            "PageUp" => at.saturating_sub(columns * 16),
            "Home" => 0,
            "End" => last,
            "Enter" | "Space" => {
                onchoose.emit(at);
                at
            }
            _ => return,
        };
        event.prevent_default();
        event.stop_propagation();
        let next = next.min(last);
        cursor.set(Some(next));
        onpoint.emit(Some(next));
    })
}

/// The byte that an event is on.
fn byte_of(event: &MouseEvent) -> Option<u32> {
    let element: HtmlElement = event.target()?.dyn_into().ok()?;
    element.get_attribute("data-byte")?.parse().ok()
}

/// All that a row needs.
struct Look {
    bytes: Rc<[u8]>,
    marked: Rc<Vec<Span>>,
    columns: u32,
    base: u32,
    lit: Option<Span>,
    chosen: Option<Span>,
    cursor: Option<u32>,
    digits: usize,
}

impl Look {
    fn row(&self, nr: u64) -> Html {
        let first = nr as u32 * self.columns;
        let row = first..(first + self.columns).min(self.bytes.len() as u32);
        html! {
            <div class="hex-row" key={nr}>
                <span class="hex-at">{ format!("{:0width$x}", self.base + first, width = self.digits) }</span>
                <span class="hex-bytes">{ for row.clone().map(|byte| self.byte(byte)) }</span>
                <span class="hex-text" aria-hidden="true">{ for row.map(|byte| self.character(byte)) }</span>
            </div>
        }
    }

    fn byte(&self, nr: u32) -> Html {
        let byte = self.bytes[nr as usize];
        let mut class = classes!((byte == 0).then_some("zero"), self.class(nr));
        if self.cursor == Some(nr) {
            class.push("cursor");
        }
        html! {
            <span id={format!("byte-{nr}")} data-byte={nr.to_string()} {class}>{ format!("{byte:02x} ") }</span>
        }
    }

    fn character(&self, nr: u32) -> Html {
        let byte = self.bytes[nr as usize];
        let c = if (0x20..0x7f).contains(&byte) {
            char::from(byte)
        } else {
            '·'
        };
        let class = classes!((c == '·').then_some("zero"), self.class(nr));
        html! { <span data-byte={nr.to_string()} {class}>{ c }</span> }
    }

    fn class(&self, nr: u32) -> Classes {
        let inside = |span: Option<Span>| {
            span.is_some_and(|(first, len)| (first..first.saturating_add(len)).contains(&nr))
        };
        let after = self.marked.partition_point(|&(first, _)| first <= nr);
        let marked = after.checked_sub(1).map(|i| self.marked[i]);
        classes!(
            inside(self.chosen).then_some("chosen"),
            inside(self.lit).then_some("lit"),
            inside(marked).then_some("marked")
        )
    }
}
