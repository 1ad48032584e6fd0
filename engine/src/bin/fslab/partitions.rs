//! The partitions of a disk, where none is chosen.

use crate::open::{self, Disk};
use crate::out;
use fslab_engine::image::{Layer, Partition, TableKind};
use fslab_engine::view::escape;
use serde::Serialize;
use std::io::Write;

/// Partitions that are listed.
const MOST: usize = 128;

#[derive(Serialize)]
struct Json<'a> {
    layers: &'a [Layer],
    table: TableKind,
    sector_size: u32,
    notes: &'a [String],
    partitions: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    partition: &'a Partition,
    /// What it holds, by its bytes.
    content: &'static str,
    /// Whether that is ext2, ext3 or ext4.
    ext: bool,
}

/// The table on standard output, as the answer to `info`.
pub fn show(disk: &Disk, json: bool) -> anyhow::Result<()> {
    if json {
        let partitions = &disk.table.partitions;
        return out::json(&Json {
            layers: &disk.opened.layers,
            table: disk.table.kind,
            sector_size: disk.table.sector_size,
            notes: &disk.table.notes,
            partitions: partitions.iter().map(|p| row(disk, p)).collect(),
        });
    }
    let kind = match disk.table.kind {
        TableKind::Mbr => "MBR",
        TableKind::Gpt => "GPT",
    };
    let mut out = out::stdout();
    writeln!(
        out,
        "A disk with a partition table ({kind}, sectors of {} bytes):",
        disk.table.sector_size
    )?;
    for line in lines(disk) {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    out::note(open::unclear(disk));
    Ok(())
}

/// A line for each partition, and one for what is odd about it.
pub fn lines(disk: &Disk) -> Vec<String> {
    let all = &disk.table.partitions;
    let mut lines = Vec::new();
    for p in all.iter().take(MOST) {
        let line = format!(
            "{:3}  {:>10}  {}  {}  {}",
            p.number,
            out::size(p.len_bytes),
            content(disk, p),
            escape(p.type_name.as_bytes()),
            escape(p.name.as_bytes())
        );
        lines.push(line.trim_end().to_string());
        if !p.note.is_empty() {
            lines.push(format!("     {}", p.note));
        }
    }
    if all.len() > MOST {
        lines.push(format!("{} more partitions, not listed", all.len() - MOST));
    }
    lines
}

fn row<'a>(disk: &Disk, partition: &'a Partition) -> Row<'a> {
    Row {
        partition,
        content: content(disk, partition),
        ext: disk.ext.contains(&partition.number),
    }
}

fn content(disk: &Disk, p: &Partition) -> &'static str {
    if p.container {
        return "container";
    }
    let held = disk.opened.identify_partition(p.number);
    held.map_or("not in the image", |identity| identity.name)
}
