//! A program as a tree.

use super::diag::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ident<'s> {
    pub(super) name: &'s str,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) struct Expr<'s> {
    pub(super) span: Span,
    pub(super) kind: ExprKind<'s>,
    /// How many expressions lie inside one another here.
    pub(super) height: u32,
}

#[derive(Clone, Debug)]
pub(super) enum ExprKind<'s> {
    Nothing,
    Bool(bool),
    Int(i64),
    Text(Vec<u8>),
    /// A string with values in it.
    Join(Vec<Expr<'s>>),
    Name(&'s str),
    List(Vec<Expr<'s>>),
    Unary(UnOp, Box<Expr<'s>>),
    Binary(BinOp, Box<Expr<'s>>, Box<Expr<'s>>),
    And(Box<Expr<'s>>, Box<Expr<'s>>),
    Or(Box<Expr<'s>>, Box<Expr<'s>>),
    Index(Box<Expr<'s>>, Box<Expr<'s>>),
    Field(Box<Expr<'s>>, Ident<'s>),
    Call(Ident<'s>, Vec<Arg<'s>>),
}

#[derive(Clone, Debug)]
pub(super) struct Arg<'s> {
    pub(super) name: Option<Ident<'s>>,
    pub(super) value: Expr<'s>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnOp {
    Minus,
    Not,
    Invert,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BinOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitOr,
    BitAnd,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
}

#[derive(Clone, Debug)]
pub(super) struct Stmt<'s> {
    pub(super) span: Span,
    pub(super) kind: StmtKind<'s>,
}

pub(super) type Block<'s> = Vec<Stmt<'s>>;

#[derive(Clone, Debug)]
pub(super) enum StmtKind<'s> {
    Expr(Expr<'s>),
    /// `a = 1`, `a += 1`.
    Assign(Ident<'s>, Option<BinOp>, Expr<'s>),
    /// `a[i] = 1`, `a[i] += 1`.
    AssignItem(Ident<'s>, Expr<'s>, Option<BinOp>, Expr<'s>),
    If(Vec<(Expr<'s>, Block<'s>)>, Option<Block<'s>>),
    While(Expr<'s>, Block<'s>),
    For(Ident<'s>, Expr<'s>, Block<'s>),
    Break,
    Continue,
    Return(Option<Expr<'s>>),
    Global(Vec<Ident<'s>>),
    Function(Function<'s>),
    /// `pass`, or what could not be read.
    Empty,
}

#[derive(Clone, Debug)]
pub(super) struct Function<'s> {
    pub(super) name: Ident<'s>,
    pub(super) params: Vec<Param<'s>>,
    pub(super) body: Block<'s>,
}

#[derive(Clone, Debug)]
pub(super) struct Param<'s> {
    pub(super) name: Ident<'s>,
    pub(super) default: Option<Expr<'s>>,
}
