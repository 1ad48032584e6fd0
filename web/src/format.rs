//! Numbers as people read them.

/// A number with its thousands apart: 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Bytes in the largest unit that leaves at most three digits before the point: "64 MiB",
/// "1.5 GiB", "512 B".
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut unit = 0;
    let mut whole = n as f64;
    while whole >= 1024.0 && unit + 1 < UNITS.len() {
        whole /= 1024.0;
        unit += 1;
    }
    let digits = if whole.fract() == 0.0 || whole >= 100.0 {
        format!("{whole:.0}")
    } else {
        format!("{whole:.1}")
    };
    let digits = digits.strip_suffix(".0").unwrap_or(&digits);
    format!("{digits} {}", UNITS[unit])
}

/// A time in the largest unit that leaves something before the point: "12.441 ms", "5.3 s".
pub fn time(ns: u64) -> String {
    let (size, unit, digits) = match ns {
        0 => return "0 s".into(),
        1_000_000_000.. => (1e9, "s", 3),
        1_000_000.. => (1e6, "ms", 3),
        1_000.. => (1e3, "µs", 1),
        _ => (1.0, "ns", 0),
    };
    format!("{:.digits$} {unit}", ns as f64 / size)
}

/// A text with the thousands of its numbers apart; a number is a word that is all digits.
pub fn numbers(text: &str) -> String {
    let word = |word: &str| match word.parse() {
        Ok(n) => grouped(n),
        Err(_) => word.to_owned(),
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// "1 block", "2 blocks".
pub fn count(n: u64, one: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {one}{s}", grouped(n))
}

/// A part of a whole in whole percent; no part that is there reads as 0 %, no lack as 100 %.
pub fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "0 %".into();
    }
    let percent = part as f64 * 100.0 / whole as f64;
    match percent {
        p if part > 0 && p < 1.0 => "<1 %".into(),
        p if part < whole && p > 99.0 => ">99 %".into(),
        p => format!("{p:.0} %"),
    }
}

/// A sentence with a capital first letter.
pub fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(numbers("xz: 20920 bytes hold 1"), "xz: 20,920 bytes hold 1");
        assert_eq!(bytes(67_108_864), "64 MiB");
        assert_eq!(bytes(1_610_612_736), "1.5 GiB");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1025), "1 KiB");
        assert_eq!(count(1, "block"), "1 block");
        assert_eq!(count(2000, "block"), "2,000 blocks");
        assert_eq!(percent(1, 1000), "<1 %");
        assert_eq!(percent(999, 1000), ">99 %");
        assert_eq!(sentence("block 1"), "Block 1");
    }
}
