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
}
