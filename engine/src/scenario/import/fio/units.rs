//! Numbers as fio writes them.

use super::super::ImportError;
use super::ini::Setting;

/// A number and what stands behind it.
fn split(value: &str) -> Option<(u64, &str)> {
    let value = value.trim();
    if let Some(digits) = value.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().map(|n| (n, ""));
    }
    let end = value
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(value.len());
    let (digits, unit) = value.split_at(end);
    digits.parse().ok().map(|n| (n, unit.trim()))
}

fn wrong(setting: &Setting<'_>, what: &str) -> ImportError {
    ImportError::Line {
        line: setting.line,
        words: format!("{} needs {what}, not {:?}", setting.key, setting.value),
    }
}

/// Bytes: `4k`, `1m`, `2GiB`. With fio's usual `kb_base` all are powers of 1024.
pub(super) fn bytes(setting: &Setting<'_>, value: &str) -> Result<u64, ImportError> {
    let read = || {
        let (n, unit) = split(value)?;
        let bits = match unit.to_lowercase().as_str() {
            "" | "b" => 0,
            "k" | "kb" | "kib" => 10,
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => return None,
        };
        n.checked_mul(1 << bits).filter(|n| *n <= 1 << 44)
    };
    read().ok_or_else(|| wrong(setting, "a number of bytes up to 16T, as in 4k or 1g"))
}

/// A time in ns; without a unit it is so many times `usual` ns.
pub(super) fn time(setting: &Setting<'_>, usual: u64) -> Result<u64, ImportError> {
    const SECOND: u64 = 1_000_000_000;
    let read = || {
        let (n, unit) = split(setting.value)?;
        let unit = match unit.to_lowercase().as_str() {
            "" => usual,
            "us" | "usec" => 1_000,
            "ms" | "msec" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            "d" => 24 * 3600 * SECOND,
            _ => return None,
        };
        n.checked_mul(unit)
            .filter(|n| *n <= 30 * 24 * 3600 * SECOND)
    };
    read().ok_or_else(|| wrong(setting, "a time up to 30 days, as in 10s or 5ms"))
}

/// A plain number within bounds.
pub(super) fn number(setting: &Setting<'_>, least: u64, most: u64) -> Result<u64, ImportError> {
    let n = split(setting.value)
        .filter(|(_, unit)| unit.is_empty())
        .map(|(n, _)| n);
    n.filter(|n| (least..=most).contains(n))
        .ok_or_else(|| wrong(setting, &format!("a number from {least} to {most}")))
}

/// Whether something is switched on: the key alone does it.
pub(super) fn switch(setting: &Setting<'_>) -> Result<bool, ImportError> {
    match setting.value {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(wrong(setting, "0 or 1")),
    }
}

/// Hundredths: `1.2` is 120.
pub(super) fn hundredths(setting: &Setting<'_>, value: &str) -> Result<u64, ImportError> {
    let read = || {
        let (whole, part) = value.split_once('.').unwrap_or((value, ""));
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) {
            return None;
        }
        let whole: u64 = whole.parse().ok()?;
        let part: String = part.chars().chain("00".chars()).take(2).collect();
        let n = whole.checked_mul(100)?.checked_add(part.parse().ok()?)?;
        (n <= 1000).then_some(n)
    };
    read().ok_or_else(|| {
        wrong(
            setting,
            "a number from 0 to 10 behind the colon, as in zipf:1.2",
        )
    })
}
