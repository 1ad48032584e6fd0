//! Operators.

use super::super::ast::{BinOp, UnOp};
use super::super::limits::{MAX_LIST, MAX_MEMORY, MAX_STRING};
use super::super::value::{List, Value};
use super::memory::{self, PATH_BYTES, PATH_FUEL};
use super::{Trap, Vm, compare};
use std::sync::Arc;

pub(super) const OVERFLOW: &str =
    "The result is too large: numbers go up to 9223372036854775807, and down as far.";

/// Two numbers, where nothing can go wrong.
#[inline(always)]
pub(super) fn quick(op: BinOp, left: &Value, right: &Value) -> Option<Value> {
    let (Value::Int(l), Value::Int(r)) = (left, right) else {
        return None;
    };
    Some(match op {
        BinOp::Add => Value::Int(l.checked_add(*r)?),
        BinOp::Sub => Value::Int(l.checked_sub(*r)?),
        BinOp::Mul => Value::Int(l.checked_mul(*r)?),
        BinOp::Eq => Value::Bool(l == r),
        BinOp::Ne => Value::Bool(l != r),
        BinOp::Lt => Value::Bool(l < r),
        BinOp::Le => Value::Bool(l <= r),
        BinOp::Gt => Value::Bool(l > r),
        BinOp::Ge => Value::Bool(l >= r),
        _ => return None,
    })
}

/// A value as a number: true is 1.
pub(super) fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(n) => Some(*n),
        Value::Bool(b) => Some((*b).into()),
        _ => None,
    }
}

pub(super) fn unary(op: UnOp, value: &Value) -> Result<Value, Trap> {
    if op == UnOp::Not {
        return Ok(Value::Bool(!value.truth()));
    }
    let n = int(value).ok_or_else(|| no_number(value))?;
    Ok(Value::Int(match op {
        UnOp::Minus => n.checked_neg().ok_or(OVERFLOW)?,
        _ => !n,
    }))
}

fn no_number(value: &Value) -> Trap {
    match value {
        Value::Error(e) => {
            format!(
                "A call failed ({e}), and what it gave is no number. Ask failed(…) before, or write must(…) around the call."
            )
        }
        other => format!("Here a number is needed, not {}.", other.kind()),
    }
}

/// `variable += number`, where the variable holds something else than a number.
pub(super) fn add_int(variable: &mut Value, by: i64) -> Result<(), Trap> {
    let Some(n) = int(variable) else {
        return Err(no_number(variable));
    };
    *variable = Value::Int(n.checked_add(by).ok_or(OVERFLOW)?);
    Ok(())
}

impl Vm {
    pub(super) fn binary(
        &mut self,
        op: BinOp,
        left: Value,
        right: Value,
        fuel: &mut u64,
    ) -> Result<Value, Trap> {
        use BinOp::*;
        match op {
            Eq => return compare::equal(&left, &right, fuel).map(Value::Bool),
            Ne => return compare::equal(&left, &right, fuel).map(|e| Value::Bool(!e)),
            Lt | Le | Gt | Ge => return compare::ordered(op, &left, &right).map(Value::Bool),
            In => return compare::contains(&left, &right, fuel).map(Value::Bool),
            Add if int(&left).is_none() || int(&right).is_none() => {
                return self.add(left, right, fuel);
            }
            _ => {}
        }
        let l = int(&left).ok_or_else(|| no_number(&left))?;
        let r = int(&right).ok_or_else(|| no_number(&right))?;
        numbers(op, l, r).map(Value::Int)
    }

    /// Strings and lists put together; a number beside a string becomes text.
    fn add(&mut self, left: Value, right: Value, fuel: &mut u64) -> Result<Value, Trap> {
        match (left, right) {
            (Value::List(l), Value::List(r)) => self.add_lists(l, &r, fuel),
            (l @ Value::Text(_), r) | (l, r @ Value::Text(_)) => {
                let other = if matches!(l, Value::Text(_)) { &r } else { &l };
                if int(other).is_none() && !matches!(other, Value::Text(_)) {
                    return Err(format!(
                        "A string and {} cannot be added; \"{{x}}\" shows any value in a string.",
                        other.kind()
                    ));
                }
                self.stack.extend([l, r]);
                self.join(2, fuel)?;
                Ok(self.pop())
            }
            (Value::List(_), other) => Err(format!(
                "A list and {} cannot be added; [x] is a list of one item.",
                other.kind()
            )),
            (l, r) => {
                let other = if int(&l).is_some() { r } else { l };
                Err(no_number(&other))
            }
        }
    }

    fn add_lists(&mut self, mut l: Arc<List>, r: &List, fuel: &mut u64) -> Result<Value, Trap> {
        if l.items.len() + r.items.len() > MAX_LIST {
            return Err(format!("A list has at most {MAX_LIST} items."));
        }
        // What both hold is shared, so that only a path through the tree is made anew.
        let made = r.items.len() as u64;
        *fuel = fuel.saturating_sub(made.saturating_add(PATH_FUEL));
        let list = Arc::make_mut(&mut l);
        list.nesting = list.nesting.max(r.nesting);
        list.items.append(&r.items);
        let bytes = made * size_of::<Value>() as u64;
        self.grow(bytes + PATH_BYTES)?;
        match l.items.len() as u64 * size_of::<Value>() as u64 > MAX_MEMORY {
            true => Err(memory::full()),
            false => Ok(Value::List(l)),
        }
    }

    /// A string of the last values.
    pub(super) fn join(&mut self, n: usize, fuel: &mut u64) -> Result<(), Trap> {
        let parts = self.pop_many(n);
        let mut out = super::super::value::Out::new(MAX_STRING);
        for part in &parts {
            part.print(&mut out);
        }
        if out.full() {
            return Err(format!("A string has at most {} MiB.", MAX_STRING >> 20));
        }
        let bytes = out.into_bytes();
        *fuel = fuel.saturating_sub(bytes.len() as u64 / 64);
        let value = self.charge(Value::text(bytes))?;
        self.stack.push(value);
        Ok(())
    }
}

fn numbers(op: BinOp, l: i64, r: i64) -> Result<i64, Trap> {
    use BinOp::*;
    let shift = || {
        let r = u32::try_from(r).ok().filter(|r| *r < 64);
        r.ok_or("A number has 64 bits: it is shifted by 0 to 63.")
    };
    if r == 0 && matches!(op, Div | Rem) {
        return Err("Division by zero.".into());
    }
    let n = match op {
        Add => l.checked_add(r),
        Sub => l.checked_sub(r),
        Mul => l.checked_mul(r),
        Div => l.checked_div(r),
        // What is left of the least number by -1 is 0, as of all others.
        Rem => Some(l.wrapping_rem(r)),
        BitOr => Some(l | r),
        BitAnd => Some(l & r),
        BitXor => Some(l ^ r),
        Shr => Some(l >> shift()?),
        Shl => {
            let by = shift()?;
            Some(l << by).filter(|n| n >> by == l)
        }
        Eq | Ne | Lt | Le | Gt | Ge | In => None,
    };
    n.ok_or_else(|| OVERFLOW.into())
}
