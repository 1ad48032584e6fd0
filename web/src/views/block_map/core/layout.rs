//! How the tiles of the groups are laid out, so that all of them fit and none is out of
//! the order of the groups.

use super::geometry::Geometry;
use super::plan::Plan;

/// Largest cell that a zoom reaches, in CSS pixels.
const LARGEST: f64 = 72.0;
/// Largest cell of a whole filesystem, in CSS pixels.
const LARGEST_AT_FIT: f64 = 24.0;
/// Narrowest and widest tile among several, as width over height.
const SHAPES: (f64, f64) = (0.7, 5.0);
/// Widest tile where each has a row for itself.
const WIDEST_ALONE: f64 = 24.0;
/// Pixels of the smallest tile.
const SMALLEST_TILE: f64 = 2.0;
/// Most tiles in a row.
const MOST_COLUMNS: u64 = 4096;

/// The size of a picture.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Screen {
    /// Device pixels.
    pub width: f64,
    /// Device pixels.
    pub height: f64,
    /// Device pixels of a CSS pixel.
    pub unit: f64,
}

/// How the tiles of the groups are laid out.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Layout {
    /// The filesystem.
    pub geometry: Geometry,
    /// The picture.
    pub screen: Screen,
    /// Tiles in a row.
    pub columns: u64,
    /// Blocks in a row of a tile.
    pub cells: u64,
    /// Pixels of a cell with which everything fits.
    pub fit: f64,
}

impl Layout {
    /// The layout that fills a screen best.
    pub fn fitting(geometry: Geometry, screen: Screen) -> Self {
        let mut best = Self::with_columns(geometry, screen, 1);
        let mut columns = 1;
        while columns < geometry.groups && columns < MOST_COLUMNS {
            columns = (columns * 2).min(geometry.groups);
            let other = Self::with_columns(geometry, screen, columns);
            let better = match (&best, &other) {
                (Some(best), Some(other)) => other.is_better(best),
                (best, _) => best.is_none(),
            };
            if better {
                best = other;
            }
        }
        best.unwrap_or_else(|| Self::overflowing(geometry, screen))
    }

    /// Whether cells are larger than with fewer columns, or as large and not in a part of
    /// the screen only. A little larger is not worth another column.
    fn is_better(&self, fewer: &Self) -> bool {
        let width = |layout: &Self| layout.at(layout.fit).x.total();
        self.fit > fewer.fit * 1.02 || self.fit >= fewer.fit && width(self) > width(fewer) * 1.2
    }

    /// The layout with so many columns and the largest cells with which it fits.
    fn with_columns(geometry: Geometry, screen: Screen, columns: u64) -> Option<Self> {
        let try_cell = |cell: f64| {
            let layout = Self {
                geometry,
                screen,
                columns,
                cells: cells(geometry, screen, columns, cell),
                fit: cell,
            };
            layout.fits(cell).then_some(layout)
        };
        let (mut low, mut high) = (0.0, LARGEST_AT_FIT * screen.unit);
        let mut best = None;
        for _ in 0..40 {
            let cell = (low + high) / 2.0;
            match try_cell(cell) {
                Some(layout) => {
                    best = Some(layout);
                    low = cell;
                }
                None => high = cell,
            }
        }
        // Whole pixels for whole cells.
        let snapped = best.filter(|layout| layout.fit >= 2.0);
        snapped
            .and_then(|layout| try_cell(layout.fit.floor()))
            .or(best)
    }

    /// With more groups than there is room for: tiles as small as can be seen.
    fn overflowing(geometry: Geometry, screen: Screen) -> Self {
        let most = geometry.most() as f64;
        let cells = (most * 1.5).sqrt().clamp(1.0, most) as u64;
        let mut columns = 1;
        let room = screen.width / (2.0 * SMALLEST_TILE * screen.unit);
        while columns * 2 <= geometry.groups && (columns * 2) as f64 <= room {
            columns *= 2;
        }
        let mut layout = Self {
            geometry,
            screen,
            columns,
            cells,
            fit: 0.0,
        };
        layout.fit = SMALLEST_TILE / layout.rows() as f64;
        layout
    }

    fn fits(&self, cell: f64) -> bool {
        let plan = self.at(cell);
        let seen = plan.x.size.min(plan.y.size) >= SMALLEST_TILE;
        let shape = plan.x.size / plan.y.size;
        let shapely = match (self.geometry.groups, self.columns) {
            (1, _) => true,
            (_, 1) => shape <= WIDEST_ALONE,
            _ => (SHAPES.0..=SHAPES.1 * 1.01).contains(&shape),
        };
        seen && shapely
            && plan.x.total() <= self.screen.width
            && plan.y.total() <= self.screen.height
    }

    /// Rows of cells in a tile.
    pub fn rows(&self) -> u64 {
        self.geometry.most().div_ceil(self.cells).max(1)
    }

    /// Rows of tiles.
    pub fn grid_rows(&self) -> u64 {
        self.geometry.groups.div_ceil(self.columns)
    }

    /// The layout with cells of a size.
    pub fn at(&self, cell: f64) -> Plan {
        Plan::new(self, cell)
    }

    /// The smallest and the largest cell.
    pub fn zooms(&self) -> (f64, f64) {
        let largest = (LARGEST * self.screen.unit).floor();
        (self.fit, largest.max(self.fit))
    }

    /// The size of a cell nearest to a wish: whole pixels, once a cell is some.
    pub fn snap(&self, cell: f64) -> f64 {
        let (least, most) = self.zooms();
        let cell = cell.clamp(least, most);
        if cell >= 2.0 {
            cell.round().clamp(least, most)
        } else {
            cell
        }
    }
}

/// Cells in a row of a tile, when so many tiles are to share the width.
fn cells(geometry: Geometry, screen: Screen, columns: u64, cell: f64) -> u64 {
    let most = geometry.most();
    let width = Plan::tile_width(geometry, screen, columns);
    let cells = (width / cell.max(1e-9)).floor().clamp(1.0, most as f64) as u64;
    let widest = |shape: f64| ((most as f64 * shape).sqrt() as u64).max(1);
    if geometry.groups == 1 {
        return cells;
    }
    if columns == 1 {
        return cells.min(widest(WIDEST_ALONE));
    }
    // So that rows begin at round numbers.
    match cells.min(widest(SHAPES.1)) {
        cells if cells >= 128 => cells / 8 * 8,
        cells if cells >= 32 => cells / 4 * 4,
        cells => cells,
    }
}
