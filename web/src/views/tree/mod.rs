//! The tree that leads from a file to its blocks: of extents, or of block numbers.

mod layout;

use std::collections::BTreeMap;
use std::rc::Rc;

use fslab_engine::ext4::read::{NodeKind, Run};
use fslab_engine::view::{MapNodeRow, MapView};
use web_sys::Element;
use yew::prelude::*;

use self::layout::{BAR, Item, MORE, NODE, Placed, ROW, WIDTH};
use super::notes::{mark, problems, waiting};
use super::resize::use_resize;
use crate::format;
use crate::store::{Selection, Store, use_query, use_store};
use crate::worker::protocol::{Query, Reply};

/// The tree of the chosen file's blocks.
#[component]
pub fn Tree() -> Html {
    let store = use_store();
    let inode = store.state.selection.inode;
    let fetched = use_query(inode.map(|nr| Query::Map { nr }));
    let Some(nr) = inode else {
        return html! {
            <section class="picture" aria-label="File’s blocks">
                <h2>{ "File’s blocks" }</h2>
                <p class="hint">{ "Choose a file to see the tree that leads to its blocks" }</p>
            </section>
        };
    };
    let title = store.title(nr);
    html! {
        <section class="picture" aria-label="File’s blocks">
            <h2>{ format!("Blocks of {title}") }<span>{ fetched.data().and_then(note) }</span></h2>
            { match fetched.data().map(|data| &data.reply) {
                Some(Reply::Map(view)) => html! { <Drawing key={nr} {nr} view={Rc::new(view.clone())} /> },
                _ => waiting(&fetched),
            } }
        </section>
    }
}

fn note(data: &crate::store::Data) -> Option<String> {
    let Reply::Map(view) = &data.reply else {
        return None;
    };
    let depth = view.nodes.first()?.level;
    Some(format!(
        "{}, {}",
        format::count(view.total_runs, "run"),
        match depth {
            0 => "all in the root".to_owned(),
            1 => "1 level below the root".to_owned(),
            n => format!("{n} levels below the root"),
        }
    ))
}

#[derive(Properties, PartialEq)]
struct Props {
    nr: u32,
    view: Rc<MapView>,
}

#[component]
fn Drawing(props: &Props) -> Html {
    let store = use_store();
    let more = use_state(BTreeMap::<usize, usize>::new);
    let node = use_node_ref();
    let space = use_state_eq(|| 400.0);
    {
        let space = space.clone();
        use_resize(
            &node,
            Callback::from(move |e: Element| space.set(f64::from(e.client_width()))),
        );
    }
    let view = &props.view;
    if view.nodes.is_empty() || (view.runs.is_empty() && view.nodes.len() == 1) {
        return html! {
            <div ref={node}>
                <p class="hint">{ "No block is mapped: the file is empty, a hole, or kept in its inode" }</p>
                { problems(&store, &view.problems) }
            </div>
        };
    }
    let block = store.state.selection.block;
    let layout = layout::layout(view, &more, block, *space);
    let pen = Pen {
        nr: props.nr,
        view,
        store: &store,
        block,
        width: layout.run,
        states: layout.states,
        longest: view.runs.iter().map(|run| run.len).max().unwrap_or(1),
        more: &more,
    };
    let left_out = view.total_runs.saturating_sub(view.runs.len() as u64);
    html! {
        <div ref={node} class="tree-scroll">
            { problems(&store, &view.problems) }
            <svg class="map-tree" width={layout.width.to_string()} height={layout.height.to_string()}
                role="group" aria-label="Tree of blocks">
                <defs>
                    <pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
                        <rect class="hatch-ground" width="5" height="5" />
                        <rect class="hatch-line" width="1.5" height="5" />
                    </pattern>
                </defs>
                { for layout.placed.iter().map(|placed| pen.line(placed)) }
                { for layout.placed.iter().map(|placed| pen.draw(placed)) }
            </svg>
            if left_out > 0 {
                <p class="hint">{ format!("{} more are not read", format::count(left_out, "run")) }</p>
            }
        </div>
    }
}

struct Pen<'a> {
    nr: u32,
    view: &'a MapView,
    store: &'a Store,
    block: Option<u64>,
    /// Of a run.
    width: f64,
    /// Whether the state of runs is said in words.
    states: bool,
    longest: u32,
    more: &'a UseStateHandle<BTreeMap<usize, usize>>,
}

impl Pen<'_> {
    /// The line from the node above.
    fn line(&self, placed: &Placed) -> Html {
        match &placed.line {
            Some(line) => html! { <path class="edge" d={line.clone()} /> },
            None => html! {},
        }
    }

    fn draw(&self, placed: &Placed) -> Html {
        match placed.item {
            Item::Node(node) => self.node(placed, &self.view.nodes[node]),
            Item::Run(run) => self.run(placed, &self.view.runs[run]),
            Item::Rest(node, rest) => self.rest(placed, node, rest),
        }
    }

    fn node(&self, placed: &Placed, node: &MapNodeRow) -> Html {
        let (x, y) = (placed.left, placed.top);
        let (title, chosen) = match node.block {
            None => (format!("Root in inode {}", self.nr), self.block.is_none()),
            Some(block) => (
                format!("Block {}", format::grouped(block)),
                self.block == Some(block),
            ),
        };
        let words = match node.kind {
            NodeKind::Extent => format!(
                "level {} · {} of {} entries",
                node.level, node.entries, node.max
            ),
            NodeKind::Indirect => format!("{} of {} numbers", node.entries, node.max),
        };
        let selection = match node.block {
            None => Selection::inode(self.nr),
            Some(block) => Selection::block(block, Some(self.nr)),
        };
        let check = mark(node.checksum_ok);
        let label = format!("{title}, {words}{}", check.map_or("", |(_, words)| words));
        self.button(label, selection, chosen, html! {
            <>
                <rect class="node" x={x.to_string()} y={y.to_string()} rx="4"
                    width={WIDTH.to_string()} height={NODE.to_string()} />
                <text x={(x + 10.0).to_string()} y={(y + 17.0).to_string()}>{ title }</text>
                <text class="soft" x={(x + 10.0).to_string()} y={(y + 32.0).to_string()}>{ words }</text>
                if let Some((sign, _)) = check {
                    <text class={if sign == "✓" { "soft" } else { "bad" }} text-anchor="end"
                        x={(x + WIDTH - 8.0).to_string()} y={(y + 17.0).to_string()}>{ sign }</text>
                }
            </>
        })
    }

    fn run(&self, placed: &Placed, run: &Run) -> Html {
        let (x, y) = (placed.left, placed.top);
        let chosen = self.block.is_some_and(|block| layout::holds(run, block));
        let (file, disk) = layout::ends(run, self.states);
        let label = format!(
            "Blocks {file} of the file are blocks {} of the disk{}",
            range(run.start.0, run.len),
            if run.unwritten {
                ", allocated but unwritten"
            } else {
                ""
            }
        );
        let selection = Selection::block(run.start.0, Some(self.nr));
        // The area of the bar is the run's part of the longest.
        let part = (f64::from(run.len) / f64::from(self.longest)).max(0.02) * 40.0;
        self.button(
            label,
            selection,
            chosen,
            html! {
                <>
                    <rect class="run-ground" x={x.to_string()} y={(y + 1.0).to_string()} rx="4"
                        width={self.width.to_string()} height={(ROW - 2.0).to_string()} />
                    <rect class={if run.unwritten { "run-bar unwritten" } else { "run-bar" }}
                        x={(x + 6.0).to_string()} y={(y + 6.0).to_string()}
                        width={part.to_string()} height={(ROW - 12.0).to_string()} />
                    <text class="run-text" x={(x + BAR).to_string()} y={(y + 15.0).to_string()}>
                        <tspan class="soft">{ format!("{file} → ") }</tspan>
                        <tspan>{ disk }</tspan>
                    </text>
                </>
            },
        )
    }

    fn rest(&self, placed: &Placed, node: usize, rest: usize) -> Html {
        let more = self.more.clone();
        let onclick = Callback::from(move |_: MouseEvent| {
            let mut next = (*more).clone();
            *next.entry(node).or_insert(0) += MORE;
            more.set(next);
        });
        let onkeydown = by_key(onclick.clone());
        let words = format!("{} more…", format::grouped(rest as u64));
        html! {
            <g class="press" role="button" tabindex="0" {onclick} {onkeydown} aria-label={format!("Show more of {words}")}>
                <rect class="run-ground" x={placed.left.to_string()} y={(placed.top + 1.0).to_string()}
                    width={self.width.to_string()} height={(ROW - 2.0).to_string()} rx="4" />
                <text class="link-text" x={(placed.left + 8.0).to_string()} y={(placed.top + 15.0).to_string()}>{ words }</text>
            </g>
        }
    }

    fn button(&self, label: String, selection: Selection, chosen: bool, inner: Html) -> Html {
        let store = self.store.clone();
        let onclick = Callback::from(move |_: MouseEvent| store.select(selection));
        let onkeydown = by_key(onclick.clone());
        html! {
            <g class={classes!("press", chosen.then_some("chosen"))} role="button" tabindex="0"
                aria-label={label.clone()} aria-pressed={chosen.to_string()} {onclick} {onkeydown}>
                <title>{ label }</title>
                { inner }
            </g>
        }
    }
}

/// A drawn button is pressed by the keys of a button.
fn by_key(press: Callback<MouseEvent>) -> Callback<KeyboardEvent> {
    Callback::from(move |event: KeyboardEvent| {
        if matches!(event.code().as_str(), "Enter" | "Space" | "NumpadEnter") {
            event.prevent_default();
            if let Ok(click) = MouseEvent::new("click") {
                press.emit(click);
            }
        }
    })
}

/// "5", or "5–9".
pub fn range(first: u64, len: u32) -> String {
    if len <= 1 {
        format::grouped(first)
    } else {
        let last = first.saturating_add(u64::from(len) - 1);
        format!("{}–{}", format::grouped(first), format::grouped(last))
    }
}
