//! The language's own functions.

use super::super::items::Items;
use super::super::limits::{MAX_LIST, MAX_PRINT, MAX_STRING};
use super::super::names::Builtin;
use super::super::value::{Data, List, Out, Value};
use super::{Flow, Step, Trap, Vm, arith, lists, random, sys};
use std::sync::Arc;

fn int(value: &Value, what: &str) -> Result<i64, Trap> {
    arith::int(value).ok_or_else(|| format!("{what} is a number, not {}.", value.kind()))
}

fn text<'a>(value: &'a Value, what: &str) -> Result<&'a [u8], Trap> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(format!("{what} is a string, not {}.", other.kind())),
    }
}

fn list<'a>(value: &'a Value, what: &str) -> Result<&'a Arc<List>, Trap> {
    match value {
        Value::List(list) => Ok(list),
        other => Err(format!("{what} is a list, not {}.", other.kind())),
    }
}

fn too_long() -> Trap {
    format!("A string has at most {} MiB.", MAX_STRING >> 20)
}

impl Vm {
    pub(super) fn builtin(
        &mut self,
        builtin: Builtin,
        args: Vec<Value>,
        fuel: &mut u64,
    ) -> Result<Flow, Trap> {
        if builtin == Builtin::Print {
            self.stack.push(Value::Nothing);
            return Ok(Flow::Stop(Step::Print(printed(&args))));
        }
        let value = match &args[..] {
            [] => Value::Int(i64::try_from(self.now.0).unwrap_or(i64::MAX)),
            [one] => self.of_one(builtin, one, fuel)?,
            [one, two] => self.of_two(builtin, one, two, fuel)?,
            [one, two, three, ..] => self.of_three(builtin, one, two, three, fuel)?,
        };
        let value = self.charge(value)?;
        *fuel = fuel.saturating_sub(value.weight() / 64);
        self.stack.push(value);
        Ok(Flow::On)
    }

    fn of_one(&mut self, builtin: Builtin, one: &Value, fuel: &mut u64) -> Result<Value, Trap> {
        Ok(match builtin {
            Builtin::Failed => Value::Bool(matches!(one, Value::Error(_))),
            Builtin::Len => Value::Int(match one {
                Value::Text(text) => text.len() as i64,
                Value::Data(data) => data.len as i64,
                Value::List(list) => list.items.len() as i64,
                Value::Error(e) => return Err(format!("A call failed ({e}): it has no length.")),
                other => return Err(format!("There is no length of {}.", other.kind())),
            }),
            Builtin::Choose => {
                let items = &list(one, "What choose takes from")?.items;
                if items.is_empty() {
                    return Err("There is nothing to choose from in an empty list.".into());
                }
                let n = random::below(&mut self.random, items.len() as u64);
                items.get(n as usize).cloned().unwrap_or(Value::Nothing)
            }
            Builtin::Shuffle => self.shuffle(list(one, "What is shuffled")?, fuel),
            Builtin::Data => Value::Data(Arc::new(self.fresh(int(one, "A length")?)?)),
            Builtin::Zeros => match usize::try_from(int(one, "A length")?) {
                Ok(len) if len <= MAX_STRING => Value::text(vec![0; len]),
                _ => return Err(too_long()),
            },
            Builtin::Text => {
                let mut out = Out::new(MAX_STRING);
                one.print(&mut out);
                Value::text(out.into_bytes())
            }
            Builtin::Number => number(text(one, "What becomes a number")?)?,
            Builtin::Hex => Value::text(format!("{:x}", int(one, "What hex shows")?).into_bytes()),
            Builtin::Oct => Value::text(format!("0{:o}", int(one, "What oct shows")?).into_bytes()),
            Builtin::Abs => {
                let n = int(one, "What abs takes")?.checked_abs();
                Value::Int(n.ok_or(arith::OVERFLOW)?)
            }
            _ => Value::Nothing,
        })
    }

    fn shuffle(&mut self, list: &List, fuel: &mut u64) -> Value {
        let mut items: Vec<Value> = list.items.iter().cloned().collect();
        *fuel = fuel.saturating_sub(items.len() as u64);
        for n in (1..items.len()).rev() {
            let other = random::below(&mut self.random, n as u64 + 1);
            items.swap(n, other as usize);
        }
        Value::List(Arc::new(List {
            items: items.into_iter().collect(),
            nesting: list.nesting,
        }))
    }

    fn of_two(
        &mut self,
        builtin: Builtin,
        one: &Value,
        two: &Value,
        fuel: &mut u64,
    ) -> Result<Value, Trap> {
        Ok(match builtin {
            Builtin::Must => match (one, two) {
                (Value::Error(e), Value::Text(called)) => {
                    return Err(format!("{} failed: {e}.", String::from_utf8_lossy(called)));
                }
                _ => one.clone(),
            },
            Builtin::Random => {
                let (from, to) = match two {
                    Value::Nothing => (0, int(one, "What random takes")?),
                    to => (
                        int(one, "What random takes")?,
                        int(to, "What random takes")?,
                    ),
                };
                let width = to.checked_sub(from).and_then(|w| u64::try_from(w).ok());
                match width {
                    Some(width @ 1..) => {
                        Value::Int(from + random::below(&mut self.random, width) as i64)
                    }
                    _ => return Err(format!("There is no number from {from} to below {to}.")),
                }
            }
            Builtin::Zipf => self.zipf(int(one, "What zipf takes")?, int(two, "theta")?)?,
            Builtin::Repeat => repeat(one, int(two, "How many times")?, fuel)?,
            Builtin::Split => split(text(one, "What is split")?, text(two, "What splits")?, fuel)?,
            Builtin::StartsWith => Value::Bool(
                text(one, "What is looked at")?.starts_with(text(two, "The beginning")?),
            ),
            Builtin::EndsWith => {
                Value::Bool(text(one, "What is looked at")?.ends_with(text(two, "The end")?))
            }
            Builtin::Min => {
                Value::Int(int(one, "What min takes")?.min(int(two, "What min takes")?))
            }
            Builtin::Max => {
                Value::Int(int(one, "What max takes")?.max(int(two, "What max takes")?))
            }
            _ => Value::Nothing,
        })
    }

    fn zipf(&mut self, n: i64, theta: i64) -> Result<Value, Trap> {
        let n = u64::try_from(n).ok().filter(|n| (1..1 << 40).contains(n));
        let n = n.ok_or("zipf takes a number from 1 to a million millions.")?;
        let theta = u32::try_from(theta).ok().filter(|t| *t <= 1000);
        let theta = theta.ok_or("theta is in hundredths, from 0 to 1000: 99 is 0.99.")?;
        let rank = random::Zipf::new(n, theta).throw(&mut self.random);
        Ok(Value::Int(rank as i64))
    }

    fn of_three(
        &mut self,
        builtin: Builtin,
        one: &Value,
        two: &Value,
        three: &Value,
        fuel: &mut u64,
    ) -> Result<Value, Trap> {
        match builtin {
            Builtin::Range => range(
                int(one, "A range's start")?,
                int(two, "A range's end")?,
                int(three, "A range's step")?,
                fuel,
            ),
            Builtin::Pattern => Ok(Value::Data(Arc::new(Data {
                len: sys::generated(int(one, "A length")?)?,
                seed: int(two, "A seed")? as u64,
                from: int(three, "A place in the pattern")? as u64,
            }))),
            Builtin::Slice => slice(one, int(two, "A place")?, three),
            Builtin::Pad => pad(one, int(two, "A width")?, three),
            _ => Ok(Value::Nothing),
        }
    }
}

fn printed(args: &[Value]) -> String {
    let mut out = Out::new(MAX_PRINT);
    for (n, value) in args.iter().enumerate() {
        if n > 0 {
            out.str(" ");
        }
        value.print(&mut out);
    }
    out.into_string()
}

fn number(text: &[u8]) -> Result<Value, Trap> {
    let shown = || String::from_utf8_lossy(&text[..text.len().min(40)]).into_owned();
    let digits = str::from_utf8(text).ok().map(str::trim);
    let n = digits.and_then(|d| d.parse().ok());
    n.map(Value::Int)
        .ok_or_else(|| format!("{:?} is no number.", shown()))
}

fn range(start: i64, end: i64, step: i64, fuel: &mut u64) -> Result<Value, Trap> {
    if step == 0 {
        return Err("A range with a step of 0 has no end.".into());
    }
    let width = if step > 0 {
        i128::from(end) - i128::from(start)
    } else {
        i128::from(start) - i128::from(end)
    };
    let count = width
        .max(0)
        .unsigned_abs()
        .div_ceil(step.unsigned_abs().into());
    if count > MAX_LIST as u128 {
        return Err(format!(
            "{} `for i in range(…)` needs no list.",
            lists::too_long()
        ));
    }
    *fuel = fuel.saturating_sub(count as u64);
    let items = (0..count as i64).map(|n| Value::Int(start.wrapping_add(n.wrapping_mul(step))));
    Ok(Value::List(Arc::new(List {
        items: items.collect(),
        nesting: 0,
    })))
}

fn repeat(value: &Value, times: i64, fuel: &mut u64) -> Result<Value, Trap> {
    let times = usize::try_from(times).map_err(|_| format!("Nothing is done {times} times."))?;
    match value {
        Value::Text(text) => match text.len().checked_mul(times) {
            Some(len) if len <= MAX_STRING => Ok(Value::text(text.repeat(times))),
            _ => Err(too_long()),
        },
        Value::List(list) => match list.items.len().checked_mul(times) {
            Some(len) if len <= MAX_LIST => {
                *fuel = fuel.saturating_sub(len as u64);
                let items = std::iter::repeat_n(&list.items, times)
                    .flat_map(Items::iter)
                    .cloned();
                Ok(Value::List(Arc::new(List {
                    items: items.collect(),
                    nesting: list.nesting,
                })))
            }
            _ => Err(lists::too_long()),
        },
        other => Err(format!(
            "A string or a list is repeated, not {}.",
            other.kind()
        )),
    }
}

fn split(text: &[u8], by: &[u8], fuel: &mut u64) -> Result<Value, Trap> {
    let &[by] = by else {
        return Err("A string is split at one character: split(path, \"/\").".into());
    };
    let parts = text.split(|b| *b == by);
    if parts.clone().count() > MAX_LIST {
        return Err(lists::too_long());
    }
    *fuel = fuel.saturating_sub(text.len() as u64 / 8);
    Ok(Value::List(Arc::new(List {
        items: parts.map(Value::text).collect(),
        nesting: 0,
    })))
}

/// A part; what lies outside is left out, as Python has it.
fn slice(of: &Value, from: i64, len: &Value) -> Result<Value, Trap> {
    let whole = match of {
        Value::Text(text) => text.len() as u64,
        Value::Data(data) => data.len,
        Value::List(list) => list.items.len() as u64,
        other => return Err(format!("There are no parts of {}.", other.kind())),
    };
    let from = u64::try_from(from)
        .map_err(|_| format!("There is no place {from}."))?
        .min(whole);
    let len = match len {
        Value::Nothing => whole - from,
        len => u64::try_from(int(len, "A length")?)
            .map_err(|_| "A length is not negative.")?
            .min(whole - from),
    };
    let (start, end) = (from as usize, (from + len) as usize);
    Ok(match of {
        Value::Text(text) => Value::text(&text[start..end]),
        Value::Data(data) => Value::Data(Arc::new(Data {
            seed: data.seed,
            from: data.from.wrapping_add(from),
            len,
        })),
        Value::List(list) => Value::List(Arc::new(List {
            items: list.items.slice(start, end),
            nesting: list.nesting,
        })),
        _ => Value::Nothing,
    })
}

fn pad(value: &Value, width: i64, with: &Value) -> Result<Value, Trap> {
    let width = usize::try_from(width).ok().filter(|w| *w <= 1000);
    let width = width.ok_or("A width goes from 0 to 1000.")?;
    let mut out = Out::new(MAX_STRING);
    value.print(&mut out);
    let plain = out.into_bytes();
    let fill = match with {
        Value::Nothing => b"0",
        with => text(with, "What fills up")?,
    };
    let &[fill] = fill else {
        return Err("One character fills up.".into());
    };
    let (sign, digits) = match plain.split_first() {
        Some((b'-', digits)) if fill == b'0' => (&b"-"[..], digits),
        _ => (&b""[..], &plain[..]),
    };
    let missing = width.saturating_sub(plain.len());
    Ok(Value::text([sign, &vec![fill; missing], digits].concat()))
}
