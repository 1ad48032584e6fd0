//! File names as text. A name is any bytes; what is shown must be text, must not act as
//! markup or control, and must lead back to the same bytes.

use std::fmt::Write;

/// Shows bytes as text: UTF-8 as it is, but a backslash, control characters, characters
/// that turn the reading direction, and bytes that are not UTF-8 as escapes.
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() || is_direction(c) => {
                    let mut raw = [0; 4];
                    for b in c.encode_utf8(&mut raw).bytes() {
                        let _ = write!(out, "\\x{b:02x}");
                    }
                }
                c => out.push(c),
            }
        }
        for b in chunk.invalid() {
            let _ = write!(out, "\\x{b:02x}");
        }
    }
    out
}

/// Marks that make text read as something other than its order of characters, or that
/// begin a new line (U+2028, U+2029).
fn is_direction(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}')
}

/// The bytes that [`escape`] made a text of. A backslash that starts no escape stands
/// for itself.
pub fn unescape(text: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, after @ ..] = rest {
        let (bytes, used) = match (first, after) {
            (b'\\', [b'\\', ..]) => (b'\\', 2),
            (b'\\', [b'n', ..]) => (b'\n', 2),
            (b'\\', [b't', ..]) => (b'\t', 2),
            (b'\\', [b'x', high, low, ..]) => match (hex(*high), hex(*low)) {
                (Some(h), Some(l)) => (h << 4 | l, 4),
                _ => (b'\\', 1),
            },
            (b, _) => (*b, 1),
        };
        out.push(bytes);
        rest = &rest[used..];
    }
    out
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|d| d as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// UTF-8 of U+2028 and U+2029 (the Unicode standard, table 3-6).
    #[test]
    fn separators_of_lines_do_not_separate() {
        assert_eq!(
            escape("a\u{2028}b\u{2029}".as_bytes()),
            "a\\xe2\\x80\\xa8b\\xe2\\x80\\xa9"
        );
    }

    /// Every character of `Bidi_Control` in Unicode's PropList.txt.
    #[test]
    fn nothing_turns_the_reading_direction() {
        let controls = ('\u{202A}'..='\u{202E}').chain('\u{2066}'..='\u{2069}');
        for c in controls.chain(['\u{061C}', '\u{200E}', '\u{200F}']) {
            assert!(escape(c.to_string().as_bytes()).is_ascii(), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn escapes_lead_back(bytes: Vec<u8>) {
            let text = escape(&bytes);
            prop_assert!(!text.chars().any(char::is_control));
            prop_assert_eq!(unescape(&text), bytes);
        }
    }
}
