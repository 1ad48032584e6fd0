//! mkfs options in mke2fs's own words.

use super::nearest;
use super::units::size;
use crate::ext4::mkfs::{FsType, JournalMap, JournalPlacement, Options};

/// Options that take a value.
const VALUED: [&str; 16] = [
    "-t", "-b", "-C", "-g", "-G", "-I", "-i", "-N", "-m", "-L", "-O", "-J", "-E", "-T", "-r", "-e",
];
const EXTENDED: [&str; 7] = [
    "stride=",
    "stripe-width=",
    "stripe_width=",
    "resize=",
    "lazy_itable_init=",
    "packed_meta_blocks=",
    "num_backup_sb=",
];

/// Sets what the words say. Errors are sentences.
pub(super) fn parse(words: &str, o: &mut Options) -> Result<(), String> {
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        if word == "-j" {
            o.journal.wanted = true;
            continue;
        }
        if !VALUED.contains(&word) {
            return Err(unknown(word));
        }
        let value = words
            .next()
            .ok_or_else(|| format!("`{word}` wants a value behind it"))?;
        valued(word, value, o)?;
    }
    Ok(())
}

fn unknown(word: &str) -> String {
    let near = nearest(word, &VALUED)
        .map(|n| format!("; did you mean `{n}`?"))
        .unwrap_or_default();
    format!("mkfs knows no option `{word}` here{near}")
}

fn valued(word: &str, value: &str, o: &mut Options) -> Result<(), String> {
    match word {
        "-t" => {
            o.fs_type = match value {
                "ext2" => FsType::Ext2,
                "ext3" => FsType::Ext3,
                "ext4" => FsType::Ext4,
                _ => {
                    return Err(format!(
                        "`-t {value}` is not known: it is ext2, ext3 or ext4"
                    ));
                }
            }
        }
        "-b" => o.block_size = Some(number(word, value)?),
        "-C" => o.cluster_size = Some(number(word, value)?),
        "-g" => o.blocks_per_group = Some(number(word, value)?),
        "-G" => o.flex_groups = Some(number(word, value)?),
        "-I" => o.inode_size = Some(number(word, value)?),
        "-i" => o.inode_ratio = Some(number(word, value)?),
        "-N" => o.inodes = Some(number(word, value)?.into()),
        "-r" => o.revision = Some(number(word, value)?),
        "-m" => {
            let percent = value.parse().ok().filter(|p| (0.0..=50.0).contains(p));
            o.reserved_percent =
                Some(percent.ok_or_else(|| {
                    format!("`-m` wants a percentage from 0 to 50, not `{value}`")
                })?);
        }
        "-L" => o.label = value.as_bytes().iter().take(16).copied().collect(),
        "-T" => o.usage.extend(value.split(',').map(str::to_owned)),
        "-O" => o.features.extend(value.split(',').map(str::to_owned)),
        "-e" => {
            o.errors = Some(match value {
                "continue" => 1,
                "remount-ro" => 2,
                "panic" => 3,
                _ => {
                    return Err(format!(
                        "`-e {value}` is not known: it is continue, remount-ro or panic"
                    ));
                }
            });
        }
        "-J" => {
            o.journal.wanted = true;
            each(value, |name, value| journal(name, value, o))?;
        }
        _ => each(value, |name, value| extended(name, value, o))?,
    }
    Ok(())
}

fn each(words: &str, mut set: impl FnMut(&str, &str) -> Result<(), String>) -> Result<(), String> {
    for word in words.split(',').filter(|w| !w.is_empty()) {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        set(name, value)?;
    }
    Ok(())
}

fn journal(name: &str, value: &str, o: &mut Options) -> Result<(), String> {
    match name {
        "size" => o.journal.megabytes = Some(number("-J size=", value)?.into()),
        "location" => {
            o.journal.placement = match value {
                "first-free" => JournalPlacement::FirstFree,
                "largest-of-three" => JournalPlacement::LargestOfThree,
                _ => JournalPlacement::At(number("-J location=", value)?.into()),
            }
        }
        "map" => {
            o.journal.map = Some(match value {
                "extents" => JournalMap::Extents,
                "indirect" => JournalMap::Indirect,
                _ => {
                    return Err(format!(
                        "`-J map={value}` is not known: it is extents or indirect"
                    ));
                }
            });
        }
        _ => {
            return Err(format!(
                "`-J` knows size=, location= and map=, not `{name}`"
            ));
        }
    }
    Ok(())
}

fn extended(name: &str, value: &str, o: &mut Options) -> Result<(), String> {
    let word = format!("-E {name}=");
    match name {
        "stride" => o.stride = number(&word, value)?.try_into().unwrap_or(u16::MAX),
        "stripe-width" | "stripe_width" => o.stripe_width = number(&word, value)?,
        "resize" => o.resize = Some(number(&word, value)?.into()),
        "lazy_itable_init" => {
            o.lazy_itable_init = Some(value.is_empty() || number(&word, value)? != 0)
        }
        "packed_meta_blocks" => {
            o.packed_meta_blocks = value.is_empty() || number(&word, value)? != 0
        }
        "num_backup_sb" => o.backups = Some(number(&word, value)?),
        _ => {
            let near = nearest(&format!("{name}="), &EXTENDED)
                .map(|n| format!("; did you mean `{n}`?"))
                .unwrap_or_default();
            return Err(format!("`-E` knows no `{name}` here{near}"));
        }
    }
    Ok(())
}

fn number(word: &str, value: &str) -> Result<u32, String> {
    size(value)
        .and_then(|n| u32::try_from(n).ok())
        .ok_or_else(|| format!("`{word}` wants a number, not `{value}`"))
}
