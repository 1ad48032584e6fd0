//! A compiled program.

use super::ast::{BinOp, UnOp};
use super::names::{Builtin, Sys};
use super::value::Value;

/// One instruction of a stack machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Op {
    /// Puts a constant on the stack.
    Constant(u32),
    Int(i32),
    /// Puts the mark of a parameter that was left out.
    Unset,
    Pop,
    /// The function's variable.
    Load(u32),
    Store(u32),
    /// The program's variable.
    LoadGlobal(u32),
    StoreGlobal(u32),
    /// Goes on at the target if a parameter was given.
    JumpIfSet(u16, u32),
    Jump(u32),
    JumpIfFalse(u32),
    /// `and`: leaves false on the stack and jumps, or takes the value away.
    AndJump(u32),
    OrJump(u32),
    /// Makes the value true or false.
    Truth,
    Unary(UnOp),
    Binary(BinOp),
    /// The function's variable and a small number.
    AddInt(u16, i32),
    /// Strings of so many values put together.
    Join(u32),
    List(u32),
    Index,
    Field(u32),
    /// `variable[index] = value`: both on the stack.
    StoreItem(Slot),
    /// Puts an item at the end of the list in a variable.
    Push(Slot),
    /// Takes an item, the last or the one whose number is on the stack.
    TakeLast(Slot),
    TakeAt(Slot),
    /// The next number of a range in three slots, or on at the target.
    ForRange(u16, u32),
    /// Checks the three slots of a range.
    StartRange(u16),
    /// The next item of the list in a slot, its number in the next slot.
    ForList(u16, u32),
    StartList(u16),
    /// A function of the program; its arguments are on the stack.
    Invoke(u32),
    Return,
    Builtin(Builtin, u16),
    /// A call of the kernel, so many arguments.
    Call(Sys, u16),
    /// The program's end.
    End,
}

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    Local(u32),
    Global(u32),
}

/// Where an instruction comes from, both from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Code {
    pub(super) name: String,
    /// Whether it is one of the functions that come with the language.
    pub(super) prelude: bool,
    pub(super) params: u32,
    /// The names of its variables; hidden ones have none.
    pub(super) variables: Vec<String>,
    pub(super) ops: Vec<Op>,
    /// As many as `ops`.
    pub(super) places: Vec<Place>,
}

/// A compiled program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {
    /// The first is the program itself.
    pub(super) functions: Vec<Code>,
    pub(super) constants: Vec<Value>,
    pub(super) fields: Vec<String>,
    /// Variables of the program that are given their values from outside.
    pub(super) given: Vec<String>,
}

impl Program {
    /// The program's own variables, by name; those of its functions are not among them.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let all = self.functions.first().into_iter();
        all.flat_map(|f| &f.variables)
            .map(String::as_str)
            .filter(|name| !name.is_empty())
    }

    /// Variables that are given their values from outside, by name.
    pub fn given(&self) -> &[String] {
        &self.given
    }
}
