//! Nearest: a block is a square of pixels, with its marks where there is room.

use std::ops::Range;

use fslab_engine::view::owners::{Flags, Kind};

use super::marks::{self, Cell, Marks};
use super::{Frame, Scene};
use crate::owner_map::OwnerMap;
use crate::views::block_map::core::palette::Tone;
use crate::views::block_map::core::plan::{Plan, edge};

/// A group's tile as rows of blocks on the screen.
pub struct Lane {
    /// First block.
    start: u64,
    /// Blocks.
    len: u64,
    /// Left, on the screen.
    pub x: f64,
    /// Top, on the screen.
    pub y: f64,
    /// Pixels of a cell.
    pub cell: f64,
    /// Blocks in a row.
    cells: u64,
    /// Rows.
    pub rows: u64,
    /// First and one past the last column on the screen.
    columns: (u64, u64),
}

impl Lane {
    pub fn new(scene: &Scene<'_>, group: u64, frame: &Frame<'_>) -> Self {
        let Plan {
            geometry,
            cell,
            cells,
            ..
        } = *scene.plan;
        let (x, y) = scene.plan.tile(group);
        let (x, y) = (x - scene.camera.x, y - scene.camera.y);
        let len = geometry.len(group);
        Self {
            start: geometry.start(group),
            len,
            x,
            y,
            cell,
            cells,
            rows: len.div_ceil(cells),
            columns: seen(x, cell, cells, frame.width()),
        }
    }

    /// Pixels of a row that the lane covers.
    pub fn pixels(&self, frame: &Frame<'_>) -> Option<(usize, usize)> {
        let right = self.x + self.cells as f64 * self.cell;
        let (left, right) = frame.clip_x(self.x.floor() as i64, right.ceil() as i64);
        (left < right && self.columns.0 < self.columns.1).then_some((left, right))
    }

    /// First block of a row, and the blocks of it that are on the screen.
    pub fn blocks(&self, row: u64) -> Option<(u64, Range<u64>)> {
        let first = row * self.cells;
        let to = (first + self.columns.1).min(self.len);
        let from = first + self.columns.0;
        let start = self.start + first;
        (from < to).then(|| (start, self.start + from..self.start + to))
    }

    /// Where a column begins.
    fn left_of(&self, column: u64) -> i64 {
        edge(self.x + column as f64 * self.cell)
    }

    /// Where a row begins.
    fn top_of(&self, row: u64) -> i64 {
        edge(self.y + row as f64 * self.cell)
    }
}

/// First and one past the last of `count` cells that are on a screen of so many pixels.
fn seen(start: f64, cell: f64, count: u64, screen: usize) -> (u64, u64) {
    let first = ((0.0 - start) / cell).floor().max(0.0) as u64;
    let last = ((screen as f64 - start) / cell).ceil().max(0.0) as u64;
    (first.min(count), last.min(count))
}

/// A part of a run.
#[derive(Clone, Copy, Debug)]
pub struct Piece {
    /// First block of the run.
    pub start: u64,
    /// First block.
    pub from: u64,
    /// One past the last block.
    pub to: u64,
    /// What it is.
    pub kind: Kind,
    /// What else is known.
    pub flags: Flags,
}

/// Looks up runs of blocks, from one question to the next without starting anew.
pub struct Runs<'a> {
    map: &'a OwnerMap,
    row: usize,
}

impl<'a> Runs<'a> {
    pub fn new(map: &'a OwnerMap) -> Self {
        Self { map, row: 0 }
    }

    /// The runs over some blocks, cut to them.
    pub fn over(&mut self, blocks: Range<u64>) -> impl Iterator<Item = Piece> {
        self.seek(blocks.start);
        let mut at = blocks.start;
        std::iter::from_fn(move || {
            while at < blocks.end {
                let run = self
                    .map
                    .row(self.row)
                    .filter(|run| run.start < blocks.end)?;
                let end = run.start + u64::from(run.len);
                // One that goes on beyond is where the next question begins.
                if end <= blocks.end {
                    self.row += 1;
                }
                if end > at {
                    let from = run.start.max(at);
                    at = end.min(blocks.end);
                    return Some(Piece {
                        start: run.start,
                        from,
                        to: at,
                        kind: run.kind,
                        flags: run.flags,
                    });
                }
            }
            None
        })
    }

    fn seek(&mut self, block: u64) {
        let starts = &self.map.starts;
        let block = block as f64;
        let here = self.row.min(starts.len());
        // It is not far from where the last question ended: steps that double find two rows
        // around it, the search between them the row.
        let (mut low, mut high) = (here, here);
        let mut step = 4;
        while low > 0 && starts[low - 1] > block {
            high = low;
            low = low.saturating_sub(step);
            step *= 2;
        }
        step = 4;
        while high < starts.len() && starts[high] <= block {
            low = high;
            high = (high + step).min(starts.len());
            step *= 2;
        }
        let after = low + starts[low..high].partition_point(|&start| start <= block);
        self.row = after.saturating_sub(1);
    }
}

/// Paints a group.
pub fn draw(scene: &Scene<'_>, group: u64, frame: &mut Frame<'_>) {
    let lane = Lane::new(scene, group, frame);
    if lane.pixels(frame).is_none() {
        return;
    }
    let gap = scene.plan.gap();
    let marks = Marks::new(scene, gap);
    let mut runs = Runs::new(scene.map);
    let (first, last) = seen(lane.y, lane.cell, lane.rows, frame.height());
    for row in first..last {
        paint_row(scene, &lane, row, gap, &mut runs, frame);
    }
    if let Some(marks) = marks {
        let mut runs = Runs::new(scene.map);
        for row in first..last {
            mark_row(scene, &lane, row, gap, &marks, &mut runs, frame);
        }
    }
}

/// Paints the blocks of a row: one row of pixels, then the others like it.
fn paint_row(
    scene: &Scene<'_>,
    lane: &Lane,
    row: u64,
    gap: i64,
    runs: &mut Runs<'_>,
    frame: &mut Frame<'_>,
) {
    let Some((start, blocks)) = lane.blocks(row) else {
        return;
    };
    let (top, bottom) = frame.clip_y(lane.top_of(row), lane.top_of(row + 1) - gap);
    if top == bottom {
        return;
    }
    let columns = (blocks.start - start, blocks.end - start);
    for piece in runs.over(blocks) {
        let tone = marks::ground(scene, piece.kind, piece.flags, gap);
        let ink = scene.inks.tone(piece.kind, tone);
        let from = lane.left_of(piece.from - start);
        let to = lane.left_of(piece.to - start);
        frame.span(top, from, to, ink);
    }
    if gap > 0 {
        for column in columns.0..columns.1 {
            let right = lane.left_of(column + 1);
            frame.span(top, right - gap, right, scene.inks.ground);
        }
    }
    let (from, to) = frame.clip_x(lane.left_of(columns.0), lane.left_of(columns.1));
    for y in top + 1..bottom {
        frame.repeat(top, y, from, to);
    }
}

/// Puts the marks on the blocks of a row.
fn mark_row(
    scene: &Scene<'_>,
    lane: &Lane,
    row: u64,
    gap: i64,
    marks: &Marks<'_>,
    runs: &mut Runs<'_>,
    frame: &mut Frame<'_>,
) {
    let Some((start, blocks)) = lane.blocks(row) else {
        return;
    };
    let (top, bottom) = (lane.top_of(row), lane.top_of(row + 1) - gap);
    for piece in runs.over(blocks) {
        if !scene.inks.shows(piece.kind) {
            continue;
        }
        let (from, to) = (piece.from - start, piece.to - start);
        let cell = |column| {
            let left = lane.left_of(column);
            Cell {
                x: left,
                y: top,
                w: lane.left_of(column + 1) - gap - left,
                h: bottom - top,
            }
        };
        if marks.has_state(piece.kind, piece.flags) {
            for column in from..to {
                marks.draw_state(cell(column), piece.kind, piece.flags, frame);
            }
        }
        // Of a run that began before, in a row above, the first block is not here.
        let lettered = marks
            .letters(piece.kind)
            .saturating_sub(piece.from - piece.start);
        for column in from..from.saturating_add(lettered).min(to) {
            marks.draw_letter(cell(column), piece.kind, piece.flags, frame);
        }
    }
}

/// The tone under marks: damage is told by its cross once there is room for one.
pub fn marked_tone(scene: &Scene<'_>, kind: Kind, flags: Flags) -> Tone {
    match scene.inks.tone_of(kind, flags) {
        Tone::Damage if !matches!(kind, Kind::Twice | Kind::Unowned) => Tone::Full,
        Tone::Damage => Tone::Pale,
        tone => tone,
    }
}
