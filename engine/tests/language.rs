//! The workload language against what it is to mean: programs made at random, evaluated
//! here by other means; run straight and in pieces; and texts of any kind.

mod any_program;

use fslab_engine::scenario::Limits;
use fslab_engine::scenario::lang::{PRELUDE, Step, Vm, compile};
use proptest::prelude::*;
use std::sync::Arc;

/// A value as this test understands it.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Int(i64),
    Bool(bool),
    Text(String),
    List(Vec<Value>),
}

/// An expression.
#[derive(Clone, Debug)]
enum Expr {
    Value(Value),
    List(Vec<Expr>),
    Unary(&'static str, Box<Expr>),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Index(Box<Expr>, Box<Expr>),
    Call(&'static str, Vec<Expr>),
}

/// How tightly operators bind, as the language's page has it: the least first.
const LEVELS: [&[&str]; 10] = [
    &["or"],
    &["and"],
    &["not"],
    &["==", "!=", "<", "<=", ">", ">=", "in"],
    &["|"],
    &["^"],
    &["&"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

fn level(op: &str) -> usize {
    LEVELS.iter().position(|ops| ops.contains(&op)).unwrap()
}

impl Expr {
    /// With as few brackets as the page allows.
    fn written(&self) -> String {
        match self {
            Self::Value(v) => written(v),
            Self::List(items) => format!("[{}]", join(items)),
            Self::Unary("not", inner) => format!("not {}", inner.at(level("not") + 1)),
            Self::Unary(op, inner) => {
                let inner = inner.at(LEVELS.len());
                match *op == "-" && inner.starts_with('-') {
                    // Two of them side by side are `--`, which is no operator.
                    true => format!("-({inner})"),
                    false => format!("{op}{inner}"),
                }
            }
            Self::Binary(op, l, r) => {
                let n = level(op);
                // Comparisons do not chain; all others group from the left.
                let left = n + usize::from(n == level("=="));
                format!("{} {op} {}", l.at(left), r.at(n + 1))
            }
            Self::Index(of, n) => format!("{}[{}]", of.at(LEVELS.len() + 1), n.written()),
            Self::Call(f, args) => format!("{f}({})", join(args)),
        }
    }

    /// As a side of an operator: in brackets where it binds less than `least`.
    fn at(&self, least: usize) -> String {
        let own = match self {
            Self::Unary("not", _) => level("not"),
            Self::Unary(..) => LEVELS.len(),
            Self::Value(Value::Int(n)) if *n < 0 && *n > i64::MIN => LEVELS.len(),
            Self::Binary(op, ..) => level(op),
            _ => usize::MAX,
        };
        match own < least {
            true => format!("({})", self.written()),
            false => self.written(),
        }
    }
}

fn join(items: &[Expr]) -> String {
    items
        .iter()
        .map(Expr::written)
        .collect::<Vec<_>>()
        .join(", ")
}

/// As a program has it, and as a list is printed.
fn written(value: &Value) -> String {
    match value {
        // There is no number whose minus it would be.
        Value::Int(i64::MIN) => "(-0x7fffffffffffffff - 1)".into(),
        Value::Int(n) => n.to_string(),
        Value::Bool(b) => b.to_string(),
        Value::Text(text) => format!("\"{text}\""),
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(shown).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        other => written(other),
    }
}

fn printed(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => shown(other),
    }
}

fn truth(value: &Value) -> bool {
    match value {
        Value::Int(n) => *n != 0,
        Value::Bool(b) => *b,
        Value::Text(text) => !text.is_empty(),
        Value::List(items) => !items.is_empty(),
    }
}

/// A truth value counts as a number.
fn number(value: &Value) -> Option<i128> {
    match value {
        Value::Int(n) => Some((*n).into()),
        Value::Bool(b) => Some((*b).into()),
        _ => None,
    }
}

fn same(l: &Value, r: &Value) -> bool {
    match (number(l), number(r)) {
        (Some(l), Some(r)) => l == r,
        (None, None) => match (l, r) {
            (Value::List(l), Value::List(r)) => {
                l.len() == r.len() && l.iter().zip(r).all(|(l, r)| same(l, r))
            }
            (l, r) => l == r,
        },
        _ => false,
    }
}

/// Where 64 bits hold it.
fn int(n: i128) -> Option<Value> {
    i64::try_from(n).ok().map(Value::Int)
}

/// The value; `None`: the program ends here.
fn eval(expr: &Expr) -> Option<Value> {
    match expr {
        Expr::Value(v) => Some(v.clone()),
        Expr::List(items) => items
            .iter()
            .map(eval)
            .collect::<Option<_>>()
            .map(Value::List),
        Expr::Unary("-", inner) => int(-number(&eval(inner)?)?),
        Expr::Unary("~", inner) => int(-1 - number(&eval(inner)?)?),
        Expr::Unary(_, inner) => Some(Value::Bool(!truth(&eval(inner)?))),
        Expr::Binary("and", l, r) => Some(Value::Bool(truth(&eval(l)?) && truth(&eval(r)?))),
        Expr::Binary("or", l, r) => match truth(&eval(l)?) {
            true => Some(Value::Bool(true)),
            false => Some(Value::Bool(truth(&eval(r)?))),
        },
        Expr::Binary(op, l, r) => binary(op, eval(l)?, eval(r)?),
        Expr::Index(of, n) => {
            let (of, n) = (eval(of)?, number(&eval(n)?)?);
            let items = match of {
                Value::List(items) => items,
                Value::Text(text) => text.bytes().map(|b| Value::Int(b.into())).collect(),
                _ => return None,
            };
            let n = if n < 0 { items.len() as i128 + n } else { n };
            items.get(usize::try_from(n).ok()?).cloned()
        }
        Expr::Call(f, args) => {
            let args: Vec<Value> = args.iter().map(eval).collect::<Option<_>>()?;
            function(f, &args)
        }
    }
}

fn binary(op: &str, l: Value, r: Value) -> Option<Value> {
    match op {
        "==" => return Some(Value::Bool(same(&l, &r))),
        "!=" => return Some(Value::Bool(!same(&l, &r))),
        "in" => {
            return Some(Value::Bool(match (&l, &r) {
                (l, Value::List(items)) => items.iter().any(|i| same(i, l)),
                (Value::Text(l), Value::Text(r)) => r.contains(l.as_str()),
                _ => return None,
            }));
        }
        "<" | "<=" | ">" | ">=" => {
            let order = match (&l, &r) {
                (Value::Text(l), Value::Text(r)) => l.cmp(r),
                _ => number(&l)?.cmp(&number(&r)?),
            };
            return Some(Value::Bool(match op {
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                _ => order.is_ge(),
            }));
        }
        _ => {}
    }
    if op == "+" {
        match (&l, &r) {
            (Value::List(l), Value::List(r)) => {
                return Some(Value::List([&l[..], &r[..]].concat()));
            }
            (Value::Text(_), Value::List(_)) | (Value::List(_), _) => return None,
            (Value::Text(_), _) | (_, Value::Text(_)) => {
                return Some(Value::Text(printed(&l) + &printed(&r)));
            }
            _ => {}
        }
    }
    let (l, r) = (number(&l)?, number(&r)?);
    let shift = || u32::try_from(r).ok().filter(|r| *r < 64);
    match op {
        "+" => int(l + r),
        "-" => int(l - r),
        "*" => int(l * r),
        "/" => int(l.checked_div(r)?),
        "%" => int(l.checked_rem(r)?),
        "|" => int(l | r),
        "^" => int(l ^ r),
        "&" => int(l & r),
        "<<" => int(l << shift()?),
        ">>" => int(l >> shift()?),
        other => panic!("{other}"),
    }
}

fn function(f: &str, args: &[Value]) -> Option<Value> {
    Some(match (f, args) {
        ("len", [Value::Text(t)]) => Value::Int(t.len() as i64),
        ("len", [Value::List(l)]) => Value::Int(l.len() as i64),
        ("min", [a, b]) => int(number(a)?.min(number(b)?))?,
        ("max", [a, b]) => int(number(a)?.max(number(b)?))?,
        ("abs", [a]) => int(number(a)?.abs())?,
        ("text", [a]) => Value::Text(printed(a)),
        _ => return None,
    })
}

fn some_int() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => -4i64..10,
        1 => any::<i64>(),
        1 => prop::sample::select(vec![i64::MAX, i64::MIN, 1 << 32, 63, 64]),
    ]
}

fn expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        4 => some_int().prop_map(Value::Int),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => "[a-c]{0,3}".prop_map(Value::Text),
    ];
    let ops: Vec<&str> = LEVELS
        .iter()
        .flat_map(|l| l.iter().copied())
        .filter(|op| *op != "not")
        .collect();
    leaf.prop_map(Expr::Value)
        .prop_recursive(5, 40, 3, move |inner| {
            let boxed = || inner.clone().prop_map(Box::new);
            prop_oneof![
                8 => (prop::sample::select(ops.clone()), boxed(), boxed())
                    .prop_map(|(op, l, r)| Expr::Binary(op, l, r)),
                2 => (prop::sample::select(vec!["-", "~", "!", "not"]), boxed())
                    .prop_map(|(op, e)| Expr::Unary(op, e)),
                2 => prop::collection::vec(inner.clone(), 0..4).prop_map(Expr::List),
                1 => (boxed(), boxed()).prop_map(|(of, n)| Expr::Index(of, n)),
                1 => (prop::sample::select(vec!["len", "abs", "text"]), inner.clone())
                    .prop_map(|(f, e)| Expr::Call(f, vec![e])),
                1 => (prop::sample::select(vec!["min", "max"]), inner.clone(), inner.clone())
                    .prop_map(|(f, a, b)| Expr::Call(f, vec![a, b])),
            ]
        })
}

/// What a program prints, and how it ends, when each go has so many instructions.
/// `again`: at each stop it goes on as a copy, and the original some way beyond.
fn outcome(source: &str, fuel: u64, again: bool) -> (Vec<String>, Step, Vec<(String, String)>) {
    let program = compile(source).unwrap_or_else(|e| panic!("{}\n{source}", e[0]));
    let mut vm = Vm::new(Arc::new(program), 7);
    let (mut said, mut calls) = (Vec::new(), 0);
    for _ in 0..200_000 {
        let copy = vm.clone();
        let mut left = fuel;
        let step = vm.step(&mut left);
        if again {
            vm = copy;
            let mut left = fuel;
            assert_eq!(vm.step(&mut left), step, "{source}");
            let mut beyond = vm.clone();
            beyond.answer(&Err(fslab_engine::kernel::Errno::EIO));
            beyond.step(&mut 50);
        }
        match step {
            Step::Call(call) => {
                calls += 1;
                said.push(format!("{call:?}"));
                vm.answer(&any_program::answer(&call, calls));
            }
            Step::Print(line) => said.push(line),
            Step::OutOfFuel => {}
            end => return (said, end, vm.variables()),
        }
    }
    panic!("this does not end:\n{source}");
}

/// Statements that end by themselves, over the variables a, b (numbers) and l (a list).
fn statement() -> impl Strategy<Value = String> {
    let value = prop::sample::select(vec![
        "a + 1",
        "b % 5",
        "a * 2 % 1000",
        "random(100)",
        "len(l)",
        "f(a % 7)",
        "zipf(50)",
        "min(a, b)",
        "write(a % 5, 10)",
        "len(text(l))",
        "now() / 1s",
        "b << 1 & 255",
        "sum(l)",
        "number(pad(a % 100, 4))",
    ]);
    let condition = prop::sample::select(vec![
        "a < b",
        "b in l",
        "not l",
        "a % 2 == 0 and b > 3",
        "failed(sync())",
        "len(l) > 4 or a == 0",
    ]);
    let plain = prop_oneof![
        (prop::sample::select(vec!["a", "b"]), value.clone())
            .prop_map(|(v, e)| format!("{v} = {e}")),
        (prop::sample::select(vec!["+=", "-=", "^="]), 0..9)
            .prop_map(|(op, n)| format!("a {op} {n}")),
        value.clone().prop_map(|e| format!("push(l, {e})")),
        value.clone().prop_map(|e| format!("l += [{e}, b]")),
        Just("if l { print(pop(l), l) }".to_owned()),
        Just("if len(l) > 1 { l[1] += b; print(take(l, 0)) }".to_owned()),
        Just("m = l; push(m, 0); print(m == l, \"{l}\")".to_owned()),
        Just("l = shuffle(l)".to_owned()),
        Just("pwrite(3, \"{a}-{b}\", abs(a))".to_owned()),
        Just("fsync(3)".to_owned()),
        value.prop_map(|e| format!("print({e})")),
    ];
    plain.prop_recursive(3, 20, 4, move |inner| {
        let block = prop::collection::vec(inner, 1..4).prop_map(|b| b.join("\n"));
        prop_oneof![
            (condition.clone(), block.clone(), block.clone())
                .prop_map(|(c, x, y)| format!("if {c} {{\n{x}\n}} else {{\n{y}\n}}")),
            (1..4, block.clone()).prop_map(|(n, x)| format!("for i in range({n}) {{\n{x}\n}}")),
            block
                .clone()
                .prop_map(|x| format!("for x in [1, \"a\"] {{\nif x == 1 {{ continue }}\n{x}\n}}")),
            (condition.clone(), block).prop_map(|(c, x)| format!(
                "while {c} {{\nrounds += 1\nif rounds > 9 {{ break }}\n{x}\n}}"
            )),
        ]
    })
}

const FUNCTIONS: &str = "a = 3\nb = 8\nl = [1]\nrounds = 0\n\
    fn f(n, more = n + 1) { if n < 1 { return more }\n return f(n - 1) + more }\n\
    fn sum(all) { global rounds; s = 0\n for x in all { if x != \"a\" { s += x % 1000 } }\n rounds += 1\n return s % 1000 }\n";

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn expressions_mean_what_the_page_says(expr in expr()) {
        let source = format!("print({})", expr.written());
        let (said, end, _) = outcome(&source, 1_000_000, false);
        match eval(&expr) {
            Some(value) => {
                prop_assert_eq!(&end, &Step::Done, "{}", source);
                prop_assert_eq!(said, [printed(&value)], "{}", source);
            }
            None => prop_assert!(matches!(end, Step::Failed(_)), "{} gives {:?}", source, said),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_program_in_pieces_is_the_program(
        body in prop::collection::vec(statement(), 1..12),
        fuel in 1u64..40,
    ) {
        let source = format!("{FUNCTIONS}{}", body.join("\n"));
        let straight = outcome(&source, 1_000_000, false);
        prop_assert_eq!(&outcome(&source, fuel, true), &straight, "{}", source);
    }

    /// Texts that are programs, nearly so, or not at all.
    #[test]
    fn any_text_can_be_tried(text in any::<String>(), seed in any::<u64>()) {
        any_program::everything(&text, seed);
    }

    #[test]
    fn spoilt_programs_can_be_tried(
        program in prop::sample::select(programs()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, change()), 1..4),
        seed in any::<u64>(),
    ) {
        let mut text = program;
        for (at, len, put) in changes {
            let from = text.floor_char_boundary(at.index(text.len() + 1));
            let to = text.floor_char_boundary((from + len).min(text.len()));
            text.replace_range(from..to.max(from), &put);
        }
        any_program::everything(&text, seed);
    }
}

/// A list can be grown by `+=` to a considerable length between two calls.
#[test]
fn lists_grow_within_the_usual_fuel() {
    let source = "l = []\nfor i in range(100000) { l += [i] }\nprint(len(l), l[-1])";
    let mut vm = Vm::new(Arc::new(compile(source).unwrap()), 1);
    let mut fuel = Limits::default().instructions;
    assert_eq!(vm.step(&mut fuel), Step::Print("100000 99999".into()));
}

/// Copies of a list that are each changed are found to be too many in time: what they take
/// is counted although they share most of it.
#[test]
fn changed_copies_of_lists_are_counted() {
    let changes = [
        "m = l; m[0] = 1; push(all, m)",
        "push(all, l + [1])",
        "all += [l + [2]]",
    ];
    for change in changes {
        let source = format!("l = range(1000)\nall = []\nfor i in range(100000) {{ {change} }}");
        let mut vm = Vm::new(Arc::new(compile(&source).unwrap()), 1);
        let mut fuel = 100_000_000;
        let Step::Failed(e) = vm.step(&mut fuel) else {
            panic!("{change}")
        };
        assert_eq!(e.words, "The program's values take more than 16 MiB.");
        // A few thousand copies at most, each of some KiB.
        assert!(100_000_000 - fuel < 500_000, "{change}: {fuel}");
    }
}

/// What is put into a program in the place of something else.
fn change() -> impl Strategy<Value = String> {
    let words = [
        "",
        "\n",
        "\"",
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "=",
        "==",
        "9223372036854775807",
        "0",
        "-1",
        "1k",
        "# ",
        "fn ",
        "if ",
        "for ",
        "while true ",
        "return ",
        "global ",
        "\\",
        "é",
        "nothing",
        "/ 0",
        ", ",
        "**",
    ];
    prop_oneof![
        4 => prop::sample::select(words.map(String::from).to_vec()),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// The page's programs, and the prelude with a call of one of its functions.
fn programs() -> Vec<String> {
    let page = include_str!("../docs/language.md")
        .split("```fsl\n")
        .skip(1);
    let programs = page
        .filter_map(|p| p.split_once("\n```\n"))
        .map(|(p, _)| p.to_owned());
    let calls = [
        "build_like(\"/a\", 3, 3, 1)",
        "untar(\"/a\", describe_tree(2, 5))",
    ];
    let prelude = calls.map(|call| format!("{PRELUDE}\n{call}\n"));
    programs.chain(prelude).collect()
}
