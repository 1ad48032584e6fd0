//! Full blocks, kept so that the next victim is found in constant time.

use super::config::Policy;
use super::random::Random;
use super::table::NONE;
use std::collections::BTreeSet;

/// What is known of a full block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Node {
    /// Neighbours in its list.
    prev: u32,
    next: u32,
    /// Its place among [`Victims::all`], where the policy picks at random.
    place: u32,
    /// When it was filled, in pages written by the host.
    since: u64,
}

/// Full blocks. Greedy keeps a list for each count of valid pages and takes from its front
/// what came last; FIFO keeps one; cost-benefit keeps a set by age for each count, of which
/// only the oldest can be chosen; the others a plain array.
///
/// Choosing costs the same however many blocks there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Victims {
    policy: Policy,
    pages: u32,
    nodes: Vec<Node>,
    /// First and last block of each list.
    lists: Vec<(u32, u32)>,
    /// No list before this one has a block.
    least: usize,
    all: Vec<u32>,
    /// Blocks by age, for each count of valid pages.
    aged: Vec<BTreeSet<(u64, u32)>>,
}

impl Victims {
    /// No full blocks yet, of so many blocks of so many pages.
    pub fn new(policy: Policy, blocks: u32, pages: u32) -> Self {
        let node = Node {
            prev: NONE,
            next: NONE,
            place: NONE,
            since: 0,
        };
        let lists = match policy {
            Policy::Greedy => pages as usize + 1,
            _ => 1,
        };
        let aged = match policy {
            Policy::CostBenefit => pages as usize + 1,
            _ => 0,
        };
        Self {
            aged: vec![BTreeSet::new(); aged],
            policy,
            pages,
            nodes: vec![node; blocks as usize],
            lists: vec![(NONE, NONE); lists],
            least: 0,
            all: Vec::new(),
        }
    }

    /// A block is full.
    pub fn insert(&mut self, block: u32, valid: u32, now: u64) {
        self.nodes[block as usize].since = now;
        match self.policy {
            Policy::Greedy => self.prepend(valid as usize, block),
            Policy::Fifo => self.append(block),
            Policy::CostBenefit => {
                self.aged[valid as usize].insert((now, block));
            }
            Policy::Random | Policy::DChoices(_) => {
                self.nodes[block as usize].place = self.all.len() as u32;
                self.all.push(block);
            }
        }
    }

    /// A full block is taken out.
    pub fn remove(&mut self, block: u32, valid: u32) {
        match self.policy {
            Policy::Greedy => self.unlink(valid as usize, block),
            Policy::Fifo => self.unlink(0, block),
            Policy::CostBenefit => {
                let since = self.nodes[block as usize].since;
                self.aged[valid as usize].remove(&(since, block));
            }
            Policy::Random | Policy::DChoices(_) => {
                let place = self.nodes[block as usize].place;
                self.all.swap_remove(place as usize);
                if let Some(&moved) = self.all.get(place as usize) {
                    self.nodes[moved as usize].place = place;
                }
            }
        }
    }

    /// A page of a full block became invalid; `valid` is what is left.
    #[inline]
    pub fn lost_page(&mut self, block: u32, valid: u32) {
        match self.policy {
            Policy::Greedy => {
                self.unlink(valid as usize + 1, block);
                self.prepend(valid as usize, block);
            }
            Policy::CostBenefit => {
                let entry = (self.nodes[block as usize].since, block);
                self.aged[valid as usize + 1].remove(&entry);
                self.aged[valid as usize].insert(entry);
            }
            _ => {}
        }
    }

    #[inline]
    fn prepend(&mut self, list: usize, block: u32) {
        let (first, _) = self.lists[list];
        let node = &mut self.nodes[block as usize];
        (node.prev, node.next) = (NONE, first);
        match first {
            NONE => self.lists[list].1 = block,
            _ => self.nodes[first as usize].prev = block,
        }
        self.lists[list].0 = block;
        self.least = self.least.min(list);
    }

    fn append(&mut self, block: u32) {
        let (_, last) = self.lists[0];
        let node = &mut self.nodes[block as usize];
        (node.prev, node.next) = (last, NONE);
        match last {
            NONE => self.lists[0].0 = block,
            _ => self.nodes[last as usize].next = block,
        }
        self.lists[0].1 = block;
    }

    #[inline]
    fn unlink(&mut self, list: usize, block: u32) {
        let Node { prev, next, .. } = self.nodes[block as usize];
        match prev {
            NONE => self.lists[list].0 = next,
            _ => self.nodes[prev as usize].next = next,
        }
        match next {
            NONE => self.lists[list].1 = prev,
            _ => self.nodes[next as usize].prev = prev,
        }
    }

    /// The block to collect next. `valid` tells a block's valid pages.
    pub fn choose(
        &mut self,
        now: u64,
        random: &mut Random,
        valid: impl Fn(u32) -> u32,
    ) -> Option<u32> {
        let block = match self.policy {
            Policy::Greedy => self.fewest(),
            Policy::CostBenefit => self.best(now),
            Policy::Fifo => self.lists[0].0,
            Policy::Random => self.pick(random),
            Policy::DChoices(d) => (0..d.max(1))
                .map(|_| self.pick(random))
                .min_by_key(|&b| if b == NONE { u32::MAX } else { valid(b) })
                .unwrap_or(NONE),
        };
        (block != NONE).then_some(block)
    }

    /// The list of fewest valid pages falls by one for each page that becomes invalid, so
    /// that looking for it upwards costs a constant on the whole.
    fn fewest(&mut self) -> u32 {
        while self.least + 1 < self.lists.len() && self.lists[self.least].0 == NONE {
            self.least += 1;
        }
        self.lists[self.least].0
    }

    fn pick(&self, random: &mut Random) -> u32 {
        let at = random.below(self.all.len() as u32);
        self.all.get(at as usize).copied().unwrap_or(NONE)
    }

    /// Of the oldest blocks for each count of valid pages, the one with the highest score.
    fn best(&self, now: u64) -> u32 {
        let mut best = (NONE, 0u128, 1u128);
        for (valid, blocks) in self.aged.iter().enumerate() {
            let Some(&(since, block)) = blocks.first() else {
                continue;
            };
            if valid == 0 {
                return block;
            }
            let age = now.saturating_sub(since) + 1;
            // Scores are fractions, compared crosswise.
            let gain = u128::from(age) * u128::from(u64::from(self.pages) - valid as u64);
            let cost = 2 * valid as u128;
            if best.0 == NONE || gain * best.2 > best.1 * cost {
                best = (block, gain, cost);
            }
        }
        best.0
    }
}
