//! The page's colours, as the system's scheme has them now.

use fslab_engine::view::owners::Kind;
use web_sys::{CanvasRenderingContext2d, CssStyleDeclaration, HtmlCanvasElement};

use super::core::palette::{Palette, Rgb};

/// Colours and letters of the page.
#[derive(Clone, PartialEq, Debug)]
pub struct Theme {
    /// Colours.
    pub palette: Palette,
    /// The page's font.
    pub sans: String,
    /// Its font for the names of the disk's world.
    pub mono: String,
}

impl Theme {
    /// As it is for a canvas.
    pub fn read(canvas: &HtmlCanvasElement, context: &CanvasRenderingContext2d) -> Option<Self> {
        let style = gloo::utils::window().get_computed_style(canvas).ok()??;
        let colour = |name: &str| colour(&style, context, name);
        let palette = Palette {
            kinds: std::array::from_fn(|i| colour(&format!("--kind-{}", Kind::ALL[i].word()))),
            ground: colour("--bg"),
            ink: colour("--ink"),
            soft: colour("--soft"),
            line: colour("--line"),
            selection: colour("--sel"),
            damage: colour("--bad-mark"),
        };
        let font = |name: &str, other: &str| match property(&style, name) {
            font if font.is_empty() => other.to_owned(),
            font => font,
        };
        Some(Self {
            palette,
            sans: font("--sans", "sans-serif"),
            mono: font("--mono", "monospace"),
        })
    }
}

fn property(style: &CssStyleDeclaration, name: &str) -> String {
    let value = style.get_property_value(name).unwrap_or_default();
    value.trim().to_owned()
}

/// A colour of the style sheet, however it is written there: the canvas reads it.
fn colour(style: &CssStyleDeclaration, context: &CanvasRenderingContext2d, name: &str) -> Rgb {
    context.set_fill_style_str("#888888");
    context.set_fill_style_str(&property(style, name));
    context
        .fill_style()
        .as_string()
        .and_then(|text| hex(&text))
        .unwrap_or([0x88; 3])
}

/// `#rrggbb`, which is how a canvas writes a colour without transparency.
fn hex(text: &str) -> Option<Rgb> {
    let number = u32::from_str_radix(text.strip_prefix('#')?, 16).ok()?;
    let [_, r, g, b] = number.to_be_bytes();
    Some([r, g, b])
}

/// A colour as a canvas wants it.
pub fn css([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}
