//! Bitmaps: bit `n` is bit `n % 8` of byte `n / 8`. Bits past the end read as set.

/// Whether a bit is set.
pub(super) fn test(map: &[u8], n: u32) -> bool {
    map.get(n as usize / 8)
        .is_none_or(|b| b & (1 << (n % 8)) != 0)
}

/// Sets a bit.
pub(super) fn set(map: &mut [u8], n: u32) {
    if let Some(b) = map.get_mut(n as usize / 8) {
        *b |= 1 << (n % 8);
    }
}

/// Clears a bit.
pub(super) fn clear(map: &mut [u8], n: u32) {
    if let Some(b) = map.get_mut(n as usize / 8) {
        *b &= !(1 << (n % 8));
    }
}

/// Sets or clears a run, whole bytes at a time where it can.
pub(super) fn fill(map: &mut [u8], from: u32, len: u32, on: bool) {
    let end =
        (from.saturating_add(len)).min((map.len() as u64 * 8).min(u64::from(u32::MAX)) as u32);
    let mut n = from;
    while n < end {
        if n.is_multiple_of(8) && end - n >= 8 {
            let (first, last) = (n as usize / 8, end as usize / 8);
            map[first..last].fill(if on { 0xFF } else { 0 });
            n = last as u32 * 8;
        } else {
            if on {
                set(map, n);
            } else {
                clear(map, n);
            }
            n += 1;
        }
    }
}

/// The eight bytes that hold bit `n`, which is a multiple of 64; bytes past the end as set.
fn word(map: &[u8], n: u32) -> u64 {
    let at = n as usize / 8;
    match map.get(at..at + 8) {
        Some(&[a, b, c, d, e, f, g, h]) => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => {
            let mut bytes = [0xFF; 8];
            let rest = map.get(at..).unwrap_or_default();
            bytes[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(bytes)
        }
    }
}

fn next(map: &[u8], from: u32, end: u32, flip: u64) -> u32 {
    let mut base = from & !63;
    let mut mask = !0 << (from % 64);
    while base < end {
        let w = (word(map, base) ^ flip) & mask;
        if w != 0 {
            return (base + w.trailing_zeros()).min(end);
        }
        mask = !0;
        base += 64;
    }
    end
}

/// The first clear bit from `from` on; `end` where there is none before it.
pub(super) fn next_zero(map: &[u8], from: u32, end: u32) -> u32 {
    next(map, from, end, !0)
}

/// The first set bit from `from` on; `end` where there is none before it.
pub(super) fn next_one(map: &[u8], from: u32, end: u32) -> u32 {
    next(map, from, end, 0)
}

/// Clear bits among the first `end`.
pub(super) fn zeros(map: &[u8], end: u32) -> u32 {
    let mut count = 0;
    let mut base = 0;
    while base < end {
        let mut w = !word(map, base);
        if end - base < 64 {
            w &= (1 << (end - base)) - 1;
        }
        count += w.count_ones();
        base += 64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn searches_agree_with_single_bits(map in prop::collection::vec(any::<u8>(), 0..40), from in 0u32..330, end in 0u32..330) {
            let naive = |on: bool| (from..end.max(from)).find(|&n| test(&map, n) == on).unwrap_or(end);
            prop_assert_eq!(next_zero(&map, from, end), naive(false));
            prop_assert_eq!(next_one(&map, from, end), naive(true));
            prop_assert_eq!(zeros(&map, end), (0..end).filter(|&n| !test(&map, n)).count() as u32);
        }

        #[test]
        fn fills_exactly_the_run(map in prop::collection::vec(any::<u8>(), 1..40), from in 0u32..330, len in 0u32..330, on: bool) {
            let mut filled = map.clone();
            fill(&mut filled, from, len, on);
            for n in 0..map.len() as u32 * 8 {
                let inside = n >= from && n < from + len;
                prop_assert_eq!(test(&filled, n), if inside { on } else { test(&map, n) });
            }
        }
    }
}
