//! Pixels in a rectangle.

/// Pixels in a rectangle, row by row.
#[derive(Debug)]
pub struct Frame<'a> {
    pixels: &'a mut [u32],
    width: usize,
}

impl<'a> Frame<'a> {
    /// Of a width; the pixels beyond the last whole row are left alone.
    pub fn new(pixels: &'a mut [u32], width: usize) -> Self {
        let width = width.max(1);
        let whole = pixels.len() / width * width;
        Self {
            pixels: &mut pixels[..whole],
            width,
        }
    }

    /// Pixels in a row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Paints all of it.
    pub fn clear(&mut self, ink: u32) {
        self.pixels.fill(ink);
    }

    /// Positions along a row that are in the frame.
    pub fn clip_x(&self, from: i64, to: i64) -> (usize, usize) {
        clip(from, to, self.width)
    }

    /// Rows that are in the frame.
    pub fn clip_y(&self, from: i64, to: i64) -> (usize, usize) {
        clip(from, to, self.height())
    }

    /// A row, all of it.
    pub fn row(&mut self, y: usize) -> &mut [u32] {
        &mut self.pixels[y * self.width..][..self.width]
    }

    /// Paints `from` to `to` (not included) of row `y`; both may be outside.
    pub fn span(&mut self, y: usize, from: i64, to: i64, ink: u32) {
        let (from, to) = self.clip_x(from, to);
        self.row(y)[from..to].fill(ink);
    }

    /// Paints a rectangle; it may be outside.
    pub fn rect(&mut self, x: i64, y: i64, w: i64, h: i64, ink: u32) {
        let (top, bottom) = self.clip_y(y, y.saturating_add(h));
        for y in top..bottom {
            self.span(y, x, x.saturating_add(w), ink);
        }
    }

    /// Copies `from` to `to` of one row into another.
    pub fn repeat(&mut self, y: usize, into: usize, from: usize, to: usize) {
        let row = y * self.width;
        self.pixels
            .copy_within(row + from..row + to, into * self.width + from);
    }

    /// Lays ink over a pixel, `cover` of 255 of it; outside nothing happens.
    pub fn blend(&mut self, x: i64, y: i64, ink: u32, cover: u8) {
        let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else {
            return;
        };
        if x >= self.width {
            return;
        }
        if let Some(pixel) = self.pixels.get_mut(y * self.width + x) {
            *pixel = if cover == 255 {
                ink
            } else {
                over(*pixel, ink, cover)
            };
        }
    }
}

fn clip(from: i64, to: i64, size: usize) -> (usize, usize) {
    let size = size as i64;
    let from = from.clamp(0, size);
    (from as usize, to.clamp(from, size) as usize)
}

fn over(under: u32, ink: u32, cover: u8) -> u32 {
    let (under, ink, cover) = (under.to_le_bytes(), ink.to_le_bytes(), u32::from(cover));
    u32::from_le_bytes(std::array::from_fn(|i| {
        let mixed = u32::from(under[i]) * (255 - cover) + u32::from(ink[i]) * cover;
        ((mixed + 127) / 255) as u8
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_outside_is_left_out() {
        let mut pixels = [0; 6];
        let mut frame = Frame::new(&mut pixels, 3);
        frame.rect(-5, -5, 6, 6, 1);
        frame.rect(2, 1, i64::MAX, i64::MAX, 2);
        frame.rect(i64::MIN, 0, 1, 1, 3);
        frame.blend(3, 0, 4, 255);
        frame.blend(-1, 1, 4, 255);
        frame.blend(0, 2, 4, 255);
        assert_eq!(pixels, [1, 0, 0, 0, 0, 2]);
    }

    #[test]
    fn half_an_ink_is_half_way() {
        assert_eq!(over(0xff00_0000, 0xff00_00ff, 128), 0xff00_0080);
    }
}
