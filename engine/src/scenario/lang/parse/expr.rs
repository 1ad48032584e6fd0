//! Expressions.

use super::super::ast::{Arg, BinOp, Expr, ExprKind, UnOp};
use super::super::diag::{Span, complain};
use super::super::limits::MAX_CHAIN;
use super::super::token::{Piece, Tok, Token};
use super::unexpected;
use super::{Input, Res, ahead, at, close, eat, hints, ident, is, nested, newlines, next, take};
use winnow::stream::{Stateful, TokenSlice};

/// What an operator makes of two expressions.
#[derive(Clone, Copy)]
enum Joins {
    Op(BinOp),
    And,
    Or,
}

/// The levels of operators, those that bind least first.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
const COMPARE: u8 = 4;

/// How tightly an operator binds, and what it is.
fn operator(tok: &Tok<'_>) -> Option<(u8, Joins)> {
    use BinOp::*;
    let (Tok::Sign(word) | Tok::Keyword(word)) = tok else {
        return None;
    };
    Some(match *word {
        "or" | "||" => (OR, Joins::Or),
        "and" | "&&" => (AND, Joins::And),
        "==" => (COMPARE, Joins::Op(Eq)),
        "!=" => (COMPARE, Joins::Op(Ne)),
        "<" => (COMPARE, Joins::Op(Lt)),
        "<=" => (COMPARE, Joins::Op(Le)),
        ">" => (COMPARE, Joins::Op(Gt)),
        ">=" => (COMPARE, Joins::Op(Ge)),
        "in" => (COMPARE, Joins::Op(In)),
        "|" => (5, Joins::Op(BitOr)),
        "^" => (6, Joins::Op(BitXor)),
        "&" => (7, Joins::Op(BitAnd)),
        "<<" => (8, Joins::Op(Shl)),
        ">>" => (8, Joins::Op(Shr)),
        "+" => (9, Joins::Op(Add)),
        "-" => (9, Joins::Op(Sub)),
        "*" => (10, Joins::Op(Mul)),
        "/" => (10, Joins::Op(Div)),
        "%" => (10, Joins::Op(Rem)),
        _ => return None,
    })
}

pub(super) fn expr<'s>(input: &mut Input<'_, 's>) -> Res<Expr<'s>> {
    nested(input, |i| binary(i, OR))
}

pub(super) fn make(span: Span, height: u32, kind: ExprKind<'_>) -> Res<Expr<'_>> {
    if height > MAX_CHAIN {
        let words = format!("More than {MAX_CHAIN} operators hang on one another here.");
        return Err(complain(span, words).help("Use variables for parts of it."));
    }
    Ok(Expr { span, kind, height })
}

/// An expression of operators that bind at least as tightly as `level`.
fn binary<'s>(input: &mut Input<'_, 's>, level: u8) -> Res<Expr<'s>> {
    let mut left = operand(input, level)?;
    let mut compared = false;
    while let Some((tight, joins)) = operator(&next(input).tok) {
        if tight < level {
            break;
        }
        let sign = take(input);
        if tight == COMPARE && compared {
            let words = "Comparisons do not chain.";
            return Err(complain(sign.span, words).help("Write a < b and b < c."));
        }
        compared |= tight == COMPARE;
        newlines(input);
        let right = nested(input, |i| binary(i, tight + 1))?;
        let height = left.height.max(right.height) + 1;
        let span = left.span.to(right.span);
        let (l, r) = (Box::new(left), Box::new(right));
        let kind = match joins {
            Joins::Op(op) => ExprKind::Binary(op, l, r),
            Joins::And => ExprKind::And(l, r),
            Joins::Or => ExprKind::Or(l, r),
        };
        left = make(span, height, kind)?;
    }
    Ok(left)
}

/// What an operator works on: with `not` before it where that may stand.
fn operand<'s>(input: &mut Input<'_, 's>, level: u8) -> Res<Expr<'s>> {
    match eat(input, "not") {
        Some(span) if level <= NOT => {
            let inner = nested(input, |i| binary(i, COMPARE))?;
            let (to, height) = (inner.span, inner.height + 1);
            make(
                span.to(to),
                height,
                ExprKind::Unary(UnOp::Not, Box::new(inner)),
            )
        }
        Some(span) => Err(complain(span, "`not` cannot stand behind this operator.")
            .help("Put brackets around it, or write `!`.")),
        None => unary(input),
    }
}

fn unary<'s>(input: &mut Input<'_, 's>) -> Res<Expr<'s>> {
    let op = match next(input).tok {
        Tok::Sign("-") => UnOp::Minus,
        Tok::Sign("!") => UnOp::Not,
        Tok::Sign("~") => UnOp::Invert,
        _ => return postfix(input),
    };
    let sign = take(input);
    let inner = nested(input, unary)?;
    let (to, height) = (inner.span, inner.height + 1);
    make(
        sign.span.to(to),
        height,
        ExprKind::Unary(op, Box::new(inner)),
    )
}

/// `a[i]`, `a.size`, one behind the other.
fn postfix<'s>(input: &mut Input<'_, 's>) -> Res<Expr<'s>> {
    let mut left = primary(input)?;
    loop {
        let height = left.height + 1;
        if let Some(open) = eat(input, "[") {
            let index = expr(input)?;
            let end = close(input, open, "]", &[])?;
            let height = height.max(index.height + 1);
            let span = left.span.to(end);
            left = make(
                span,
                height,
                ExprKind::Index(Box::new(left), Box::new(index)),
            )?;
        } else if eat(input, ".").is_some() {
            let name = ident(input, "the name of a field")?;
            if at(input, "(") {
                return Err(hints::method(name));
            }
            let span = left.span.to(name.span);
            left = make(span, height, ExprKind::Field(Box::new(left), name))?;
        } else {
            return Ok(left);
        }
    }
}

fn primary<'s>(input: &mut Input<'_, 's>) -> Res<Expr<'s>> {
    let token = next(input);
    let kind = match token.tok {
        Tok::Int(n) => ExprKind::Int(n),
        Tok::Keyword("true") => ExprKind::Bool(true),
        Tok::Keyword("false") => ExprKind::Bool(false),
        Tok::Keyword("nothing") => ExprKind::Nothing,
        Tok::Str(pieces) => {
            take(input);
            return string(input, pieces, token.span);
        }
        Tok::Name(_) if is(&ahead(input, 1).tok, "(") => return call(input),
        Tok::Name(name) => ExprKind::Name(name),
        Tok::Sign("(") => return bracketed(input),
        Tok::Sign("[") => return list(input),
        _ => {
            return Err(unexpected(input)
                .expected(["a value"])
                .help_if(hints::at(input)));
        }
    };
    take(input);
    make(token.span, 1, kind)
}

fn bracketed<'s>(input: &mut Input<'_, 's>) -> Res<Expr<'s>> {
    let open = take(input).span;
    let mut inner = expr(input)?;
    let end = close(input, open, ")", &["an operator"])?;
    inner.span = open.to(end);
    Ok(inner)
}

fn list<'s>(input: &mut Input<'_, 's>) -> Res<Expr<'s>> {
    let open = take(input).span;
    let mut items = Vec::new();
    while !at(input, "]") {
        items.push(expr(input)?);
        if eat(input, ",").is_none() {
            break;
        }
    }
    let end = close(input, open, "]", &["`,`"])?;
    let height = items.iter().map(|i| i.height).max().unwrap_or(0) + 1;
    make(open.to(end), height, ExprKind::List(items))
}

fn call<'s>(input: &mut Input<'_, 's>) -> Res<Expr<'s>> {
    let name = ident(input, "a name")?;
    let open = take(input).span;
    let mut args = Vec::new();
    while !at(input, ")") {
        args.push(arg(input)?);
        if eat(input, ",").is_none() {
            break;
        }
    }
    let end = close(input, open, ")", &["`,`"])?;
    let height = args.iter().map(|a| a.value.height).max().unwrap_or(0) + 1;
    make(name.span.to(end), height, ExprKind::Call(name, args))
}

fn arg<'s>(input: &mut Input<'_, 's>) -> Res<Arg<'s>> {
    let named = matches!(next(input).tok, Tok::Name(_)) && is(&ahead(input, 1).tok, "=");
    let name = if named {
        let name = ident(input, "a name")?;
        take(input);
        Some(name)
    } else {
        None
    };
    let value = expr(input)?;
    Ok(Arg { name, value })
}

/// A string and the code in it.
fn string<'s>(input: &mut Input<'_, 's>, pieces: Vec<Piece<'s>>, span: Span) -> Res<Expr<'s>> {
    let mut parts = Vec::new();
    for piece in pieces {
        parts.push(match piece {
            Piece::Text(text) => make(span, 1, ExprKind::Text(text))?,
            Piece::Code(tokens) => code(input, &tokens)?,
        });
    }
    match parts.as_slice() {
        [] => make(span, 1, ExprKind::Text(Vec::new())),
        [
            Expr {
                kind: ExprKind::Text(_),
                ..
            },
        ] => Ok(parts.remove(0)),
        _ => {
            let height = parts.iter().map(|p| p.height).max().unwrap_or(0) + 1;
            make(span, height, ExprKind::Join(parts))
        }
    }
}

/// The expression between the braces of a string.
fn code<'s>(input: &mut Input<'_, 's>, tokens: &[Token<'s>]) -> Res<Expr<'s>> {
    let mut inner: Input<'_, 's> = Stateful {
        input: TokenSlice::new(tokens),
        state: input.state.within(tokens),
    };
    let first = next(&inner);
    if first.tok == Tok::End {
        return Err(complain(
            first.span,
            "There is nothing between the braces in this string.",
        )
        .help("A brace that is meant as itself is doubled: {{ and }}."));
    }
    let value = expr(&mut inner)?;
    match next(&inner).tok {
        Tok::End => Ok(value),
        _ => Err(unexpected(&inner)
            .expected(["an operator", "`}`"])
            .help_if(at(&inner, ":").then(|| "To fill up with zeros write {pad(i, 4)}.".into()))),
    }
}
