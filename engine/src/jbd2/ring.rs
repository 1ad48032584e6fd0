//! The log as a ring of blocks: where the next goes, how many are free.

/// Places in the ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ring {
    /// First block.
    pub first: u32,
    /// One past the last block.
    pub last: u32,
    /// Where the next block goes.
    pub head: u32,
    /// Free blocks.
    pub free: u32,
}

impl Ring {
    /// An empty ring that goes on at `head`.
    pub fn new(first: u32, last: u32, head: u32) -> Self {
        assert!(first < last, "jbd2 refuses a log without blocks");
        Self {
            first,
            last,
            head: if (first..last).contains(&head) {
                head
            } else {
                first
            },
            // jbd2 never fills the ring: a full one could not be told from an empty one.
            free: last - first - 1,
        }
    }

    /// Blocks of the ring.
    pub fn len(&self) -> u32 {
        self.last - self.first
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.free + 1 == self.len()
    }

    /// The next block; the caller has seen to it that there is one.
    pub fn take(&mut self) -> u32 {
        debug_assert!(self.free > 0, "space is made before a commit starts");
        let block = self.head;
        self.head = if block + 1 >= self.last {
            self.first
        } else {
            block + 1
        };
        self.free = self.free.saturating_sub(1);
        block
    }

    /// Blocks from `from` up to, not including, `to`, around the end.
    pub fn between(&self, from: u32, to: u32) -> u32 {
        if to >= from {
            to - from
        } else {
            to + self.len() - from
        }
    }

    /// The tail moved on: blocks are free again.
    pub fn give_back(&mut self, blocks: u32) {
        self.free = (self.free + blocks).min(self.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::Ring;

    #[test]
    fn it_goes_around() {
        let mut ring = Ring::new(1, 5, 4);
        assert!(ring.is_empty());
        assert_eq!([ring.take(), ring.take(), ring.take()], [4, 1, 2]);
        assert_eq!((ring.free, ring.head), (0, 3));
        assert_eq!(ring.between(4, ring.head), 3);
        ring.give_back(3);
        assert!(ring.is_empty());
    }
}
