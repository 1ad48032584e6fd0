//! flashbench's probes (A. Bergmann), as its source does them: what times tell of a medium
//! from outside.

use super::{Flash, FlashError, Touch};
use serde::Serialize;

/// Reads around a boundary, µs, in the mean over several places.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct AlignRow {
    /// Boundaries of so many bytes, but not of twice as many.
    pub align: u64,
    /// Reading up to the boundary.
    pub pre_us: f64,
    /// Reading across it.
    pub on_us: f64,
    /// Reading from it on.
    pub post_us: f64,
    /// What crossing it costs: on − (pre + post) / 2.
    pub diff_us: f64,
}

/// Rates of writing by block size, for a number of segments or a place.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct RateRow {
    /// Segments written in turns, or the number of the segment that is probed.
    pub segments: u32,
    /// Bytes written at a time.
    pub block: u64,
    /// MB/s (10^6 bytes).
    pub mb_per_s: f64,
}

fn took(flash: &mut Flash, touch: Touch, offset: u64, len: u64) -> Result<u64, FlashError> {
    flash.access(touch, &[(offset, len)], &mut Vec::new())
}

/// `-a`: reads of `block` bytes before, across and behind boundaries, from large alignments
/// to small ones. The simulated medium has no noise, so that one try does for eight.
pub fn align(flash: &mut Flash, block: u64) -> Result<Vec<AlignRow>, FlashError> {
    let size = flash.size();
    let block = block.clamp(512, size.max(512));
    let mut align = 2 * block;
    while align < size / 7 {
        align *= 2;
    }
    let mut rows = Vec::new();
    while align >= 2 * block {
        let mut sums = [0u64; 3];
        let mut n = 0;
        for i in 1..=7u64 {
            // An odd multiple, so that the boundary is not one of twice the size.
            let at = align.saturating_mul(2 * i - 1) % (size - block).max(1);
            let at = at / align * align;
            if at < align || at + block > size {
                continue;
            }
            n += 1;
            for (sum, from) in sums.iter_mut().zip([at - block, at - block / 2, at]) {
                *sum += took(flash, Touch::Read, from, block)?;
            }
        }
        if n > 0 {
            let [pre_us, on_us, post_us] = sums.map(|s| s as f64 / 1000.0 / f64::from(n));
            rows.push(AlignRow {
                align,
                pre_us,
                on_us,
                post_us,
                diff_us: on_us - (pre_us + post_us) / 2.0,
            });
        }
        align /= 2;
    }
    Ok(rows)
}

/// `--open-au --open-au-nr=n`: from 16 MiB on, `n` segments 12 apart, written in turns by
/// blocks from the whole segment down by halves to `least` bytes.
pub fn open_au(
    flash: &mut Flash,
    segment: u64,
    n: u32,
    least: u64,
) -> Result<Vec<RateRow>, FlashError> {
    let mut rows = Vec::new();
    let mut block = segment;
    while block >= least.max(512) {
        let mut time = 0;
        for step in 0..segment / block {
            for nr in 0..u64::from(n) {
                let at = (16 << 20) + nr * 12 * segment + step * block;
                if at + block <= flash.size() {
                    time += took(flash, Touch::Write, at, block)?;
                }
            }
        }
        rows.push(RateRow {
            segments: n,
            block,
            mb_per_s: rate(segment * u64::from(n), time),
        });
        block /= 2;
    }
    Ok(rows)
}

/// `--find-fat`: each of the first `n` segments is written in a scattered order by blocks
/// from a half of it down to `least` bytes; where small ones are fast, a FAT belongs.
pub fn find_fat(
    flash: &mut Flash,
    segment: u64,
    n: u32,
    least: u64,
) -> Result<Vec<RateRow>, FlashError> {
    let mut rows = Vec::new();
    for nr in 0..n {
        let mut block = segment / 2;
        while block >= least.max(512) {
            let count = segment / block;
            let mut time = 0;
            for step in 0..count {
                // An odd stride reaches every block once: the count is a power of two.
                let at = (step * 5 + 3) % count;
                time += took(
                    flash,
                    Touch::Write,
                    u64::from(nr) * segment + at * block,
                    block,
                )?;
            }
            rows.push(RateRow {
                segments: nr,
                block,
                mb_per_s: rate(segment, time),
            });
            block /= 2;
        }
    }
    Ok(rows)
}

/// Writes of `block` bytes in turns to two segments: KB/s (10^3 bytes).
pub fn alternating(flash: &mut Flash, block: u64, writes: u32) -> Result<f64, FlashError> {
    let unit = flash.unit();
    let mut time = 0;
    for i in 0..u64::from(writes) {
        let at = (8 + i % 2) * unit + i / 2 * block;
        time += took(flash, Touch::Write, at, block)?;
    }
    Ok(rate(block * u64::from(writes), time) * 1000.0)
}

fn rate(bytes: u64, ns: u64) -> f64 {
    bytes as f64 * 1000.0 / ns.max(1) as f64
}
