//! A program's own names, found by its words alone: so they are known while a statement is
//! only half written.

use super::super::lex;
use super::super::limits::MAX_SOURCE;
use super::super::token::{Tok, Token};
use super::{Item, ItemKind, item};
use std::collections::{BTreeMap, BTreeSet};

/// Longest line of a comment that is shown, bytes.
const MAX_COMMENT: usize = 300;

/// A function of the program.
#[derive(Debug)]
struct Function<'s> {
    /// `f(a, b = 1)`.
    written: String,
    /// The comment above it.
    help: String,
    params: Vec<&'s str>,
}

/// The program's own names that a place sees.
#[derive(Debug, Default)]
pub(super) struct Own<'s> {
    functions: BTreeMap<&'s str, Function<'s>>,
    variables: BTreeSet<&'s str>,
}

fn is(tok: &Tok<'_>, word: &str) -> bool {
    matches!(tok, Tok::Sign(w) | Tok::Keyword(w) if *w == word)
}

impl<'s> Own<'s> {
    pub(super) fn find(text: &'s str, cursor: usize) -> Self {
        let mut own = Self::default();
        if text.len() > MAX_SOURCE {
            return own;
        }
        let (tokens, _) = lex::lex(text);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if is(&token.tok, "fn") {
                let end = end_of_function(&tokens, at);
                let inside = (token.span.start as usize) < cursor
                    && tokens
                        .get(end)
                        .is_none_or(|t| cursor <= t.span.start as usize);
                let words = tokens.get(at + 1..end).unwrap_or(&[]);
                own.function(text, words, token.span.start as usize, inside);
                at = end;
            } else {
                own.assigned(&tokens, at);
                at += 1;
            }
        }
        own
    }

    /// `words`: from the function's name to its closing brace.
    fn function(&mut self, text: &'s str, words: &[Token<'s>], start: usize, inside: bool) {
        let Some(&Token {
            tok: Tok::Name(name),
            span,
        }) = words.first()
        else {
            return;
        };
        let close = words.iter().position(|t| is(&t.tok, ")"));
        let head = words.get(..close.unwrap_or(words.len())).unwrap_or(&[]);
        let params = parameters(head);
        let end = close
            .and_then(|n| words.get(n))
            .map_or(span.end, |t| t.span.end);
        let written = text.get(span.start as usize..end as usize).unwrap_or(name);
        if inside {
            self.variables.extend(params.iter().copied());
            let body = words.get(close.unwrap_or(0)..).unwrap_or(&[]);
            (0..body.len()).for_each(|n| self.assigned(body, n));
        }
        let function = Function {
            written: written.split_whitespace().collect::<Vec<_>>().join(" "),
            help: comment_above(text, start),
            params,
        };
        self.functions.insert(name, function);
    }

    /// Notes a name that is given a value at a word.
    fn assigned(&mut self, tokens: &[Token<'s>], at: usize) {
        let Some(Tok::Name(name)) = tokens.get(at).map(|t| &t.tok) else {
            return;
        };
        let before = at
            .checked_sub(1)
            .and_then(|n| tokens.get(n))
            .map(|t| &t.tok);
        let begins =
            before.is_none_or(|tok| matches!(tok, Tok::Newline | Tok::Sign(";" | "{" | "}" | ")")));
        let gets = tokens.get(at + 1).is_some_and(|t| is(&t.tok, "="));
        if begins && gets || before.is_some_and(|tok| is(tok, "for")) {
            self.variables.insert(name);
        }
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Item> + '_ {
        let variables = self.variables.iter();
        let variables = variables.map(|name| item(ItemKind::Variable, name, "A variable"));
        variables.chain(self.functions.iter().map(|(name, f)| {
            let help = match f.help.as_str() {
                "" => f.written.clone(),
                help => format!("{}: {help}", f.written),
            };
            item(ItemKind::Own, name, help)
        }))
    }

    /// Names of a function's parameters, each with how the function is written.
    pub(super) fn parameters(&self, name: &str) -> Option<Vec<(&'s str, String)>> {
        let function = self.functions.get(name)?;
        let written = || function.written.clone();
        Some(function.params.iter().map(|p| (*p, written())).collect())
    }
}

/// The brace that closes the function at a word, or the end of all words.
fn end_of_function(tokens: &[Token<'_>], at: usize) -> usize {
    let mut open = 0u32;
    for (n, token) in tokens.iter().enumerate().skip(at + 1) {
        match token.tok {
            // No function stands in another one: a brace is missing.
            Tok::Keyword("fn") => return n,
            Tok::Sign("{") => open += 1,
            Tok::Sign("}") if open <= 1 => return n,
            Tok::Sign("}") => open -= 1,
            _ => {}
        }
    }
    tokens.len()
}

fn parameters<'s>(head: &[Token<'s>]) -> Vec<&'s str> {
    let pairs = head.windows(2);
    pairs
        .filter_map(|pair| match pair {
            [
                Token {
                    tok: Tok::Sign("(" | ","),
                    ..
                },
                Token {
                    tok: Tok::Name(name),
                    ..
                },
            ] => Some(*name),
            _ => None,
        })
        .collect()
}

/// The comment on the lines right above a place.
pub(in super::super) fn comment_above(text: &str, at: usize) -> String {
    let above = text.get(..at).unwrap_or("");
    let above = above.rsplit_once('\n').map_or("", |(lines, _)| lines);
    let lines = above.rsplit('\n').map_while(|line| {
        let line = line.trim();
        let comment = line.strip_prefix('#').or_else(|| line.strip_prefix("//"));
        comment.filter(|words| words.len() <= MAX_COMMENT)
    });
    let mut lines: Vec<&str> = lines.map(str::trim).take(8).collect();
    lines.reverse();
    lines.join(" ")
}
