//! Flash as a plane of cells: where each page is drawn, and in which colour. Plain data in,
//! pixels out.

use fslab_engine::view::lab::{Colouring, FlashView, Owned, PageFacts, Tone};

/// A colour.
pub type Rgb = [u8; 3];

/// Colours of the page, by what they stand for.
#[derive(Clone, Debug)]
pub struct Inks {
    pub back: Rgb,
    pub ground: Rgb,
    pub stale: Rgb,
    pub bad: Rgb,
    pub kinds: Vec<Rgb>,
    pub classes: [Rgb; 6],
    /// Both ends of ramps.
    pub ramp: (Rgb, Rgb),
}

impl Inks {
    /// The colour of a tone.
    pub fn of(&self, tone: Tone) -> Rgb {
        match tone {
            Tone::Ground => self.ground,
            Tone::Stale => self.stale,
            Tone::Bad => self.bad,
            Tone::Kind(kind) => self.kinds.get(kind.index()).copied().unwrap_or(self.bad),
            Tone::Class(i) => self
                .classes
                .get(usize::from(i))
                .copied()
                .unwrap_or(self.bad),
            Tone::Step(i) => {
                let (a, b) = self.ramp;
                let mix = |a: u8, b: u8| {
                    let (a, b, i) = (i32::from(a), i32::from(b), i32::from(i.min(7)));
                    (a + (b - a) * i / 7).clamp(0, 255) as u8
                };
                [mix(a[0], b[0]), mix(a[1], b[1]), mix(a[2], b[2])]
            }
        }
    }
}

/// Where cells lie, in pixels of the canvas. A cell is a page; where pages are not told
/// apart it is what one row of [`FlashView::each`] tells of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// Cells of a block, across and down.
    pub wide: u32,
    pub high: u32,
    /// Cells of a block.
    pub cells: u32,
    /// Blocks.
    pub blocks: u32,
    /// Blocks side by side.
    pub across: u32,
    /// Pixels of a cell, and between two blocks.
    pub cell: f64,
    pub gap: f64,
    /// Where the first block begins.
    pub origin: (f64, f64),
}

/// A rectangle: left, top, width, height.
pub type Rect = (f64, f64, f64, f64);

impl Plan {
    /// All of the flash in so much room, then enlarged and moved.
    pub fn new(f: &FlashView, size: (f64, f64), zoom: f64, pan: (f64, f64)) -> Self {
        let pages = !f.runs.is_empty();
        let cells = if pages { f.pages_per_block.max(1) } else { 1 };
        let blocks = if pages { f.blocks } else { f.each.len() as u32 }.max(1);
        let wide = (1..=cells)
            .find(|w| w * w * 2 >= cells * 3)
            .unwrap_or(cells)
            .min(cells);
        let mut plan = Self {
            wide,
            high: cells.div_ceil(wide),
            cells,
            blocks,
            across: 1,
            cell: 1.0,
            gap: 2.0,
            origin: (0.0, 0.0),
        };
        plan.fit(size);
        plan.cell *= zoom;
        plan.gap = (plan.cell * 0.6).clamp(1.0, 8.0);
        plan.origin = pan;
        plan
    }

    /// The largest cells with which everything is in sight.
    fn fit(&mut self, size: (f64, f64)) {
        let try_cell = |cell: f64| {
            let gap = (cell * 0.6).clamp(1.0, 8.0);
            let (w, h) = self.block_size(cell, gap);
            let across = ((size.0 + gap) / w).floor().max(1.0);
            let rows = (f64::from(self.blocks) / across).ceil();
            (across as u32, rows * h <= size.1 + gap && w <= size.0 + gap)
        };
        let mut cell = 24.0;
        while cell > 1.0 && !try_cell(cell).1 {
            cell -= 0.5;
        }
        self.across = try_cell(cell).0.min(self.blocks).max(1);
        self.cell = cell;
    }

    fn block_size(&self, cell: f64, gap: f64) -> (f64, f64) {
        (
            f64::from(self.wide) * cell + gap,
            f64::from(self.high) * cell + gap,
        )
    }

    /// Cells in all.
    pub fn total(&self) -> u32 {
        self.blocks.saturating_mul(self.cells)
    }

    /// Where a block lies.
    pub fn block(&self, block: u32) -> Rect {
        let (w, h) = self.block_size(self.cell, self.gap);
        let (col, row) = (block % self.across, block / self.across);
        (
            self.origin.0 + f64::from(col) * w,
            self.origin.1 + f64::from(row) * h,
            w - self.gap,
            h - self.gap,
        )
    }

    /// Where a cell lies.
    pub fn cell(&self, nr: u32) -> Rect {
        let (x, y, ..) = self.block(nr / self.cells);
        let at = nr % self.cells;
        (
            x + f64::from(at % self.wide) * self.cell,
            y + f64::from(at / self.wide) * self.cell,
            self.cell,
            self.cell,
        )
    }

    /// The cell at a place.
    pub fn at(&self, x: f64, y: f64) -> Option<u32> {
        let (w, h) = self.block_size(self.cell, self.gap);
        let (x, y) = (x - self.origin.0, y - self.origin.1);
        if x < 0.0 || y < 0.0 {
            return None;
        }
        let (col, row) = ((x / w) as u32, (y / h) as u32);
        let (x, y) = (((x % w) / self.cell) as u32, ((y % h) / self.cell) as u32);
        let at = y.checked_mul(self.wide)?.checked_add(x)?;
        let block = row.checked_mul(self.across)?.checked_add(col)?;
        let there = col < self.across && x < self.wide && at < self.cells && block < self.blocks;
        there.then(|| block * self.cells + at)
    }

    /// The cell that a key leads to.
    pub fn step(&self, from: u32, dx: i32, dy: i32) -> u32 {
        let (x, y, w, h) = self.cell(from);
        let blocks = self.block_size(self.cell, self.gap);
        // Over the gap between two blocks, if that is what is met.
        let reach =
            |d: i32, size: f64, gap: f64| f64::from(d) * (size + if d == 0 { 0.0 } else { gap });
        let middle = (x + w / 2.0, y + h / 2.0);
        let near = self.at(middle.0 + f64::from(dx) * w, middle.1 + f64::from(dy) * h);
        let far = || {
            let (w, h) = (reach(dx, w, self.gap), reach(dy, h, self.gap));
            self.at(middle.0 + w, middle.1 + h)
        };
        let next = || {
            self.at(
                middle.0 + f64::from(dx) * blocks.0,
                middle.1 + f64::from(dy) * blocks.1,
            )
        };
        near.or_else(far).or_else(next).unwrap_or(from)
    }
}

/// What a cell needs beside the flash to be coloured.
pub struct Scene<'a> {
    pub flash: &'a FlashView,
    pub plan: Plan,
    pub colouring: Colouring,
    pub inks: &'a Inks,
    pub now_ns: u64,
    pub chosen: Option<u64>,
    /// What the filesystem has at a byte of its partition.
    pub owner: &'a dyn Fn(u64) -> Option<Owned>,
}

impl Scene<'_> {
    /// Paints all that is in sight: red, green, blue, opaque.
    pub fn paint(&self, pixels: &mut [u8], width: usize) {
        for pixel in pixels.chunks_exact_mut(4) {
            let [r, g, b] = self.inks.back;
            pixel.copy_from_slice(&[r, g, b, 255]);
        }
        let most_erases = self.flash.each.iter().map(|b| b.erases).max().unwrap_or(0);
        if self.flash.runs.is_empty() {
            return self.blocks(pixels, width, most_erases);
        }
        for run in &self.flash.runs {
            let per_block = self.flash.pages_per_block.max(1) * self.flash.grain.max(1);
            let Some(block) = self.flash.each.get((run.first / per_block) as usize) else {
                continue;
            };
            for nth in 0..run.len {
                let mut facts = PageFacts {
                    flash: self.flash,
                    block,
                    run,
                    nth,
                    owned: None,
                    now_ns: self.now_ns,
                    most_erases,
                    chosen: self.chosen,
                };
                facts.owned = facts.bytes().and_then(|(from, _)| (self.owner)(from));
                let tone = self.colouring.tone(&facts);
                self.fill(pixels, width, run.first + nth, tone);
            }
        }
    }

    /// Flash of which only blocks are told.
    fn blocks(&self, pixels: &mut [u8], width: usize, most_erases: u32) {
        let whole = self.flash.pages_per_block.max(1) * self.flash.grain.max(1);
        for (nr, block) in (0..).zip(&self.flash.each) {
            let run = super::device_flash::as_run(block, whole);
            let facts = PageFacts {
                flash: self.flash,
                block,
                run: &run,
                nth: 0,
                owned: None,
                now_ns: self.now_ns,
                most_erases,
                chosen: None,
            };
            self.fill(pixels, width, nr, self.colouring.tone(&facts));
        }
    }

    fn fill(&self, pixels: &mut [u8], width: usize, cell: u32, tone: Tone) {
        let (x, y, w, h) = self.plan.cell(cell);
        let line = if w >= 5.0 { 1.0 } else { 0.0 };
        let height = pixels.len() / 4 / width.max(1);
        let clip = |at: f64, most: usize| at.round().clamp(0.0, most as f64) as usize;
        let (x0, x1) = (clip(x, width), clip(x + w - line, width));
        let (y0, y1) = (clip(y, height), clip(y + h - line, height));
        let [r, g, b] = self.inks.of(tone);
        let other = match tone {
            // What is out of date is hatched, what is broken or at risk crossed.
            Tone::Stale if w >= 4.0 => Some(self.inks.ground),
            Tone::Bad if w >= 6.0 => Some(self.inks.back),
            _ => None,
        };
        for py in y0..y1 {
            for px in x0..x1 {
                let at = (py * width + px) * 4;
                let marked = match tone {
                    Tone::Stale => (px + py) % 4 < 2,
                    _ => {
                        let (u, v) = (px - x0, py - y0);
                        u == v || u + v + 1 == x1 - x0
                    }
                };
                let [r, g, b] = other.filter(|_| marked).unwrap_or([r, g, b]);
                if let Some(pixel) = pixels.get_mut(at..at + 4) {
                    pixel.copy_from_slice(&[r, g, b, 255]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_engine::view::lab::{FlashRun, FlashState};

    fn flash(blocks: u32, pages: u32) -> FlashView {
        FlashView {
            blocks,
            pages_per_block: pages,
            grain: 1,
            runs: vec![FlashRun {
                first: 0,
                len: blocks * pages,
                state: FlashState::Erased,
                logical: None,
                cause: None,
                at_ns: None,
                moves: 0,
            }],
            ..FlashView::default()
        }
    }

    #[test]
    fn places_lead_back_to_their_cells() {
        for (blocks, pages) in [(1, 1), (7, 32), (140, 32), (20, 512), (3, 30)] {
            let f = flash(blocks, pages);
            for zoom in [1.0, 2.5] {
                let plan = Plan::new(&f, (700.0, 300.0), zoom, (-13.0, 5.0));
                for nr in 0..plan.total() {
                    let (x, y, w, h) = plan.cell(nr);
                    assert_eq!(
                        plan.at(x + w / 2.0, y + h / 2.0),
                        Some(nr),
                        "{blocks}x{pages}"
                    );
                }
            }
        }
    }

    #[test]
    fn all_fits_where_it_can() {
        let f = flash(140, 32);
        let plan = Plan::new(&f, (700.0, 300.0), 1.0, (0.0, 0.0));
        for nr in 0..plan.total() {
            let (x, y, w, h) = plan.cell(nr);
            assert!(x >= 0.0 && y >= 0.0 && x + w <= 701.0 && y + h <= 301.0);
        }
    }

    #[test]
    fn keys_cross_the_gap_between_blocks() {
        let f = flash(4, 4);
        let plan = Plan::new(&f, (700.0, 100.0), 1.0, (0.0, 0.0));
        // The last cell of the first block's first row: on into the second block.
        let last = plan.wide - 1;
        assert_eq!(plan.step(last, 1, 0) / plan.cells, 1);
        assert_eq!(plan.step(0, -1, 0), 0);
    }
}
