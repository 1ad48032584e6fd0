//! Words to a tree. What cannot be read is complained of, and reading goes on at the next
//! statement.

mod expr;
mod hints;
mod stmt;

use super::ast::{Block, Ident};
use super::diag::{Complaint, Lines, Span, complain};
use super::lex;
use super::limits::MAX_NESTING;
use super::token::{Tok, Token};
use std::collections::BTreeSet;
use winnow::Parser;
use winnow::combinator::{opt, peek};
use winnow::stream::{Stateful, Stream, TokenSlice};
use winnow::token::{any, one_of};

/// What a parser keeps beside the words.
#[derive(Clone, Debug)]
pub(super) struct State<'s> {
    complaints: Vec<Complaint>,
    /// Blocks and brackets around this place.
    nesting: u32,
    /// Loops around this place, in this function.
    loops: u32,
    in_function: bool,
    /// Stands in for what is behind the last word.
    end: Token<'s>,
    /// Where the last word that was taken ends.
    last: u32,
    source: &'s str,
}

impl<'s> State<'s> {
    /// For words inside of a string.
    fn within(&self, tokens: &[Token<'s>]) -> Self {
        Self {
            complaints: Vec::new(),
            end: tokens.last().unwrap_or(&self.end).clone(),
            ..*self
        }
    }
}

pub(super) type Input<'t, 's> = Stateful<TokenSlice<'t, Token<'s>>, State<'s>>;
pub(super) type Res<T> = Result<T, Complaint>;

/// The statements of a program, and everything that is wrong with their form.
pub(super) fn parse(source: &str) -> (Block<'_>, Vec<Complaint>) {
    let (tokens, mut complaints) = lex::lex(source);
    let end = tokens.last().cloned().unwrap_or(Token {
        tok: Tok::End,
        span: Span::default(),
    });
    let mut input = Stateful {
        input: TokenSlice::new(&tokens),
        state: State {
            complaints: Vec::new(),
            nesting: 0,
            loops: 0,
            in_function: false,
            end,
            last: 0,
            source,
        },
    };
    let block = stmt::program(&mut input);
    let lines = Lines::new(source);
    let line = |c: &Complaint| lines.place(c.start()).0;
    let spoilt: BTreeSet<u32> = complaints.iter().map(line).collect();
    // Where a word is wrong, what is missing around it says little.
    let own = input.state.complaints.into_iter();
    complaints.extend(own.filter(|c| !spoilt.contains(&line(c))));
    (block, complaints)
}

/// The next word, left where it is.
fn next<'s>(input: &Input<'_, 's>) -> Token<'s> {
    ahead(input, 0)
}

/// The word `n` further on.
fn ahead<'s>(input: &Input<'_, 's>, n: usize) -> Token<'s> {
    let token = input.input.iter_offsets().nth(n).map(|(_, t)| t.clone());
    token.unwrap_or_else(|| input.state.end.clone())
}

fn take<'s>(input: &mut Input<'_, 's>) -> Token<'s> {
    let token: Result<&Token<'s>, Complaint> = any.parse_next(input);
    let token = token.cloned().unwrap_or_else(|_| input.state.end.clone());
    input.state.last = token.span.end;
    token
}

fn at(input: &Input<'_, '_>, sign: &str) -> bool {
    is(&next(input).tok, sign)
}

fn is(tok: &Tok<'_>, word: &str) -> bool {
    matches!(tok, Tok::Sign(w) | Tok::Keyword(w) if *w == word)
}

/// Takes a sign or keyword if it is next.
fn eat<'s>(input: &mut Input<'_, 's>, word: &str) -> Option<Span> {
    let wanted = one_of(|t: &Token<'s>| is(&t.tok, word));
    let token: Result<Option<&Token<'s>>, Complaint> = opt(wanted).parse_next(input);
    let span = token.ok().flatten()?.span;
    input.state.last = span.end;
    Some(span)
}

fn expect(input: &mut Input<'_, '_>, word: &str) -> Res<Span> {
    eat(input, word).ok_or_else(|| unexpected(input).expected([format!("`{word}`")]))
}

/// Closes a bracket; where that fails, the message points at the one that is open.
fn close(input: &mut Input<'_, '_>, opened: Span, sign: &str, or: &[&str]) -> Res<Span> {
    if let Some(span) = eat(input, sign) {
        return Ok(span);
    }
    let open = match sign {
        ")" => "(",
        "]" => "[",
        _ => "{",
    };
    let found = next(input);
    if matches!(found.tok, Tok::End | Tok::Newline) || is(&found.tok, "}") {
        let words = format!("This `{open}` is never closed.");
        return Err(complain(opened, words).expected([format!("`{sign}`")]));
    }
    let between = input
        .state
        .source
        .get(opened.end as usize..found.span.start as usize);
    if between.is_some_and(|text| text.contains('\n')) {
        let words = format!("This `{open}` is never closed.");
        return Err(complain(opened, words)
            .expected([format!("`{sign}`")])
            .help("If the next line belongs to it, a `,` is missing before."));
    }
    let expected = or.iter().map(|w| (*w).to_string());
    Err(unexpected(input)
        .expected(expected.chain([format!("`{sign}`")]))
        .help_if(hints::at(input)))
}

fn unexpected(input: &Input<'_, '_>) -> Complaint {
    let found = next(input);
    let Span { start, end } = found.span;
    let written = input.state.source.get(start as usize..end as usize);
    let words = match (&found.tok, written) {
        (Tok::Int(_), Some(number)) => format!("Found the number {number}."),
        (tok, _) => format!("Found {}.", tok.words()),
    };
    complain(found.span, words)
}

fn ident<'s>(input: &mut Input<'_, 's>, what: &str) -> Res<Ident<'s>> {
    let wanted = one_of(|t: &Token<'s>| matches!(t.tok, Tok::Name(_)));
    let token: Result<Option<&Token<'s>>, Complaint> = opt(wanted).parse_next(input);
    match token.ok().flatten() {
        Some(&Token {
            tok: Tok::Name(name),
            span,
        }) => {
            input.state.last = span.end;
            Ok(Ident { name, span })
        }
        _ => {
            let keyword = matches!(next(input).tok, Tok::Keyword(_));
            let help = keyword.then(|| "This word belongs to the language: take another.".into());
            Err(unexpected(input).expected([what]).help_if(help))
        }
    }
}

fn newlines(input: &mut Input<'_, '_>) {
    while matches!(next(input).tok, Tok::Newline) {
        take(input);
    }
}

/// Runs `inner` one level deeper.
fn nested<'t, 's, T>(
    input: &mut Input<'t, 's>,
    inner: impl FnOnce(&mut Input<'t, 's>) -> Res<T>,
) -> Res<T> {
    if input.state.nesting >= MAX_NESTING {
        let words = format!("Brackets and blocks stand more than {MAX_NESTING} deep here.");
        return Err(complain(next(input).span, words));
    }
    input.state.nesting += 1;
    let result = inner(input);
    input.state.nesting -= 1;
    result
}

/// Whether a word comes next, after the ends of lines.
fn after_newlines(input: &mut Input<'_, '_>, word: &str) -> bool {
    let checkpoint = input.checkpoint();
    newlines(input);
    let found: Result<&Token<'_>, Complaint> = peek(any).parse_next(input);
    let found = found.is_ok_and(|t| is(&t.tok, word));
    if !found {
        input.reset(&checkpoint);
    }
    found
}
