//! Where a cursor stands. Strings and comments end with their line, so the line before the
//! cursor tells.

/// What is around a cursor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Place<'s> {
    /// Where the word begins that has been begun.
    pub(super) from: usize,
    pub(super) word: &'s str,
    /// In a comment, a string, or a number.
    pub(super) silent: bool,
    /// Behind a point.
    pub(super) field: bool,
    /// What is called, where the cursor is among arguments.
    pub(super) call: Option<&'s str>,
}

fn in_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The name at the end of a text.
fn last_name(text: &str) -> &str {
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| in_name(*c))
        .last();
    text.get(start.map_or(text.len(), |(at, _)| at)..)
        .unwrap_or("")
}

impl<'s> Place<'s> {
    pub(super) fn find(text: &'s str, cursor: usize) -> Self {
        let cursor = text.floor_char_boundary(cursor);
        let before = text.get(..cursor).unwrap_or("");
        let line = before.rsplit('\n').next().unwrap_or("");
        let word = last_name(before);
        let start = line.strip_suffix(word).unwrap_or(line);
        let scan = Scan::of(line);
        Self {
            from: cursor - word.len(),
            word,
            silent: scan.silent() || word.starts_with(|c: char| c.is_numeric()),
            field: start.trim_end().ends_with('.'),
            call: scan.call(),
        }
    }
}

/// Something that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Open<'s> {
    String(char),
    /// Code in a string.
    Code,
    /// A bracket, and the name before it.
    Bracket(&'s str),
    Comment,
}

struct Scan<'s> {
    open: Vec<Open<'s>>,
    /// How many of them are code in a string.
    codes: usize,
}

impl<'s> Scan<'s> {
    fn of(line: &'s str) -> Self {
        let mut scan = Self {
            open: Vec::new(),
            codes: 0,
        };
        let mut rest = line;
        while let Some(c) = rest.chars().next() {
            let before = line.get(..line.len() - rest.len()).unwrap_or("");
            let len = match scan.open.last() {
                Some(Open::Comment) => break,
                Some(&Open::String(quote)) => scan.in_string(quote, c, rest),
                _ => scan.in_code(c, rest, before),
            };
            rest = rest.get(len..).unwrap_or("");
        }
        scan
    }

    /// How many bytes were taken.
    fn in_string(&mut self, quote: char, c: char, rest: &str) -> usize {
        match c {
            '\\' if rest.starts_with("\\u{") => rest.find('}').map_or(rest.len(), |end| end + 1),
            '\\' => 1 + rest.chars().nth(1).map_or(0, char::len_utf8),
            '{' | '}' if rest.chars().nth(1) == Some(c) => 2,
            '{' => {
                self.open.push(Open::Code);
                self.codes += 1;
                1
            }
            c if c == quote => {
                self.open.pop();
                1
            }
            c => c.len_utf8(),
        }
    }

    fn in_code(&mut self, c: char, rest: &str, before: &'s str) -> usize {
        match c {
            '#' => self.open.push(Open::Comment),
            '/' if rest.starts_with("//") => self.open.push(Open::Comment),
            '"' | '\'' => self.open.push(Open::String(c)),
            '(' | '[' | '{' => self.open.push(Open::Bracket(match c {
                '(' => last_name(before),
                _ => "",
            })),
            '}' if self.codes > 0 => {
                self.codes -= 1;
                while self.open.pop_if(|open| *open != Open::Code).is_some() {}
                self.open.pop();
            }
            ')' | ']' | '}' => {
                self.open.pop_if(|open| matches!(open, Open::Bracket(_)));
            }
            _ => {}
        }
        c.len_utf8()
    }

    fn silent(&self) -> bool {
        matches!(self.open.last(), Some(Open::String(_) | Open::Comment))
    }

    fn call(&self) -> Option<&'s str> {
        match self.open.last() {
            Some(Open::Bracket(name)) if !name.is_empty() => Some(name),
            _ => None,
        }
    }
}
