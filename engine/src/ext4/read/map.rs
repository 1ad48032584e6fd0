//! From an inode to the blocks it maps: extent trees, and the block maps of ext2 and
//! ext3.

use super::{Fs, InodeBuf, counted};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    EXTENT_MAGIC, EXTENT_MAX_DEPTH, ExtentHeader, ExtentIndex, ExtentLeaf, InodeFlags, wire,
};
use crate::ext4::{Error, Flaw, Place, Problem, checksum};
use crate::units::{BlockNr, Lblk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Bytes of an extent tree's header and of each of its entries.
const ENTRY: usize = 12;
/// One more than the last block a file can have.
const LBLK_END: u64 = 1 << 32;

/// Blocks of a file that lie together on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// First block of the file.
    pub lblk: Lblk,
    /// First block on disk.
    pub start: BlockNr,
    /// Blocks; at least 1.
    pub len: u32,
    /// Allocated, but reads as zeros.
    pub unwritten: bool,
}

impl Run {
    /// One past the last block of the file.
    pub fn end(&self) -> u64 {
        u64::from(self.lblk.0) + u64::from(self.len)
    }
}

/// What kind of node maps blocks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum NodeKind {
    /// A node of an extent tree.
    Extent,
    /// A block of block numbers, or the fifteen numbers in the inode.
    Indirect,
}

/// A node of a file's map.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Its block; `None` for the root in the inode.
    pub block: Option<BlockNr>,
    /// What kind of node.
    pub kind: NodeKind,
    /// Levels of nodes below it.
    pub level: u16,
    /// First block of the file that it can map.
    pub lblk: Lblk,
    /// Entries in use.
    pub entries: u32,
    /// Entries that fit.
    pub max: u32,
    /// Whether its checksum holds; `None` where it has none.
    pub checksum_ok: Option<bool>,
}

/// Is told of every node, run and problem of a map, each node before what is below it,
/// runs in the order of the file.
pub trait MapVisitor {
    /// A node.
    fn node(&mut self, _node: &NodeInfo) {}
    /// Blocks of the file.
    fn run(&mut self, _run: Run) {}
    /// Damage; what it covers is left out.
    fn problem(&mut self, problem: Problem);
}

/// A file's runs, and what is wrong with its map.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Runs {
    /// In the order of the file.
    pub runs: Vec<Run>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl MapVisitor for Runs {
    fn run(&mut self, run: Run) {
        self.runs.push(run);
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

impl Runs {
    /// The run that maps a block of the file, if one does.
    pub fn find(&self, lblk: Lblk) -> Option<&Run> {
        let after = self.runs.partition_point(|r| r.lblk <= lblk);
        let run = self.runs[..after].last()?;
        (u64::from(lblk.0) < run.end()).then_some(run)
    }
}

impl<R: ReadAt> Fs<R> {
    /// Walks an inode's map. Inodes that map no blocks give nothing.
    pub fn walk_map(&self, inode: &InodeBuf, visitor: &mut dyn MapVisitor) {
        if !inode.maps_blocks(self.is_fast_symlink(inode)) {
            return;
        }
        self.walk_map_of_any(inode, visitor);
    }

    /// Walks the map of an inode whatever its mode says: reserved inodes have modes that
    /// say nothing.
    pub fn walk_map_of_any(&self, inode: &InodeBuf, visitor: &mut dyn MapVisitor) {
        let mut walk = Walk {
            fs: self,
            inode,
            seed: self.inode_seed(inode),
            visitor,
            visited: BTreeSet::new(),
            next: 0,
            mapped: 0,
        };
        if inode.flags().contains(InodeFlags::EXTENTS) {
            let root = inode.i_block().0;
            walk.extent_node(&root, None, None, 0, LBLK_END);
        } else {
            walk.block_map();
        }
    }

    /// All runs of an inode.
    pub fn runs(&self, inode: &InodeBuf) -> Runs {
        let mut runs = Runs::default();
        self.walk_map(inode, &mut runs);
        runs
    }
}

struct Walk<'a, R> {
    fs: &'a Fs<R>,
    inode: &'a InodeBuf,
    seed: u32,
    visitor: &'a mut dyn MapVisitor,
    /// Nodes seen: a map that comes back to one is a cycle.
    visited: BTreeSet<u64>,
    /// The least block of the file that may come next.
    next: u64,
    /// Blocks mapped so far: more than the filesystem has are damage, and would let a
    /// small image claim endless work.
    mapped: u64,
}

impl<R: ReadAt> Walk<'_, R> {
    fn problem(&mut self, at: Option<BlockNr>, flaw: Flaw) {
        let place = match at {
            Some(block) => Place::MapNode(self.inode.nr, block),
            None => Place::Inode(self.inode.nr),
        };
        self.visitor.problem(Problem::new(place, flaw));
    }

    fn value(
        &mut self,
        at: Option<BlockNr>,
        field: &str,
        found: impl Into<u64>,
        expected: impl Into<String>,
    ) {
        let flaw = Flaw::Value {
            field: field.into(),
            found: found.into(),
            expected: expected.into(),
        };
        self.problem(at, flaw);
    }

    /// Reads a node's block, unless it is outside the filesystem or was seen before.
    fn read_node(&mut self, parent: Option<BlockNr>, at: BlockNr, field: &str) -> Option<Vec<u8>> {
        if !self.fs.geo.holds(at, 1) {
            let last = self.fs.geo.blocks - 1;
            self.value(
                parent,
                field,
                at.0,
                format!("a block of the filesystem, up to {last}"),
            );
            return None;
        }
        if !self.visited.insert(at.0) {
            self.problem(parent, Flaw::Cycle { at: at.0 });
            return None;
        }
        match self.fs.block(at) {
            Ok(bytes) => Some(bytes),
            Err(Error::Damaged(p)) => {
                self.problem(Some(at), p.flaw);
                None
            }
            Err(e) => {
                self.problem(Some(at), Flaw::Other(e.to_string()));
                None
            }
        }
    }

    /// Reports a run, if it is one that can be.
    fn run(&mut self, at: Option<BlockNr>, run: Run) -> bool {
        let geo = &self.fs.geo;
        if !geo.holds(run.start, run.len.into()) {
            let last = geo.blocks - 1;
            self.value(
                at,
                "ee_start",
                run.start.0,
                format!(
                    "{} of the filesystem, up to {last}",
                    counted(run.len, "block")
                ),
            );
            return true;
        }
        self.mapped += u64::from(run.len);
        if self.mapped > geo.blocks {
            let words = format!(
                "maps more blocks than the {} of the filesystem; the rest is left out",
                geo.blocks
            );
            self.problem(None, Flaw::Other(words));
            return false;
        }
        self.next = run.end();
        self.visitor.run(run);
        true
    }

    /// A node of an extent tree. `depth` is what the level above makes it; `from` and
    /// `to` bound the blocks of the file below it. `false` stops the walk.
    fn extent_node(
        &mut self,
        bytes: &[u8],
        at: Option<BlockNr>,
        depth: Option<u16>,
        from: u64,
        to: u64,
    ) -> bool {
        let head = ExtentHeader(bytes);
        if head.eh_magic() != EXTENT_MAGIC {
            self.problem(
                at,
                Flaw::Magic {
                    found: head.eh_magic().into(),
                    expected: EXTENT_MAGIC.into(),
                },
            );
            return true;
        }
        let fits = ((bytes.len() - ENTRY) / ENTRY) as u16;
        let (mut entries, max) = (head.eh_entries(), head.eh_max());
        if max > fits {
            self.value(
                at,
                "eh_max",
                max,
                format!("at most {fits}, which is what fits"),
            );
        }
        if entries > max.min(fits) {
            self.value(
                at,
                "eh_entries",
                entries,
                format!("at most {}", max.min(fits)),
            );
            entries = max.min(fits);
        }
        let level = head.eh_depth();
        match depth {
            Some(expected) if level != expected => {
                self.value(
                    at,
                    "eh_depth",
                    level,
                    format!("{expected}, one less than the node above"),
                );
                return true;
            }
            None if level > EXTENT_MAX_DEPTH => {
                self.value(at, "eh_depth", level, format!("at most {EXTENT_MAX_DEPTH}"));
                return true;
            }
            _ => {}
        }
        if entries == 0 && level > 0 {
            self.value(
                at,
                "eh_entries",
                0u64,
                "at least 1 in a node that is not a leaf",
            );
        }
        let checksum_ok = self.extent_checksum(bytes, at, max.min(fits));
        self.visitor.node(&NodeInfo {
            block: at,
            kind: NodeKind::Extent,
            level,
            lblk: Lblk(from as u32),
            entries: entries.into(),
            max: max.into(),
            checksum_ok,
        });
        let entries = &bytes[ENTRY..ENTRY * (1 + usize::from(entries))];
        if level == 0 {
            self.extent_leaf(entries, at, to)
        } else {
            self.extent_index(entries, at, level, to)
        }
    }

    fn extent_checksum(&mut self, bytes: &[u8], at: Option<BlockNr>, max: u16) -> Option<bool> {
        at?;
        if !self.fs.sb.has_metadata_csum() {
            return None;
        }
        let tail = ENTRY * (1 + usize::from(max));
        if tail + 4 > bytes.len() {
            return None;
        }
        let found = wire::get::<u32>(bytes, tail, wire::Order::Little);
        let expected = checksum::of_inode(self.seed, &bytes[..tail]);
        if found != expected {
            self.problem(at, Flaw::Checksum { found, expected });
        }
        Some(found == expected)
    }

    fn extent_leaf(&mut self, entries: &[u8], at: Option<BlockNr>, to: u64) -> bool {
        for raw in entries.chunks_exact(ENTRY) {
            let e = ExtentLeaf(raw);
            let lblk = u64::from(e.ee_block());
            if e.is_empty() {
                self.value(at, "ee_len", 0u64, "at least 1");
                continue;
            }
            if lblk < self.next {
                self.problem(
                    at,
                    Flaw::Order {
                        at: lblk,
                        at_least: self.next,
                    },
                );
                continue;
            }
            if lblk + u64::from(e.len()) > to {
                self.value(
                    at,
                    "ee_block",
                    lblk,
                    format!(
                        "{} ending by block {to} of the file",
                        counted(e.len(), "block")
                    ),
                );
                continue;
            }
            let run = Run {
                lblk: Lblk(e.ee_block()),
                start: e.start(),
                len: e.len().into(),
                unwritten: e.is_unwritten(),
            };
            if !self.run(at, run) {
                return false;
            }
        }
        true
    }

    fn extent_index(&mut self, entries: &[u8], at: Option<BlockNr>, level: u16, to: u64) -> bool {
        let mut below = entries.chunks_exact(ENTRY).map(ExtentIndex).peekable();
        while let Some(e) = below.next() {
            let from = u64::from(e.ei_block());
            if from < self.next {
                self.problem(
                    at,
                    Flaw::Order {
                        at: from,
                        at_least: self.next,
                    },
                );
                continue;
            }
            // An entry out of order is reported at its own turn, not as its neighbour's end.
            let end = below.peek().map_or(to, |n| u64::from(n.ei_block())).min(to);
            let end = if end > from { end } else { to };
            let Some(bytes) = self.read_node(at, e.leaf(), "ei_leaf") else {
                continue;
            };
            self.next = from;
            if !self.extent_node(&bytes, Some(e.leaf()), Some(level - 1), from, end) {
                return false;
            }
        }
        true
    }

    /// The fifteen numbers in the inode of ext2 and ext3.
    fn block_map(&mut self) {
        let root = self.inode.i_block().0;
        let used = root.chunks_exact(4).filter(|b| **b != [0; 4]).count() as u32;
        self.visitor.node(&NodeInfo {
            block: None,
            kind: NodeKind::Indirect,
            level: if root[48..].iter().any(|&b| b != 0) {
                1
            } else {
                0
            },
            lblk: Lblk(0),
            entries: used,
            max: 15,
            checksum_ok: None,
        });
        let mut merge = None;
        let mut go_on = self.numbers(&root[..48], None, 0, &mut merge);
        let per_block = u64::from(self.fs.geo.block_size / 4);
        let (mut lblk, mut span) = (12, per_block);
        for level in 1..=3u16 {
            let slot = &root[44 + 4 * usize::from(level)..][..4];
            if !go_on || lblk >= LBLK_END {
                break;
            }
            go_on = self.indirect(number(slot), None, level, lblk, &mut merge);
            lblk += span;
            span = span.saturating_mul(per_block);
        }
        if go_on && let Some(run) = merge {
            self.run(None, run);
        }
    }

    /// An indirect block `level` levels above data, for the blocks of the file from
    /// `lblk` on.
    fn indirect(
        &mut self,
        at: BlockNr,
        parent: Option<BlockNr>,
        level: u16,
        lblk: u64,
        merge: &mut Option<Run>,
    ) -> bool {
        if at.0 == 0 {
            return true;
        }
        let Some(bytes) = self.read_node(parent, at, "i_block") else {
            return true;
        };
        self.visitor.node(&NodeInfo {
            block: Some(at),
            kind: NodeKind::Indirect,
            level: level - 1,
            lblk: Lblk(lblk.min(u32::MAX.into()) as u32),
            entries: bytes.chunks_exact(4).filter(|b| **b != [0; 4]).count() as u32,
            max: (bytes.len() / 4) as u32,
            checksum_ok: None,
        });
        if level == 1 {
            return self.numbers(&bytes, Some(at), lblk, merge);
        }
        let per_block = (bytes.len() / 4) as u64;
        let span = per_block.pow(u32::from(level) - 1);
        for (i, slot) in bytes.chunks_exact(4).enumerate() {
            let from = lblk + i as u64 * span;
            if from >= LBLK_END {
                break;
            }
            if !self.indirect(number(slot), Some(at), level - 1, from, merge) {
                return false;
            }
        }
        true
    }

    /// Numbers of data blocks, joined into runs where they follow each other.
    fn numbers(
        &mut self,
        slots: &[u8],
        at: Option<BlockNr>,
        lblk: u64,
        merge: &mut Option<Run>,
    ) -> bool {
        for (i, slot) in slots.chunks_exact(4).enumerate() {
            let start = number(slot);
            let lblk = lblk + i as u64;
            if start.0 == 0 || lblk >= LBLK_END {
                continue;
            }
            match merge {
                Some(run) if run.end() == lblk && run.start.plus(run.len.into()) == start => {
                    run.len += 1
                }
                _ => {
                    let new = Run {
                        lblk: Lblk(lblk as u32),
                        start,
                        len: 1,
                        unwritten: false,
                    };
                    if let Some(done) = merge.replace(new)
                        && !self.run(at, done)
                    {
                        *merge = None;
                        return false;
                    }
                }
            }
        }
        true
    }
}

fn number(slot: &[u8]) -> BlockNr {
    BlockNr(wire::get::<u32>(slot, 0, wire::Order::Little).into())
}
