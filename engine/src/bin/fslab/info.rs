use crate::args::InfoArgs;
use crate::open::{self, Whole};
use crate::{out, partitions};
use fslab_engine::view::{self, Summary};
use std::io::Write;

pub fn run(args: &InfoArgs) -> anyhow::Result<()> {
    let (fs, left_out) = match open::open_or_list(&args.source)? {
        Whole::Fs(fs, left_out) => (fs, left_out),
        Whole::Disk(disk) => return partitions::show(&disk, args.source.how.json),
    };
    let mut summary = match left_out {
        Some(fast_commits) => view::summary_after_replay(&fs, fast_commits),
        None => view::summary(&fs),
    };
    if args.source.how.json {
        return out::json(&summary);
    }
    // The problems of opening have been told.
    summary.problems.drain(..fs.problems().len());
    out::problems(&summary.problems);
    let mut out = out::stdout();
    print(&mut out, &summary)?;
    if args.fields {
        writeln!(out)?;
        out::fields(&mut out, &summary.fields, 0)?;
    }
    Ok(out.flush()?)
}

fn print(out: &mut impl Write, s: &Summary) -> std::io::Result<()> {
    let mut line = |name: &str, value: String| writeln!(out, "{name:<14}{value}");
    line("Kind", s.kind.clone())?;
    let or_none = |text: &str| match text {
        "" => "none".into(),
        text => text.to_owned(),
    };
    line("Label", or_none(&s.label))?;
    line("UUID", s.uuid.clone())?;
    if !s.last_mounted.is_empty() {
        line("Last mounted", s.last_mounted.clone())?;
    }
    let block = u64::from(s.block_size);
    let bytes = |blocks: u64| out::size(blocks.saturating_mul(block));
    line(
        "Size",
        format!(
            "{} of {block} bytes ({})",
            out::count(s.blocks, "block"),
            bytes(s.blocks)
        ),
    )?;
    line(
        "Free",
        format!(
            "{} ({})",
            out::count(s.free_blocks, "block"),
            bytes(s.free_blocks)
        ),
    )?;
    if s.cluster_blocks > 1 {
        line(
            "Clusters",
            format!(
                "of {} blocks ({})",
                s.cluster_blocks,
                bytes(s.cluster_blocks.into())
            ),
        )?;
    }
    line(
        "Inodes",
        format!(
            "{} of {} bytes, {} free",
            s.inodes, s.inode_size, s.free_inodes
        ),
    )?;
    let flex = if s.flex_groups > 1 {
        format!(", in flex groups of {}", s.flex_groups)
    } else {
        String::new()
    };
    line(
        "Groups",
        format!("{} of {} blocks{flex}", s.groups, s.blocks_per_group),
    )?;
    line(
        "Image",
        format!(
            "{} ({})",
            out::count(s.image_bytes, "byte"),
            out::size(s.image_bytes)
        ),
    )?;
    line("Features", or_none(&s.features.join(" ")))?;
    for (i, sentence) in s.state.iter().enumerate() {
        line(if i == 0 { "State" } else { "" }, sentence.clone())?;
    }
    if !s.orphans.is_empty() {
        const MOST: usize = 20;
        let mut all: Vec<String> = s
            .orphans
            .iter()
            .take(MOST)
            .map(|o| o.inode.to_string())
            .collect();
        if s.orphans.len() > MOST {
            all.push(format!("and {} more", s.orphans.len() - MOST));
        }
        line("Orphans", all.join(" "))?;
    }
    Ok(())
}
