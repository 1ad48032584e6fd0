//! Flash: its pages on a canvas, coloured by choice; what is chosen in words.

use std::rc::Rc;

use fslab_engine::view::lab::{
    BlockState, BlockView, Colouring, FlashKind, FlashRun, FlashState, FlashView, Frame,
    MediumView, Owned, Tone,
};
use fslab_engine::view::owners::Kind;
use gloo::events::{EventListener, EventListenerOptions};
use wasm_bindgen::{Clamped, JsCast as _};
use web_sys::{CanvasRenderingContext2d, Element, HtmlCanvasElement, HtmlSelectElement, ImageData};
use yew::prelude::*;

use super::device_card::CardSegments;
use super::device_map::{Inks, Plan, Rect, Rgb, Scene};
use super::paint::Colours;
use crate::format;
use crate::lab_command::go;
use crate::owner_map::OwnerMap;
use crate::store::{Selection, Store, use_store};
use crate::views::resize::use_resize;

/// Most outlines of a kind.
const OUTLINES: usize = 400;
const CLASSES: [&str; 6] = [
    "journal",
    "data",
    "block-bitmap",
    "directory",
    "extent-index",
    "unowned",
];

/// A block of flash as one cell, where pages are not told apart.
pub fn as_run(block: &BlockView, pages: u32) -> FlashRun {
    let state = match block.state {
        BlockState::Free => FlashState::Erased,
        BlockState::Bad => FlashState::Bad,
        _ if block.valid == 0 && block.stale > 0 => FlashState::Stale,
        _ => FlashState::Valid,
    };
    FlashRun {
        first: block.first,
        len: pages,
        state,
        logical: None,
        cause: None,
        at_ns: None,
        moves: 0,
    }
}

/// How it is looked at.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Look {
    colouring: Colouring,
    zoom: f64,
    pan: (f64, f64),
    /// A page that was chosen here.
    page: Option<u32>,
    /// The page of the keys.
    focus: Option<u32>,
}

impl Look {
    fn zoomed(self, times: f64, at: (f64, f64)) -> Self {
        let zoom = (self.zoom * times).clamp(1.0, 40.0);
        if zoom <= 1.0 {
            return Self {
                zoom,
                pan: (0.0, 0.0),
                ..self
            };
        }
        let part = zoom / self.zoom;
        let pan = |p: f64, at: f64| at - (at - p) * part;
        Self {
            zoom,
            pan: (pan(self.pan.0, at.0), pan(self.pan.1, at.1)),
            ..self
        }
    }
}

/// The picture.
#[component]
pub fn FlashPicture() -> Html {
    let store = use_store();
    let look = use_state_eq(|| Look {
        colouring: Colouring::State,
        zoom: 1.0,
        pan: (0.0, 0.0),
        page: None,
        focus: None,
    });
    let place = use_node_ref();
    let size = use_state_eq(|| (0, 0));
    let drag = use_mut_ref(|| None::<(f64, f64, bool)>);
    let scheme = super::paint::use_scheme();
    {
        let size = size.clone();
        let changed = move |e: Element| size.set((e.client_width(), e.client_height()));
        use_resize(&place, Callback::from(changed));
    }
    wheel(&place, &look);
    let frame = store.state.lab.frame.clone();
    let map = store.state.map.map().cloned();
    let block_size = store
        .state
        .opened()
        .map_or(4096, |o| u64::from(o.summary.block_size.max(512)));
    let about = store.state.lab.chosen.unwrap_or(store.state.lab.event());
    {
        let (place, frame, map) = (place.clone(), frame.clone(), map.clone());
        let deps = (
            (store.state.lab.run, frame.as_ref().map(|f| f.event), about),
            (*look, *size, scheme),
            map.as_ref().map(|m| Rc::as_ptr(m) as usize),
        );
        use_effect_with(deps, move |((_, _, about), (look, ..), _)| {
            if let (Some(frame), Some(canvas)) = (&frame, canvas_of(&place)) {
                // A canvas of no size stays empty.
                let _ = draw(&canvas, frame, map.as_deref(), block_size, *look, *about);
            }
        });
    }
    let Some(frame) = frame else { return html! {} };
    let MediumView::Flash(f) = &frame.medium else {
        return html! {};
    };
    let plan = Plan::new(
        f,
        (f64::from(size.0), f64::from(size.1)),
        look.zoom,
        look.pan,
    );
    let chosen = chosen(&store, f, &look, block_size);
    let pointers = Pointers {
        look: look.clone(),
        drag,
        plan,
        store: store.clone(),
        frame: Rc::clone(&frame),
        block_size,
    };
    let heard = look.focus.map(|page| describe(&store, f, page, block_size));
    html! {
        <section class="picture flash" aria-label="Inside the device">
            <h2>{ "Inside the flash" }<span>{ note(f) }</span></h2>
            <div class="flash-bar">
                <label for="flash-colours">{ "Colour by" }</label>
                { choice(&look) }
                <span class="soft">{ look.colouring.sentence() }</span>
            </div>
            <ul class="page-keys flash-keys" aria-label="Legend">{ for look.colouring.legend().into_iter().map(key) }</ul>
            if f.kind == FlashKind::Card { <CardSegments /> }
            <div class="block-map">
                <div class="map-canvas" ref={place}>
                    <canvas tabindex="0" role="application" aria-roledescription="map of flash" aria-label={summary(f)}
                        aria-keyshortcuts="ArrowLeft ArrowRight ArrowUp ArrowDown Enter + - 0"
                        style={if look.zoom > 1.0 { "touch-action: none" } else { "touch-action: pan-x pan-y" }}
                        onpointerdown={pointers.down()} onpointermove={pointers.moved()} onpointerup={pointers.up()}
                        onkeydown={pointers.keys()} onblur={pointers.blur()} />
                    { overlay(&store, f, &frame, &plan, *size, &chosen, look.focus) }
                </div>
                <div class="map-foot">
                    <div class="pointed">{ explained(&store, f, &chosen, block_size) }{ effects(&store, about) }</div>
                    <p class="unseen" aria-live="polite">{ heard }</p>
                    { zoom_buttons(&look, *size) }
                </div>
            </div>
        </section>
    }
}

/// The wheel zooms.
#[hook]
fn use_wheel(place: &NodeRef, look: &UseStateHandle<Look>) {
    let (place, look) = (place.clone(), look.clone());
    use_effect_with(*look, move |_| {
        let listener = canvas_of(&place).map(|canvas| {
            let options = EventListenerOptions::enable_prevent_default();
            EventListener::new_with_options(&canvas, "wheel", options, move |event| {
                let Some(event) = event.dyn_ref::<WheelEvent>() else {
                    return;
                };
                event.prevent_default();
                let at = (event.offset_x().into(), event.offset_y().into());
                look.set(look.zoomed(if event.delta_y() < 0.0 { 1.25 } else { 0.8 }, at));
            })
        });
        move || drop(listener)
    });
}

use use_wheel as wheel;

fn canvas_of(place: &NodeRef) -> Option<HtmlCanvasElement> {
    let element = place.cast::<Element>()?;
    element.query_selector("canvas").ok()??.dyn_into().ok()
}

fn note(f: &FlashView) -> String {
    let blocks = if f.kind == FlashKind::Card {
        "segment"
    } else {
        "block"
    };
    format!(
        "{} of {} erased",
        format::grouped(f.free_blocks),
        format::count(f.blocks.into(), blocks)
    )
}

fn summary(f: &FlashView) -> String {
    format!(
        "{}: {} of {} pages of {}; {} programmed, {} of them copied, {} erases, write amplification {}.{:02}",
        f.name,
        format::count(f.blocks.into(), "block"),
        f.pages_per_block,
        format::bytes(f.page),
        format::grouped(f.programmed),
        format::grouped(f.copied),
        format::grouped(f.erases),
        f.amplification / 1000,
        f.amplification % 1000 / 10,
    )
}

fn choice(look: &UseStateHandle<Look>) -> Html {
    let to = look.clone();
    let onchange = Callback::from(move |event: Event| {
        let select: Option<HtmlSelectElement> = event.target_dyn_into();
        let nr = select.map_or(0, |s| s.selected_index().max(0) as usize);
        let colouring = Colouring::ALL.get(nr).copied().unwrap_or(Colouring::State);
        to.set(Look { colouring, ..*to });
    });
    let option =
        |c: &Colouring| html! { <option selected={*c == look.colouring}>{ c.name() }</option> };
    html! { <select id="flash-colours" {onchange}>{ for Colouring::ALL.iter().map(option) }</select> }
}

fn key((tone, words): (Tone, String)) -> Html {
    let style = match tone {
        Tone::Ground => "background:var(--kind-free)".to_owned(),
        Tone::Stale => "background:repeating-linear-gradient(-45deg,var(--kind-reserved-descriptors) 0 2px,var(--kind-free) 2px 4px)".to_owned(),
        Tone::Bad => "background:var(--bad-mark)".to_owned(),
        Tone::Kind(kind) => format!("background:var(--kind-{})", kind.word()),
        Tone::Class(i) => format!("background:var(--kind-{})", CLASSES[usize::from(i.min(5))]),
        Tone::Step(i) => format!(
            "background:color-mix(in srgb,var(--kind-superblock) {}%,var(--kind-free))",
            u32::from(i) * 100 / 7
        ),
    };
    let mark = if tone == Tone::Bad { "✕ " } else { "" };
    html! { <li><i class="page-square" {style} aria-hidden="true" />{ mark }{ words }</li> }
}

fn zoom_buttons(look: &UseStateHandle<Look>, size: (i32, i32)) -> Html {
    let middle = (f64::from(size.0) / 2.0, f64::from(size.1) / 2.0);
    let by = |times: f64| {
        let look = look.clone();
        Callback::from(move |_| look.set(look.zoomed(times, middle)))
    };
    html! {
        <div class="map-zoom" role="group" aria-label="Zoom">
            <button type="button" disabled={look.zoom <= 1.0} aria-label="Zoom out" title="Smaller (−)" onclick={by(0.625)}>{ "−" }</button>
            <button type="button" disabled={look.zoom >= 40.0} aria-label="Zoom in" title="Larger (+)" onclick={by(1.6)}>{ "+" }</button>
            <button type="button" disabled={look.zoom <= 1.0} title="Everything (0)" onclick={by(0.0)}>{ "Fit" }</button>
        </div>
    }
}

// What is chosen.

/// The run that a physical page is in.
fn run_of(f: &FlashView, page: u32) -> Option<&FlashRun> {
    let after = f.runs.partition_point(|r| r.first <= page);
    let run = f.runs.get(after.checked_sub(1)?)?;
    (page - run.first < run.len).then_some(run)
}

/// First byte of the partition that a page holds, and its block there.
fn block_of(f: &FlashView, page: u32, block_size: u64) -> Option<u64> {
    let run = run_of(f, page)?;
    let logical = run.logical? + u64::from(page - run.first);
    let end = logical.checked_add(1)?.checked_mul(f.page)?;
    let at = (logical * f.page).max(f.start);
    (end > f.start).then(|| (at - f.start) / block_size)
}

/// Physical pages that hold a block of the filesystem.
fn pages_of(f: &FlashView, block: u64, block_size: u64) -> Vec<u32> {
    let from = f.start + block * block_size;
    let (first, last) = (
        from / f.page.max(1),
        (from + block_size - 1) / f.page.max(1),
    );
    let mut found = Vec::new();
    for run in &f.runs {
        let Some(logical) = run.logical else { continue };
        let (a, b) = (
            logical.max(first),
            (logical + u64::from(run.len)).min(last + 1),
        );
        found.extend((a..b).map(|l| run.first + (l - logical) as u32));
    }
    found
}

/// The page that was chosen here, or those of the block that is chosen anywhere.
fn chosen(store: &Store, f: &FlashView, look: &Look, block_size: u64) -> Vec<u32> {
    let block = store.state.selection.block;
    match (look.page, block) {
        (Some(page), block) if block_of(f, page, block_size) == block => vec![page],
        (Some(page), None) => vec![page],
        (_, Some(block)) => pages_of(f, block, block_size),
        (None, None) => Vec::new(),
    }
}

fn state_words(state: FlashState) -> &'static str {
    match state {
        FlashState::Erased => "erased",
        FlashState::Valid => "valid",
        FlashState::Stale => "out of date",
        FlashState::Bad => "broken",
    }
}

/// A page in words.
fn describe(store: &Store, f: &FlashView, page: u32, block_size: u64) -> String {
    let per_block = f.pages_per_block.max(1);
    let Some(run) = run_of(f, page) else {
        return match f.each.get(page as usize) {
            Some(b) => format!(
                "Blocks from {}: {} pages valid, {} out of date, {} erases",
                b.first, b.valid, b.stale, b.erases
            ),
            None => String::new(),
        };
    };
    let mut words = format!(
        "Page {page} (block {}, its page {}): {}",
        page / per_block,
        page % per_block,
        state_words(run.state)
    );
    if let Some(block) = block_of(f, page, block_size) {
        words.push_str(&format!(", block {block} of the filesystem"));
        let owned = store.state.map.map().and_then(|m| m.at(block));
        if let Some(o) = owned {
            words.push_str(&format!(", {}", o.kind.words()));
            if let Some(inode) = o.inode {
                words.push_str(&format!(" of {}", store.title(inode)));
            }
        }
    } else if run.logical.is_some() {
        words.push_str(", outside the partition");
    }
    words
}

fn explained(store: &Store, f: &FlashView, pages: &[u32], block_size: u64) -> Html {
    let Some(&page) = pages.first() else {
        return html! { <p class="soft">{ summary(f) }</p> };
    };
    let block = block_of(f, page, block_size);
    let owner = block.and_then(|b| store.state.map.map()?.at(b)?.inode);
    let run = run_of(f, page);
    let link = |words: String, to: Selection| {
        let store = store.clone();
        let onclick = Callback::from(move |_| store.select(to));
        html! { <button type="button" class="link" {onclick}>{ words }</button> }
    };
    let cause = run.and_then(|r| r.cause).map(|event| {
        let to = store.clone();
        let onclick = Callback::from(move |_| go(&to, event));
        html! { <>{ ", written because of " }<button type="button" class="link" {onclick}>{ format!("event {}", format::grouped(event)) }</button></> }
    });
    let moves = run.map_or(0, |r| r.moves);
    html! {
        <p class="flash-page">
            { describe(store, f, page, block_size) }
            if pages.len() > 1 { { format!(", and {} more", format::count(pages.len() as u64 - 1, "page")) } }
            { cause }
            if moves > 0 { { format!(", moved {}", format::count(moves.into(), "time")) } }
            if let Some(block) = block { { " · " }{ link(format!("Block {}", format::grouped(block)), store.block(block)) } }
            if let Some(inode) = owner { { " · " }{ link(format!("Inode {inode}"), Selection::inode(inode)) } }
        </p>
    }
}

/// What followed from the event that is explained.
fn effects(store: &Store, about: u64) -> Html {
    let Some(e) = store.state.lab.flash.as_ref().filter(|e| e.event == about) else {
        return html! {};
    };
    if e.written + e.moved + e.erased == 0 {
        return html! { <p class="soft flash-effects">{ format!("Event {} led to nothing in the flash", format::grouped(about)) }</p> };
    }
    html! {
        <p class="flash-effects">{ format!(
            "Because of event {}: {} written, {} moved, {} erased",
            format::grouped(about),
            format::count(e.written, "page"),
            format::grouped(e.moved),
            format::count(e.erased, "block"),
        ) }</p>
    }
}

// Drawing.

fn rgb(css: &str) -> Rgb {
    let number = css
        .strip_prefix('#')
        .and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let [_, r, g, b] = number.unwrap_or(0x88_88_88).to_be_bytes();
    [r, g, b]
}

fn inks(colours: &Colours) -> Inks {
    let named = |kind: &str| rgb(&colours.named(kind));
    Inks {
        back: rgb(&colours.bg),
        ground: rgb(&colours.free),
        stale: named("reserved-descriptors"),
        bad: rgb(&colours.bad),
        kinds: Kind::ALL.iter().map(|k| named(k.word())).collect(),
        classes: CLASSES.map(named),
        ramp: (rgb(&colours.free), named("superblock")),
    }
}

fn draw(
    canvas: &HtmlCanvasElement,
    frame: &Frame,
    map: Option<&OwnerMap>,
    block_size: u64,
    look: Look,
    about: u64,
) -> Option<()> {
    let MediumView::Flash(f) = &frame.medium else {
        return None;
    };
    let ratio = gloo::utils::window().device_pixel_ratio().clamp(1.0, 3.0);
    let size = (
        f64::from(canvas.client_width()),
        f64::from(canvas.client_height()),
    );
    let (width, height) = ((size.0 * ratio) as u32, (size.1 * ratio) as u32);
    if width == 0 || height == 0 {
        return None;
    }
    let mut plan = Plan::new(f, size, look.zoom, look.pan);
    plan.cell *= ratio;
    plan.gap *= ratio;
    plan.origin = (plan.origin.0 * ratio, plan.origin.1 * ratio);
    let colours = Colours::read(canvas)?;
    let owner = |byte: u64| {
        let owned = map?.at(byte / block_size)?;
        Some(Owned {
            kind: owned.kind,
            inode: owned.inode,
        })
    };
    let scene = Scene {
        flash: f,
        plan,
        colouring: look.colouring,
        inks: &inks(&colours),
        now_ns: frame.time_ns,
        chosen: Some(about),
        owner: &owner,
    };
    let mut pixels = vec![0; width as usize * height as usize * 4];
    scene.paint(&mut pixels, width as usize);
    canvas.set_width(width);
    canvas.set_height(height);
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    let image =
        ImageData::new_with_u8_clamped_array_and_sh(Clamped(&pixels), width, height).ok()?;
    context.put_image_data(&image, 0.0, 0.0).ok()
}

fn rect(class: &'static str, (x, y, w, h): Rect) -> Html {
    html! { <rect {class} x={format!("{x:.1}")} y={format!("{y:.1}")} width={format!("{w:.1}")} height={format!("{h:.1}")} /> }
}

/// What lies over the cells: what was moved and erased in this step, what followed from the
/// event, what is chosen.
fn overlay(
    store: &Store,
    f: &FlashView,
    frame: &Frame,
    plan: &Plan,
    size: (i32, i32),
    chosen: &[u32],
    focus: Option<u32>,
) -> Html {
    let pages = !f.runs.is_empty();
    let seen =
        |r: &Rect| r.0 + r.2 > 0.0 && r.1 + r.3 > 0.0 && r.0 < size.0.into() && r.1 < size.1.into();
    let cells = |first: u64, len: u32| {
        let first = u32::try_from(first).unwrap_or(u32::MAX);
        (first..first.saturating_add(len))
            .filter(|c| *c < plan.total())
            .map(|c| plan.cell(c))
    };
    let about = store.state.lab.chosen.unwrap_or(store.state.lab.event());
    let effects = store
        .state
        .lab
        .flash
        .as_ref()
        .filter(|e| e.event == about && pages);
    let followed = effects.iter().flat_map(|e| &e.pages).flat_map(|p| {
        let class = if p.2 { "followed moved" } else { "followed" };
        cells(p.0, p.1).map(move |r| (class, r))
    });
    let emptied = effects
        .iter()
        .flat_map(|e| &e.blocks)
        .filter(|b| **b < plan.blocks);
    let moves = f.moves.iter().filter(|_| pages);
    let moved = moves.clone().flat_map(|m| {
        cells(m.from, m.len)
            .map(|r| ("from", r))
            .chain(cells(m.to, m.len).map(|r| ("to", r)))
    });
    let lines = moves.filter(|m| m.from < plan.total().into() && m.to < plan.total().into()).take(64).map(|m| {
        let ((x, y, w, h), (u, v, ..)) = (plan.cell(m.from as u32), plan.cell(m.to as u32));
        html! { <path d={format!("M{:.1} {:.1}L{:.1} {:.1}", x + w / 2.0, y + h / 2.0, u + w / 2.0, v + h / 2.0)} /> }
    });
    let erased = f.erased.iter().filter(|b| **b < plan.blocks);
    html! {
        <svg class="flash-over" width={size.0.to_string()} height={size.1.to_string()} aria-hidden="true">
            { for followed.filter(|r| seen(&r.1)).take(OUTLINES).map(|(class, r)| rect(class, r)) }
            { for emptied.map(|b| rect("followed erased", plan.block(*b))) }
            <g class="moves" key={frame.event}>
                { for erased.map(|b| rect("erased", plan.block(*b))) }
                { for moved.filter(|r| seen(&r.1)).take(OUTLINES).map(|(class, r)| rect(class, r)) }
                { for lines }
            </g>
            { for chosen.iter().take(OUTLINES).map(|c| rect("chosen", plan.cell(*c))) }
            { focus.map(|c| rect("focus", plan.cell(c))) }
        </svg>
    }
}

// Pointers and keys.

struct Pointers {
    look: UseStateHandle<Look>,
    drag: Rc<std::cell::RefCell<Option<(f64, f64, bool)>>>,
    plan: Plan,
    store: Store,
    frame: Rc<Frame>,
    block_size: u64,
}

fn spot(event: &PointerEvent) -> (f64, f64) {
    (event.offset_x().into(), event.offset_y().into())
}

impl Pointers {
    fn down(&self) -> Callback<PointerEvent> {
        let drag = Rc::clone(&self.drag);
        Callback::from(move |event: PointerEvent| {
            let (x, y) = spot(&event);
            *drag.borrow_mut() = Some((x, y, false));
        })
    }

    fn moved(&self) -> Callback<PointerEvent> {
        let (drag, look) = (Rc::clone(&self.drag), self.look.clone());
        Callback::from(move |event: PointerEvent| {
            let (x, y) = spot(&event);
            let mut drag = drag.borrow_mut();
            let Some((px, py, dragging)) = *drag else {
                return;
            };
            if event.buttons() == 0 {
                *drag = None;
                return;
            }
            let far = (x - px).abs() + (y - py).abs() > 4.0;
            if look.zoom > 1.0 && (dragging || far) {
                let pan = (look.pan.0 + x - px, look.pan.1 + y - py);
                look.set(Look { pan, ..*look });
                *drag = Some((x, y, true));
            }
        })
    }

    fn up(&self) -> Callback<PointerEvent> {
        let (drag, plan, choose) = (Rc::clone(&self.drag), self.plan, self.choose());
        Callback::from(move |event: PointerEvent| {
            let (x, y) = spot(&event);
            let click = drag.borrow_mut().take().is_some_and(|d| !d.2);
            if let Some(page) = plan.at(x, y).filter(|_| click) {
                choose.emit(page);
            }
        })
    }

    /// Chooses a page, and with it the block of the filesystem that it holds.
    fn choose(&self) -> Callback<u32> {
        let (look, store, frame, block_size) = (
            self.look.clone(),
            self.store.clone(),
            Rc::clone(&self.frame),
            self.block_size,
        );
        Callback::from(move |page: u32| {
            look.set(Look {
                page: Some(page),
                ..*look
            });
            let MediumView::Flash(f) = &frame.medium else {
                return;
            };
            match block_of(f, page, block_size) {
                Some(block) => store.select(store.block(block)),
                None => store.select(Selection::default()),
            }
        })
    }

    fn keys(&self) -> Callback<KeyboardEvent> {
        let (look, plan, choose) = (self.look.clone(), self.plan, self.choose());
        Callback::from(move |event: KeyboardEvent| {
            let at = look
                .focus
                .or(look.page)
                .unwrap_or(0)
                .min(plan.total().saturating_sub(1));
            let centre = || {
                let (x, y, w, h) = plan.cell(at);
                (x + w / 2.0, y + h / 2.0)
            };
            let step = |dx, dy| Look {
                focus: Some(plan.step(at, dx, dy)),
                ..*look
            };
            let next = match event.key().as_str() {
                "ArrowLeft" => step(-1, 0),
                "ArrowRight" => step(1, 0),
                "ArrowUp" => step(0, -1),
                "ArrowDown" => step(0, 1),
                "+" | "=" => look.zoomed(1.6, centre()),
                "-" => look.zoomed(0.625, centre()),
                "0" => look.zoomed(0.0, (0.0, 0.0)),
                "Enter" => {
                    choose.emit(at);
                    event.prevent_default();
                    event.stop_propagation();
                    return;
                }
                _ => return,
            };
            event.prevent_default();
            event.stop_propagation();
            look.set(next);
        })
    }

    fn blur(&self) -> Callback<FocusEvent> {
        let look = self.look.clone();
        Callback::from(move |_| {
            look.set(Look {
                focus: None,
                ..*look
            })
        })
    }
}
