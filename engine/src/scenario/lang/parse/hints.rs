//! What to say to people who write C or Python.

use super::super::ast::Ident;
use super::super::diag::{Complaint, complain};
use super::super::token::{Tok, Token};
use super::{Input, ahead, is, next};

/// What to do about a word that cannot stand where it does.
pub(super) fn at(input: &Input<'_, '_>) -> Option<String> {
    let words = match next(input).tok {
        Tok::Sign("++") => "Write i += 1 in a statement of its own.",
        Tok::Sign("--") => "Write i -= 1 in a statement of its own.",
        Tok::Sign("=") => "`=` gives a variable its value; `==` compares.",
        Tok::Sign(":=") => "Write `=`.",
        Tok::Sign("->") => "A field is written with a point: s.size.",
        Tok::Sign("**") => "There is no power: write 1 << n for powers of two, or multiply.",
        Tok::Sign("*") => "There are no pointers: comments begin with # or //.",
        Tok::Sign("&") => "There are no pointers: a variable is passed by its name.",
        Tok::Sign(":") => "Blocks stand between { and }; there is no `:` here.",
        Tok::Sign("/") => "Comments begin with # or //, and end with the line.",
        Tok::Newline if ahead(input, 1).tok == Tok::End => return None,
        Tok::Keyword("if") => "There is no `a if b else c`: write if b { … } else { … }.",
        Tok::Keyword("fn") => "A function is made at the top of the program, by its own statement.",
        _ => return None,
    };
    Some(words.into())
}

/// Words that begin a statement in C or Python and mean nothing here.
pub(super) fn foreign(input: &Input<'_, '_>) -> Option<Complaint> {
    let first = next(input);
    let Tok::Name(word) = first.tok else {
        return None;
    };
    let second = ahead(input, 1);
    let help = match word {
        "elif" | "elsif" | "elseif" => "Write `else if`, on the line of the `}` or the next.",
        "def" | "func" | "function" | "void" if is_name(&second) => {
            "A function begins with fn: fn name(a, b) { … }."
        }
        "let" | "var" | "const" | "auto" | "my" | "local" if is_name(&second) => {
            "A variable is there when it has a value: write x = 1."
        }
        _ if is_type(word) && (is_name(&second) || is(&second.tok, "*")) => {
            "Variables have no types: write x = 1."
        }
        "do" if is(&second.tok, "{") => "Write while true { … if not again { break } }.",
        "switch" | "match" | "case" if !is(&second.tok, "=") => "Write if … { } else if … { }.",
        "try" | "except" | "catch" | "with" | "raise" | "throw" if !is(&second.tok, "=") => {
            "A call that fails gives its error as a value: if failed(r) { … }, or must(call)."
        }
        "import" | "from" | "struct" | "class" | "typedef" if is_name(&second) => {
            "All calls are there already; there is nothing to declare or to import."
        }
        "goto" if is_name(&second) => "Use while, break, continue, or a function.",
        "del" if is_name(&second) => "take(list, i) takes an item out of a list.",
        "echo" | "print" | "printf" if matches!(second.tok, Tok::Str(_) | Tok::Name(_)) => {
            "Write print(…)."
        }
        _ => return None,
    };
    Some(complain(first.span, format!("`{word}` means nothing here.")).help(help))
}

fn is_name(token: &Token<'_>) -> bool {
    matches!(token.tok, Tok::Name(_))
}

fn is_type(word: &str) -> bool {
    let known = [
        "int", "long", "short", "char", "unsigned", "signed", "float", "double", "bool", "off_t",
        "size_t", "ssize_t", "string", "String", "str", "auto", "static",
    ];
    let sized = word.ends_with("_t") && (word.starts_with("int") || word.starts_with("uint"));
    known.contains(&word) || sized
}

/// `list.append(x)`, as Python has it.
pub(super) fn method(name: Ident<'_>) -> Complaint {
    let help = match name.name {
        "append" | "push" | "add" => "Write push(list, x), or list += [x].".into(),
        "format" => "Write the variable in the string: \"file-{i}\".".into(),
        "pop" => "Write pop(list).".into(),
        "write" | "read" | "close" | "fsync" => format!("Write {}(fd, …).", name.name),
        other => format!("Write {other}(…) with the value between the brackets."),
    };
    complain(
        name.span,
        "Values have fields, but no functions of their own.",
    )
    .help(help)
}
