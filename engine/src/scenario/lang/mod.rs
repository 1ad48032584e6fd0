//! The workload language: a program's text becomes a [`Program`], a [`Vm`] runs it and
//! stops at every call.
//!
//! Text becomes words (`lex`), words a tree (`parse`, with winnow), the tree instructions
//! (`codegen`) of a stack machine (`vm`). The generators that come with the language
//! are written in it (`prelude.fsl`). `engine/docs/language.md` is for those who write
//! programs.

mod ast;
mod bytecode;
mod codegen;
mod complete;
mod condition;
mod diag;
mod highlight;
mod items;
mod lex;
pub mod limits;
mod names;
mod number;
mod parse;
mod prelude;
mod text;
mod token;
mod value;
mod vm;

pub use bytecode::Program;
pub use complete::{Completions, Item, ItemKind, complete};
pub use condition::{Given, compile_condition};
pub use diag::{Diagnostic, marked};
pub use highlight::{Class, Span, highlight};
pub use prelude::PRELUDE;
pub use vm::{Frame, RuntimeError, Step, Vm};

use codegen::Unit;
use diag::{Lines, complain};

/// Compiles a program, or tells what is wrong with it: every mistake that can be told
/// apart, in the order of the text.
pub fn compile(source: &str) -> Result<Program, Vec<Diagnostic>> {
    let lines = Lines::new(source);
    if source.len() > limits::MAX_SOURCE {
        let words = format!("A program has at most {} KiB.", limits::MAX_SOURCE >> 10);
        return Err(lines.diagnostics(vec![complain(diag::Span::default(), words)]));
    }
    let (block, complaints) = parse::parse(source);
    if !complaints.is_empty() {
        return Err(lines.diagnostics(complaints));
    }
    let main = Unit {
        lines,
        block,
        prelude: false,
        given: Vec::new(),
    };
    codegen::compile(&main, &prelude::UNIT).map_err(|c| main.lines.diagnostics(c))
}

/// Texts that are programs, nearly so, or not at all.
#[cfg(test)]
fn any_text() -> impl proptest::strategy::Strategy<Value = String> {
    use proptest::prelude::*;
    let words = prop::sample::select(vec![
        "if ",
        "else",
        "while ",
        "for ",
        " in ",
        "fn ",
        "return ",
        "global ",
        "and ",
        "not ",
        "x",
        "y",
        "f(",
        "open(",
        "range(",
        "print(",
        "\"",
        "'",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ",",
        ";",
        "\n",
        "\n\n",
        " ",
        "=",
        "==",
        "+=",
        "+",
        "-",
        "*",
        "/",
        "%",
        "<<",
        "!",
        ".",
        ".size",
        "#",
        "//",
        "\\",
        "\\u{e9}",
        "\\x4",
        "1",
        "0x",
        "08",
        "4k",
        "5ms",
        "9223372036854775807",
        "é",
        "\u{2003}",
        "O_CREAT",
        "EIO",
        "{x}",
        "$",
        "\r",
        "\t",
    ]);
    let made = prop::collection::vec(words, 0..60).prop_map(|w| w.concat());
    let spoilt = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        any::<Option<char>>(),
    )
        .prop_map(|(from, len, put)| {
            let from = PRELUDE.floor_char_boundary(from.index(PRELUDE.len()));
            let end = PRELUDE.floor_char_boundary((from + len.index(400)).min(PRELUDE.len()));
            let middle = PRELUDE.floor_char_boundary(from + (end - from) / 2);
            let mut text = PRELUDE[from..middle].to_string();
            text.extend(put);
            text + PRELUDE.get(middle + 1..end).unwrap_or("")
        });
    prop_oneof![3 => made, 1 => any::<String>(), 2 => spoilt]
}
