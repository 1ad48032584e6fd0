//! From the words of the command line to what mkfs is asked for. What is wrong is refused
//! in mke2fs's words.

use super::MkfsArgs;
use super::extended::{self, Place};
use super::number::{bytes, plain, uuid};
use crate::out;
use anyhow::{Context, anyhow, bail};
use fslab_engine::ext4::mkfs::{FsType, JournalPlacement, Options};
use std::io::{ErrorKind, Read};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes of a block where `-b` does not say: the unit of sizes, not yet of the filesystem.
const UNIT: u64 = 1024;

/// What is asked for.
pub struct Asked {
    pub options: Options,
    /// Bytes of the filesystem.
    pub bytes: u64,
    /// Bytes before it.
    pub offset: u64,
}

pub fn asked(a: &MkfsArgs) -> anyhow::Result<Asked> {
    let mut o = Options::default();
    sizes(a, &mut o)?;
    names(a, &mut o)?;
    let unit = o.block_size.map_or(UNIT, u64::from);
    journal(a, &mut o, unit)?;
    let mut size = size(a, unit)?;
    o.fs_type = fs_type(a, &o)?;
    let place = match (&a.extended, &a.raid) {
        // A size is told in blocks of the filesystem, 4 KiB as a rule.
        (Some(list), _) | (None, Some(list)) => {
            let unit = o.block_size.unwrap_or(default_block(size)).into();
            extended::extended(list, unit, &mut o)?
        }
        _ => Place::default(),
    };
    if a.size.is_none() && place.offset > 0 {
        size = size.saturating_sub(place.offset);
        out::note("Warning: offset specified without an explicit file system size.");
    }
    Ok(Asked {
        options: o,
        bytes: size,
        offset: place.offset,
    })
}

/// Bytes of a block as mke2fs.conf has them for a size.
fn default_block(bytes: u64) -> u32 {
    if bytes < 512 << 20 { 1024 } else { 4096 }
}

fn size(a: &MkfsArgs, unit: u64) -> anyhow::Result<u64> {
    match &a.size {
        Some(text) => bytes(text, unit)
            .filter(|n| *n >= unit)
            .ok_or_else(|| anyhow!("invalid blocks '{text}' on device '{}'", a.file)),
        None => match std::fs::metadata(&a.file) {
            Err(e) if e.kind() == ErrorKind::NotFound => {
                bail!("{}: {e}; to make it, say how large, as 64M", a.file)
            }
            found => Ok(found.context(a.file.clone())?.len()),
        },
    }
}

/// A number of 32 bits from text that must be one.
fn number(text: &str, wrong: impl FnOnce() -> String) -> anyhow::Result<u32> {
    let n = plain(text).and_then(|n| u32::try_from(n).ok());
    n.ok_or_else(|| anyhow!(wrong()))
}

/// A number of bytes, with or without a unit, from `least` to `most`.
fn between(text: &str, least: u64, most: u64) -> Option<u32> {
    let n = bytes(text, 1).filter(|n| (least..=most).contains(n))?;
    u32::try_from(n).ok()
}

/// Options that are numbers.
fn sizes(a: &MkfsArgs, o: &mut Options) -> anyhow::Result<()> {
    if let Some(text) = &a.block_size {
        let wrong = || anyhow!("invalid block size - {text}");
        let (bare, least) = match text.strip_prefix('-') {
            Some(bare) => (bare, true),
            None => (text.as_str(), false),
        };
        let size = between(bare, 1024, 65536).ok_or_else(wrong)?;
        if least {
            o.min_block_size = size;
        } else {
            // What is not a power of two is made less.
            o.block_size = Some(1 << size.ilog2());
        }
    }
    if let Some(text) = &a.cluster_size {
        let size = between(text, 1025, 512 << 20);
        o.cluster_size = Some(size.ok_or_else(|| anyhow!("invalid cluster size - {text}"))?);
    }
    if let Some(text) = &a.inode_ratio {
        let ratio = between(text, 1024, 65536 << 10);
        let wrong = || anyhow!("invalid inode ratio {text} (min 1024/max 67108864)");
        o.inode_ratio = Some(ratio.ok_or_else(wrong)?);
    }
    if let Some(text) = &a.blocks_per_group {
        let n = number(text, || "Illegal number for blocks per group".into())?;
        if n % 8 != 0 {
            bail!("blocks per group must be multiple of 8");
        }
        o.blocks_per_group = Some(n).filter(|n| *n > 0);
    }
    if let Some(text) = &a.flex_groups {
        let n = number(text, || "Illegal number for flex_bg size".into())?;
        if !n.is_power_of_two() {
            bail!("flex_bg size must be a power of 2");
        }
        o.flex_groups = Some(n);
    }
    if let Some(text) = &a.inode_size {
        let n = number(text, || format!("invalid inode size - {text}"))?;
        o.inode_size = Some(n).filter(|n| *n > 0);
    }
    if let Some(text) = &a.inodes {
        o.inodes = Some(plain(text).ok_or_else(|| anyhow!("bad num inodes - {text}"))?);
    }
    if let Some(text) = &a.reserved {
        let percent = text.trim_start().parse().ok();
        let percent = percent.filter(|p| (0.0..=50.0).contains(p));
        let wrong = || anyhow!("invalid reserved blocks percent - {text}");
        o.reserved_percent = Some(percent.ok_or_else(wrong)?);
    }
    if let Some(text) = &a.revision {
        o.revision = Some(number(text, || format!("bad revision level - {text}"))?);
    }
    Ok(())
}

/// Options that are words.
fn names(a: &MkfsArgs, o: &mut Options) -> anyhow::Result<()> {
    o.errors = match a.errors.as_deref() {
        None => None,
        Some("continue") => Some(1),
        Some("remount-ro") => Some(2),
        Some("panic") => Some(3),
        Some(other) => bail!("bad error behavior - {other}"),
    };
    if a.usage.len() > 1 {
        bail!("The -T option may only be used once");
    }
    let usage = a.usage.iter().flat_map(|list| list.split(','));
    o.usage = usage.filter(|u| !u.is_empty()).map(Into::into).collect();
    if !a.features.is_empty() {
        o.features.push(a.features.join(","));
    }
    match a.sparse.as_deref() {
        None => {}
        Some("0") => o.features.push("^sparse_super".into()),
        Some(_) => o.features.push("sparse_super".into()),
    }
    o.label = a.label.clone().into_bytes();
    if o.label.len() > 16 {
        o.label.truncate(16);
        let label = String::from_utf8_lossy(&o.label);
        out::note(format!(
            "Warning: label too long; will be truncated to '{label}'"
        ));
    }
    o.last_mounted = a.last_mounted.clone().into_bytes();
    o.creator_os = creator_os(a.creator_os.as_deref().unwrap_or("linux"))?;
    if a.keep {
        out::note("Warning: -K option is deprecated and should not be used anymore.");
    }
    if a.raid.is_some() {
        out::note("'-R' is deprecated, use '-E' instead");
    }
    o.uuid = match a.uuid.to_ascii_lowercase().as_str() {
        "clear" | "null" => [0; 16],
        "random" | "time" => random_uuid()?,
        _ => uuid(&a.uuid).ok_or_else(|| anyhow!("could not parse UUID: {}", a.uuid))?,
    };
    o.hash_seed = random_uuid()?;
    o.now = match a.now {
        Some(now) => now,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as u32,
    };
    Ok(())
}

fn creator_os(name: &str) -> anyhow::Result<u32> {
    let number = match name.to_ascii_lowercase().as_str() {
        "linux" => Some(0),
        "hurd" | "gnu" => Some(1),
        "freebsd" => Some(3),
        "lites" => Some(4),
        other => other.parse().ok(),
    };
    match number {
        None => bail!("unknown os - {name}"),
        Some(1) => bail!("a filesystem for the Hurd is not supported by fslab's mkfs"),
        Some(n) => Ok(n),
    }
}

fn fs_type(a: &MkfsArgs, o: &Options) -> anyhow::Result<FsType> {
    if a.fs_type.len() > 1 {
        bail!("The -t option may only be used once");
    }
    match a.fs_type.first().map(String::as_str) {
        // With a journal of its own it is ext3.
        None if o.journal.wanted => Ok(FsType::Ext3),
        None | Some("ext2") => Ok(FsType::Ext2),
        Some("ext3") => Ok(FsType::Ext3),
        Some("ext4") => Ok(FsType::Ext4),
        Some(other) => {
            let why = format!("Your mke2fs.conf file does not define the {other} filesystem type.");
            if a.force == 0 {
                bail!(why);
            }
            out::note(why);
            Ok(FsType::Ext2)
        }
    }
}

fn journal(a: &MkfsArgs, o: &mut Options, unit: u64) -> anyhow::Result<()> {
    let (mut device, mut location) = (None, None);
    for list in &a.journal_options {
        let (d, l) = extended::journal(list, o)?;
        device = d.or(device);
        location = l.or(location);
    }
    // -J alone asks for a journal only by its size.
    o.journal.wanted = a.journal || o.journal.megabytes.is_some_and(|n| n > 0);
    if let Some(device) = device {
        return Err(extended::journal_device(&device));
    }
    if let Some(text) = location {
        o.journal.placement = extended::location(&text, unit);
    }
    match a.journal_placement.as_deref() {
        None | Some("default") => {}
        Some("largest-of-three") => o.journal.placement = JournalPlacement::LargestOfThree,
        Some("first-free") => o.journal.placement = JournalPlacement::FirstFree,
        Some(other) => {
            bail!("journal placement is default, largest-of-three or first-free, not \"{other}\"")
        }
    }
    Ok(())
}

/// A UUID of version 4 from the system's random numbers.
fn random_uuid() -> anyhow::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    Ok(bytes)
}
