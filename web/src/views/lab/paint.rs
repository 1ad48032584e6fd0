//! The timeline's lanes on a canvas.

use fslab_engine::view::lab::{Axis, LaneView, Lanes, Level, MarkKind, Span, SpanKind};
use gloo::events::EventListener;
use wasm_bindgen::JsCast as _;
use web_sys::{CanvasRenderingContext2d, CssStyleDeclaration, HtmlCanvasElement};
use yew::prelude::*;

use crate::format;

/// Height of a lane of calls, transactions or requests, CSS pixels.
pub const LANE: f64 = 18.0;
/// Height of the lane of pages.
pub const CACHE: f64 = 26.0;
/// Between two lanes.
pub const GAP: f64 = 4.0;
/// Height of the axis.
pub const AXIS: f64 = 18.0;
/// Lanes of calls that there is room for.
pub const CALL_LANES: usize = 4;

/// Colours of the page.
#[derive(Clone, Debug)]
pub struct Colours {
    style: CssStyleDeclaration,
    pub bg: String,
    pub ink: String,
    pub soft: String,
    pub line: String,
    pub sel: String,
    pub bad: String,
    pub free: String,
}

impl Colours {
    /// As they are for an element now.
    pub fn read(canvas: &HtmlCanvasElement) -> Option<Self> {
        let style = gloo::utils::window().get_computed_style(canvas).ok()??;
        let of = |name: &str| property(&style, name);
        Some(Self {
            bg: of("--bg"),
            ink: of("--ink"),
            soft: of("--soft"),
            line: of("--line"),
            sel: of("--sel"),
            bad: of("--bad-mark"),
            free: of("--kind-free"),
            style,
        })
    }

    /// The colour of a kind of block, or the ink.
    pub fn named(&self, kind: &str) -> String {
        match kind {
            "ink" => self.ink.clone(),
            kind => property(&self.style, &format!("--kind-{kind}")),
        }
    }
}

fn property(style: &CssStyleDeclaration, name: &str) -> String {
    let value = style.get_property_value(name).unwrap_or_default();
    let value = value.trim();
    // Short colours are written out, for those who want six digits.
    match value.strip_prefix('#') {
        Some(hex) if hex.len() == 3 => {
            let twice: String = hex.chars().flat_map(|c| [c, c]).collect();
            format!("#{twice}")
        }
        _ => value.to_owned(),
    }
}

/// A number that changes with the colour scheme.
#[hook]
pub fn use_scheme() -> bool {
    let query = "(prefers-color-scheme: dark)";
    let find = move || gloo::utils::window().match_media(query).ok().flatten();
    let dark = use_state_eq(|| find().is_some_and(|q| q.matches()));
    {
        let dark = dark.clone();
        use_effect_with((), move |()| {
            let listener = find().map(|list| {
                let again = list.clone();
                EventListener::new(&list, "change", move |_| dark.set(again.matches()))
            });
            move || drop(listener)
        });
    }
    *dark
}

/// How high the lanes are, with so many of calls.
pub fn height(calls: usize) -> f64 {
    let calls = calls.clamp(1, CALL_LANES) as f64;
    calls * (LANE + GAP) + CACHE + GAP + 2.0 * (LANE + GAP) + AXIS
}

/// What is drawn.
pub struct Picture<'a> {
    pub lanes: &'a Lanes,
    /// Where one is, on the axis.
    pub at: u64,
    /// Marked places.
    pub bookmarks: &'a [u64],
    /// Places of what caused the event, and of what it led to.
    pub causes: &'a [u64],
    pub effects: &'a [u64],
    pub width: f64,
    pub colours: &'a Colours,
}

/// Draws the lanes.
pub fn paint(canvas: &HtmlCanvasElement, picture: &Picture<'_>) -> Option<()> {
    let context = canvas.get_context("2d").ok()??;
    let context: CanvasRenderingContext2d = context.dyn_into().ok()?;
    let ratio = gloo::utils::window().device_pixel_ratio().max(1.0);
    let tall = height(picture.lanes.calls.len());
    canvas.set_width((picture.width * ratio) as u32);
    canvas.set_height((tall * ratio) as u32);
    context.scale(ratio, ratio).ok()?;
    let pen = Pen {
        context: &context,
        p: picture,
    };
    pen.all(tall);
    Some(())
}

struct Pen<'a> {
    context: &'a CanvasRenderingContext2d,
    p: &'a Picture<'a>,
}

impl Pen<'_> {
    /// Where a place on the axis is.
    fn x(&self, at: u64) -> f64 {
        let w = &self.p.lanes.window;
        (at as f64 - w.from as f64) / ((w.to - w.from).max(1) as f64) * self.p.width
    }

    fn rect(&self, x: f64, y: f64, w: f64, h: f64, colour: &str) {
        self.context.set_fill_style_str(colour);
        self.context.fill_rect(x, y, w, h);
    }

    fn text(&self, words: &str, x: f64, y: f64, colour: &str) {
        self.context.set_fill_style_str(colour);
        // Text that does not fit the canvas is cut by it.
        let _ = self.context.fill_text(words, x, y);
    }

    fn all(&self, tall: f64) {
        let c = self.p.colours;
        self.context.set_font("11px system-ui, sans-serif");
        self.rect(0.0, 0.0, self.p.width, tall, &c.bg);
        let mut y = 0.0;
        let none = LaneView {
            name: String::new(),
            spans: Vec::new(),
        };
        let calls = &self.p.lanes.calls;
        let calls = if calls.is_empty() {
            std::slice::from_ref(&none)
        } else {
            calls
        };
        for lane in calls.iter().take(CALL_LANES) {
            self.lane(lane, y);
            y += LANE + GAP;
        }
        self.cache(y);
        self.risk(y + CACHE);
        y += CACHE + GAP;
        self.lane(&self.p.lanes.journal, y);
        self.marks(y, MarkKind::Commit);
        y += LANE + GAP;
        self.lane(&self.p.lanes.device, y);
        self.unstable(y + LANE);
        y += LANE + GAP;
        self.errors(y - GAP);
        self.axis(y);
        self.bookmarks(y);
        self.linked(y);
        self.playhead(tall - AXIS);
    }

    fn ground(&self, y: f64, h: f64) {
        self.rect(0.0, y, self.p.width, h, &self.p.colours.free);
    }

    fn lane(&self, lane: &LaneView, y: f64) {
        self.ground(y, LANE);
        for span in &lane.spans {
            self.span(span, y);
        }
    }

    fn span(&self, span: &Span, y: f64) {
        let c = self.p.colours;
        let (a, b) = (
            self.x(span.from).max(-1.0),
            self.x(span.to).min(self.p.width + 1.0),
        );
        let w = (b - a).max(1.5);
        let inset = if span.count > 1 { 4.0 } else { 2.0 };
        let (top, h) = (y + inset, LANE - 2.0 * inset);
        let (fill, ink) = self.fill(span.kind);
        match span.kind {
            SpanKind::Running | SpanKind::Sleep => {
                self.outline(a, top, w, h, &fill, span.kind == SpanKind::Running)
            }
            // A wall: nothing passes it.
            SpanKind::Flush => self.rect(a, y, w.clamp(2.0, 3.0), LANE, &c.ink),
            _ => self.rect(a, top, w, h, &fill),
        }
        if span.kind == SpanKind::WriteFua {
            self.rect(a, top, w, 2.0, &c.ink);
        }
        if w > 24.0 && span.kind != SpanKind::Flush {
            self.label(&span.words, a + 4.0, y + 13.0, w - 8.0, &ink);
        }
    }

    /// Colour of a span, and of the words on it.
    fn fill(&self, kind: SpanKind) -> (String, String) {
        let c = self.p.colours;
        let named = |kind| c.named(kind);
        let dark = "#000000".to_owned();
        match kind {
            SpanKind::Call => {
                let ground = named("directory");
                let ink = readable(&ground);
                (ground, ink)
            }
            SpanKind::Failed => (c.bad.clone(), dark),
            SpanKind::Sleep => (c.soft.clone(), c.soft.clone()),
            SpanKind::Running => (named("journal"), c.ink.clone()),
            SpanKind::Committing => (named("journal"), dark),
            SpanKind::Read => (named("symlink"), dark),
            SpanKind::Write | SpanKind::WriteFua => (named("data"), dark),
            SpanKind::Discard => (named("boot"), dark),
            SpanKind::Flush => (c.ink.clone(), dark),
        }
    }

    /// Promised, or waiting: not there yet.
    fn outline(&self, x: f64, y: f64, w: f64, h: f64, colour: &str, dashed: bool) {
        let ctx = self.context;
        ctx.set_stroke_style_str(colour);
        let dash = js_sys::Array::new();
        if dashed {
            dash.push(&4.0.into());
            dash.push(&3.0.into());
        }
        // A list of two numbers is always a pattern.
        let _ = ctx.set_line_dash(&dash);
        ctx.set_line_width(1.0);
        ctx.stroke_rect(x + 0.5, y + 0.5, (w - 1.0).max(1.0), h - 1.0);
        let _ = ctx.set_line_dash(&js_sys::Array::new());
    }

    /// Words, or the first of them, or none: never half a word.
    fn label(&self, words: &str, x: f64, y: f64, room: f64, colour: &str) {
        let fits = |text: &str| {
            let width = self.context.measure_text(text).map(|m| m.width());
            !text.is_empty() && width.is_ok_and(|w| w <= room)
        };
        let short = words.split('(').next().unwrap_or_default();
        for text in [words, short] {
            if fits(text) {
                return self.text(text, x, y, colour);
            }
        }
    }

    /// Dirty pages as an area; those without an address hatched over it.
    fn cache(&self, y: f64) {
        self.ground(y, CACHE);
        let levels = &self.p.lanes.levels;
        let top = levels.iter().map(|l| l.dirty).max().unwrap_or(0).max(1) as f64;
        let c = self.p.colours;
        let ends = levels
            .iter()
            .skip(1)
            .map(|l| l.at)
            .chain([self.p.lanes.window.to]);
        for (level, end) in levels.iter().zip(ends) {
            let (a, b) = (self.x(level.at), self.x(end));
            let part = |n: u64| (n as f64 / top).min(1.0) * (CACHE - 3.0);
            let dirty = part(level.dirty);
            self.rect(a, y + CACHE - dirty, b - a, dirty, &c.named("data"));
            let delayed = part(level.delayed.min(level.dirty));
            if delayed > 0.0 {
                self.hatch(a, y + CACHE - delayed, b - a, delayed);
            }
        }
    }

    fn hatch(&self, x: f64, y: f64, w: f64, h: f64) {
        let ctx = self.context;
        ctx.save();
        ctx.begin_path();
        ctx.rect(x, y, w, h);
        ctx.clip();
        ctx.set_stroke_style_str(&self.p.colours.ink);
        ctx.set_line_width(0.6);
        ctx.begin_path();
        // From a raster of the whole, so that neighbours go on as one.
        let step = 5.0;
        let mut at = ((x - h) / step).floor() * step;
        while at < x + w {
            ctx.move_to(at, y + h);
            ctx.line_to(at + h, y);
            at += step;
        }
        ctx.stroke();
        ctx.restore();
    }

    fn marks(&self, y: f64, kind: MarkKind) {
        let c = self.p.colours;
        for mark in self.p.lanes.marks.iter().filter(|m| m.kind == kind) {
            let x = self.x(mark.at);
            if kind == MarkKind::Commit {
                self.diamond(x, y + LANE / 2.0, 5.0, &c.ink);
            }
        }
    }

    fn diamond(&self, x: f64, y: f64, r: f64, colour: &str) {
        let ctx = self.context;
        ctx.set_fill_style_str(colour);
        ctx.begin_path();
        ctx.move_to(x, y - r);
        ctx.line_to(x + r, y);
        ctx.line_to(x, y + r);
        ctx.line_to(x - r, y);
        ctx.close_path();
        ctx.fill();
    }

    fn errors(&self, bottom: f64) {
        let c = self.p.colours;
        for mark in self
            .p
            .lanes
            .marks
            .iter()
            .filter(|m| m.kind == MarkKind::Error)
        {
            let x = self.x(mark.at);
            self.rect(x, 0.0, 1.0, bottom, &c.bad);
            self.text("✕", x + 2.0, 11.0, &c.bad);
        }
    }

    /// Calls where loss would show: the stretch in which contents or names are in memory
    /// only.
    fn risk(&self, bottom: f64) {
        let ctx = self.context;
        ctx.save();
        ctx.set_global_alpha(0.14);
        self.stretches(|l| l.dirty + l.uncommitted > 0, 0.0, bottom);
        ctx.restore();
    }

    /// A line below the device while it has writes that are not safe.
    fn unstable(&self, y: f64) {
        self.stretches(|l| l.unstable > 0, y, 2.0);
    }

    /// The stretches for which something holds, in the colour of loss.
    fn stretches(&self, holds: impl Fn(&Level) -> bool, y: f64, tall: f64) {
        let levels = &self.p.lanes.levels;
        let ends = levels.iter().skip(1).map(|l| l.at);
        let ends = ends.chain([self.p.lanes.window.to]);
        let mut open: Option<f64> = None;
        for (level, end) in levels.iter().zip(ends) {
            match (holds(level), open) {
                (true, None) => open = Some(self.x(level.at)),
                (false, Some(from)) => {
                    self.rect(from, y, self.x(level.at) - from, tall, &self.p.colours.bad);
                    open = None;
                }
                _ => {}
            }
            if let Some(from) = open.filter(|_| end >= self.p.lanes.window.to) {
                self.rect(from, y, self.p.width - from, tall, &self.p.colours.bad);
            }
        }
    }

    fn axis(&self, y: f64) {
        let c = self.p.colours;
        let w = &self.p.lanes.window;
        let room = (self.p.width / 90.0).max(1.0);
        let step = nice(((w.to - w.from) as f64 / room).max(1.0));
        let mut at = (w.from as f64 / step).ceil() * step;
        while at < w.to as f64 {
            let x = self.x(at as u64);
            self.rect(x, y, 1.0, 4.0, &c.soft);
            if x < self.p.width - 40.0 {
                let words = match w.axis {
                    Axis::Events => format::grouped(at as u64),
                    Axis::Time => short_time(at as u64),
                };
                self.text(&words, x + 3.0, y + 13.0, &c.soft);
            }
            at += step;
        }
    }

    fn bookmarks(&self, y: f64) {
        for at in self.p.bookmarks {
            let x = self.x(*at);
            self.rect(x - 3.0, y + 4.0, 7.0, 10.0, &self.p.colours.ink);
        }
    }

    /// Causes point down to their event, effects up to it.
    fn linked(&self, y: f64) {
        let colour = &self.p.colours.sel;
        for (places, tip, base) in [(self.p.causes, y + 7.0, y), (self.p.effects, y, y + 7.0)] {
            for at in places {
                let x = self.x(*at);
                let ctx = self.context;
                ctx.set_fill_style_str(colour);
                ctx.begin_path();
                ctx.move_to(x - 4.0, base);
                ctx.line_to(x + 4.0, base);
                ctx.line_to(x, tip);
                ctx.close_path();
                ctx.fill();
                self.rect(x - 0.5, 0.0, 1.0, y, colour);
            }
        }
    }

    fn playhead(&self, bottom: f64) {
        let c = self.p.colours;
        let x = self.x(self.p.at);
        self.rect(x - 1.0, 0.0, 2.0, bottom, &c.sel);
        let ctx = self.context;
        ctx.set_fill_style_str(&c.sel);
        ctx.begin_path();
        ctx.move_to(x - 6.0, 0.0);
        ctx.line_to(x + 6.0, 0.0);
        ctx.line_to(x, 7.0);
        ctx.close_path();
        ctx.fill();
    }
}

/// Black or white, whichever reads better on a colour (WCAG's relative luminance).
fn readable(ground: &str) -> String {
    let number = u32::from_str_radix(ground.trim_start_matches('#'), 16).unwrap_or(0);
    let [_, r, g, b] = number.to_be_bytes();
    let part = |byte: u8, weight: f64| (f64::from(byte) / 255.0).powf(2.2) * weight;
    let light = part(r, 0.2126) + part(g, 0.7152) + part(b, 0.0722);
    let ink = if light > 0.179 { "#000000" } else { "#ffffff" };
    ink.into()
}

/// 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0];
    let fits = times.into_iter().find(|t| t * power >= step);
    fits.unwrap_or(10.0) * power
}

/// A time on the axis, without digits that say nothing.
fn short_time(ns: u64) -> String {
    let text = format::time(ns);
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            let number = number.trim_end_matches('0').trim_end_matches('.');
            format!("{number} {unit}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_the_axis_are_round() {
        assert_eq!(nice(1.0), 1.0);
        assert_eq!(nice(3.0), 5.0);
        assert_eq!(nice(70.0), 100.0);
        assert_eq!(short_time(5_000_000_000), "5 s");
    }
}
