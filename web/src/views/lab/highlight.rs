//! The colours of a scenario's text: TOML, and the programs in it.

/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// Nothing in particular.
    Plain,
    /// A comment.
    Comment,
    /// A text in quotes.
    Text,
    /// A number, with its unit.
    Number,
    /// A word of the language.
    Word,
    /// Something that is called.
    Call,
    /// A heading or a key of the settings.
    Key,
}

impl Token {
    /// Its class.
    pub fn class(self) -> Option<&'static str> {
        Some(match self {
            Self::Plain => return None,
            Self::Comment => "t-comment",
            Self::Text => "t-text",
            Self::Number => "t-number",
            Self::Word => "t-word",
            Self::Call => "t-call",
            Self::Key => "t-key",
        })
    }
}

const WORDS: [&str; 18] = [
    "if", "else", "elif", "while", "for", "in", "fn", "def", "func", "return", "break", "continue",
    "and", "or", "not", "true", "false", "let",
];

/// Where in the text a line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Inside {
    /// Among the settings.
    #[default]
    Settings,
    /// In a text of several lines that is no program, up to these quotes.
    Prose(&'static str),
    /// In a program, up to these quotes.
    Program(&'static str),
}

/// A line in pieces.
pub type Line = Vec<(Token, String)>;

/// The lines of a text in pieces.
pub fn lines(text: &str) -> Vec<Line> {
    let mut inside = Inside::default();
    text.split('\n')
        .map(|line| pieces(line, &mut inside))
        .collect()
}

fn pieces(line: &str, inside: &mut Inside) -> Line {
    match *inside {
        Inside::Prose(quotes) => {
            if line.contains(quotes) {
                *inside = Inside::Settings;
            }
            vec![(Token::Text, line.to_owned())]
        }
        Inside::Program(quotes) => match line.find(quotes) {
            Some(at) => {
                *inside = Inside::Settings;
                let mut out = program(&line[..at]);
                out.push((Token::Text, line[at..].to_owned()));
                out
            }
            None => program(line),
        },
        Inside::Settings => settings(line, inside),
    }
}

fn settings(line: &str, inside: &mut Inside) -> Line {
    if line.trim_start().starts_with('[') {
        return vec![(Token::Key, line.to_owned())];
    }
    let Some((key, value)) = line.split_once('=') else {
        return program(line);
    };
    for quotes in ["'''", "\"\"\""] {
        if value.trim_start().starts_with(quotes) && value.matches(quotes).count() == 1 {
            *inside = if key.trim() == "program" {
                Inside::Program(quotes)
            } else {
                Inside::Prose(quotes)
            };
            return vec![
                (Token::Key, key.to_owned()),
                (Token::Plain, "=".into()),
                (Token::Text, value.to_owned()),
            ];
        }
    }
    if key.trim_start().starts_with('#') {
        return vec![(Token::Comment, line.to_owned())];
    }
    let mut out = vec![(Token::Key, key.to_owned()), (Token::Plain, "=".into())];
    out.extend(program(value));
    out
}

/// A line of a program, or a value among the settings.
fn program(line: &str) -> Line {
    let mut out: Line = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (token, len) = match first {
            '#' => (Token::Comment, rest.len()),
            '"' | '\'' => (Token::Text, quoted(rest, first)),
            c if c.is_ascii_digit() => (
                Token::Number,
                run(rest, |c| c.is_alphanumeric() || c == '_' || c == '.'),
            ),
            c if c.is_alphabetic() || c == '_' => {
                let len = run(rest, |c| c.is_alphanumeric() || c == '_');
                (word(&rest[..len], &rest[len..]), len)
            }
            c => (Token::Plain, c.len_utf8()),
        };
        let piece = &rest[..len];
        match out.last_mut() {
            Some((Token::Plain, text)) if token == Token::Plain => text.push_str(piece),
            _ => out.push((token, piece.to_owned())),
        }
        rest = &rest[len..];
    }
    out
}

fn run(text: &str, goes_on: impl Fn(char) -> bool) -> usize {
    text.find(|c| !goes_on(c)).unwrap_or(text.len())
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return i + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn word(word: &str, after: &str) -> Token {
    if WORDS.contains(&word) {
        Token::Word
    } else if after.trim_start().starts_with('(') {
        Token::Call
    } else {
        Token::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_its_pieces() {
        let text = "a = 1\n[[process]]\nprogram = '''\nfd = open(\"/é\", 0) # why\n'''\nx = \"y\"";
        let joined: Vec<String> = lines(text)
            .into_iter()
            .map(|line| line.into_iter().map(|(_, t)| t).collect())
            .collect();
        assert_eq!(joined.join("\n"), text);
    }

    #[test]
    fn calls_are_told_from_words() {
        let line = &lines("program = '''\nif write(fd, 8k) {")[1];
        assert_eq!(line[0], (Token::Word, "if".into()));
        assert_eq!(line[2], (Token::Call, "write".into()));
        assert!(line.contains(&(Token::Number, "8k".into())));
    }
}
