use crate::args::JournalArgs;
use crate::open::{self, Image};
use crate::{blocks, map, out};
use fslab_engine::ext4::Problem;
use fslab_engine::ext4::journal::{Journal, Version};
use fslab_engine::image::Medium;
use fslab_engine::units::BlockNr;
use fslab_engine::view::fields::time_text;
use fslab_engine::view::journal::{
    JournalBlockKind, JournalBlockRow, JournalView, TransactionList, TransactionRow, journal,
};
use fslab_engine::view::{self, BlockView, OwnerInfo};
use serde::Serialize;
use std::io::Write;

/// Block numbers in a line.
const PER_LINE: usize = 12;

#[derive(Serialize)]
struct Versions {
    versions: Vec<VersionAndBlock>,
}

#[derive(Serialize)]
struct VersionAndBlock {
    version: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<BlockView>,
}

pub fn run(args: &JournalArgs) -> anyhow::Result<()> {
    let (fs, mut journal, medium) = open::open_journal(&args.source)?;
    if args.history || args.block.is_some() {
        journal.read_history(&medium, &mut |_, _| true);
    }
    match args.block {
        Some(nr) => versions(args, fs.as_ref(), &journal, &medium, nr),
        None => whole(args, &journal),
    }
}

/// Every transaction: the view gives some at a time.
fn whole(args: &JournalArgs, of: &Journal) -> anyhow::Result<()> {
    let mut view = journal(of, 0, 0);
    read_on(&mut view.transactions, |from| {
        journal(of, from, 0).transactions
    });
    read_on(&mut view.history, |from| journal(of, 0, from).history);
    if args.source.how.json {
        return out::json(&view);
    }
    out::problems(&view.problems);
    let mut out = out::stdout();
    head(&mut out, &view)?;
    if args.fields {
        out::fields(&mut out, &view.fields, 0)?;
        writeln!(out)?;
    }
    list(&mut out, &view.transactions, args.blocks)?;
    if view.transactions.total == 0 {
        writeln!(out, "No transaction waits to be replayed.")?;
    }
    if args.history {
        if view.history.total == 0 {
            writeln!(out, "\nOf older transactions nothing is left.")?;
        } else {
            writeln!(out, "\nOlder transactions, of which parts are still there:")?;
        }
        list(&mut out, &view.history, args.blocks)?;
    }
    fast_commits(&mut out, &view)?;
    Ok(out.flush()?)
}

fn read_on(list: &mut TransactionList, next: impl Fn(u64) -> TransactionList) {
    while (list.rows.len() as u64) < list.total {
        let more = next(list.rows.len() as u64);
        if more.rows.is_empty() {
            break;
        }
        list.rows.extend(more.rows);
    }
}

fn head(out: &mut impl Write, v: &JournalView) -> std::io::Result<()> {
    let mut line = |name: &str, value: &str| writeln!(out, "{name:<14}{value}");
    line("Journal", &v.place)?;
    line(
        "Size",
        &format!(
            "{} of {} bytes",
            out::count(v.blocks.into(), "block"),
            v.block_size
        ),
    )?;
    line(
        "Log",
        &format!("blocks {} to {}", v.first, v.last.saturating_sub(1)),
    )?;
    line(
        "Features",
        if v.features.is_empty() {
            "none".into()
        } else {
            v.features.join(" ")
        }
        .as_str(),
    )?;
    line("State", &v.state)?;
    for note in &v.notes {
        line("", note)?;
    }
    line("End", &v.scan_end)?;
    writeln!(out)
}

fn list(out: &mut impl Write, list: &TransactionList, blocks: bool) -> std::io::Result<()> {
    for t in &list.rows {
        transaction(out, t)?;
        if blocks {
            for b in &t.blocks {
                block_line(out, b)?;
            }
        } else {
            homes(out, t)?;
        }
        let left = t.total_blocks - t.blocks.len() as u64;
        if left > 0 {
            writeln!(out, "  … and {left} more blocks")?;
        }
        for some in t.revoked.chunks(PER_LINE) {
            let numbers: Vec<String> = some.iter().map(u64::to_string).collect();
            writeln!(out, "  revokes {}", numbers.join(" "))?;
        }
        if t.total_revoked > t.revoked.len() as u64 {
            writeln!(
                out,
                "  … and {} more",
                t.total_revoked - t.revoked.len() as u64
            )?;
        }
    }
    Ok(())
}

fn transaction(out: &mut impl Write, t: &TransactionRow) -> std::io::Result<()> {
    let when = t
        .commit_time
        .as_deref()
        .map(|c| format!(", committed {c}"))
        .unwrap_or_default();
    writeln!(
        out,
        "Transaction {} from block {}, {}: {}{when}",
        t.sequence,
        t.start,
        out::count(t.total_blocks, "block"),
        t.words
    )
}

/// The blocks that a transaction has new contents of.
fn homes(out: &mut impl Write, t: &TransactionRow) -> std::io::Result<()> {
    let homes: Vec<String> = t
        .blocks
        .iter()
        .filter_map(|b| b.home)
        .map(|h| h.to_string())
        .collect();
    for some in homes.chunks(PER_LINE) {
        writeln!(out, "  changes {}", some.join(" "))?;
    }
    Ok(())
}

fn block_line(out: &mut impl Write, b: &JournalBlockRow) -> std::io::Result<()> {
    let what = match b.kind {
        JournalBlockKind::Descriptor => "descriptor".to_string(),
        JournalBlockKind::Revoke => "revoke".to_string(),
        JournalBlockKind::Commit => "commit".to_string(),
        JournalBlockKind::Copy => format!("copy of block {}", b.home.unwrap_or(0)),
    };
    let escaped = if b.escaped { ", escaped" } else { "" };
    let sum = match b.checksum_ok {
        Some(true) => ", checksum good",
        Some(false) => ", checksum bad",
        None => "",
    };
    let fate = if b.words.is_empty() {
        String::new()
    } else {
        format!(", {}", b.words)
    };
    writeln!(out, "  {:>8}  {what}{escaped}{sum}{fate}", b.journal_block)
}

fn fast_commits(out: &mut impl Write, v: &JournalView) -> std::io::Result<()> {
    let Some(area) = &v.fast_commits else {
        return Ok(());
    };
    writeln!(
        out,
        "\nFast commits: {} from block {}. {}",
        out::count(area.blocks.into(), "block"),
        area.first,
        area.words
    )?;
    for tag in &area.tags {
        let replayed = if tag.replayed { "" } else { " (not replayed)" };
        writeln!(
            out,
            "  {:>8} byte {:>5}  {}{replayed}",
            tag.journal_block, tag.offset, tag.words
        )?;
    }
    if area.total_tags > area.tags.len() as u64 {
        writeln!(
            out,
            "  … and {} more tags",
            area.total_tags - area.tags.len() as u64
        )?;
    }
    Ok(())
}

/// What the journal still holds of one block, decoded where that is asked for.
fn versions(
    args: &JournalArgs,
    fs: Option<&Image>,
    journal: &Journal,
    medium: &Medium,
    nr: u64,
) -> anyhow::Result<()> {
    if let Some(fs) = fs {
        fs.geometry().check_block(BlockNr(nr))?;
    }
    // Without its filesystem, nothing tells what the block is.
    let home = fs.filter(|_| args.fields).map(|fs| {
        let (map, names) = map::scan(fs, true);
        (fs, OwnerInfo::find(&map, &names, nr))
    });
    let mut all = Vec::new();
    for version in journal.old_versions(BlockNr(nr)) {
        let read = home.as_ref().map(|(fs, owner)| {
            let bytes = journal.read_version(medium, &version)?;
            Ok::<_, Problem>(view::decode_block(fs, BlockNr(nr), bytes, owner.as_ref()))
        });
        let block = read.transpose().unwrap_or_else(|problem| {
            out::note(problem);
            None
        });
        all.push(VersionAndBlock { version, block });
    }
    if args.source.how.json {
        return out::json(&Versions { versions: all });
    }
    let mut out = out::stdout();
    if all.is_empty() {
        writeln!(out, "The journal holds no copy of block {nr}")?;
    }
    for v in &all {
        let (version, when) = (&v.version, v.version.committed.map(time_text));
        let home = if version.replayed {
            ", which a replay would write home"
        } else {
            ""
        };
        let when = when.map(|w| format!(", committed {w}")).unwrap_or_default();
        writeln!(
            out,
            "Transaction {}, in block {} of the journal{when}{home}",
            version.transaction, version.journal_block
        )?;
        if let Some(block) = &v.block {
            blocks::print(&mut out, block, false)?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}
