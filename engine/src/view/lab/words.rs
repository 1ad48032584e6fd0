//! Events as sentences.

use crate::event::{Io, Meta, Reason, RecoveryPass, What};
use crate::jbd2::{Part, Phase};
use crate::view::escape;

/// What happened, as a person would tell it.
pub fn event_words(what: &What) -> String {
    call(what)
        .or_else(|| page(what))
        .or_else(|| space(what))
        .or_else(|| map(what))
        .or_else(|| name(what))
        .or_else(|| journal(what))
        .or_else(|| device(what))
        .unwrap_or_else(|| format!("{what:?}"))
}

fn count(n: impl Into<u64>, one: &str) -> String {
    match n.into() {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}

fn run(start: u64, len: u64) -> String {
    match len {
        0 | 1 => format!("block {start}"),
        n => format!("blocks {start}–{}", start.saturating_add(n - 1)),
    }
}

fn call(what: &What) -> Option<String> {
    Some(match what {
        What::Call { text } => text.clone(),
        What::Returned { value: Ok(n) } => format!("Returned {n}"),
        What::Returned { value: Err(e) } => format!("Failed with {}: {}", e.name(), e.words()),
        What::ProcessStarted { name } => format!("Process {name} began"),
        What::Printed { text } => format!("Said: {text}"),
        What::ProcessEnded => "The process ended".into(),
        What::ProcessFailed { line, words, .. } => {
            format!("The process stopped at line {line} of its program: {words}")
        }
        What::Mounted => "Mounted".into(),
        What::Unmounted => "Unmounted".into(),
        What::Error { words } => format!("The disk is not what it should be: {words}"),
        What::Warning { words } => format!("Odd, without consequence: {words}"),
        What::ReadOnly => "Remounted read-only".into(),
        What::FlashErased { block } => format!("Block {block} of the flash is erased"),
        What::FlashBroke { block } => {
            format!("Block {block} of the flash broke and is used no more")
        }
        What::FlashProgrammed {
            page,
            logical,
            from,
            len,
        } => programmed(*page, *logical, *from, *len),
        _ => return None,
    })
}

/// Pages of flash that were written, or moved.
fn programmed(page: u64, logical: u64, from: Option<u64>, len: u32) -> String {
    let pages = |first: u64| match len {
        0 | 1 => format!("page {first}"),
        n => format!("pages {first}–{}", first.saturating_add(u64::from(n) - 1)),
    };
    match from {
        Some(from) => format!(
            "Flash: {} moved to {} (logical {})",
            pages(from),
            pages(page),
            pages(logical)
        ),
        None => format!(
            "Flash: {} written (logical {})",
            pages(page),
            pages(logical)
        ),
    }
}

fn page(what: &What) -> Option<String> {
    Some(match what {
        What::PageDirtied {
            inode,
            lblk,
            delayed: true,
        } => {
            format!("Page {lblk} of inode {inode} is dirty, and has no block yet")
        }
        What::PageDirtied { inode, lblk, .. } => format!("Page {lblk} of inode {inode} is dirty"),
        What::PageCleaned { inode, lblk } => {
            format!("Page {lblk} of inode {inode} was sent to the device")
        }
        What::PageDropped { inode, lblk } => format!("Page {lblk} of inode {inode} was given up"),
        What::Reserved { inode, blocks } => {
            format!(
                "{} promised to inode {inode}, without an address",
                count(*blocks, "block")
            )
        }
        What::Released { inode, blocks } => {
            format!(
                "The promise of {} to inode {inode} is settled",
                count(*blocks, "block")
            )
        }
        _ => return None,
    })
}

fn space(what: &What) -> Option<String> {
    Some(match what {
        What::Allocated {
            inode,
            group,
            start,
            len,
            reason,
        } => {
            let what = match reason {
                Reason::Data => "contents",
                Reason::Metadata => "metadata",
            };
            let run = run(start.0, (*len).into());
            format!("Took {run} in group {group} for {what} of inode {inode}")
        }
        What::Freed {
            inode,
            group,
            start,
            len,
        } => {
            let run = run(start.0, (*len).into());
            format!("Gave back {run} in group {group}, of inode {inode}")
        }
        What::Preallocated { inode, start, len } => {
            let whom = match inode.0 {
                0 => "a group’s small files".to_owned(),
                n => format!("inode {n}"),
            };
            format!("Kept {} for {whom}", run(start.0, (*len).into()))
        }
        What::PreallocationDiscarded { start, len, .. } => {
            format!("No longer keeps {}", run(start.0, (*len).into()))
        }
        What::InodeAllocated { inode, group, .. } => format!("Took inode {inode} in group {group}"),
        What::InodeFreed { inode, group } => format!("Gave back inode {inode} in group {group}"),
        What::InodeWritten { inode } => format!("Inode {inode} changed in its table block"),
        What::OrphanAdded { inode } => {
            format!("Inode {inode} joined the orphans: to be deleted or cut later")
        }
        What::OrphanRemoved { inode } => format!("Inode {inode} left the orphans"),
        _ => return None,
    })
}

fn map(what: &What) -> Option<String> {
    Some(match what {
        What::ExtentInserted {
            inode,
            lblk,
            len,
            start,
            unwritten,
        } => {
            let state = if *unwritten { ", unwritten" } else { "" };
            let len = count(*len, "block");
            format!("Inode {inode} got an extent: {len} from {lblk} on, at block {start}{state}")
        }
        What::ExtentSplit { inode, lblk } => format!("An extent of inode {inode} split at {lblk}"),
        What::ExtentMerged { inode, lblk, len } => {
            let len = count(*len, "block");
            format!("An extent of inode {inode} grew to {len} from {lblk} on")
        }
        What::ExtentConverted { inode, lblk, len } => {
            let len = count(*len, "block");
            format!("{len} of inode {inode} from {lblk} on became written")
        }
        What::ExtentUnwritten { inode, lblk, len } => {
            let len = count(*len, "block");
            format!("{len} of inode {inode} from {lblk} on became unwritten: they read as zeros")
        }
        What::ZeroedOut {
            inode, block, len, ..
        } => {
            let run = run(block.0, (*len).into());
            format!("Zeros go to {run} of inode {inode}")
        }
        What::ExtentsShifted { inode, from, by } => {
            format!("Extents of inode {inode} from {from} on moved by {by}")
        }
        What::ExtentRemoved { inode, lblk, len } => {
            let len = count(*len, "block");
            format!("{len} from {lblk} on left the map of inode {inode}")
        }
        What::TreeDepth { inode, depth } => {
            format!(
                "The tree of inode {inode} has {} below its root",
                count(*depth, "level")
            )
        }
        What::NodeAdded { inode, block } => {
            format!("Block {block} became a node of inode {inode}’s map")
        }
        What::NodeRemoved { inode, block } => {
            format!("Block {block} is no longer a node of inode {inode}’s map")
        }
        _ => return None,
    })
}

fn name(what: &What) -> Option<String> {
    Some(match what {
        What::NameAdded {
            dir, name, inode, ..
        } => {
            format!("{} → inode {inode}, in directory {dir}", escape(name))
        }
        What::NameRemoved { dir, name, inode } => {
            format!(
                "{} is gone from directory {dir} (was inode {inode})",
                escape(name)
            )
        }
        What::NameReplaced {
            dir,
            name,
            from,
            to,
        } => {
            let name = escape(name);
            format!("{name} in directory {dir} leads to inode {to}, no longer to {from}")
        }
        What::DirBlockSplit { dir, from, to } => {
            format!("Half of directory {dir}’s block {from} moved to its block {to}")
        }
        What::HtreeGrew { dir, levels } => {
            format!(
                "The htree of directory {dir} has {} below its root",
                count(*levels, "level")
            )
        }
        What::XattrSet { inode, name, bytes } => {
            format!(
                "Attribute {} of inode {inode} set to {}",
                escape(name),
                count(*bytes, "byte")
            )
        }
        What::XattrBlockShared {
            inode,
            block,
            sharers,
        } => {
            format!("Inode {inode} shares attribute block {block} with {sharers} in all")
        }
        What::XattrRemoved { inode, name } => {
            format!("Attribute {} of inode {inode} is gone", escape(name))
        }
        _ => return None,
    })
}

fn journal(what: &What) -> Option<String> {
    Some(match what {
        What::BufferDirtied { block, kind } => {
            format!("{} changed in memory: block {block}", meta(*kind))
        }
        What::BufferWritten { block } => format!("Block {block} of metadata goes home"),
        What::Transaction { tid, phase } => format!("Transaction {tid}: {}", phase_words(*phase)),
        What::Logged {
            tid,
            log_block,
            part,
            ..
        } => {
            let what = match part {
                Part::Descriptor => "the descriptor".to_owned(),
                Part::Copy(home) => format!("the copy of block {home}"),
                Part::Revoke => "the revoked blocks".to_owned(),
                Part::Commit => "the commit block".to_owned(),
            };
            format!("Transaction {tid}: {what} goes to the log’s block {log_block}")
        }
        What::TailMoved { tid, log_block } => {
            format!("The log is free up to transaction {tid} at its block {log_block}")
        }
        What::RecoveryPass { pass, found } => match pass {
            RecoveryPass::Scan => format!(
                "Recovery scanned the log: {} complete",
                match found {
                    1 => "1 transaction is".to_owned(),
                    n => format!("{n} transactions are"),
                }
            ),
            RecoveryPass::Revoke => format!(
                "Recovery gathered {} that may not be written onto",
                count(*found, "revoked block")
            ),
            RecoveryPass::Replay => {
                format!("Recovery wrote {} home", count(*found, "block"))
            }
        },
        What::Recovered { tid } => format!("Transaction {tid} was found in the log"),
        What::Replayed {
            home, log_block, ..
        } => {
            format!("Block {home} was replayed from the log’s block {log_block}")
        }
        _ => return None,
    })
}

/// What a phase of a commit does.
fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Locked => "locked, takes no more changes",
        Phase::Flush => "contents of ordered files go first",
        Phase::Commit => "its blocks go to the log",
        Phase::CommitRecord => "its commit block goes to the log",
        Phase::Committed => "committed, a crash would replay it",
    }
}

/// A kind of metadata, as a sentence begins with it.
pub(in crate::view) fn meta(kind: Meta) -> &'static str {
    match kind {
        Meta::Superblock => "The superblock",
        Meta::Descriptors => "Group descriptors",
        Meta::BlockBitmap => "A block bitmap",
        Meta::InodeBitmap => "An inode bitmap",
        Meta::InodeTable => "An inode table",
        Meta::ExtentNode => "A node of an extent tree",
        Meta::Indirect => "An indirect block",
        Meta::Directory => "A directory",
        Meta::Htree => "A node of an htree",
        Meta::Xattr => "Attributes",
        Meta::Symlink => "A link’s target",
        Meta::OrphanFile => "The orphan file",
        Meta::XattrValue => "An attribute’s value",
        Meta::FileData => "Contents, by way of the journal,",
    }
}

fn device(what: &What) -> Option<String> {
    Some(match what {
        What::Queued {
            request,
            kind: Io::Flush,
            ..
        } => format!("Request {request}: flush"),
        What::Queued {
            request,
            kind,
            sector,
            sectors,
        } => {
            let kind = match kind {
                Io::Read => "read",
                Io::Write => "write",
                Io::WriteFua => "write through the cache",
                Io::Discard => "discard",
                Io::Flush => "flush",
            };
            let kib = sectors / 2;
            format!("Request {request}: {kind} {kib} KiB at sector {sector}")
        }
        What::Started { request } => format!("The device begins request {request}"),
        What::Completed { request } => format!("Request {request} is done"),
        What::Destaged { sector, sectors } => {
            format!(
                "The cache wrote {} KiB at sector {sector} to the medium",
                sectors / 2
            )
        }
        What::Read { block, len } => format!("Reads {}", run(block.0, *len)),
        What::DataWritten {
            inode,
            lblk,
            block,
            len,
        } => {
            let run = run(block.0, (*len).into());
            format!("Contents of inode {inode} from {lblk} on are sent to {run}")
        }
        What::Discarded { block, len } => {
            format!("Told the device that {} are free", run(block.0, *len))
        }
        What::Flushed => "Asked the device to make everything safe".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{InodeNr, Lblk};

    #[test]
    fn an_event_is_a_sentence() {
        let what = What::PageDirtied {
            inode: InodeNr(12),
            lblk: Lblk(0),
            delayed: true,
        };
        let words = event_words(&what);
        assert_eq!(words, "Page 0 of inode 12 is dirty, and has no block yet");
    }
}
