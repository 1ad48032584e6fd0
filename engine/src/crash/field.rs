//! The field of states: the disks that a power cut could leave, as far as recovery, check
//! and expectations can tell them apart.
//!
//! A tree of decisions holds what is known: inner nodes are parts of writes that somebody
//! read, leaves are states. A new disk is looked at only where the tree does not know it.

use super::guide::Guide;
use super::judge::{Judge, Verdict};
use super::medium::Decision;
use super::pending::{Atom, Order, Pending};
use crate::device::Ram;
use crate::kernel::{Mount, MountError, Seen};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Writes of which every pair is tried lost.
const MOST_PAIRED: usize = 48;
/// Parts that are tried lost and kept one by one.
const MOST_SINGLE: usize = 4096;
/// Decisions that are kept for going through all states: beyond, only samples are taken.
const MOST_OPEN: usize = 1 << 20;

/// A state: disks that nobody can tell apart.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    /// Which parts of the writes it depends on, in the order in which they were read.
    pub decisions: Box<[Decision]>,
    /// The place of what became of it among [`Field::verdicts`].
    pub verdict: u32,
    /// Its share of all disks, from 0 to 1.
    pub share: f64,
}

impl State {
    /// Parts that did not reach the medium.
    pub fn lost(&self) -> impl Iterator<Item = Atom> + '_ {
        let lost = self.decisions.iter().filter(|d| !d.kept);
        lost.map(|d| d.atom)
    }
}

/// How much of all disks has been looked at.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coverage {
    /// Parts of writes that are there or not.
    pub atoms: u64,
    /// Disks that the rules allow, as a power of two; with [`Order::Kept`] it is of a number
    /// that is `atoms` + 1.
    pub log2_disks: f64,
    /// Share of them that is among the states, from 0 to 1.
    pub share: f64,
    /// All of them are.
    pub complete: bool,
}

#[derive(Clone, Copy, Debug)]
enum Node {
    /// Nobody was there.
    Open,
    /// A part was read: where it goes on if it was lost, and if it was kept.
    Branch { atom: Atom, lost: u32, kept: u32 },
    /// A state.
    Leaf(u32),
}

/// What comes next.
#[derive(Clone, Debug)]
enum Stage {
    /// Few lost or few kept, and beginnings.
    Guided(usize),
    /// What the tree leaves open, least lost first.
    Through,
    /// By chance.
    Random(u64),
    /// Nothing.
    Over,
}

/// The field of states of one instant.
#[derive(Clone, Debug)]
pub struct Field {
    pending: Arc<Pending>,
    judge: Arc<Judge>,
    nodes: Vec<Node>,
    /// Branches that nobody took: by how much is lost there, then by age.
    open: BTreeMap<(u32, u32), Vec<bool>>,
    /// Some were given up: there are too many.
    forgot: bool,
    states: Vec<State>,
    verdicts: Vec<Verdict>,
    known: BTreeMap<Verdict, u32>,
    guided: Vec<Guide>,
    stage: Stage,
    /// Most states.
    limit: usize,
    /// Disks that were recovered.
    looked: u64,
    atoms: Vec<Atom>,
    share: f64,
}

impl Field {
    /// The field of a medium, of which nothing is known yet. `limit`: most states.
    pub fn new(pending: Arc<Pending>, judge: Arc<Judge>, limit: usize) -> Self {
        let atoms: Vec<Atom> = pending.all_atoms().collect();
        Self {
            guided: guides(&pending, &atoms),
            pending,
            judge,
            nodes: vec![Node::Open],
            open: BTreeMap::from([((0, 0), Vec::new())]),
            forgot: false,
            states: Vec::new(),
            verdicts: Vec::new(),
            known: BTreeMap::new(),
            stage: Stage::Guided(0),
            limit: limit.max(1),
            looked: 0,
            atoms,
            share: 0.0,
        }
    }

    /// The medium.
    pub fn pending(&self) -> &Arc<Pending> {
        &self.pending
    }

    /// Who asks.
    pub fn judge(&self) -> &Arc<Judge> {
        &self.judge
    }

    /// The states found so far.
    pub fn states(&self) -> &[State] {
        &self.states
    }

    /// What became of them, each once.
    pub fn verdicts(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Disks that were recovered: more than states only where two were looked at to
    /// shorten what was lost.
    pub fn looked(&self) -> u64 {
        self.looked
    }

    /// How much of all disks is among the states.
    pub fn coverage(&self) -> Coverage {
        let complete = self.open.is_empty() && !self.forgot;
        let atoms = self.atoms.len() as u64;
        Coverage {
            atoms,
            log2_disks: match self.pending.rules().order {
                Order::Any => atoms as f64,
                Order::Kept => libm::log2(atoms as f64 + 1.0),
            },
            share: if complete { 1.0 } else { self.share.min(1.0) },
            complete,
        }
    }

    /// Looks at up to so many disks more; whether there is more to come.
    pub fn explore(&mut self, disks: usize) -> bool {
        for _ in 0..disks {
            let Some(guide) = self.next() else {
                return false;
            };
            self.look(guide);
        }
        !matches!(self.stage, Stage::Over)
    }

    /// The next disk that is not known.
    fn next(&mut self) -> Option<Guide> {
        loop {
            if self.open.is_empty() || self.states.len() >= self.limit {
                self.stage = Stage::Over;
            }
            let guide = match &mut self.stage {
                Stage::Guided(nth) => {
                    let next = self.guided.get(*nth).cloned();
                    *nth += 1;
                    // They are many where there are many writes: half of all is theirs.
                    match next.filter(|_| self.states.len() < self.limit / 2) {
                        Some(guide) => guide,
                        None => {
                            self.stage = Stage::Through;
                            continue;
                        }
                    }
                }
                Stage::Through => {
                    let enough = self.states.len() >= self.limit - self.limit / 4;
                    match self.open.first_entry().filter(|_| !enough) {
                        Some(first) => Guide::Script(first.get().clone()),
                        None => {
                            self.stage = Stage::Random(0);
                            continue;
                        }
                    }
                }
                Stage::Random(n) => {
                    *n += 1;
                    // Chance may fail to find what is left.
                    if *n > 8 * self.limit as u64 {
                        self.stage = Stage::Over;
                        continue;
                    }
                    let kept = [128, 224, 32, 192][(*n % 4) as usize];
                    Guide::Random { seed: *n, kept }
                }
                Stage::Over => return None,
            };
            if self.find(&guide).is_none() {
                return Some(guide);
            }
            if let (Stage::Through, Guide::Script(_)) = (&self.stage, &guide) {
                // Another disk came by there.
                self.open.pop_first();
            }
        }
    }

    /// The state that a disk is of, if that is known.
    fn find(&self, guide: &Guide) -> Option<u32> {
        let (mut at, mut depth) = (0, 0);
        loop {
            match *self.nodes.get(at)? {
                Node::Open => return None,
                Node::Leaf(state) => return Some(state),
                Node::Branch { atom, lost, kept } => {
                    at = if guide.keeps(atom, depth) { kept } else { lost } as usize;
                    depth += 1;
                }
            }
        }
    }

    /// What became of a disk: known, or found out now.
    pub fn look(&mut self, guide: Guide) -> &Verdict {
        let state = match self.find(&guide) {
            Some(state) => state,
            None => {
                let (verdict, path) = self.judge.judge(&self.pending, guide);
                self.looked += 1;
                self.add(verdict, path)
            }
        };
        let verdict = self.states.get(state as usize).map_or(0, |s| s.verdict);
        static NONE: Verdict = Verdict::NONE;
        self.verdicts.get(verdict as usize).unwrap_or(&NONE)
    }

    /// Puts a state into the tree.
    fn add(&mut self, verdict: Verdict, path: Vec<Decision>) -> u32 {
        let mut at = 0usize;
        let mut script: Vec<bool> = Vec::new();
        for d in &path {
            if let Some(Node::Open) = self.nodes.get(at) {
                self.open.remove(&key(&script, at));
                let (lost, kept) = (self.nodes.len() as u32, self.nodes.len() as u32 + 1);
                self.nodes.extend([Node::Open, Node::Open]);
                if let Some(node) = self.nodes.get_mut(at) {
                    *node = Node::Branch {
                        atom: d.atom,
                        lost,
                        kept,
                    };
                }
                for (way, child) in [(false, lost), (true, kept)] {
                    let mut there = script.clone();
                    there.push(way);
                    self.open.insert(key(&there, child as usize), there);
                }
            }
            let Some(&Node::Branch { lost, kept, .. }) = self.nodes.get(at) else {
                break;
            };
            at = if d.kept { kept } else { lost } as usize;
            script.push(d.kept);
        }
        self.open.remove(&key(&script, at));
        while self.open.len() > MOST_OPEN {
            self.open.pop_last();
            self.forgot = true;
        }
        let share = self.share_of(&path);
        self.share += share;
        let state = self.states.len() as u32;
        if let Some(node) = self.nodes.get_mut(at) {
            *node = Node::Leaf(state);
        }
        let next = self.verdicts.len() as u32;
        let number = *self.known.entry(verdict.clone()).or_insert(next);
        if number == next {
            self.verdicts.push(verdict);
        }
        self.states.push(State {
            decisions: path.into(),
            verdict: number,
            share,
        });
        state
    }

    /// The share of all disks that are this state.
    fn share_of(&self, path: &[Decision]) -> f64 {
        match self.pending.rules().order {
            Order::Any => libm::exp2(-(path.len() as f64)),
            Order::Kept => {
                let place = |atom: Atom| self.atoms.partition_point(|a| *a < atom);
                let kept = path.iter().filter(|d| d.kept).map(|d| place(d.atom) + 1);
                let lost = path.iter().filter(|d| !d.kept).map(|d| place(d.atom));
                let (from, to) = (kept.max().unwrap_or(0), lost.min());
                let to = to.unwrap_or(self.atoms.len());
                (to + 1).saturating_sub(from) as f64 / (self.atoms.len() as f64 + 1.0)
            }
        }
    }

    /// The parts of a state that have to be lost for `wrong` to hold of what becomes of it:
    /// each is given back, and stays so where that changes nothing.
    pub fn shorten(&mut self, state: u32, wrong: impl Fn(&Verdict) -> bool) -> BTreeSet<Atom> {
        let Some(found) = self.states.get(state as usize) else {
            return BTreeSet::new();
        };
        let mut lost: BTreeSet<Atom> = found.lost().collect();
        if self.pending.rules().order == Order::Kept {
            return lost;
        }
        // Whole writes first: mostly it is one of them that matters.
        let writes: BTreeSet<u32> = lost.iter().map(|a| a.write).collect();
        for write in writes {
            let less: BTreeSet<Atom> = lost.iter().copied().filter(|a| a.write != write).collect();
            if wrong(self.look(Guide::KeptBut(less.clone()))) {
                lost = less;
            }
        }
        for atom in lost.clone() {
            let mut less = lost.clone();
            less.remove(&atom);
            if wrong(self.look(Guide::KeptBut(less.clone()))) {
                lost = less;
            }
        }
        lost
    }

    /// The disk of a state after its recovery, as the kernel sees it then.
    pub fn recovered(&self, state: u32) -> Option<Result<Seen, MountError>> {
        let disk = self.disk(state)?;
        let options = self.judge.options.clone();
        let mount = Mount::mount(Box::new(Ram::new(disk)), options);
        Some(mount.map(|m| m.vol.seen()))
    }

    /// The disk of a state: of what nobody read, everything is there.
    pub fn disk(&self, state: u32) -> Option<crate::disk::CowDisk> {
        let state = self.states.get(state as usize)?;
        let lost: BTreeSet<Atom> = state.lost().collect();
        let first = lost.first().copied();
        Some(match self.pending.rules().order {
            Order::Any => self.pending.disk(|atom| !lost.contains(&atom)),
            Order::Kept => self.pending.disk(|atom| first.is_none_or(|f| atom < f)),
        })
    }
}

/// Where a branch stands among the open ones.
fn key(script: &[bool], node: usize) -> (u32, u32) {
    let lost = script.iter().filter(|kept| !**kept).count();
    (lost as u32, node as u32)
}

/// Disks that one wants to see first.
fn guides(pending: &Pending, atoms: &[Atom]) -> Vec<Guide> {
    let mut all = vec![Guide::Kept, Guide::Lost];
    if pending.rules().order == Order::Kept {
        all.extend(atoms.iter().take(MOST_SINGLE).map(|a| Guide::Before(*a)));
        return all;
    }
    let mut writes: BTreeMap<u32, BTreeSet<Atom>> = BTreeMap::new();
    for atom in atoms {
        writes.entry(atom.write).or_default().insert(*atom);
    }
    let writes: Vec<BTreeSet<Atom>> = writes.into_values().collect();
    all.extend(writes.iter().take(MOST_SINGLE).cloned().map(Guide::KeptBut));
    all.extend(writes.iter().take(MOST_SINGLE).cloned().map(Guide::LostBut));
    let firsts = writes.iter().filter_map(|w| w.first().copied());
    all.extend(firsts.take(MOST_SINGLE).map(Guide::Before));
    for (i, one) in writes.iter().enumerate().take(MOST_PAIRED) {
        for other in writes.iter().take(i) {
            all.push(Guide::KeptBut(one.union(other).copied().collect()));
        }
    }
    let single = |a: &Atom| BTreeSet::from([*a]);
    all.extend(
        atoms
            .iter()
            .take(MOST_SINGLE)
            .map(|a| Guide::KeptBut(single(a))),
    );
    all
}
