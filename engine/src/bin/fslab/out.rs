//! Output: buffered text and JSON on stdout, what is wrong on stderr.

use fslab_engine::view::FieldValue;
use serde::Serialize;
use std::io::{BufWriter, StdoutLock, Write};

/// Problems that are listed; more are counted.
const MOST_PROBLEMS: usize = 20;

pub type Out = BufWriter<StdoutLock<'static>>;

/// Standard output, buffered.
pub fn stdout() -> Out {
    BufWriter::with_capacity(64 << 10, std::io::stdout().lock())
}

/// Prints one JSON object and a line feed.
pub fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    let mut out = stdout();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// A remark on stderr. What an image could smuggle in, as by a link's target, does nothing
/// to the terminal.
pub fn note(text: impl std::fmt::Display) {
    eprintln!("fslab: {}", harmless(&text.to_string()));
}

fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Lists problems on stderr, each once.
pub fn problems<P: std::fmt::Display>(all: &[P]) {
    problems_and_more(all, 0);
}

/// Lists problems on stderr, each once; `more`: those that are not in the list.
pub fn problems_and_more<P: std::fmt::Display>(all: &[P], more: u64) {
    let mut seen = std::collections::BTreeSet::new();
    let mut told = 0;
    for text in all.iter().map(ToString::to_string) {
        if !seen.insert(text.clone()) {
            continue;
        }
        told += 1;
        if told <= MOST_PROBLEMS {
            note(text);
        }
    }
    let more = more + (told.saturating_sub(MOST_PROBLEMS)) as u64;
    if more > 0 {
        note(format!("{more} more problems, not listed"));
    }
}

/// A table of fields: offset, name, value, and what it means.
pub fn fields(out: &mut impl Write, fields: &[FieldValue], indent: usize) -> std::io::Result<()> {
    let width = fields
        .iter()
        .map(|f| f.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(28);
    for f in fields {
        writeln!(
            out,
            "{:indent$}{:5}  {:width$}  {}",
            "", f.offset, f.name, f.value
        )?;
    }
    Ok(())
}

/// Bytes as `hexdump -C` shows them, a repeated line as `*`. `base`: offset of the first.
pub fn hex(out: &mut impl Write, bytes: &[u8], base: u64) -> std::io::Result<()> {
    let mut last: Option<&[u8]> = None;
    let mut starred = false;
    for (i, line) in bytes.chunks(16).enumerate() {
        if last == Some(line) {
            if !starred {
                writeln!(out, "*")?;
                starred = true;
            }
            continue;
        }
        (last, starred) = (Some(line), false);
        write!(out, "{:08x} ", base + i as u64 * 16)?;
        for j in 0..16 {
            if j == 8 {
                write!(out, " ")?;
            }
            match line.get(j) {
                Some(b) => write!(out, " {b:02x}")?,
                None => write!(out, "   ")?,
            }
        }
        let text: String = line
            .iter()
            .map(|&b| {
                if (0x20..0x7F).contains(&b) {
                    char::from(b)
                } else {
                    '.'
                }
            })
            .collect();
        writeln!(out, "  |{text}|")?;
    }
    writeln!(out, "{:08x}", base + bytes.len() as u64)
}

/// "1 block", "20 blocks".
pub fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A number of bytes in the largest unit that leaves something before the point.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return count(bytes, "byte");
    }
    let mut unit = 0;
    let mut scaled = bytes / 1024;
    let mut rest = bytes % 1024;
    while scaled >= 1024 {
        rest = scaled % 1024;
        scaled /= 1024;
        unit += 1;
    }
    format!("{scaled}.{} {}", rest * 10 / 1024, UNITS[unit])
}

/// "yes", "no", or a dash where there is nothing to tell.
pub fn yes_no(ok: Option<bool>) -> &'static str {
    match ok {
        Some(true) => "good",
        Some(false) => "bad",
        None => "-",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_one_digit() {
        assert_eq!(size(1023), "1023 bytes");
        assert_eq!(size(1024), "1.0 KiB");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size(20 << 30), "20.0 GiB");
        assert_eq!(size(u64::MAX), "15.9 EiB");
    }

    /// `printf 'abc\n' | hexdump -C` and `head -c 40 /dev/zero | hexdump -C`.
    #[test]
    fn hex_as_hexdump_shows_it() {
        let lines = |bytes: &[u8]| {
            let mut out = Vec::new();
            hex(&mut out, bytes, 0).unwrap();
            String::from_utf8(out).unwrap()
        };
        let gap = " ".repeat(39);
        let expected = format!("00000000  61 62 63 0a{gap}|abc.|\n00000004\n");
        assert_eq!(lines(b"abc\n"), expected);
        let (eight, gap) = ("00 00 00 00 00 00 00 00", " ".repeat(27));
        let expected = format!(
            "00000000  {eight}  {eight}  |................|\n*\n\
             00000020  {eight}{gap}|........|\n00000028\n"
        );
        assert_eq!(lines(&[0; 40]), expected);
    }
}
