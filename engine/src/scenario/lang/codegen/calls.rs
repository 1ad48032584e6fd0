//! Calls of functions, of the language's own and of the kernel: which argument is which
//! parameter.

use super::super::ast::{Arg, ExprKind, Ident};
use super::super::bytecode::Op;
use super::super::diag::{Complaint, Span, complain, nearest};
use super::super::names::{self, Builtin, Default, Parameter, Signature, What};
use super::super::value::Value;
use super::unknown;
use super::{Body, Known};

/// A parameter as far as arguments are concerned: its name, and whether it may be left out.
type Formal<'p> = (&'p str, bool);

/// Which argument is which parameter's.
fn bind<'x, 's>(
    params: &[Formal<'_>],
    args: &'x [Arg<'s>],
    written: &str,
    span: Span,
) -> Result<Vec<Option<&'x Arg<'s>>>, Complaint> {
    let help = || format!("It is written {written}.");
    let mut bound = vec![None; params.len()];
    let mut named = false;
    for (n, arg) in args.iter().enumerate() {
        let place = match arg.name {
            Some(name) => {
                named = true;
                let known = params.iter().position(|(p, _)| *p == name.name);
                known.ok_or_else(|| {
                    let like = nearest(name.name, params.iter().map(|(p, _)| *p));
                    let like = like.map(|l| format!("Did you mean {l}? "));
                    let words = format!("There is no parameter `{}`.", name.name);
                    complain(name.span, words).help(like.unwrap_or_default() + &help())
                })?
            }
            None if named => {
                let words = "An argument without a name stands behind one with a name.";
                return Err(complain(arg.value.span, words).help(help()));
            }
            None => n,
        };
        match bound.get_mut(place) {
            None => return Err(count(params, args.len(), arg.value.span).help(help())),
            Some(Some(_)) => {
                let words = format!("`{}` is given twice.", params[place].0);
                return Err(complain(arg.value.span, words).help(help()));
            }
            Some(free) => *free = Some(arg),
        }
    }
    let missing = params
        .iter()
        .zip(&bound)
        .find(|((_, optional), b)| !optional && b.is_none());
    match missing {
        Some(((name, _), _)) => {
            let words = format!("The argument `{name}` is missing.");
            Err(complain(span, words).help(help()))
        }
        None => Ok(bound),
    }
}

fn count(params: &[Formal<'_>], given: usize, span: Span) -> Complaint {
    let most = params.len();
    let words = match most {
        0 => "There are no arguments here.".into(),
        1 => format!("There is one argument at most, and {given} are given."),
        _ => format!("There are {most} arguments at most, and {given} are given."),
    };
    complain(span, words)
}

impl<'s> Body<'_, '_, 's> {
    pub(super) fn call(&mut self, name: Ident<'s>, args: &[Arg<'s>], span: Span) {
        let own = self.compiler.own.get(name.name).copied();
        let own = own.filter(|_| !self.unit.prelude);
        let prelude = || self.compiler.prelude.get(name.name).copied();
        if let Some(signature) = names::signature(name.name) {
            self.language(signature, name, args, span);
        } else if let Some(known) = own.or_else(prelude) {
            self.invoke(known, name, args, span);
        } else {
            args.iter().for_each(|arg| self.expr(&arg.value));
            let complaint = unknown::function(self, name, args);
            self.complain(complaint);
        }
    }

    /// A function of the program or of the prelude.
    fn invoke(&mut self, known: Known<'_, 's>, name: Ident<'s>, args: &[Arg<'s>], span: Span) {
        let params = &known.function.params;
        let formals: Vec<Formal<'_>> = params
            .iter()
            .map(|p| (p.name.name, p.default.is_some()))
            .collect();
        let written = unknown::written(known.function);
        let bound = match bind(&formals, args, &written, name.span) {
            Ok(bound) => bound,
            Err(complaint) => return self.complain(complaint),
        };
        for arg in bound {
            match arg {
                Some(arg) => self.expr(&arg.value),
                None => drop(self.emit(Op::Unset, span)),
            }
        }
        let key = (known.unit.prelude, known.function.name.name);
        let n = match self.compiler.numbers.get(&key) {
            Some(n) => *n,
            None => self.compiler.first_use(key),
        };
        self.emit(Op::Invoke(n), name.span);
    }

    /// Arguments of a function of the language; empty where they are wrong.
    pub(super) fn bind_builtin<'x>(
        &mut self,
        name: Ident<'s>,
        args: &'x [Arg<'s>],
        span: Span,
    ) -> Vec<Option<&'x Arg<'s>>> {
        let Some(signature) = names::signature(name.name) else {
            return Vec::new();
        };
        let optional = |p: &Parameter| p.default != Default::Needed;
        let formals: Vec<_> = signature
            .params
            .iter()
            .map(|p| (p.name, optional(p)))
            .collect();
        let _ = span;
        bind(&formals, args, &signature.written(), name.span).unwrap_or_else(|complaint| {
            self.complain(complaint);
            Vec::new()
        })
    }

    fn language(&mut self, what: &Signature, name: Ident<'s>, args: &[Arg<'s>], span: Span) {
        if what.what == What::Builtin(Builtin::Print) {
            return self.print(args, name.span);
        }
        let bound = self.bind_builtin(name, args, span);
        if bound.len() != what.params.len() {
            return;
        }
        match what.what {
            What::Builtin(Builtin::Push | Builtin::Pop | Builtin::Take) => {
                return self.changes(what, name, &bound);
            }
            What::Builtin(Builtin::Range) => self.range(&bound, span),
            _ => self.arguments(what, &bound, span),
        }
        let n = what.params.len() as u16;
        match what.what {
            What::Call(sys) => drop(self.emit(Op::Call(sys, n), name.span)),
            What::Builtin(Builtin::Exit) => drop(self.emit(Op::End, name.span)),
            What::Builtin(Builtin::Must) => self.must(&bound, name.span),
            What::Builtin(builtin) => drop(self.emit(Op::Builtin(builtin, n), name.span)),
        }
    }

    fn arguments(&mut self, what: &Signature, bound: &[Option<&Arg<'s>>], span: Span) {
        for (param, arg) in what.params.iter().zip(bound) {
            match (arg, param.default) {
                (Some(arg), _) => self.expr(&arg.value),
                (None, Default::Int(n)) => self.int(n, span),
                (None, _) => self.constant(Value::Nothing, span),
            }
        }
    }

    fn print(&mut self, args: &[Arg<'s>], span: Span) {
        for arg in args {
            if let Some(name) = arg.name {
                let words = "print has no named arguments.";
                self.complain(complain(name.span, words));
            }
            self.expr(&arg.value);
        }
        let n = u16::try_from(args.len()).unwrap_or_else(|_| {
            self.complain(complain(span, "There are too many arguments here."));
            0
        });
        self.emit(Op::Builtin(Builtin::Print, n), span);
    }

    /// `must`: what is on the stack, and what was called.
    fn must(&mut self, bound: &[Option<&Arg<'s>>], span: Span) {
        let called = match bound {
            [Some(Arg { value, .. })] => match &value.kind {
                ExprKind::Call(name, _) => name.name,
                ExprKind::Name(name) => name,
                _ => "the call",
            },
            _ => "the call",
        };
        let n = self.compiler.constants.text(called.as_bytes());
        self.emit(Op::Constant(n), span);
        self.emit(Op::Builtin(Builtin::Must, 2), span);
    }

    /// `push`, `pop` and `take` change the variable that they are given.
    fn changes(&mut self, what: &Signature, name: Ident<'s>, bound: &[Option<&Arg<'s>>]) {
        let list = bound.first().copied().flatten().map(|arg| &arg.value);
        let Some((ExprKind::Name(list), at)) = list.map(|v| (&v.kind, v.span)) else {
            let at = list.map_or(name.span, |v| v.span);
            let words = format!("`{}` changes a list in a variable.", what.name);
            return self.complain(complain(at, words).expected(["the name of a variable"]));
        };
        let slot = self.variable(Ident {
            name: list,
            span: at,
        });
        if let Some(Some(arg)) = bound.get(1) {
            self.expr(&arg.value);
        }
        let op = match what.what {
            What::Builtin(Builtin::Push) => Op::Push(slot),
            What::Builtin(Builtin::Pop) => Op::TakeLast(slot),
            _ => Op::TakeAt(slot),
        };
        self.emit(op, name.span);
    }
}

impl<'s> super::Compiler<'_, 's> {
    /// The number of a function of the prelude that is called for the first time.
    fn first_use(&mut self, (_, name): (bool, &'s str)) -> u32 {
        match self.prelude.get(name).copied() {
            Some(known) => self.number(known),
            None => 0,
        }
    }
}
