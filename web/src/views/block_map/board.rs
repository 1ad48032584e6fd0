//! A canvas that shows a map: what it shows, and drawing it when something changed.

use std::cell::RefCell;
use std::rc::Rc;

use gloo::render::{AnimationFrame, request_animation_frame};
use js_sys::{Uint8ClampedArray, Uint32Array};
use wasm_bindgen::JsCast as _;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, ImageData};
use yew::Callback;

use super::core::camera::Camera;
use super::core::geometry::Geometry;
use super::core::highlight::Highlight;
use super::core::layout::{Layout, Screen};
use super::core::palette::Inks;
use super::core::plan::Plan;
use super::core::raster::{Frame, Level, Scene, Scratch};
use super::core::shares::Shares;
use super::glyphs::GlyphCase;
use super::overlay::Overlay;
use super::pointers::Point;
use super::theme::Theme;
use crate::kinds::KindSet;
use crate::owner_map::OwnerMap;

/// How long a change of zoom takes, in milliseconds.
const MOTION: f64 = 180.0;
/// Most pixels of the canvas: on larger screens they are a little larger.
const MOST_PIXELS: f64 = 3_200_000.0;
/// Runs that are counted in a frame for the picture from afar.
const COUNTED: usize = 200_000;

/// What is shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Content {
    /// The filesystem.
    pub geometry: Geometry,
    /// Who owns each block.
    pub map: Rc<OwnerMap>,
    /// The scan is not done.
    pub partial: bool,
    /// Kinds that are not dimmed; empty for all.
    pub filter: KindSet,
    /// What is chosen.
    pub highlight: Highlight,
}

/// How it is shown, for words and buttons.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shown {
    /// What is told apart.
    pub level: Level,
    /// Pixels of a cell.
    pub cell: f64,
    /// Device pixels of a CSS pixel.
    pub unit: f64,
    /// Whether everything is in sight.
    pub fit: bool,
    /// Whether cells are as large as they get.
    pub largest: bool,
}

/// A movement from one place to another.
#[derive(Clone, Copy, Debug)]
struct Motion {
    from: Camera,
    to: Camera,
    /// Time of its first frame.
    start: Option<f64>,
}

/// Pixels on their way to the canvas.
struct Sheet {
    pixels: Vec<u32>,
    memory: Uint32Array,
    image: ImageData,
}

/// A canvas that shows a map.
pub struct Board {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    content: Content,
    theme: Theme,
    inks: Inks,
    layout: Layout,
    camera: Camera,
    /// Cell that wheel and pinch ask for, of which whole pixels are shown.
    wish: f64,
    motion: Option<Motion>,
    shares: Shares,
    glyphs: GlyphCase,
    scratch: Scratch,
    sheet: Option<Sheet>,
    /// The sheet shows something else by now.
    stale: bool,
    level: Level,
    /// A block that is pointed at.
    pub hover: Option<u64>,
    /// The block that has the focus of the keys, when it is to be seen.
    pub focus: Option<u64>,
    frame: Option<AnimationFrame>,
    /// Told when it is shown in another way.
    on_shown: Callback<Shown>,
    shown: Option<Shown>,
}

impl Board {
    /// A board on a canvas; `None` if the canvas cannot be drawn on.
    pub fn new(
        canvas: HtmlCanvasElement,
        content: Content,
        on_shown: Callback<Shown>,
    ) -> Option<Self> {
        let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        let theme = Theme::read(&canvas, &context)?;
        let layout = Layout::fitting(content.geometry, measure(&canvas));
        Some(Self {
            inks: theme.palette.inks(content.filter, content.partial),
            shares: Shares::new(content.geometry, content.partial),
            camera: Camera::fit(&layout),
            wish: layout.fit,
            canvas,
            context,
            content,
            theme,
            layout,
            motion: None,
            glyphs: GlyphCase::default(),
            scratch: Scratch::default(),
            sheet: None,
            stale: true,
            level: Level::Groups,
            hover: None,
            focus: None,
            frame: None,
            on_shown,
            shown: None,
        })
    }

    /// Shows something else. What newly is chosen is brought in sight.
    pub fn show(&mut self, content: Content) {
        let before = std::mem::replace(&mut self.content, content);
        let now = &self.content;
        if before.geometry != now.geometry {
            self.layout = Layout::fitting(now.geometry, self.layout.screen);
            self.camera = Camera::fit(&self.layout);
            self.wish = self.camera.cell;
            self.motion = None;
            self.hover = None;
            self.focus = None;
        }
        let other_map = !Rc::ptr_eq(&before.map, &now.map) || before.partial != now.partial;
        if other_map || before.geometry != now.geometry {
            self.shares = Shares::new(now.geometry, now.partial);
            self.stale = true;
        }
        if before.filter != now.filter || before.partial != now.partial {
            self.inks = self.theme.palette.inks(now.filter, now.partial);
            self.stale = true;
        }
        if before.highlight != now.highlight {
            self.reveal_highlight();
        }
    }

    fn reveal_highlight(&mut self) {
        let plan = self.layout.at(self.target().cell);
        let camera = self.target();
        let highlight = &self.content.highlight;
        let seen = |block| in_sight(&plan, camera, self.layout.screen, block);
        if highlight.block.is_none()
            && highlight
                .blocks
                .iter()
                .take(1000)
                .any(|range| seen(range.start))
        {
            return;
        }
        let group = highlight
            .group
            .map(|group| self.content.geometry.start(group));
        if let Some(block) = highlight.first().or(group)
            && !seen(block)
        {
            let to = camera.revealing(&self.layout, block);
            self.move_to(to);
        }
    }

    /// The scheme is another.
    pub fn restyle(&mut self) {
        if let Some(theme) = Theme::read(&self.canvas, &self.context) {
            self.inks = theme
                .palette
                .inks(self.content.filter, self.content.partial);
            self.theme = theme;
            self.glyphs.clear();
            self.stale = true;
        }
    }

    /// The canvas may have another size.
    pub fn resize(&mut self) {
        let screen = measure(&self.canvas);
        if screen == self.layout.screen && self.sheet.is_some() {
            return;
        }
        let layout = Layout::fitting(self.content.geometry, screen);
        self.camera = self.target().carried(&self.layout, &layout);
        self.wish = self.camera.cell;
        self.motion = None;
        if screen.unit != self.layout.screen.unit {
            self.glyphs.clear();
        }
        self.layout = layout;
        self.sheet = None;
        self.stale = true;
    }

    /// Where everything lies.
    pub fn plan(&self) -> Plan {
        self.layout.at(self.camera.cell)
    }

    /// What is told apart.
    pub fn level(&self) -> Level {
        self.level
    }

    /// What each group is made of, as far as it is counted.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// Device pixels of a CSS pixel.
    pub fn unit(&self) -> f64 {
        self.layout.screen.unit
    }

    /// The block at a place of the canvas.
    pub fn block_at(&self, at: Point) -> Option<u64> {
        self.plan()
            .block_at(self.camera.x + at.0, self.camera.y + at.1)
    }

    /// The block at the middle of what is in sight, or the first.
    pub fn middle(&self) -> u64 {
        let screen = self.layout.screen;
        if self.camera.is_fit(&self.layout) {
            return self.content.geometry.start(0);
        }
        self.block_at((screen.width / 2.0, screen.height / 2.0))
            .unwrap_or_else(|| self.content.geometry.start(0))
    }

    /// Where it is going, or is.
    fn target(&self) -> Camera {
        self.motion.map_or(self.camera, |motion| motion.to)
    }

    /// Whether there is nothing beyond the screen.
    pub fn is_fit(&self) -> bool {
        let plan = self.layout.at(self.target().cell);
        let screen = self.layout.screen;
        plan.x.total() <= screen.width + 1.0 && plan.y.total() <= screen.height + 1.0
    }

    fn set(&mut self, camera: Camera) {
        self.motion = None;
        if camera != self.camera {
            self.camera = camera;
            self.stale = true;
        }
    }

    fn move_to(&mut self, to: Camera) {
        self.wish = to.cell;
        if to == self.target() {
            return;
        }
        if reduced_motion() {
            self.set(to);
        } else {
            self.motion = Some(Motion {
                from: self.camera,
                to,
                start: None,
            });
        }
    }

    /// Moves what is shown by so many pixels.
    pub fn pan(&mut self, dx: f64, dy: f64) {
        let to = self.target().moved(&self.layout, -dx, -dy);
        self.set(to);
    }

    /// Grows what is shown, the content at `from` going to `to`, at once: for a wheel or
    /// fingers, which are a motion by themselves. Tells whether anything changed.
    pub fn grow(&mut self, times: f64, from: Point, to: Point, whole: bool) -> bool {
        let (least, most) = self.layout.zooms();
        let before = self.target();
        self.wish = (self.wish * times).clamp(least, most);
        let cell = if whole {
            self.layout.snap(self.wish)
        } else {
            self.wish
        };
        let after = before.zoomed(&self.layout, cell, from, to);
        self.set(after);
        after != before
    }

    /// After a pinch: whole pixels again.
    pub fn settle(&mut self) {
        let screen = self.layout.screen;
        let middle = (screen.width / 2.0, screen.height / 2.0);
        let cell = self.layout.snap(self.camera.cell);
        let to = self.camera.zoomed(&self.layout, cell, middle, middle);
        self.move_to(to);
    }

    /// Zooms by about so much, and by a pixel at least.
    pub fn zoom(&mut self, times: f64, at: Option<Point>) {
        let screen = self.layout.screen;
        let before = self.target();
        let focus = self.focus.or(self.content.highlight.block);
        let rect = focus.and_then(|block| self.layout.at(before.cell).rect(block, before.origin()));
        let middle = (screen.width / 2.0, screen.height / 2.0);
        let inside =
            |x: f64, y: f64| (0.0..screen.width).contains(&x) && (0.0..screen.height).contains(&y);
        let at = at
            .or_else(|| {
                rect.map(|r| (r.x as f64 + r.w as f64 / 2.0, r.y as f64 + r.h as f64 / 2.0))
            })
            .filter(|&(x, y)| inside(x, y))
            .unwrap_or(middle);
        let mut cell = self.layout.snap(before.cell * times);
        if times > 1.0 && cell <= before.cell {
            cell = before.cell.floor() + 1.0;
        } else if times < 1.0 && cell >= before.cell {
            cell = before.cell.ceil() - 1.0;
        }
        let to = before.zoomed(&self.layout, cell, at, at);
        self.move_to(to);
    }

    /// Shows everything.
    pub fn fit(&mut self) {
        let to = Camera::fit(&self.layout);
        self.move_to(to);
    }

    /// Brings a block in sight, at once: keys repeat fast.
    pub fn reveal(&mut self, block: u64) {
        let to = self.target().revealing(&self.layout, block);
        self.set(to);
    }

    /// Draws; tells whether there is more to come.
    fn draw(&mut self, now: f64) -> bool {
        self.advance(now);
        if self.stale || self.sheet.is_none() {
            self.paint();
        }
        if let Some(sheet) = &self.sheet {
            // Fails only for a canvas of no size.
            let _ = self.context.put_image_data(&sheet.image, 0.0, 0.0);
        }
        let plan = self.plan();
        Overlay {
            context: &self.context,
            plan: &plan,
            camera: self.camera,
            screen: self.layout.screen,
            theme: &self.theme,
            level: self.level,
            map: &self.content.map,
            inks: &self.inks,
        }
        .draw(&self.content.highlight, self.hover, self.focus);
        self.tell();
        self.motion.is_some() || (self.stale && !self.shares.is_complete())
    }

    fn advance(&mut self, now: f64) {
        if let Some(motion) = &mut self.motion {
            let start = *motion.start.get_or_insert(now);
            let part = ((now - start) / MOTION).clamp(0.0, 1.0);
            let eased = 1.0 - (1.0 - part).powi(3);
            self.camera = Camera::between(&self.layout, motion.from, motion.to, eased);
            self.stale = true;
            if part >= 1.0 {
                self.motion = None;
            }
        }
    }

    /// Paints the sheet anew.
    fn paint(&mut self) {
        self.shares.advance(&self.content.map, COUNTED);
        let screen = self.layout.screen;
        let (width, height) = (screen.width as u32, screen.height as u32);
        if self.sheet.is_none() {
            self.canvas.set_width(width);
            self.canvas.set_height(height);
            self.sheet = Sheet::new(width, height);
        }
        let Some(sheet) = &mut self.sheet else { return };
        let plan = self.layout.at(self.camera.cell);
        let scene = Scene {
            map: &self.content.map,
            plan: &plan,
            camera: self.camera,
            inks: &self.inks,
            shares: &self.shares,
            glyphs: self.glyphs.get(plan.cell, plan.unit, &self.theme),
        };
        let mut frame = Frame::new(&mut sheet.pixels, width as usize);
        self.level = scene.draw(&mut frame, &mut self.scratch);
        sheet.memory.copy_from(&sheet.pixels);
        // From afar there is more to paint until all groups are counted.
        self.stale = self.level == Level::Groups && !self.shares.is_complete();
    }

    fn tell(&mut self) {
        let target = self.target();
        let shown = Shown {
            level: self.level,
            cell: self.camera.cell,
            unit: self.unit(),
            fit: target.is_fit(&self.layout),
            largest: target.cell >= self.layout.zooms().1,
        };
        // Words are of no use while they fly past.
        if self.motion.is_none() && self.shown != Some(shown) {
            self.shown = Some(shown);
            self.on_shown.emit(shown);
        }
    }
}

impl Sheet {
    fn new(width: u32, height: u32) -> Option<Self> {
        let pixels = vec![0; width as usize * height as usize];
        let memory = Uint32Array::new_with_length(pixels.len() as u32);
        let bytes = Uint8ClampedArray::new(&memory.buffer());
        let image = ImageData::new_with_js_u8_clamped_array_and_sh(&bytes, width, height).ok()?;
        Some(Self {
            pixels,
            memory,
            image,
        })
    }
}

fn in_sight(plan: &Plan, camera: Camera, screen: Screen, block: u64) -> bool {
    plan.rect(block, camera.origin()).is_some_and(|rect| {
        let (x, y) = (rect.x as f64, rect.y as f64);
        (0.0..screen.width).contains(&x) && (0.0..screen.height).contains(&y)
    })
}

/// The size of a canvas on the page, and the pixels it is to have.
fn measure(canvas: &HtmlCanvasElement) -> Screen {
    let css = (
        f64::from(canvas.client_width()),
        f64::from(canvas.client_height()),
    );
    let area = (css.0 * css.1).max(1.0);
    let unit = gloo::utils::window()
        .device_pixel_ratio()
        .clamp(0.5, 4.0)
        .min((MOST_PIXELS / area).sqrt());
    Screen {
        width: (css.0 * unit).round().max(1.0),
        height: (css.1 * unit).round().max(1.0),
        unit,
    }
}

fn reduced_motion() -> bool {
    gloo::utils::window()
        .match_media("(prefers-reduced-motion: reduce)")
        .ok()
        .flatten()
        .is_some_and(|query| query.matches())
}

/// A board that several callbacks share, and that draws itself after each of them.
#[derive(Clone)]
pub struct SharedBoard(Rc<RefCell<Board>>);

impl SharedBoard {
    /// Shares a board.
    pub fn new(board: Board) -> Self {
        let shared = Self(Rc::new(RefCell::new(board)));
        shared.draw_soon();
        shared
    }

    /// Looks at the board.
    pub fn look<T>(&self, look: impl FnOnce(&Board) -> T) -> T {
        look(&self.0.borrow())
    }

    /// Changes the board, then draws it in the next frame.
    pub fn change<T>(&self, change: impl FnOnce(&mut Board) -> T) -> T {
        let result = change(&mut self.0.borrow_mut());
        self.draw_soon();
        result
    }

    fn draw_soon(&self) {
        let mut board = self.0.borrow_mut();
        if board.frame.is_some() {
            return;
        }
        // Weak, so that a board that nobody shows any more is not kept by its own frame.
        let weak = Rc::downgrade(&self.0);
        board.frame = Some(request_animation_frame(move |now| {
            if let Some(board) = weak.upgrade() {
                let more = {
                    let mut board = board.borrow_mut();
                    board.frame = None;
                    board.draw(now)
                };
                if more {
                    Self(board).draw_soon();
                }
            }
        }));
    }
}
