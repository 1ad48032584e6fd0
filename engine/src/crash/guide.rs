//! Which parts of writes reach the medium in one of the disks that are looked at.

use super::pending::Atom;
use std::collections::BTreeSet;

/// A rule that says of every part whether it is kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Guide {
    /// All of them.
    Kept,
    /// None.
    Lost,
    /// All but these.
    KeptBut(BTreeSet<Atom>),
    /// None but these.
    LostBut(BTreeSet<Atom>),
    /// Each by the toss of a coin, of which `kept` in 256 fall on its side.
    Random {
        /// Which tosses.
        seed: u64,
        /// How many of 256 are kept.
        kept: u8,
    },
    /// As these decisions were made, in order; what comes after them is kept.
    Script(Vec<bool>),
    /// Everything before this part, in the order of the writes.
    Before(Atom),
}

impl Guide {
    /// Whether a part is kept, which is the `nth` that is asked for.
    pub(super) fn keeps(&self, atom: Atom, nth: usize) -> bool {
        match self {
            Self::Kept => true,
            Self::Lost => false,
            Self::KeptBut(lost) => !lost.contains(&atom),
            Self::LostBut(kept) => kept.contains(&atom),
            Self::Random { seed, kept } => toss(*seed, atom) < *kept,
            Self::Script(made) => made.get(nth).copied().unwrap_or(true),
            Self::Before(end) => atom < *end,
        }
    }
}

/// A byte that follows from a seed and a part.
fn toss(seed: u64, atom: Atom) -> u8 {
    let place = u64::from(atom.write) << 32 | u64::from(atom.part);
    crate::disk::pattern_byte(seed, place.wrapping_mul(8))
}
