//! Text to words.

use super::diag::{Complaint, Span, complain};
use super::limits::MAX_NESTING;
use super::number;
use super::text;
use super::token::{KEYWORDS, Piece, SIGNS, Tok, Token};
use winnow::Parser;
use winnow::ascii::space0;
use winnow::combinator::{alt, opt, peek};
use winnow::error::ParserError;
use winnow::stream::{LocatingSlice, Location, Stateful, Stream};
use winnow::token::{any, literal, one_of, take_till, take_while};

/// What a lexer keeps beside the text.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Brackets that are open.
    open: Vec<&'static str>,
    /// Strings that this place is inside of.
    strings: u32,
    pub(super) complaints: Vec<Complaint>,
}

pub(super) type Source<'s> = Stateful<LocatingSlice<&'s str>, State>;

/// `None`: what stood there is no word, and has been complained of.
type Found<'s> = Result<Option<Tok<'s>>, Complaint>;

impl<I: Stream> ParserError<I> for Complaint {
    type Inner = Self;

    /// Where a plain parser fails, its caller says what is wrong.
    fn from_input(_: &I) -> Self {
        complain(Span::default(), "This cannot be read.")
    }

    fn into_inner(self) -> Result<Self, Self> {
        Ok(self)
    }
}

/// What stands between words inside brackets.
const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// Every word of a text, the last of them [`Tok::End`].
pub(super) fn lex(source: &str) -> (Vec<Token<'_>>, Vec<Complaint>) {
    let mut input = Stateful {
        input: LocatingSlice::new(source),
        state: State::default(),
    };
    let tokens = tokens(&mut input, false);
    (tokens, input.state.complaints)
}

pub(super) fn at(input: &Source<'_>) -> usize {
    input.input.current_token_start()
}

/// Words up to the end of the text; `in_string`: up to the brace that ends the code in a
/// string, or the end of the line.
fn tokens<'s>(input: &mut Source<'s>, in_string: bool) -> Vec<Token<'s>> {
    let mut tokens = Vec::new();
    let outer = input.state.open.len();
    loop {
        blank(input);
        let start = at(input);
        let closes = input.state.open.len() == outer && input.input.starts_with('}');
        let ends = input.input.is_empty() || in_string && input.input.starts_with('\n');
        if ends || in_string && closes {
            tokens.push(Token {
                tok: Tok::End,
                span: Span::new(start, start + usize::from(!ends)),
            });
            input.state.open.truncate(outer);
            return tokens;
        }
        match word(input) {
            Ok(Some(tok)) => tokens.push(Token {
                tok,
                span: Span::new(start, at(input)),
            }),
            Ok(None) => {}
            Err(complaint) => input.state.complaints.push(complaint),
        }
    }
}

/// Spaces and comments, and ends of lines inside brackets.
fn blank(input: &mut Source<'_>) {
    loop {
        let before = at(input);
        let _: Result<_, Complaint> = take_while(0.., [' ', '\t', '\r']).parse_next(input);
        if input.input.starts_with('#') || input.input.starts_with("//") {
            let _: Result<_, Complaint> = take_till(0.., '\n').parse_next(input);
        }
        if input.input.starts_with('\n') && in_brackets(input) {
            let _: Result<_, Complaint> = take_while(1.., BLANK).parse_next(input);
        }
        if at(input) == before {
            return;
        }
    }
}

/// Whether the end of a line means nothing here. A line that begins with what can only
/// begin a statement shows that a bracket was forgotten.
fn in_brackets(input: &mut Source<'_>) -> bool {
    if !matches!(input.state.open.last(), Some(&("(" | "["))) {
        return false;
    }
    let next = input.input.trim_start_matches(BLANK);
    let word = next
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .next();
    let starts = ["if", "while", "for", "fn", "return", "break", "continue"];
    if next.starts_with('}') || word.is_some_and(|w| starts.contains(&w)) {
        while matches!(input.state.open.last(), Some(&("(" | "["))) {
            input.state.open.pop();
        }
        return false;
    }
    true
}

fn word<'s>(input: &mut Source<'s>) -> Found<'s> {
    let first = peek(any).parse_next(input)?;
    match first {
        '\n' => any.value(Some(Tok::Newline)).parse_next(input),
        '0'..='9' => number::number(input).map(Some),
        '"' | '\'' => string(input, first),
        c if c == '_' || c.is_alphabetic() => name(input).map(Some),
        _ => sign(input),
    }
}

fn name<'s>(input: &mut Source<'s>) -> Result<Tok<'s>, Complaint> {
    let part = |c: char| c == '_' || c.is_alphanumeric();
    let name: &str = take_while(1.., part).parse_next(input)?;
    let keyword = KEYWORDS.into_iter().find(|word| *word == name);
    Ok(keyword.map_or(Tok::Name(name), Tok::Keyword))
}

fn sign<'s>(input: &mut Source<'s>) -> Found<'s> {
    let start = at(input);
    if let Some(sign) = SIGNS.into_iter().find(|s| input.input.starts_with(s)) {
        literal(sign).void().parse_next(input)?;
        match sign {
            "(" | "[" | "{" => input.state.open.push(sign),
            ")" | "]" | "}" => drop(input.state.open.pop()),
            _ => {}
        }
        return Ok(Some(Tok::Sign(sign)));
    }
    let c = any.parse_next(input)?;
    let span = Span::new(start, at(input));
    Err(complain(span, format!("{c:?} means nothing here.")).help_if(help_for(c)))
}

fn help_for(c: char) -> Option<String> {
    let words = match c {
        '“' | '”' | '„' | '‘' | '’' | '`' => "Strings stand between plain quotes: \"…\".",
        '$' => "A variable is written without `$`: i, and \"{i}\" in a string.",
        '?' => "There is no `a ? b : c`: write if a { … } else { … }.",
        '@' => "Names are made of letters, digits and `_`.",
        '\\' => "A line goes on by itself after an operator, a comma or an open bracket.",
        '–' | '—' | '−' => "Minus is the plain `-`.",
        _ => return None,
    };
    Some(words.into())
}

/// A string: bytes, and code between braces.
fn string<'s>(input: &mut Source<'s>, quote: char) -> Found<'s> {
    let start = at(input);
    any.void().parse_next(input)?;
    input.state.strings += 1;
    let pieces = pieces(input, quote, start);
    input.state.strings -= 1;
    // A string that is wrong is a string all the same. Brackets that it may have swallowed
    // are taken for closed, so that the next line is looked at by itself.
    let pieces = pieces.unwrap_or_else(|complaint| {
        input.state.complaints.push(complaint);
        input.state.open.clear();
        Vec::new()
    });
    Ok(Some(Tok::Str(pieces)))
}

fn pieces<'s>(
    input: &mut Source<'s>,
    quote: char,
    start: usize,
) -> Result<Vec<Piece<'s>>, Complaint> {
    let mut pieces = Vec::new();
    let mut text = Vec::new();
    loop {
        let plain: &str = take_till(0.., [quote, '\\', '{', '}', '\n']).parse_next(input)?;
        text.extend_from_slice(plain.as_bytes());
        let here = at(input);
        let next: Option<char> = opt(peek(any)).parse_next(input)?;
        match next {
            None | Some('\n') => {
                let words = format!("This string has no closing {quote}.");
                return Err(complain(Span::new(start, here), words));
            }
            Some('\\') => match text::escape(input) {
                Ok(bytes) => text.extend_from_slice(&bytes),
                Err(complaint) => input.state.complaints.push(complaint),
            },
            Some('{' | '}') => brace(input, &mut pieces, &mut text)?,
            Some(_) => {
                any.void().parse_next(input)?;
                if !text.is_empty() {
                    pieces.push(Piece::Text(text));
                }
                return Ok(pieces);
            }
        }
    }
}

/// A brace in a string: doubled it is itself, single it begins code.
fn brace<'s>(
    input: &mut Source<'s>,
    pieces: &mut Vec<Piece<'s>>,
    text: &mut Vec<u8>,
) -> Result<(), Complaint> {
    let here = at(input);
    if let Some(both) = opt(alt(("{{", "}}"))).parse_next(input)? {
        let both: &str = both;
        text.push(both.as_bytes()[0]);
        return Ok(());
    }
    let single = any.parse_next(input)?;
    let span = Span::new(here, at(input));
    if single == '}' {
        let words = "This `}` closes nothing in the string.";
        let complaint =
            complain(span, words).help("A brace that is meant as itself is doubled: }}.");
        input.state.complaints.push(complaint);
        return Ok(());
    }
    if input.state.strings > MAX_NESTING {
        // The rest of the text would be read as if outside of strings: it is left out.
        take_while(0.., |_| true).void().parse_next(input)?;
        return Err(complain(
            span,
            "Strings stand too deep inside one another here.",
        ));
    }
    if !text.is_empty() {
        pieces.push(Piece::Text(std::mem::take(text)));
    }
    let known = input.state.complaints.len();
    pieces.push(Piece::Code(tokens(input, true)));
    let _: &str = space0.parse_next(input)?;
    if opt(one_of('}')).parse_next(input)?.is_none() {
        // What was wrong behind the brace was no code, most likely.
        input.state.complaints.truncate(known);
        take_till(0.., '\n').void().parse_next(input)?;
        let words = "This `{` in the string has no closing `}`.";
        return Err(complain(span, words).help("A brace that is meant as itself is doubled: {{."));
    }
    Ok(())
}
