//! A long list of lines of one height, of which only those in sight are drawn.

use web_sys::Element;
use yew::prelude::*;

use super::resize::use_resize;

/// Lines drawn above and below those in sight.
const MARGIN: u64 = 8;
/// Lines drawn before the size of the list is known.
const FIRST: u64 = 40;
/// Height of a line that a finger hits.
const FINGER: f64 = 36.0;
/// Tallest content, in pixels, that browsers lay out exactly; longer lists are squeezed.
const TALLEST: f64 = 8_000_000.0;

/// The height of lines that are chosen by pointing: more where fingers point.
pub fn height(fine: f64) -> f64 {
    let query = gloo::utils::window().match_media("(pointer: coarse)");
    match query {
        Ok(Some(query)) if query.matches() => fine.max(FINGER),
        _ => fine,
    }
}

#[derive(Properties, PartialEq)]
pub struct Props {
    /// Lines in all.
    pub count: u64,
    /// Height of a line in CSS pixels; style sheets know it as `--row`.
    pub height: f64,
    /// Draws a line.
    pub line: Callback<u64, Html>,
    /// A line to bring into sight whenever it changes.
    #[prop_or_default]
    pub reveal: Option<u64>,
    /// Classes of the list.
    #[prop_or_default]
    pub class: Classes,
    /// Role of the list.
    #[prop_or(AttrValue::Static("presentation"))]
    pub role: AttrValue,
    /// Its name.
    #[prop_or_default]
    pub label: Option<AttrValue>,
    /// Lines for a screen reader, where the list is a grid.
    #[prop_or_default]
    pub rowcount: Option<AttrValue>,
    /// The `id` of the current line; the list takes the focus for it.
    #[prop_or_default]
    pub active: Option<AttrValue>,
    /// Keys, while the list has the focus.
    #[prop_or_default]
    pub onkeydown: Callback<KeyboardEvent>,
    /// Told the first and last line in sight, so that they can be fetched.
    #[prop_or_default]
    pub onrange: Callback<(u64, u64)>,
}

/// What part of the list is in sight, in pixels.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Sight {
    top: f64,
    height: f64,
}

#[component]
pub fn Lines(props: &Props) -> Html {
    let node = use_node_ref();
    let sight = use_state_eq(Sight::default);
    {
        let sight = sight.clone();
        use_resize(
            &node,
            Callback::from(move |element: Element| sight.set(measure(&element))),
        );
    }

    let tall = props.count as f64 * props.height;
    // Scrolled pixels for each pixel of the list.
    let squeeze = (tall / TALLEST).max(1.0);
    let range = range(props, *sight, squeeze);
    {
        let (node, height) = (node.clone(), props.height);
        use_effect_with((props.reveal, props.count), move |&(line, _)| {
            if let (Some(line), Some(element)) = (line, node.cast::<Element>()) {
                bring(&element, line as f64 * height / squeeze, height);
            }
        });
    }

    let onrange = props.onrange.clone();
    use_effect_with((range, props.count), move |&(range, _)| onrange.emit(range));

    let onscroll = {
        let sight = sight.clone();
        Callback::from(move |event: Event| sight.set(measure(&event.target_unchecked_into())))
    };
    let (first, last) = range;
    // While squeezed, lines are placed from what is in sight rather than from the start.
    let offset = if squeeze > 1.0 {
        sight.top - (sight.top * squeeze / props.height - first as f64) * props.height
    } else {
        first as f64 * props.height
    };
    html! {
        <div ref={node} class={classes!("lines", props.class.clone())} {onscroll}
            role={props.role.clone()} aria-label={props.label.clone()}
            aria-rowcount={props.rowcount.clone()} style={format!("--row:{}px", props.height)}
            tabindex={if props.active.is_some() { "0" } else { "-1" }}
            aria-activedescendant={props.active.clone()} onkeydown={props.onkeydown.clone()}>
            <div class="lines-all" role="presentation" style={format!("height:{}px", tall.min(TALLEST))}>
                <div role="presentation" style={format!("transform:translateY({}px)", offset.max(0.0))}>
                    { for (first..last).map(|line| props.line.emit(line)) }
                </div>
            </div>
        </div>
    }
}

/// The lines to draw: first, and one past the last.
fn range(props: &Props, sight: Sight, squeeze: f64) -> (u64, u64) {
    if sight.height == 0.0 {
        return (0, props.count.min(FIRST));
    }
    let first = (sight.top * squeeze / props.height) as u64;
    let seen = (sight.height / props.height).ceil() as u64 + 1;
    let last = first
        .saturating_add(seen)
        .saturating_add(MARGIN)
        .min(props.count);
    (first.saturating_sub(MARGIN).min(last), last)
}

fn measure(element: &Element) -> Sight {
    Sight {
        top: f64::from(element.scroll_top()),
        height: f64::from(element.client_height()),
    }
}

/// Scrolls no more than it takes to have a line in sight.
fn bring(element: &Element, top: f64, height: f64) {
    let sight = measure(element);
    let target = if top < sight.top {
        top
    } else if top + height > sight.top + sight.height {
        top + height - sight.height
    } else {
        return;
    };
    element.set_scroll_top(target as i32);
}
