//! The map of who owns each block, as it comes from the worker: five columns with a row a
//! run, in the order of blocks.

use fslab_engine::view::owners::{Flags, Kind};
use js_sys::{Array, Float64Array, Uint8Array, Uint32Array};
use wasm_bindgen::JsCast as _;

/// Who owns each block.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OwnerMap {
    /// First block of each run.
    pub starts: Vec<f64>,
    /// Blocks of each run.
    pub lengths: Vec<u32>,
    /// Inode that owns it; 0 for none.
    pub inodes: Vec<u32>,
    /// [`Kind::index`].
    pub kinds: Vec<u8>,
    /// [`Flags`].
    pub flags: Vec<u8>,
}

/// A run of the map.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owned {
    /// First block.
    pub start: u64,
    /// Blocks.
    pub len: u32,
    /// Inode that owns them.
    pub inode: Option<u32>,
    /// What they are.
    pub kind: Kind,
    /// What else is known.
    pub flags: Flags,
}

impl OwnerMap {
    /// The map in the extras of `Answer::Mapped` or `Answer::Scanning`; `None` if they are
    /// not one.
    pub fn from_extras(extras: &Array) -> Option<Self> {
        let map = Self {
            starts: extras.get(0).dyn_into::<Float64Array>().ok()?.to_vec(),
            lengths: extras.get(1).dyn_into::<Uint32Array>().ok()?.to_vec(),
            inodes: extras.get(2).dyn_into::<Uint32Array>().ok()?.to_vec(),
            kinds: extras.get(3).dyn_into::<Uint8Array>().ok()?.to_vec(),
            flags: extras.get(4).dyn_into::<Uint8Array>().ok()?.to_vec(),
        };
        let rows = map.starts.len();
        let even = [
            map.lengths.len(),
            map.inodes.len(),
            map.kinds.len(),
            map.flags.len(),
        ]
        .iter()
        .all(|&len| len == rows);
        even.then_some(map)
    }

    /// The run that holds a block.
    pub fn at(&self, block: u64) -> Option<Owned> {
        let after = self.starts.partition_point(|&start| start <= block as f64);
        let row = after.checked_sub(1)?;
        let owned = self.row(row)?;
        (block < owned.start + u64::from(owned.len)).then_some(owned)
    }

    /// A run by its number.
    pub fn row(&self, row: usize) -> Option<Owned> {
        Some(Owned {
            start: *self.starts.get(row)? as u64,
            len: *self.lengths.get(row)?,
            inode: Some(*self.inodes.get(row)?).filter(|&nr| nr != 0),
            kind: Kind::from_index(*self.kinds.get(row)?)?,
            flags: Flags::from_bits_retain(*self.flags.get(row)?),
        })
    }
}

/// What is wrong with blocks by who owns them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Damage {
    /// Several own them, which must not be.
    Twice,
    /// In use by the bitmap, but owned by nobody.
    Unowned,
    /// Owned, but free by the bitmap.
    MarkedFree,
}

impl Owned {
    /// What is wrong with the run, in the map of a complete scan.
    pub fn damage(&self) -> Option<Damage> {
        match self.kind {
            Kind::Twice => Some(Damage::Twice),
            Kind::Unowned => Some(Damage::Unowned),
            _ if self.flags.contains(Flags::MARKED_FREE) => Some(Damage::MarkedFree),
            _ => None,
        }
    }
}

impl Damage {
    /// The damage of some blocks, as a sentence.
    pub fn sentence(self, first: u64, len: u32) -> String {
        use crate::format::grouped;
        let (blocks, is) = match len {
            1 => (format!("Block {}", grouped(first)), "is"),
            _ => {
                let last = first.saturating_add(u64::from(len).saturating_sub(1));
                (
                    format!("Blocks {} to {}", grouped(first), grouped(last)),
                    "are",
                )
            }
        };
        match self {
            Self::Twice => format!("{blocks} {is} owned more than once"),
            Self::Unowned => format!("{blocks} {is} marked as in use, but owned by nobody"),
            Self::MarkedFree => format!("{blocks} {is} in use, but free by the bitmap"),
        }
    }
}

impl OwnerMap {
    /// The runs with damage, in order.
    pub fn damaged(&self) -> impl Iterator<Item = (Owned, Damage)> {
        (0..self.starts.len())
            .filter_map(|row| self.row(row))
            .filter_map(|run| Some((run, run.damage()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_found_in_its_run() {
        let map = OwnerMap {
            starts: vec![0.0, 8.0],
            lengths: vec![8, 2],
            inodes: vec![0, 12],
            kinds: vec![Kind::Free as u8, Kind::Data as u8],
            flags: vec![0, Flags::UNWRITTEN.bits()],
        };
        assert_eq!(map.at(7).map(|run| run.kind), Some(Kind::Free));
        assert_eq!(map.at(9).and_then(|run| run.inode), Some(12));
        assert_eq!(map.at(10), None);
    }

    #[test]
    fn damage_is_told_in_a_sentence() {
        let map = OwnerMap {
            starts: vec![0.0, 8.0, 9.0],
            lengths: vec![8, 1, 1500],
            inodes: vec![0, 0, 12],
            kinds: vec![Kind::Free as u8, Kind::Twice as u8, Kind::Data as u8],
            flags: vec![0, 0, Flags::MARKED_FREE.bits()],
        };
        let words: Vec<_> = map
            .damaged()
            .map(|(run, damage)| damage.sentence(run.start, run.len))
            .collect();
        assert_eq!(
            words,
            [
                "Block 8 is owned more than once",
                "Blocks 9 to 1,508 are in use, but free by the bitmap"
            ]
        );
    }
}
