use crate::args::LsArgs;
use crate::open::Image;
use crate::target::{self, Links};
use crate::{open, out};
use fslab_engine::ext4::layout::FileType;
use fslab_engine::units::InodeNr;
use fslab_engine::view::{self, DirRow, DirView, InodeView, fields::mode_text};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::Write;

/// Rows that are held at once.
const PAGE: usize = 10_000;

#[derive(Serialize)]
struct Listing {
    path: String,
    dir: DirView,
}

#[derive(Serialize)]
struct Json {
    listings: Vec<Listing>,
    /// What the path names, where that is not a directory.
    inode: Option<InodeView>,
}

pub fn run(args: &LsArgs) -> anyhow::Result<()> {
    let fs = open::open(&args.source)?;
    let inode = target::find(&fs, &args.path, Links::Follow)?;
    let mut json = Json {
        listings: Vec::new(),
        inode: None,
    };
    let mut out = out::stdout();
    if inode.file_type() != FileType::Directory {
        let view = view::inode(&fs, inode.nr)?;
        if args.source.how.json {
            json.inode = Some(view);
            return out::json(&json);
        }
        let row = row_of(&view, &args.path);
        line(&mut out, &row, args.inode, &Widths::of([&row]))?;
        return Ok(out.flush()?);
    }
    let start = if args.path.starts_with('<') {
        args.path.clone()
    } else {
        trimmed(&args.path)
    };
    let mut seen = BTreeSet::from([inode.nr.0]);
    let mut todo = vec![(start, inode.nr)];
    while let Some((path, nr)) = todo.pop() {
        let below = if args.source.how.json {
            let mut dir = view::dir(&fs, nr, 0, usize::MAX)?;
            read_on(&fs, nr, &mut dir)?;
            out::problems(&dir.problems);
            let below = directories(&dir.rows, &path);
            json.listings.push(Listing { path, dir });
            below
        } else {
            if args.recursive {
                writeln!(out, "{path}:")?;
            }
            let below = print_dir(&fs, nr, &path, args.inode, &mut out)?;
            if args.recursive {
                writeln!(out)?;
            }
            below
        };
        if args.recursive {
            // Depth first, in the order of names: the next to come is the last of the list.
            // A directory that was listed before is damage, and would have no end.
            todo.extend(below.into_iter().rev().filter(|(_, nr)| seen.insert(nr.0)));
        }
    }
    if args.source.how.json {
        return out::json(&json);
    }
    Ok(out.flush()?)
}

/// Reads what is past the most that a view gives at once.
fn read_on(fs: &Image, nr: InodeNr, dir: &mut DirView) -> anyhow::Result<()> {
    while (dir.rows.len() as u64) < dir.total {
        let more = view::dir(fs, nr, dir.rows.len() as u64, usize::MAX)?;
        if more.rows.is_empty() {
            break;
        }
        dir.rows.extend(more.rows);
    }
    Ok(())
}

fn trimmed(path: &str) -> String {
    let inner = path.trim_end_matches('/');
    if inner.is_empty() {
        "/".to_string()
    } else if inner.starts_with('/') {
        inner.to_string()
    } else {
        format!("/{inner}")
    }
}

/// The directories among some rows, with their paths.
fn directories(rows: &[DirRow], path: &str) -> Vec<(String, InodeNr)> {
    let base = path.strip_suffix('/').unwrap_or(path);
    rows.iter()
        .filter(|r| r.file_type == FileType::Directory)
        .map(|r| (format!("{base}/{}", r.name), InodeNr(r.inode)))
        .collect()
}

/// Prints a directory, page by page; gives the directories in it.
fn print_dir(
    fs: &Image,
    nr: InodeNr,
    path: &str,
    inodes: bool,
    out: &mut out::Out,
) -> anyhow::Result<Vec<(String, InodeNr)>> {
    let mut below = Vec::new();
    let mut from = 0;
    loop {
        let page = match view::dir(fs, nr, from, PAGE) {
            Ok(page) => page,
            // A name that leads to no directory after all.
            Err(e) if from == 0 => {
                out::note(e);
                return Ok(below);
            }
            Err(e) => return Err(e.into()),
        };
        if from == 0 {
            out::problems(&page.problems);
        }
        let widths = Widths::of(&page.rows);
        for row in &page.rows {
            line(out, row, inodes, &widths)?;
        }
        below.extend(directories(&page.rows, path));
        from += page.rows.len() as u64;
        if page.rows.is_empty() || from >= page.total {
            return Ok(below);
        }
    }
}

/// An inode as a row of its own.
fn row_of(view: &InodeView, name: &str) -> DirRow {
    DirRow {
        inode: view.nr,
        name: name.to_string(),
        file_type: view.file_type,
        mode: view.mode,
        uid: view.uid,
        gid: view.gid,
        links: view.links,
        size: view.size,
        mtime: view.mtime.clone(),
        target: view.target.clone(),
        encrypted: false,
        lblk: 0,
    }
}

#[derive(Default)]
struct Widths {
    inode: usize,
    links: usize,
    uid: usize,
    gid: usize,
    size: usize,
}

impl Widths {
    fn of<'a>(rows: impl IntoIterator<Item = &'a DirRow>) -> Self {
        let digits = |n: u64| n.checked_ilog10().unwrap_or(0) as usize + 1;
        rows.into_iter().fold(Self::default(), |w, r| Self {
            inode: w.inode.max(digits(r.inode.into())),
            links: w.links.max(digits(r.links.into())),
            uid: w.uid.max(digits(r.uid.into())),
            gid: w.gid.max(digits(r.gid.into())),
            size: w.size.max(digits(r.size)),
        })
    }
}

fn line(out: &mut impl Write, r: &DirRow, inodes: bool, w: &Widths) -> std::io::Result<()> {
    if inodes {
        write!(out, "{:>1$} ", r.inode, w.inode)?;
    }
    let (links, uid, gid, size) = (w.links, w.uid, w.gid, w.size);
    write!(
        out,
        "{} {:>links$} {:>uid$} {:>gid$} {:>size$} {} {}",
        mode_text(r.mode),
        r.links,
        r.uid,
        r.gid,
        r.size,
        to_the_second(&r.mtime),
        r.name
    )?;
    if let Some(target) = &r.target {
        write!(out, " -> {target}")?;
    }
    writeln!(out)
}

/// A time to the second, with a space in it as people write it.
fn to_the_second(time: &str) -> String {
    match time.get(..19) {
        Some(start) if time.as_bytes().get(10) == Some(&b'T') => start.replacen('T', " ", 1),
        _ => time.to_string(),
    }
}
