//! Numbers: decimal, hexadecimal, octal, binary; sizes and times by their unit.

use super::diag::{Complaint, Span, complain, nearest};
use super::lex::{Source, at};
use super::token::Tok;
use winnow::Parser;
use winnow::combinator::opt;
use winnow::token::take_while;

/// Units: sizes are powers of 1024, times are nanoseconds.
const UNITS: [(&str, i64); 15] = [
    ("k", 1 << 10),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("T", 1 << 40),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

pub(super) fn number<'s>(input: &mut Source<'s>) -> Result<Tok<'s>, Complaint> {
    let start = at(input);
    let part = |c: char| c == '_' || c == 'µ' || c.is_alphanumeric();
    let word: &str = take_while(1.., part).parse_next(input)?;
    let dot = (
        ".",
        take_while(1.., |c: char| c.is_ascii_digit()),
        take_while(0.., part),
    );
    let fraction: Option<&str> = opt(dot.take()).parse_next(input)?;
    let span = Span::new(start, at(input));
    let n = match fraction {
        Some(_) => Err(complain(span, "Numbers are whole here.").help(
            "Take a smaller unit: 1500us instead of 1.5ms. zipf takes hundredths: 99 for 0.99.",
        )),
        None => value(word, span),
    };
    // A number that is wrong is a number all the same: what follows can be looked at.
    Ok(Tok::Int(n.unwrap_or_else(|complaint| {
        input.state.complaints.push(complaint);
        0
    })))
}

fn value(word: &str, span: Span) -> Result<i64, Complaint> {
    let prefix = word.get(..2).map(str::to_ascii_lowercase);
    match prefix.as_deref() {
        Some("0x") => digits(&word[2..], 16, "hexadecimal", span),
        Some("0o") => digits(&word[2..], 8, "octal", span),
        Some("0b") => digits(&word[2..], 2, "binary", span),
        _ => decimal(word, span),
    }
}

/// A decimal number and its unit, or an octal one as C writes it.
fn decimal(word: &str, span: Span) -> Result<i64, Complaint> {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '_');
    let (number, unit) = word.split_at(end.unwrap_or(word.len()));
    if number.len() > 1 && number.starts_with('0') {
        if !unit.is_empty() {
            let words = "A number that begins with 0 is octal and has no unit.";
            return Err(complain(span, words));
        }
        return digits(&number[1..], 8, "octal", span)
            .map_err(|c| c.help("A number that begins with 0 is octal, as in C: 0644 is a mode."));
    }
    let n = digits(number, 10, "decimal", span)?;
    n.checked_mul(factor(unit, span)?)
        .ok_or_else(|| too_large(span))
}

fn factor(unit: &str, span: Span) -> Result<i64, Complaint> {
    if unit.is_empty() {
        return Ok(1);
    }
    if let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) {
        return Ok(*factor);
    }
    let help = match unit {
        "m" => Some("Write M for mebibytes, min for minutes, ms for milliseconds.".into()),
        "µs" => Some("Write us for microseconds.".into()),
        "kb" | "KB" | "kB" | "MB" | "GB" | "B" | "b" => {
            Some("Bytes have no unit of their own; k, M, G are powers of 1024.".into())
        }
        _ => nearest(unit, UNITS.iter().map(|(name, _)| *name))
            .map(|name| format!("Did you mean {name}?")),
    };
    Err(complain(span, format!("There is no unit {unit}."))
        .expected(["k, M, G, T", "ns, us, ms, s, min, h"])
        .help_if(help))
}

fn digits(word: &str, radix: u32, kind: &str, span: Span) -> Result<i64, Complaint> {
    let word: String = word.chars().filter(|c| *c != '_').collect();
    if let Some(wrong) = word.chars().find(|c| !c.is_digit(radix)) {
        return Err(complain(span, format!("{wrong:?} is no {kind} digit.")));
    }
    if word.is_empty() {
        return Err(complain(span, "There are no digits."));
    }
    i64::from_str_radix(&word, radix).map_err(|_| too_large(span))
}

fn too_large(span: Span) -> Complaint {
    complain(
        span,
        format!("This number is too large: the largest is {}.", i64::MAX),
    )
}
