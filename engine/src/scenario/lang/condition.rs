//! Conditions: a program whose last statement is what has to be true.

use super::ast::{Ident, StmtKind};
use super::codegen::{self, Unit};
use super::diag::{Diagnostic, Lines, Span, complain};
use super::value::Value;
use super::vm::Vm;
use super::{Program, limits, parse, prelude};

/// The variable that holds what a condition came to; no program can name it.
const RESULT: &str = "(the condition)";

/// A value of a program, handed from one to another.
#[derive(Clone, PartialEq, Debug)]
pub struct Given(Value);

/// Compiles a condition. `before`: a program that is run before it, its functions and
/// variables in sight. `given`: names that the condition may use without giving them a
/// value. Lines of what is wrong count from the condition's first one.
pub fn compile_condition(
    before: &str,
    condition: &str,
    given: &[&str],
) -> Result<Program, Vec<Diagnostic>> {
    let text = format!("{before}\n{condition}");
    let lines = Lines::new(&text);
    let own = before.len() + 1;
    let above = before.matches('\n').count() as u32 + 1;
    let placed = |mut found: Vec<Diagnostic>| {
        for d in &mut found {
            d.line = d.line.saturating_sub(above).max(1);
        }
        found
    };
    if text.len() > limits::MAX_SOURCE {
        let words = format!("A condition has at most {} KiB.", limits::MAX_SOURCE >> 10);
        return Err(placed(
            lines.diagnostics(vec![complain(Span::default(), words)]),
        ));
    }
    let (mut block, mut complaints) = parse::parse(&text);
    match block.last_mut() {
        Some(last) if last.span.start as usize >= own => {
            if let StmtKind::Expr(expr) = &last.kind {
                let name = Ident {
                    name: RESULT,
                    span: expr.span,
                };
                last.kind = StmtKind::Assign(name, None, expr.clone());
            } else if complaints.is_empty() {
                let words =
                    "A condition ends with what has to be true, as in content(\"/a\") == NEW.";
                complaints.push(complain(last.span, words));
            }
        }
        _ => {
            let end = Span::new(text.len(), text.len());
            complaints.push(complain(end, "There is no condition."));
        }
    }
    if !complaints.is_empty() {
        return Err(placed(lines.diagnostics(complaints)));
    }
    let main = Unit {
        lines,
        block,
        prelude: false,
        given: given.to_vec(),
    };
    codegen::compile(&main, &prelude::UNIT).map_err(|c| placed(main.lines.diagnostics(c)))
}

impl Vm {
    /// Gives a value to a name that a condition was compiled with.
    pub fn give(&mut self, name: &str, value: &Given) {
        self.set_named(name, value.0.clone());
    }

    /// Gives nothing to a name: it is false, and no number.
    pub fn give_nothing(&mut self, name: &str) {
        self.set_named(name, Value::Nothing);
    }

    /// The program's variables that have a value, by name.
    pub fn globals(&self) -> impl Iterator<Item = (&str, Given)> {
        self.named()
            .map(|(name, value)| (name, Given(value.clone())))
    }

    /// Whether a condition that was run to its end is true; `None`: it did not get there.
    pub fn held(&self) -> Option<bool> {
        let result = self.named().find(|(name, _)| *name == RESULT);
        result.map(|(_, value)| value.truth())
    }
}
