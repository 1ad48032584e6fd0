//! Where the nodes and runs of a file's map stand when it is drawn as a tree: a column for
//! each level, runs below one another in the last.

use std::collections::{BTreeMap, BTreeSet};

use fslab_engine::ext4::read::Run;
use fslab_engine::view::MapView;

/// Runs and nodes below a node that are drawn before the rest is summed up in a line, where
/// the whole tree has more than [`WHOLE`].
const SHOWN: usize = 12;
/// Most runs of a tree that is drawn whole.
const WHOLE: u64 = 200;
/// How many more are drawn when asked.
pub const MORE: usize = 200;

/// Height of a row of runs.
pub const ROW: f64 = 22.0;
/// Height of a node.
pub const NODE: f64 = 40.0;
/// Width of a node.
pub const WIDTH: f64 = 168.0;
/// From one column to the next.
pub const COLUMN: f64 = 208.0;
/// Space above, and between a node and the next.
const GAP: f64 = 8.0;

/// A thing drawn.
#[derive(Clone, PartialEq, Debug)]
pub enum Item {
    /// A node, by its index in the view.
    Node(usize),
    /// A run, by its index in the view.
    Run(usize),
    /// Runs and nodes below a node that are not drawn: how many, and below which node.
    Rest(usize, usize),
}

/// A thing and where it stands.
#[derive(Clone, PartialEq, Debug)]
pub struct Placed {
    /// What it is.
    pub item: Item,
    /// Column, counted from 0.
    pub column: u16,
    /// Upper edge.
    pub top: f64,
    /// Middle of the node that it hangs from.
    pub from: Option<f64>,
}

impl Placed {
    /// Left edge.
    pub fn left(&self) -> f64 {
        12.0 + f64::from(self.column) * COLUMN
    }

    /// The height at which lines meet it.
    pub fn middle(&self) -> f64 {
        match self.item {
            Item::Node(_) => self.top + NODE / 2.0,
            _ => self.top + ROW / 2.0,
        }
    }
}

/// A drawing: things, in the order of the file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Layout {
    /// The things.
    pub placed: Vec<Placed>,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// Lays out a map. `more` says of which nodes how many rows are wanted beyond the usual; a
/// run that holds `block` is always drawn.
pub fn layout(view: &MapView, more: &BTreeMap<usize, usize>, block: Option<u64>) -> Layout {
    let mut maker = Maker {
        view,
        children: children(view),
        more,
        wanted: block.map(|block| on_the_way(view, block)).unwrap_or_default(),
        out: Layout::default(),
        y: GAP,
    };
    if !view.nodes.is_empty() {
        maker.node(0, 0, None);
    }
    let columns = maker.out.placed.iter().map(|p| p.column).max().unwrap_or(0);
    maker.out.width = 12.0 + f64::from(columns) * COLUMN + COLUMN + 24.0;
    maker.out.height = maker.y + GAP;
    maker.out
}

struct Maker<'a> {
    view: &'a MapView,
    children: Vec<Vec<usize>>,
    more: &'a BTreeMap<usize, usize>,
    /// Nodes and runs on the way to the chosen block.
    wanted: Wanted,
    out: Layout,
    y: f64,
}

#[derive(Default)]
struct Wanted {
    nodes: BTreeSet<usize>,
    run: Option<usize>,
}

impl Maker<'_> {
    fn node(&mut self, node: usize, column: u16, from: Option<f64>) {
        let top = self.y;
        self.out.placed.push(Placed {
            item: Item::Node(node),
            column,
            top,
            from,
        });
        let middle = top + NODE / 2.0;
        // What hangs from it begins beside it.
        self.y = top + (NODE - ROW) / 2.0;
        let below = self.below(node);
        let (shown, rest) = self.choose(node, &below);
        for item in shown {
            match item {
                Item::Node(child) => {
                    self.y = self.y.max(top);
                    self.node(child, column + 1, Some(middle));
                }
                item => self.row(item, column + 1, middle),
            }
        }
        if rest > 0 {
            self.row(Item::Rest(node, rest), column + 1, middle);
        }
        self.y = self.y.max(top + NODE) + GAP;
    }

    fn row(&mut self, item: Item, column: u16, from: f64) {
        self.out.placed.push(Placed {
            item,
            column,
            top: self.y,
            from: Some(from),
        });
        self.y += ROW;
    }

    /// All that hangs from a node, in the order of the file.
    fn below(&self, node: usize) -> Vec<Item> {
        let (first, count) = self.view.nodes[node].runs;
        let (first, count) = (first as usize, count as usize);
        let last = first.saturating_add(count).min(self.view.runs.len());
        let runs = (first.min(last)..last).map(|run| (self.view.runs[run].lblk.0, Item::Run(run)));
        let nodes = self.children[node]
            .iter()
            .map(|&child| (self.view.nodes[child].lblk, Item::Node(child)));
        let mut below: Vec<_> = runs.chain(nodes).collect();
        below.sort_by_key(|(lblk, _)| *lblk);
        below.into_iter().map(|(_, item)| item).collect()
    }

    fn choose(&self, node: usize, below: &[Item]) -> (Vec<Item>, usize) {
        let most = if self.view.total_runs <= WHOLE {
            below.len()
        } else {
            SHOWN + self.more.get(&node).copied().unwrap_or(0)
        };
        let wanted = |item: &Item| match item {
            Item::Node(node) => self.wanted.nodes.contains(node),
            Item::Run(run) => self.wanted.run == Some(*run),
            Item::Rest(..) => false,
        };
        let shown: Vec<_> = below
            .iter()
            .enumerate()
            .filter(|(i, item)| *i < most || wanted(item))
            .map(|(_, item)| item.clone())
            .collect();
        let rest = below.len() - shown.len();
        (shown, rest)
    }
}

fn children(view: &MapView) -> Vec<Vec<usize>> {
    let mut children = vec![Vec::new(); view.nodes.len()];
    for (i, node) in view.nodes.iter().enumerate() {
        if let Some(list) = node.parent.and_then(|p| children.get_mut(p as usize)) {
            // A node that came before its parent would make a cycle.
            if node.parent.is_some_and(|p| (p as usize) < i) {
                list.push(i);
            }
        }
    }
    children
}

/// The run that holds a block (or the node that is in it), and the nodes above.
fn on_the_way(view: &MapView, block: u64) -> Wanted {
    let run = view.runs.iter().position(|run| holds(run, block));
    let node = match run {
        Some(run) => view.nodes.iter().position(|node| {
            let first = node.runs.0 as usize;
            (first..first.saturating_add(node.runs.1 as usize)).contains(&run)
        }),
        None => view.nodes.iter().position(|node| node.block == Some(block)),
    };
    let mut nodes = BTreeSet::new();
    let mut at = node;
    while let Some(node) = at {
        if !nodes.insert(node) {
            break;
        }
        at = view.nodes[node].parent.map(|p| p as usize).filter(|&p| p < view.nodes.len());
    }
    Wanted { nodes, run }
}

/// Whether a run holds a block of the disk.
pub fn holds(run: &Run, block: u64) -> bool {
    block
        .checked_sub(run.start.0)
        .is_some_and(|offset| offset < u64::from(run.len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fslab_engine::ext4::read::NodeKind;
    use fslab_engine::units::{BlockNr, Lblk};
    use fslab_engine::view::MapNodeRow;

    fn view(runs: u32) -> MapView {
        let node = |parent, runs| MapNodeRow {
            block: None,
            parent,
            kind: NodeKind::Extent,
            level: u16::from(parent.is_none()),
            lblk: 0,
            entries: 1,
            max: 4,
            checksum_ok: None,
            runs,
        };
        MapView {
            nodes: vec![node(None, (0, 0)), node(Some(0), (0, runs))],
            runs: (0..runs)
                .map(|i| Run {
                    lblk: Lblk(i),
                    start: BlockNr(u64::from(i) * 2),
                    len: 1,
                    unwritten: false,
                })
                .collect(),
            total_runs: runs.into(),
            problems: Vec::new(),
        }
    }

    #[test]
    fn a_small_tree_is_drawn_whole() {
        let layout = layout(&view(200), &BTreeMap::new(), None);
        assert_eq!(layout.placed.len(), 202);
        assert!(layout.placed.windows(2).all(|w| w[0].top <= w[1].top));
    }

    #[test]
    fn a_large_tree_is_summed_up_but_for_what_is_chosen() {
        let view = view(1000);
        let at = |block| layout(&view, &BTreeMap::new(), block).placed;
        let plain = at(None);
        assert_eq!(plain.last().map(|p| &p.item), Some(&Item::Rest(1, 988)));
        assert!(at(Some(1500)).iter().any(|p| p.item == Item::Run(750)));
        let more = BTreeMap::from([(1, MORE)]);
        assert_eq!(layout(&view, &more, None).placed.len(), 2 + 212 + 1);
    }
}
