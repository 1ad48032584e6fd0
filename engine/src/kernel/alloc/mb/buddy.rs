//! The buddy bitmaps of one group: for every power of two, which aligned chunks of so
//! many clusters are free as a whole and no part of a larger one.

use crate::kernel::alloc::bits;

/// More orders than any block size has (64 KiB: 2^19 clusters in a bitmap).
pub(super) const MAX_ORDERS: usize = 20;

/// What is free in a group, preallocated clusters taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Buddy {
    /// Set: in use, or preallocated.
    map: Vec<u8>,
    /// Bitmaps of orders 1 and up, one after another. Set: no free chunk of this order.
    chunks: Vec<u8>,
    /// Where each order's bitmap begins in `chunks`, bytes.
    begins: [u32; MAX_ORDERS],
    /// Free chunks of each order.
    counts: [u32; MAX_ORDERS],
    /// Orders: 0 to one less than this.
    orders: u32,
    /// Clusters of the group.
    len: u32,
    pub(super) free: u32,
    pub(super) fragments: u32,
    /// No cluster before this one is free.
    first_free: u32,
}

/// The orders that a block size has: as Linux, up to twice the bits of a byte of it.
pub(super) fn orders(block_size: usize) -> u32 {
    (block_size.ilog2() + 2).min(MAX_ORDERS as u32)
}

impl Buddy {
    /// From a bitmap of `len` clusters; what lies past them counts as in use.
    pub(super) fn new(bitmap: &[u8], len: u32) -> Self {
        let mut map = bitmap.to_vec();
        bits::fill(&mut map, len, u32::MAX - len, true);
        let orders = orders(map.len().max(1));
        let bits = map.len() as u32 * 8;
        let mut begins = [0; MAX_ORDERS];
        let mut bytes = 0;
        for (order, begin) in begins.iter_mut().enumerate().take(orders as usize).skip(1) {
            *begin = bytes;
            bytes += (bits >> order).div_ceil(8);
        }
        let mut buddy = Self {
            map,
            chunks: vec![0xFF; bytes as usize],
            begins,
            counts: [0; MAX_ORDERS],
            orders,
            len,
            free: 0,
            fragments: 0,
            first_free: len,
        };
        let mut at = bits::next_zero(&buddy.map, 0, len);
        buddy.first_free = at;
        while at < len {
            let end = bits::next_one(&buddy.map, at, len);
            buddy.fragments += 1;
            buddy.free += end - at;
            for (start, order) in pieces(at, end, orders) {
                buddy.put(start >> order, order);
            }
            at = bits::next_zero(&buddy.map, end, len);
        }
        buddy
    }

    fn bitmap(&self, order: u32) -> &[u8] {
        let begin = self.begins[order as usize] as usize;
        self.chunks.get(begin..).unwrap_or_default()
    }

    fn is_chunk(&self, n: u32, order: u32) -> bool {
        if order == 0 {
            return !bits::test(&self.map, n);
        }
        n < (self.map.len() as u32 * 8) >> order && !bits::test(self.bitmap(order), n)
    }

    fn put(&mut self, n: u32, order: u32) {
        self.counts[order as usize] += 1;
        self.write(n, order, false);
    }

    fn remove(&mut self, n: u32, order: u32) {
        self.counts[order as usize] = self.counts[order as usize].saturating_sub(1);
        self.write(n, order, true);
    }

    fn write(&mut self, n: u32, order: u32, on: bool) {
        if order == 0 {
            return;
        }
        let begin = self.begins[order as usize] as usize;
        let map = self.chunks.get_mut(begin..).unwrap_or_default();
        if on {
            bits::set(map, n);
        } else {
            bits::clear(map, n);
        }
    }

    /// Whether clusters are in use, a bit each.
    pub(super) fn map(&self) -> &[u8] {
        &self.map
    }

    /// Whether a cluster is free.
    pub(super) fn is_free(&self, at: u32) -> bool {
        !bits::test(&self.map, at)
    }

    /// The order of the chunk that a free cluster is in.
    fn order_of(&self, at: u32) -> u32 {
        (1..self.orders)
            .find(|&order| self.is_chunk(at >> order, order))
            .unwrap_or(0)
    }

    /// The order of the largest chunk.
    pub(super) fn largest(&self) -> Option<u32> {
        (0..self.orders)
            .rev()
            .find(|&o| self.counts[o as usize] > 0)
    }

    /// Free chunks of an order.
    pub(super) fn count(&self, order: u32) -> u32 {
        self.counts.get(order as usize).copied().unwrap_or(0)
    }

    /// The first chunk of an order: its first cluster.
    pub(super) fn first_chunk(&self, order: u32) -> Option<u32> {
        if order >= self.orders || self.count(order) == 0 {
            return None;
        }
        if order == 0 {
            return self.first_single();
        }
        let chunks = (self.map.len() as u32 * 8) >> order;
        let n = bits::next_zero(self.bitmap(order), 0, chunks);
        (n < chunks).then(|| n << order)
    }

    fn first_single(&self) -> Option<u32> {
        let mut at = self.next_free(0);
        while let Some(n) = at {
            let order = self.order_of(n);
            if order == 0 {
                return Some(n);
            }
            at = self.next_free(((n >> order) + 1) << order);
        }
        None
    }

    /// The first free cluster from one on.
    pub(super) fn next_free(&self, from: u32) -> Option<u32> {
        let at = bits::next_zero(&self.map, from.max(self.first_free), self.len);
        (at < self.len).then_some(at)
    }

    /// Where the free run that holds `from` ends.
    pub(super) fn run_end(&self, from: u32) -> u32 {
        bits::next_one(&self.map, from, self.len)
    }

    /// Free clusters from `at` on, chunk after chunk until there are `needed`: the last
    /// chunk counts whole.
    pub(super) fn extent(&self, at: u32, needed: u32) -> u32 {
        let mut end = at;
        while end - at < needed && end < self.len && self.is_free(end) {
            let order = self.order_of(end);
            end = ((end >> order) + 1) << order;
        }
        end.min(self.len) - at.min(self.len)
    }

    /// Takes clusters; `false`, with nothing done, unless all are free.
    pub(super) fn take(&mut self, at: u32, len: u32) -> bool {
        let end = at.saturating_add(len);
        if len == 0 || end > self.len || bits::next_one(&self.map, at, end) < end {
            return false;
        }
        let before = at > 0 && self.is_free(at - 1);
        let after = end < self.len && self.is_free(end);
        match (before, after) {
            (true, true) => self.fragments += 1,
            (false, false) => self.fragments = self.fragments.saturating_sub(1),
            _ => {}
        }
        let mut n = at;
        while n < end {
            let order = self.order_of(n);
            self.remove(n >> order, order);
            let (start, stop) = ((n >> order) << order, ((n >> order) + 1) << order);
            // What of the chunk is not wanted stays, in smaller chunks.
            for (from, to) in [(start, n), (end, stop)] {
                for (piece, o) in pieces(from, to.max(from), self.orders) {
                    self.put(piece >> o, o);
                }
            }
            n = stop;
        }
        bits::fill(&mut self.map, at, len, true);
        self.free -= len;
        if self.first_free >= at && self.first_free < end {
            self.first_free = end;
        }
        true
    }

    /// Gives clusters back; `false`, with nothing done, unless all are in use.
    pub(super) fn give(&mut self, at: u32, len: u32) -> bool {
        let end = at.saturating_add(len);
        if len == 0 || end > self.len || bits::next_zero(&self.map, at, end) < end {
            return false;
        }
        let before = at > 0 && self.is_free(at - 1);
        let after = end < self.len && self.is_free(end);
        match (before, after) {
            (true, true) => self.fragments = self.fragments.saturating_sub(1),
            (false, false) => self.fragments += 1,
            _ => {}
        }
        bits::fill(&mut self.map, at, len, false);
        for (piece, order) in pieces(at, end, self.orders) {
            self.join(piece, order);
        }
        self.free += len;
        self.first_free = self.first_free.min(at);
        true
    }

    /// Puts a chunk, joined with its buddies as far as they are free.
    fn join(&mut self, at: u32, order: u32) {
        let (mut n, mut order) = (at >> order, order);
        while order + 1 < self.orders && self.is_chunk(n ^ 1, order) {
            self.remove(n ^ 1, order);
            n >>= 1;
            order += 1;
        }
        self.put(n, order);
    }
}

/// Cuts a run into aligned chunks, as large as they can be: (first cluster, order).
fn pieces(from: u32, to: u32, orders: u32) -> impl Iterator<Item = (u32, u32)> {
    let mut at = from;
    std::iter::from_fn(move || {
        let left = to.checked_sub(at).filter(|&n| n > 0)?;
        let order = at.trailing_zeros().min(left.ilog2()).min(orders - 1);
        let piece = (at, order);
        at += 1 << order;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Everything that a buddy holds follows from the bitmap: a new one is the same.
    fn check(buddy: &Buddy) {
        let fresh = Buddy::new(&buddy.map, buddy.len);
        assert_eq!(fresh.counts, buddy.counts);
        assert_eq!(fresh.chunks, buddy.chunks);
        assert_eq!(fresh.free, buddy.free);
        assert_eq!(fresh.fragments, buddy.fragments);
        assert!(fresh.first_free >= buddy.first_free);
        let sum: u32 = (0..buddy.orders)
            .map(|o| buddy.counts[o as usize] << o)
            .sum();
        assert_eq!(sum, buddy.free);
    }

    proptest! {
        #[test]
        fn stays_what_a_new_one_would_be(
            len in 1u32..8192,
            steps in prop::collection::vec((any::<bool>(), 0u32..8192, 1u32..700), 1..60),
        ) {
            let mut buddy = Buddy::new(&[0; 1024], len);
            let mut model = vec![false; len as usize];
            for (take, at, n) in steps {
                let all = (at + n <= len)
                    .then(|| &mut model[at as usize..(at + n) as usize])
                    .filter(|run| run.iter().all(|&used| used != take));
                let expected = all.is_some();
                if let Some(run) = all {
                    run.fill(take);
                }
                let done = if take { buddy.take(at, n) } else { buddy.give(at, n) };
                prop_assert_eq!(done, expected);
                check(&buddy);
            }
            let first = buddy.first_chunk(0);
            prop_assert_eq!(first.is_some(), buddy.count(0) > 0);
        }
    }

    #[test]
    fn an_empty_group_is_one_chunk() {
        let buddy = Buddy::new(&[0; 4096], 32768);
        assert_eq!(buddy.largest(), Some(13));
        assert_eq!(buddy.count(13), 4);
        assert_eq!(buddy.extent(5, 1), 8187, "the rest of the chunk");
        assert_eq!(buddy.extent(8191, 2), 8193, "and the next");
    }
}
