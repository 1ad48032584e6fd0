//! Sizes and times as people write them: `64M`, `4k`, `5ms`, or a plain number.

use serde::de::{self, Deserializer, Visitor};
use std::fmt;

/// Bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Size(pub(super) u64);

/// Nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Time(pub(super) u64);

/// Suffixes of sizes, powers of 1024.
const SIZES: [(&str, u64); 10] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("k", 1 << 10),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("T", 1 << 40),
    ("", 1),
];

/// Suffixes of times; the longer before those that they end with.
const TIMES: [(&str, u64); 7] = [
    ("min", 60_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
    ("s", 1_000_000_000),
];

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim();
    let (unit, factor) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number = text[..text.len() - unit.len()].trim();
    number
        .replace('_', "")
        .parse::<u64>()
        .ok()?
        .checked_mul(*factor)
}

/// A size in bytes, as `64M`.
pub(super) fn size(text: &str) -> Option<u64> {
    with_unit(text, &SIZES)
}

/// A time in nanoseconds, as `5ms`.
pub(super) fn time(text: &str) -> Option<u64> {
    with_unit(text, &TIMES)
}

macro_rules! unit {
    ($name:ident, $parse:ident, $expected:literal, $integers:literal) => {
        impl<'de> de::Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                struct Reader;
                impl Visitor<'_> for Reader {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$name, E> {
                        let wrong = || E::invalid_value(de::Unexpected::Str(text), &self);
                        $parse(text).map($name).ok_or_else(wrong)
                    }

                    fn visit_i64<E: de::Error>(self, n: i64) -> Result<$name, E> {
                        let wrong = || E::invalid_value(de::Unexpected::Signed(n), &self);
                        let n = u64::try_from(n).ok().filter(|&n| $integers || n == 0);
                        n.map($name).ok_or_else(wrong)
                    }
                }
                from.deserialize_any(Reader)
            }
        }
    };
}

unit!(
    Size,
    size,
    "a size, as \"64M\", \"4k\" or a number of bytes",
    true
);
unit!(
    Time,
    time,
    "a time with its unit, as \"5ms\", \"30s\" or \"2min\"",
    false
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024_and_of_ten() {
        assert_eq!(size("64M"), Some(64 * 1024 * 1024));
        assert_eq!(size("4k"), Some(4096));
        assert_eq!(size("1_000"), Some(1000));
        assert_eq!(size("12 KiB"), Some(12288));
        assert_eq!(size("x"), None);
        assert_eq!(size("99999999999T"), None);
        assert_eq!(time("5ms"), Some(5_000_000));
        assert_eq!(time("2min"), Some(120_000_000_000));
        assert_eq!(time("3"), None);
        assert_eq!(time("30s"), Some(30_000_000_000));
    }
}
