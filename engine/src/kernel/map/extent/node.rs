//! Nodes of extent trees: header, entries, checksum.

use crate::event::Meta;
use crate::ext4::checksum;
use crate::ext4::layout::{
    EXTENT_MAGIC, EXTENT_MAX_WRITTEN, ExtentHeader, ExtentIndex, ExtentLeaf, wire,
};
use crate::kernel::buffer::Block;
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::BlockNr;

/// Bytes of a header and of each entry.
pub(super) const ENTRY: usize = 12;
/// Longest extent of written blocks.
pub(super) const MAX_WRITTEN: u32 = EXTENT_MAX_WRITTEN as u32;
/// Longest extent of unwritten blocks: its length shares 16 bits with the mark.
pub(super) const MAX_UNWRITTEN: u32 = EXTENT_MAX_WRITTEN as u32 - 1;

/// An entry of a leaf.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Extent {
    pub(in super::super) lblk: u32,
    pub(in super::super) len: u32,
    pub(in super::super) start: u64,
    pub(in super::super) unwritten: bool,
}

impl Extent {
    pub(super) fn decode(raw: &[u8]) -> Self {
        let e = ExtentLeaf(raw);
        Self {
            lblk: e.ee_block(),
            len: e.len().into(),
            start: e.start().0,
            unwritten: e.is_unwritten(),
        }
    }

    pub(super) fn encode(&self) -> [u8; ENTRY] {
        let mut e = ExtentLeaf([0; ENTRY]);
        let mark = if self.unwritten {
            u32::from(EXTENT_MAX_WRITTEN)
        } else {
            0
        };
        e.set_ee_block(self.lblk);
        e.set_ee_len((self.len + mark) as u16);
        e.set_ee_start_lo((self.start & 0xFFFF_FFFF) as u32);
        e.set_ee_start_hi((self.start >> 32) as u16);
        e.0
    }

    /// One past its last block of the file.
    pub(in super::super) fn end(&self) -> u64 {
        u64::from(self.lblk) + u64::from(self.len)
    }

    pub(super) fn holds(&self, lblk: u32) -> bool {
        self.lblk <= lblk && u64::from(lblk) < self.end()
    }

    /// Where a block of the file at or after its first is, if the extent went on that far.
    pub(in super::super) fn at(&self, lblk: u64) -> u64 {
        self.start
            .saturating_add(lblk.saturating_sub(u64::from(self.lblk)))
    }

    /// Its part from `from` up to `to`, both inside.
    pub(super) fn part(&self, from: u64, to: u64) -> Self {
        Self {
            lblk: from as u32,
            len: to.saturating_sub(from) as u32,
            start: self.at(from),
            unwritten: self.unwritten,
        }
    }

    /// Whether `next` goes on where this one ends, and one entry can say both.
    pub(super) fn joins(&self, next: &Self) -> bool {
        let most = if self.unwritten {
            MAX_UNWRITTEN
        } else {
            MAX_WRITTEN
        };
        self.unwritten == next.unwritten
            && self.end() == u64::from(next.lblk)
            && self.start + u64::from(self.len) == next.start
            && self.len + next.len <= most
    }
}

/// An entry of an inner node.
pub(super) fn index(lblk: u32, node: BlockNr) -> [u8; ENTRY] {
    let mut e = ExtentIndex([0; ENTRY]);
    e.set_ei_block(lblk);
    e.set_ei_leaf_lo((node.0 & 0xFFFF_FFFF) as u32);
    e.set_ei_leaf_hi((node.0 >> 32) as u16);
    e.0
}

/// Entries that fit into a node of so many bytes. Four bytes are always left behind them,
/// where the checksum goes.
pub(super) fn fits(bytes: usize) -> usize {
    bytes.saturating_sub(ENTRY) / ENTRY
}

/// A node to read: the root in the inode, or a block.
pub(super) enum Node {
    Root([u8; 60]),
    Block(BlockNr, Block),
}

impl Node {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Root(bytes) => bytes,
            Self::Block(_, bytes) => bytes,
        }
    }

    fn head(&self) -> ExtentHeader<&[u8]> {
        ExtentHeader(self.bytes())
    }

    pub(super) fn place(&self) -> Option<BlockNr> {
        match self {
            Self::Root(_) => None,
            Self::Block(at, _) => Some(*at),
        }
    }

    pub(super) fn entries(&self) -> usize {
        usize::from(self.head().eh_entries()).min(self.max())
    }

    pub(super) fn max(&self) -> usize {
        usize::from(self.head().eh_max()).min(fits(self.bytes().len()))
    }

    /// Levels below.
    pub(super) fn depth(&self) -> usize {
        self.head().eh_depth().into()
    }

    fn raw(&self, slot: usize) -> Option<&[u8]> {
        if slot >= self.entries() {
            return None;
        }
        self.bytes().get(ENTRY * (slot + 1)..ENTRY * (slot + 2))
    }

    /// The bytes of the entries from a slot on.
    pub(super) fn raw_from(&self, slot: usize) -> &[u8] {
        let end = ENTRY * (self.entries() + 1);
        self.bytes()
            .get(ENTRY * (slot + 1)..end)
            .unwrap_or_default()
    }

    /// The first block of the file of an entry, in leaves and inner nodes alike.
    pub(super) fn key(&self, slot: usize) -> Option<u32> {
        Some(ExtentLeaf(self.raw(slot)?).ee_block())
    }

    pub(super) fn extent(&self, slot: usize) -> Option<Extent> {
        Some(Extent::decode(self.raw(slot)?))
    }

    pub(super) fn child(&self, slot: usize) -> Option<BlockNr> {
        Some(ExtentIndex(self.raw(slot)?).leaf())
    }

    /// The last entry that starts at or before a block of the file; the first where none
    /// does.
    pub(super) fn locate(&self, lblk: u32) -> usize {
        let entries = self.raw_from(0);
        let key = |slot: usize| wire::get::<u32>(entries, slot * ENTRY, wire::Order::Little);
        let (mut low, mut high) = (0, entries.len() / ENTRY);
        while low < high {
            let mid = usize::midpoint(low, high);
            if key(mid) <= lblk {
                low = mid + 1;
            } else {
                high = mid;
            }
        }
        low.saturating_sub(1)
    }
}

/// A node to change.
pub(super) struct NodeMut<'a>(&'a mut [u8]);

impl NodeMut<'_> {
    /// Makes it an empty node.
    pub(super) fn init(&mut self, depth: usize) {
        self.0.fill(0);
        let max = fits(self.0.len()) as u16;
        let mut head = ExtentHeader(&mut *self.0);
        head.set_eh_magic(EXTENT_MAGIC);
        head.set_eh_entries(0);
        head.set_eh_max(max);
        head.set_eh_depth(depth as u16);
    }

    fn entries(&self) -> usize {
        usize::from(ExtentHeader(&*self.0).eh_entries()).min(fits(self.0.len()))
    }

    fn set_entries(&mut self, n: usize) {
        ExtentHeader(&mut *self.0).set_eh_entries(n as u16);
    }

    pub(super) fn set(&mut self, slot: usize, raw: &[u8; ENTRY]) {
        if let Some(to) = self.0.get_mut(ENTRY * (slot + 1)..ENTRY * (slot + 2)) {
            to.copy_from_slice(raw);
        }
    }

    pub(super) fn set_key(&mut self, slot: usize, lblk: u32) {
        let bytes = &mut *self.0;
        wire::set(bytes, ENTRY * (slot + 1), &lblk, wire::Order::Little);
    }

    /// Puts an entry before the one in a slot. The caller has seen to the room for it.
    pub(super) fn insert(&mut self, slot: usize, raw: &[u8; ENTRY]) {
        let n = self.entries();
        if n >= fits(self.0.len()) || slot > n {
            return;
        }
        let (from, end) = (ENTRY * (slot + 1), ENTRY * (n + 1));
        self.0.copy_within(from..end, from + ENTRY);
        self.set(slot, raw);
        self.set_entries(n + 1);
    }

    /// Takes entries out, from a slot up to another.
    pub(super) fn cut(&mut self, from: usize, to: usize) {
        let n = self.entries();
        let to = to.min(n);
        if from >= to {
            return;
        }
        let left = n - (to - from);
        let end = ENTRY * (n + 1);
        self.0
            .copy_within(ENTRY * (to + 1)..end, ENTRY * (from + 1));
        self.0[ENTRY * (left + 1)..end].fill(0);
        self.set_entries(left);
    }

    /// Adds entries behind the last.
    pub(super) fn append(&mut self, raw: &[u8]) {
        let n = self.entries();
        let at = ENTRY * (n + 1);
        if let Some(to) = self.0.get_mut(at..at + raw.len()) {
            to.copy_from_slice(raw);
            self.set_entries(n + raw.len() / ENTRY);
        }
    }
}

/// Changes a node, and its checksum with it. `None` is the root.
pub(super) fn edit<R>(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    at: Option<BlockNr>,
    change: impl FnOnce(&mut NodeMut<'_>) -> R,
) -> Result<R> {
    let Some(at) = at else {
        let mut bytes = inode.i_block();
        let answer = change(&mut NodeMut(&mut bytes));
        inode.set_i_block(bytes);
        return Ok(answer);
    };
    let sealed = vol.has_csum();
    let bytes = vol.change(at, Meta::ExtentNode, inode.nr)?;
    let answer = change(&mut NodeMut(bytes));
    if sealed {
        seal(bytes, inode.seed);
    }
    Ok(answer)
}

/// A new node below the root.
pub(super) fn create(
    vol: &mut Volume,
    inode: &InodeInfo,
    at: BlockNr,
    depth: usize,
    entries: &[u8],
) -> Result<()> {
    let sealed = vol.has_csum();
    let bytes = vol.fresh(at, Meta::ExtentNode, inode.nr)?;
    let mut node = NodeMut(bytes);
    node.init(depth);
    node.append(entries);
    if sealed {
        seal(bytes, inode.seed);
    }
    Ok(())
}

/// The root of a tree that maps nothing.
pub(super) fn empty_root() -> [u8; 60] {
    let mut bytes = [0; 60];
    NodeMut(&mut bytes).init(0);
    bytes
}

fn seal(bytes: &mut [u8], seed: u32) {
    let tail = ENTRY * (1 + usize::from(ExtentHeader(&*bytes).eh_max()));
    let Some(covered) = bytes.get(..tail) else {
        return;
    };
    let sum = checksum::of_inode(seed, covered);
    wire::set(bytes, tail, &sum, wire::Order::Little);
}
