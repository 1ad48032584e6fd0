//! Programs against a kernel that gives what it is told to.

use super::super::compile;
use super::*;
use crate::kernel::Errno;
use crate::scenario::Reply;

/// Runs a program whose calls all give 3; what it prints, and why it ended.
fn run(source: &str) -> (String, Step) {
    run_with(source, &mut |_| Ok(Reply::Number(3)))
}

fn run_with(source: &str, kernel: &mut dyn FnMut(&Call) -> Answer) -> (String, Step) {
    let program = match compile(source) {
        Ok(program) => program,
        Err(all) => panic!(
            "{}",
            all.iter().map(|d| format!("{d}\n")).collect::<String>()
        ),
    };
    let mut vm = Vm::new(Arc::new(program), 1);
    let mut out = String::new();
    let mut fuel = 100_000_000;
    loop {
        match vm.step(&mut fuel) {
            Step::Print(line) => out += &(line + "\n"),
            Step::Call(call) => vm.answer(&kernel(&call)),
            other => return (out, other),
        }
    }
}

fn prints(source: &str, expected: &str) {
    let (out, end) = run(source);
    assert_eq!(end, Step::Done, "{source}");
    assert_eq!(out.trim_end(), expected, "{source}");
}

fn fails(source: &str, expected: &str) {
    match run(source).1 {
        Step::Failed(error) => assert_eq!(error.to_string(), expected, "{source}"),
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn numbers_are_written_as_in_c_and_with_units() {
    prints(
        "print(0644, 0o644, 0x1A4, 0b11, 1_000)",
        "420 420 420 3 1000",
    );
    prints("print(4k, 64K, 1M, 2G)", "4096 65536 1048576 2147483648");
    prints(
        "print(5ms, 2s, 10us, 3ns, 1min)",
        "5000000 2000000000 10000 3 60000000000",
    );
    prints(
        "print(1 + 2 * 3, (1 + 2) * 3, -7 / 2, -7 % 2, 7 - 2 - 1)",
        "7 9 -3 -1 4",
    );
    prints(
        "print(6 & 3 | 8, 1 << 4, 6 ^ 3, ~0, 5 & 4 == 4)",
        "10 16 5 -1 true",
    );
}

#[test]
fn strings_hold_values_and_bytes() {
    prints(
        "i = 7; print(\"/dir/file-{i}.{pad(i, 3)} {{x}} {1 + 2}\")",
        "/dir/file-7.007 {x} 3",
    );
    prints(
        r#"print(len("\x00\n\u{e9}"), "a" + 1 + "b", 1 + "x")"#,
        "4 a1b 1x",
    );
    prints(
        "x = \"a\"; print([1, x, nothing, true], {x} )"
            .replace(", {x} ", "")
            .as_str(),
        "[1, \"a\", nothing, true]",
    );
}

#[test]
fn loops_and_functions() {
    prints("s = 0\nfor i in range(5) { s += i }\nprint(s)", "10");
    prints("for i in range(10, 0, -3) { print(i) }", "10\n7\n4\n1");
    prints(
        "for x in [1, 2, 3] { if x == 2 { continue }\n print(x) }",
        "1\n3",
    );
    prints(
        "i = 0\nwhile true { i += 1; if i > 4 { break } }\nprint(i)",
        "5",
    );
    prints(
        "fn f(n) { if n < 2 { return n }\n return f(n - 1) + f(n - 2) }\nprint(f(20))",
        "6765",
    );
    prints(
        "fn f(a, b = a + 1, c = 9) { return [a, b, c] }\nprint(f(1), f(1, c = 2))",
        "[1, 2, 9] [1, 2, 2]",
    );
    prints(
        "n = 1\nfn f() { global n; n += 1 }\nf(); f()\nprint(n)",
        "3",
    );
    prints("fn f() { return }\nprint(f())", "nothing");
}

#[test]
fn lists_are_values() {
    prints(
        "a = [1]; b = a; push(b, 2); b[0] += 5; print(a, b, pop(b), len(b))",
        "[1] [6, 2] 2 1",
    );
    prints(
        "a = [1, 2, 3]; print(take(a, 0), a, a[-1], 2 in a, 1 in a)",
        "1 [2, 3] 3 true false",
    );
    prints(
        "print(slice([1,2,3,4], 1, 2), slice(\"abcdef\", 2), range(3), repeat([0], 3))",
        "[2, 3] cdef [0, 1, 2] [0, 0, 0]",
    );
}

#[test]
fn errors_are_values() {
    let mut kernel = |call: &Call| match call {
        Call::Open { .. } => Err(Errno::ENOENT),
        Call::Close { fd } if fd.0 == u32::MAX => Err(Errno::EBADF),
        _ => Ok(Reply::Number(0)),
    };
    let source = "r = open(\"/x\")\nprint(r == ENOENT, failed(r), r < 0, r == EIO, r)\nprint(close(r))\nmust(r)";
    let (out, end) = run_with(source, &mut kernel);
    assert_eq!(
        out,
        "true true true false ENOENT: No such file or directory\nEBADF: Bad file descriptor\n"
    );
    let Step::Failed(error) = end else { panic!() };
    assert_eq!(
        error.to_string(),
        "line 4, column 1: r failed: ENOENT: No such file or directory."
    );
}

#[test]
fn what_goes_wrong_has_a_place() {
    fails("x = 1\ny = x / 0", "line 2, column 5: Division by zero.");
    fails(
        "x = 0x7fffffffffffffff\nx += 1",
        "line 2, column 1: The result is too large: numbers go up to 9223372036854775807, and down as far.",
    );
    fails(
        "fn f() { return f() }\nf()",
        "line 1, column 17: More than 200 functions wait for one another. Does f call itself without an end?",
    );
    fails(
        "print([1][2])",
        "line 1, column 11: There is no item 2: they go from 0 to 0.",
    );
    fails(
        "if false { x = 1 }\nprint(x)",
        "line 2, column 7: `x` has no value yet.",
    );
}
