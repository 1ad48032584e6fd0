//! Expressions.

use super::super::ast::{Arg, BinOp, Expr, ExprKind, Ident, UnOp};
use super::super::bytecode::{Op, Slot};
use super::super::diag::{Span, complain, nearest};
use super::super::names::{self, Constant};
use super::super::value::Value;
use super::Body;
use super::unknown;

impl<'s> Body<'_, '_, 's> {
    /// Leaves the value on the stack.
    pub(super) fn expr(&mut self, expr: &Expr<'s>) {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Nothing => self.constant(Value::Nothing, span),
            ExprKind::Bool(b) => self.constant(Value::Bool(*b), span),
            ExprKind::Int(n) => self.int(*n, span),
            ExprKind::Text(bytes) => {
                let n = self.compiler.constants.text(bytes);
                self.emit(Op::Constant(n), span);
            }
            ExprKind::Join(parts) => {
                parts.iter().for_each(|part| self.expr(part));
                self.emit(Op::Join(parts.len() as u32), span);
            }
            ExprKind::Name(name) => self.name(Ident { name, span }),
            ExprKind::List(items) => {
                items.iter().for_each(|item| self.expr(item));
                self.emit(Op::List(items.len() as u32), span);
            }
            ExprKind::Unary(op, inner) => self.unary(*op, inner, span),
            ExprKind::Binary(op, left, right) => {
                self.expr(left);
                self.expr(right);
                self.emit(Op::Binary(*op), span);
            }
            ExprKind::And(left, right) => self.shortcut(Op::AndJump(0), left, right),
            ExprKind::Or(left, right) => self.shortcut(Op::OrJump(0), left, right),
            ExprKind::Index(of, index) => {
                self.expr(of);
                self.expr(index);
                self.emit(Op::Index, index.span);
            }
            ExprKind::Field(of, name) => self.field(of, *name),
            ExprKind::Call(name, args) => self.call(*name, args, span),
        }
    }

    pub(super) fn constant(&mut self, value: Value, span: Span) {
        let n = self.compiler.constants.add(value);
        self.emit(Op::Constant(n), span);
    }

    pub(super) fn int(&mut self, n: i64, span: Span) {
        let op = match i32::try_from(n) {
            Ok(n) => Op::Int(n),
            Err(_) => Op::Constant(self.compiler.constants.int(n)),
        };
        self.emit(op, span);
    }

    fn unary(&mut self, op: UnOp, inner: &Expr<'s>, span: Span) {
        match (op, &inner.kind) {
            (UnOp::Minus, ExprKind::Int(n)) => self.int(n.wrapping_neg(), span),
            _ => {
                self.expr(inner);
                self.emit(Op::Unary(op), span);
            }
        }
    }

    fn shortcut(&mut self, jump: Op, left: &Expr<'s>, right: &Expr<'s>) {
        self.expr(left);
        let jump = self.emit(jump, left.span);
        self.expr(right);
        self.emit(Op::Truth, right.span);
        self.land(jump);
    }

    fn field(&mut self, of: &Expr<'s>, name: Ident<'s>) {
        self.expr(of);
        let known = || names::FIELDS.iter().map(|(n, _)| *n);
        if !known().any(|n| n == name.name) {
            let field = name.name.strip_prefix("st_").unwrap_or(name.name);
            let help = nearest(field, known()).map(|n| format!("Did you mean .{n}?"));
            let words = format!("There is no field `{}`.", name.name);
            self.complain(complain(name.span, words).help_if(help));
        }
        let fields = &mut self.compiler.fields;
        let n = fields
            .iter()
            .position(|f| f == name.name)
            .unwrap_or_else(|| {
                fields.push(name.name.into());
                fields.len() - 1
            });
        self.emit(Op::Field(n as u32), name.span);
    }

    fn name(&mut self, ident: Ident<'s>) {
        match (self.scope.find(ident.name), names::constant(ident.name)) {
            (Some(slot), _) => self.load(slot, ident.span),
            (None, Some(Constant::Int(n))) => self.int(n, ident.span),
            (None, Some(Constant::Error(errno))) => {
                let n = self.compiler.constants.error(errno);
                self.emit(Op::Constant(n), ident.span);
            }
            (None, None) => {
                let complaint = unknown::variable(self, ident);
                self.complain(complaint);
            }
        }
    }

    /// A variable that has to be there.
    pub(super) fn variable(&mut self, ident: Ident<'s>) -> Slot {
        self.scope.find(ident.name).unwrap_or_else(|| {
            let complaint = unknown::variable(self, ident);
            self.complain(complaint);
            Slot::Local(0)
        })
    }

    pub(super) fn load(&mut self, slot: Slot, span: Span) {
        self.emit(
            match slot {
                Slot::Local(n) => Op::Load(n),
                Slot::Global(n) => Op::LoadGlobal(n),
            },
            span,
        );
    }

    pub(super) fn store(&mut self, slot: Slot, span: Span) {
        self.emit(
            match slot {
                Slot::Local(n) => Op::Store(n),
                Slot::Global(n) => Op::StoreGlobal(n),
            },
            span,
        );
    }

    /// Start, end and step of a range, on the stack: `range(n)` begins at 0.
    pub(super) fn range(&mut self, args: &[Option<&Arg<'s>>], span: Span) {
        let [start, end, step] = [0, 1, 2].map(|n| args.get(n).copied().flatten());
        match (start, end) {
            (Some(n), None) => {
                self.int(0, span);
                self.expr(&n.value);
            }
            (Some(start), Some(end)) => {
                self.expr(&start.value);
                self.expr(&end.value);
            }
            (None, _) => {
                self.int(0, span);
                self.int(0, span);
            }
        }
        match step {
            Some(step) => self.expr(&step.value),
            None => self.int(1, span),
        }
    }

    /// Whether something is compared with `==`: for messages.
    pub(super) fn compares(expr: &Expr<'s>) -> bool {
        matches!(expr.kind, ExprKind::Binary(BinOp::Eq, ..))
    }
}
