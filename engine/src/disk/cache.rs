use super::{ReadAt, ReadError, check_range};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A bounded cache of fixed-size pieces in front of a slow medium. The piece that
/// was used longest ago leaves first.
#[derive(Debug)]
pub struct Cached<R> {
    inner: R,
    piece: u64,
    state: RefCell<State>,
}

#[derive(Debug)]
struct State {
    capacity: usize,
    clock: u64,
    /// Piece number to its last use and bytes.
    pieces: BTreeMap<u64, (u64, Box<[u8]>)>,
    /// Last use to piece number: the first entry is the next to leave.
    by_use: BTreeMap<u64, u64>,
}

impl<R: ReadAt> Cached<R> {
    /// Keeps at most `capacity` pieces (at least one) of `piece` bytes each.
    pub fn new(inner: R, piece: u32, capacity: usize) -> Self {
        assert!(piece > 0, "a cache piece holds at least a byte");
        Self {
            inner,
            piece: u64::from(piece),
            state: RefCell::new(State {
                capacity: capacity.max(1),
                clock: 0,
                pieces: BTreeMap::new(),
                by_use: BTreeMap::new(),
            }),
        }
    }

    /// Copies the part of piece `nr` that starts at byte `skip` of it into `out`.
    fn copy_piece(&self, nr: u64, skip: usize, out: &mut [u8]) -> Result<(), ReadError> {
        let mut state = self.state.borrow_mut();
        state.clock += 1;
        let now = state.clock;
        if let Some((used, bytes)) = state.pieces.get_mut(&nr) {
            let before = std::mem::replace(used, now);
            out.copy_from_slice(&bytes[skip..skip + out.len()]);
            state.by_use.remove(&before);
            state.by_use.insert(now, nr);
            return Ok(());
        }
        let start = nr * self.piece;
        let len = self.piece.min(self.inner.len() - start);
        let mut bytes = vec![0; len as usize].into_boxed_slice();
        self.inner.read_at(start, &mut bytes)?;
        out.copy_from_slice(&bytes[skip..skip + out.len()]);
        if state.pieces.len() >= state.capacity
            && let Some((_, oldest)) = state.by_use.pop_first()
        {
            state.pieces.remove(&oldest);
        }
        state.pieces.insert(nr, (now, bytes));
        state.by_use.insert(now, nr);
        Ok(())
    }
}

impl<R: ReadAt> ReadAt for Cached<R> {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.inner.len())?;
        let (mut at, mut rest) = (offset, buf);
        while !rest.is_empty() {
            let skip = at % self.piece;
            let n = ((self.piece - skip) as usize).min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            self.copy_piece(at / self.piece, skip as usize, now)?;
            at += n as u64;
            rest = later;
        }
        Ok(())
    }

    fn next_data(&self, offset: u64) -> u64 {
        self.inner.next_data(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reads_what_the_medium_holds(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            piece in 1u32..40,
            capacity in 0usize..4,
            reads in proptest::collection::vec((0u64..320, 0usize..80), 1..20),
        ) {
            let cached = Cached::new(bytes.clone(), piece, capacity);
            for (offset, len) in reads {
                let (mut a, mut b) = (vec![0; len], vec![0; len]);
                let want = bytes.read_at(offset, &mut a);
                prop_assert_eq!(want, cached.read_at(offset, &mut b));
                prop_assert_eq!(a, b);
                prop_assert!(cached.state.borrow().pieces.len() <= capacity.max(1));
            }
        }
    }
}
