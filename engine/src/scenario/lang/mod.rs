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
mod condition;
mod diag;
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
pub use condition::{Given, compile_condition};
pub use diag::Diagnostic;
pub use prelude::PRELUDE;
pub use vm::{Frame, RuntimeError, Step, Vm};

use codegen::Unit;
use diag::{Lines, Span, complain};

/// Compiles a program, or tells what is wrong with it: every mistake that can be told
/// apart, in the order of the text.
pub fn compile(source: &str) -> Result<Program, Vec<Diagnostic>> {
    let lines = Lines::new(source);
    if source.len() > limits::MAX_SOURCE {
        let words = format!("A program has at most {} KiB.", limits::MAX_SOURCE >> 10);
        return Err(lines.diagnostics(vec![complain(Span::default(), words)]));
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
