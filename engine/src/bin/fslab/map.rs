use crate::args::MapArgs;
use crate::open::Image;
use crate::{open, out};
use fslab_engine::units::GroupNr;
use fslab_engine::view::escape;
use fslab_engine::view::owners::{BlockMap, Flags, Kind, MapRun, Names, Scan, ScanOptions};
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};
use std::io::Write;

/// Cells of a group's strip.
const STRIP: u64 = 64;
/// Strips that are printed.
const MOST_STRIPS: usize = 200;

pub fn run(args: &MapArgs) -> anyhow::Result<()> {
    let fs = open::open(&args.source)?;
    let (map, names) = scan(&fs, args.names);
    out::problems_and_more(&map.problems, map.more_problems);
    if names.is_partial() {
        out::note("there are more names than fslab keeps; some owners are told by number alone");
    }
    if args.source.how.json {
        return out::json(&Json {
            fs: &fs,
            map: &map,
            names: args.names.then_some(&names),
            runs: args.runs,
        });
    }
    let mut out = out::stdout();
    if args.runs {
        for run in &map.runs {
            run_line(&mut out, run, args.names.then_some(&names))?;
        }
    } else {
        totals(&mut out, &fs, &map)?;
        let cell = u64::from(fs.geometry().group_len(GroupNr(0))).div_ceil(STRIP);
        writeln!(
            out,
            "Group by group, a letter for up to {}: what most of those hold that are not free",
            out::count(cell, "block")
        )?;
        strips(&mut out, &fs, &map)?;
    }
    Ok(out.flush()?)
}

/// The map of a whole filesystem; with or without names.
pub fn scan(fs: &Image, names: bool) -> (BlockMap, Names) {
    let mut scan = Scan::new(
        fs,
        ScanOptions {
            names,
            ..ScanOptions::default()
        },
    );
    while !scan.step(fs).is_finished() {}
    scan.finish(fs)
}

/// `first-last kind inode path`, to be read by people and scripts.
fn run_line(out: &mut impl Write, run: &MapRun, names: Option<&Names>) -> std::io::Result<()> {
    write!(
        out,
        "{}-{} {}{}",
        run.start,
        run.end() - 1,
        run.kind.word(),
        flag_words(run.flags)
    )?;
    if run.inode != 0 {
        write!(out, " {}", run.inode)?;
        if let Some(path) = names.and_then(|n| n.path(run.inode)) {
            write!(out, " {}", escape(&path))?;
        }
    }
    writeln!(out)
}

fn flag_words(flags: Flags) -> String {
    flags
        .iter_names()
        .map(|(name, _)| format!("+{}", name.to_ascii_lowercase().replace('_', "-")))
        .collect()
}

/// Blocks of each kind that there are.
fn totals(out: &mut impl Write, fs: &Image, map: &BlockMap) -> std::io::Result<()> {
    let block = u64::from(fs.geometry().block_size);
    let totals = map.totals();
    let width = totals
        .iter()
        .max()
        .and_then(|n| n.checked_ilog10())
        .unwrap_or(0) as usize
        + 1;
    for kind in Kind::ALL {
        let n = totals[kind.index()];
        if n > 0 {
            let bytes = out::size(n.saturating_mul(block));
            writeln!(
                out,
                "{} {n:>width$} {bytes:>10}  {}",
                kind.letter(),
                kind.words()
            )?;
        }
    }
    let free = marked_free(map);
    if free > 0 {
        let bytes = out::size(free.saturating_mul(block));
        writeln!(
            out,
            "  {free:>width$} {bytes:>10}  of these owned, but marked free by the bitmap"
        )?;
    }
    writeln!(out)
}

/// Blocks that are owned, but free by the bitmap.
fn marked_free(map: &BlockMap) -> u64 {
    let marked = map.runs.iter();
    let marked = marked.filter(|r| r.flags.contains(Flags::MARKED_FREE));
    marked.map(|r| u64::from(r.len)).sum()
}

/// A line of cells for each group; groups that look alike and follow each other share one.
fn strips(out: &mut impl Write, fs: &Image, map: &BlockMap) -> std::io::Result<()> {
    let geo = fs.geometry();
    let width = geo.groups.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut pending: Option<(u32, u32, String)> = None;
    let mut told = 0;
    let mut flush = |p: Option<(u32, u32, String)>| match p {
        None => Ok(()),
        Some((from, to, strip)) if from == to => {
            writeln!(out, "{from:>width$} {:width$} |{strip}|", "")
        }
        Some((from, to, strip)) => writeln!(out, "{from:>width$}-{to:<width$} |{strip}|"),
    };
    for g in fs.groups() {
        let strip = strip(map, geo.group_start(g).0, geo.group_len(g).into());
        match &mut pending {
            Some((_, to, before)) if *before == strip => *to = g.0,
            _ => {
                flush(pending.replace((g.0, g.0, strip)))?;
                told += 1;
            }
        }
        if told > MOST_STRIPS {
            return writeln!(
                out,
                "… and {}; --runs or --json shows all",
                out::count(u64::from(geo.groups - g.0), "more group")
            );
        }
    }
    flush(pending)
}

/// The kind that most blocks of each cell are, as letters. Metadata that is less than half
/// of a cell would never show, so what is not free counts before what is.
fn strip(map: &BlockMap, start: u64, len: u64) -> String {
    let cells = STRIP.min(len);
    (0..cells)
        .map(|i| {
            let (from, to) = (start + len * i / cells, start + len * (i + 1) / cells);
            let totals = map.totals_between(from, to);
            let most = Kind::ALL
                .iter()
                .filter(|k| **k != Kind::Free)
                .max_by_key(|k| totals[k.index()]);
            match most {
                Some(kind) if totals[kind.index()] > 0 => kind.letter(),
                _ => Kind::Free.letter(),
            }
        })
        .collect()
}

/// The map as one object, written run by run.
struct Json<'a> {
    fs: &'a Image,
    map: &'a BlockMap,
    names: Option<&'a Names>,
    runs: bool,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    start: u64,
    len: u32,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    inode: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("block_size", &self.fs.geometry().block_size)?;
        object.serialize_entry("blocks", &self.fs.geometry().blocks)?;
        object.serialize_entry("totals", &Totals(self.map))?;
        object.serialize_entry("marked_free", &marked_free(self.map))?;
        object.serialize_entry("problems", &self.map.problems)?;
        object.serialize_entry("more_problems", &self.map.more_problems)?;
        if self.runs {
            object.serialize_entry("runs", &JsonRuns(self))?;
        }
        object.end()
    }
}

struct Totals<'a>(&'a BlockMap);

impl Serialize for Totals<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let totals = self.0.totals();
        serializer.collect_map(Kind::ALL.iter().map(|k| (k.word(), totals[k.index()])))
    }
}

struct JsonRuns<'a>(&'a Json<'a>);

impl Serialize for JsonRuns<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.map.runs.len()))?;
        for run in &self.0.map.runs {
            list.serialize_element(&JsonRun {
                start: run.start,
                len: run.len,
                kind: run.kind.word(),
                inode: (run.inode != 0).then_some(run.inode),
                flags: run
                    .flags
                    .iter_names()
                    .map(|(name, _)| name.to_ascii_lowercase())
                    .collect(),
                path: self
                    .0
                    .names
                    .and_then(|n| n.path(run.inode))
                    .map(|p| escape(&p)),
            })?;
        }
        list.end()
    }
}
