//! The fifteen numbers of the inode, and blocks of numbers.

use crate::event::Meta;
use crate::ext4::layout::wire;
use crate::ext4::{Place, Problem};
use crate::kernel::buffer::Block;
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::BlockNr;

/// Numbers in the inode that are of the file's own blocks.
pub(super) const DIRECT: u64 = 12;
/// Bytes of a number.
const POINTER: usize = 4;

/// Numbers in a block.
pub(super) fn per_block(vol: &Volume) -> u64 {
    u64::from(vol.geo.block_size) / POINTER as u64
}

/// The slots on the way from the inode to a block of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Route {
    slots: [usize; 4],
    /// Blocks of numbers on the way.
    pub(super) depth: usize,
}

impl Route {
    /// `None` past what three levels reach.
    pub(super) fn to(per: u64, lblk: u64) -> Option<Self> {
        if lblk < DIRECT {
            return Some(Self::new(&[lblk]));
        }
        let n = lblk - DIRECT;
        if n < per {
            return Some(Self::new(&[DIRECT, n]));
        }
        let n = n - per;
        if n < per * per {
            return Some(Self::new(&[DIRECT + 1, n / per, n % per]));
        }
        let n = n - per * per;
        let top = n / (per * per);
        (top < per).then(|| Self::new(&[DIRECT + 2, top, n / per % per, n % per]))
    }

    fn new(way: &[u64]) -> Self {
        let mut slots = [0; 4];
        for (to, &from) in slots.iter_mut().zip(way) {
            *to = from as usize;
        }
        Self {
            slots,
            depth: way.len() - 1,
        }
    }

    pub(super) fn slot(&self, level: usize) -> usize {
        self.slots.get(level).copied().unwrap_or_default()
    }
}

/// Numbers to read.
pub(super) enum Table {
    Root([u8; 60]),
    Block(BlockNr, Block),
}

impl Table {
    pub(super) fn root(inode: &InodeInfo) -> Self {
        Self::Root(inode.i_block())
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Root(bytes) => bytes,
            Self::Block(_, bytes) => bytes,
        }
    }

    pub(super) fn place(&self) -> Option<BlockNr> {
        match self {
            Self::Root(_) => None,
            Self::Block(at, _) => Some(*at),
        }
    }

    pub(super) fn slots(&self) -> usize {
        self.bytes().len() / POINTER
    }

    /// Slots that can be of the file's own blocks, in a table that has such.
    pub(super) fn data_slots(&self) -> usize {
        self.slots().min(match self {
            Self::Root(_) => DIRECT as usize,
            Self::Block(..) => usize::MAX,
        })
    }

    /// The number in a slot; `None` for none.
    pub(super) fn get(&self, slot: usize) -> Option<u32> {
        let n: u32 = wire::get(self.bytes(), slot * POINTER, wire::Order::Little);
        (n != 0).then_some(n)
    }

    /// Whether there is no number in it.
    pub(super) fn is_empty(&self) -> bool {
        self.bytes().iter().all(|&b| b == 0)
    }
}

/// Notes damage in a block of numbers.
pub(super) fn damage(vol: &mut Volume, inode: &InodeInfo, at: u32, words: &str) -> Errno {
    let place = Place::MapNode(inode.nr, BlockNr(at.into()));
    vol.corrupt(Problem::other(place, words))
}

/// Reads a block of numbers.
pub(super) fn load(vol: &mut Volume, inode: &InodeInfo, at: u32) -> Result<Table> {
    let place = BlockNr(at.into());
    check_data(vol, inode, place, 1)?;
    Ok(Table::Block(place, vol.block(place)?))
}

/// Blocks that a map names must be such as a file can have.
pub(super) fn check_data(
    vol: &mut Volume,
    inode: &InodeInfo,
    start: BlockNr,
    len: u64,
) -> Result<()> {
    if vol.data_blocks_valid(start, len) {
        return Ok(());
    }
    let words = format!("maps {len} blocks from {start} on, which cannot be a file's");
    Err(vol.corrupt(Problem::other(Place::Inode(inode.nr), words)))
}

/// Sets numbers from a slot on: `None` is the inode's table.
pub(super) fn set(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    at: Option<BlockNr>,
    slot: usize,
    numbers: impl Iterator<Item = u32>,
) -> Result<()> {
    let write = |bytes: &mut [u8]| {
        for (i, n) in numbers.enumerate() {
            wire::set(bytes, (slot + i) * POINTER, &n, wire::Order::Little);
        }
    };
    match at {
        None => {
            let mut bytes = inode.i_block();
            write(&mut bytes);
            inode.set_i_block(bytes);
        }
        Some(at) => write(vol.change(at, Meta::Indirect, inode.nr)?),
    }
    Ok(())
}
