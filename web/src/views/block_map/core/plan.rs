//! A layout at a zoom: where every tile and every block lies, and back.

use super::axis::Axis;
use super::geometry::Geometry;
use super::layout::{Layout, Screen};

/// Whole pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rect {
    /// Left.
    pub x: i64,
    /// Top.
    pub y: i64,
    /// Width.
    pub w: i64,
    /// Height.
    pub h: i64,
}

/// A layout at a zoom.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// The filesystem.
    pub geometry: Geometry,
    /// Tiles from left to right.
    pub x: Axis,
    /// Tiles from top to bottom.
    pub y: Axis,
    /// Pixels of a cell.
    pub cell: f64,
    /// Blocks in a row of a tile.
    pub cells: u64,
    /// Rows of blocks in a tile.
    pub rows: u64,
    /// Device pixels of a CSS pixel.
    pub unit: f64,
}

/// CSS pixels between the picture and its edges.
const EDGE: f64 = 14.0;

/// First pixel whose middle is at or after a position.
pub fn edge(position: f64) -> i64 {
    (position - 0.5).ceil() as i64
}

impl Plan {
    pub(super) fn new(layout: &Layout, cell: f64) -> Self {
        let (geometry, unit) = (layout.geometry, layout.screen.unit);
        let (w, h) = (layout.cells as f64 * cell, layout.rows() as f64 * cell);
        let grid_rows = layout.grid_rows();
        let several = geometry.groups > 1;
        let between = |part: f64, most: f64| (part.clamp(1.0, most) * unit).round();
        let (gap_x, gap_y) = (
            between(0.06 * w / unit, 12.0),
            between(0.28 * h / unit, 18.0),
        );
        // Flex groups stand apart, and have room for a ring where there is room at all.
        let ringed = several && geometry.flex > 1;
        let apart = if ringed {
            between(0.1 * w.min(h) / unit, 10.0)
        } else {
            0.0
        };
        let top = if several { gap_y + apart } else { 0.0 };
        // A last row of tiles that holds but a short last group is less high.
        let last_row = (grid_rows - 1) * layout.columns;
        let rows_there = geometry.len(last_row).div_ceil(layout.cells).max(1);
        let short = (layout.rows() - rows_there) as f64 * cell;
        let x = Axis {
            count: layout.columns.min(geometry.groups),
            start: gutter(geometry, unit),
            size: w,
            gap: gap_x,
            every: geometry.flex,
            extra: apart,
            end: (EDGE * unit).round(),
        };
        let y = Axis {
            count: grid_rows,
            start: top + (4.0 * unit).round(),
            size: h,
            gap: gap_y,
            every: (geometry.flex / layout.columns).max(1),
            extra: apart,
            end: (EDGE / 2.0 * unit).round().max(apart) - short,
        };
        Self {
            geometry,
            x,
            y,
            cell,
            cells: layout.cells,
            rows: layout.rows(),
            unit,
        }
    }

    /// Most pixels that a tile can be wide when so many share a screen.
    pub(super) fn tile_width(geometry: Geometry, screen: Screen, columns: u64) -> f64 {
        let count = columns.min(geometry.groups);
        let fixed = gutter(geometry, screen.unit);
        let mut width = (screen.width - fixed) / count as f64;
        // Gaps depend on the tiles they are between: a few rounds settle it.
        for _ in 0..8 {
            let layout = Layout {
                geometry,
                screen,
                columns,
                cells: 1,
                fit: width,
            };
            let plan = Self::new(&layout, width.max(1.0));
            let over = plan.x.total() - screen.width;
            width -= over / count as f64;
        }
        width.max(1.0)
    }

    /// Pixels between two squares, taken from their right and bottom.
    pub fn gap(&self) -> i64 {
        let css = self.cell / self.unit;
        if css < 4.0 {
            0
        } else if css < 28.0 {
            (self.unit.round() as i64).max(1)
        } else {
            (2.0 * self.unit).round() as i64
        }
    }

    /// A group's column and row.
    pub fn grid(&self, group: u64) -> (u64, u64) {
        (group % self.x.count, group / self.x.count)
    }

    /// The group in a column and row.
    pub fn group(&self, column: u64, row: u64) -> Option<u64> {
        let group = row.checked_mul(self.x.count)?.checked_add(column)?;
        (group < self.geometry.groups && column < self.x.count).then_some(group)
    }

    /// Left and top of a group's tile.
    pub fn tile(&self, group: u64) -> (f64, f64) {
        let (column, row) = self.grid(group);
        (self.x.at(column), self.y.at(row))
    }

    /// The block at a point.
    pub fn block_at(&self, x: f64, y: f64) -> Option<u64> {
        let ((column, into_x), (row, into_y)) = (self.x.find(x)?, self.y.find(y)?);
        let group = self.group(column, row)?;
        let cell_x = ((into_x / self.cell) as u64).min(self.cells - 1);
        let cell_y = (into_y / self.cell) as u64;
        self.geometry.block(group, cell_y * self.cells + cell_x)
    }

    /// Left and top of a block.
    pub fn corner(&self, block: u64) -> Option<(f64, f64)> {
        let (group, index) = self.geometry.place(block)?;
        let (x, y) = self.tile(group);
        let (row, column) = (index / self.cells, index % self.cells);
        Some((x + column as f64 * self.cell, y + row as f64 * self.cell))
    }

    /// Pixels that a block covers on a screen whose corner is at `origin`.
    pub fn rect(&self, block: u64, origin: (f64, f64)) -> Option<Rect> {
        let (x, y) = self.corner(block)?;
        Some(pixels(x - origin.0, y - origin.1, self.cell, self.cell))
    }

    /// Pixels that a group's tile covers on a screen whose corner is at `origin`.
    pub fn tile_rect(&self, group: u64, origin: (f64, f64)) -> Rect {
        let (x, y) = self.tile(group);
        let rows = self.geometry.len(group).div_ceil(self.cells);
        let (w, h) = (self.x.size, rows as f64 * self.cell);
        pixels(x - origin.0, y - origin.1, w, h)
    }
}

/// Whole pixels; at least one each way.
fn pixels(x: f64, y: f64, w: f64, h: f64) -> Rect {
    let (left, top) = (edge(x), edge(y));
    Rect {
        x: left,
        y: top,
        w: (edge(x + w) - left).max(1),
        h: (edge(y + h) - top).max(1),
    }
}

/// Room at the left for numbers.
fn gutter(geometry: Geometry, unit: f64) -> f64 {
    let largest = if geometry.groups > 1 {
        geometry.groups
    } else {
        geometry.blocks
    };
    let digits = largest.max(1).ilog10() + 1;
    let commas = (digits - 1) / 3;
    ((f64::from(digits) * 6.4 + f64::from(commas) * 3.2 + EDGE) * unit).round()
}
