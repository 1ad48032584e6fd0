//! Runs sequences on systems, each beside a model of its own.

use super::fslab::Fslab;
use super::linux::Linux;
use super::model::Model;
use super::op::{Op, SLOTS};
use super::outcome::Outcome;
use super::sets::{self, Set};
use super::strategy::{Taste, sequences};
use super::system::System;
use super::tree;
use fslab_engine::kernel::MountOptions;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A sequence's length in the tests.
pub const LENGTH: usize = 500;

/// Each flush waits for a thread of the loop device to be scheduled, and changes nothing
/// that can be seen here.
const LINUX_OPTIONS: &str = "nobarrier";

/// Which sequence: a set and a number. The same number is always the same sequence.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub set: &'static Set,
    pub number: u64,
}

impl Case {
    /// The calls.
    pub fn ops(&self, len: usize) -> Vec<Op> {
        let taste = match self.number % 8 {
            0 | 4 => Taste::Mixed,
            1 | 5 => Taste::Names,
            7 => Taste::Full,
            _ => Taste::Contents,
        };
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.number.to_le_bytes());
        for (i, b) in self.set.name.bytes().enumerate() {
            seed[8 + i % 24] ^= b;
        }
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let strategy = sequences(taste, self.set.block_size, len);
        let mut ops = strategy
            .new_tree(&mut runner)
            .expect("nothing is rejected")
            .current();
        if self.set.name.starts_with("ea-inode") {
            ops.iter_mut().for_each(not_on_a_link);
        }
        ops
    }
}

/// e2fsck 1.47.0 takes a short link with a value in an inode of its own for a long one, on
/// the kernel's images as on ours: it goes by the blocks that the link is charged for.
fn not_on_a_link(op: &mut Op) {
    if let Op::SetXattr { follow, .. } = op {
        *follow = true;
    }
}

/// A file that goes with the value.
#[derive(Debug)]
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(sets::folder().join(format!("{name}-{}-{n}.img", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A system and its model.
#[derive(Debug)]
pub struct Pair<S> {
    pub system: S,
    pub model: Model,
}

impl<S: System> Pair<S> {
    /// Makes a call on both.
    pub fn run(&mut self, op: &Op) -> Result<Outcome, String> {
        if self.model.avoids(op) {
            return Ok(Outcome::Skipped);
        }
        let got = self.system.run(op);
        let size = match (op, &got) {
            (Op::Fallocate { slot, .. }, Outcome::Failed(28)) => {
                match self.system.run(&Op::Fstat { slot: *slot }) {
                    Outcome::Facts(facts) => Some(facts.size),
                    _ => None,
                }
            }
            _ => None,
        };
        let judged = self.model.judge(op, &got, size);
        judged.map_err(|why| format!("{}: {op:?}\n      {why}", self.system.name()))?;
        Ok(got)
    }

    /// Closes all descriptors and compares the trees.
    pub fn finish(&mut self) -> Result<tree::Tree, String> {
        for slot in 0..SLOTS {
            let _ = self.run(&Op::Close { slot });
        }
        self.run(&Op::Syncfs)?;
        let got = tree::read(&mut self.system)?;
        self.model.was_read();
        let name = self.system.name();
        tree::compare(&self.model, &got).map_err(|why| format!("{name}: tree: {why}"))?;
        Ok(got)
    }
}

/// The kernel and its model, on an empty filesystem.
pub fn linux(set: &'static Set, image: &Scratch) -> Result<Pair<Linux>, String> {
    set.copy(&image.0)?;
    let system = Linux::mount(&image.0, set.kind, LINUX_OPTIONS)?;
    let model = Model::new(set.limits(system.free_blocks));
    Ok(Pair { system, model })
}

/// The model against the kernel alone.
pub fn model_and_kernel(set: &'static Set, ops: &[Op]) -> Result<(), String> {
    let image = Scratch::new("linux");
    let mut pair = linux(set, &image)?;
    for (i, op) in ops.iter().enumerate() {
        for single in op.expand() {
            pair.run(&single)
                .map_err(|why| format!("call {i}: {why}"))?;
        }
    }
    pair.finish().map(drop)
}

/// fslab and its model, on an empty filesystem.
pub fn fslab(set: &'static Set) -> Result<Pair<Fslab>, String> {
    let system = Fslab::mount(&set.template()?, MountOptions::default())?;
    let model = Model::new(set.limits(system.free_blocks()));
    Ok(Pair { system, model })
}

/// Runs a sequence, then compares the trees. Gives what each call gave, and the tree.
fn through<S: System>(
    pair: &mut Pair<S>,
    ops: &[Op],
) -> Result<(Vec<Outcome>, tree::Tree), String> {
    let mut outcomes = Vec::new();
    for (i, op) in ops.iter().enumerate() {
        for single in op.expand() {
            let got = pair
                .run(&single)
                .map_err(|why| format!("call {i}: {why}"))?;
            outcomes.push(got);
        }
    }
    let tree = pair.finish()?;
    Ok((outcomes, tree))
}

/// A panic is a failure like others, and can be shrunk like them.
fn caught<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    std::panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let words = payload.downcast_ref::<String>().cloned();
        let words = words.or_else(|| payload.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(format!("panicked: {}", words.unwrap_or_default()))
    })
}

/// fslab against the model; its image against e2fsck and the kernel.
pub fn fslab_alone(set: &'static Set, ops: &[Op]) -> Result<(), String> {
    caught(|| fslab_run(set, ops)).map(drop)
}

fn fslab_run(set: &'static Set, ops: &[Op]) -> Result<(Vec<Outcome>, tree::Tree, Model), String> {
    let mut pair = fslab(set)?;
    let (outcomes, tree) = through(&mut pair, ops)?;
    let image = Scratch::new("fslab");
    pair.system.save(&image.0)?;
    clean(&image.0)?;
    let mut linux = Linux::mount(&image.0, set.kind, LINUX_OPTIONS)?;
    let read = tree::read(&mut linux)?;
    if let Some(why) = tree::difference(&tree, &read) {
        return Err(format!("the kernel reads fslab's image otherwise: {why}"));
    }
    Ok((outcomes, tree, pair.model))
}

/// The same calls on fslab, the kernel and the model.
pub fn all_three(set: &'static Set, ops: &[Op]) -> Result<(), String> {
    let (_, ours, our_model) = caught(|| fslab_run(set, ops))?;
    let image = Scratch::new("linux");
    let mut pair = linux(set, &image)?;
    let (_, theirs) = through(&mut pair, ops)?;
    if our_model.was_full || pair.model.was_full {
        return Ok(());
    }
    match tree::unlike_kernel(&theirs, &ours, &pair.model.limits) {
        Some(why) => Err(format!("fslab's tree is not as the kernel's: {why}")),
        None => Ok(()),
    }
}

/// The kernel fills and ages an image by the first part of the calls, fslab changes it by
/// the next, the kernel goes on by the last. After each, what both see is what the model
/// has, and e2fsck finds nothing.
pub fn aged(set: &'static Set, ops: &[Op]) -> Result<(), String> {
    let (by_kernel, rest) = ops.split_at(ops.len() * 3 / 5);
    let (by_fslab, by_kernel_again) = rest.split_at(rest.len() * 2 / 3);
    let image = Scratch::new("aged");
    let mut pair = linux(set, &image)?;
    through(&mut pair, by_kernel).map_err(|why| format!("aging: {why}"))?;
    let Pair {
        system: mut kernel,
        model,
    } = pair;
    kernel.unmount();
    let (model, tree) = caught(|| {
        let system = Fslab::mount(&image.0, MountOptions::default())?;
        let mut pair = Pair { system, model };
        let seen = pair.finish().map(drop);
        seen.map_err(|why| format!("as fslab first sees it: {why}"))?;
        let (_, tree) = through(&mut pair, by_fslab)?;
        pair.system.save(&image.0)?;
        Ok((pair.model, tree))
    })?;
    clean(&image.0)?;
    let mut system = Linux::mount(&image.0, set.kind, LINUX_OPTIONS)?;
    if let Some(why) = tree::difference(&tree, &tree::read(&mut system)?) {
        return Err(format!("the kernel reads fslab's image otherwise: {why}"));
    }
    let mut pair = Pair { system, model };
    through(&mut pair, by_kernel_again).map_err(|why| format!("the kernel after fslab: {why}"))?;
    pair.system.unmount();
    if !pair.model.limits.filetype {
        // Linux leaves in a new directory's entries what its block held before, in a byte
        // that must be 0 without this feature.
        return Ok(());
    }
    clean(&image.0).map_err(|why| format!("after the kernel went on: {why}"))
}

/// `e2fsck -fn` finds nothing.
pub fn clean(image: &Path) -> Result<(), String> {
    let fsck = Command::new("timeout")
        .args(["-k", "2", "60", "e2fsck", "-fn"])
        .arg(image)
        .output();
    let fsck = fsck.map_err(|e| e.to_string())?;
    if fsck.status.code() == Some(0) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&fsck.stdout);
    let lines: Vec<&str> = said
        .lines()
        .filter(|l| !l.starts_with("Pass "))
        .take(12)
        .collect();
    Err(format!(
        "e2fsck -fn: {}\n      {}",
        fsck.status,
        lines.join("\n      ")
    ))
}

/// Leaves out calls while the failure stays, and says what is left.
pub fn shrink(ops: &[Op], fails: impl Fn(&[Op]) -> Option<String>) -> (Vec<Op>, String) {
    let mut ops = ops.to_vec();
    let mut why = fails(&ops).unwrap_or_else(|| "does not fail again".to_owned());
    let mut piece = ops.len().div_ceil(2);
    let mut tries = 0;
    while piece > 0 {
        let mut at = 0;
        let mut less = false;
        while at < ops.len() && tries < 3000 {
            tries += 1;
            let mut fewer = ops.clone();
            fewer.drain(at..(at + piece).min(ops.len()));
            match fails(&fewer) {
                Some(reason) => (ops, why, less) = (fewer, reason, true),
                None => at += piece,
            }
        }
        // Again at the same size as long as that helps: calls depend on earlier ones.
        piece = if less && piece == 1 { 1 } else { piece / 2 };
    }
    (ops, why)
}

/// A message with what is needed to see the failure again.
pub fn report(case: Case, ops: &[Op], why: &str) -> String {
    let list: Vec<String> = ops.iter().map(|op| format!("    {op:?}")).collect();
    format!(
        "{} #{}: {why}\n  by {} calls:\n{}",
        case.set.name,
        case.number,
        ops.len(),
        list.join("\n")
    )
}

/// Runs cases on all processors; gives the first few failures, shrunk.
pub fn all(
    cases: &[Case],
    len: usize,
    run: impl Fn(&'static Set, &[Op]) -> Result<(), String> + Sync,
) -> Vec<String> {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let limit = std::env::var("FSLAB_FAILURES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(3);
    // For looking at one thing while another is being built: calls to leave out.
    let without = std::env::var("FSLAB_WITHOUT").unwrap_or_default();
    let without: Vec<&str> = without.split(',').filter(|w| !w.is_empty()).collect();
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            if failures.lock().map_or(0, |f| f.len()) >= limit {
                return;
            }
            let mut ops = case.ops(len);
            ops.retain(|op| !without.iter().any(|w| format!("{op:?}").starts_with(w)));
            if let Err(first) = run(case.set, &ops) {
                let again = run(case.set, &ops).err();
                if again.is_none() && first.contains(": linux: ") {
                    // The real kernel's answer near a full disk depends on what its
                    // threads have freed by then; ours does not.
                    eprintln!(
                        "{} #{}, the kernel, once: {first}",
                        case.set.name, case.number
                    );
                    continue;
                }
                let text = if again.is_some() {
                    let (ops, why) = shrink(&ops, |ops| run(case.set, ops).err());
                    report(*case, &ops, &why)
                } else {
                    format!("{} #{}, but only once: {first}", case.set.name, case.number)
                };
                if let Ok(mut failures) = failures.lock() {
                    eprintln!("{text}");
                    failures.push(text);
                }
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        (0..workers).for_each(|_| {
            scope.spawn(work);
        });
    });
    failures.into_inner().unwrap_or_default()
}

/// Sequences spread over the sets: as many as `FSLAB_SEQUENCES` says, from
/// `FSLAB_FIRST` on, of the sets whose names contain `FSLAB_SET`.
pub fn cases(usual: u64) -> Vec<Case> {
    let number = |name: &str, usual| {
        std::env::var(name)
            .ok()
            .and_then(|n| n.parse::<u64>().ok())
            .unwrap_or(usual)
    };
    let wanted = std::env::var("FSLAB_SET").unwrap_or_default();
    let sets: Vec<&Set> = sets::SETS
        .iter()
        .filter(|s| s.name.contains(&wanted))
        .collect();
    let first = number("FSLAB_FIRST", 0);
    let count = number("FSLAB_SEQUENCES", usual);
    let case = |n: u64| {
        let set = sets[(n % sets.len() as u64) as usize];
        Case { set, number: n }
    };
    (first..first + count).map(case).collect()
}
