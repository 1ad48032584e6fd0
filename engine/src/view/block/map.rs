//! Nodes of extent trees, and blocks of block numbers.

use super::parts::{number_field, part};
use super::{Context, InMap};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    EXTENT_MAGIC, ExtentHeader, ExtentIndex, ExtentLeaf, Order, Shown, wire,
};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::view::FieldValue;
use crate::view::fields::Structure;
use crate::view::wording::count;

const ENTRY: usize = 12;

impl<R: ReadAt> Context<'_, R> {
    fn node_place(&self) -> Place {
        match &self.inode {
            Some(inode) => Place::MapNode(inode.nr, self.nr),
            None => Place::Block(self.nr),
        }
    }

    pub(super) fn extent_node(&mut self) {
        let bytes = self.bytes;
        let Some(raw) = bytes.get(..ENTRY) else {
            return;
        };
        let head = ExtentHeader(raw);
        self.parts
            .structure("header", Structure::little(ExtentHeader::FIELDS, raw, 0));
        if head.eh_magic() != EXTENT_MAGIC {
            let (found, expected) = (head.eh_magic().into(), EXTENT_MAGIC.into());
            self.problems.push(Problem::new(
                self.node_place(),
                Flaw::Magic { found, expected },
            ));
            return;
        }
        let fits = (bytes.len() - ENTRY) / ENTRY;
        let max = usize::from(head.eh_max()).min(fits);
        let used = usize::from(head.eh_entries()).min(max);
        let leaf = head.eh_depth() == 0;
        for (i, raw) in bytes.chunks_exact(ENTRY).skip(1).take(used).enumerate() {
            let at = (i + 1) * ENTRY;
            let (title, to, table) = if leaf {
                let e = ExtentLeaf(raw);
                let (from, last) = (
                    e.ee_block(),
                    u64::from(e.ee_block()) + u64::from(e.len().max(1)) - 1,
                );
                let kind = if e.is_unwritten() { ", unwritten" } else { "" };
                let disk = e.start().plus(u64::from(e.len().max(1)) - 1);
                let title = format!(
                    "extent {i}: blocks {from} to {last} of the file, at {} to {disk}{kind}",
                    e.start()
                );
                (title, e.start(), ExtentLeaf::FIELDS)
            } else {
                let e = ExtentIndex(raw);
                let title = format!(
                    "index {i}: from block {} of the file on, node in block {}",
                    e.ei_block(),
                    e.leaf()
                );
                (title, e.leaf(), ExtentIndex::FIELDS)
            };
            let fields = if self.parts.has_room() {
                Structure::little(table, raw, at).values()
            } else {
                Vec::new()
            };
            let mut entry = part(title, at, ENTRY, fields);
            entry.block = Some(to.0);
            self.parts.push(entry);
        }
        let what = if leaf { "extent" } else { "node" };
        self.says = Some(format!(
            "It is a {} of an extent tree and points to {}.",
            if leaf { "leaf" } else { "inner node" },
            count(used as u64, what)
        ));
        self.extent_tail(ENTRY * (1 + max));
    }

    fn extent_tail(&mut self, at: usize) {
        if !self.fs.superblock().has_metadata_csum() || at + 4 > self.bytes.len() {
            return;
        }
        let found = wire::get(self.bytes, at, Order::Little);
        let field = number_field(
            "et_checksum",
            at,
            Shown::Hex,
            found,
            "crc32c of the node before",
        );
        self.parts.push(part("checksum", at, 4, vec![field]));
        if let Some(seed) = self.owner_seed() {
            let expected = checksum::of_inode(seed, &self.bytes[..at]);
            self.checksum(self.node_place(), found, expected);
        }
    }

    pub(super) fn indirect(&mut self) {
        let node = match self.in_map {
            Some(InMap::Node(node)) => Some(node),
            _ => None,
        };
        let levels = node.map_or(0, |n| n.level);
        self.numbers(node.filter(|n| n.level == 0).map(|n| u64::from(n.lblk.0)));
        let below = match levels {
            0 => "blocks of the file",
            1 => "blocks of numbers",
            _ => "blocks that lead to blocks of numbers",
        };
        self.says = Some(format!("The numbers in it are of {below}."));
    }

    /// Block numbers, as runs. `lblk`: block of the file that the first stands for.
    pub(super) fn numbers(&mut self, lblk: Option<u64>) {
        let numbers: Vec<u64> = self
            .bytes
            .chunks_exact(4)
            .map(|slot| wire::get::<u32>(slot, 0, Order::Little).into())
            .collect();
        let mut at = 0;
        while let Some(&first) = numbers.get(at) {
            let follows = |(i, &n): (usize, &u64)| {
                if first == 0 {
                    n == 0
                } else {
                    n == first + i as u64
                }
            };
            let len = numbers[at..]
                .iter()
                .enumerate()
                .take_while(|&x| follows(x))
                .count()
                .max(1);
            let last = first + len as u64 - 1;
            let of_file = lblk.map_or_else(String::new, |l| {
                let from = l + at as u64;
                format!(
                    " for blocks {from} to {} of the file",
                    from + len as u64 - 1
                )
            });
            let (title, value) = match (first, len) {
                (0, _) => (format!("{len} times 0: no block{of_file}"), "0".to_string()),
                (_, 1) => (format!("block {first}{of_file}"), first.to_string()),
                _ => (
                    format!("blocks {first} to {last}{of_file}"),
                    format!("{first} to {last}"),
                ),
            };
            let field = FieldValue {
                name: if len == 1 {
                    format!("[{at}]")
                } else {
                    format!("[{at} to {}]", at + len - 1)
                },
                offset: (at * 4) as u32,
                len: (len * 4) as u32,
                shown: Shown::Block,
                value,
                help: "block numbers".into(),
            };
            let mut run = part(title, at * 4, len * 4, vec![field]);
            run.block = Some(first).filter(|&b| b != 0);
            self.parts.push(run);
            at += len;
        }
    }
}
