//! The timeline: lanes for calls, page cache, journal and device, and the place on it.

use std::rc::Rc;

use fslab_engine::view::lab::{Axis, EventView, LaneView, Lanes};
use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::JsCast as _;
use web_sys::{Element, HtmlCanvasElement, PointerEvent, WheelEvent};
use yew::prelude::*;

use super::paint::{self, CALL_LANES, Colours, Picture, paint};
use super::window;
use crate::format;
use crate::store::{LabAction, Store, use_store};
use crate::views::resize::use_resize;
use crate::worker::lab::Seek;

/// The least of the axis that is shown.
const LEAST: u64 = 10;
/// Causes and effects that are marked.
const LINKED: usize = 40;

/// The lanes.
#[component]
pub fn Timeline() -> Html {
    let store = use_store();
    let frame = use_node_ref();
    let canvas = use_node_ref();
    let width = use_state_eq(|| 0);
    let dragging = use_mut_ref(|| false);
    let said = use_state_eq(String::new);
    {
        let width = width.clone();
        use_resize(
            &frame,
            Callback::from(move |e: Element| width.set(e.client_width())),
        );
    }
    use_lanes(&store, *width);
    use_paint(&store, &canvas, *width);
    use_wheel(&store, &canvas);

    let lab = &store.state.lab;
    let pointer = |down: bool| {
        let (store, dragging, said) = (store.clone(), dragging.clone(), said.clone());
        Callback::from(move |event: PointerEvent| {
            let Some(lanes) = &store.state.lab.lanes else {
                return;
            };
            let Some(at) = place(&event, lanes) else {
                return;
            };
            if down {
                *dragging.borrow_mut() = true;
                capture(&event);
                store.lab(LabAction::Play(false));
            }
            if *dragging.borrow() {
                store.engine.seek(match lanes.window.axis {
                    Axis::Events => Seek::Event(at),
                    Axis::Time => Seek::Time(at),
                });
            } else {
                said.set(pointed(&event, lanes, at));
            }
        })
    };
    let up = {
        let dragging = dragging.clone();
        Callback::from(move |_: PointerEvent| *dragging.borrow_mut() = false)
    };
    let leave = {
        let said = said.clone();
        Callback::from(move |_: PointerEvent| said.set(String::new()))
    };
    let run = lab.info();
    let calls = lab.lanes.as_ref().map_or(&[][..], |lanes| &lanes.calls);
    let tall = paint::height(calls.len());
    html! {
        <div class="timeline">
            { names(calls) }
            <div class="lanes" ref={frame} style={format!("height:{tall}px")}>
                <canvas ref={canvas} tabindex="0" role="slider" aria-label="Time"
                    aria-valuemin={run.map_or(0, |r| r.first).to_string()}
                    aria-valuemax={run.map_or(0, |r| r.end.saturating_sub(1)).to_string()}
                    aria-valuenow={lab.event().to_string()} aria-valuetext={value_text(&store)}
                    title={(*said).clone()} onpointerdown={pointer(true)} onpointermove={pointer(false)}
                    onpointerup={up.clone()} onpointercancel={up} onpointerleave={leave} />
                if lab.zoom.is_some() { { all_of_it(&store) } }
            </div>
        </div>
    }
}

fn value_text(store: &Store) -> String {
    let lab = &store.state.lab;
    let time = lab.frame.as_ref().map_or(0, |f| f.time_ns);
    format!("event {}, {}", lab.event(), format::time(time))
}

/// The way back from a part of the run.
fn all_of_it(store: &Store) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |_| to.lab(LabAction::Zoom(None)));
    html! { <button type="button" class="whole" {onclick}>{ "Show the whole run" }</button> }
}

/// The lanes' names, in line with them.
fn names(calls: &[LaneView]) -> Html {
    let several = calls.len() > 1;
    let calls = calls.iter().take(CALL_LANES).map(|lane| {
        let words = if several { lane.name.clone() } else { "Calls".into() };
        html! { <li style={format!("height:{}px", paint::LANE)} title={lane.name.clone()}>{ words }</li> }
    });
    let fixed = [
        ("Page cache", paint::CACHE),
        ("Journal", paint::LANE),
        ("Device", paint::LANE),
    ];
    let mut all: Vec<Html> = calls.collect();
    if all.is_empty() {
        all.push(html! { <li style={format!("height:{}px", paint::LANE)}>{ "Calls" }</li> });
    }
    html! {
        <ul class="lane-names" style={format!("gap:{}px", paint::GAP)} aria-hidden="true">
            { for all }
            { for fixed.into_iter().map(|(name, tall)| html! { <li style={format!("height:{tall}px")}>{ name }</li> }) }
        </ul>
    }
}

/// Asks for the part that is shown, in as many columns as there are.
#[hook]
fn use_lanes(store: &Store, width: i32) {
    let wanted = (width > 0).then(|| window(store, width as u32)).flatten();
    let engine = store.engine.clone();
    use_effect_with((store.state.lab.run, wanted), move |(_, wanted)| {
        if let Some(window) = wanted {
            engine.ask_lanes(*window);
        }
    });
}

/// Where the shown instant is on the axis.
fn at(store: &Store) -> u64 {
    let lab = &store.state.lab;
    match lab.lanes.as_ref().map(|l| l.window.axis) {
        Some(Axis::Time) => lab.frame.as_ref().map_or(0, |f| f.time_ns),
        _ => lab.event(),
    }
}

#[hook]
fn use_paint(store: &Store, canvas: &NodeRef, width: i32) {
    let lab = &store.state.lab;
    let scheme = paint::use_scheme();
    let lanes = lab.lanes.clone();
    let marks = Rc::clone(&lab.bookmarks);
    let about = lab.chosen.unwrap_or(lab.event());
    let chain = lab.chain.clone().filter(|c| c.event.id == about);
    let canvas = canvas.clone();
    use_effect_with(
        (ByAddress(lanes), at(store), width, scheme, marks, chain),
        move |(lanes, at, width, _, marks, chain)| {
            let (Some(lanes), Some(canvas)) = (&lanes.0, canvas.cast::<HtmlCanvasElement>()) else {
                return;
            };
            let Some(colours) = Colours::read(&canvas) else {
                return;
            };
            let bookmarks: Vec<u64> = match lanes.window.axis {
                Axis::Events => marks.iter().copied().collect(),
                Axis::Time => Vec::new(),
            };
            let place = |e: &EventView| match lanes.window.axis {
                Axis::Events => e.id,
                Axis::Time => e.at_ns,
            };
            let of = |events: &[EventView]| events.iter().take(LINKED).map(place).collect();
            let (causes, effects): (Vec<u64>, Vec<u64>) = match chain {
                Some(chain) => (of(&chain.causes), of(&chain.effects)),
                None => Default::default(),
            };
            let picture = Picture {
                lanes,
                at: *at,
                bookmarks: &bookmarks,
                causes: &causes,
                effects: &effects,
                width: f64::from(*width),
                colours: &colours,
            };
            // A browser without a 2d canvas shows the log of events.
            let _ = paint(&canvas, &picture);
        },
    );
}

/// Lanes by where they are kept: comparing them takes longer than drawing.
struct ByAddress(Option<Rc<Lanes>>);

impl PartialEq for ByAddress {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Rc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }
}

fn part(canvas: &Element, client_x: i32) -> f64 {
    let rect = canvas.get_bounding_client_rect();
    ((f64::from(client_x) - rect.left()) / rect.width().max(1.0)).clamp(0.0, 1.0)
}

fn place(event: &PointerEvent, lanes: &Lanes) -> Option<u64> {
    let canvas: Element = event.target()?.dyn_into().ok()?;
    let w = &lanes.window;
    let into = part(&canvas, event.client_x()) * (w.to - w.from) as f64;
    Some((w.from + into as u64).min(w.to - 1))
}

fn capture(event: &PointerEvent) {
    if let Some(canvas) = event.target().and_then(|t| t.dyn_into::<Element>().ok()) {
        // A pointer that is gone already cannot be held.
        let _ = canvas.set_pointer_capture(event.pointer_id());
    }
}

/// What is pointed at, in words.
fn pointed(event: &PointerEvent, lanes: &Lanes, at: u64) -> String {
    let lane_of = |y: f64| {
        let calls = lanes.calls.len().clamp(1, CALL_LANES);
        let row = (y / (paint::LANE + paint::GAP)) as usize;
        if row < calls {
            return lanes.calls.get(row);
        }
        let below = y - calls as f64 * (paint::LANE + paint::GAP) - paint::CACHE - paint::GAP;
        match below {
            b if b < 0.0 => None,
            b if b < paint::LANE + paint::GAP => Some(&lanes.journal),
            b if b < 2.0 * (paint::LANE + paint::GAP) => Some(&lanes.device),
            _ => None,
        }
    };
    let lane = lane_of(f64::from(event.offset_y()));
    let span = lane.and_then(|lane| lane.spans.iter().find(|s| s.from <= at && at <= s.to));
    match span {
        Some(span) if span.count > 1 => {
            format!("{} in {}", span.count, lane.map_or("", |l| &l.name))
        }
        Some(span) => span.words.clone(),
        None => String::new(),
    }
}

/// The wheel shows more or less of the run, around the pointer.
#[hook]
fn use_wheel(store: &Store, canvas: &NodeRef) {
    let current = use_mut_ref(|| store.clone());
    *current.borrow_mut() = store.clone();
    let canvas = canvas.clone();
    use_effect_with((), move |()| {
        let listener = canvas.cast::<Element>().map(|element| {
            let options = EventListenerOptions::enable_prevent_default();
            EventListener::new_with_options(&element.clone(), "wheel", options, move |event| {
                if let Some(event) = event.dyn_ref::<WheelEvent>() {
                    event.prevent_default();
                    zoom(&current.borrow(), &element, event);
                }
            })
        });
        move || drop(listener)
    });
}

fn zoom(store: &Store, canvas: &Element, event: &WheelEvent) {
    let Some(lanes) = &store.state.lab.lanes else {
        return;
    };
    let (w, whole) = (&lanes.window, lanes.whole);
    let (old, all) = ((w.to - w.from) as f64, (whole.1 - whole.0) as f64);
    let sideways = event.shift_key() || event.delta_x().abs() > event.delta_y().abs();
    let (from, len) = if sideways {
        let by = event.delta_x() + event.delta_y();
        (w.from as f64 + by / 600.0 * old, old)
    } else {
        let len = (old * (event.delta_y() / 400.0).exp()).clamp(LEAST as f64, all);
        let around = part(canvas, event.client_x());
        (w.from as f64 + around * (old - len), len)
    };
    let from = from.clamp(whole.0 as f64, (whole.1 as f64 - len).max(whole.0 as f64));
    let all_shown = len >= all;
    let window = (!all_shown).then_some((from as u64, (from + len) as u64));
    store.lab(LabAction::Zoom(window));
}
