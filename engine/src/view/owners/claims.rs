//! What each inode says is its own.

use super::{Flags, Kind};
use crate::disk::ReadAt;
use crate::ext4::layout::{Compat, FileType, InodeFlags, RoCompat};
use crate::ext4::read::{Fs, InodeBuf, MapVisitor, NodeInfo, NodeKind, Run};
use crate::ext4::{Place, Problem};
use crate::units::InodeNr;
use std::collections::BTreeMap;

const BAD_BLOCKS: u32 = 1;
const RESIZE: u32 = 7;

/// Blocks that an owner says are its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Claim {
    /// First block.
    pub start: u64,
    /// Blocks.
    pub len: u32,
    /// Inode; 0 for the filesystem itself.
    pub inode: u32,
    /// What they are.
    pub kind: Kind,
    /// What else is known of them.
    pub flags: Flags,
}

impl Claim {
    /// One past the last block.
    pub fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

/// Everything claimed so far, and how much more work the scan may do.
#[derive(Clone, Debug, Default)]
pub(super) struct Claims {
    pub list: Vec<Claim>,
    pub problems: Vec<Problem>,
    pub more_problems: u64,
    /// Attribute blocks seen, with their claim: sharing one is not a conflict.
    xattr_blocks: BTreeMap<u64, usize>,
    /// Nodes, runs and directory blocks still allowed. A sound filesystem has no more of
    /// them than blocks; a hostile one would have the scan go round for ever.
    pub work_left: u64,
    /// Claims that may be held at once.
    pub most: usize,
}

impl Claims {
    pub fn new(work_left: u64, most: usize) -> Self {
        Self {
            work_left,
            most,
            ..Self::default()
        }
    }

    pub fn problem(&mut self, problem: Problem) {
        if self.problems.len() < super::BlockMap::MOST_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }

    pub fn exhausted(&self) -> bool {
        self.work_left == 0 || self.list.len() >= self.most
    }

    pub fn spend(&mut self, n: u64) {
        self.work_left = self.work_left.saturating_sub(n);
    }

    /// Adds a claim, joined to the one before where it goes on from it.
    pub fn add(&mut self, claim: Claim) {
        if let Some(last) = self.list.last_mut()
            && last.end() == claim.start
            && (last.inode, last.kind, last.flags) == (claim.inode, claim.kind, claim.flags)
            && let Some(len) = last.len.checked_add(claim.len)
        {
            last.len = len;
        } else {
            self.list.push(claim);
        }
    }

    /// Claims all that an inode in use maps, and its attribute block.
    pub fn add_inode<R: ReadAt>(&mut self, fs: &Fs<R>, inode: &InodeBuf) {
        let nr = inode.nr.0;
        if nr == RESIZE && fs.superblock().compat().contains(Compat::RESIZE_INODE) {
            // The rest of what it maps is the reserved descriptors themselves.
            let dind = u64::from(crate::ext4::layout::wire::get::<u32>(
                &inode.i_block().0,
                52,
                crate::ext4::layout::Order::Little,
            ));
            if dind != 0 && fs.geometry().holds(dind.into(), 1) {
                self.add(Claim {
                    start: dind,
                    len: 1,
                    inode: nr,
                    kind: Kind::Indirect,
                    flags: Flags::empty(),
                });
            }
            return;
        }
        let Some(kind) = data_kind(fs, inode) else {
            self.xattr_block(fs, inode);
            return;
        };
        let mut visitor = Collector {
            claims: self,
            nr,
            kind,
        };
        if matches!(kind, Kind::Journal | Kind::Internal) {
            fs.walk_map_of_any(inode, &mut visitor);
        } else {
            fs.walk_map(inode, &mut visitor);
        }
        if kind == Kind::Directory {
            self.htree(fs, inode);
        }
        self.xattr_block(fs, inode);
    }

    /// The nodes of a directory's htree are claimed as directory by its map; name them
    /// for what they are.
    fn htree<R: ReadAt>(&mut self, fs: &Fs<R>, dir: &InodeBuf) {
        let Some(tree) = fs.htree(dir) else { return };
        self.spend(tree.nodes.len() as u64);
        for problem in tree.problems {
            self.problem(problem);
        }
        for node in tree.nodes {
            self.rename(dir.nr.0, node.at.0);
        }
    }

    /// Cuts one block out of a directory's latest claims and makes it an htree node.
    fn rename(&mut self, inode: u32, block: u64) {
        let mine = self
            .list
            .iter()
            .rev()
            .take_while(|c| c.inode == inode)
            .count();
        let first = self.list.len() - mine;
        let Some(i) = (first..self.list.len()).find(|&i| {
            self.list[i].kind == Kind::Directory
                && (self.list[i].start..self.list[i].end()).contains(&block)
        }) else {
            return;
        };
        let whole = self.list[i];
        let part = |start: u64, end: u64, kind| Claim {
            start,
            len: (end - start) as u32,
            kind,
            ..whole
        };
        let parts = [
            part(whole.start, block, Kind::Directory),
            part(block, block + 1, Kind::Htree),
            part(block + 1, whole.end(), Kind::Directory),
        ];
        self.list
            .splice(i..=i, parts.into_iter().filter(|p| p.len > 0));
    }

    fn xattr_block<R: ReadAt>(&mut self, fs: &Fs<R>, inode: &InodeBuf) {
        let at = inode.file_acl();
        if at.0 == 0 {
            return;
        }
        if !fs.geometry().holds(at, 1) {
            let expected = format!(
                "a block of the filesystem, up to {}",
                fs.geometry().blocks - 1
            );
            self.problem(Problem::value(
                Place::Inode(inode.nr),
                "i_file_acl",
                at.0,
                expected,
            ));
            return;
        }
        if let Some(&first) = self.xattr_blocks.get(&at.0) {
            self.list[first].flags |= Flags::SHARED;
            return;
        }
        self.xattr_blocks.insert(at.0, self.list.len());
        self.list.push(Claim {
            start: at.0,
            len: 1,
            inode: inode.nr.0,
            kind: Kind::Xattr,
            flags: Flags::empty(),
        });
    }
}

/// What an inode's own blocks are; `None` for one that maps none.
fn data_kind<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf) -> Option<Kind> {
    let sb = fs.superblock();
    let nr = inode.nr;
    if nr.0 == sb.s_journal_inum() && sb.compat().contains(Compat::HAS_JOURNAL) {
        return Some(Kind::Journal);
    }
    let quota = sb.ro_compat().contains(RoCompat::QUOTA)
        && [
            sb.s_usr_quota_inum(),
            sb.s_grp_quota_inum(),
            sb.s_prj_quota_inum(),
        ]
        .contains(&nr.0);
    let orphans =
        sb.compat().contains(Compat::ORPHAN_FILE) && nr == InodeNr(sb.s_orphan_file_inum());
    if quota || orphans || nr.0 == BAD_BLOCKS {
        return Some(Kind::Internal);
    }
    if inode.flags().contains(InodeFlags::EA_INODE) {
        return Some(Kind::Xattr);
    }
    match inode.file_type() {
        FileType::Regular => Some(Kind::Data),
        FileType::Directory => Some(Kind::Directory),
        FileType::Symlink => Some(Kind::Symlink),
        _ => None,
    }
}

struct Collector<'a> {
    claims: &'a mut Claims,
    nr: u32,
    kind: Kind,
}

impl MapVisitor for Collector<'_> {
    fn node(&mut self, node: &NodeInfo) {
        self.claims.spend(1);
        let Some(at) = node.block else { return };
        let kind = match node.kind {
            NodeKind::Extent => Kind::ExtentIndex,
            NodeKind::Indirect => Kind::Indirect,
        };
        if !self.claims.exhausted() {
            self.claims.add(Claim {
                start: at.0,
                len: 1,
                inode: self.nr,
                kind,
                flags: Flags::empty(),
            });
        }
    }

    fn run(&mut self, run: Run) {
        self.claims.spend(1);
        let flags = if run.unwritten {
            Flags::UNWRITTEN
        } else {
            Flags::empty()
        };
        if !self.claims.exhausted() {
            self.claims.add(Claim {
                start: run.start.0,
                len: run.len,
                inode: self.nr,
                kind: self.kind,
                flags,
            });
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.claims.problem(problem);
    }
}
