//! Which part of the content is on the screen.

use super::layout::Layout;
use super::plan::Plan;

/// Which part of the content is on the screen.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Camera {
    /// Pixels of a cell.
    pub cell: f64,
    /// Content that is at the screen's left edge.
    pub x: f64,
    /// Content that is at its top.
    pub y: f64,
}

impl Camera {
    /// Everything.
    pub fn fit(layout: &Layout) -> Self {
        Self {
            cell: layout.fit,
            x: 0.0,
            y: 0.0,
        }
    }

    /// Whether it shows everything.
    pub fn is_fit(&self, layout: &Layout) -> bool {
        self.cell <= layout.fit
    }

    /// Its corner.
    pub fn origin(&self) -> (f64, f64) {
        (self.x, self.y)
    }

    /// Moved by so many pixels.
    #[must_use]
    pub fn moved(self, layout: &Layout, dx: f64, dy: f64) -> Self {
        Self {
            x: self.x + dx,
            y: self.y + dy,
            ..self
        }
        .clamped(layout)
    }

    /// With cells of another size, and what is at `from` on the screen moved to `to`.
    #[must_use]
    pub fn zoomed(self, layout: &Layout, cell: f64, from: (f64, f64), to: (f64, f64)) -> Self {
        let (least, most) = layout.zooms();
        let cell = cell.clamp(least, most);
        let (before, after) = (layout.at(self.cell), layout.at(cell));
        let x = after.x.pixel(before.x.anchor(self.x + from.0)) - to.0;
        let y = after.y.pixel(before.y.anchor(self.y + from.1)) - to.1;
        Self { cell, x, y }.clamped(layout)
    }

    /// Never beyond the content, and on whole pixels.
    #[must_use]
    pub fn clamped(self, layout: &Layout) -> Self {
        let plan = layout.at(self.cell);
        let within =
            |at: f64, total: f64, seen: f64| at.clamp(0.0, (total - seen).max(0.0)).round();
        Self {
            cell: self.cell,
            x: within(self.x, plan.x.total(), layout.screen.width),
            y: within(self.y, plan.y.total(), layout.screen.height),
        }
    }

    /// Moved as little as needed to have a block in sight, with some of what is around it.
    #[must_use]
    pub fn revealing(self, layout: &Layout, block: u64) -> Self {
        let plan = layout.at(self.cell);
        let Some((x, y)) = plan.corner(block) else {
            return self;
        };
        let screen = layout.screen;
        let around = 24.0 * screen.unit;
        let reveal = |at: f64, from: f64, seen: f64| {
            let around = around.min(seen / 4.0);
            if at >= from && at + self.cell <= from + seen {
                from
            } else if at < from + around {
                at - around
            } else {
                at + self.cell + around - seen
            }
        };
        Self {
            cell: self.cell,
            x: reveal(x, self.x, screen.width),
            y: reveal(y, self.y, screen.height),
        }
        .clamped(layout)
    }

    /// Between two, the zoom by its ratio, so that it looks even.
    pub fn between(layout: &Layout, a: Self, b: Self, part: f64) -> Self {
        if part >= 1.0 {
            return b;
        }
        if a.cell == b.cell {
            let mix = |a: f64, b: f64| (a + (b - a) * part).round();
            return Self {
                cell: b.cell,
                x: mix(a.x, b.x),
                y: mix(a.y, b.y),
            };
        }
        let cell = a.cell * (b.cell / a.cell).powf(part);
        // The point of the screen that is at the same content in both.
        let (pa, pb) = (layout.at(a.cell), layout.at(b.cell));
        let middle = (layout.screen.width / 2.0, layout.screen.height / 2.0);
        let plan = layout.at(cell);
        let along = |from: f64, to: f64| {
            let grown = (cell - a.cell) / (b.cell - a.cell);
            from + (to - from) * grown
        };
        let place = |axis_a: &super::axis::Axis,
                     axis_b: &super::axis::Axis,
                     now: &super::axis::Axis,
                     at_a: f64,
                     at_b: f64,
                     middle: f64| {
            // Where the middle of the end is, at the start, at the end, and now.
            let anchor = axis_b.anchor(at_b + middle);
            let start = axis_a.pixel(anchor) - at_a;
            now.pixel(anchor) - along(start, middle)
        };
        Self {
            cell,
            x: place(&pa.x, &pb.x, &plan.x, a.x, b.x, middle.0),
            y: place(&pa.y, &pb.y, &plan.y, a.y, b.y, middle.1),
        }
        .clamped(layout)
    }

    /// The same part of the content in another layout.
    #[must_use]
    pub fn carried(self, from: &Layout, to: &Layout) -> Self {
        if self.is_fit(from) || from.geometry != to.geometry {
            return Self::fit(to);
        }
        let plan: Plan = from.at(self.cell);
        let middle = (from.screen.width / 2.0, from.screen.height / 2.0);
        let block = plan.block_at(self.x + middle.0, self.y + middle.1);
        let unit = to.screen.unit / from.screen.unit;
        let cell = to.snap(self.cell * unit);
        let corner = block.and_then(|block| to.at(cell).corner(block));
        let (x, y) = corner.unwrap_or_default();
        Self {
            cell,
            x: x - to.screen.width / 2.0,
            y: y - to.screen.height / 2.0,
        }
        .clamped(to)
    }
}
