//! Quick invariants of a recovered filesystem: what every name leads to, and whether the
//! bitmaps and counts agree with it. Less than e2fsck does, and only of what can be reached.

use crate::disk::ReadAt;
use crate::ext4::Problem;
use crate::ext4::layout::FileType;
use crate::ext4::read::{Fs, InodeBuf, MapVisitor, NodeInfo, Run};
use crate::units::{BlockNr, GroupNr, InodeNr};
use std::collections::{BTreeMap, BTreeSet};

/// Problems that are told of one filesystem.
const MOST: usize = 8;
/// Inodes that are looked at.
const MOST_INODES: usize = 200_000;
const ROOT: InodeNr = InodeNr(2);

/// What is wrong, a sentence each; empty: nothing that was looked at.
pub(super) fn check<R: ReadAt>(medium: R) -> Vec<String> {
    let fs = match Fs::open(medium) {
        Ok(fs) => fs,
        Err(e) => return vec![e.to_string()],
    };
    let mut check = Check {
        fs: &fs,
        found: fs.problems().iter().map(Problem::to_string).collect(),
        links: BTreeMap::new(),
        claimed: BTreeMap::new(),
        blocks: BTreeMap::new(),
        inodes: BTreeMap::new(),
        waiting: vec![(ROOT, ROOT)],
        seen: BTreeSet::from([ROOT]),
    };
    check.walk();
    check.count_links();
    check.found.truncate(MOST);
    check.found
}

struct Check<'a, R> {
    fs: &'a Fs<R>,
    found: Vec<String>,
    /// Names that lead to an inode, `.` and `..` among them.
    links: BTreeMap<InodeNr, u32>,
    /// Runs of blocks by their first: the one behind the last, and whose they are.
    claimed: BTreeMap<u64, (u64, InodeNr)>,
    blocks: BTreeMap<GroupNr, Option<Vec<u8>>>,
    inodes: BTreeMap<GroupNr, Option<Vec<u8>>>,
    /// Directories that are still to be read, each with its parent.
    waiting: Vec<(InodeNr, InodeNr)>,
    seen: BTreeSet<InodeNr>,
}

/// The blocks of one inode.
#[derive(Default)]
struct Blocks {
    runs: Vec<(u64, u64)>,
    problems: Vec<Problem>,
}

impl MapVisitor for Blocks {
    fn node(&mut self, node: &NodeInfo) {
        self.runs.extend(node.block.map(|b| (b.0, 1)));
    }

    fn run(&mut self, run: Run) {
        self.runs.push((run.start.0, run.len.into()));
    }

    fn problem(&mut self, problem: Problem) {
        self.problems.push(problem);
    }
}

impl<R: ReadAt> Check<'_, R> {
    fn say(&mut self, words: impl Into<String>) {
        if self.found.len() < MOST {
            self.found.push(words.into());
        }
    }

    fn walk(&mut self) {
        self.inode(ROOT);
        while let Some((dir, parent)) = self.waiting.pop() {
            if self.found.len() >= MOST {
                return;
            }
            match self.fs.inode(dir) {
                Ok(inode) => self.directory(&inode, parent),
                Err(e) => self.say(e.to_string()),
            }
        }
    }

    fn directory(&mut self, dir: &InodeBuf, parent: InodeNr) {
        let (entries, problems) = self.fs.read_dir(dir);
        for problem in problems {
            self.say(problem.to_string());
        }
        let name_of = |name: &[u8]| crate::view::escape(name);
        for entry in entries {
            *self.links.entry(entry.inode).or_default() += 1;
            let right = match &entry.name[..] {
                b"." => Some(dir.nr),
                b".." => Some(parent),
                _ => None,
            };
            match right {
                Some(right) if entry.inode != right => self.say(format!(
                    "`{}` in directory {} leads to inode {}, not {right}",
                    name_of(&entry.name),
                    dir.nr,
                    entry.inode
                )),
                Some(_) => {}
                None if self.seen.len() >= MOST_INODES => return,
                None => {
                    let kind = self.first_sight(entry.inode, dir.nr);
                    let odd = |kind: &FileType| {
                        entry.file_type != FileType::Unknown && entry.file_type != *kind
                    };
                    if let Some(kind) = kind.filter(odd) {
                        self.say(format!(
                            "`{}` in directory {} says that inode {} is {:?}, which is {kind:?}",
                            name_of(&entry.name),
                            dir.nr,
                            entry.inode,
                            entry.file_type
                        ));
                    }
                }
            }
        }
    }

    /// What an inode is that a name in `dir` leads to; the first time it is looked at.
    fn first_sight(&mut self, nr: InodeNr, dir: InodeNr) -> Option<FileType> {
        if !self.seen.insert(nr) {
            return self.fs.inode(nr).ok().map(|i| i.file_type());
        }
        let kind = self.inode(nr)?;
        if kind == FileType::Directory {
            self.waiting.push((nr, dir));
        }
        Some(kind)
    }

    fn inode(&mut self, nr: InodeNr) -> Option<FileType> {
        let inode = match self.fs.inode(nr) {
            Ok(inode) => inode,
            Err(e) => {
                self.say(e.to_string());
                return None;
            }
        };
        if !self.inode_in_use(nr) {
            self.say(format!(
                "A name leads to inode {nr}, which its bitmap says is free"
            ));
        }
        if let Some(flaw) = self.fs.inode_checksum_flaw(&inode) {
            self.say(flaw.to_string());
        }
        let mut blocks = Blocks::default();
        self.fs.walk_map(&inode, &mut blocks);
        for problem in std::mem::take(&mut blocks.problems) {
            self.say(problem.to_string());
        }
        for (start, len) in blocks.runs {
            self.claim(nr, start, len);
        }
        Some(inode.file_type())
    }

    fn inode_in_use(&mut self, nr: InodeNr) -> bool {
        let (group, index) = self.fs.geometry().inode_home(nr);
        let fs = self.fs;
        let bitmap = self
            .inodes
            .entry(group)
            .or_insert_with(|| fs.inode_bitmap(group).ok());
        // A bitmap that cannot be read is told by the reader's own problems.
        bitmap.as_ref().is_none_or(|b| bit(b, index.into()))
    }

    fn claim(&mut self, nr: InodeNr, start: u64, len: u64) {
        let before = self.claimed.range(..start + len).next_back();
        let shared = before.filter(|(_, (end, _))| *end > start).map(|(_, c)| *c);
        if let Some((_, other)) = shared {
            self.say(format!(
                "Inodes {nr} and {other} both have {}",
                blocks_words(start, len)
            ));
        }
        self.claimed.insert(start, (start + len, nr));
        let free = (start..start + len).find(|&b| !self.block_in_use(BlockNr(b)));
        if let Some(free) = free {
            self.say(format!(
                "Block {free} of inode {nr} is free, as its bitmap says"
            ));
        }
    }

    fn block_in_use(&mut self, block: BlockNr) -> bool {
        let geo = self.fs.geometry();
        let Some(group) = geo.group_of(block) else {
            return false;
        };
        let ratio = u64::from(geo.cluster_blocks).max(1);
        let index = (block.0 - geo.group_start(group).0) / ratio;
        let fs = self.fs;
        let bitmap = self
            .blocks
            .entry(group)
            .or_insert_with(|| fs.block_bitmap(group).ok());
        bitmap.as_ref().is_none_or(|b| bit(b, index))
    }

    fn count_links(&mut self) {
        if self.found.len() >= MOST {
            return;
        }
        let links = std::mem::take(&mut self.links);
        for (nr, names) in links {
            let Ok(inode) = self.fs.inode(nr) else {
                continue;
            };
            let count = u32::from(inode.i_links_count());
            // A directory with too many for the field has 1 there.
            let uncounted = inode.file_type() == FileType::Directory && count == 1;
            if count != names && !uncounted {
                self.say(format!("Inode {nr} counts {count} links and has {names}"));
            }
        }
    }
}

fn bit(bitmap: &[u8], index: u64) -> bool {
    let byte = bitmap.get((index / 8) as usize);
    byte.is_some_and(|b| b >> (index % 8) & 1 == 1)
}

fn blocks_words(start: u64, len: u64) -> String {
    match len {
        1 => format!("block {start}"),
        _ => format!("blocks of {start} to {}", start + len - 1),
    }
}
