//! Tiles in a row: where each begins, and which is where.

/// Tiles in a row, all of one size, with gaps between them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Axis {
    /// Tiles.
    pub count: u64,
    /// Where the first begins.
    pub start: f64,
    /// Pixels of a tile.
    pub size: f64,
    /// Pixels between two tiles.
    pub gap: f64,
    /// After so many tiles the gap is wider …
    pub every: u64,
    /// … by this.
    pub extra: f64,
    /// Pixels after the last.
    pub end: f64,
}

/// A point of an axis that stays where it is when the tiles grow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Anchor {
    tile: u64,
    /// Part of the tile, 0 to 1.
    part: f64,
    /// Pixels beyond the tile.
    rest: f64,
}

impl Axis {
    /// Where a tile begins.
    pub fn at(&self, tile: u64) -> f64 {
        self.start + tile as f64 * self.pitch() + (tile / self.every) as f64 * self.extra
    }

    /// Pixels from one tile to the next.
    pub fn pitch(&self) -> f64 {
        self.size + self.gap
    }

    /// Pixels from the start of the content to its end.
    pub fn total(&self) -> f64 {
        match self.count.checked_sub(1) {
            Some(last) => self.at(last) + self.size + self.end,
            None => self.start + self.end,
        }
    }

    /// The last tile that begins at or before a pixel; the first if none does.
    pub fn tile_before(&self, p: f64) -> u64 {
        let last = self.count.saturating_sub(1);
        let from_start = (p - self.start).max(0.0);
        let period = self.every as f64 * self.pitch() + self.extra;
        let periods = (from_start / period).floor();
        let inside = ((from_start - periods * period) / self.pitch()).floor();
        let inside = (inside as u64).min(self.every - 1);
        let guess = (periods as u64)
            .saturating_mul(self.every)
            .saturating_add(inside);
        let mut tile = guess.min(last);
        // The divisions may be off by a hair.
        while tile > 0 && self.at(tile) > p {
            tile -= 1;
        }
        while tile < last && self.at(tile + 1) <= p {
            tile += 1;
        }
        tile
    }

    /// The tile at a pixel, and how far into it.
    pub fn find(&self, p: f64) -> Option<(u64, f64)> {
        let tile = self.tile_before(p);
        let into = p - self.at(tile);
        (self.count > 0 && (0.0..self.size).contains(&into)).then_some((tile, into))
    }

    /// First and last tile that touch pixels `from` to `to`.
    pub fn between(&self, from: f64, to: f64) -> (u64, u64) {
        (self.tile_before(from), self.tile_before(to))
    }

    /// The point at a pixel.
    pub fn anchor(&self, p: f64) -> Anchor {
        let tile = self.tile_before(p);
        let into = p - self.at(tile);
        let inside = into.clamp(0.0, self.size);
        Anchor {
            tile,
            part: inside / self.size,
            rest: into - inside,
        }
    }

    /// The pixel of a point.
    pub fn pixel(&self, point: Anchor) -> f64 {
        self.at(point.tile) + point.part * self.size + point.rest
    }
}
