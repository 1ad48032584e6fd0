//! Colours as pixels.

use fslab_engine::view::owners::{Flags, Kind};

use super::shares::is_damage;
use crate::kinds::KindSet;

/// Red, green, blue.
pub type Rgb = [u8; 3];

/// The colours of a scheme.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Palette {
    /// By [`Kind::index`].
    pub kinds: [Rgb; Kind::COUNT],
    /// Behind everything.
    pub ground: Rgb,
    /// Text.
    pub ink: Rgb,
    /// Labels.
    pub soft: Rgb,
    /// Hairlines.
    pub line: Rgb,
    /// The selection.
    pub selection: Rgb,
    /// Damage.
    pub damage: Rgb,
}

/// How strongly a kind is painted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tone {
    /// Blocks in use.
    Full,
    /// Blocks that hold nothing of the owner's yet: unwritten, slack.
    Pale,
    /// Damage.
    Damage,
}

const TONES: usize = 3;
/// How many sets of flags there are.
const FLAGS: usize = u8::MAX as usize + 1;
/// Ranks of kinds that the filter dims are below this.
const SHOWN: u8 = 64;

/// What each kind is painted with, under a filter: pixels as they stand in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inks {
    fill: [[u32; TONES]; Kind::COUNT],
    text: [u32; Kind::COUNT],
    shown: [bool; Kind::COUNT],
    rank: [u8; Kind::COUNT],
    /// Ink and rank by kind and flags.
    looks: Vec<(u32, u8)>,
    /// Behind everything.
    pub ground: u32,
    /// Damage.
    pub damage: u32,
    /// While a scan runs, a block without an owner is no damage.
    pub partial: bool,
}

/// A colour between two.
pub fn mix(a: Rgb, b: Rgb, part: f32) -> Rgb {
    std::array::from_fn(|i| {
        let (a, b) = (f32::from(a[i]), f32::from(b[i]));
        (a + (b - a) * part).round() as u8
    })
}

/// A pixel as it stands in the memory of an `ImageData`: red first.
pub fn pixel([r, g, b]: Rgb) -> u32 {
    u32::from_le_bytes([r, g, b, 255])
}

/// Brightness as the eye has it, 0 to 1 (WCAG's relative luminance).
pub fn luminance(colour: Rgb) -> f32 {
    let linear = colour.map(|c| {
        let c = f32::from(c) / 255.0;
        if c <= 0.040_45 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
}

/// Black or white, whichever reads better on a colour.
pub fn text_on(colour: Rgb) -> Rgb {
    // Where the contrast to both is the same.
    if luminance(colour) > 0.179 {
        [0, 0, 0]
    } else {
        [255, 255, 255]
    }
}

impl Palette {
    /// The inks under a filter; an empty one shows every kind.
    pub fn inks(&self, filter: KindSet, partial: bool) -> Inks {
        let shown = |kind| filter.is_empty() || filter.contains(kind);
        let free = self.kinds[Kind::Free.index()];
        let each = |paint: &dyn Fn(Kind, Rgb) -> Rgb| {
            std::array::from_fn::<u32, { Kind::COUNT }, _>(|i| {
                let (kind, colour) = (Kind::ALL[i], self.kinds[i]);
                let painted = paint(kind, colour);
                pixel(if shown(kind) {
                    painted
                } else {
                    mix(painted, self.ground, 0.82)
                })
            })
        };
        let full = each(&|_, colour| colour);
        let pale = each(&|_, colour| mix(colour, free, 0.55));
        let damage = each(&|_, _| self.damage);
        let mut inks = Inks {
            looks: Vec::new(),
            fill: std::array::from_fn(|i| [full[i], pale[i], damage[i]]),
            text: each(&|_, colour| mix(text_on(colour), colour, 0.12)),
            shown: std::array::from_fn(|i| shown(Kind::ALL[i])),
            rank: std::array::from_fn(|i| {
                rank(Kind::ALL[i]) + if shown(Kind::ALL[i]) { SHOWN } else { 0 }
            }),
            ground: pixel(self.ground),
            damage: pixel(self.damage),
            partial,
        };
        inks.looks = (0..Kind::COUNT * FLAGS)
            .map(|i| {
                let flags = Flags::from_bits_retain((i % FLAGS) as u8);
                let kind = Kind::ALL[i / FLAGS];
                (inks.fill(kind, flags), inks.rank(kind, flags))
            })
            .collect();
        inks
    }
}

impl Inks {
    /// What a block is painted with.
    pub fn fill(&self, kind: Kind, flags: Flags) -> u32 {
        self.tone(kind, self.tone_of(kind, flags))
    }

    /// Ink and rank of a block that is painted without marks.
    pub fn look(&self, kind: Kind, flags: Flags) -> (u32, u8) {
        self.looks[kind.index() * FLAGS + usize::from(flags.bits())]
    }

    /// A kind in a tone.
    pub fn tone(&self, kind: Kind, tone: Tone) -> u32 {
        self.fill[kind.index()][tone as usize]
    }

    /// The tone of a block that is painted without marks.
    pub fn tone_of(&self, kind: Kind, flags: Flags) -> Tone {
        if is_damage(kind, flags, self.partial) {
            Tone::Damage
        } else if flags.intersects(Flags::UNWRITTEN.union(Flags::SLACK)) {
            Tone::Pale
        } else {
            Tone::Full
        }
    }

    /// Marks and letters on a kind.
    pub fn text(&self, kind: Kind) -> u32 {
        self.text[kind.index()]
    }

    /// Whether the filter shows a kind.
    pub fn shows(&self, kind: Kind) -> bool {
        self.shown[kind.index()]
    }

    /// Of several blocks in a pixel, the one of the highest rank is painted.
    pub fn rank(&self, kind: Kind, flags: Flags) -> u8 {
        let damage = is_damage(kind, flags, self.partial) && self.shows(kind);
        if damage {
            u8::MAX
        } else {
            self.rank[kind.index()]
        }
    }
}

/// The rarer before the common, so that what is small does not vanish.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Free => 1,
        Kind::Data => 2,
        Kind::ReservedDescriptors => 3,
        Kind::InodeTable => 4,
        Kind::Journal => 5,
        other => 6 + other.index() as u8,
    }
}
