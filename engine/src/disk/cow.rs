//! A writable medium that costs what is on it: pieces that were never written cost
//! nothing, a generated pattern costs its seed, and a clone shares everything until one
//! of the two is changed.

use super::{ReadAt, ReadError, check_range};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes kept or shared together.
const PIECE: u64 = 4096;
/// Pieces in a chunk, which is what a clone shares and a change copies the table of.
const CHUNK: u64 = 256;

/// A medium that can be written at any byte offset.
pub trait WriteAt: ReadAt {
    /// Writes `bytes` at `offset`, all or nothing.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ReadError>;

    /// Makes a range read as zeros, freeing what it cost where the medium can.
    fn discard(&mut self, offset: u64, len: u64) -> Result<(), ReadError>;
}

/// Bytes to be written or held, by what they cost: nothing, a seed, or themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Data {
    /// Zeros.
    Zero,
    /// The pattern of a seed, from one of its bytes on.
    Pattern {
        /// The seed.
        seed: u64,
        /// The first byte's place in the pattern.
        from: u64,
    },
    /// These, and zeros after them.
    Bytes(Arc<[u8]>),
}

impl Data {
    /// Fills `out` with the bytes from `skip` on.
    pub fn read(&self, skip: usize, out: &mut [u8]) {
        match self {
            Self::Zero => out.fill(0),
            Self::Pattern { seed, from } => {
                fill_pattern(*seed, from.wrapping_add(skip as u64), out);
            }
            Self::Bytes(bytes) => {
                let have = bytes.get(skip..).unwrap_or_default();
                let n = have.len().min(out.len());
                out[..n].copy_from_slice(&have[..n]);
                out[n..].fill(0);
            }
        }
    }
}

/// What a piece holds; a piece that is not there holds zeros.
#[derive(Clone, Debug)]
enum Content {
    Bytes(Arc<[u8]>),
    /// The pattern of this seed, by offset in the medium less this base.
    Pattern {
        seed: u64,
        base: u64,
    },
}

type Chunk = BTreeMap<u16, Content>;

/// Sparse, copy-on-write contents of a disk. `clone` costs a reference for each chunk of
/// 1 MiB that holds anything, behind one shared table.
#[derive(Clone, Debug)]
pub struct CowDisk {
    len: u64,
    chunks: Arc<BTreeMap<u64, Arc<Chunk>>>,
}

/// The byte of pattern `seed` at `offset` in it: any part of a pattern can be told without
/// the part before it.
pub fn pattern_byte(seed: u64, offset: u64) -> u8 {
    pattern_word(seed, offset / 8).to_le_bytes()[(offset % 8) as usize]
}

/// Eight bytes of a pattern: the finaliser of SplitMix64 (Steele, Lea, Flood 2014) over
/// seed and place.
fn pattern_word(seed: u64, word: u64) -> u64 {
    let mut z = seed.wrapping_add(word.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn fill_pattern(seed: u64, offset: u64, out: &mut [u8]) {
    for (byte, at) in out.iter_mut().zip(offset..) {
        *byte = pattern_byte(seed, at);
    }
}

impl CowDisk {
    /// A disk of `len` zero bytes.
    pub fn new(len: u64) -> Self {
        Self {
            len,
            chunks: Arc::default(),
        }
    }

    /// Writes `len` bytes of the pattern `seed` from its byte `from` on; whole pieces of
    /// 4 KiB cost no memory for their bytes.
    pub fn write_pattern(
        &mut self,
        offset: u64,
        len: u64,
        seed: u64,
        from: u64,
    ) -> Result<(), ReadError> {
        check_range(offset, len, self.len)?;
        let base = offset.wrapping_sub(from);
        for (piece, skip, n) in pieces(offset, len) {
            if n as u64 == PIECE {
                self.put(piece, Some(Content::Pattern { seed, base }));
            } else {
                let mut part = vec![0; n];
                let at = piece * PIECE + skip as u64;
                fill_pattern(seed, at.wrapping_sub(base), &mut part);
                self.write_part(piece, skip, &part);
            }
        }
        Ok(())
    }

    /// Writes `len` bytes that `data` tells.
    pub fn write_data(&mut self, offset: u64, len: u64, data: &Data) -> Result<(), ReadError> {
        match data {
            Data::Zero => self.discard(offset, len),
            Data::Pattern { seed, from } => self.write_pattern(offset, len, *seed, *from),
            Data::Bytes(bytes) if bytes[..].len() as u64 == len => self.write_shared(offset, bytes),
            Data::Bytes(_) => {
                let mut all = vec![0; len as usize];
                data.read(0, &mut all);
                self.write_at(offset, &all)
            }
        }
    }

    /// A whole piece is shared with the one who wrote it instead of copied.
    fn write_shared(&mut self, offset: u64, bytes: &Arc<[u8]>) -> Result<(), ReadError> {
        if bytes[..].len() as u64 != PIECE || !offset.is_multiple_of(PIECE) {
            return self.write_at(offset, bytes);
        }
        check_range(offset, PIECE, self.len)?;
        self.put(offset / PIECE, Some(Content::Bytes(bytes.clone())));
        Ok(())
    }

    /// Bytes of memory that contents take, tables left out; shared pieces count in every
    /// disk that shares them.
    pub fn bytes_held(&self) -> u64 {
        let all = self.chunks.values().flat_map(|chunk| chunk.values());
        let bytes = all.filter(|content| matches!(content, Content::Bytes(_)));
        bytes.count() as u64 * PIECE
    }

    /// Stretches of the disk that may hold other than zeros, as (offset, length), in
    /// order, neighbours joined: what a sparse file has to hold.
    pub fn data(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let mut at = 0;
        std::iter::from_fn(move || {
            let start = self.next_data(at);
            if start >= self.len {
                return None;
            }
            let mut piece = start / PIECE;
            while self.piece(piece).is_some() {
                piece += 1;
            }
            at = (piece * PIECE).min(self.len);
            Some((start, at - start))
        })
    }

    fn piece(&self, nr: u64) -> Option<&Content> {
        self.chunks.get(&(nr / CHUNK))?.get(&((nr % CHUNK) as u16))
    }

    fn put(&mut self, nr: u64, content: Option<Content>) {
        let (chunk, place) = (nr / CHUNK, (nr % CHUNK) as u16);
        if content.is_none() && self.piece(nr).is_none() {
            return;
        }
        let chunks = Arc::make_mut(&mut self.chunks);
        let table = Arc::make_mut(chunks.entry(chunk).or_default());
        match content {
            Some(content) => _ = table.insert(place, content),
            None => _ = table.remove(&place),
        }
        if table.is_empty() {
            chunks.remove(&chunk);
        }
    }

    fn read_part(&self, nr: u64, skip: usize, out: &mut [u8]) {
        match self.piece(nr) {
            None => out.fill(0),
            Some(Content::Bytes(bytes)) => out.copy_from_slice(&bytes[skip..skip + out.len()]),
            Some(&Content::Pattern { seed, base }) => {
                let at = nr * PIECE + skip as u64;
                fill_pattern(seed, at.wrapping_sub(base), out);
            }
        }
    }

    fn write_part(&mut self, nr: u64, skip: usize, bytes: &[u8]) {
        let mut whole = vec![0; PIECE as usize];
        if (bytes.len() as u64) < PIECE {
            self.read_part(nr, 0, &mut whole);
        }
        whole[skip..skip + bytes.len()].copy_from_slice(bytes);
        let zero = whole.iter().all(|&byte| byte == 0);
        self.put(nr, (!zero).then(|| Content::Bytes(whole.into())));
    }
}

/// The pieces that a range touches: number, first byte in it, bytes of it.
fn pieces(offset: u64, len: u64) -> impl Iterator<Item = (u64, usize, usize)> {
    let end = offset + len;
    let mut at = offset;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let (piece, skip) = (at / PIECE, at % PIECE);
        let n = (PIECE - skip).min(end - at);
        at += n;
        Some((piece, skip as usize, n as usize))
    })
}

impl ReadAt for CowDisk {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.len)?;
        let mut rest = buf;
        let wanted = rest.len() as u64;
        for (piece, skip, n) in pieces(offset, wanted) {
            let (now, later) = rest.split_at_mut(n);
            self.read_part(piece, skip, now);
            rest = later;
        }
        Ok(())
    }

    fn next_data(&self, offset: u64) -> u64 {
        let first = offset / PIECE;
        for (&nr, chunk) in self.chunks.range(first / CHUNK..) {
            let from = first.saturating_sub(nr * CHUNK) as u16;
            if let Some((&place, _)) = chunk.range(from..).next() {
                return ((nr * CHUNK + u64::from(place)) * PIECE).max(offset);
            }
        }
        self.len.max(offset)
    }
}

impl WriteAt for CowDisk {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), ReadError> {
        check_range(offset, bytes.len() as u64, self.len)?;
        let mut rest = bytes;
        for (piece, skip, n) in pieces(offset, bytes.len() as u64) {
            let (now, later) = rest.split_at(n);
            self.write_part(piece, skip, now);
            rest = later;
        }
        Ok(())
    }

    fn discard(&mut self, offset: u64, len: u64) -> Result<(), ReadError> {
        check_range(offset, len, self.len)?;
        let mut at = offset;
        let end = offset + len;
        while at < end {
            // Only what is there costs a step: a discard of a whole empty disk is one.
            at = self.next_data(at);
            let Some((piece, skip, n)) = pieces(at, end.saturating_sub(at)).next() else {
                break;
            };
            if n as u64 == PIECE {
                self.put(piece, None);
            } else {
                self.write_part(piece, skip, &vec![0; n]);
            }
            at += n as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEN: u64 = 40_000;

    #[derive(Clone, Debug)]
    enum Step {
        Write(u64, Vec<u8>),
        Pattern(u64, u64, u64, u64),
        Discard(u64, u64),
        Clone,
    }

    fn step() -> impl Strategy<Value = Step> {
        let place = 0..LEN + 100;
        prop_oneof![
            (place.clone(), proptest::collection::vec(0u8..3, 0..9000))
                .prop_map(|(at, bytes)| Step::Write(at, bytes)),
            (place.clone(), 0..20_000u64, any::<u64>(), 0..99_999u64)
                .prop_map(|(at, len, seed, from)| Step::Pattern(at, len, seed, from)),
            (place, 0..20_000u64).prop_map(|(at, len)| Step::Discard(at, len)),
            Just(Step::Clone),
        ]
    }

    /// The same change to a plain vector; `false` where it does not fit.
    fn model(bytes: &mut [u8], step: &Step) -> bool {
        let (at, new) = match step {
            Step::Write(at, new) => (*at, new.clone()),
            Step::Pattern(at, len, seed, from) => {
                let byte = |i| pattern_byte(*seed, from + i);
                (*at, (0..*len).map(byte).collect())
            }
            Step::Discard(at, len) => (*at, vec![0; *len as usize]),
            Step::Clone => return true,
        };
        let range = at as usize..at as usize + new.len();
        bytes.get_mut(range).is_some_and(|part| {
            part.copy_from_slice(&new);
            true
        })
    }

    fn check(disk: &CowDisk, bytes: &[u8]) -> Result<(), TestCaseError> {
        let mut all = vec![1; bytes.len()];
        disk.read_at(0, &mut all).unwrap();
        prop_assert!(all == bytes);
        let mut covered = 0;
        for (offset, len) in disk.data() {
            prop_assert!(
                bytes[covered as usize..offset as usize]
                    .iter()
                    .all(|&b| b == 0)
            );
            covered = offset + len;
        }
        prop_assert!(bytes[covered as usize..].iter().all(|&b| b == 0));
        Ok(())
    }

    proptest! {
        #[test]
        fn holds_what_a_vector_would(steps in proptest::collection::vec(step(), 1..30)) {
            let (mut disk, mut bytes) = (CowDisk::new(LEN), vec![0; LEN as usize]);
            let mut kept = Vec::new();
            for step in &steps {
                let done = match step {
                    Step::Write(at, new) => disk.write_at(*at, new).is_ok(),
                    Step::Pattern(at, len, seed, from) => {
                        disk.write_pattern(*at, *len, *seed, *from).is_ok()
                    }
                    Step::Discard(at, len) => disk.discard(*at, *len).is_ok(),
                    Step::Clone => {
                        kept.push((disk.clone(), bytes.clone()));
                        true
                    }
                };
                prop_assert_eq!(done, model(&mut bytes, step));
                check(&disk, &bytes)?;
            }
            for (disk, bytes) in &kept {
                check(disk, bytes)?;
            }
        }
    }

    #[test]
    fn a_terabyte_of_pattern_in_places_costs_no_bytes() {
        let mut disk = CowDisk::new(1 << 40);
        disk.write_pattern(1 << 39, 64 << 20, 7, 0).unwrap();
        assert_eq!(disk.bytes_held(), 0);
        assert_eq!(disk.data().collect::<Vec<_>>(), [(1 << 39, 64 << 20)]);
        let before = disk.clone();
        disk.discard(0, 1 << 40).unwrap();
        assert_eq!(disk.data().count(), 0);
        assert_eq!(before.data().count(), 1);
    }
}
