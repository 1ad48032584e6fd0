//! Paints a map into pixels.

pub mod frame;
mod groups;
mod marks;
mod runs;
mod squares;

pub use frame::Frame;
pub use marks::Glyphs;

use super::camera::Camera;
use super::palette::Inks;
use super::plan::Plan;
use super::shares::Shares;
use crate::owner_map::OwnerMap;

/// How much of the map is told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// A tile is a group, filled by its kinds.
    Groups,
    /// A pixel is a few blocks.
    Runs,
    /// A block is a few pixels, or a square.
    Squares,
}

/// With smaller cells a pixel would stand for too many blocks.
const SMALLEST_RUNS: f64 = 0.34;
/// More runs than this take too long for a frame while a pixel is many blocks.
const MOST_RUNS: usize = 150_000;

/// Everything that a picture depends on.
#[derive(Debug)]
pub struct Scene<'a> {
    /// Who owns each block.
    pub map: &'a OwnerMap,
    /// Where everything lies.
    pub plan: &'a Plan,
    /// What is on the screen.
    pub camera: Camera,
    /// Colours.
    pub inks: &'a Inks,
    /// What each group is made of.
    pub shares: &'a Shares,
    /// Letters, where they are drawn.
    pub glyphs: Option<&'a Glyphs>,
}

/// Rows that are used again from frame to frame.
#[derive(Debug, Default)]
pub struct Scratch {
    ranks: Vec<u8>,
}

impl Scene<'_> {
    /// Paints all that is on the screen; tells at which level.
    pub fn draw(&self, frame: &mut Frame<'_>, scratch: &mut Scratch) -> Level {
        frame.clear(self.inks.ground);
        let level = self.level(frame);
        for group in self.groups_in_sight(frame) {
            match level {
                Level::Groups => groups::draw(self, group, frame),
                Level::Runs => runs::draw(self, group, frame, &mut scratch.ranks),
                Level::Squares => squares::draw(self, group, frame),
            }
        }
        level
    }

    /// How much of the map can be told apart.
    pub fn level(&self, frame: &Frame<'_>) -> Level {
        let cell = self.plan.cell;
        if cell >= 2.0 {
            Level::Squares
        } else if cell < SMALLEST_RUNS || self.runs_in_sight(frame) > MOST_RUNS {
            Level::Groups
        } else if cell >= 1.0 {
            Level::Squares
        } else {
            Level::Runs
        }
    }

    /// Every group whose tile is on the screen.
    fn groups_in_sight(&self, frame: &Frame<'_>) -> impl Iterator<Item = u64> + use<> {
        let ((left, right), (top, bottom)) = self.tiles(frame);
        let plan = *self.plan;
        (top..=bottom)
            .flat_map(move |row| (left..=right).map(move |column| (column, row)))
            .filter_map(move |(column, row)| plan.group(column, row))
    }

    /// First and last column and row of tiles on the screen.
    pub fn tiles(&self, frame: &Frame<'_>) -> ((u64, u64), (u64, u64)) {
        let (w, h) = (frame.width() as f64, frame.height() as f64);
        let Camera { x, y, .. } = self.camera;
        (self.plan.x.between(x, x + w), self.plan.y.between(y, y + h))
    }

    /// Runs of the tiles on the screen, at most.
    fn runs_in_sight(&self, frame: &Frame<'_>) -> usize {
        let ((left, right), (top, bottom)) = self.tiles(frame);
        let geometry = &self.plan.geometry;
        let row_of = |block: u64| {
            self.map
                .starts
                .partition_point(|&start| start < block as f64)
        };
        (top..=bottom)
            .filter_map(|row| {
                let first = self.plan.group(left, row)?;
                let last = (first + (right - left)).min(geometry.groups - 1);
                let rows = row_of(geometry.end(last)) - row_of(geometry.start(first));
                Some(rows + 1)
            })
            .sum()
    }
}
