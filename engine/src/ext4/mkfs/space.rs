//! Which blocks are in use while a filesystem is being made: as runs, so that an empty
//! terabyte costs what its few thousand metadata runs cost.

use std::collections::BTreeMap;

/// Blocks in use, in units of a cluster's worth where [`Space::ratio`] is above 1.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// First used block to one past the last; runs neither touch nor overlap.
    used: BTreeMap<u64, u64>,
    /// First block that can be allocated.
    first: u64,
    /// Blocks of the filesystem.
    blocks: u64,
    /// Blocks of a cluster that allocation hands out; 1 until metadata is placed.
    ratio: u64,
}

impl Space {
    pub(super) fn new(first: u64, blocks: u64) -> Self {
        Self {
            used: BTreeMap::new(),
            first,
            blocks,
            ratio: 1,
        }
    }

    /// From here on whole clusters of `ratio` blocks are handed out, and a cluster with a
    /// block in use is in use.
    pub(super) fn by_clusters(&mut self, ratio: u64) {
        self.ratio = ratio;
        for (start, end) in std::mem::take(&mut self.used) {
            let end = end.next_multiple_of(ratio).min(self.blocks);
            self.mark(start - start % ratio, end - (start - start % ratio));
        }
    }

    pub(super) fn ratio(&self) -> u64 {
        self.ratio
    }

    /// Marks a range as used.
    pub(super) fn mark(&mut self, start: u64, len: u64) {
        if len == 0 {
            return;
        }
        let (mut from, mut to) = (start, start + len);
        if let Some((&s, &e)) = self.used.range(..=start).next_back()
            && e >= start
        {
            from = s;
            to = to.max(e);
            self.used.remove(&s);
        }
        while let Some((&s, &e)) = self.used.range(from..=to).next() {
            to = to.max(e);
            self.used.remove(&s);
        }
        self.used.insert(from, to);
    }

    /// The end of the used run that holds a block, where one does.
    fn used_until(&self, block: u64) -> Option<u64> {
        let (_, &end) = self.used.range(..=block).next_back()?;
        (end > block).then_some(end)
    }

    /// The first used block at or after `block`, or the filesystem's end.
    fn next_used(&self, block: u64) -> u64 {
        if self.used_until(block).is_some() {
            return block;
        }
        let next = self.used.range(block..).next();
        next.map_or(self.blocks, |(&start, _)| start)
    }

    /// The first free block from `from` to `end` (the latter not included).
    fn first_free(&self, from: u64, end: u64) -> Option<u64> {
        let at = self.used_until(from).unwrap_or(from);
        (at < end).then_some(at)
    }

    /// A free run of `num` blocks that starts at `start` or after it, before `finish`.
    pub(super) fn free_run(&self, start: u64, finish: u64, num: u64) -> Option<u64> {
        let mut at = start.max(self.first);
        let num = num.max(1);
        let mut tried = false;
        while at < finish || !tried {
            tried = true;
            if at + num > self.blocks {
                return None;
            }
            match self.used_until(at) {
                Some(end) => at = end,
                None => match self.next_used(at) {
                    next if next >= at + num => return Some(at),
                    next => at = self.used_until(next)?,
                },
            }
        }
        None
    }

    /// Allocates one block: the first free one from `goal` on, then from the start.
    pub(super) fn alloc(&mut self, goal: u64) -> Option<u64> {
        let goal = if goal == 0 || goal >= self.blocks {
            self.first
        } else {
            goal
        };
        let goal = goal - goal % self.ratio;
        let at = self
            .first_free(goal, self.blocks)
            .or_else(|| self.first_free(self.first, goal))?;
        self.mark(at - at % self.ratio, self.ratio);
        Some(at)
    }

    /// Allocates the first free run from `goal` on, of at most `len` blocks.
    pub(super) fn alloc_run(&mut self, goal: u64, len: u64) -> Option<(u64, u64)> {
        let goal = if goal >= self.blocks {
            self.first
        } else {
            goal.max(self.first)
        };
        let at = self
            .first_free(goal - goal % self.ratio, self.blocks)
            .or_else(|| self.first_free(self.first, goal))?;
        let len = (self.next_used(at) - at).min(len);
        self.mark(at, len.next_multiple_of(self.ratio));
        Some((at, len))
    }

    /// The first free block from `from` on, without taking it.
    pub(super) fn peek(&self, from: u64) -> Option<u64> {
        self.first_free(from.max(self.first), self.blocks)
    }

    /// Used blocks from `from` to `end` (the latter not included).
    pub(super) fn used_between(&self, from: u64, end: u64) -> u64 {
        self.runs_between(from, end).map(|(s, e)| e - s).sum()
    }

    /// Used runs, cut to a range: first block, one past the last.
    pub(super) fn runs_between(
        &self,
        from: u64,
        end: u64,
    ) -> impl Iterator<Item = (u64, u64)> + '_ {
        let first = self
            .used
            .range(..from)
            .next_back()
            .map_or(from, |(&s, _)| s);
        self.used
            .range(first..end.max(first))
            .map(move |(&s, &e)| (s.max(from), e.min(end)))
            .filter(|(s, e)| s < e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_join_and_free_space_is_found_between_them() {
        let mut space = Space::new(1, 100);
        space.mark(1, 9);
        space.mark(20, 5);
        space.mark(10, 2);
        assert_eq!(space.used_between(0, 100), 16);
        assert_eq!(space.free_run(1, 99, 8), Some(12));
        assert_eq!(space.free_run(1, 99, 9), Some(25));
        assert_eq!(space.free_run(1, 12, 8), None);
        assert_eq!(space.alloc(0), Some(12));
        assert_eq!(space.alloc_run(15, 50), Some((15, 5)));
        assert_eq!(space.alloc_run(15, 50), Some((25, 50)));
        assert_eq!(space.alloc(99), Some(99));
        assert_eq!(space.alloc(99), Some(13));
    }
}
