use crate::args::SearchArgs;
use crate::{map, open, out};
use fslab_engine::view::{self, Found, OwnerInfo};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Json {
    found: Vec<Found>,
}

pub fn run(args: &SearchArgs) -> anyhow::Result<()> {
    let fs = open::open(&args.source)?;
    let found = view::search(&fs, &args.text.join(" "))?;
    if args.source.how.json {
        return out::json(&Json { found });
    }
    let mut out = out::stdout();
    for one in &found {
        match one {
            Found::Inode { nr, path } => {
                let words =
                    view::inode(&fs, (*nr).into()).map_or_else(|e| e.to_string(), |v| v.words);
                let path = path.as_deref().map(|p| format!(" {p}")).unwrap_or_default();
                writeln!(out, "inode {nr}{path}: {words}")?;
            }
            Found::Block { nr } => {
                // A search finds one block at most: whose it is takes one scan.
                let (map, names) = map::scan(&fs, true);
                let owner = OwnerInfo::find(&map, &names, *nr);
                let words = view::block(&fs, (*nr).into(), owner.as_ref())
                    .map_or_else(|e| e.to_string(), |v| v.words);
                writeln!(out, "block {nr}: {words}")?;
            }
            Found::Group { nr } => writeln!(out, "group {nr}")?,
        }
    }
    Ok(out.flush()?)
}
