//! Which names a function has. A name that is given a value anywhere in a function is the
//! function's own, unless the function says `global`.

use super::super::ast::{Block, Function, Ident, Stmt, StmtKind};
use super::super::bytecode::Slot;
use super::super::diag::{Complaint, Span, complain};
use super::super::limits::MAX_VARIABLES;
use super::Unit;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Scope<'s> {
    slots: BTreeMap<&'s str, u32>,
    /// Names by slot; hidden ones are empty.
    variables: Vec<&'s str>,
    globals: BTreeMap<&'s str, u32>,
    full: bool,
}

impl<'s> Scope<'s> {
    pub(super) fn program(unit: &Unit<'s>, complaints: &mut Vec<Complaint>) -> Self {
        let mut scope = Self::default();
        for &name in &unit.given {
            let span = Span::default();
            scope.add(Ident { name, span }, complaints);
        }
        scope.gather(&unit.block, complaints);
        scope
    }

    pub(super) fn function(
        function: &Function<'s>,
        globals: &[&'s str],
        complaints: &mut Vec<Complaint>,
    ) -> Self {
        let mut scope = Self {
            globals: globals
                .iter()
                .copied()
                .zip(0..)
                .filter(|(n, _)| !n.is_empty())
                .collect(),
            ..Self::default()
        };
        for param in &function.params {
            let Ident { name, span } = param.name;
            if scope.slots.contains_key(name) {
                let words = format!("There are two parameters `{name}`.");
                complaints.push(complain(span, words));
            }
            scope.add(param.name, complaints);
        }
        let mut said = Vec::new();
        find(&function.body, &mut |stmt| {
            if let StmtKind::Global(names) = &stmt.kind {
                said.extend(names.iter().copied());
            }
        });
        scope.check_globals(&said, complaints);
        let own = scope.globals.clone();
        scope
            .globals
            .retain(|name, _| said.iter().any(|s| s.name == *name));
        scope.gather(&function.body, complaints);
        // What is only read is looked for among the program's variables too.
        scope.globals.extend(own);
        scope
    }

    fn check_globals(&self, said: &[Ident<'s>], complaints: &mut Vec<Complaint>) {
        for ident in said {
            let words = if self.slots.contains_key(ident.name) {
                format!("`{}` is a parameter.", ident.name)
            } else if !self.globals.contains_key(ident.name) {
                format!("The program has no variable `{}`.", ident.name)
            } else {
                continue;
            };
            complaints.push(complain(ident.span, words));
        }
    }

    /// Finds everything that is given a value.
    fn gather(&mut self, block: &Block<'s>, complaints: &mut Vec<Complaint>) {
        let mut found = Vec::new();
        find(block, &mut |stmt| match &stmt.kind {
            StmtKind::Assign(name, ..) | StmtKind::For(name, ..) => found.push(*name),
            _ => {}
        });
        for name in found {
            if !self.globals.contains_key(name.name) {
                self.add(name, complaints);
            }
        }
    }

    fn add(&mut self, ident: Ident<'s>, complaints: &mut Vec<Complaint>) {
        if self.slots.contains_key(ident.name) {
            return;
        }
        let slot = self.variables.len() as u32;
        if slot as usize >= MAX_VARIABLES {
            self.too_many(ident.span, complaints);
            return;
        }
        self.slots.insert(ident.name, slot);
        self.variables.push(ident.name);
    }

    fn too_many(&mut self, span: Span, complaints: &mut Vec<Complaint>) {
        if !std::mem::replace(&mut self.full, true) {
            let words = format!("There are more than {MAX_VARIABLES} variables here.");
            complaints.push(complain(span, words));
        }
    }

    /// Slots in a row that have no name.
    pub(super) fn hidden(&mut self, n: u32, span: Span, complaints: &mut Vec<Complaint>) -> u16 {
        let slot = self.variables.len();
        if slot + n as usize > MAX_VARIABLES {
            self.too_many(span, complaints);
            return 0;
        }
        self.variables.extend((0..n).map(|_| ""));
        slot as u16
    }

    pub(super) fn find(&self, name: &str) -> Option<Slot> {
        let local = self.slots.get(name).copied().map(Slot::Local);
        local.or_else(|| self.globals.get(name).copied().map(Slot::Global))
    }

    pub(super) fn names(&self) -> Vec<&'s str> {
        self.variables.clone()
    }

    pub(super) fn visible(&self) -> impl Iterator<Item = &'s str> + '_ {
        self.slots.keys().chain(self.globals.keys()).copied()
    }

    pub(super) fn finish(self) -> Vec<String> {
        self.variables.into_iter().map(String::from).collect()
    }
}

/// Every statement of a block and of the blocks inside, functions left out.
pub(super) fn find<'b, 's>(block: &'b Block<'s>, visit: &mut dyn FnMut(&'b Stmt<'s>)) {
    for stmt in block {
        visit(stmt);
        match &stmt.kind {
            StmtKind::If(arms, otherwise) => {
                arms.iter().for_each(|(_, block)| find(block, visit));
                otherwise.iter().for_each(|block| find(block, visit));
            }
            StmtKind::While(_, body) | StmtKind::For(_, _, body) => find(body, visit),
            _ => {}
        }
    }
}
