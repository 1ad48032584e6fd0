//! The field of states as plain data: what every disk that a power cut could leave becomes.

mod words;

pub use words::Teller;

use crate::crash::{Coverage, Field, Judge, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most states that are listed.
const MOST_STATES: usize = 20_000;
/// Most decisions that are told of one state.
const MOST_DECISIONS: usize = 256;

/// How a state is to be taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Taken {
    /// Nothing that was asked for is broken.
    Good,
    /// The filesystem is not whole.
    Damaged,
    /// An expectation does not hold.
    Broken,
    /// It cannot be mounted.
    Unmountable,
}

/// No share is anything but a number.
impl Eq for OutcomeView {}
impl Eq for StateView {}
impl Eq for FieldView {}

/// What became of disks, and how many did so.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct OutcomeView {
    /// The class that the scenario names, by its place; `None`: none of them.
    pub class: Option<u32>,
    /// How it is to be taken.
    pub taken: Taken,
    /// Expectations that do not hold, by their place.
    pub broken: Vec<u32>,
    /// Transactions that recovery replayed.
    pub replayed: u32,
    /// What is wrong, a sentence each.
    pub words: Vec<String>,
    /// States of this outcome.
    pub states: u64,
    /// Their share of all disks, from 0 to 1.
    pub share: f64,
}

/// A state.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct StateView {
    /// The place of its outcome.
    pub outcome: u32,
    /// Parts of writes that it needs lost.
    pub lost: u32,
    /// Parts that it needs there.
    pub kept: u32,
    /// Disks that are this state, as a power of two.
    pub log2_disks: f32,
}

/// A field of states.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FieldView {
    /// The event after which the power is cut.
    pub event: u64,
    /// When that is, ns.
    pub time_ns: u64,
    /// Names of the classes of outcome.
    pub classes: Vec<String>,
    /// Names of the expectations.
    pub expectations: Vec<String>,
    /// What became of the disks, each once.
    pub outcomes: Vec<OutcomeView>,
    /// The states, as they were found.
    pub states: Vec<StateView>,
    /// States beyond those.
    pub more_states: u64,
    /// Parts of writes that are there or not.
    pub atoms: u64,
    /// Disks that the device's rules allow, as a power of two.
    pub log2_disks: f64,
    /// Share of them that is among the states.
    pub share: f64,
    /// All are.
    pub complete: bool,
    /// There is too much: writes are taken as whole, or the oldest as safe.
    pub coarse: bool,
    /// Disks that were recovered to know it.
    pub looked: u64,
}

/// One state, told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateWords {
    /// What has to be lost for its outcome.
    pub sentence: String,
    /// Parts that decide it, in the order in which they were read: what, and whether it
    /// reached the disk.
    pub decisions: Vec<(String, bool)>,
    /// Decisions beyond those.
    pub more_decisions: u64,
    /// The place of its outcome.
    pub outcome: u32,
}

/// A field, as far as it was explored.
pub fn field(field: &Field, event: u64, time_ns: u64) -> FieldView {
    let Coverage {
        atoms,
        log2_disks,
        share,
        complete,
    } = field.coverage();
    let judge = field.judge();
    let mut outcomes: Vec<OutcomeView> = field.verdicts().iter().map(outcome).collect();
    for state in field.states() {
        if let Some(outcome) = outcomes.get_mut(state.verdict as usize) {
            outcome.states += 1;
            outcome.share += state.share;
        }
    }
    let names = |all: &[crate::crash::Condition]| all.iter().map(|c| c.name.clone()).collect();
    let listed = field.states().iter().take(MOST_STATES);
    FieldView {
        event,
        time_ns,
        classes: names(&judge.classes),
        expectations: names(&judge.expectations),
        outcomes,
        states: listed
            .map(|s| {
                let lost = s.lost().count();
                StateView {
                    outcome: s.verdict,
                    lost: lost as u32,
                    kept: (s.decisions.len() - lost) as u32,
                    log2_disks: (log2_disks + libm::log2(s.share)) as f32,
                }
            })
            .collect(),
        more_states: field.states().len().saturating_sub(MOST_STATES) as u64,
        atoms,
        log2_disks,
        share,
        complete,
        coarse: field.pending().is_coarse(),
        looked: field.looked(),
    }
}

fn outcome(v: &Verdict) -> OutcomeView {
    let cannot = v
        .unmountable
        .iter()
        .map(|w| format!("It cannot be mounted: {w}"));
    let unanswered = v
        .unanswered
        .iter()
        .map(|(name, w)| format!("`{name}` cannot be told: {w}"));
    OutcomeView {
        class: v.class,
        taken: taken(v),
        broken: v.broken.clone(),
        replayed: v.replayed,
        words: cannot
            .chain(v.problems.iter().cloned())
            .chain(unanswered)
            .collect(),
        states: 0,
        share: 0.0,
    }
}

/// How a verdict is to be taken.
pub fn taken(v: &Verdict) -> Taken {
    if v.unmountable.is_some() {
        Taken::Unmountable
    } else if !v.broken.is_empty() || !v.unanswered.is_empty() {
        Taken::Broken
    } else if !v.problems.is_empty() {
        Taken::Damaged
    } else {
        Taken::Good
    }
}

/// What an outcome is called: its class and what is wrong, in a few words.
pub fn outcome_words(v: &Verdict, judge: &Judge) -> String {
    let mut words = Vec::new();
    let class = v.class.and_then(|c| judge.classes.get(c as usize));
    words.extend(class.map(|c| c.name.clone()));
    match taken(v) {
        Taken::Good if class.is_none() => words.push("as expected".into()),
        Taken::Good => {}
        Taken::Damaged => words.push("filesystem damaged".into()),
        Taken::Unmountable => words.push("cannot be mounted".into()),
        Taken::Broken => {
            let broken = v
                .broken
                .iter()
                .filter_map(|b| judge.expectations.get(*b as usize));
            let broken: Vec<&str> = broken.map(|c| c.name.as_str()).collect();
            words.push(format!("breaks “{}”", broken.join("”, “")));
        }
    }
    words.join(", ")
}

/// One state, told: `field` looks at a few disks more to find what has to be lost.
pub fn state(field: &mut Field, teller: &Teller, nr: u32) -> Option<StateWords> {
    let found = field.states().get(nr as usize)?.clone();
    let verdict = field.verdicts().get(found.verdict as usize)?.clone();
    let lost: BTreeSet<_> = field.shorten(nr, |v| *v == verdict);
    let pending = field.pending();
    let told = found.decisions.iter().take(MOST_DECISIONS);
    Some(StateWords {
        sentence: teller.sentence(pending, &lost),
        decisions: told
            .map(|d| (teller.part(pending, d.atom), d.kept))
            .collect(),
        more_decisions: found.decisions.len().saturating_sub(MOST_DECISIONS) as u64,
        outcome: found.verdict,
    })
}
