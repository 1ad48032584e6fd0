//! Random numbers: the same for the same seed, on every machine.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::Rng;

pub(super) fn generator(seed: u64) -> Pcg64Mcg {
    let high = u128::from(mixed(seed)) << 64;
    Pcg64Mcg::new(high | u128::from(seed))
}

/// Another number for each number, without a pattern: the finaliser of SplitMix64 (Steele,
/// Lea, Flood 2014).
pub(super) fn mixed(n: u64) -> u64 {
    let n = n.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

/// A number below `n`, each as likely: what falls into the last, incomplete round of `n`
/// numbers is thrown again. `n` is at least 1.
pub(super) fn below(random: &mut Pcg64Mcg, n: u64) -> u64 {
    let whole = u64::MAX - u64::MAX % n.max(1);
    loop {
        let got = random.next_u64();
        if got < whole {
            return got % n.max(1);
        }
    }
}

/// A number from 0 up to 1, by 53 bits.
fn fraction(random: &mut Pcg64Mcg) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Zipf's distribution over ranks 1 to `n`: rank `k` is `k^-q` times as likely as the
/// first. By rejection-inversion (Hörmann and Derflinger, 1996): one throws a point under a
/// curve through the ranks' likelihoods whose integral has an inverse. All floating point
/// is addition, multiplication, division, and `libm`'s own exp and log: so it is the same
/// in a browser.
pub(super) struct Zipf {
    n: f64,
    q: f64,
    /// The integral at both ends.
    first: f64,
    last: f64,
    /// Below this distance from its rank a point needs no look at the curve.
    near: f64,
}

impl Zipf {
    /// `theta` in hundredths.
    pub(super) fn new(n: u64, theta: u32) -> Self {
        let q = f64::from(theta) / 100.0;
        let mut zipf = Self {
            n: n as f64,
            q,
            first: 0.0,
            last: 0.0,
            near: 0.0,
        };
        zipf.first = zipf.integral(1.5) - 1.0;
        zipf.last = zipf.integral(zipf.n + 0.5);
        zipf.near = 2.0 - zipf.inverse(zipf.integral(2.5) - zipf.likelihood(2.0));
        zipf
    }

    /// A rank, from 0.
    pub(super) fn throw(&self, random: &mut Pcg64Mcg) -> u64 {
        loop {
            let u = self.last + fraction(random) * (self.first - self.last);
            let x = self.inverse(u);
            let rank = libm::floor(x + 0.5).clamp(1.0, self.n);
            if rank - x <= self.near || u >= self.integral(rank + 0.5) - self.likelihood(rank) {
                return rank as u64 - 1;
            }
        }
    }

    fn likelihood(&self, x: f64) -> f64 {
        libm::exp(-self.q * libm::log(x))
    }

    /// The integral of the likelihood from 1 to `x`.
    fn integral(&self, x: f64) -> f64 {
        match self.logarithmic() {
            true => libm::log(x),
            false => libm::expm1((1.0 - self.q) * libm::log(x)) / (1.0 - self.q),
        }
    }

    fn inverse(&self, area: f64) -> f64 {
        match self.logarithmic() {
            true => libm::exp(area),
            false => libm::exp(libm::log1p(area * (1.0 - self.q)) / (1.0 - self.q)),
        }
    }

    /// At an exponent of 1 the integral is the logarithm; hundredths are never nearly 1.
    fn logarithmic(&self) -> bool {
        self.q == 1.0
    }
}
