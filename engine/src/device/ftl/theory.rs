//! Write amplification in closed form, to hold the simulation against. For display and
//! tests; nothing is decided by it.

use libm::{exp, fabs};

/// The principal branch of Lambert's W on (−1/e, 0): w with w·e^w = x, by Newton's method.
fn lambert(x: f64) -> f64 {
    // Near the branch point the series in sqrt(2(1 + e·x)) begins well.
    let p = libm::sqrt((2.0 * (1.0 + core::f64::consts::E * x)).max(0.0));
    let mut w = -1.0 + p - p * p / 3.0;
    for _ in 0..64 {
        let step = (w * exp(w) - x) / (exp(w) * (w + 1.0)).max(1e-300);
        w -= step;
        if fabs(step) < 1e-15 {
            break;
        }
    }
    w
}

/// FIFO, and greedy with endless blocks: a / (a + W(−a e^(−a))), a being physical over
/// logical pages (Xiang and Kurkoski 2011).
pub fn fifo(a: f64) -> f64 {
    a / (a + lambert(-a * exp(-a)))
}

/// Greedy with blocks of `b` pages, many of them (Desnoyers 2012):
/// b / (b − (X − 1)), X = 1/2 − (b/a) W(−k e^(−k)), k = (1 + 1/(2b)) a.
pub fn greedy(a: f64, b: f64) -> f64 {
    let k = (1.0 + 1.0 / (2.0 * b)) * a;
    let x = 0.5 - (b / a) * lambert(-k * exp(-k));
    b / (b - (x - 1.0))
}

/// A victim at random: 1 / (1 − rho).
pub fn random(a: f64) -> f64 {
    1.0 / (1.0 - 1.0 / a)
}

/// FIFO with a share `f` of the space that gets a share `r` of the writes, at random within:
/// A = sum of r / (1 − exp(−r a / (f A))), solved by bisection.
pub fn fifo_hot_cold(a: f64, f: f64, r: f64) -> f64 {
    let parts = [(f, r), (1.0 - f, 1.0 - r)];
    let turn = |amp: f64| -> f64 {
        parts
            .iter()
            .map(|(f, r)| r / (1.0 - exp(-r * a / (f * amp))))
            .sum()
    };
    let (mut low, mut high) = (1.0, 1.0 / (1.0 - 1.0 / a) * 2.0);
    for _ in 0..200 {
        let mid = (low + high) / 2.0;
        if turn(mid) > mid {
            low = mid
        } else {
            high = mid
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_point() {
        // Over-provisioning 0.3: 2.364 (Xiang and Kurkoski give 2.36).
        assert!(fabs(fifo(1.3) - 2.364) < 0.0005, "{}", fifo(1.3));
    }
}
