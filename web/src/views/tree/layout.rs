//! Where the nodes and runs of a file's map stand when it is drawn as a tree: a column for
//! each level, runs below one another in the last; or, where there is no room for that, all
//! below one another, each level a step to the right.

use std::collections::{BTreeMap, BTreeSet};

use fslab_engine::ext4::read::Run;
use fslab_engine::view::MapView;

use super::range;

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
pub const WIDTH: f64 = 166.0;
/// Least width of a run.
const RUN: f64 = 184.0;
/// Width of a run's bar with the space beside it.
pub const BAR: f64 = 52.0;
/// From one column to the next.
pub const COLUMN: f64 = 190.0;
/// From one level to the next where all stand below one another.
const STEP: f64 = 26.0;
/// Where lines leave a node downwards, from its left edge.
const STEM: f64 = 12.0;
/// Space at the left.
const LEFT: f64 = 14.0;
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
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// The line from the node above, as the path of an SVG.
    pub line: Option<String>,
}

impl Item {
    fn height(&self) -> f64 {
        match self {
            Self::Node(_) => NODE,
            _ => ROW,
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
    /// Width of a run.
    pub run: f64,
    /// There is room to say of runs what state they are in.
    pub states: bool,
}

/// Lays out a map in a space of a width. `more` says of which nodes how many rows are wanted
/// beyond the usual; a run that holds `block` is always drawn.
pub fn layout(
    view: &MapView,
    more: &BTreeMap<usize, usize>,
    block: Option<u64>,
    space: f64,
) -> Layout {
    let levels = view.nodes.first().map_or(0, |root| root.level);
    let depth = f64::from(levels + 1);
    let states = LEFT + depth * STEP + run_width(view, true) + GAP <= space;
    let run = run_width(view, states);
    let wide = LEFT + depth * COLUMN + run + GAP;
    let mut maker = Maker {
        view,
        children: children(view),
        more,
        wanted: block
            .map(|block| on_the_way(view, block))
            .unwrap_or_default(),
        out: Layout::default(),
        stacked: wide > space,
        y: 2.0,
    };
    if !view.nodes.is_empty() {
        maker.node(0, LEFT, None);
    }
    let right = maker.out.placed.iter().map(|p| p.left + run);
    maker.out.width = right.fold(0.0, f64::max) + GAP;
    maker.out.height = maker.y + GAP;
    maker.out.run = run;
    maker.out.states = states;
    maker.out
}

/// Room for the words of every run.
fn run_width(view: &MapView, states: bool) -> f64 {
    let words = |run: &Run| {
        let (file, disk) = ends(run, states);
        BAR + text_width(&format!("{file} → {disk}"))
    };
    view.runs.iter().map(words).fold(RUN, f64::max)
}

/// About how wide a text is; rather too much.
fn text_width(text: &str) -> f64 {
    let width = |c: char| match c {
        ',' | ' ' => 4.0,
        '→' => 10.5,
        _ => 7.7,
    };
    text.chars().map(width).sum()
}

/// A run's blocks in the file, and on the disk, there with their state if that is wanted:
/// "16–99", "1,297–1,380, unwritten".
pub fn ends(run: &Run, states: bool) -> (String, String) {
    let disk = range(run.start.0, run.len);
    let state = if run.unwritten && states {
        ", unwritten"
    } else {
        ""
    };
    (range(run.lblk.0.into(), run.len), disk + state)
}

struct Maker<'a> {
    view: &'a MapView,
    children: Vec<Vec<usize>>,
    more: &'a BTreeMap<usize, usize>,
    /// Nodes and runs on the way to the chosen block.
    wanted: Wanted,
    out: Layout,
    /// All below one another.
    stacked: bool,
    y: f64,
}

#[derive(Default)]
struct Wanted {
    nodes: BTreeSet<usize>,
    run: Option<usize>,
}

impl Maker<'_> {
    fn node(&mut self, node: usize, left: f64, above: Option<(f64, f64)>) {
        let top = self.y;
        self.put(Item::Node(node), left, above);
        // What hangs from it begins beside it, or below.
        self.y = if self.stacked {
            top + NODE + 3.0
        } else {
            top + (NODE - ROW) / 2.0
        };
        let inner = left + if self.stacked { STEP } else { COLUMN };
        let (shown, rest) = self.choose(node, &self.below(node));
        let rest = (rest > 0).then_some(Item::Rest(node, rest));
        for item in shown.into_iter().chain(rest) {
            match item {
                Item::Node(child) => {
                    self.y = self.y.max(top);
                    self.node(child, inner, Some((left, top)));
                }
                item => {
                    self.put(item, inner, Some((left, top)));
                    self.y += ROW;
                }
            }
        }
        self.y = self.y.max(top + NODE) + GAP;
    }

    /// Places a thing here, with a line from the node whose corner is `above`.
    fn put(&mut self, item: Item, left: f64, above: Option<(f64, f64)>) {
        let middle = self.y + item.height() / 2.0;
        let line = above.map(|(x, y)| {
            if self.stacked {
                format!("M{} {}V{middle}H{left}", x + STEM, y + NODE)
            } else {
                let bend = (x + WIDTH + left) / 2.0;
                format!("M{} {}H{bend}V{middle}H{left}", x + WIDTH, y + NODE / 2.0)
            }
        });
        self.out.placed.push(Placed {
            item,
            left,
            top: self.y,
            line,
        });
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
        at = view.nodes[node]
            .parent
            .map(|p| p as usize)
            .filter(|&p| p < view.nodes.len());
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
        let layout = layout(&view(200), &BTreeMap::new(), None, 2000.0);
        assert_eq!(layout.placed.len(), 202);
        assert!(layout.placed.windows(2).all(|w| w[0].top <= w[1].top));
    }

    #[test]
    fn in_a_narrow_space_all_stand_below_one_another() {
        let layout = layout(&view(3), &BTreeMap::new(), None, 300.0);
        assert!(layout.width <= 300.0);
        assert!(layout.placed.windows(2).all(|w| w[0].top < w[1].top));
    }

    #[test]
    fn a_large_tree_is_summed_up_but_for_what_is_chosen() {
        let view = view(1000);
        let at = |block| layout(&view, &BTreeMap::new(), block, 2000.0).placed;
        let plain = at(None);
        assert_eq!(plain.last().map(|p| &p.item), Some(&Item::Rest(1, 988)));
        assert!(at(Some(1500)).iter().any(|p| p.item == Item::Run(750)));
        let more = BTreeMap::from([(1, MORE)]);
        assert_eq!(layout(&view, &more, None, 2000.0).placed.len(), 2 + 212 + 1);
    }
}
