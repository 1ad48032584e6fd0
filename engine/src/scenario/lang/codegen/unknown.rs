//! What to say of names that nobody knows.

use super::super::ast::{Arg, Expr, ExprKind, Function, Ident};
use super::super::diag::{Complaint, complain, nearest};
use super::super::names;
use super::Body;

/// `f(a, b = 1)`.
pub(in super::super) fn written(function: &Function<'_>) -> String {
    let params = function.params.iter().map(|p| match &p.default {
        Some(default) => format!("{} = {}", p.name.name, short(default)),
        None => p.name.name.to_string(),
    });
    let params = params.collect::<Vec<_>>().join(", ");
    format!("{}({params})", function.name.name)
}

/// A default, if it is a plain value.
fn short(value: &Expr<'_>) -> String {
    const UNITS: [(i64, &str); 4] = [(30, "G"), (20, "M"), (10, "k"), (0, "")];
    match &value.kind {
        ExprKind::Int(n) => {
            let unit = UNITS
                .iter()
                .find(|(bits, _)| *n != 0 && n % (1 << bits) == 0);
            let (bits, unit) = unit.unwrap_or(&(0, ""));
            format!("{}{unit}", n >> bits)
        }
        ExprKind::Text(text) => format!("{:?}", String::from_utf8_lossy(text)),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Name(name) => (*name).into(),
        ExprKind::Nothing => "nothing".into(),
        _ => "…".into(),
    }
}

/// What people mean who know other languages.
const FOREIGN: [(&str, &str); 40] = [
    ("True", "Write true."),
    ("False", "Write false."),
    ("TRUE", "Write true."),
    ("FALSE", "Write false."),
    ("None", "Write nothing."),
    ("NULL", "Write nothing."),
    ("null", "Write nothing."),
    ("nil", "Write nothing."),
    (
        "errno",
        "A call that fails gives its error: r = open(…), then r == ENOENT.",
    ),
    ("elif", "Write `else if`."),
    ("printf", "Write print(\"i is {i}\")."),
    ("fprintf", "Write print(\"i is {i}\")."),
    ("println", "Write print(…)."),
    ("puts", "Write print(…)."),
    ("perror", "Write print(r): an error shows its words."),
    ("strerror", "Write text(r): an error shows its words."),
    ("fopen", "Write open(path, O_RDWR | O_CREAT)."),
    ("fclose", "Write close(fd)."),
    ("fwrite", "Write write(fd, contents)."),
    ("fread", "Write read(fd, len)."),
    (
        "fflush",
        "Nothing is buffered in the program: fsync(fd) makes it safe.",
    ),
    ("strlen", "Write len(text)."),
    ("sizeof", "Write len(text)."),
    ("append", "Write push(list, x)."),
    ("remove", "Write unlink(path), or take(list, i)."),
    ("delete", "Write unlink(path)."),
    ("rm", "Write unlink(path)."),
    ("mv", "Write rename(old, new)."),
    ("ln", "Write link(old, new) or symlink(target, path)."),
    ("listdir", "Write readdir(fd) with an open directory."),
    ("str", "Write text(x), or \"{x}\"."),
    ("int", "Write number(text)."),
    ("rand", "Write random(n)."),
    ("randint", "Write random(a, b): from a to b-1."),
    ("usleep", "Write sleep(5us)."),
    ("nanosleep", "Write sleep(5ns)."),
    ("time", "Write now(): nanoseconds since the start."),
    ("assert", "Write if not … { exit() }, or must(call)."),
    (
        "malloc",
        "There is no memory to ask for; data(n) gives n bytes to write.",
    ),
    (
        "memset",
        "zeros(n) gives n zero bytes, pattern(n, seed) others.",
    ),
];

fn foreign(name: &str) -> Option<String> {
    let found = FOREIGN.iter().find(|(n, _)| *n == name);
    found.map(|(_, words)| (*words).into())
}

fn did_you_mean(like: Option<&str>) -> Option<String> {
    like.map(|like| format!("Did you mean {like}?"))
}

pub(super) fn variable(body: &Body<'_, '_, '_>, ident: Ident<'_>) -> Complaint {
    let name = ident.name;
    if let Some(signature) = names::signature(name) {
        let words = format!("`{name}` is a function, and its arguments are missing.");
        return complain(ident.span, words).help(format!("It is written {}.", signature.written()));
    }
    let functions = || {
        body.compiler
            .own
            .get(name)
            .or_else(|| body.compiler.prelude.get(name))
    };
    if let Some(known) = functions() {
        let words = format!("`{name}` is a function, and its arguments are missing.");
        return complain(ident.span, words)
            .help(format!("It is written {}.", written(known.function)));
    }
    let known = body
        .scope
        .visible()
        .chain(names::constants().map(|(n, _)| n));
    let words = format!("Nothing is called `{name}` here.");
    let like = || nearest(name, known).filter(|like| like.len() > 1 || name.len() > 1);
    complain(ident.span, words).help_if(foreign(name).or_else(|| did_you_mean(like())))
}

pub(super) fn function(body: &Body<'_, '_, '_>, ident: Ident<'_>, args: &[Arg<'_>]) -> Complaint {
    let name = ident.name;
    if body.scope.find(name).is_some() {
        let words = format!("`{name}` is a variable, and no function.");
        return complain(ident.span, words);
    }
    let own = body.compiler.own.keys().copied();
    let known = names::signatures().map(|s| s.name);
    let known = own
        .chain(known)
        .chain(body.compiler.prelude.keys().copied());
    let compares = args.iter().any(|arg| Body::compares(&arg.value));
    let help = foreign(name).or_else(|| did_you_mean(nearest(name, known)));
    let words = format!("There is no function `{name}`.");
    let complaint = complain(ident.span, words).help_if(help);
    match name {
        "assert" if compares => complaint.help("Write if a != b { print(a); exit() }."),
        _ => complaint,
    }
}
