//! Ways to colour flash, each with a sentence and a legend.

use super::flash::{BlockState, BlockView, FlashView, PageRun, PageState};
use crate::view::owners::Kind;
use serde::{Deserialize, Serialize};

/// Steps of a ramp.
pub const STEPS: u8 = 8;

/// A colour, by what it stands for; the page has the colours themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Tone {
    /// Nothing is there.
    Ground,
    /// Out of date.
    Stale,
    /// Broken, or at risk.
    Bad,
    /// As a kind of block of the filesystem.
    Kind(Kind),
    /// A step of a ramp, 0 to 7.
    Step(u8),
    /// One of a few things side by side, 0 to 5.
    Class(u8),
}

/// What the filesystem has at a place of its partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owned {
    /// What it is.
    pub kind: Kind,
    /// Whose it is.
    pub inode: Option<u32>,
}

/// A page, and all that a colour may follow from.
#[derive(Clone, Copy, Debug)]
pub struct PageFacts<'v> {
    /// The flash.
    pub flash: &'v FlashView,
    /// Its block.
    pub block: &'v BlockView,
    /// Its run.
    pub run: &'v PageRun,
    /// Its place in the run.
    pub nth: u32,
    /// What the filesystem has there.
    pub owned: Option<Owned>,
    /// Simulated time, ns.
    pub now_ns: u64,
    /// The most erases of any block.
    pub most_erases: u32,
    /// The event that is chosen, and whose pages stand out.
    pub chosen: Option<u64>,
}

macro_rules! colourings {
    ($($name:ident, $title:literal, $sentence:literal;)*) => {
        /// A way to colour flash.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
        pub enum Colouring {
            $(#[doc = $sentence] $name,)*
            #[doc(hidden)]
            #[default]
            None,
        }

        impl Colouring {
            /// All of them, the most used first.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$name => $title,)* Self::None => "None" }
            }

            /// What it shows.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* Self::None => "" }
            }
        }
    };
}

colourings! {
    State, "State of pages", "What each page is: erased, holding what was last written, or out of date";
    Owner, "Filesystem structure", "Which structure of the filesystem lies in each page that is valid";
    File, "File", "Which file lies in each page, files by colours in turn";
    Trash, "Kept for nothing", "Pages that the filesystem has freed and the device still takes care of, because nobody told it";
    Age, "Age", "How long ago each page was written, from just now to the run's beginning";
    Moves, "Times moved", "How often each page was copied since it was written";
    Origin, "Written or moved", "Whether the host wrote a page where it is, or the device moved it there";
    Call, "By the chosen event", "Pages that were written because of the event that is chosen";
    Safety, "Lost at a power cut", "Pages whose newer contents are still in the cache, and would be lost";
    Valid, "Valid count", "How many pages of a block are valid: the fewer, the cheaper it is to collect";
    Gain, "What collecting gains", "How many pages of a block are out of date and would be free again";
    Wear, "Wear", "How often each block was erased, by the block that was erased most";
    Blocks, "State of blocks", "What each block is: erased, being filled, full, broken";
    Heat, "Hot and cold", "Blocks of what is written often, and of the rest, where the device keeps them apart";
    Address, "Logical address", "Where in the device, as the host sees it, each page lies: neighbours have like colours";
    Die, "Die", "On which die each page is: a block lies across all of them";
}

/// A count as a step of a ramp: 0 for none, the last for all.
fn step(part: u64, whole: u64) -> Tone {
    let top = u64::from(STEPS - 1);
    let at = part.min(whole).saturating_mul(top).div_ceil(whole.max(1));
    Tone::Step(at as u8)
}

impl PageFacts<'_> {
    fn logical(&self) -> Option<u64> {
        self.run.logical.map(|l| l + u64::from(self.nth))
    }

    /// Bytes of the partition that the page holds: from, to.
    pub fn bytes(&self) -> Option<(u64, u64)> {
        let at = self.logical()?.checked_mul(self.flash.page)?;
        let end = at.saturating_add(self.flash.page);
        let from = at.max(self.flash.start) - self.flash.start;
        (end > self.flash.start).then(|| (from, end - self.flash.start))
    }

    fn at_risk(&self) -> bool {
        let Some((from, to)) = self.bytes() else {
            return false;
        };
        let meets = |&(at, len): &(u64, u64)| at < to && from < at.saturating_add(len);
        self.flash.unsafe_bytes.iter().any(meets)
    }

    /// Newer than this share of the run, on a scale by halves.
    fn age(&self) -> Tone {
        let Some(at) = self.run.at_ns else {
            return Tone::Step(0);
        };
        let age = self.now_ns.saturating_sub(at).max(1);
        // Each step is four times as old: from a millisecond on.
        let steps = (0..u32::from(STEPS) - 1).take_while(|i| age > 1_000_000 << (2 * i));
        Tone::Step(STEPS - 1 - steps.count() as u8)
    }
}

impl Colouring {
    /// The colour of a page.
    pub fn tone(self, page: &PageFacts<'_>) -> Tone {
        let whole = u64::from(page.flash.pages_per_block) * u64::from(page.flash.grain);
        // Of blocks.
        match self {
            Self::Valid => return step(page.block.valid.into(), whole),
            Self::Gain => return step(page.block.stale.into(), whole),
            Self::Wear => return step(page.block.erases.into(), page.most_erases.into()),
            Self::Blocks => {
                return match page.block.state {
                    BlockState::Free => Tone::Ground,
                    BlockState::Open => Tone::Class(0),
                    BlockState::Full => Tone::Class(1),
                    BlockState::Old => Tone::Class(2),
                    BlockState::Fat => Tone::Class(3),
                    BlockState::Bad => Tone::Bad,
                };
            }
            _ => {}
        }
        match page.run.state {
            PageState::Erased => return Tone::Ground,
            PageState::Bad => return Tone::Bad,
            PageState::Stale => return Tone::Stale,
            PageState::Valid => {}
        }
        match self {
            Self::Owner => page.owned.map_or(Tone::Class(5), |o| Tone::Kind(o.kind)),
            Self::File => match page.owned.and_then(|o| o.inode) {
                Some(inode) => Tone::Class((inode % 5) as u8),
                None => Tone::Class(5),
            },
            Self::Trash => match page.owned.map(|o| o.kind) {
                Some(Kind::Free) => Tone::Bad,
                _ => Tone::Class(1),
            },
            Self::Age => page.age(),
            Self::Moves => Tone::Step(page.run.moves.min(u32::from(STEPS) - 1) as u8),
            Self::Origin => match (page.run.at_ns, page.run.moves) {
                (None, _) => Tone::Class(5),
                (Some(_), 0) => Tone::Class(0),
                (Some(_), _) => Tone::Class(2),
            },
            Self::Call => match page.run.cause.is_some() && page.run.cause == page.chosen {
                true => Tone::Class(0),
                false => Tone::Class(5),
            },
            Self::Safety if page.at_risk() => Tone::Bad,
            Self::Heat => Tone::Class(page.block.stream.min(1)),
            Self::Address => step(page.logical().unwrap_or(0), page.flash.logical_pages),
            Self::Die => {
                let at = u64::from(page.run.first) + u64::from(page.nth);
                Tone::Class((at % u64::from(page.flash.dies.max(1)) % 5) as u8)
            }
            _ => Tone::Class(1),
        }
    }

    /// What its colours mean.
    pub fn legend(self) -> Vec<(Tone, String)> {
        let ramp = |none: &str, all: &str| {
            vec![
                (Tone::Step(0), none.to_owned()),
                (Tone::Step(STEPS - 1), all.to_owned()),
            ]
        };
        let of_pages = |mut more: Vec<(Tone, String)>| {
            more.push((Tone::Stale, "out of date".into()));
            more.push((Tone::Ground, "erased".into()));
            more
        };
        let named = |tone, words: &str| (tone, words.to_owned());
        let (first, plain, third) = (Tone::Class(0), Tone::Class(1), Tone::Class(2));
        match self {
            Self::State => of_pages(vec![named(plain, "valid"), named(Tone::Bad, "broken")]),
            Self::Owner => {
                let kinds = [
                    Kind::Data,
                    Kind::Directory,
                    Kind::InodeTable,
                    Kind::BlockBitmap,
                    Kind::Journal,
                    Kind::Free,
                ];
                let mut all: Vec<(Tone, String)> = kinds
                    .iter()
                    .map(|k| (Tone::Kind(*k), k.words().to_owned()))
                    .collect();
                all.push(named(Tone::Class(5), "outside the partition"));
                of_pages(all)
            }
            Self::File => {
                let mut all: Vec<(Tone, String)> = (0..5u8)
                    .map(|i| {
                        (
                            Tone::Class(i),
                            format!("inode whose number ends in {i} or {}", i + 5),
                        )
                    })
                    .collect();
                all.push(named(Tone::Class(5), "no file's"));
                of_pages(all)
            }
            Self::Trash => of_pages(vec![
                named(Tone::Bad, "freed by the filesystem, kept by the device"),
                named(plain, "in use"),
            ]),
            Self::Age => of_pages(ramp("before the run, or long ago", "within a millisecond")),
            Self::Moves => of_pages(ramp("never moved", "seven times or more")),
            Self::Origin => of_pages(vec![
                named(first, "written here by the host"),
                named(third, "moved here by the device"),
                named(Tone::Class(5), "before the run"),
            ]),
            Self::Call => of_pages(vec![
                named(first, "because of the chosen event"),
                named(Tone::Class(5), "others"),
            ]),
            Self::Safety => of_pages(vec![
                named(Tone::Bad, "newer contents in the cache only"),
                named(plain, "safe"),
            ]),
            Self::Valid => ramp("no page valid", "all pages valid"),
            Self::Gain => ramp("nothing to gain", "all pages out of date"),
            Self::Wear => ramp("never erased", "erased most"),
            Self::Blocks => vec![
                named(first, "being filled"),
                named(plain, "full"),
                named(third, "old place of an open segment"),
                named(Tone::Class(3), "FAT area"),
                named(Tone::Ground, "erased"),
                named(Tone::Bad, "broken"),
            ],
            Self::Heat => of_pages(vec![
                named(plain, "hot"),
                named(first, "cold, or not kept apart"),
            ]),
            Self::Address => of_pages(ramp("first byte of the device", "last byte")),
            Self::Die => {
                let all = (0..5u8).map(|i| (Tone::Class(i), format!("die {i}, {}…", i + 5)));
                of_pages(all.collect())
            }
            Self::None => Vec::new(),
        }
    }
}
