//! The words of a program.

use super::diag::Span;

/// A word and where it is.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token<'s> {
    pub(super) tok: Tok<'s>,
    pub(super) span: Span,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Tok<'s> {
    /// The end of a line.
    Newline,
    /// The end of the text.
    End,
    Int(i64),
    Str(Vec<Piece<'s>>),
    Name(&'s str),
    Keyword(&'static str),
    /// An operator or a bracket.
    Sign(&'static str),
}

/// A part of a string.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Piece<'s> {
    Text(Vec<u8>),
    /// What stood between braces, ended by [`Tok::End`].
    Code(Vec<Token<'s>>),
}

/// Words that cannot be names.
pub(super) const KEYWORDS: [&str; 17] = [
    "if", "else", "while", "for", "in", "break", "continue", "fn", "return", "and", "or", "not",
    "true", "false", "nothing", "global", "pass",
];

/// Operators and brackets, longer ones before those that they begin with.
pub(super) const SIGNS: [&str; 46] = [
    "<<=", ">>=", "**", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "/=",
    "%=", "|=", "&=", "^=", "++", "--", "->", ":=", "(", ")", "[", "]", "{", "}", ",", ";", ":",
    ".", "=", "<", ">", "+", "-", "*", "/", "%", "|", "&", "^", "~", "!",
];

impl Tok<'_> {
    /// How it is called in a message.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Newline => "the end of the line".into(),
            Self::End => "the end of the program".into(),
            Self::Int(n) => format!("the number {n}"),
            Self::Str(_) => "a string".into(),
            Self::Name(name) => format!("`{name}`"),
            Self::Keyword(word) | Self::Sign(word) => format!("`{word}`"),
        }
    }
}
