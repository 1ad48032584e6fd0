//! What a backslash means in a string.

use super::diag::{Complaint, Span, complain};
use super::lex::{Source, at};
use winnow::Parser;
use winnow::combinator::{delimited, opt};
use winnow::token::{any, take_while};

/// The bytes that an escape stands for; the input is at its backslash.
pub(super) fn escape(input: &mut Source<'_>) -> Result<Vec<u8>, Complaint> {
    let start = at(input);
    any.void().parse_next(input)?;
    let Some(c) = opt(any).parse_next(input)? else {
        return Err(complain(
            Span::new(start, start + 1),
            "A backslash stands at the end.",
        ));
    };
    let byte = match c {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        '0' => 0,
        '\\' | '"' | '\'' | '{' | '}' => c as u8,
        'x' => return hex(input, start).map(|b| vec![b]),
        'u' => return unicode(input, start),
        _ => {
            let words = format!("There is no escape \\{c}.");
            return Err(complain(Span::new(start, at(input)), words).expected([
                "\\n", "\\t", "\\r", "\\0", "\\\\", "\\\"", "\\x41", "\\u{e9}",
            ]));
        }
    };
    Ok(vec![byte])
}

fn hex(input: &mut Source<'_>, start: usize) -> Result<u8, Complaint> {
    let digits: &str = take_while(0..=2, |c: char| c.is_ascii_hexdigit()).parse_next(input)?;
    let wrong = || {
        let words = "\\x is followed by two hexadecimal digits, as in \\x0a.";
        complain(Span::new(start, start + 2 + digits.len()), words)
    };
    if digits.len() != 2 {
        return Err(wrong());
    }
    u8::from_str_radix(digits, 16).map_err(|_| wrong())
}

fn unicode(input: &mut Source<'_>, start: usize) -> Result<Vec<u8>, Complaint> {
    let digits = take_while(1..=6, |c: char| c.is_ascii_hexdigit());
    let digits: Option<&str> = opt(delimited("{", digits, "}")).parse_next(input)?;
    digits
        .and_then(|d| u32::from_str_radix(d, 16).ok())
        .and_then(char::from_u32)
        .map(|c| c.to_string().into_bytes())
        .ok_or_else(|| {
            let words = "\\u is followed by the number of a character in braces, as in \\u{e9}.";
            complain(Span::new(start, at(input)), words)
        })
}
