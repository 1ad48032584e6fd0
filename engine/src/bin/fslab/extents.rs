use crate::args::ExtentsArgs;
use crate::target::{self, Links};
use crate::{open, out};
use fslab_engine::ext4::read::{NodeKind, Run};
use fslab_engine::view::{self, MapNodeRow, MapView};
use std::io::Write;

pub fn run(args: &ExtentsArgs) -> anyhow::Result<()> {
    let fs = open::open(&args.source)?;
    let nr = target::find(&fs, &args.path, Links::Keep)?.nr;
    let map = view::map(&fs, nr)?;
    if args.source.how.json {
        return out::json(&map);
    }
    out::problems(&map.problems);
    let mut out = out::stdout();
    print(&mut out, nr.0, &map)?;
    Ok(out.flush()?)
}

fn print(out: &mut impl Write, nr: u32, map: &MapView) -> std::io::Result<()> {
    if map.nodes.is_empty() {
        return writeln!(out, "Inode {nr} maps no blocks");
    }
    let plural = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    writeln!(
        out,
        "Inode {nr}: {} in {}",
        plural(map.total_runs, "run"),
        plural(map.nodes.len() as u64, "node")
    )?;
    let w = Widths::of(&map.runs);
    let mut depths = Vec::with_capacity(map.nodes.len());
    let mut told = 0;
    for node in &map.nodes {
        let depth = node
            .parent
            .and_then(|p| depths.get(p as usize))
            .map_or(0, |d: &usize| d + 1);
        depths.push(depth);
        node_line(out, node, depth)?;
        let first = (node.runs.0 as usize).max(told);
        let end = (node.runs.0 as usize)
            .saturating_add(node.runs.1 as usize)
            .min(map.runs.len());
        for run in map.runs.get(first..end).unwrap_or_default() {
            run_line(out, run, depth + 1, &w)?;
        }
        told = told.max(end);
    }
    if map.total_runs > map.runs.len() as u64 {
        writeln!(
            out,
            "… and {} more runs",
            map.total_runs - map.runs.len() as u64
        )?;
    }
    Ok(())
}

fn node_line(out: &mut impl Write, node: &MapNodeRow, depth: usize) -> std::io::Result<()> {
    let indent = depth * 2;
    let sum = match node.checksum_ok {
        Some(true) => ", checksum good",
        Some(false) => ", checksum bad",
        None => "",
    };
    let place = match node.block {
        None => "root in the inode".to_string(),
        Some(block) => format!("block {block}, level {}", node.level),
    };
    let kind = match node.kind {
        NodeKind::Extent => "extents",
        NodeKind::Indirect => "block numbers",
    };
    writeln!(
        out,
        "{:indent$}{place}: from {}, {} of {} {kind}{sum}",
        "", node.lblk, node.entries, node.max
    )
}

struct Widths {
    lblk: usize,
    start: usize,
    len: usize,
}

impl Widths {
    fn of(runs: &[Run]) -> Self {
        let digits = |n: u64| n.checked_ilog10().unwrap_or(0) as usize + 1;
        let most = |of: &dyn Fn(&Run) -> u64| digits(runs.iter().map(of).max().unwrap_or(0));
        Self {
            lblk: most(&|r| r.end() - 1),
            start: most(&|r| r.start.0 + u64::from(r.len) - 1),
            len: most(&|r| r.len.into()),
        }
    }
}

/// Blocks of the file, blocks on disk, how many.
fn run_line(out: &mut impl Write, run: &Run, depth: usize, w: &Widths) -> std::io::Result<()> {
    let indent = depth * 2;
    let (lblk, start, len) = (w.lblk, w.start, w.len);
    writeln!(
        out,
        "{:indent$}{:>lblk$} - {:>lblk$}  at  {:>start$} - {:>start$}  {:>len$}{}",
        "",
        run.lblk.0,
        run.end() - 1,
        run.start.0,
        run.start.0 + u64::from(run.len) - 1,
        run.len,
        if run.unwritten { "  unwritten" } else { "" }
    )
}
