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
        // The rows of blocks whose middle is in this row of pixels: each is in just one.
        let first = row_after(&lane, y as f64);
        let last = row_after(&lane, y as f64 + 1.0);
        ranks.clear();
        ranks.resize(right - left, 0);
        let pixels = &mut frame.row(y)[left..right];
        for row in first..last.min(lane.rows) {
            paint_row(scene, &lane, row, left, &mut runs, pixels, ranks);
        }
    }
}

/// The first row of blocks whose middle is at or after a position.
fn row_after(lane: &Lane, y: f64) -> u64 {
    ((y - lane.y) / lane.cell - 0.5).ceil().max(0.0) as u64
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
    // Where the middle of the row's first block is.
    let base = lane.x - left as f64 + lane.cell / 2.0;
    let pixel = |block: u64| {
        // Saturates: what rounding moved to the left of the lane is in its first pixel.
        (base + (block - start) as f64 * lane.cell) as usize
    };
    for run in runs.over(blocks) {
        let (ink, rank) = scene.inks.look(run.kind, run.flags);
        let from = pixel(run.from).min(pixels.len());
        let to = (pixel(run.to - 1) + 1).clamp(from, pixels.len());
        for (pixel, seen) in pixels[from..to].iter_mut().zip(&mut ranks[from..to]) {
            if rank > *seen {
                *seen = rank;
                *pixel = ink;
            }
        }
    }
}
