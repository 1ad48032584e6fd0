//! Nearer: a pixel is a few blocks, and shows the rarest of them.

use super::squares::{Lane, Runs};
use super::{Frame, Scene};

/// Paints a group.
pub fn draw(scene: &Scene<'_>, group: u64, frame: &mut Frame<'_>, ranks: &mut Vec<u8>) {
    let lane = Lane::new(scene, group, frame);
    let Some((left, right)) = lane.pixels(frame) else {
        return;
    };
    let mut runs = Runs::new(scene.map);
    let height = lane.rows as f64 * lane.cell;
    let bottom = (lane.y + height).ceil() as i64;
    let (top, bottom) = frame.clip_y(lane.y.floor() as i64, bottom);
    for y in top..bottom {
        // Every row of blocks that this row of pixels touches.
        let first = ((y as f64 - lane.y) / lane.cell).floor().max(0.0) as u64;
        let last = ((y as f64 + 1.0 - lane.y) / lane.cell).ceil() as u64;
        ranks.clear();
        ranks.resize(right - left, 0);
        let pixels = &mut frame.row(y)[left..right];
        for row in first..last.min(lane.rows) {
            paint_row(scene, &lane, row, left, &mut runs, pixels, ranks);
        }
    }
}

fn paint_row(
    scene: &Scene<'_>,
    lane: &Lane,
    row: u64,
    left: usize,
    runs: &mut Runs<'_>,
    pixels: &mut [u32],
    ranks: &mut [u8],
) {
    let Some((start, blocks)) = lane.blocks(row) else {
        return;
    };
    let base = lane.x - left as f64;
    for run in runs.over(blocks) {
        let (ink, rank) = scene.inks.look(run.kind, run.flags);
        let from = base + (run.from - start) as f64 * lane.cell;
        let to = base + (run.to - start) as f64 * lane.cell;
        let from = (from.floor().max(0.0) as usize).min(pixels.len());
        let to = (to.ceil().max(0.0) as usize).clamp(from, pixels.len());
        for (pixel, seen) in pixels[from..to].iter_mut().zip(&mut ranks[from..to]) {
            if rank > *seen {
                *seen = rank;
                *pixel = ink;
            }
        }
    }
}
