//! Statements and blocks.

use super::super::ast::{BinOp, Block, Expr, ExprKind, Function, Ident, Param, Stmt, StmtKind};
use super::super::diag::{Span, complain};
use super::super::limits::MAX_PARAMETERS;
use super::super::token::Tok;
use super::{Input, Res, after_newlines, ahead, at, close, eat, expect, expr, hints, ident, is};
use super::{nested, newlines, next, take, unexpected};

/// Operators that change a variable.
const ASSIGN: [(&str, BinOp); 10] = [
    ("+=", BinOp::Add),
    ("-=", BinOp::Sub),
    ("*=", BinOp::Mul),
    ("/=", BinOp::Div),
    ("%=", BinOp::Rem),
    ("|=", BinOp::BitOr),
    ("&=", BinOp::BitAnd),
    ("^=", BinOp::BitXor),
    ("<<=", BinOp::Shl),
    (">>=", BinOp::Shr),
];

pub(super) fn program<'s>(input: &mut Input<'_, 's>) -> Block<'s> {
    let mut block = Vec::new();
    loop {
        statements(input, &mut block);
        if next(input).tok == Tok::End {
            return block;
        }
        let brace = take(input);
        input
            .state
            .complaints
            .push(complain(brace.span, "This `}` closes nothing."));
    }
}

/// Statements up to `}` or the end.
fn statements<'s>(input: &mut Input<'_, 's>, block: &mut Block<'s>) {
    loop {
        while matches!(next(input).tok, Tok::Newline | Tok::Sign(";")) {
            take(input);
        }
        if next(input).tok == Tok::End || at(input, "}") {
            return;
        }
        let start = next(input).span;
        let nesting = input.state.nesting;
        match statement(input).and_then(|kind| finish(input).map(|()| kind)) {
            Ok(kind) => block.push(Stmt {
                span: Span {
                    end: input.state.last.max(start.end),
                    ..start
                },
                kind,
            }),
            Err(complaint) => {
                input.state.complaints.push(complaint);
                input.state.nesting = nesting;
                recover(input, start);
            }
        }
    }
}

/// After a mistake: on to the next statement of this block.
fn recover(input: &mut Input<'_, '_>, start: Span) {
    let mut open = 0u32;
    loop {
        let token = next(input);
        match token.tok {
            Tok::End => return,
            Tok::Newline if open == 0 => return,
            Tok::Sign("}") if open == 0 => {
                // The brace of a block whose head was wrong closes that block.
                if token.span.start == start.start {
                    take(input);
                }
                return;
            }
            Tok::Sign("{") => open += 1,
            Tok::Sign("}") => open -= 1,
            _ => {}
        }
        take(input);
    }
}

/// A statement ends with its line, with `;`, or with its block.
fn finish(input: &mut Input<'_, '_>) -> Res<()> {
    if eat(input, ";").is_some() {
        return Ok(());
    }
    match next(input).tok {
        Tok::Newline | Tok::End | Tok::Sign("}") => Ok(()),
        Tok::Sign(",") => Err(unexpected(input)
            .expected(["the end of the statement"])
            .help("One variable is given a value at a time.")),
        Tok::Sign("{") => Err(unexpected(input).expected(["the end of the statement"])),
        Tok::Sign("=") => Err(unexpected(input)
            .expected(["an operator", "the end of the statement"])
            .help("One variable is given a value at a time; `==` compares.")),
        _ => Err(hints::foreign(input).unwrap_or_else(|| {
            unexpected(input)
                .expected(["an operator", "the end of the statement"])
                .help_if(hints::at(input))
        })),
    }
}

fn statement<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    let first = next(input);
    if let Tok::Keyword(word) = first.tok {
        if is(&ahead(input, 1).tok, "=") {
            let words = format!("`{word}` belongs to the language and cannot be a variable.");
            return Err(complain(first.span, words).help("Take another name."));
        }
        match word {
            "if" => return conditional(input),
            "while" => return repeated(input),
            "for" => return each(input),
            "fn" => return function(input),
            "return" => return returned(input),
            "global" => return global(input),
            "break" | "continue" => return leave(input, word, first.span),
            "pass" => {
                take(input);
                return Ok(StmtKind::Empty);
            }
            "else" => {
                return Err(complain(first.span, "This `else` belongs to no `if`.")
                    .help("It stands right behind the `}` of the `if`, or on the next line."));
            }
            _ => {}
        }
    }
    if let Some(complaint) = hints::foreign(input) {
        return Err(complaint);
    }
    if at(input, "{") {
        return Err(unexpected(input)
            .expected(["a statement"])
            .help("A block belongs to if, else, while, for or fn."));
    }
    simple(input)
}

/// An expression, or a variable that is given a value.
fn simple<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    let target = expr::expr(input)?;
    let op = if at(input, "=") {
        None
    } else {
        let sign = next(input).tok;
        match ASSIGN.iter().find(|(word, _)| is(&sign, word)) {
            Some((_, op)) => Some(*op),
            None => return Ok(StmtKind::Expr(target)),
        }
    };
    let sign = take(input).span;
    newlines(input);
    let value = expr::expr(input)?;
    assigned(target, op, value, sign)
}

fn assigned<'s>(
    target: Expr<'s>,
    op: Option<BinOp>,
    value: Expr<'s>,
    sign: Span,
) -> Res<StmtKind<'s>> {
    let span = target.span;
    match target.kind {
        ExprKind::Name(name) => Ok(StmtKind::Assign(Ident { name, span }, op, value)),
        ExprKind::Index(list, index) => match list.kind {
            ExprKind::Name(name) => {
                let name = Ident {
                    name,
                    span: list.span,
                };
                Ok(StmtKind::AssignItem(name, *index, op, value))
            }
            _ => Err(
                complain(span, "Only an item of a variable can be given a value.")
                    .help("Take the inner list into a variable, change it, put it back."),
            ),
        },
        ExprKind::Field(..) => Err(complain(span, "A field cannot be given a value.")),
        ExprKind::Call(..) => {
            Err(complain(sign, "A call cannot be given a value.").help("`==` compares."))
        }
        _ => Err(complain(sign, "What stands before this is no variable.")
            .expected(["a variable before it"])
            .help("`==` compares.")),
    }
}

/// `{ … }`.
fn block<'s>(input: &mut Input<'_, 's>, of: &str) -> Res<Block<'s>> {
    after_newlines(input, "{");
    let Some(open) = eat(input, "{") else {
        let help = match next(input).tok {
            Tok::Sign(":") => format!("The block of `{of}` stands between {{ and }}, without `:`."),
            Tok::Sign("=") => "`=` gives a variable its value; `==` compares.".into(),
            Tok::Keyword("then") | Tok::Name("then") => "There is no `then`.".into(),
            _ => hints::at(input)
                .unwrap_or_else(|| format!("The block of `{of}` stands between {{ and }}.")),
        };
        return Err(unexpected(input).expected(["`{`"]).help(help));
    };
    nested(input, |input| {
        let mut block = Vec::new();
        statements(input, &mut block);
        if eat(input, "}").is_none() {
            let words = "This `{` is never closed.";
            return Err(complain(open, words).expected(["`}`"]));
        }
        Ok(block)
    })
}

/// What `if` and `while` ask: in brackets or not.
fn condition<'s>(input: &mut Input<'_, 's>, of: &str) -> Res<Expr<'s>> {
    if at(input, "{") {
        return Err(unexpected(input).expected([format!("what `{of}` asks")]));
    }
    let bracket = next(input);
    let asked = expr::expr(input)?;
    if bracket.tok == Tok::Sign("(") && at(input, "=") {
        return Err(unexpected(input).help("`=` gives a variable its value; `==` compares."));
    }
    Ok(asked)
}

fn conditional<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    take(input);
    let asked = condition(input, "if")?;
    let mut arms = vec![(asked, block(input, "if")?)];
    loop {
        if after_newlines(input, "else") {
            take(input);
        } else {
            return Ok(StmtKind::If(arms, None));
        }
        if eat(input, "if").is_none() {
            return Ok(StmtKind::If(arms, Some(block(input, "else")?)));
        }
        let asked = condition(input, "if")?;
        arms.push((asked, block(input, "if")?));
    }
}

fn repeated<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    take(input);
    let asked = condition(input, "while")?;
    Ok(StmtKind::While(asked, loop_body(input, "while")?))
}

fn loop_body<'s>(input: &mut Input<'_, 's>, of: &str) -> Res<Block<'s>> {
    input.state.loops += 1;
    let body = block(input, of);
    input.state.loops -= 1;
    body
}

fn each<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    take(input);
    if at(input, "(") {
        return Err(unexpected(input)
            .expected(["the name of a variable"])
            .help("Write for i in range(n) { … }, or while."));
    }
    let name = ident(input, "the name of a variable")?;
    if eat(input, "in").is_none() {
        return Err(unexpected(input)
            .expected(["`in`"])
            .help("Write for i in range(n) { … }, or for x in list { … }."));
    }
    let over = expr::expr(input)?;
    Ok(StmtKind::For(name, over, loop_body(input, "for")?))
}

fn leave<'s>(input: &mut Input<'_, 's>, word: &str, span: Span) -> Res<StmtKind<'s>> {
    take(input);
    if input.state.loops == 0 {
        return Err(complain(span, format!("`{word}` stands in no loop.")));
    }
    Ok(match word {
        "break" => StmtKind::Break,
        _ => StmtKind::Continue,
    })
}

fn returned<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    let span = take(input).span;
    if !input.state.in_function {
        return Err(
            complain(span, "`return` stands in no function.").help("exit() ends the program.")
        );
    }
    match next(input).tok {
        Tok::Newline | Tok::End | Tok::Sign(";" | "}") => Ok(StmtKind::Return(None)),
        _ => Ok(StmtKind::Return(Some(expr::expr(input)?))),
    }
}

fn global<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    let span = take(input).span;
    if !input.state.in_function {
        return Err(complain(span, "`global` stands in no function.")
            .help("Outside of functions every variable is the program's."));
    }
    let mut names = vec![ident(input, "the name of a variable")?];
    while eat(input, ",").is_some() {
        names.push(ident(input, "the name of a variable")?);
    }
    Ok(StmtKind::Global(names))
}

fn function<'s>(input: &mut Input<'_, 's>) -> Res<StmtKind<'s>> {
    let start = take(input).span;
    if input.state.in_function || input.state.nesting > 0 {
        return Err(complain(start, "A function cannot be made inside a block.")
            .help("Move it to the top of the program."));
    }
    let name = ident(input, "the name of the function")?;
    let open = expect(input, "(")?;
    let mut params = Vec::new();
    while !at(input, ")") {
        params.push(param(input)?);
        if eat(input, ",").is_none() {
            break;
        }
    }
    close(input, open, ")", &["`,`"])?;
    if params.len() > MAX_PARAMETERS {
        let words = format!("A function has at most {MAX_PARAMETERS} parameters.");
        return Err(complain(name.span, words));
    }
    let loops = std::mem::take(&mut input.state.loops);
    input.state.in_function = true;
    let body = block(input, "fn");
    input.state.in_function = false;
    input.state.loops = loops;
    Ok(StmtKind::Function(Function {
        name,
        params,
        body: body?,
    }))
}

fn param<'s>(input: &mut Input<'_, 's>) -> Res<Param<'s>> {
    let name = ident(input, "the name of a parameter")?;
    if matches!(next(input).tok, Tok::Name(_)) {
        let help = format!(
            "Parameters have no types: write {}.",
            name_of(&ahead(input, 0).tok)
        );
        return Err(unexpected(input).expected(["`,`", "`)`"]).help(help));
    }
    let default = match eat(input, "=") {
        Some(_) => Some(expr::expr(input)?),
        None => None,
    };
    Ok(Param { name, default })
}

fn name_of(tok: &Tok<'_>) -> String {
    match tok {
        Tok::Name(name) => (*name).into(),
        _ => "the name".into(),
    }
}
