//! `-E` and `-J`: lists of words.

use super::number::{bytes, plain, uuid};
use anyhow::{anyhow, bail};
use fslab_engine::ext4::layout::EXT4_MAGIC;
use fslab_engine::ext4::mkfs::{JournalPlacement, Options, QuotaTypes};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};

/// The words of a list, each with its value.
fn words(list: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let words = list.split(',').take_while(|word| !word.is_empty());
    words.map(|word| match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    })
}

/// What `-E` says of the medium and not of the filesystem.
#[derive(Default)]
pub struct Place {
    /// Bytes before the filesystem.
    pub offset: u64,
}

/// A number that mke2fs takes as 0 where it is none.
fn loose(value: Option<&str>) -> u64 {
    value.map_or(1, |v| plain(v).unwrap_or(0))
}

/// `-E`; `unit` is the bytes of a block, for numbers without a unit.
pub fn extended(list: &str, unit: u64, o: &mut Options) -> anyhow::Result<Place> {
    let mut place = Place::default();
    let mut flags = None;
    for (name, value) in words(list) {
        let bad = || anyhow!("Bad option(s) specified: {name}");
        // Those without a value, or with one that may be left out.
        match name {
            "lazy_itable_init" => o.lazy_itable_init = Some(loose(value) != 0),
            // Nothing was in the journal's blocks: they are zero either way.
            "lazy_journal_init" | "discard" | "nodiscard" | "no_copy_xattrs" => {}
            "assume_storage_prezeroed" if loose(value) == 0 => {}
            "assume_storage_prezeroed" => o.lazy_itable_init = Some(false),
            "packed_meta_blocks" => o.packed_meta_blocks = loose(value) != 0,
            "test_fs" => o.test_fs = true,
            "root_owner" if value.is_none() => {
                let me = std::fs::metadata("/proc/self")?;
                o.root_owner = (me.uid(), me.gid());
            }
            _ => {
                let value = value.ok_or_else(bad)?;
                match name {
                    "offset" => place.offset = number(value, "Invalid offset: ")?,
                    "encoding_flags" => flags = Some(value),
                    _ if with_value(name, value, unit, o)? => {}
                    _ => return Err(bad()),
                }
            }
        }
    }
    if let Some(flags) = flags {
        encoding_flags(flags, o)?;
    }
    Ok(place)
}

/// A number, or the words for one that is none.
fn number(value: &str, what: &str) -> anyhow::Result<u64> {
    plain(value).ok_or_else(|| anyhow!("{what}{value}"))
}

/// An option that needs a value; whether there is one of that name.
fn with_value(name: &str, value: &str, unit: u64, o: &mut Options) -> anyhow::Result<bool> {
    // The fields are of 16 and 32 bits: mke2fs drops what is above.
    match name {
        "stride" => o.stride = number(value, "Invalid stride parameter: ")? as u16,
        "stripe-width" | "stripe_width" => {
            o.stripe_width = number(value, "Invalid stripe-width parameter: ")? as u32;
        }
        "mmp_update_interval" => {
            let seconds = number(value, "Invalid mmp_update_interval: ")? as u32;
            o.mmp_interval = seconds.try_into().unwrap_or(u16::MAX);
        }
        "resize" => {
            let size = bytes(value, unit).filter(|size| *size >= unit);
            let size = size.ok_or_else(|| anyhow!("Invalid resize parameter: {value}"))?;
            o.resize = Some(size / unit);
        }
        "num_backup_sb" => {
            let n = number(value, "Invalid # of backup superblocks: ")?;
            o.backups = Some(n.try_into().unwrap_or(u32::MAX));
        }
        "desc_size" | "desc-size" => {
            o.desc_size_late = o.resize.is_some();
            let size = plain(value).and_then(|n| n.try_into().ok());
            o.desc_size = Some(size.ok_or_else(|| anyhow!("Invalid desc_size: '{value}'"))?);
        }
        "orphan_file_size" => {
            let size = bytes(value, unit).filter(|size| *size >= unit);
            let size = size.ok_or_else(|| anyhow!("Invalid size of orphan file {value}"))?;
            o.orphan_blocks = Some(size / unit);
        }
        "hash_seed" => {
            o.hash_seed = uuid(value).ok_or_else(|| anyhow!("Invalid hash seed: {value}"))?;
        }
        "root_owner" => {
            let owner = value.split_once(':');
            let owner = owner.and_then(|(u, g)| Some((plain(u)? as u32, plain(g)? as u32)));
            o.root_owner = owner.ok_or_else(|| anyhow!("Invalid root_owner: '{value}'"))?;
        }
        "quotatype" => o.quota_types = Some(quota_types(value)?),
        "encoding" => match value {
            "utf8" | "utf8-12.1" => o.encoding = true,
            _ => bail!("Invalid encoding: {value}"),
        },
        _ => return Ok(false),
    }
    Ok(true)
}

fn quota_types(list: &str) -> anyhow::Result<QuotaTypes> {
    let mut types = QuotaTypes {
        users: false,
        groups: false,
        projects: false,
    };
    for name in list.split(':') {
        let (on, bare) = match name.strip_prefix('^') {
            Some(bare) => (false, bare),
            None => (true, name),
        };
        match bare {
            "usrquota" | "usr" => types.users = on,
            "grpquota" | "grp" => types.groups = on,
            "prjquota" | "prj" => types.projects = on,
            _ => bail!("Failed to parse quota type at {name}"),
        }
    }
    Ok(types)
}

fn encoding_flags(list: &str, o: &mut Options) -> anyhow::Result<()> {
    let named = |list: &String| list.split([',', ' ']).any(|f| f == "casefold");
    if !o.encoding && !o.features.iter().any(named) {
        bail!("error: An encoding must be explicitly specified when passing encoding-flags");
    }
    for flag in list.split('-') {
        match flag {
            "strict" => o.encoding_strict = true,
            "nostrict" => o.encoding_strict = false,
            _ => bail!("error: Invalid encoding flag: {list}"),
        }
    }
    Ok(())
}

/// `-J`; answers the journal device, which mke2fs looks at first.
pub fn journal(list: &str, o: &mut Options) -> anyhow::Result<(Option<String>, Option<String>)> {
    let (mut device, mut location) = (None, None);
    for (name, value) in words(list) {
        let bad = || anyhow!("Bad journal options specified.");
        let value = value.ok_or_else(bad)?;
        match name {
            "size" => o.journal.megabytes = Some(plain(value).ok_or_else(bad)?),
            "fast_commit_size" => {
                o.journal.fast_commit_kilobytes = Some(plain(value).ok_or_else(bad)?);
            }
            "location" => location = Some(value.to_string()),
            "device" => device = Some(value.to_string()),
            _ => return Err(bad()),
        }
    }
    Ok((device, location))
}

/// `-J location`: a block, or bytes with a unit; what is no number is block 0.
pub fn location(text: &str, unit: u64) -> JournalPlacement {
    JournalPlacement::At(bytes(text, unit).map_or(0, |at| at / unit))
}

/// `-J device`: why not. mke2fs takes block devices only, fslab writes to files only.
pub fn journal_device(device: &str) -> anyhow::Error {
    let opening = |why: &str| anyhow!("{why} while trying to open journal device {device}");
    let mut head = [0; 2048];
    let file = match std::fs::File::open(device) {
        Ok(file) => file,
        Err(_) => return opening("No such file or directory"),
    };
    if file.read_exact_at(&mut head, 0).is_err() {
        return opening("Attempt to read block from filesystem resulted in short read");
    }
    if head[1024 + 0x38..1024 + 0x3A] != EXT4_MAGIC.to_le_bytes() {
        return opening("Bad magic number in super-block");
    }
    let meta = file.metadata();
    if meta.is_ok_and(|meta| meta.file_type().is_block_device()) {
        anyhow!("a journal on another device is not supported by fslab's mkfs")
    } else {
        anyhow!(
            "Supplied journal device not a block device while trying to add journal to device {device}"
        )
    }
}
