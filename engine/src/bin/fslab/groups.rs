use crate::args::GroupsArgs;
use crate::{open, out};
use anyhow::bail;
use fslab_engine::view::{self, GroupRow};
use serde::Serialize;
use std::io::Write;

/// Groups that are held at once.
const PAGE: u32 = 4096;

#[derive(Serialize)]
struct Json {
    groups: Vec<GroupRow>,
}

pub fn run(args: &GroupsArgs) -> anyhow::Result<()> {
    let fs = open::open(&args.source)?;
    let all = fs.geometry().groups;
    let (from, last) = args.groups.unwrap_or((0, u64::from(all) - 1));
    let Ok(from) = u32::try_from(from) else {
        bail!(
            "group {from} is outside the filesystem, which has groups 0 to {}",
            all - 1
        );
    };
    fs.group(from.into())?;
    let end = u32::try_from(last)
        .unwrap_or(u32::MAX)
        .saturating_add(1)
        .min(all);
    if args.source.how.json {
        let pages = (from..end).step_by(PAGE as usize);
        let groups = pages
            .flat_map(|g| view::group_rows(&fs, g..g.saturating_add(PAGE).min(end)))
            .collect();
        return out::json(&Json { groups });
    }
    let mut out = out::stdout();
    writeln!(
        out,
        "{:>7} {:>20} {:>11} {:>11} {:>11} {:>8} {:>8} {:>6} {:>8}  flags",
        "group", "blocks", "bbitmap", "ibitmap", "itable", "free", "ifree", "dirs", "unused"
    )?;
    for g in (from..end).step_by(PAGE as usize) {
        for row in view::group_rows(&fs, g..g.saturating_add(PAGE).min(end)) {
            line(&mut out, &row)?;
        }
    }
    Ok(out.flush()?)
}

fn line(out: &mut impl Write, row: &GroupRow) -> std::io::Result<()> {
    let i = &row.info;
    let last = i.start.0.saturating_add(u64::from(i.len)).saturating_sub(1);
    let mut words = row.flags.clone();
    if row.has_super {
        words.insert(0, "super".into());
    }
    for (what, ok) in [
        ("descriptor", i.checksum_ok),
        ("block bitmap", row.block_bitmap_ok),
        ("inode bitmap", row.inode_bitmap_ok),
    ] {
        if ok == Some(false) {
            words.push(format!("bad checksum of {what}"));
        }
    }
    writeln!(
        out,
        "{:>7} {:>20} {:>11} {:>11} {:>11} {:>8} {:>8} {:>6} {:>8}  {}",
        i.nr.0,
        format!("{}-{last}", i.start),
        i.block_bitmap.0,
        i.inode_bitmap.0,
        i.inode_table.0,
        i.free_blocks,
        i.free_inodes,
        i.used_dirs,
        i.itable_unused,
        words.join(", ")
    )
}
