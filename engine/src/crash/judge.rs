//! What becomes of one disk: recovered by a mount, checked, and held against what the
//! scenario expects.

use super::check;
use super::guide::Guide;
use super::medium::{CutMedium, Decision};
use super::pending::Pending;
use crate::event::What;
use crate::kernel::{Caller, Errno, Mount, MountOptions, OpenFlags};
use crate::machine::run_call;
use crate::scenario::lang::{Given, Program, Step, Vm};
use crate::scenario::{Answer, Call, Reply, Scenario};
use crate::units::SimTime;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Instructions that all conditions may take on one disk.
const FUEL: u64 = 4_000_000;
/// Calls that they may make.
const MOST_CALLS: u32 = 10_000;
/// Bytes that they may read.
const MOST_READ: u64 = 64 << 20;

/// A condition, ready to be asked.
#[derive(Clone, Debug)]
pub struct Condition {
    /// What it is called.
    pub name: String,
    /// What has to be true.
    pub program: Arc<Program>,
}

/// What is asked of every recovered disk.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// Classes of outcome: a state is of the first whose condition is true.
    pub classes: Vec<Condition>,
    /// What has to hold.
    pub expectations: Vec<Condition>,
    /// How the disk is mounted.
    pub options: MountOptions,
    /// What the processes' variables held when the power was cut.
    pub given: BTreeMap<String, Given>,
    /// When that was.
    pub now: SimTime,
}

/// What the conditions may still take on one disk: a stranger's cost no more than anybody's.
struct Budget {
    fuel: u64,
    calls: u32,
    bytes: u64,
}

/// What became of a disk.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Verdict {
    /// Why it cannot be mounted.
    pub unmountable: Option<String>,
    /// What the check finds wrong.
    pub problems: Vec<String>,
    /// The place of its class among [`Judge::classes`]; `None`: it is of none.
    pub class: Option<u32>,
    /// Places of the expectations that do not hold.
    pub broken: Vec<u32>,
    /// Why conditions could not be asked: the condition's name and a sentence.
    pub unanswered: Vec<(String, String)>,
    /// Transactions that recovery replayed.
    pub replayed: u32,
}

impl Verdict {
    /// Nothing is known, and nothing wrong.
    pub(super) const NONE: Self = Self {
        unmountable: None,
        problems: Vec::new(),
        class: None,
        broken: Vec::new(),
        unanswered: Vec::new(),
        replayed: 0,
    };

    /// Whether nothing is wrong.
    pub fn is_good(&self) -> bool {
        self.unmountable.is_none()
            && self.problems.is_empty()
            && self.broken.is_empty()
            && self.unanswered.is_empty()
    }
}

impl Judge {
    /// The judge that a scenario asks for.
    pub fn of(scenario: &Scenario) -> Self {
        let all = |some: &[crate::scenario::Expectation]| {
            let ready = some.iter().map(|e| Condition {
                name: e.name.clone(),
                program: e.program.clone(),
            });
            ready.collect()
        };
        Self {
            classes: all(&scenario.outcomes),
            expectations: all(&scenario.expectations),
            options: scenario.mount.clone(),
            given: BTreeMap::new(),
            now: SimTime(0),
        }
    }

    /// Recovers a disk and asks what there is to ask; which parts of the pending writes
    /// that depended on, in the order in which they were read.
    pub(super) fn judge(&self, pending: &Arc<Pending>, guide: Guide) -> (Verdict, Vec<Decision>) {
        let medium = CutMedium::new(pending.clone(), guide);
        let verdict = self.look(&medium);
        (verdict, medium.path())
    }

    fn look(&self, medium: &CutMedium) -> Verdict {
        let mut verdict = Verdict::default();
        let mut mount = match Mount::mount_watched(Box::new(medium.clone()), self.options.clone()) {
            Ok(mount) => mount,
            Err(e) => {
                verdict.unmountable = Some(e.to_string());
                verdict.broken = (0..self.expectations.len() as u32).collect();
                return verdict;
            }
        };
        let events = mount.take_events();
        let replayed = |e: &&crate::event::Event| matches!(e.what, What::Recovered { .. });
        verdict.replayed = events.iter().filter(replayed).count() as u32;
        mount.vol.events.keep(false);
        verdict.problems = check::check(mount.vol.seen());
        let mut budget = Budget {
            fuel: FUEL,
            calls: MOST_CALLS,
            bytes: MOST_READ,
        };
        let mut ask = |condition: &Condition, verdict: &mut Verdict| {
            let answer = self.run(condition, &mut mount, &mut budget);
            answer.unwrap_or_else(|words| {
                verdict.unanswered.push((condition.name.clone(), words));
                false
            })
        };
        for (nr, condition) in (0u32..).zip(&self.classes) {
            if verdict.class.is_none() && ask(condition, &mut verdict) {
                verdict.class = Some(nr);
            }
        }
        for (nr, condition) in (0u32..).zip(&self.expectations) {
            if !ask(condition, &mut verdict) {
                verdict.broken.push(nr);
            }
        }
        verdict
    }

    /// Whether a condition is true of a mounted disk; it may read, and change nothing.
    fn run(
        &self,
        condition: &Condition,
        mount: &mut Mount,
        budget: &mut Budget,
    ) -> Result<bool, String> {
        let mut vm = Vm::new(condition.program.clone(), 0);
        vm.set_now(self.now);
        for name in condition.program.given() {
            match self.given.get(name) {
                Some(value) => vm.give(name, value),
                None => vm.give_nothing(name),
            }
        }
        loop {
            match vm.step(&mut budget.fuel) {
                Step::Call(call) => vm.answer(&budget.reading(mount, &call)?),
                Step::Print(_) => {}
                Step::Done => return vm.held().ok_or_else(|| "it came to no value".into()),
                Step::Failed(e) => return Err(e.words),
                Step::OutOfFuel => {
                    return Err(format!(
                        "all conditions together take more than {FUEL} instructions"
                    ));
                }
            }
        }
    }
}

impl Budget {
    /// Runs a call and charges it.
    fn reading(&mut self, mount: &mut Mount, call: &Call) -> Result<Answer, String> {
        let left = self.calls.checked_sub(1);
        self.calls = left
            .ok_or_else(|| format!("all conditions together make more than {MOST_CALLS} calls"))?;
        let answer = reading(mount, call);
        if let Ok(Reply::Bytes(bytes)) = &answer {
            let left = self.bytes.checked_sub(bytes[..].len() as u64);
            self.bytes = left.ok_or_else(|| {
                format!(
                    "all conditions together read more than {} MiB",
                    MOST_READ >> 20
                )
            })?;
        }
        Ok(answer)
    }
}

/// Runs a call that changes nothing; any other fails as on a disk mounted read-only.
fn reading(mount: &mut Mount, call: &Call) -> Answer {
    let reads = match call {
        Call::Open { flags, .. } => !flags
            .intersects(OpenFlags::WRONLY | OpenFlags::RDWR | OpenFlags::CREAT | OpenFlags::TRUNC),
        Call::Fiemap { sync, .. } => !sync,
        Call::Close { .. }
        | Call::Read { .. }
        | Call::Pread { .. }
        | Call::Lseek { .. }
        | Call::Readlink { .. }
        | Call::Stat { .. }
        | Call::Lstat { .. }
        | Call::Fstat { .. }
        | Call::Getdents { .. }
        | Call::Getxattr { .. }
        | Call::Listxattr { .. }
        | Call::Getflags { .. }
        | Call::Statfs => true,
        _ => false,
    };
    match reads {
        true => run_call(mount, &Caller::root(), call),
        false => Err(Errno::EROFS),
    }
}
