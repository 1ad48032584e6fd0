//! What is wrong with a program, and where.

use super::limits::MAX_DIAGNOSTICS;

/// Bytes of a text: first, one past the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Span {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Self {
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            start: small(start),
            end: small(end),
        }
    }

    pub(super) fn to(self, other: Span) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// One mistake in a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Characters that it is about, on that line; at least 1.
    pub len: u32,
    /// A sentence.
    pub words: String,
    /// What could have stood there.
    pub expected: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.words
        )?;
        if !self.expected.is_empty() {
            write!(f, " Expected {}.", listed(&self.expected))?;
        }
        match &self.help {
            Some(help) => write!(f, " {help}"),
            None => Ok(()),
        }
    }
}

impl Diagnostic {
    /// As a person sees it: the sentence with its place, the line with the place marked,
    /// what was expected, what to do.
    pub fn shown(&self, source: &str) -> String {
        let Self {
            line,
            column,
            words,
            ..
        } = self;
        let mut out = format!("line {line}, column {column}: {words}\n");
        out += &marked(source, *line, *column, self.len);
        if !self.expected.is_empty() {
            out += &format!("  expected: {}\n", listed(&self.expected));
        }
        if let Some(help) = &self.help {
            out += &format!("  hint: {help}\n");
        }
        out
    }
}

/// Characters of a line that are shown at most.
const MAX_LINE: usize = 100;

/// A line of a text with a place marked below it: line and column from 1, `len` characters.
/// Of a long line the part around the place is shown.
pub fn marked(source: &str, line: u32, column: u32, len: u32) -> String {
    let whole = source.lines().nth((line as usize).saturating_sub(1));
    let start = (column as usize).saturating_sub(1);
    let from = start.saturating_sub(MAX_LINE / 2);
    // Tabs and their like would put the marks elsewhere.
    let plain = |c: char| {
        if c.is_whitespace() || c.is_control() {
            ' '
        } else {
            c
        }
    };
    let all = whole.unwrap_or("").chars().map(plain);
    let text: String = all.clone().skip(from).take(MAX_LINE).collect();
    let cut = |is: bool| if is { "…" } else { "" };
    let before = cut(from > 0);
    let after = cut(all.count() > from.saturating_add(MAX_LINE));
    let room = " ".repeat(start - from + before.chars().count());
    let marks = "^".repeat((len as usize).clamp(1, MAX_LINE / 2));
    format!("{line:>5} | {before}{text}{after}\n      | {room}{marks}\n")
}

/// "a, b or c".
fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// A mistake, its place still in bytes. Boxed: what succeeds should not pay for it.
#[derive(Clone, Debug)]
pub(super) struct Complaint(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    span: Span,
    words: String,
    expected: Vec<String>,
    help: Option<String>,
}

pub(super) fn complain(span: Span, words: impl Into<String>) -> Complaint {
    Complaint(Box::new(Inner {
        span,
        words: words.into(),
        expected: Vec::new(),
        help: None,
    }))
}

impl Complaint {
    pub(super) fn expected<S: Into<String>>(mut self, what: impl IntoIterator<Item = S>) -> Self {
        self.0.expected.extend(what.into_iter().map(Into::into));
        self
    }

    pub(super) fn help(mut self, words: impl Into<String>) -> Self {
        self.0.help = Some(words.into());
        self
    }

    pub(super) fn help_if(self, words: Option<String>) -> Self {
        match words {
            Some(words) => self.help(words),
            None => self,
        }
    }

    pub(super) fn span(&self) -> Span {
        self.0.span
    }

    pub(super) fn start(&self) -> u32 {
        self.0.span.start
    }
}

/// Where lines begin.
#[derive(Clone, Debug)]
pub(super) struct Lines<'s> {
    source: &'s str,
    starts: Vec<u32>,
    /// Bytes that are not the first of their character.
    inner: Vec<u32>,
}

impl<'s> Lines<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        let after = source.bytes().zip(1u32..).filter(|(b, _)| *b == b'\n');
        let inner = source.bytes().zip(0u32..).filter(|(b, _)| b & 0xC0 == 0x80);
        Self {
            source,
            starts: std::iter::once(0).chain(after.map(|(_, at)| at)).collect(),
            inner: inner.map(|(_, at)| at).collect(),
        }
    }

    /// Line and column of a byte, both from 1.
    pub(super) fn place(&self, at: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|start| *start <= at).max(1);
        let start = self.starts[line - 1];
        let inner = |to: u32| self.inner.partition_point(|byte| *byte < to) as u32;
        let column = (at - start) - (inner(at) - inner(start)) + 1;
        (line as u32, column)
    }

    fn characters(&self, span: Span) -> u32 {
        let text = self.source.get(span.start as usize..span.end as usize);
        let on_line = text.unwrap_or("").lines().next().unwrap_or("");
        (on_line.chars().count() as u32).max(1)
    }

    pub(super) fn diagnostics(&self, mut complaints: Vec<Complaint>) -> Vec<Diagnostic> {
        complaints.sort_by_key(Complaint::start);
        complaints.truncate(MAX_DIAGNOSTICS);
        complaints.into_iter().map(|c| self.diagnostic(c)).collect()
    }

    fn diagnostic(&self, Complaint(inner): Complaint) -> Diagnostic {
        let (line, column) = self.place(inner.span.start);
        Diagnostic {
            line,
            column,
            len: self.characters(inner.span),
            words: inner.words,
            expected: inner.expected,
            help: inner.help,
        }
    }
}

/// The known name that is most like an unknown one, if one is like it at all.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let bound = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    known
        .map(|k| (strsim::damerau_levenshtein(&name, &k.to_lowercase()), k))
        .filter(|(distance, k)| *distance <= bound && *distance < k.chars().count())
        .min_by_key(|(distance, k)| (*distance, k.len(), *k))
        .map(|(_, k)| k)
}
