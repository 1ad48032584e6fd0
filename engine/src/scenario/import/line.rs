//! A line of `strace`'s output, taken apart.

/// A call that returned.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Line {
    /// The process; 0 where the log does not say.
    pub(super) pid: u64,
    /// When it was made, ns since any beginning; `None` where the log has no times.
    pub(super) at: Option<u64>,
    pub(super) name: String,
    pub(super) args: Vec<Arg>,
    /// What it returned; `None` for `?`.
    pub(super) ret: Option<i64>,
    /// What a returned descriptor refers to, with `-y`.
    pub(super) ret_path: Option<Vec<u8>>,
}

/// An argument.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Arg {
    /// A string; `whole`: all of it is in the log.
    Str { bytes: Vec<u8>, whole: bool },
    /// A number, and what it refers to where it is a descriptor and `-y` was given.
    Number { n: i64, path: Option<Vec<u8>> },
    /// Anything else, as it stands: flags, structures.
    Other(String),
}

impl Arg {
    pub(super) fn number(&self) -> Option<i64> {
        match self {
            Self::Number { n, .. } => Some(*n),
            Self::Other(word) => number(word),
            Self::Str { .. } => None,
        }
    }

    /// The words that it is made of, as flags joined by `|`.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::Other(words) => words,
            _ => "",
        }
    }

    pub(super) fn has(&self, flag: &str) -> bool {
        self.words().split('|').any(|w| w.trim() == flag)
    }
}

/// A number as strace writes one: decimal, 0x…, 0….
fn number(word: &str) -> Option<i64> {
    let word = word.trim();
    let (sign, digits) = word.strip_prefix('-').map_or((1, word), |d| (-1, d));
    let n = if let Some(hex) = digits.strip_prefix("0x") {
        i64::from_str_radix(hex, 16).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        i64::from_str_radix(&digits[1..], 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(sign * n)
}

/// What stands before a call: process and time; the rest.
pub(super) fn head(line: &str) -> (u64, Option<u64>, &str) {
    let mut rest = line.trim_start();
    let mut pid = 0;
    if let Some(inside) = rest.strip_prefix("[pid")
        && let Some((number, after)) = inside.split_once(']')
    {
        pid = number.trim().parse().unwrap_or(0);
        rest = after.trim_start();
    } else if let Some((word, after)) = rest.split_once(' ')
        && word.len() < 10
        && word.bytes().all(|b| b.is_ascii_digit())
    {
        pid = word.parse().unwrap_or(0);
        rest = after.trim_start();
    }
    if let Some((word, after)) = rest.split_once(' ')
        && let Some(at) = time(word)
    {
        return (pid, Some(at), after.trim_start());
    }
    (pid, None, rest)
}

/// `12:34:56`, `12:34:56.789012` or `1700000000.123456`, in ns.
fn time(word: &str) -> Option<u64> {
    let (whole, part) = word.split_once('.').unwrap_or((word, ""));
    let clock: Vec<&str> = whole.split(':').collect();
    let seconds = match clock[..] {
        [h, m, s] => {
            let n = |w: &str| w.parse::<u64>().ok();
            n(h)?
                .checked_mul(3600)?
                .checked_add(n(m)?.checked_mul(60)?)?
                .checked_add(n(s)?)?
        }
        [s] if !part.is_empty() => s.parse().ok()?,
        _ => return None,
    };
    let digits: String = part.chars().chain("000000000".chars()).take(9).collect();
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(digits.parse().ok()?)
}

/// The call in the rest of a line; `None` where there is none (signals, exits, noise).
pub(super) fn call(pid: u64, at: Option<u64>, rest: &str) -> Option<Line> {
    let open = rest.find('(')?;
    let name = &rest[..open];
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let (args, after) = arguments(&rest[open + 1..])?;
    let result = after.trim_start().strip_prefix('=')?.trim_start();
    let word_end = result.find([' ', '<']).unwrap_or(result.len());
    let ret_path = descriptor_path(&result[word_end..]);
    Some(Line {
        pid,
        at,
        name: name.to_owned(),
        args,
        ret: number(&result[..word_end]),
        ret_path,
    })
}

/// `</a/path>` behind a descriptor.
fn descriptor_path(text: &str) -> Option<Vec<u8>> {
    let inside = text.strip_prefix('<')?;
    let end = inside.find('>')?;
    let path = inside[..end].trim_end_matches("(deleted)");
    path.starts_with('/').then(|| unescape(path).0)
}

/// Arguments up to the closing bracket, and what stands behind it.
fn arguments(text: &str) -> Option<(Vec<Arg>, &str)> {
    let bytes = text.as_bytes();
    let (mut depth, mut begin, mut i) = (0usize, 0, 0);
    let mut args = Vec::new();
    while i < bytes.len() {
        match bytes[i] {
            b'"' => i = string_end(bytes, i)?,
            b'<' if i > begin && is_descriptor(&text[begin..i]) => {
                i += bytes[i..].iter().position(|b| *b == b'>')?;
            }
            b'/' if bytes.get(i + 1) == Some(&b'*') => {
                i += text[i..].find("*/")? + 1;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                if !text[begin..i].trim().is_empty() {
                    args.push(argument(&text[begin..i]));
                }
                return Some((args, &text[i + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                args.push(argument(&text[begin..i]));
                begin = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// Whether `<` behind this text begins a path: after a descriptor.
fn is_descriptor(before: &str) -> bool {
    let before = before.trim();
    before == "AT_FDCWD"
        || before
            .rsplit([' ', '[', '{', '=', ','])
            .next()
            .is_some_and(|w| number(w).is_some())
}

/// The place of the quote that ends the string which begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut i = start + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 1,
            b'"' => return Some(i),
            _ => {}
        }
        i += 1;
    }
    None
}

fn argument(text: &str) -> Arg {
    let text = text.trim();
    if text.starts_with('"')
        && let Some(end) = string_end(text.as_bytes(), 0)
    {
        let (bytes, _) = unescape(&text[1..end]);
        let whole = !text[end + 1..].starts_with("...");
        return Arg::Str { bytes, whole };
    }
    let end = text.find('<').unwrap_or(text.len());
    if text.starts_with("AT_FDCWD") {
        let path = descriptor_path(&text[end..]);
        return Arg::Number { n: AT_FDCWD, path };
    }
    match number(&text[..end]) {
        Some(n) => Arg::Number {
            n,
            path: descriptor_path(&text[end..]),
        },
        None => Arg::Other(text.to_owned()),
    }
}

/// The descriptor that stands for the working directory.
pub(super) const AT_FDCWD: i64 = -100;

/// The strings in a structure, as `[{iov_base="…", iov_len=5}, …]`: each with its length.
pub(super) fn strings(text: &str) -> Vec<(Vec<u8>, bool)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('"') {
        let begin = from + at;
        let Some(end) = string_end(text.as_bytes(), begin) else {
            break;
        };
        let (bytes, _) = unescape(&text[begin + 1..end]);
        found.push((bytes, !text[end + 1..].starts_with("...")));
        from = end + 1;
    }
    found
}

/// Undoes strace's escapes: those of C, octal and hexadecimal.
fn unescape(text: &str) -> (Vec<u8>, bool) {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] != b'\\' {
            out.push(bytes[i]);
            i += 1;
            continue;
        }
        i += 1;
        let Some(&c) = bytes.get(i) else { break };
        let digits = |from: usize, most: usize, radix: u32| {
            let all = bytes[from..].iter().take(most);
            let n = all.take_while(|b| char::from(**b).is_digit(radix)).count();
            let text = std::str::from_utf8(&bytes[from..from + n]).unwrap_or("0");
            (u32::from_str_radix(text, radix).unwrap_or(0) as u8, n)
        };
        let (byte, used) = match c {
            b'n' => (b'\n', 1),
            b't' => (b'\t', 1),
            b'r' => (b'\r', 1),
            b'v' => (0x0B, 1),
            b'f' => (0x0C, 1),
            b'x' => {
                let (byte, n) = digits(i + 1, 2, 16);
                (byte, n + 1)
            }
            b'0'..=b'7' => digits(i, 3, 8),
            other => (other, 1),
        };
        out.push(byte);
        i += used.max(1);
    }
    (out, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_apart() {
        let text = r#"[pid 12] 10:00:01.500000 openat(AT_FDCWD</tmp/w>, "a b\n", O_RDWR|O_CREAT|O_CLOEXEC, 0644) = 3</tmp/w/a b> <0.000010>"#;
        let (pid, at, rest) = head(text);
        assert_eq!((pid, at), (12, Some(36_001_500_000_000)));
        let line = call(pid, at, rest).unwrap();
        assert_eq!(line.name, "openat");
        assert_eq!(line.ret, Some(3));
        assert_eq!(line.ret_path.as_deref(), Some(&b"/tmp/w/a b"[..]));
        assert_eq!(
            line.args[1],
            Arg::Str {
                bytes: b"a b\n".to_vec(),
                whole: true
            }
        );
        assert!(line.args[2].has("O_CREAT"));
        assert_eq!(line.args[3].number(), Some(0o644));
    }

    #[test]
    fn strings_are_cut_and_escaped() {
        let line = call(1, None, r#"write(4, "\0\1\377a\"b,)"..., 4096) = 4096"#).unwrap();
        assert_eq!(
            line.args[1],
            Arg::Str {
                bytes: vec![0, 1, 255, b'a', b'"', b'b', b',', b')'],
                whole: false
            }
        );
        let text = r#"[{iov_base="ab", iov_len=2}, {iov_base="c", iov_len=1}]"#;
        let iov = strings(text);
        assert_eq!(iov, [(b"ab".to_vec(), true), (b"c".to_vec(), true)]);
    }

    #[test]
    fn noise_is_no_call() {
        for text in [
            "+++ exited with 0 +++",
            "--- SIGCHLD {si_signo=SIGCHLD} ---",
            "",
            "x = 3",
            "f(1, 2",
        ] {
            assert_eq!(call(0, None, text), None, "{text}");
        }
    }
}
