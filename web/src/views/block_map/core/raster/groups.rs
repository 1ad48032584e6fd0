//! From afar: a tile is a group, filled from the bottom by its kinds in the order of the
//! legend, free above.

use fslab_engine::view::owners::Kind;

use super::{Frame, Scene};
use crate::views::block_map::core::palette::Tone;
use crate::views::block_map::core::plan::Rect;
use crate::views::block_map::core::shares::{Share, WHOLE};

/// Paints a group.
pub fn draw(scene: &Scene<'_>, group: u64, frame: &mut Frame<'_>) {
    let tile = scene.plan.tile_rect(group, scene.camera.origin());
    let free = scene.inks.tone(Kind::Free, Tone::Full);
    frame.rect(tile.x, tile.y, tile.w, tile.h, free);
    let Some(share) = scene.shares.get(group) else {
        return;
    };
    // A short last group has a shorter tile; its parts are still of a full one.
    let full = edge_to_edge(scene, tile.h);
    let mut filled = Filler {
        tile,
        area: tile.w * full,
        done: 0,
    };
    let mut sum = 0;
    for &kind in Kind::ALL.iter().filter(|&&kind| kind != Kind::Free) {
        let part = u32::from(share.parts[kind.index()]);
        if part == 0 {
            continue;
        }
        sum += part;
        let tone = match kind {
            Kind::Unowned if scene.inks.partial => Tone::Full,
            Kind::Unowned | Kind::Twice => Tone::Damage,
            _ => Tone::Full,
        };
        filled.up_to(sum, scene.inks.tone(kind, tone), frame);
    }
    mark_damage(scene, share, tile, frame);
}

/// Height of the tile of a full group, which the last need not be.
fn edge_to_edge(scene: &Scene<'_>, height: i64) -> i64 {
    (scene.plan.y.size.round() as i64).max(height).max(1)
}

/// A damaged group has a vermilion top edge, however little is damaged.
fn mark_damage(scene: &Scene<'_>, share: &Share, tile: Rect, frame: &mut Frame<'_>) {
    if share.damaged {
        let thick = (tile.h / 10).clamp(1, (3.0 * scene.plan.unit) as i64);
        frame.rect(tile.x, tile.y, tile.w, thick, scene.inks.damage);
    }
}

/// Fills a tile row by row from its bottom, each row from the left.
struct Filler {
    tile: Rect,
    /// Pixels of a full tile.
    area: i64,
    /// Pixels painted.
    done: i64,
}

impl Filler {
    /// Paints until so many parts of [`WHOLE`] are.
    fn up_to(&mut self, parts: u32, ink: u32, frame: &mut Frame<'_>) {
        let exact = self.area as f64 * f64::from(parts) / f64::from(WHOLE);
        // Something is there, so at least a pixel shows it.
        let until = (exact.round() as i64).max(self.done + 1);
        let until = until.min(self.tile.w * self.tile.h);
        while self.done < until {
            let (row, x) = (self.done / self.tile.w, self.done % self.tile.w);
            let pixels = (until - self.done).min(self.tile.w - x);
            let y = self.tile.y + self.tile.h - 1 - row;
            if let Some(y) = usize::try_from(y).ok().filter(|&y| y < frame.height()) {
                let from = self.tile.x + x;
                frame.span(y, from, from + pixels, ink);
            }
            self.done += pixels;
        }
    }
}
