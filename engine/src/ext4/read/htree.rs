//! The tree of hashes that finds names in large directories.

use super::{Fs, HashVersion, InodeBuf};
use crate::disk::ReadAt;
use crate::ext4::layout::{
    Compat, DxCountLimit, DxEntry, DxRootInfo, DxTail, Incompat, InodeFlags,
};
use crate::ext4::{Flaw, Place, Problem, checksum};
use crate::units::{BlockNr, Lblk};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const ENTRY: usize = 8;
/// Where a root's and an inner node's entries begin.
const ROOT_ENTRIES: usize = 32;
const NODE_ENTRIES: usize = 8;
/// Bytes at the end of a node that carry its checksum.
const TAIL: usize = 8;

/// A node of an htree.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DxNodeInfo {
    /// Block of the directory.
    pub lblk: u32,
    /// Where on disk.
    pub at: BlockNr,
    /// Levels of nodes below it: 0 points to leaves.
    pub level: u8,
    /// Entries that fit.
    pub limit: u16,
    /// First hash of each block below, and the block of the directory.
    pub entries: Vec<(u32, u32)>,
    /// Whether its checksum holds; `None` without metadata_csum.
    pub checksum_ok: Option<bool>,
}

/// A directory's htree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Htree {
    /// The hash; `None` for one that is not known.
    pub hash: Option<HashVersion>,
    /// The byte that names the hash.
    pub hash_byte: u8,
    /// Inner levels below the root.
    pub levels: u8,
    /// The root, then what is below it, each node before its children.
    pub nodes: Vec<DxNodeInfo>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

impl<R: ReadAt> Fs<R> {
    /// A directory's htree; `None` when it has none.
    pub fn htree(&self, dir: &InodeBuf) -> Option<Htree> {
        let indexed =
            dir.flags().contains(InodeFlags::INDEX) && self.sb.compat().contains(Compat::DIR_INDEX);
        if !indexed || dir.flags().contains(InodeFlags::INLINE_DATA) {
            return None;
        }
        let runs = self.runs(dir);
        let mut walk = Walk {
            fs: self,
            dir,
            lookup: &|lblk| {
                runs.find(Lblk(lblk))
                    .map(|r| r.start.plus(u64::from(lblk - r.lblk.0)))
            },
            seen: BTreeSet::new(),
            nodes: Vec::new(),
            problems: Vec::new(),
        };
        let root = walk.read(0)?;
        let info = DxRootInfo(root.1.get(24..32)?);
        let (hash_byte, levels) = (info.hash_version(), info.indirect_levels());
        walk.check_root(&info);
        let most = if self.sb.incompat().contains(Incompat::LARGEDIR) {
            2
        } else {
            1
        };
        if levels > most {
            walk.value(
                0,
                "indirect_levels",
                levels.into(),
                format!("at most {most}"),
            );
        } else {
            walk.node(0, root, levels, ROOT_ENTRIES);
        }
        let unsigned = self.sb.s_flags() & 2 != 0;
        Some(Htree {
            hash: HashVersion::from_disk(hash_byte, unsigned),
            hash_byte,
            levels,
            nodes: walk.nodes,
            problems: walk.problems,
        })
    }
}

struct Walk<'a, R> {
    fs: &'a Fs<R>,
    dir: &'a InodeBuf,
    lookup: &'a dyn Fn(u32) -> Option<BlockNr>,
    seen: BTreeSet<u32>,
    nodes: Vec<DxNodeInfo>,
    problems: Vec<Problem>,
}

impl<R: ReadAt> Walk<'_, R> {
    fn value(&mut self, lblk: u32, field: &str, found: u64, expected: String) {
        self.problems.push(Problem::value(
            Place::DirBlock(self.dir.nr, lblk.into()),
            field,
            found,
            expected,
        ));
    }

    fn check_root(&mut self, info: &DxRootInfo<&[u8]>) {
        if info.info_length() != 8 {
            self.value(0, "info_length", info.info_length().into(), "8".into());
        }
        if HashVersion::from_disk(info.hash_version(), false).is_none() {
            self.value(
                0,
                "hash_version",
                info.hash_version().into(),
                "0 to 6".into(),
            );
        }
    }

    fn read(&mut self, lblk: u32) -> Option<(BlockNr, Vec<u8>)> {
        let Some(at) = (self.lookup)(lblk) else {
            self.value(
                lblk,
                "block",
                lblk.into(),
                "a block that the directory has".into(),
            );
            return None;
        };
        match self.fs.block(at) {
            Ok(bytes) => Some((at, bytes)),
            Err(e) => {
                self.problems
                    .push(e.into_problem(Place::DirBlock(self.dir.nr, lblk.into())));
                None
            }
        }
    }

    fn node(&mut self, lblk: u32, (at, bytes): (BlockNr, Vec<u8>), level: u8, start: usize) {
        if !self.seen.insert(lblk) {
            self.problems.push(Problem::new(
                Place::DirBlock(self.dir.nr, lblk.into()),
                Flaw::Cycle { at: lblk.into() },
            ));
            return;
        }
        let head = DxCountLimit(&bytes[start..]);
        let tail = if self.fs.sb.has_metadata_csum() {
            TAIL
        } else {
            0
        };
        let fits = ((bytes.len() - start - tail) / ENTRY) as u16;
        let (limit, mut count) = (head.limit(), head.count());
        if limit != fits {
            self.value(
                lblk,
                "limit",
                limit.into(),
                format!("{fits}, which is what fits"),
            );
        }
        if count == 0 || count > fits {
            self.value(lblk, "count", count.into(), format!("1 to {fits}"));
            count = count.min(fits);
        }
        let mut entries = Vec::with_capacity(count.into());
        for i in 0..usize::from(count) {
            let e = DxEntry(&bytes[start + i * ENTRY..]);
            // The first entry's hash is taken by limit and count; it stands for 0.
            entries.push((if i == 0 { 0 } else { e.hash() }, e.block() & 0x0FFF_FFFF));
        }
        if let Some(i) = (1..entries.len()).find(|&i| entries[i].0 < entries[i - 1].0) {
            let (hash, before) = (entries[i].0, entries[i - 1].0);
            let flaw = Flaw::Order {
                at: hash.into(),
                at_least: before.into(),
            };
            self.problems.push(Problem::new(
                Place::DirBlock(self.dir.nr, lblk.into()),
                flaw,
            ));
        }
        let checksum_ok = self.checksum(lblk, &bytes, start, limit.min(fits), count);
        let below: Vec<u32> = entries.iter().map(|e| e.1).collect();
        self.nodes.push(DxNodeInfo {
            lblk,
            at,
            level,
            limit,
            entries,
            checksum_ok,
        });
        if level == 0 {
            return;
        }
        for child in below {
            if let Some(read) = self.read(child) {
                self.node(child, read, level - 1, NODE_ENTRIES);
            }
        }
    }

    fn checksum(
        &mut self,
        lblk: u32,
        bytes: &[u8],
        start: usize,
        limit: u16,
        count: u16,
    ) -> Option<bool> {
        if !self.fs.sb.has_metadata_csum() {
            return None;
        }
        let tail = DxTail(bytes.get(start + usize::from(limit) * ENTRY..)?);
        let used = bytes.get(..start + usize::from(count) * ENTRY)?;
        let expected = checksum::htree(self.fs.inode_seed(self.dir), used, &tail);
        let found = tail.dt_checksum();
        if found != expected {
            let place = Place::DirBlock(self.dir.nr, lblk.into());
            self.problems
                .push(Problem::new(place, Flaw::Checksum { found, expected }));
        }
        Some(found == expected)
    }
}
