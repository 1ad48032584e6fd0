//! What each part of a program's text is, for an editor to colour.

use super::lex;
use super::names::{self, What};
use super::token::{Piece, Tok, Token};
use serde::{Deserialize, Serialize};

/// What a part of a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Class {
    /// `if`, `true`, …
    Keyword,
    /// A call of the kernel: `open`.
    Call,
    /// A function of the language, of the prelude or of the program.
    Function,
    /// A variable, a parameter, a field.
    Variable,
    /// A number or a constant: `4k`, `O_CREAT`.
    Number,
    /// A string, the code in it left out.
    Text,
    /// A comment.
    Comment,
    /// An operator or a bracket.
    Operator,
    /// What cannot be read.
    Error,
}

/// A part of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// What it is.
    pub class: Class,
}

/// The parts of any text, in their order and apart from one another. Spaces are in none.
/// Only wrong words are [`Class::Error`]; wrong statements are what `compile` tells of.
pub fn highlight(text: &str) -> Vec<Span> {
    let (tokens, complaints) = lex::lex(text);
    let mut canvas = Canvas {
        text,
        classes: vec![None; text.len()],
    };
    canvas.tokens(&tokens, 0);
    for complaint in &complaints {
        let span = complaint.span();
        canvas.paint(span.start as usize, span.end as usize, Class::Error);
    }
    canvas.spans()
}

/// A class for each byte.
struct Canvas<'s> {
    text: &'s str,
    classes: Vec<Option<Class>>,
}

impl Canvas<'_> {
    fn paint(&mut self, start: usize, end: usize, class: Class) {
        let end = end.min(self.classes.len());
        if let Some(bytes) = self.classes.get_mut(start..end) {
            bytes.fill(Some(class));
        }
    }

    /// Words that begin at `from`, up to [`Tok::End`].
    fn tokens(&mut self, tokens: &[Token<'_>], from: usize) {
        let mut at = from;
        for (n, token) in tokens.iter().enumerate() {
            let (start, end) = (token.span.start as usize, token.span.end as usize);
            self.between(at, start);
            at = end;
            match &token.tok {
                Tok::Str(pieces) => self.string(pieces, start, end),
                Tok::End if start < end => self.paint(start, end, Class::Operator),
                _ => {
                    let before = n.checked_sub(1).and_then(|n| tokens.get(n));
                    if let Some(class) = class(token, before, tokens.get(n + 1)) {
                        self.paint(start, end, class);
                    }
                }
            }
        }
    }

    /// What the lexer has left out: spaces, comments, what is no word.
    fn between(&mut self, from: usize, to: usize) {
        let mut at = from;
        while let Some(rest) = self.text.get(at..to).filter(|rest| !rest.is_empty()) {
            let line = rest.find('\n').unwrap_or(rest.len());
            let first = rest.chars().next().map_or(1, char::len_utf8);
            let (len, class) = if rest.starts_with('#') || rest.starts_with("//") {
                (line, Some(Class::Comment))
            } else if rest.starts_with([' ', '\t', '\r', '\n']) {
                (first, None)
            } else if rest.starts_with(['"', '\'']) {
                (line, Some(Class::Error))
            } else {
                (first, Some(Class::Error))
            };
            if let Some(class) = class {
                self.paint(at, at + len, class);
            }
            at += len.max(1);
        }
    }

    /// A string and the code in it.
    fn string(&mut self, pieces: &[Piece<'_>], start: usize, end: usize) {
        self.paint(start, end, Class::Text);
        let mut from = start;
        for piece in pieces {
            let Piece::Code(tokens) = piece else { continue };
            let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
                continue;
            };
            // Only spaces and what is no word lie between the brace and the first word.
            let before = self.text.get(from..first.span.start as usize);
            let brace = from + before.and_then(|text| text.rfind('{')).unwrap_or(0);
            self.classes
                .get_mut(brace..last.span.end as usize)
                .into_iter()
                .for_each(|bytes| bytes.fill(None));
            self.paint(brace, brace + 1, Class::Operator);
            self.tokens(tokens, brace + 1);
            from = last.span.end as usize;
        }
    }

    fn spans(self) -> Vec<Span> {
        let mut spans: Vec<Span> = Vec::new();
        for (class, at) in self.classes.into_iter().zip(0u32..) {
            let Some(class) = class else { continue };
            match spans.last_mut() {
                Some(last) if last.end == at && last.class == class => last.end += 1,
                _ => spans.push(Span {
                    start: at,
                    end: at + 1,
                    class,
                }),
            }
        }
        spans
    }
}

fn class(
    token: &Token<'_>,
    before: Option<&Token<'_>>,
    after: Option<&Token<'_>>,
) -> Option<Class> {
    Some(match token.tok {
        Tok::Newline | Tok::End => return None,
        Tok::Int(_) => Class::Number,
        Tok::Str(_) => Class::Text,
        Tok::Keyword(_) => Class::Keyword,
        Tok::Sign(_) => Class::Operator,
        Tok::Name(name) => {
            let is = |token: Option<&Token<'_>>, sign| {
                token.is_some_and(|t| matches!(t.tok, Tok::Sign(w) | Tok::Keyword(w) if w == sign))
            };
            let known = names::signature(name).map(|s| s.what);
            if is(before, ".") {
                Class::Variable
            } else if is(after, "(") || is(before, "fn") {
                match known {
                    Some(What::Call(_)) => Class::Call,
                    _ => Class::Function,
                }
            } else if names::constant(name).is_some() {
                Class::Number
            } else {
                Class::Variable
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(text: &str) -> Vec<(&str, Class)> {
        let part = |s: &Span| (&text[s.start as usize..s.end as usize], s.class);
        highlight(text).iter().map(part).collect()
    }

    #[test]
    fn every_class_is_told() {
        use Class::*;
        let text =
            "fn f(a) { return a.size } # b\nfd = open(\"/x{a}\", O_CREAT) // c\nprint(4k) $ 12q";
        let expected = [
            ("fn", Keyword),
            ("f", Function),
            ("(", Operator),
            ("a", Variable),
            (")", Operator),
            ("{", Operator),
            ("return", Keyword),
            ("a", Variable),
            (".", Operator),
            ("size", Variable),
            ("}", Operator),
            ("# b", Comment),
            ("fd", Variable),
            ("=", Operator),
            ("open", Call),
            ("(", Operator),
            ("\"/x", Text),
            ("{", Operator),
            ("a", Variable),
            ("}", Operator),
            ("\"", Text),
            (",", Operator),
            ("O_CREAT", Number),
            (")", Operator),
            ("// c", Comment),
            ("print", Function),
            ("(", Operator),
            ("4k", Number),
            (")", Operator),
            ("$", Error),
            ("12q", Error),
        ];
        assert_eq!(parts(text), expected);
    }

    #[test]
    fn what_is_not_closed_is_an_error_up_to_the_end_of_its_line() {
        let text = "open(\"/a # no comment\nx = 1";
        assert_eq!(parts(text)[2], ("\"/a # no comment", Class::Error));
        assert_eq!(parts("\"{ $x }\"")[2], ("$", Class::Error));
        assert_eq!(parts("\"a\\q\"")[1], ("\\q", Class::Error));
    }

    proptest! {
        #[test]
        fn any_text_has_parts_in_order(text in super::super::any_text()) {
            let mut at = 0;
            for Span { start, end, .. } in highlight(&text) {
                prop_assert!(at <= start && start < end && end as usize <= text.len());
                prop_assert!(text.get(start as usize..end as usize).is_some());
                at = end;
            }
        }

        /// What has no class is space and nothing else.
        #[test]
        fn only_spaces_have_no_class(text in super::super::any_text()) {
            let mut left: Vec<u8> = text.bytes().collect();
            for s in highlight(&text) {
                left[s.start as usize..s.end as usize].fill(b' ');
            }
            prop_assert!(left.iter().all(u8::is_ascii_whitespace), "{:?}", text);
        }
    }
}
