use crate::args::StatArgs;
use crate::target::{self, Links};
use crate::{open, out};
use fslab_engine::view::{self, InodeView};
use std::io::Write;

pub fn run(args: &StatArgs) -> anyhow::Result<()> {
    let fs = open::open(&args.source)?;
    let nr = target::find(&fs, &args.path, Links::Keep)?.nr;
    let view = view::inode(&fs, nr)?;
    if args.source.how.json {
        return out::json(&view);
    }
    out::problems(&view.problems);
    let mut out = out::stdout();
    print(&mut out, &view)?;
    if args.fields {
        writeln!(out)?;
        out::fields(&mut out, &view.fields, 0)?;
    }
    Ok(out.flush()?)
}

fn print(out: &mut impl Write, v: &InodeView) -> std::io::Result<()> {
    writeln!(out, "{}\n", v.words)?;
    let mut line = |name: &str, value: String| writeln!(out, "{name:<14}{value}");
    let used = if v.in_use { "" } else { ", free" };
    line("Inode", format!("{}, {}{used}", v.nr, v.file_type.words()))?;
    if let Some(reserved) = &v.reserved {
        line("For", reserved.clone())?;
    }
    line("Mode", format!("{} ({:#o})", v.mode_text, v.mode & 0o7777))?;
    line("Owner", format!("user {}, group {}", v.uid, v.gid))?;
    line("Names", v.links.to_string())?;
    line("Size", out::count(v.size, "byte"))?;
    line("Sectors", format!("{} of 512 bytes", v.sectors))?;
    if let Some((major, minor)) = v.device {
        line("Device", format!("{major}:{minor}"))?;
    }
    if let Some(target) = &v.target {
        line("Target", target.clone())?;
    }
    line("Kept as", v.storage.clone())?;
    line(
        "Flags",
        if v.flags.is_empty() {
            "none".into()
        } else {
            v.flags.join(" ")
        },
    )?;
    line("Accessed", v.atime.clone())?;
    line("Modified", v.mtime.clone())?;
    line("Changed", v.ctime.clone())?;
    for (name, time) in [("Made", &v.crtime), ("Deleted", &v.dtime)] {
        if let Some(time) = time {
            line(name, time.clone())?;
        }
    }
    line("Generation", v.generation.to_string())?;
    if let Some(project) = v.project {
        line("Project", project.to_string())?;
    }
    line(
        "Table",
        format!("block {}, byte {}", v.table_block, v.table_offset),
    )?;
    line("Checksum", out::yes_no(v.checksum_ok).into())?;
    if let Some(block) = v.xattr_block {
        line("Attributes in", format!("block {block}"))?;
    }
    for x in &v.xattrs {
        line(
            "Attribute",
            format!(
                "{} = \"{}\" ({}, {})",
                x.name,
                x.text,
                out::count(x.len, "byte"),
                x.home
            ),
        )?;
    }
    if let Some(tree) = &v.htree {
        let inner = if tree.levels == 1 { "level" } else { "levels" };
        line(
            "Index",
            format!(
                "{}, {} nodes, {} inner {inner}",
                tree.hash,
                tree.nodes.len(),
                tree.levels
            ),
        )?;
    }
    Ok(())
}
