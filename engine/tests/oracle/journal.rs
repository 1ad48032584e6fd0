//! Reading what `debugfs logdump` prints.

use super::tools::{limited, output};
use std::path::Path;

/// One block of the journal that is not a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JournalRecord {
    Descriptor {
        block: u64,
        /// Block of the filesystem, block of the journal with its new contents,
        /// the tag's flags (1 escaped, 2 same UUID, 4 deleted, 8 last).
        tags: Vec<(u64, u64, u32)>,
    },
    Commit {
        block: u64,
    },
    Revoke {
        block: u64,
        blocks: Vec<u64>,
    },
}

/// What the journal holds under one sequence number, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transaction {
    pub sequence: u32,
    pub records: Vec<JournalRecord>,
}

impl Transaction {
    pub fn committed(&self) -> bool {
        let commit = |record: &JournalRecord| matches!(record, JournalRecord::Commit { .. });
        self.records.iter().any(commit)
    }
}

/// The transactions that `logdump -a` finds from the journal's start on.
pub fn logdump(image: &Path) -> Result<Vec<Transaction>, String> {
    dump("logdump -a", image)
}

/// The same where the journal is in a file of its own.
pub fn logdump_external(image: &Path, journal: &Path) -> Result<Vec<Transaction>, String> {
    dump(&format!("logdump -a -f {}", journal.display()), image)
}

fn dump(command: &str, image: &Path) -> Result<Vec<Transaction>, String> {
    // Before replay a bitmap's checksum, half written back, may keep debugfs from
    // opening the image: -n lets it pass.
    let words = ["-n", "-R", command].map(std::ffi::OsStr::new);
    let words = [&words[..], &[image.as_os_str()]].concat();
    let done = output(&mut limited(60, "debugfs", &words))?;
    let complaint = String::from_utf8_lossy(&done.stderr);
    if !done.status.success() || complaint.contains("Filesystem not open") {
        return Err(format!("{command}: {complaint}"));
    }
    parse(&String::from_utf8_lossy(&done.stdout))
}

fn parse(text: &str) -> Result<Vec<Transaction>, String> {
    let mut out: Vec<Transaction> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(found) = line.strip_prefix("Found expected sequence ") {
            found_record(found, &mut out).ok_or_else(|| format!("logdump: {line}"))?;
        } else if let Some(tag) = line.strip_prefix("FS block ") {
            found_tag(tag, &mut out).ok_or_else(|| format!("logdump: {line}"))?;
        } else if let Some(block) = line.strip_prefix("Revoke FS block ") {
            found_revoke(block, &mut out).ok_or_else(|| format!("logdump: {line}"))?;
        }
    }
    Ok(out)
}

/// `2, type 5 (revoke table) at block 6`
fn found_record(line: &str, out: &mut Vec<Transaction>) -> Option<()> {
    let (sequence, rest) = line.split_once(", type ")?;
    let sequence = sequence.parse().ok()?;
    let (kind, rest) = rest.split_once(' ')?;
    let block = rest.rsplit_once(' ')?.1.parse().ok()?;
    let record = match kind {
        "1" => JournalRecord::Descriptor {
            block,
            tags: Vec::new(),
        },
        "2" => JournalRecord::Commit { block },
        "5" => JournalRecord::Revoke {
            block,
            blocks: Vec::new(),
        },
        _ => return None,
    };
    if out.last().is_none_or(|last| last.sequence != sequence) {
        out.push(Transaction {
            sequence,
            records: Vec::new(),
        });
    }
    out.last_mut()?.records.push(record);
    Some(())
}

/// `3001 logged at journal block 3 (flags 0x2)`
fn found_tag(line: &str, out: &mut [Transaction]) -> Option<()> {
    let (block, rest) = line.split_once(" logged at journal block ")?;
    let (copy, flags) = rest.split_once(" (flags 0x")?;
    let flags = u32::from_str_radix(flags.split([')', ' ']).next()?, 16).ok()?;
    match out.last_mut()?.records.last_mut()? {
        JournalRecord::Descriptor { tags, .. } => {
            tags.push((block.parse().ok()?, copy.parse().ok()?, flags));
            Some(())
        }
        _ => None,
    }
}

fn found_revoke(block: &str, out: &mut [Transaction]) -> Option<()> {
    match out.last_mut()?.records.last_mut()? {
        JournalRecord::Revoke { blocks, .. } => {
            blocks.push(block.parse().ok()?);
            Some(())
        }
        _ => None,
    }
}
