//! Random numbers, the same on every machine.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng as _, SeedableRng as _};

/// A stream of random numbers (PCG, O'Neill 2014).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Random(Pcg32);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::seed_from_u64(seed))
    }

    /// A number below `end`, 0 where `end` is 0. A product's upper half: some numbers are
    /// likelier than others by at most `end` / 2^32.
    #[inline]
    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(end)) >> 32) as u32
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
