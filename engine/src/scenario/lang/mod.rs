//! The workload language.

use super::{Answer, Call};
use std::sync::Arc;

/// A compiled program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Program {}

/// A running program: plain data, cloned with the machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Vm {
    program: Arc<Program>,
}

/// Why a program stopped for now.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// It makes a call and waits for [`Vm::answer`].
    Call(Call),
    /// It has something to say: `print`.
    Print(String),
    /// It is at its end.
    Done,
    /// It cannot go on.
    Failed(RuntimeError),
    /// It has used up its instructions: [`Vm::step`] goes on.
    OutOfFuel,
}

/// Why a program cannot go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RuntimeError {
    /// Line in the program, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// A sentence.
    pub words: String,
}

impl Vm {
    /// A program at its beginning. `seed`: where its random numbers come from.
    pub fn new(program: Arc<Program>, _seed: u64) -> Self {
        Self { program }
    }

    /// Runs until it makes a call, ends, or has used `fuel` instructions.
    pub fn step(&mut self, _fuel: &mut u64) -> Step {
        Step::Done
    }

    /// Tells it the time.
    pub fn set_now(&mut self, _now: crate::units::SimTime) {}

    /// Gives it the answer to the call it made.
    pub fn answer(&mut self, _answer: &Answer) {}

    /// The line being executed, from 1, in its text.
    pub fn line(&self) -> u32 {
        0
    }

    /// Variables in sight, by name, as a person would write their values.
    pub fn variables(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

/// What is wrong with a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Characters.
    pub len: u32,
    /// A sentence.
    pub words: String,
    /// What could stand there.
    pub expected: Vec<String>,
    /// What to do.
    pub help: Option<String>,
}

/// Compiles a program.
pub fn compile(_source: &str) -> Result<Program, Vec<Diagnostic>> {
    Ok(Program::default())
}
