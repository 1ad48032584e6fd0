//! The letters of the kinds, drawn once and then stamped.

use fslab_engine::view::owners::Kind;
use wasm_bindgen::JsCast as _;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

use super::core::raster::Glyphs;
use super::theme::Theme;

/// Cells from so many CSS pixels on have letters of so many.
const SIZES: [(f64, f64); 4] = [(40.0, 15.0), (24.0, 12.0), (16.0, 10.0), (12.0, 8.5)];

/// Letters in the sizes that were asked for.
#[derive(Debug, Default)]
pub struct GlyphCase {
    sizes: Vec<(u32, Glyphs)>,
}

impl GlyphCase {
    /// The letters for cells of a size in device pixels; `None` if they have no room.
    pub fn get(&mut self, cell: f64, unit: f64, theme: &Theme) -> Option<&Glyphs> {
        let css = SIZES.iter().find(|(least, _)| cell >= least * unit)?.1;
        let size = (css * unit).round() as u32;
        if !self.sizes.iter().any(|(known, _)| *known == size) {
            self.sizes.push((size, draw(size, theme)?));
        }
        self.sizes
            .iter()
            .find(|(known, _)| *known == size)
            .map(|(_, glyphs)| glyphs)
    }

    /// Forgets all: the font is another.
    pub fn clear(&mut self) {
        self.sizes.clear();
    }
}

/// Kinds whose letter says more than it covers: not what fills most of a disk.
fn has_letter(kind: Kind) -> bool {
    !matches!(kind, Kind::Free | Kind::Data)
}

fn draw(size: u32, theme: &Theme) -> Option<Glyphs> {
    let (width, height) = (size + 2, size + 2);
    let canvas: HtmlCanvasElement = gloo::utils::document()
        .create_element("canvas")
        .ok()?
        .dyn_into()
        .ok()?;
    canvas.set_width(width * Kind::COUNT as u32);
    canvas.set_height(height);
    let context: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    context.set_font(&format!("700 {size}px {}", theme.mono));
    context.set_text_align("center");
    context.set_text_baseline("alphabetic");
    context.set_fill_style_str("#000");
    for (i, kind) in Kind::ALL
        .iter()
        .enumerate()
        .filter(|(_, kind)| has_letter(**kind))
    {
        let x = f64::from(width) * (i as f64 + 0.5);
        // Capitals are about 0.73 of the size.
        let baseline = (f64::from(height) + f64::from(size) * 0.73) / 2.0;
        context
            .fill_text(&kind.letter().to_string(), x, baseline.round())
            .ok()?;
    }
    let all = f64::from(width) * Kind::COUNT as f64;
    let image = context.get_image_data(0.0, 0.0, all, height.into()).ok()?;
    let covers: Vec<u8> = image
        .data()
        .0
        .chunks_exact(4)
        .map(|pixel| pixel[3])
        .collect();
    let (width, height) = (width as usize, height as usize);
    Some(Glyphs {
        width,
        height,
        masks: (0..Kind::COUNT).map(|i| mask(&covers, i, width)).collect(),
    })
}

/// How much each pixel of a letter is covered, out of a row of letters; empty if none is.
fn mask(covers: &[u8], i: usize, width: usize) -> Vec<u8> {
    let rows = covers.chunks_exact(width * Kind::COUNT);
    let mask: Vec<u8> = rows
        .flat_map(|row| &row[i * width..][..width])
        .copied()
        .collect();
    if mask.iter().all(|&cover| cover == 0) {
        Vec::new()
    } else {
        mask
    }
}
