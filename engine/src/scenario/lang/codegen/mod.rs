//! The tree to instructions, and what is wrong with names and calls.

mod calls;
mod expr;
mod scope;
mod stmt;
mod unknown;

use super::ast::{Block, Function, StmtKind};
use super::bytecode::{Code, Op, Place, Program, Slot};
use super::diag::{Complaint, Lines, Span, complain};
use super::limits::MAX_INSTRUCTIONS;
use super::names;
use super::value::Value;
use crate::kernel::Errno;
use scope::Scope;
use std::collections::BTreeMap;
pub(super) use unknown::written;

/// The functions of one text, and where its lines are.
#[derive(Debug)]
pub(super) struct Unit<'s> {
    pub(super) lines: Lines<'s>,
    pub(super) block: Block<'s>,
    pub(super) prelude: bool,
    /// Variables of the program that it gives no value itself.
    pub(super) given: Vec<&'s str>,
}

impl<'s> Unit<'s> {
    pub(super) fn functions(&self) -> impl Iterator<Item = &Function<'s>> {
        self.block.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Function(f) => Some(f),
            _ => None,
        })
    }
}

/// A function that is called: which text it is in, and its tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a, 's> {
    unit: &'a Unit<'s>,
    function: &'a Function<'s>,
}

#[derive(Debug)]
pub(super) struct Compiler<'a, 's> {
    /// The program's own functions, by name.
    own: BTreeMap<&'s str, Known<'a, 's>>,
    /// Those that come with the language.
    prelude: BTreeMap<&'s str, Known<'a, 's>>,
    /// Functions that have a number, by whether they are of the prelude and by name.
    numbers: BTreeMap<(bool, &'s str), u32>,
    /// Those that are still to be compiled.
    wanted: Vec<Known<'a, 's>>,
    /// The program's variables.
    globals: Vec<&'s str>,
    constants: Constants,
    fields: Vec<String>,
    complaints: Vec<Complaint>,
    instructions: usize,
}

#[derive(Debug, Default)]
struct Constants {
    values: Vec<Value>,
    texts: BTreeMap<Vec<u8>, u32>,
    ints: BTreeMap<i64, u32>,
}

impl Constants {
    fn add(&mut self, value: Value) -> u32 {
        self.values.push(value);
        self.values.len() as u32 - 1
    }

    fn text(&mut self, bytes: &[u8]) -> u32 {
        if let Some(n) = self.texts.get(bytes) {
            return *n;
        }
        let n = self.add(Value::text(bytes));
        self.texts.insert(bytes.to_vec(), n);
        n
    }

    fn int(&mut self, value: i64) -> u32 {
        if let Some(n) = self.ints.get(&value) {
            return *n;
        }
        let n = self.add(Value::Int(value));
        self.ints.insert(value, n);
        n
    }

    fn error(&mut self, errno: Errno) -> u32 {
        self.add(Value::Error(errno))
    }
}

/// Instructions of a program, or what is wrong with it.
pub(super) fn compile<'a, 's>(
    main: &'a Unit<'s>,
    prelude: &'a Unit<'s>,
) -> Result<Program, Vec<Complaint>> {
    let mut compiler = Compiler {
        own: BTreeMap::new(),
        prelude: known(prelude).collect(),
        numbers: BTreeMap::new(),
        wanted: Vec::new(),
        globals: Vec::new(),
        constants: Constants::default(),
        fields: Vec::new(),
        complaints: Vec::new(),
        instructions: 0,
    };
    compiler.declare(main);
    let mut functions = vec![compiler.main(main)];
    while functions.len() <= compiler.wanted.len() {
        let next = compiler.wanted[functions.len() - 1];
        functions.push(compiler.function(next));
    }
    if !compiler.complaints.is_empty() {
        return Err(compiler.complaints);
    }
    Ok(Program {
        constants: compiler.constants.values,
        fields: compiler.fields,
        given: used(&main.given, &functions),
        functions,
    })
}

/// Those of the first variables of a program that any of its functions names.
fn used(given: &[&str], functions: &[Code]) -> Vec<String> {
    let mut used = vec![false; given.len()];
    for (nr, code) in functions.iter().enumerate() {
        for op in &code.ops {
            let slot = match *op {
                Op::Load(n) if nr == 0 => n,
                Op::AddInt(n, _) if nr == 0 => n.into(),
                Op::LoadGlobal(n) => n,
                Op::StoreItem(slot) | Op::Push(slot) | Op::TakeLast(slot) | Op::TakeAt(slot) => {
                    match slot {
                        Slot::Local(n) if nr == 0 => n,
                        Slot::Global(n) => n,
                        Slot::Local(_) => continue,
                    }
                }
                _ => continue,
            };
            if let Some(used) = used.get_mut(slot as usize) {
                *used = true;
            }
        }
    }
    let named = given.iter().zip(used);
    named
        .filter(|(_, used)| *used)
        .map(|(n, _)| (*n).to_owned())
        .collect()
}

fn known<'a, 's>(unit: &'a Unit<'s>) -> impl Iterator<Item = (&'s str, Known<'a, 's>)> {
    unit.functions()
        .map(move |function| (function.name.name, Known { unit, function }))
}

impl<'a, 's> Compiler<'a, 's> {
    /// Notes the program's functions; every one is compiled, called or not.
    fn declare(&mut self, unit: &'a Unit<'s>) {
        for (name, known) in known(unit) {
            let span = known.function.name.span;
            if names::signature(name).is_some() || names::constant(name).is_some() {
                let words = format!("`{name}` is there already, as a part of the language.");
                self.complaints
                    .push(complain(span, words).help("Take another name."));
            } else if self.own.insert(name, known).is_some() {
                let words = format!("There is another function `{name}` already.");
                self.complaints.push(complain(span, words));
            } else {
                self.number(known);
            }
        }
    }

    /// The number of a function; one that is called for the first time gets one.
    fn number(&mut self, known: Known<'a, 's>) -> u32 {
        let key = (known.unit.prelude, known.function.name.name);
        if let Some(n) = self.numbers.get(&key) {
            return *n;
        }
        self.wanted.push(known);
        let n = self.wanted.len() as u32;
        self.numbers.insert(key, n);
        n
    }

    fn main(&mut self, unit: &'a Unit<'s>) -> Code {
        let scope = Scope::program(unit, &mut self.complaints);
        self.globals = scope.names();
        let mut body = Body::new(self, unit, scope);
        body.block(&unit.block);
        body.emit(Op::End, Span::default());
        body.finish("", 0)
    }

    fn function(&mut self, known: Known<'a, 's>) -> Code {
        let Known { unit, function } = known;
        let globals = if unit.prelude { &[][..] } else { &self.globals };
        let scope = Scope::function(function, globals, &mut self.complaints);
        let mut body = Body::new(self, unit, scope);
        body.defaults(function);
        body.block(&function.body);
        let nothing = body.compiler.constants.add(Value::Nothing);
        let end = Span {
            start: function.name.span.end,
            end: function.name.span.end,
        };
        body.emit(Op::Constant(nothing), end);
        body.emit(Op::Return, end);
        body.finish(function.name.name, function.params.len() as u32)
    }
}

/// A function in the making.
#[derive(Debug)]
pub(super) struct Body<'c, 'a, 's> {
    compiler: &'c mut Compiler<'a, 's>,
    unit: &'a Unit<'s>,
    scope: Scope<'s>,
    ops: Vec<Op>,
    places: Vec<Place>,
    loops: Vec<Loop>,
}

/// A loop in the making.
#[derive(Debug)]
struct Loop {
    /// Where `continue` goes.
    again: u32,
    /// Jumps of `break`.
    breaks: Vec<usize>,
}

impl<'c, 'a, 's> Body<'c, 'a, 's> {
    fn new(compiler: &'c mut Compiler<'a, 's>, unit: &'a Unit<'s>, scope: Scope<'s>) -> Self {
        Self {
            compiler,
            unit,
            scope,
            ops: Vec::new(),
            places: Vec::new(),
            loops: Vec::new(),
        }
    }

    /// Adds an instruction and gives its number.
    fn emit(&mut self, op: Op, span: Span) -> usize {
        if self.compiler.instructions >= MAX_INSTRUCTIONS {
            if self.compiler.instructions == MAX_INSTRUCTIONS {
                self.compiler.instructions += 1;
                self.complain(complain(span, "The program is too long."));
            }
            return 0;
        }
        self.compiler.instructions += 1;
        let (line, column) = self.unit.lines.place(span.start);
        self.ops.push(op);
        self.places.push(Place { line, column });
        self.ops.len() - 1
    }

    fn here(&self) -> u32 {
        self.ops.len() as u32
    }

    /// Makes a jump lead here.
    fn land(&mut self, jump: usize) {
        let here = self.here();
        use Op::*;
        if let Some(
            Jump(to)
            | JumpIfFalse(to)
            | AndJump(to)
            | OrJump(to)
            | JumpIfSet(_, to)
            | ForRange(_, to)
            | ForList(_, to),
        ) = self.ops.get_mut(jump)
        {
            *to = here;
        }
    }

    fn complain(&mut self, complaint: Complaint) {
        self.compiler.complaints.push(complaint);
    }

    fn finish(self, name: &str, params: u32) -> Code {
        Code {
            name: name.into(),
            prelude: self.unit.prelude,
            params,
            variables: self.scope.finish(),
            ops: self.ops,
            places: self.places,
        }
    }
}
