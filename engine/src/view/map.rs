use super::{MapNodeRow, MapView};
use crate::disk::ReadAt;
use crate::ext4::read::{Fs, InodeBuf, MapVisitor, NodeInfo, NodeKind, Run};
use crate::ext4::{Error, Problem};
use crate::units::InodeNr;

/// Most problems that are listed.
const MOST_PROBLEMS: usize = 1000;

/// How an inode's blocks map to the disk's: nodes and runs.
pub fn map<R: ReadAt>(fs: &Fs<R>, ino: InodeNr) -> Result<MapView, Error> {
    let inode = fs.inode(ino)?;
    Ok(map_of(fs, &inode))
}

pub(super) fn map_of<R: ReadAt>(fs: &Fs<R>, inode: &InodeBuf) -> MapView {
    let mut tree = Tree::default();
    // The modes of reserved inodes say nothing; what other inodes without a known type
    // hold is not a map.
    if inode.nr.0 < fs.geometry().first_inode && inode.i_mode() & 0xF000 == 0 {
        fs.walk_map_of_any(inode, &mut tree);
    } else {
        fs.walk_map(inode, &mut tree);
    }
    tree.finish()
}

#[derive(Default)]
struct Tree {
    nodes: Vec<MapNodeRow>,
    /// Indices of the nodes from the root to the latest, in `nodes`.
    above: Vec<u32>,
    runs: Vec<Run>,
    total_runs: u64,
    problems: Vec<Problem>,
    nodes_left_out: bool,
}

impl MapVisitor for Tree {
    fn node(&mut self, node: &NodeInfo) {
        if self.nodes.len() >= MapView::MOST {
            self.nodes_left_out = true;
            return;
        }
        // The root of a block map says a level of 1 whatever is below it.
        let below = |&i: &u32| {
            i == 0
                || self
                    .nodes
                    .get(i as usize)
                    .is_some_and(|n| n.level > node.level)
        };
        while self.above.last().is_some_and(|i| !below(i)) {
            self.above.pop();
        }
        let parent = self.above.last().copied();
        self.above.push(self.nodes.len() as u32);
        self.nodes.push(MapNodeRow {
            block: node.block.map(|b| b.0),
            parent,
            kind: node.kind,
            level: node.level,
            lblk: node.lblk.0,
            entries: node.entries,
            max: node.max,
            checksum_ok: node.checksum_ok,
            runs: (self.runs.len() as u32, 0),
        });
    }

    fn run(&mut self, run: Run) {
        self.total_runs += 1;
        if self.runs.len() >= MapView::MOST || self.nodes_left_out {
            return;
        }
        self.runs.push(run);
        if let Some(node) = self.nodes.last_mut()
            && node.kind == NodeKind::Extent
        {
            node.runs.1 += 1;
        }
    }

    fn problem(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

impl Tree {
    fn finish(mut self) -> MapView {
        for node in &mut self.nodes {
            if node.kind == NodeKind::Indirect {
                node.runs = runs_of_indirect(node, &self.runs);
            }
        }
        MapView {
            nodes: self.nodes,
            runs: self.runs,
            total_runs: self.total_runs,
            problems: self.problems,
        }
    }
}

/// The runs that have a block among those whose numbers stand in a node of a block map. A
/// run that goes on from one node into the next is in both.
fn runs_of_indirect(node: &MapNodeRow, runs: &[Run]) -> (u32, u32) {
    let (from, numbers) = match node.block {
        None => (0, 12),
        Some(_) if node.level == 0 => (u64::from(node.lblk), u64::from(node.max)),
        Some(_) => return (0, 0),
    };
    let first = runs.partition_point(|r| r.end() <= from);
    let last = runs.partition_point(|r| u64::from(r.lblk.0) < from + numbers);
    (first as u32, last.saturating_sub(first) as u32)
}
