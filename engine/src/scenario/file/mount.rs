//! Mount options in the words of mount(8) and ext4(5).

use super::nearest;
use crate::kernel::{Atime, DataMode, ErrorsBehaviour, MountOptions};
use crate::units::SimTime;

const SECOND: u64 = 1_000_000_000;

/// Words that take no value.
const WORDS: [&str; 32] = [
    "defaults",
    "ro",
    "rw",
    "delalloc",
    "nodelalloc",
    "auto_da_alloc",
    "noauto_da_alloc",
    "barrier",
    "nobarrier",
    "journal_checksum",
    "nojournal_checksum",
    "journal_async_commit",
    "strictatime",
    "relatime",
    "noatime",
    "lazytime",
    "nolazytime",
    "discard",
    "nodiscard",
    "dioread_nolock",
    "dioread_lock",
    "data=",
    "errors=",
    "commit=",
    "stripe=",
    "barrier=",
    "auto_da_alloc=",
    "nohide_stale_gid=",
    "max_dir_size_kb=",
    "atime",
    "norelatime",
    "nostrictatime",
];

/// Sets what the words say, separated by commas. Errors are sentences.
pub(super) fn parse(words: &str, options: &mut MountOptions) -> Result<(), String> {
    for word in words.split(',').map(str::trim).filter(|w| !w.is_empty()) {
        let done = match word.split_once('=') {
            Some((name, value)) => with_value(name, value, options)?,
            None => plain(word, options),
        };
        if done.is_none() {
            return Err(unknown(word));
        }
    }
    Ok(())
}

fn unknown(word: &str) -> String {
    let name = word.split_inclusive('=').next().unwrap_or(word);
    let near = nearest(name, &WORDS)
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    format!("ext4 knows no mount option `{word}`{near}")
}

fn plain(word: &str, o: &mut MountOptions) -> Option<()> {
    match word {
        "defaults" | "rw" => o.read_only = false,
        "ro" => o.read_only = true,
        "delalloc" => o.delalloc = Some(true),
        "nodelalloc" => o.delalloc = Some(false),
        "auto_da_alloc" => o.auto_da_alloc = true,
        "noauto_da_alloc" => o.auto_da_alloc = false,
        "barrier" => o.barrier = true,
        "nobarrier" => o.barrier = false,
        "journal_checksum" => o.journal_checksum = true,
        "nojournal_checksum" => o.journal_checksum = false,
        "journal_async_commit" => {
            o.journal_async_commit = true;
            o.journal_checksum = true;
        }
        "strictatime" => o.atime = Atime::Strict,
        "relatime" | "atime" | "nostrictatime" | "norelatime" => o.atime = Atime::Relative,
        "noatime" => o.atime = Atime::No,
        "lazytime" => o.lazytime = true,
        "nolazytime" => o.lazytime = false,
        "discard" => o.discard = true,
        "nodiscard" => o.discard = false,
        "dioread_nolock" => o.dioread_nolock = true,
        "dioread_lock" => o.dioread_nolock = false,
        _ => return None,
    }
    Some(())
}

fn with_value(name: &str, value: &str, o: &mut MountOptions) -> Result<Option<()>, String> {
    match name {
        "data" => {
            o.data = match value {
                "ordered" => DataMode::Ordered,
                "writeback" => DataMode::Writeback,
                "journal" => DataMode::Journal,
                "alloc-on-commit" => DataMode::AllocOnCommit,
                _ => {
                    return Err(choice(
                        "data",
                        value,
                        "ordered, writeback, journal or alloc-on-commit",
                    ));
                }
            }
        }
        "errors" => {
            o.errors = Some(match value {
                "continue" => ErrorsBehaviour::Continue,
                "remount-ro" => ErrorsBehaviour::RemountRo,
                "panic" => ErrorsBehaviour::Panic,
                _ => return Err(choice("errors", value, "continue, remount-ro or panic")),
            });
        }
        "commit" => {
            // As in Linux, 0 stands for the default.
            let seconds = number(name, value, 3600)?;
            let seconds = if seconds == 0 { 5 } else { seconds };
            o.commit = SimTime(seconds * SECOND);
        }
        "barrier" => o.barrier = number(name, value, 1)? != 0,
        "auto_da_alloc" => o.auto_da_alloc = number(name, value, 1)? != 0,
        "stripe" => o.stripe = Some(number(name, value, 2 << 20)? as u32),
        "nohide_stale_gid" => {
            o.nohide_stale_gid = Some(number(name, value, u32::MAX.into())? as u32);
        }
        "max_dir_size_kb" => o.max_dir_size_kb = number(name, value, u32::MAX.into())? as u32,
        _ => return Ok(None),
    }
    Ok(Some(()))
}

fn choice(name: &str, value: &str, known: &str) -> String {
    format!("`{name}={value}` is not known: {name} is {known}")
}

fn number(name: &str, value: &str, most: u64) -> Result<u64, String> {
    value
        .parse()
        .ok()
        .filter(|n| *n <= most)
        .ok_or_else(|| format!("`{name}=` wants a number from 0 to {most}, not `{value}`"))
}
