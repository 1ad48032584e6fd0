//! A running program: plain data that is cloned with the machine.

mod arith;
mod builtin;
mod compare;
mod inspect;
mod lists;
mod memory;
mod random;
mod reply;
mod sys;
#[cfg(test)]
mod tests;

use super::super::{Answer, Call};
use super::bytecode::{Op, Program, Slot};
use super::diag::marked;
use super::limits::{MAX_CALL_DEPTH, MAX_STACK};
use super::value::Value;
use crate::units::SimTime;
pub use inspect::Frame;
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;

/// A running program: plain data, cloned with the machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Vm {
    program: Arc<Program>,
    stack: Vec<Value>,
    /// Functions that are being executed, the innermost last; the first is the program.
    frames: Vec<Active>,
    state: State,
    random: Pcg64Mcg,
    /// Where the next generated data comes from.
    data: u64,
    now: SimTime,
    /// Bytes of values made since memory was last measured.
    made: u64,
}

/// A function that is being executed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Active {
    function: u32,
    /// The next instruction.
    next: u32,
    /// Its first variable on the stack.
    base: u32,
}

#[derive(Clone, PartialEq, Debug)]
enum State {
    Ready,
    Waiting(Call),
    Done,
    Failed(RuntimeError),
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

impl RuntimeError {
    /// As a person sees it: the sentence with its place, and the line with the place marked.
    pub fn shown(&self, source: &str) -> String {
        let mark = marked(source, self.line, self.column, 1);
        format!("{self}\n{mark}")
    }
}

impl std::fmt::Display for RuntimeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.words
        )
    }
}

/// Why an instruction cannot be executed: a sentence.
type Trap = String;

/// What comes after an instruction.
enum Flow {
    /// The next one.
    On,
    Stop(Step),
}

impl Vm {
    /// A program at its beginning. `seed`: where its random numbers come from.
    pub fn new(program: Arc<Program>, seed: u64) -> Self {
        let variables = program.functions.first().map_or(0, |f| f.variables.len());
        Self {
            state: match program.functions.is_empty() {
                true => State::Done,
                false => State::Ready,
            },
            program,
            stack: vec![Value::Unset; variables],
            frames: vec![Active {
                function: 0,
                next: 0,
                base: 0,
            }],
            random: random::generator(seed),
            data: random::mixed(seed),
            now: SimTime(0),
            made: 0,
        }
    }

    /// Tells it the time.
    pub fn set_now(&mut self, now: SimTime) {
        self.now = now;
    }

    /// Gives it the answer to the call it made.
    pub fn answer(&mut self, answer: &Answer) {
        if !matches!(self.state, State::Waiting(_)) {
            return;
        }
        match reply::value(answer) {
            Ok(value) => {
                self.made += value.weight();
                self.stack.push(value);
                self.state = State::Ready;
            }
            Err(words) => self.fail(words),
        }
    }

    /// The call that it waits for.
    pub fn waiting(&self) -> Option<&Call> {
        match &self.state {
            State::Waiting(call) => Some(call),
            _ => None,
        }
    }

    /// Whether it is at its end, or cannot go on.
    pub fn ended(&self) -> bool {
        matches!(self.state, State::Done | State::Failed(_))
    }

    /// Runs until it makes a call, prints, ends, or has used `fuel` instructions, which are
    /// taken off. What works on much at once counts as several.
    pub fn step(&mut self, fuel: &mut u64) -> Step {
        match &self.state {
            State::Ready => {}
            State::Waiting(call) => return Step::Call(call.clone()),
            State::Done => return Step::Done,
            State::Failed(error) => return Step::Failed(error.clone()),
        }
        let program = Arc::clone(&self.program);
        match self.run(&program, fuel) {
            Ok(step) => {
                match &step {
                    Step::Call(call) => self.state = State::Waiting(call.clone()),
                    Step::Done => self.state = State::Done,
                    _ => {}
                }
                step
            }
            Err(words) => {
                self.fail(words);
                match &self.state {
                    State::Failed(error) => Step::Failed(error.clone()),
                    _ => Step::Done,
                }
            }
        }
    }

    fn fail(&mut self, words: Trap) {
        // The place of the instruction that is being executed: the last one taken, which is
        // what a program that does not go on is asked for.
        self.state = State::Done;
        let (line, column) = self.call_site();
        self.state = State::Failed(RuntimeError {
            line,
            column,
            words,
        });
    }

    fn run(&mut self, program: &Program, fuel: &mut u64) -> Result<Step, Trap> {
        loop {
            let Some(frame) = self.frames.last().copied() else {
                return Ok(Step::Done);
            };
            let Some(code) = program.functions.get(frame.function as usize) else {
                return Ok(Step::Done);
            };
            match self.run_function(program, &code.ops, frame, fuel)? {
                Flow::On => {}
                Flow::Stop(step) => return Ok(step),
            }
        }
    }

    /// Executes instructions of one function until another one goes on.
    fn run_function(
        &mut self,
        program: &Program,
        ops: &[Op],
        frame: Active,
        fuel: &mut u64,
    ) -> Result<Flow, Trap> {
        let base = frame.base as usize;
        let mut next = frame.next as usize;
        macro_rules! sync {
            () => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.next = next as u32;
                }
            };
        }
        macro_rules! attempt {
            ($result:expr) => {
                match $result {
                    Ok(value) => value,
                    Err(words) => {
                        sync!();
                        return Err(words.into());
                    }
                }
            };
        }
        loop {
            if *fuel == 0 {
                sync!();
                return Ok(Flow::Stop(Step::OutOfFuel));
            }
            *fuel -= 1;
            let Some(op) = ops.get(next) else {
                return Ok(Flow::Stop(Step::Done));
            };
            next += 1;
            match *op {
                Op::Constant(n) => {
                    let value = program.constants.get(n as usize).cloned();
                    self.stack.push(value.unwrap_or(Value::Nothing));
                }
                Op::Int(n) => self.stack.push(Value::Int(n.into())),
                Op::Unset => self.stack.push(Value::Unset),
                Op::Pop => drop(self.stack.pop()),
                Op::Load(n) => {
                    let value = self
                        .stack
                        .get(base + n as usize)
                        .cloned()
                        .unwrap_or_default();
                    if value == Value::Unset {
                        let words = self.unset(&program.functions, frame, n);
                        attempt!(Err::<(), _>(words));
                    }
                    self.stack.push(value);
                }
                Op::Store(n) => {
                    let value = self.pop();
                    self.set(base + n as usize, value);
                }
                Op::LoadGlobal(n) => {
                    let value = self.stack.get(n as usize).cloned().unwrap_or_default();
                    if value == Value::Unset {
                        let words = self.unset(&program.functions, self.frames[0], n);
                        attempt!(Err::<(), _>(words));
                    }
                    self.stack.push(value);
                }
                Op::StoreGlobal(n) => {
                    let value = self.pop();
                    self.set(n as usize, value);
                }
                Op::JumpIfSet(slot, to) => {
                    if self.stack.get(base + usize::from(slot)) != Some(&Value::Unset) {
                        next = to as usize;
                    }
                }
                Op::Jump(to) => next = to as usize,
                Op::JumpIfFalse(to) => {
                    if !self.pop().truth() {
                        next = to as usize;
                    }
                }
                Op::AndJump(to) => {
                    if !self.pop().truth() {
                        self.stack.push(Value::Bool(false));
                        next = to as usize;
                    }
                }
                Op::OrJump(to) => {
                    if self.pop().truth() {
                        self.stack.push(Value::Bool(true));
                        next = to as usize;
                    }
                }
                Op::Truth => {
                    let truth = self.pop().truth();
                    self.stack.push(Value::Bool(truth));
                }
                Op::AddInt(slot, by) => match self.stack.get_mut(base + usize::from(slot)) {
                    Some(Value::Int(n)) => {
                        *n = attempt!(n.checked_add(by.into()).ok_or(arith::OVERFLOW));
                    }
                    Some(Value::Unset) => {
                        let words = self.unset(&program.functions, frame, slot.into());
                        attempt!(Err::<(), _>(words));
                    }
                    Some(other) => attempt!(arith::add_int(other, by.into())),
                    None => {}
                },
                Op::Binary(op) => {
                    let right = self.pop();
                    let left = self.pop();
                    let value = match arith::quick(op, &left, &right) {
                        Some(value) => value,
                        None => attempt!(self.binary(op, left, right, fuel)),
                    };
                    self.stack.push(value);
                }
                Op::ForRange(slot, to) => {
                    match attempt!(self.next_of_range(base + usize::from(slot))) {
                        Some(n) => self.stack.push(Value::Int(n)),
                        None => next = to as usize,
                    }
                }
                Op::ForList(slot, to) => match self.next_of_list(base + usize::from(slot)) {
                    Some(value) => self.stack.push(value),
                    None => next = to as usize,
                },
                Op::Invoke(n) => {
                    sync!();
                    self.invoke(program, n)?;
                    return Ok(Flow::On);
                }
                Op::Return => {
                    let value = self.pop();
                    self.stack.truncate(base);
                    self.stack.push(value);
                    self.frames.pop();
                    return Ok(Flow::On);
                }
                Op::End => {
                    sync!();
                    return Ok(Flow::Stop(Step::Done));
                }
                other => {
                    sync!();
                    if let Flow::Stop(step) = self.rare(program, base, other, fuel)? {
                        return Ok(Flow::Stop(step));
                    }
                }
            }
        }
    }

    /// Instructions that are seldom, or take their time anyway.
    fn rare(
        &mut self,
        program: &Program,
        base: usize,
        op: Op,
        fuel: &mut u64,
    ) -> Result<Flow, Trap> {
        match op {
            Op::Unary(op) => {
                let value = self.pop();
                self.stack.push(arith::unary(op, &value)?);
            }
            Op::Join(n) => self.join(n as usize, fuel)?,
            Op::List(n) => self.list(n as usize, fuel)?,
            Op::Index => self.index()?,
            Op::Field(n) => self.field(program.fields.get(n as usize).map_or("", |f| f))?,
            Op::StoreItem(slot) => self.store_item(place(base, slot))?,
            Op::Push(slot) => self.push_item(place(base, slot))?,
            Op::TakeLast(slot) => self.take_item(place(base, slot), None, fuel)?,
            Op::TakeAt(slot) => {
                let index = self.pop();
                self.take_item(place(base, slot), Some(index), fuel)?;
            }
            Op::StartRange(slot) => self.start_range(base + usize::from(slot))?,
            Op::StartList(slot) => self.start_list(base + usize::from(slot))?,
            Op::Builtin(builtin, n) => {
                let args = self.pop_many(n.into());
                return self.builtin(builtin, args, fuel);
            }
            Op::Call(sys, n) => {
                let args = self.pop_many(n.into());
                let call = self.call(sys, &args)?;
                return Ok(Flow::Stop(Step::Call(call)));
            }
            _ => {}
        }
        Ok(Flow::On)
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().unwrap_or(Value::Nothing)
    }

    /// The last values, in their order.
    fn pop_many(&mut self, n: usize) -> Vec<Value> {
        self.stack.split_off(self.stack.len().saturating_sub(n))
    }

    fn set(&mut self, at: usize, value: Value) {
        if let Some(slot) = self.stack.get_mut(at) {
            *slot = value;
        }
    }

    fn invoke(&mut self, program: &Program, n: u32) -> Result<(), Trap> {
        if self.frames.len() > MAX_CALL_DEPTH {
            let name = program.functions.get(n as usize).map_or("", |f| &f.name);
            return Err(format!(
                "More than {MAX_CALL_DEPTH} functions wait for one another. Does {name} call itself without an end?"
            ));
        }
        let Some(code) = program.functions.get(n as usize) else {
            return Ok(());
        };
        let base = self.stack.len().saturating_sub(code.params as usize);
        let top = base + code.variables.len();
        if top > MAX_STACK {
            return Err(format!("More than {MAX_STACK} values are in use."));
        }
        self.stack.resize(top, Value::Unset);
        self.frames.push(Active {
            function: n,
            next: 0,
            base: base as u32,
        });
        Ok(())
    }
}

fn place(base: usize, slot: Slot) -> usize {
    match slot {
        Slot::Local(n) => base + n as usize,
        Slot::Global(n) => n as usize,
    }
}
