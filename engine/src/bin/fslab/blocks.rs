use crate::args::BlocksArgs;
use crate::{map, open, out};
use anyhow::bail;
use fslab_engine::units::BlockNr;
use fslab_engine::view::{self, BlockView, OwnerInfo};
use serde::Serialize;
use std::io::Write;

#[derive(Serialize)]
struct Json {
    blocks: Vec<BlockView>,
}

/// Blocks that are explained at once: each takes up to a millisecond.
const MOST: u64 = 4096;

pub fn run(args: &BlocksArgs) -> anyhow::Result<()> {
    let fs = open::open(&args.source)?;
    for &(_, last) in &args.blocks {
        fs.geometry().check_block(BlockNr(last))?;
    }
    let lengths = args
        .blocks
        .iter()
        .map(|(from, to)| (to - from).saturating_add(1));
    let asked = lengths.fold(0, u64::saturating_add);
    if asked > MOST {
        bail!("{asked} blocks are more than the {MOST} that are explained at once");
    }
    let (map, names) = map::scan(&fs, true);
    let mut json = Json { blocks: Vec::new() };
    let mut out = out::stdout();
    let mut any = false;
    for nr in args.blocks.iter().flat_map(|&(from, to)| from..=to) {
        let owner = OwnerInfo::find(&map, &names, nr);
        let mut view = match view::block(&fs, BlockNr(nr), owner.as_ref()) {
            Ok(view) => view,
            // Of several, the others can still be shown.
            Err(e) if args.blocks.len() > 1 || args.blocks.iter().any(|(a, b)| a != b) => {
                out::note(e);
                continue;
            }
            Err(e) => return Err(e.into()),
        };
        if args.source.how.json {
            if !args.hex {
                view.bytes.clear();
            }
            json.blocks.push(view);
            continue;
        }
        out::problems(&view.problems);
        if std::mem::replace(&mut any, true) {
            writeln!(out)?;
        }
        print(&mut out, &view, args.hex)?;
    }
    if args.source.how.json {
        return out::json(&json);
    }
    Ok(out.flush()?)
}

/// A block's words, structures and, where asked for, bytes.
pub fn print(out: &mut impl Write, view: &BlockView, hex: bool) -> std::io::Result<()> {
    writeln!(out, "{}", view.words)?;
    match view.checksum_ok {
        Some(true) => writeln!(out, "Its checksum holds.")?,
        Some(false) => writeln!(out, "Its checksum does not hold.")?,
        None => {}
    }
    for part in &view.parts {
        let last = u64::from(part.offset) + u64::from(part.len.max(1)) - 1;
        writeln!(out, "  {}-{last}  {}", part.offset, part.title)?;
        out::fields(out, &part.fields, 4)?;
    }
    if hex {
        out::hex(out, &view.bytes, 0)?;
    }
    Ok(())
}
