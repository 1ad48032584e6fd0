//! Statements.

use super::super::ast::{BinOp, Block, Expr, ExprKind, Function, Ident, Stmt, StmtKind};
use super::super::bytecode::{Op, Slot};
use super::super::diag::{Span, complain};
use super::super::value::Value;
use super::{Body, Loop};

impl<'s> Body<'_, '_, 's> {
    pub(super) fn block(&mut self, block: &Block<'s>) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    /// Values of parameters that were left out.
    pub(super) fn defaults(&mut self, function: &Function<'s>) {
        for (slot, param) in (0u16..).zip(&function.params) {
            if let Some(default) = &param.default {
                let jump = self.emit(Op::JumpIfSet(slot, 0), default.span);
                self.expr(default);
                self.emit(Op::Store(slot.into()), default.span);
                self.land(jump);
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt<'s>) {
        match &stmt.kind {
            StmtKind::Expr(value) => {
                if matches!(value.kind, ExprKind::Binary(BinOp::Eq, ..)) {
                    let words = "This compares, and nothing becomes of it.";
                    let found = complain(value.span, words);
                    self.compiler
                        .complaints
                        .push(found.help("`=` gives a variable its value."));
                }
                self.expr(value);
                self.emit(Op::Pop, value.span);
            }
            StmtKind::Assign(name, op, value) => self.assign(*name, *op, value),
            StmtKind::AssignItem(name, index, op, value) => {
                self.assign_item(*name, index, *op, value);
            }
            StmtKind::If(arms, otherwise) => self.conditional(arms, otherwise.as_ref()),
            StmtKind::While(asked, body) => self.repeated(asked, body),
            StmtKind::For(name, over, body) => self.each(*name, over, body),
            StmtKind::Break => {
                let jump = self.emit(Op::Jump(0), stmt.span);
                if let Some(inner) = self.loops.last_mut() {
                    inner.breaks.push(jump);
                }
            }
            StmtKind::Continue => {
                let again = self.loops.last().map_or(0, |l| l.again);
                self.emit(Op::Jump(again), stmt.span);
            }
            StmtKind::Return(value) => {
                match value {
                    Some(value) => self.expr(value),
                    None => self.constant(Value::Nothing, stmt.span),
                }
                self.emit(Op::Return, stmt.span);
            }
            StmtKind::Global(_) | StmtKind::Function(_) | StmtKind::Empty => {}
        }
    }

    /// A variable that is given a value; a name of the language cannot be one.
    fn target(&mut self, name: Ident<'s>) -> Slot {
        self.check_free(name);
        self.variable(name)
    }

    fn assign(&mut self, name: Ident<'s>, op: Option<BinOp>, value: &Expr<'s>) {
        let slot = self.target(name);
        let Some(op) = op else {
            self.expr(value);
            self.store(slot, name.span);
            return;
        };
        if let (Slot::Local(n), BinOp::Add, ExprKind::Int(by)) = (slot, op, &value.kind)
            && let (Ok(n), Ok(by)) = (u16::try_from(n), i32::try_from(*by))
        {
            self.emit(Op::AddInt(n, by), name.span);
            return;
        }
        self.load(slot, name.span);
        self.expr(value);
        self.emit(Op::Binary(op), name.span);
        self.store(slot, name.span);
    }

    fn assign_item(
        &mut self,
        name: Ident<'s>,
        index: &Expr<'s>,
        op: Option<BinOp>,
        value: &Expr<'s>,
    ) {
        let slot = self.variable(name);
        match op {
            None => {
                self.expr(value);
                self.expr(index);
            }
            Some(op) => {
                let kept = u32::from(self.hidden(1, index.span));
                self.expr(index);
                self.emit(Op::Store(kept), index.span);
                self.load(slot, name.span);
                self.emit(Op::Load(kept), index.span);
                self.emit(Op::Index, index.span);
                self.expr(value);
                self.emit(Op::Binary(op), name.span);
                self.emit(Op::Load(kept), index.span);
            }
        }
        self.emit(Op::StoreItem(slot), name.span);
    }

    fn conditional(&mut self, arms: &[(Expr<'s>, Block<'s>)], otherwise: Option<&Block<'s>>) {
        let mut ends = Vec::new();
        for (asked, body) in arms {
            self.expr(asked);
            let skip = self.emit(Op::JumpIfFalse(0), asked.span);
            self.block(body);
            ends.push(self.emit(Op::Jump(0), asked.span));
            self.land(skip);
        }
        if let Some(body) = otherwise {
            self.block(body);
        }
        for end in ends {
            self.land(end);
        }
    }

    fn repeated(&mut self, asked: &Expr<'s>, body: &Block<'s>) {
        let again = self.here();
        self.expr(asked);
        let out = self.emit(Op::JumpIfFalse(0), asked.span);
        self.body(again, body, asked.span);
        self.land(out);
        self.end_loop();
    }

    /// The inside of a loop, and the jump back.
    fn body(&mut self, again: u32, body: &Block<'s>, span: Span) {
        self.loops.push(Loop {
            again,
            breaks: Vec::new(),
        });
        self.block(body);
        self.emit(Op::Jump(again), span);
    }

    fn end_loop(&mut self) {
        for jump in self.loops.pop().map_or(Vec::new(), |l| l.breaks) {
            self.land(jump);
        }
    }

    fn each(&mut self, name: Ident<'s>, over: &Expr<'s>, body: &Block<'s>) {
        let slot = self.target(name);
        let out = match &over.kind {
            ExprKind::Call(f, args) if f.name == "range" => {
                let kept = self.hidden(3, over.span);
                let args = self.bind_builtin(*f, args, over.span);
                self.range(&args, over.span);
                for n in [2, 1, 0] {
                    self.emit(Op::Store(u32::from(kept) + n), over.span);
                }
                self.emit(Op::StartRange(kept), over.span);
                self.emit(Op::ForRange(kept, 0), over.span)
            }
            _ => {
                let kept = self.hidden(2, over.span);
                self.expr(over);
                self.emit(Op::Store(kept.into()), over.span);
                self.emit(Op::StartList(kept), over.span);
                self.emit(Op::ForList(kept, 0), over.span)
            }
        };
        self.store(slot, name.span);
        self.body(out as u32, body, over.span);
        self.land(out);
        self.end_loop();
    }

    pub(super) fn hidden(&mut self, n: u32, span: Span) -> u16 {
        let complaints = &mut self.compiler.complaints;
        self.scope.hidden(n, span, complaints)
    }

    /// Complains of a variable whose name the language has taken.
    fn check_free(&mut self, name: Ident<'s>) {
        use super::super::names;
        if names::constant(name.name).is_some() {
            let words = format!("`{}` is a constant.", name.name);
            self.complain(complain(name.span, words).help("Take another name, or compare: `==`."));
        }
    }
}
