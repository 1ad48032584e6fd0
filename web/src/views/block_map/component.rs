//! The component: a canvas with keys and pointers, and what is pointed at in words.

use std::rc::Rc;

use gloo::events::{EventListener, EventListenerOptions};
use js_sys::Array;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::Closure;
use web_sys::{
    HtmlCanvasElement, KeyboardEvent, MouseEvent, PointerEvent, ResizeObserver, WheelEvent,
};
use yew::prelude::*;

use super::board::{Board, Content, SharedBoard, Shown};
use super::core::geometry::Geometry;
use super::core::highlight::Highlight;
use super::core::raster::Level;
use super::core::shares::Totals;
use super::core::steps::{Step, step};
use super::core::words;
use super::pointers::{Gesture, Point, Pointers};
use crate::kinds::KindSet;
use crate::owner_map::OwnerMap;

/// How much a press of a zoom button zooms.
const BUTTON: f64 = 1.6;
/// How much a double click zooms.
const DOUBLE: f64 = 2.5;

#[derive(Properties, PartialEq, Clone)]
pub struct Props {
    /// How the filesystem is cut into groups.
    pub geometry: Geometry,
    /// Who owns each block; empty as long as nothing is known.
    pub map: Rc<OwnerMap>,
    /// The map is of a scan that is not done: blocks without an owner are no damage yet.
    #[prop_or_default]
    pub partial: bool,
    /// Kinds that are not dimmed; empty for all.
    #[prop_or_default]
    pub filter: KindSet,
    /// What is chosen. What newly is gets brought in sight.
    #[prop_or_default]
    pub highlight: Highlight,
    /// Names the owner of a block better than by its inode's number, as "/home/a.txt (inode
    /// 12), block 3 of the file".
    #[prop_or_default]
    pub owner: Option<Callback<u64, Option<AttrValue>>>,
    /// Told the block that pointer or keys point at, so that its owner can be looked up.
    #[prop_or_default]
    pub on_point: Callback<Option<u64>>,
    /// Told the block that is chosen.
    pub on_select: Callback<u64>,
    /// Told the group that is chosen, where groups are what one sees.
    pub on_group: Callback<u64>,
}

impl Props {
    fn content(&self) -> Content {
        Content {
            geometry: self.geometry,
            map: self.map.clone(),
            partial: self.partial,
            filter: self.filter,
            highlight: self.highlight.clone(),
        }
    }
}

/// What a pointer does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Down,
    Move,
    Up,
    Cancel,
}

/// What happens to it. Places are in CSS pixels from the canvas's corner.
#[derive(Debug)]
pub enum Msg {
    /// Another size.
    Resized,
    /// Another colour scheme.
    Restyled,
    /// It is shown in another way.
    Shown(Shown),
    /// A pointer does something: which, and where in CSS pixels.
    Pointer(Phase, i32, Point),
    /// A double click.
    Double(Point),
    /// The wheel turns: how much, and where.
    Wheel(f64, Point),
    /// The pointer leaves.
    Leave,
    /// A key moves the focus.
    Step(Step),
    /// The focus is chosen.
    Choose,
    /// The canvas gets the focus, by keys or not.
    Focus(bool),
    /// It loses it.
    Blur,
    /// Zooms.
    Zoom(f64),
    /// Shows everything.
    Fit,
}

/// The block map.
pub struct BlockMap {
    canvas: NodeRef,
    board: Option<SharedBoard>,
    pointers: Pointers,
    /// Block under the pointer.
    hover: Option<u64>,
    /// Block of the keys.
    focus: Option<u64>,
    focused: bool,
    shown: Option<Shown>,
    totals: Totals,
    _watch: Option<Watch>,
}

impl Component for BlockMap {
    type Message = Msg;
    type Properties = Props;

    fn create(ctx: &Context<Self>) -> Self {
        Self {
            canvas: NodeRef::default(),
            board: None,
            pointers: Pointers::default(),
            hover: None,
            focus: None,
            focused: false,
            shown: None,
            totals: Totals::of(&ctx.props().map),
            _watch: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &Props) -> bool {
        let props = ctx.props();
        if !Rc::ptr_eq(&old.map, &props.map) {
            self.totals = Totals::of(&props.map);
        }
        if old.geometry != props.geometry {
            self.hover = None;
            self.focus = None;
        }
        if old.highlight.block != props.highlight.block && props.highlight.block.is_some() {
            self.focus = props.highlight.block;
        }
        if let Some(board) = &self.board {
            board.change(|board| board.show(props.content()));
        }
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let Some(board) = self.board.clone() else {
            return false;
        };
        match msg {
            Msg::Resized => board.change(Board::resize),
            Msg::Restyled => board.change(Board::restyle),
            Msg::Shown(shown) => {
                self.shown = Some(shown);
                return true;
            }
            Msg::Pointer(phase, id, at) => {
                let unit = board.look(Board::unit);
                let at = scaled(at, unit);
                let gesture = match phase {
                    Phase::Down => {
                        self.pointers.down(id, at);
                        Gesture::None
                    }
                    Phase::Move => self.pointers.drag(id, at, unit),
                    Phase::Up => self.pointers.up(id, at),
                    Phase::Cancel => self.pointers.cancel(id),
                };
                return self.gesture(ctx, &board, gesture);
            }
            Msg::Double(at) => {
                board.change(|board| board.zoom(DOUBLE, Some(scaled(at, board.unit()))));
            }
            Msg::Wheel(times, at) => {
                let at = scaled(at, board.look(Board::unit));
                board.change(|board| board.grow(times, at, at, true));
                return self.point(ctx, &board, Some(at));
            }
            Msg::Leave => return self.point(ctx, &board, None),
            Msg::Step(to) => return self.step(ctx, &board, to),
            Msg::Choose => self.choose(ctx, &board, self.focus),
            Msg::Focus(seen) => {
                self.focused = true;
                return seen && self.look_at_focus(ctx, &board);
            }
            Msg::Blur => {
                self.focused = false;
                board.change(|board| board.focus = None);
                return true;
            }
            Msg::Zoom(times) => board.change(|board| board.zoom(times, None)),
            Msg::Fit => board.change(Board::fit),
        }
        false
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let props = ctx.props();
        let fit = self.shown.is_none_or(|shown| shown.fit);
        let largest = self.shown.is_some_and(|shown| shown.largest);
        let scale = self
            .shown
            .map(|shown| words::scale(shown.level, shown.cell, shown.unit));
        let label = words::summary(&self.totals, &props.geometry, props.partial);
        // Where there is nothing to move, a finger scrolls the page.
        let touch = if fit {
            "touch-action: pan-x pan-y"
        } else {
            "touch-action: none"
        };
        let keys = self.focus.filter(|_| self.focused);
        let pointed = self.hover.or(keys).or(props.highlight.block);
        let words = pointed.map(|block| self.words(props, block));
        let heard = self.focus.filter(|_| self.focused && self.hover.is_none());
        html! {
            <div class="block-map">
                <div class="map-canvas">
                    <canvas ref={&self.canvas} tabindex="0" role="application" aria-label={label}
                        aria-roledescription="map" style={touch}
                        aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown PageUp PageDown Home End Enter + - 0"
                        onpointerdown={link.batch_callback(press)}
                        onpointermove={link.callback(|event| pointer(Phase::Move, &event))}
                        onpointerup={link.callback(|event| pointer(Phase::Up, &event))}
                        onpointercancel={link.callback(|event| pointer(Phase::Cancel, &event))}
                        onpointerleave={link.callback(|_| Msg::Leave)}
                        ondblclick={link.callback(|event: MouseEvent| Msg::Double(place(&event)))}
                        onkeydown={link.batch_callback(|event| key(&event))}
                        onfocus={link.callback(|event: FocusEvent| Msg::Focus(is_by_keys(&event)))}
                        onblur={link.callback(|_| Msg::Blur)} />
                </div>
                <div class="map-foot">
                    <p class="pointed">
                        if let Some(words) = &words { { words } } else { <span class="soft">{ scale }</span> }
                    </p>
                    <p class="unseen" aria-live="polite">{ heard.map(|block| self.words(props, block)) }</p>
                    <div class="map-zoom" role="group" aria-label="Zoom">
                        <button type="button" disabled={fit} title="Smaller (−)" aria-label="Zoom out"
                            onclick={link.callback(|_| Msg::Zoom(1.0 / BUTTON))}>{ "−" }</button>
                        <button type="button" disabled={largest} title="Larger (+)" aria-label="Zoom in"
                            onclick={link.callback(|_| Msg::Zoom(BUTTON))}>{ "+" }</button>
                        <button type="button" disabled={fit} title="Everything (0)"
                            onclick={link.callback(|_| Msg::Fit)}>{ "Fit" }</button>
                    </div>
                </div>
            </div>
        }
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if !first {
            return;
        }
        let Some(canvas) = self.canvas.cast::<HtmlCanvasElement>() else {
            return;
        };
        let on_shown = ctx.link().callback(Msg::Shown);
        let Some(board) = Board::new(canvas.clone(), ctx.props().content(), on_shown) else {
            return;
        };
        let board = SharedBoard::new(board);
        self._watch = Watch::start(&canvas, ctx.link(), &board);
        self.board = Some(board);
    }
}

impl BlockMap {
    fn words(&self, props: &Props, block: u64) -> String {
        let Some(board) = &self.board else {
            return String::new();
        };
        if board.look(Board::level) == Level::Groups {
            let group = props.geometry.group_of(block);
            return board.look(|board| {
                words::group(
                    group,
                    board.shares().get(group),
                    &props.geometry,
                    props.partial,
                )
            });
        }
        let owned = props.map.at(block);
        let owner = props.owner.as_ref().and_then(|owner| owner.emit(block));
        words::block(
            block,
            owned.as_ref(),
            &props.geometry,
            props.partial,
            owner.as_deref(),
        )
    }

    fn gesture(&mut self, ctx: &Context<Self>, board: &SharedBoard, gesture: Gesture) -> bool {
        match gesture {
            Gesture::None => false,
            Gesture::Hover(at) => self.point(ctx, board, Some(at)),
            Gesture::Drag(dx, dy) => {
                board.change(|board| board.pan(dx, dy));
                self.point(ctx, board, None)
            }
            Gesture::Pinch { from, to, grow } => {
                board.change(|board| board.grow(grow, from, to, false));
                self.point(ctx, board, None)
            }
            Gesture::PinchEnd => {
                board.change(Board::settle);
                false
            }
            Gesture::Click(at) => {
                let block = board.look(|board| board.block_at(at));
                self.focus = block.or(self.focus);
                self.choose(ctx, board, block);
                true
            }
        }
    }

    /// Points at a place, or at none.
    fn point(&mut self, ctx: &Context<Self>, board: &SharedBoard, at: Option<Point>) -> bool {
        let block = at.and_then(|at| board.look(|board| board.block_at(at)));
        if block == self.hover {
            return false;
        }
        self.hover = block;
        board.change(|board| board.hover = block);
        ctx.props().on_point.emit(block);
        true
    }

    fn step(&mut self, ctx: &Context<Self>, board: &SharedBoard, to: Step) -> bool {
        let props = ctx.props();
        let from = self.focus.unwrap_or_else(|| board.look(Board::middle));
        let (plan, level) = board.look(|board| (board.plan(), board.level()));
        self.focus = Some(step(&plan, &props.map, level, from, to));
        self.look_at_focus(ctx, board)
    }

    /// Shows the focus, and points at it.
    fn look_at_focus(&mut self, ctx: &Context<Self>, board: &SharedBoard) -> bool {
        let block = self.focus.unwrap_or_else(|| board.look(Board::middle));
        self.focus = Some(block);
        self.hover = None;
        board.change(|board| {
            board.hover = None;
            board.focus = Some(block);
            board.reveal(block);
        });
        ctx.props().on_point.emit(Some(block));
        true
    }

    fn choose(&self, ctx: &Context<Self>, board: &SharedBoard, block: Option<u64>) {
        let Some(block) = block else { return };
        if board.look(Board::level) == Level::Groups {
            ctx.props()
                .on_group
                .emit(ctx.props().geometry.group_of(block));
        } else {
            ctx.props().on_select.emit(block);
        }
    }
}

fn scaled(at: Point, unit: f64) -> Point {
    (at.0 * unit, at.1 * unit)
}

fn place(event: &MouseEvent) -> Point {
    (event.offset_x().into(), event.offset_y().into())
}

fn pointer(phase: Phase, event: &PointerEvent) -> Msg {
    Msg::Pointer(phase, event.pointer_id(), place(event))
}

/// A press of the main button, or of a finger: the canvas hears of it until it ends.
fn press(event: PointerEvent) -> Option<Msg> {
    if event.button() != 0 {
        return None;
    }
    if let Some(canvas) = event.target_dyn_into::<HtmlCanvasElement>() {
        // Fails for a pointer that is gone by now.
        let _ = canvas.set_pointer_capture(event.pointer_id());
    }
    Some(pointer(Phase::Down, &event))
}

/// Whether the canvas got the focus in a way that wants to see it.
fn is_by_keys(event: &FocusEvent) -> bool {
    event
        .target_dyn_into::<HtmlCanvasElement>()
        .and_then(|canvas| canvas.matches(":focus-visible").ok())
        .unwrap_or(false)
}

fn key(event: &KeyboardEvent) -> Option<Msg> {
    if event.ctrl_key() || event.alt_key() || event.meta_key() {
        return None;
    }
    let shift = event.shift_key();
    let msg = match (event.key().as_str(), shift) {
        ("ArrowRight", false) => Msg::Step(Step::Across(true)),
        ("ArrowLeft", false) => Msg::Step(Step::Across(false)),
        ("ArrowDown", false) => Msg::Step(Step::Along(true)),
        ("ArrowUp", false) => Msg::Step(Step::Along(false)),
        ("ArrowRight", true) => Msg::Step(Step::Run(true)),
        ("ArrowLeft", true) => Msg::Step(Step::Run(false)),
        ("ArrowDown", true) => Msg::Step(Step::Tile(true)),
        ("ArrowUp", true) => Msg::Step(Step::Tile(false)),
        ("PageDown", _) => Msg::Step(Step::Group(true)),
        ("PageUp", _) => Msg::Step(Step::Group(false)),
        ("Home", _) => Msg::Step(Step::First),
        ("End", _) => Msg::Step(Step::Last),
        ("Enter", _) => Msg::Choose,
        // `=` is `+` without Shift on many keyboards.
        ("+" | "=", _) => Msg::Zoom(BUTTON),
        ("-" | "_", _) => Msg::Zoom(1.0 / BUTTON),
        ("0", _) => Msg::Fit,
        _ => return None,
    };
    event.prevent_default();
    event.stop_propagation();
    Some(msg)
}

/// What of the page's changes concerns the canvas, for as long as it is kept.
struct Watch {
    observer: ResizeObserver,
    _resized: Closure<dyn FnMut(Array)>,
    _listeners: [Option<EventListener>; 2],
}

impl Watch {
    fn start(
        canvas: &HtmlCanvasElement,
        link: &yew::html::Scope<BlockMap>,
        board: &SharedBoard,
    ) -> Option<Self> {
        let resized = {
            let link = link.clone();
            Closure::<dyn FnMut(Array)>::new(move |_| link.send_message(Msg::Resized))
        };
        let observer = ResizeObserver::new(resized.as_ref().unchecked_ref()).ok()?;
        observer.observe(canvas);
        Some(Self {
            observer,
            _resized: resized,
            _listeners: [Some(watch_wheel(canvas, link, board)), watch_scheme(link)],
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// The wheel zooms; when there is nothing left to shrink it scrolls the page.
fn watch_wheel(
    canvas: &HtmlCanvasElement,
    link: &yew::html::Scope<BlockMap>,
    board: &SharedBoard,
) -> EventListener {
    let (link, board) = (link.clone(), board.clone());
    let options = EventListenerOptions::enable_prevent_default();
    EventListener::new_with_options(canvas, "wheel", options, move |event| {
        let Some(event) = event.dyn_ref::<WheelEvent>() else {
            return;
        };
        let pixels = event.delta_y()
            * if event.delta_mode() == WheelEvent::DOM_DELTA_LINE {
                24.0
            } else {
                1.0
            };
        if pixels > 0.0 && board.look(Board::is_fit) {
            return;
        }
        event.prevent_default();
        // Two fingers that pinch on a touchpad turn the wheel with Ctrl, in small steps.
        let slow = if event.ctrl_key() { 60.0 } else { 300.0 };
        let times = 2_f64.powf((-pixels / slow).clamp(-1.0, 1.0));
        link.send_message(Msg::Wheel(times, place(event)));
    })
}

fn watch_scheme(link: &yew::html::Scope<BlockMap>) -> Option<EventListener> {
    let link = link.clone();
    let query = gloo::utils::window()
        .match_media("(prefers-color-scheme: dark)")
        .ok()??;
    Some(EventListener::new(&query, "change", move |_| {
        link.send_message(Msg::Restyled);
    }))
}
