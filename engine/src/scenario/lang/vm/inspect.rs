//! What a page shows of a running program.

use super::super::bytecode::{Code, Place};
use super::super::value::Value;
use super::{Active, State, Trap, Vm};

/// A function that is being executed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its name; empty for the program itself.
    pub function: String,
    /// Whether it came with the language: line and column are then of [`super::super::PRELUDE`].
    pub prelude: bool,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Its variables that have a value, by name, as a person would write the values.
    pub variables: Vec<(String, String)>,
}

impl Vm {
    /// The line being executed, from 1, in the program's own text: inside a function that
    /// came with the language, the line that called it.
    pub fn line(&self) -> u32 {
        self.call_site().0
    }

    /// Line and column of what is being executed, in the program's own text.
    pub fn call_site(&self) -> (u32, u32) {
        let own = self.frames.iter().rposition(|f| !self.code(f).prelude);
        let place = own.map_or(Place::default(), |n| self.place(n));
        (place.line, place.column)
    }

    /// Functions being executed, the innermost first, the program itself last.
    pub fn frames(&self) -> Vec<Frame> {
        let frames = self.frames.iter().enumerate().rev();
        frames.map(|(n, active)| self.frame(n, active)).collect()
    }

    /// Variables in sight, by name, as a person would write their values: the function's,
    /// then the program's. Those of a function that came with the language have its name
    /// before them.
    pub fn variables(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        for (n, active) in self.frames.iter().enumerate().rev() {
            let code = self.code(active);
            let named = self.values(active);
            if code.prelude {
                all.extend(named.map(|(name, v)| (format!("{}.{name}", code.name), v.shown())));
                continue;
            }
            all.extend(named.map(|(name, v)| (name.to_string(), v.shown())));
            if n > 0
                && let Some(program) = self.frames.first()
            {
                let globals = self
                    .values(program)
                    .map(|(n, v)| (n.to_string(), v.shown()));
                let hidden = |name: &str| self.code(active).variables.iter().any(|v| v == name);
                all.extend(globals.filter(|(name, _)| !hidden(name)));
            }
            break;
        }
        all
    }

    fn code(&self, active: &Active) -> &Code {
        static EMPTY: Code = Code {
            name: String::new(),
            prelude: false,
            params: 0,
            variables: Vec::new(),
            ops: Vec::new(),
            places: Vec::new(),
        };
        self.program
            .functions
            .get(active.function as usize)
            .unwrap_or(&EMPTY)
    }

    fn frame(&self, n: usize, active: &Active) -> Frame {
        let code = self.code(active);
        let place = self.place(n);
        let variables = self
            .values(active)
            .map(|(name, v)| (name.to_string(), v.shown()));
        Frame {
            function: code.name.clone(),
            prelude: code.prelude,
            line: place.line,
            column: place.column,
            variables: variables.collect(),
        }
    }

    /// Where the `n`th frame is: at the instruction that waits for an answer, for a
    /// function, or that failed; else at the one that is next.
    fn place(&self, n: usize) -> Place {
        let active = &self.frames[n];
        let innermost = n + 1 == self.frames.len();
        let back = u32::from(!innermost || !matches!(self.state, State::Ready));
        let at = active.next.saturating_sub(back) as usize;
        let places = &self.code(active).places;
        places
            .get(at)
            .or(places.last())
            .copied()
            .unwrap_or_default()
    }

    /// The program's variables that have a value.
    pub(in super::super) fn named(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.frames.first().into_iter().flat_map(|f| self.values(f))
    }

    /// Gives a value to a variable of the program, if there is one of that name.
    pub(in super::super) fn set_named(&mut self, name: &str, value: Value) {
        let Some(first) = self.frames.first() else {
            return;
        };
        let base = first.base as usize;
        let slot = self.code(first).variables.iter().position(|v| v == name);
        if let Some(slot) = slot {
            self.set(base + slot, value);
        }
    }

    fn values<'a>(&'a self, active: &Active) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let values = self.stack.get(active.base as usize..).unwrap_or(&[]);
        let named = self
            .code(active)
            .variables
            .iter()
            .map(String::as_str)
            .zip(values);
        named.filter(|(name, value)| !name.is_empty() && **value != Value::Unset)
    }

    /// What to say of a variable that has no value yet.
    pub(super) fn unset(&self, functions: &[Code], active: Active, n: u32) -> Trap {
        let code = functions.get(active.function as usize);
        let name = code
            .and_then(|c| c.variables.get(n as usize))
            .map_or("", |v| v);
        let program = functions.first().filter(|_| active.function != 0);
        let both = program.is_some_and(|p| p.variables.iter().any(|v| v == name));
        match both {
            true => format!(
                "`{name}` has no value yet in this function. To use the program's, write global {name}."
            ),
            false => format!("`{name}` has no value yet."),
        }
    }
}
