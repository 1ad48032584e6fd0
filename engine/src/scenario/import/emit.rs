//! Writing programs of the workload language.

use std::fmt::Write as _;

/// As many equal bytes in a row are written shorter.
const LONG_RUN: usize = 24;

/// Bytes as an expression of the language: long runs of one byte by `repeat`.
pub(super) fn contents(bytes: &[u8]) -> String {
    let mut parts = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|b| **b == bytes[at]).count();
        if run >= LONG_RUN {
            if plain < at {
                parts.push(string(&bytes[plain..at]));
            }
            parts.push(format!("repeat({}, {run})", string(&bytes[at..=at])));
            plain = at + run;
        }
        at += run;
    }
    if plain < bytes.len() || parts.is_empty() {
        parts.push(string(&bytes[plain..]));
    }
    parts.join(" + ")
}

/// Bytes as a string of the language.
pub(super) fn string(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    let mut rest = bytes;
    while !rest.is_empty() {
        match std::str::from_utf8(rest) {
            Ok(text) => {
                text.chars().for_each(|c| push(&mut out, c));
                break;
            }
            Err(e) => {
                let (good, bad) = rest.split_at(e.valid_up_to());
                if let Ok(text) = std::str::from_utf8(good) {
                    text.chars().for_each(|c| push(&mut out, c));
                }
                let n = e.error_len().unwrap_or(bad.len());
                for byte in &bad[..n] {
                    let _ = write!(out, "\\x{byte:02x}");
                }
                rest = &bad[n..];
            }
        }
    }
    out.push('"');
    out
}

fn push(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '{' => out.push_str("{{"),
        '}' => out.push_str("}}"),
        // In TOML's literal strings nothing can be escaped, so that this may not stand there.
        '\'' => out.push_str("\\x27"),
        c if (c as u32) < 0x20 || c as u32 == 0x7F => {
            let _ = write!(out, "\\x{:02x}", c as u32);
        }
        c => out.push(c),
    }
}

/// A number of bytes, with a unit where it comes out even.
pub(super) fn size(n: u64) -> String {
    for (unit, bytes) in [("G", 1 << 30), ("M", 1 << 20), ("k", 1 << 10)] {
        if n >= bytes && n.is_multiple_of(bytes) {
            return format!("{}{unit}", n / bytes);
        }
    }
    n.to_string()
}

/// A time.
pub(super) fn time(ns: u64) -> String {
    for (unit, size) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)] {
        if ns >= size && ns.is_multiple_of(size) {
            return format!("{}{unit}", ns / size);
        }
    }
    format!("{ns}ns")
}

/// A TOML string of one line.
pub(super) fn toml(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 0x20 || c as u32 == 0x7F => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
