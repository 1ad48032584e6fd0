//! Numbers and UUIDs as mke2fs reads them.

/// A number as C's `strtoul` reads it in full: decimal, or with 0x hexadecimal, or with 0
/// octal; a minus sign counts down from 2^64.
pub fn plain(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    // Only one sign, which the parser below would take as well.
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let hex = digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"));
    let n = match (hex, digits.strip_prefix('0')) {
        (Some(hex), _) => u64::from_str_radix(hex, 16),
        (None, Some(octal)) if !octal.is_empty() => u64::from_str_radix(octal, 8),
        _ => digits.parse(),
    };
    let n = n.ok()?;
    Some(if negative { n.wrapping_neg() } else { n })
}

/// Bytes: a number with a unit (s, K, M, G, T), or of `unit` bytes where none is given.
/// More than 2^64 are 2^64.
pub fn bytes(text: &str, unit: u64) -> Option<u64> {
    let (digits, unit) = match text.chars().last()?.to_ascii_lowercase() {
        's' => (&text[..text.len() - 1], 512),
        'k' => (&text[..text.len() - 1], 1 << 10),
        'm' => (&text[..text.len() - 1], 1 << 20),
        'g' => (&text[..text.len() - 1], 1 << 30),
        't' => (&text[..text.len() - 1], 1 << 40),
        _ => (text, unit),
    };
    if digits.starts_with('-') {
        return None;
    }
    Some(plain(digits)?.saturating_mul(unit))
}

/// A UUID in the usual form.
pub fn uuid(text: &str) -> Option<[u8; 16]> {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    if groups != [8, 4, 4, 4, 12] {
        return None;
    }
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'-').collect();
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        if !pair.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

/// The usual form of a UUID.
pub fn uuid_text(uuid: &[u8; 16]) -> String {
    let hex: String = uuid.iter().map(|b| format!("{b:02x}")).collect();
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        assert_eq!(plain("0x20"), Some(32));
        assert_eq!(plain("010"), Some(8));
        assert_eq!(plain("0"), Some(0));
        assert_eq!(plain("-1"), Some(u64::MAX));
        for bad in ["", "x", "-", "--1", "+-1", "1x", "0x", "08", "-x"] {
            assert_eq!(plain(bad), None, "{bad}");
        }
        assert_eq!(bytes("64M", 1), Some(64 << 20));
        assert_eq!(bytes("16385s", 1), Some(16385 * 512));
        assert_eq!(bytes("7", 4096), Some(7 * 4096));
        assert_eq!(bytes("99999999999T", 1), Some(u64::MAX));
        for bad in ["", "M", "64Q", "64.5M", "-5", "5é"] {
            assert_eq!(bytes(bad, 1), None, "{bad}");
        }
    }
}
