//! Lists, indexing, fields, and loops over lists and ranges.

use super::super::limits::MAX_LIST;
use super::super::value::{List, Value};
use super::memory::CHANGE_BYTES;
use super::{Trap, Vm, arith};
use std::sync::Arc;

pub(super) fn too_long() -> Trap {
    format!("A list has at most {MAX_LIST} items.")
}

/// The place of an item: from the end where it is negative.
fn position(index: &Value, len: usize) -> Result<usize, Trap> {
    let Some(n) = arith::int(index) else {
        return Err(format!(
            "An item's place is a number, not {}.",
            index.kind()
        ));
    };
    let from_end = usize::try_from(n.unsigned_abs())
        .ok()
        .and_then(|n| len.checked_sub(n));
    let at = if n < 0 {
        from_end
    } else {
        usize::try_from(n).ok()
    };
    at.filter(|at| *at < len).ok_or_else(|| match len {
        0 => format!("There is no item {n}: there are none at all."),
        _ => format!("There is no item {n}: they go from 0 to {}.", len - 1),
    })
}

impl Vm {
    /// A list of the last values.
    pub(super) fn list(&mut self, n: usize, fuel: &mut u64) -> Result<(), Trap> {
        if n > MAX_LIST {
            return Err(too_long());
        }
        *fuel = fuel.saturating_sub(n as u64 / 8);
        let items = self.pop_many(n).into_iter().collect();
        let list = self.charge(Value::List(Arc::new(List::new(items)?)))?;
        self.stack.push(list);
        Ok(())
    }

    pub(super) fn index(&mut self) -> Result<(), Trap> {
        let index = self.pop();
        let value = match self.pop() {
            Value::List(list) => list.items.get(position(&index, list.items.len())?).cloned(),
            Value::Text(text) => {
                let byte = text.get(position(&index, text.len())?).copied();
                byte.map(|b| Value::Int(b.into()))
            }
            Value::Error(e) => return Err(format!("A call failed ({e}), and gave no list.")),
            other => {
                return Err(format!(
                    "Only lists and strings have items, not {}.",
                    other.kind()
                ));
            }
        };
        self.stack.push(value.unwrap_or(Value::Nothing));
        Ok(())
    }

    pub(super) fn field(&mut self, name: &str) -> Result<(), Trap> {
        let value = match self.pop() {
            Value::Record(record) => record.get(name).cloned().ok_or_else(|| {
                let known: Vec<_> = record.fields.iter().map(|(n, _)| *n).collect();
                format!(
                    "There is no field {name} here; there are {}.",
                    known.join(", ")
                )
            })?,
            Value::Error(e) if name == "errno" => Value::Int(e.number().into()),
            Value::Error(e) => {
                return Err(format!("A call failed ({e}), and gave no field {name}."));
            }
            other => return Err(format!("There is no field {name} in {}.", other.kind())),
        };
        self.stack.push(value);
        Ok(())
    }

    /// The list in a variable, to be changed.
    fn list_at(&mut self, at: usize) -> Result<&mut List, Trap> {
        match self.stack.get_mut(at) {
            Some(Value::List(list)) => Ok(Arc::make_mut(list)),
            Some(Value::Unset) | None => {
                Err("The variable has no value yet; [] is an empty list.".into())
            }
            Some(other) => Err(format!("The variable holds {}, not a list.", other.kind())),
        }
    }

    pub(super) fn store_item(&mut self, at: usize) -> Result<(), Trap> {
        let index = self.pop();
        let value = self.pop();
        let list = self.list_at(at)?;
        let n = position(&index, list.items.len())?;
        list.admit(&value)?;
        list.items.set(n, value);
        self.grow(CHANGE_BYTES)
    }

    pub(super) fn push_item(&mut self, at: usize) -> Result<(), Trap> {
        let value = self.pop();
        let list = self.list_at(at)?;
        if list.items.len() >= MAX_LIST {
            return Err(too_long());
        }
        list.admit(&value)?;
        list.items.push(value);
        self.grow(CHANGE_BYTES)?;
        self.stack.push(Value::Nothing);
        Ok(())
    }

    pub(super) fn take_item(
        &mut self,
        at: usize,
        index: Option<Value>,
        fuel: &mut u64,
    ) -> Result<(), Trap> {
        let list = self.list_at(at)?;
        let n = position(&index.unwrap_or(Value::Int(-1)), list.items.len())?;
        // Those behind it move up.
        *fuel = fuel.saturating_sub((list.items.len() - n) as u64);
        let item = list.items.remove(n);
        self.stack.push(item.unwrap_or_default());
        Ok(())
    }

    pub(super) fn start_range(&mut self, at: usize) -> Result<(), Trap> {
        for n in at..at + 3 {
            match self.stack.get(n) {
                Some(value) if arith::int(value).is_none() => {
                    return Err(format!(
                        "range counts with numbers, not with {}.",
                        value.kind()
                    ));
                }
                Some(value) if n == at + 2 && arith::int(value) == Some(0) => {
                    return Err("A range with a step of 0 has no end.".into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The next number of a range: next, end and step lie in a row.
    #[inline]
    pub(super) fn next_of_range(&mut self, at: usize) -> Result<Option<i64>, Trap> {
        let Some([next, end, step]) = self.stack.get_mut(at..at + 3) else {
            return Ok(None);
        };
        let (Some(n), Some(end), Some(by)) = (arith::int(next), arith::int(end), arith::int(step))
        else {
            return Ok(None);
        };
        if if by > 0 { n >= end } else { n <= end } {
            return Ok(None);
        }
        // Past the largest number there is no next one: the end is reached.
        *next = Value::Int(n.checked_add(by).unwrap_or(end));
        Ok(Some(n))
    }

    pub(super) fn start_list(&mut self, at: usize) -> Result<(), Trap> {
        match self.stack.get(at) {
            Some(Value::List(_)) => {
                self.set(at + 1, Value::Int(0));
                Ok(())
            }
            Some(Value::Error(e)) => Err(format!("A call failed ({e}), and gave no list.")),
            Some(Value::Int(n)) => Err(format!(
                "`for` goes through a list, not a number: write range({n})."
            )),
            other => {
                let kind = other.map_or("nothing".into(), Value::kind);
                Err(format!("`for` goes through a list, not through {kind}."))
            }
        }
    }

    pub(super) fn next_of_list(&mut self, at: usize) -> Option<Value> {
        let [Value::List(list), Value::Int(n)] = self.stack.get_mut(at..at + 2)? else {
            return None;
        };
        let item = list.items.get(usize::try_from(*n).ok()?)?.clone();
        *n += 1;
        Some(item)
    }
}
