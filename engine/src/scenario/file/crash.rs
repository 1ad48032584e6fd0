//! What a power cut may do, and what has to hold after one.

use super::Reader;
use super::raw::{self, Raw};
use crate::crash::{Order, Rules, Tear};
use crate::scenario::{Expectation, ProcessSpec, lang};
use std::collections::BTreeSet;
use std::sync::Arc;
use toml::Spanned;

/// Most conditions of a kind.
const MOST: usize = 64;

/// What a scenario says of power cuts.
#[derive(Debug, Default)]
pub(super) struct Crash {
    pub(super) rules: Rules,
    pub(super) outcomes: Vec<Expectation>,
    pub(super) expectations: Vec<Expectation>,
}

impl Reader<'_> {
    pub(super) fn crash(&mut self, raw: &Raw, processes: &[ProcessSpec]) -> Crash {
        let names: BTreeSet<&str> = processes
            .iter()
            .flat_map(|p| p.program.variables())
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        let before = self.common(raw.crash.program.as_ref(), &names);
        let outcomes = raw.outcome.iter().map(|o| (&o.name, &o.when));
        let expectations = raw.expect.iter().map(|e| (&e.name, &e.condition));
        Crash {
            rules: self.crash_rules(&raw.crash),
            outcomes: self.conditions(&before, &names, outcomes),
            expectations: self.conditions(&before, &names, expectations),
        }
    }

    fn crash_rules(&mut self, raw: &raw::Crash) -> Rules {
        let order = self.one_of(
            raw.order.as_ref(),
            "order",
            &[("any", Order::Any), ("kept", Order::Kept)],
        );
        let tear = self.one_of(
            raw.tear.as_ref(),
            "tear",
            &[
                ("4k", Tear::Block(4096)),
                ("512", Tear::Sector),
                ("write", Tear::Never),
            ],
        );
        let lies = self.one_of(
            raw.flush.as_ref(),
            "flush",
            &[("honoured", false), ("ignored", true)],
        );
        Rules { tear, order, lies }
    }

    /// The value of a word; the first where none is given.
    fn one_of<T: Copy + Default>(
        &mut self,
        word: Option<&Spanned<String>>,
        key: &str,
        known: &[(&str, T)],
    ) -> T {
        let Some(word) = word else {
            return T::default();
        };
        let found = known.iter().find(|(name, _)| name == word.get_ref());
        if let Some((_, value)) = found {
            return *value;
        }
        let names: Vec<String> = known.iter().map(|(n, _)| format!("\"{n}\"")).collect();
        let words = format!(
            "{key} is {}, not \"{}\"",
            names.join(" or "),
            word.get_ref()
        );
        self.wrong(word.span(), words);
        T::default()
    }

    /// The program that all conditions begin with.
    fn common(&mut self, source: Option<&Spanned<String>>, names: &[&str]) -> String {
        let Some(source) = source else {
            return String::new();
        };
        // With a condition behind it, so that what it may use is what they may.
        match lang::compile_condition(source.get_ref(), "true", names) {
            Ok(_) => source.get_ref().clone(),
            Err(_) => {
                let errors = self.errors.len();
                self.program(source);
                if errors == self.errors.len() {
                    self.wrong(
                        source.span(),
                        "this program cannot stand before a condition",
                    );
                }
                String::new()
            }
        }
    }

    fn conditions<'r>(
        &mut self,
        before: &str,
        names: &[&str],
        raw: impl ExactSizeIterator<Item = (&'r String, &'r Spanned<String>)>,
    ) -> Vec<Expectation> {
        let many = raw.len() > MOST;
        let mut all = Vec::new();
        for (name, source) in raw.take(MOST) {
            all.push(self.condition(before, names, name, source));
            if many && all.len() == MOST {
                self.wrong(
                    source.span(),
                    format!("at most {MOST} of these can be asked for"),
                );
            }
        }
        all
    }

    fn condition(
        &mut self,
        before: &str,
        names: &[&str],
        name: &str,
        source: &Spanned<String>,
    ) -> Expectation {
        let (line, column) = self.beginning(source);
        let program = match lang::compile_condition(before, source.get_ref(), names) {
            Ok(program) => program,
            Err(found) => {
                self.place_all(found, (line, column));
                lang::Program::default()
            }
        };
        Expectation {
            name: name.to_owned(),
            condition: source.get_ref().clone(),
            line,
            program: Arc::new(program),
        }
    }
}
