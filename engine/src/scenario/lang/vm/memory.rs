//! How much a program's values take. Values share what they have in common, so nobody
//! counts as they come and go; what is made is added up, and now and then everything that
//! is still there is counted.

use super::super::limits::MAX_MEMORY;
use super::super::value::Value;
use super::{Trap, Vm};

/// After so many bytes made, what is there is counted.
const MEASURE_AFTER: u64 = 1 << 20;

/// What a list's tree takes anew, at most, where a copy of the list is changed: some
/// nodes of 64 items, bytes.
pub(super) const PATH_BYTES: u64 = 8 << 10;
/// What making them, and counting now and then, is worth in instructions.
pub(super) const PATH_FUEL: u64 = 32;
/// What one item that is put into a list counts for: it may be the list's first change
/// since it was copied. Whether it is depends on who else holds it, copies of the machine
/// among them, and may not be asked.
pub(super) const CHANGE_BYTES: u64 = 256;

impl Vm {
    /// Counts a value that was made.
    pub(super) fn charge(&mut self, value: Value) -> Result<Value, Trap> {
        self.grow(value.weight())?;
        // What is not on the stack yet is not seen there.
        if value.weight() > MAX_MEMORY {
            return Err(full());
        }
        Ok(value)
    }

    pub(super) fn grow(&mut self, by: u64) -> Result<(), Trap> {
        self.made = self.made.saturating_add(by);
        if self.made < MEASURE_AFTER {
            return Ok(());
        }
        let made = std::mem::replace(&mut self.made, 0);
        match self.memory().saturating_add(by) > MAX_MEMORY {
            true => {
                self.made = made;
                Err(full())
            }
            false => Ok(()),
        }
    }

    /// Bytes of everything that is there. What is shared counts as often as it is held;
    /// counting ends beyond the limit.
    pub fn memory(&self) -> u64 {
        let mut sum = 0;
        for value in &self.stack {
            count(value, &mut sum);
        }
        sum
    }
}

pub(super) fn full() -> Trap {
    format!(
        "The program's values take more than {} MiB.",
        MAX_MEMORY >> 20
    )
}

fn count(value: &Value, sum: &mut u64) {
    *sum = sum.saturating_add(value.weight() + size_of::<Value>() as u64);
    if let Value::List(list) = value {
        for item in list.items.iter() {
            if *sum > MAX_MEMORY {
                return;
            }
            count(item, sum);
        }
    }
}
