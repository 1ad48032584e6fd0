//! What is drawn on a square: the letter of its kind, and marks for its state.

use fslab_engine::view::owners::{Flags, Kind};

use super::squares::marked_tone;
use super::{Frame, Scene};
use crate::views::block_map::core::palette::{Inks, Tone};
use crate::views::block_map::core::shares::is_damage;

/// Smallest square that has room for marks, in CSS pixels.
const SMALLEST: f64 = 7.0;

/// From this size on every block has its letter, in CSS pixels.
const LETTER_EACH: f64 = 28.0;

/// A square on the screen.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub x: i64,
    pub y: i64,
    pub w: i64,
    pub h: i64,
}

/// The letters of the kinds in one size.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Glyphs {
    /// Pixels of each.
    pub width: usize,
    /// Pixels of each.
    pub height: usize,
    /// By [`Kind::index`]: how much of each pixel the letter covers. Empty for none.
    pub masks: Vec<Vec<u8>>,
}

/// Draws marks of one size.
pub struct Marks<'a> {
    inks: &'a Inks,
    glyphs: Option<&'a Glyphs>,
    /// Thickness of a line.
    line: f32,
    /// Every block has its letter, not only the first of a run.
    letter_each: bool,
}

/// The tone of a square: with room for marks they say what else would need a colour.
pub fn ground(scene: &Scene<'_>, kind: Kind, flags: Flags, gap: i64) -> Tone {
    if gap > 0 && has_room(scene) {
        marked_tone(scene, kind, flags)
    } else {
        scene.inks.tone_of(kind, flags)
    }
}

fn has_room(scene: &Scene<'_>) -> bool {
    scene.plan.cell >= SMALLEST * scene.plan.unit
}

impl<'a> Marks<'a> {
    /// `None` if there is no room for any.
    pub fn new(scene: &Scene<'a>, gap: i64) -> Option<Self> {
        let css = scene.plan.cell / scene.plan.unit;
        let line = if css >= 16.0 { 1.6 } else { 1.1 };
        (gap > 0 && has_room(scene)).then_some(Self {
            inks: scene.inks,
            glyphs: scene.glyphs,
            line: line * scene.plan.unit as f32,
            letter_each: css >= LETTER_EACH,
        })
    }

    /// Whether a block has marks for its state.
    pub fn has_state(&self, kind: Kind, flags: Flags) -> bool {
        !flags.is_empty() || is_damage(kind, flags, self.inks.partial)
    }

    /// How many of the blocks from the start of a run on have their kind's letter.
    pub fn letters(&self, kind: Kind) -> u64 {
        match self.letter(kind) {
            None => 0,
            Some(_) if self.letter_each => u64::MAX,
            Some(_) => 1,
        }
    }

    fn letter(&self, kind: Kind) -> Option<&Glyphs> {
        self.glyphs.filter(|glyphs| {
            glyphs
                .masks
                .get(kind.index())
                .is_some_and(|mask| !mask.is_empty())
        })
    }

    /// Draws the letter of a kind.
    pub fn draw_letter(&self, cell: Cell, kind: Kind, flags: Flags, frame: &mut Frame<'_>) {
        let damaged = is_damage(kind, flags, self.inks.partial);
        if let Some(glyphs) = self.letter(kind).filter(|_| !damaged) {
            let mask = &glyphs.masks[kind.index()];
            stamp(cell, glyphs, mask, self.inks.text(kind), frame);
        }
    }

    /// Draws the marks of a block's state.
    pub fn draw_state(&self, cell: Cell, kind: Kind, flags: Flags, frame: &mut Frame<'_>) {
        let text = self.inks.text(kind);
        if flags.contains(Flags::UNWRITTEN) {
            self.hatch(cell, self.inks.tone(kind, Tone::Full), frame);
        }
        if flags.contains(Flags::SLACK) {
            self.outline(cell, 0, self.inks.tone(kind, Tone::Full), frame);
        }
        if flags.contains(Flags::BACKUP) {
            self.outline(cell, 2 * self.line.floor() as i64, text, frame);
        }
        if flags.contains(Flags::SHARED) {
            self.corner(cell, text, frame);
        }
        if is_damage(kind, flags, self.inks.partial) {
            self.cross(cell, frame);
        }
    }

    /// Allocated, but not written: lines from the lower left to the upper right.
    fn hatch(&self, cell: Cell, ink: u32, frame: &mut Frame<'_>) {
        let step = (self.line * 3.5).round().max(3.0) as i64;
        let thick = self.line.round().max(1.0) as i64;
        for y in 0..cell.h {
            for x in 0..cell.w {
                if (x + y) % step < thick {
                    frame.blend(cell.x + x, cell.y + y, ink, 255);
                }
            }
        }
    }

    /// A line along the inside, `inset` pixels from the edge.
    fn outline(&self, cell: Cell, inset: i64, ink: u32, frame: &mut Frame<'_>) {
        let thick = self.line.floor().max(1.0) as i64;
        let (x, y) = (cell.x + inset, cell.y + inset);
        let (w, h) = (cell.w - 2 * inset, cell.h - 2 * inset);
        if w < 3 || h < 3 {
            return;
        }
        frame.rect(x, y, w, thick, ink);
        frame.rect(x, y + h - thick, w, thick, ink);
        frame.rect(x, y, thick, h, ink);
        frame.rect(x + w - thick, y, thick, h, ink);
    }

    /// Owned by several: a folded corner at the lower right.
    fn corner(&self, cell: Cell, ink: u32, frame: &mut Frame<'_>) {
        let size = (cell.w.min(cell.h) / 3).max(3);
        for y in 0..size {
            for x in size - 1 - y..size {
                frame.blend(
                    cell.x + cell.w - size + x,
                    cell.y + cell.h - size + y,
                    ink,
                    255,
                );
            }
        }
    }

    /// Damage: both diagonals, and a line around.
    fn cross(&self, cell: Cell, frame: &mut Frame<'_>) {
        let (w, h) = (cell.w as f32, cell.h as f32);
        let half = self.line * 0.5 + 0.25;
        let length = (w * w + h * h).sqrt();
        for y in 0..cell.h {
            for x in 0..cell.w {
                let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
                // Distances from the pixel's middle to the diagonals.
                let down = (h * px - w * py).abs() / length;
                let up = (h * px + w * py - w * h).abs() / length;
                let cover = (half + 0.5 - down.min(up)).clamp(0.0, 1.0);
                if cover > 0.0 {
                    frame.blend(
                        cell.x + x,
                        cell.y + y,
                        self.inks.damage,
                        (cover * 255.0) as u8,
                    );
                }
            }
        }
        self.outline(cell, 0, self.inks.damage, frame);
    }
}

/// Lays a letter on the middle of a square.
fn stamp(cell: Cell, glyphs: &Glyphs, mask: &[u8], ink: u32, frame: &mut Frame<'_>) {
    let left = cell.x + (cell.w - glyphs.width as i64) / 2;
    let top = cell.y + (cell.h - glyphs.height as i64) / 2;
    for (y, row) in mask.chunks_exact(glyphs.width.max(1)).enumerate() {
        for (x, &cover) in row.iter().enumerate() {
            if cover > 0 {
                frame.blend(left + x as i64, top + y as i64, ink, cover);
            }
        }
    }
}
