//! What is drawn over the blocks: numbers, rings, the selection, the focus.

use std::ops::Range;

use web_sys::CanvasRenderingContext2d;

use super::core::camera::Camera;
use super::core::highlight::Highlight;
use super::core::layout::Screen;
use super::core::palette::{Inks, mix};
use super::core::plan::{Plan, Rect, edge};
use super::core::raster::Level;
use super::theme::{Theme, css};
use crate::format::grouped;
use crate::owner_map::OwnerMap;

/// Chosen ranges that are outlined one by one; beyond that, only their tiles are.
const MOST_OUTLINES: usize = 1200;
/// Numbers of blocks are written into squares of so many CSS pixels.
const NUMBERED: f64 = 56.0;
/// Width of a digit of the labels in CSS pixels.
const DIGIT: f64 = 6.2;

/// Whether a label has room in so many CSS pixels.
fn fits(text: &str, room: f64) -> bool {
    text.chars().count() as f64 * DIGIT <= room
}

/// Draws over the blocks.
pub struct Overlay<'a> {
    pub context: &'a CanvasRenderingContext2d,
    pub plan: &'a Plan,
    pub camera: Camera,
    pub screen: Screen,
    pub theme: &'a Theme,
    pub level: Level,
    pub map: &'a OwnerMap,
    pub inks: &'a Inks,
}

impl Overlay<'_> {
    /// Draws all of it.
    pub fn draw(&self, highlight: &Highlight, hover: Option<u64>, focus: Option<u64>) {
        let tiles = self.tiles();
        self.rings();
        self.labels(&tiles);
        self.numbers(&tiles);
        self.selection(highlight, &tiles);
        self.hover(hover);
        self.focus(focus);
    }

    /// Groups whose tiles are on the screen.
    fn tiles(&self) -> Vec<u64> {
        let Camera { x, y, .. } = self.camera;
        let (left, right) = self.plan.x.between(x, x + self.screen.width);
        let (top, bottom) = self.plan.y.between(y, y + self.screen.height);
        (top..=bottom)
            .flat_map(|row| (left..=right).map(move |column| (column, row)))
            .filter_map(|(column, row)| self.plan.group(column, row))
            .collect()
    }

    fn unit(&self) -> f64 {
        self.plan.unit
    }

    fn font(&self, size: f64, colour: &str) {
        let px = size * self.unit();
        self.context
            .set_font(&format!("{px}px {}", self.theme.sans));
        self.context.set_fill_style_str(colour);
    }

    fn write(&self, text: &str, x: f64, y: f64) {
        // Fails for no text that can be written.
        let _ = self.context.fill_text(text, x, y);
    }

    /// Rings around flex groups, where there is room.
    fn rings(&self) {
        let flex = self.plan.geometry.flex;
        let columns = self.plan.x.count;
        let apart = self.plan.x.extra;
        if flex < 2 || apart < 4.0 * self.unit() {
            return;
        }
        // A flex group is a part of one row of tiles, or some whole rows.
        let (across, down) = match (columns.is_multiple_of(flex), flex.is_multiple_of(columns)) {
            (true, _) => (flex, 1),
            (_, true) => (columns, flex / columns),
            _ if self.plan.y.count == 1 => (flex.min(columns), 1),
            _ => return,
        };
        let palette = &self.theme.palette;
        let colour = css(mix(palette.line, palette.soft, 0.35));
        self.context.set_stroke_style_str(&colour);
        self.context.set_line_width(self.unit());
        let Camera { x, y, .. } = self.camera;
        let (left, right) = self.plan.x.between(x, x + self.screen.width);
        let (top, bottom) = self.plan.y.between(y, y + self.screen.height);
        self.context.begin_path();
        for row in (top / down * down..=bottom).step_by(down as usize) {
            for column in (left / across * across..=right).step_by(across as usize) {
                self.ring(column, row, across, down);
            }
        }
        self.context.stroke();
    }

    fn ring(&self, column: u64, row: u64, across: u64, down: u64) {
        let plan = self.plan;
        let last = (column + across).min(plan.x.count) - 1;
        let mut bottom = (row + down).min(plan.y.count) - 1;
        // The last flex group may be cut short.
        while bottom > row && plan.group(column, bottom).is_none() {
            bottom -= 1;
        }
        let (Some(first), Some(_)) = (plan.group(column, row), plan.group(column, bottom)) else {
            return;
        };
        let mut right = last;
        while right > column && plan.group(right, row).is_none() {
            right -= 1;
        }
        let around = (plan.x.extra / 2.0).min((plan.x.extra + plan.x.gap) / 2.0 - 1.0);
        let (x, y) = plan.tile(first);
        let x0 = edge(x - around - self.camera.x) as f64 + 0.5;
        let y0 = edge(y - plan.y.gap - plan.y.extra / 2.0 - self.camera.y) as f64 + 0.5;
        let x1 = edge(plan.x.at(right) + plan.x.size + around - self.camera.x) as f64 - 0.5;
        let y1 =
            edge(plan.y.at(bottom) + plan.y.size + plan.y.extra / 2.0 - self.camera.y) as f64 - 0.5;
        let corner = (4.0 * self.unit()).min((x1 - x0) / 2.0).max(0.0);
        let _ = self
            .context
            .round_rect_with_f64(x0, y0, x1 - x0, y1 - y0, corner);
    }

    /// Numbers of groups above their tiles, or of the first in each row at the left; with
    /// one group, numbers of blocks.
    fn labels(&self, tiles: &[u64]) {
        self.font(11.0, &css(self.theme.palette.soft));
        self.context.set_text_baseline("alphabetic");
        if self.plan.geometry.groups == 1 {
            self.block_rows();
        } else if self.plan.y.gap >= 13.0 * self.unit() && self.plan.x.size >= 16.0 * self.unit() {
            self.context.set_text_align("left");
            let form = self.label_form();
            for &group in tiles {
                self.tile_label(group, form);
            }
        } else {
            self.group_rows();
        }
    }

    /// A tile's label, the shorter the higher the form.
    fn label(&self, group: u64, form: usize) -> String {
        let number = grouped(group);
        let geometry = &self.plan.geometry;
        match form {
            0 => {
                let (first, last) = (geometry.start(group), geometry.end(group) - 1);
                let (first, last) = (grouped(first), grouped(last));
                format!("Group {number} · blocks {first} to {last}")
            }
            1 => format!("Group {number}"),
            _ => number,
        }
    }

    /// The longest form for which every tile has room, so that all have the same.
    fn label_form(&self) -> usize {
        let last = self.plan.geometry.groups - 1;
        let room = self.plan.x.size / self.unit();
        (0..2)
            .find(|&form| fits(&self.label(last, form), room))
            .unwrap_or(2)
    }

    fn tile_label(&self, group: u64, form: usize) {
        let tile = self.plan.tile_rect(group, self.camera.origin());
        let unit = self.unit();
        // A tile that begins at the left of the screen keeps its label in sight.
        let x = (tile.x as f64).max(2.0 * unit);
        let room = ((tile.x + tile.w) as f64 - x) / unit;
        let mut texts = (form..3).map(|form| self.label(group, form));
        if let Some(text) = texts.find(|text| fits(text, room)) {
            self.write(&text, x, tile.y as f64 - 4.0 * unit);
        }
    }

    /// At the left, the first group of a row of tiles.
    fn group_rows(&self) {
        let pitch = self.plan.y.pitch() / self.unit();
        let every = nice((12.0 / pitch).ceil() as u64);
        let Camera { y, .. } = self.camera;
        let (top, bottom) = self.plan.y.between(y, y + self.screen.height);
        self.context.set_text_align("right");
        let x = self.plan.x.start - 5.0 * self.unit() - self.camera.x;
        for row in (top..=bottom).filter(|row| row.is_multiple_of(every)) {
            let middle = self.plan.y.at(row) + self.plan.y.size / 2.0 - y;
            let group = row * self.plan.x.count;
            self.write(&grouped(group), x, (middle + 4.0 * self.unit()).round());
        }
    }

    /// At the left, the first block of a row.
    fn block_rows(&self) {
        let cell = self.plan.cell / self.unit();
        let every = nice((18.0 / cell).ceil() as u64);
        let top = ((self.camera.y - self.plan.y.start) / self.plan.cell)
            .floor()
            .max(0.0) as u64;
        let rows = (self.screen.height / self.plan.cell).ceil() as u64 + 1;
        let geometry = &self.plan.geometry;
        self.context.set_text_align("right");
        let x = self.plan.x.start - 5.0 * self.unit() - self.camera.x;
        for row in (top..=top + rows).filter(|row| row.is_multiple_of(every)) {
            let Some(block) = geometry.block(0, row * self.plan.cells) else {
                break;
            };
            let middle = self.plan.y.start + (row as f64 + 0.5) * self.plan.cell - self.camera.y;
            let baseline = middle.max(self.plan.y.start - self.camera.y + 4.0 * self.unit());
            self.write(&grouped(block), x, (baseline + 4.0 * self.unit()).round());
        }
    }

    /// Numbers of blocks in their squares, when these are large.
    fn numbers(&self, tiles: &[u64]) {
        if self.level != Level::Squares || self.plan.cell < NUMBERED * self.unit() {
            return;
        }
        self.context.set_text_align("left");
        self.font(10.0, &css(self.theme.palette.ink));
        for &group in tiles {
            self.each_block(group, |block, rect| {
                let run = self.map.at(block);
                if let Some(run) = run {
                    let [r, g, b, _] = self.inks.text(run.kind).to_le_bytes();
                    self.context.set_fill_style_str(&css([r, g, b]));
                }
                let x = rect.x as f64 + 4.0 * self.unit();
                let y = rect.y as f64 + 12.0 * self.unit();
                self.write(&grouped(block), x, y);
            });
        }
    }

    /// Calls back with every block of a group that is on the screen.
    fn each_block(&self, group: u64, mut does: impl FnMut(u64, Rect)) {
        let plan = self.plan;
        let (x, y) = plan.tile(group);
        let seen = |at: f64, from: f64, size: f64, count: u64| {
            let first = ((from - at) / plan.cell).floor().max(0.0) as u64;
            let last = ((from + size - at) / plan.cell).ceil().max(0.0) as u64;
            first.min(count)..last.min(count)
        };
        for row in seen(y, self.camera.y, self.screen.height, plan.rows) {
            for column in seen(x, self.camera.x, self.screen.width, plan.cells) {
                let block = plan.geometry.block(group, row * plan.cells + column);
                if let Some(block) = block
                    && let Some(rect) = plan.rect(block, self.camera.origin())
                {
                    does(block, rect);
                }
            }
        }
    }

    fn selection(&self, highlight: &Highlight, tiles: &[u64]) {
        let geometry = &self.plan.geometry;
        let colour = css(self.theme.palette.selection);
        if let Some(group) = highlight.group {
            let rect = self
                .plan
                .tile_rect(group.min(geometry.groups - 1), self.camera.origin());
            self.outline(rect, 2.0, &colour);
        }
        let chosen: Vec<_> = tiles
            .iter()
            .map(|&group| (group, self.chosen(highlight, group)))
            .filter(|(_, ranges)| !ranges.is_empty())
            .collect();
        let outlines: usize = chosen.iter().map(|(_, ranges)| ranges.len()).sum();
        if self.level == Level::Groups || outlines > MOST_OUTLINES {
            for (group, _) in chosen {
                self.outline(
                    self.plan.tile_rect(group, self.camera.origin()),
                    2.0,
                    &colour,
                );
            }
        } else {
            self.context.begin_path();
            for (group, ranges) in chosen {
                for range in ranges {
                    self.shape(group, range);
                }
            }
            self.stroke(2.0, &colour);
        }
        if let Some(block) = highlight.block {
            self.chosen_block(block, &colour);
        }
    }

    /// The chosen blocks of a group that are on the screen.
    fn chosen<'h>(&self, highlight: &'h Highlight, group: u64) -> &'h [Range<u64>] {
        let geometry = &self.plan.geometry;
        let (start, end) = (geometry.start(group), geometry.end(group));
        if self.level == Level::Groups {
            return highlight.between(start, end);
        }
        let y = self.plan.tile(group).1;
        let row = |at: f64| ((at - y) / self.plan.cell).floor().max(0.0) as u64;
        let from = start + row(self.camera.y).saturating_mul(self.plan.cells);
        let to =
            start + (row(self.camera.y + self.screen.height) + 1).saturating_mul(self.plan.cells);
        highlight.between(from.min(end), to.min(end))
    }

    /// Adds the outline of a range of a group's blocks to the path.
    fn shape(&self, group: u64, range: &Range<u64>) {
        let plan = self.plan;
        let (start, end) = (plan.geometry.start(group), plan.geometry.end(group));
        let (from, to) = (range.start.max(start), range.end.min(end));
        if from >= to {
            return;
        }
        let (from, to) = (from - start, to - 1 - start);
        let ((r0, c0), (r1, c1)) = (
            (from / plan.cells, from % plan.cells),
            (to / plan.cells, to % plan.cells),
        );
        let cells = plan.cells;
        if r0 == r1 {
            self.path(
                group,
                &[(c0, r0), (c1 + 1, r0), (c1 + 1, r0 + 1), (c0, r0 + 1)],
            );
        } else if r1 == r0 + 1 && c1 < c0 {
            self.path(
                group,
                &[(c0, r0), (cells, r0), (cells, r0 + 1), (c0, r0 + 1)],
            );
            self.path(
                group,
                &[(0, r1), (c1 + 1, r1), (c1 + 1, r1 + 1), (0, r1 + 1)],
            );
        } else {
            let corners = [
                (c0, r0),
                (cells, r0),
                (cells, r1),
                (c1 + 1, r1),
                (c1 + 1, r1 + 1),
                (0, r1 + 1),
                (0, r0 + 1),
                (c0, r0 + 1),
            ];
            self.path(group, &corners);
        }
    }

    /// Adds a closed path along edges of cells, given by column and row, to the path.
    fn path(&self, group: u64, corners: &[(u64, u64)]) {
        let (x, y) = self.plan.tile(group);
        let gap = self.plan.gap() as f64;
        // Lines lie in the gap before the first cell and in the one after the last.
        let pixel = |at: f64, seen: f64| (edge(at) as f64 - gap / 2.0).clamp(-50.0, seen + 50.0);
        for (i, &(column, row)) in corners.iter().enumerate() {
            let px = pixel(
                x + column as f64 * self.plan.cell - self.camera.x,
                self.screen.width,
            );
            let py = pixel(
                y + row as f64 * self.plan.cell - self.camera.y,
                self.screen.height,
            );
            if i == 0 {
                self.context.move_to(px, py);
            } else {
                self.context.line_to(px, py);
            }
        }
        self.context.close_path();
    }

    /// Strokes the path, on a line of the ground that sets it apart from every kind.
    fn stroke(&self, width: f64, colour: &str) {
        if self.plan.cell >= 6.0 * self.unit() {
            self.context.set_line_width((width + 2.0) * self.unit());
            self.context
                .set_stroke_style_str(&css(self.theme.palette.ground));
            self.context.stroke();
        }
        self.context.set_line_width(width * self.unit());
        self.context.set_stroke_style_str(colour);
        self.context.stroke();
    }

    fn outline(&self, rect: Rect, width: f64, colour: &str) {
        let around = width / 2.0 * self.unit();
        self.context.begin_path();
        self.context.rect(
            rect.x as f64 - around,
            rect.y as f64 - around,
            rect.w as f64 + 2.0 * around,
            rect.h as f64 + 2.0 * around,
        );
        self.context.set_line_width(width * self.unit());
        self.context.set_stroke_style_str(colour);
        self.context.stroke();
    }

    /// The rectangle that stands for a block: its square, or from afar its tile.
    fn sign(&self, block: u64) -> Option<Rect> {
        if self.level == Level::Groups {
            let group = self.plan.geometry.group_of(block);
            return Some(self.plan.tile_rect(group, self.camera.origin()));
        }
        let mut rect = self.plan.rect(block, self.camera.origin())?;
        rect.w = (rect.w - self.plan.gap()).max(1);
        rect.h = (rect.h - self.plan.gap()).max(1);
        // Never smaller than can be seen.
        let least = (5.0 * self.unit()) as i64;
        let (grow_x, grow_y) = ((least - rect.w).max(0), (least - rect.h).max(0));
        Some(Rect {
            x: rect.x - grow_x / 2,
            y: rect.y - grow_y / 2,
            w: rect.w + grow_x,
            h: rect.h + grow_y,
        })
    }

    fn chosen_block(&self, block: u64, colour: &str) {
        if let Some(rect) = self.sign(block) {
            if self.level != Level::Groups {
                let u = self.unit() as i64;
                let halo = Rect {
                    x: rect.x - 2 * u,
                    y: rect.y - 2 * u,
                    w: rect.w + 4 * u,
                    h: rect.h + 4 * u,
                };
                self.outline(halo, 2.0, &css(self.theme.palette.ground));
            }
            self.outline(rect, 3.0, colour);
        }
    }

    fn hover(&self, block: Option<u64>) {
        if let Some(rect) = block.and_then(|block| self.sign(block)) {
            self.outline(rect, 1.0, &css(self.theme.palette.ink));
        }
    }

    fn focus(&self, block: Option<u64>) {
        if let Some(rect) = block.and_then(|block| self.sign(block)) {
            let u = self.unit() as i64;
            let around = Rect {
                x: rect.x - 3 * u,
                y: rect.y - 3 * u,
                w: rect.w + 6 * u,
                h: rect.h + 6 * u,
            };
            self.outline(around, 2.0, &css(self.theme.palette.ink));
            let inner = Rect {
                x: rect.x - u,
                y: rect.y - u,
                w: rect.w + 2 * u,
                h: rect.h + 2 * u,
            };
            self.outline(inner, 2.0, &css(self.theme.palette.ground));
        }
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50 … that is at least so much.
fn nice(least: u64) -> u64 {
    let mut decade = 1;
    loop {
        for step in [1, 2, 5] {
            if step * decade >= least {
                return step * decade;
            }
        }
        decade *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::nice;

    #[test]
    fn labels_stand_at_round_rows() {
        assert_eq!([0, 1, 3, 6, 11, 40].map(nice), [1, 1, 5, 10, 20, 50]);
    }
}
