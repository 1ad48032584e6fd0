//! `fslab mkfs`: makes a filesystem in a file, by mke2fs's options.

use crate::out;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use fslab_engine::disk::{CowDisk, ReadAt};
use fslab_engine::ext4::mkfs::{self, FsType, JournalPlacement, Made, Options};
use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Args, Debug)]
pub struct MkfsArgs {
    /// Type: ext2, ext3 or ext4
    #[arg(short = 't', value_name = "TYPE", default_value = "ext2")]
    fs_type: String,
    /// Usage types, as small or largefile
    #[arg(short = 'T', value_name = "USAGE", value_delimiter = ',')]
    usage: Vec<String>,
    /// Bytes of a block
    #[arg(short = 'b', value_name = "BYTES")]
    block_size: Option<u32>,
    /// Bytes of a cluster
    #[arg(short = 'C', value_name = "BYTES")]
    cluster_size: Option<String>,
    /// Blocks of a group
    #[arg(short = 'g', value_name = "BLOCKS")]
    blocks_per_group: Option<u32>,
    /// Groups of a flex group
    #[arg(short = 'G', value_name = "GROUPS")]
    flex_groups: Option<u32>,
    /// Bytes of the filesystem for each inode
    #[arg(short = 'i', value_name = "BYTES")]
    inode_ratio: Option<String>,
    /// Bytes of an inode
    #[arg(short = 'I', value_name = "BYTES")]
    inode_size: Option<u32>,
    /// Inodes
    #[arg(short = 'N', value_name = "COUNT")]
    inodes: Option<u64>,
    /// Percent of blocks reserved for the super-user
    #[arg(short = 'm', value_name = "PERCENT")]
    reserved: Option<f64>,
    /// Label
    #[arg(short = 'L', value_name = "TEXT", default_value = "")]
    label: String,
    /// Where it was last mounted
    #[arg(short = 'M', value_name = "PATH", default_value = "")]
    last_mounted: String,
    /// Identity: a UUID, "random" or "clear"
    #[arg(short = 'U', value_name = "UUID", default_value = "random")]
    uuid: String,
    /// What to do on an error: continue, remount-ro or panic
    #[arg(short = 'e', value_name = "WHAT")]
    errors: Option<String>,
    /// With a journal
    #[arg(short = 'j')]
    journal: bool,
    /// The journal: size=MIB, location=BLOCK, fast_commit_size=KIB
    #[arg(short = 'J', value_name = "LIST")]
    journal_options: Option<String>,
    /// Features; ^ before one takes it away
    #[arg(short = 'O', value_name = "LIST")]
    features: Vec<String>,
    /// Extended options
    #[arg(short = 'E', value_name = "LIST")]
    extended: Option<String>,
    /// Revision: 1, or 0 for the first
    #[arg(short = 'r', value_name = "REVISION")]
    revision: Option<u32>,
    /// Say nothing
    #[arg(short = 'q')]
    quiet: bool,
    /// Accepted and ignored: nothing is asked
    #[arg(short = 'F')]
    force: bool,
    /// Write nothing, only say what would be made
    #[arg(short = 'n')]
    dry: bool,
    /// Where the journal goes: default, largest-of-three or first-free
    #[arg(long, value_name = "WHERE")]
    journal_placement: Option<String>,
    /// The time to take for now, seconds since 1970
    #[arg(long, value_name = "SECONDS")]
    now: Option<u32>,
    /// The file
    file: String,
    /// Blocks, or a size as 64M; the file's own where left out
    size: Option<String>,
}

pub fn run(a: &MkfsArgs) -> anyhow::Result<()> {
    let path = Path::new(&a.file);
    let bytes = match &a.size {
        Some(text) => size(text, u64::from(a.block_size.unwrap_or(1024)))
            .filter(|n| *n > 0)
            .ok_or_else(|| anyhow!("invalid blocks '{text}' on device '{}'", a.file))?,
        None => std::fs::metadata(path).context(a.file.clone())?.len(),
    };
    let options = options(a)?;
    if a.dry {
        let made = mkfs::plan(&options, bytes)?;
        return say(&made, &options);
    }
    let mut disk = CowDisk::new(bytes);
    let made = mkfs::mkfs(&options, &mut disk, bytes)?;
    export(&disk, path).with_context(|| a.file.clone())?;
    if a.quiet {
        Ok(())
    } else {
        say(&made, &options)
    }
}

fn say(made: &Made, options: &Options) -> anyhow::Result<()> {
    use std::io::Write;
    let mut text = format!(
        "Creating filesystem with {} {}k blocks and {} inodes\nFilesystem UUID: {}\n",
        made.blocks,
        made.block_size / 1024,
        made.inodes,
        uuid_text(&options.uuid),
    );
    let backups: Vec<String> = made.backups.iter().map(ToString::to_string).collect();
    if !backups.is_empty() {
        text += &format!(
            "Superblock backups stored on blocks: {}\n",
            backups.join(", ")
        );
    }
    if made.journal_blocks > 0 {
        text += &format!("Journal of {} blocks\n", made.journal_blocks);
    }
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// Writes the disk's contents to a file, leaving holes for what is zero.
fn export(disk: &CowDisk, path: &Path) -> anyhow::Result<()> {
    let mut open = OpenOptions::new();
    let file = open.write(true).create(true).truncate(false).open(path)?;
    if !file.metadata()?.is_file() {
        bail!("not a regular file: fslab writes to image files only");
    }
    let len = file.metadata()?.len().max(disk.len());
    // Old contents go, as by mke2fs's discard.
    file.set_len(0)?;
    file.set_len(len)?;
    let mut buf = vec![0; 1 << 20];
    for (start, len) in disk.data() {
        let mut at = start;
        while at < start + len {
            let n = buf.len().min((start + len - at) as usize);
            disk.read_at(at, &mut buf[..n])?;
            file.write_all_at(&buf[..n], at)?;
            at += n as u64;
        }
    }
    Ok(())
}

/// A number with a unit: s, K, M, G, T; in `unit` bytes where none is given.
fn size(text: &str, unit: u64) -> Option<u64> {
    let (digits, unit) = match text.chars().last()? {
        's' => (&text[..text.len() - 1], 512),
        'k' | 'K' => (&text[..text.len() - 1], 1 << 10),
        'm' | 'M' => (&text[..text.len() - 1], 1 << 20),
        'g' | 'G' => (&text[..text.len() - 1], 1 << 30),
        't' | 'T' => (&text[..text.len() - 1], 1 << 40),
        _ => (text, unit),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

fn small(text: &str, what: &str) -> anyhow::Result<u32> {
    let n = size(text, 1).and_then(|n| u32::try_from(n).ok());
    n.ok_or_else(|| anyhow!("invalid {what} - {text}"))
}

fn options(a: &MkfsArgs) -> anyhow::Result<Options> {
    let mut o = Options {
        fs_type: match a.fs_type.as_str() {
            "ext2" => FsType::Ext2,
            "ext3" => FsType::Ext3,
            "ext4" => FsType::Ext4,
            other => bail!("Your mke2fs.conf file does not define the {other} filesystem type"),
        },
        usage: a.usage.clone(),
        block_size: a.block_size,
        blocks_per_group: a.blocks_per_group,
        flex_groups: a.flex_groups,
        inode_size: a.inode_size,
        inodes: a.inodes,
        reserved_percent: a.reserved,
        label: a.label.clone().into_bytes(),
        last_mounted: a.last_mounted.clone().into_bytes(),
        features: a.features.clone(),
        revision: a.revision,
        ..Options::default()
    };
    if let Some(text) = &a.cluster_size {
        o.cluster_size = Some(small(text, "cluster size")?);
    }
    if let Some(text) = &a.inode_ratio {
        o.inode_ratio = Some(small(text, "inode ratio")?);
    }
    if a.label.len() > 16 {
        out::note(format!(
            "label too long; will be truncated to '{}'",
            String::from_utf8_lossy(&a.label.as_bytes()[..16])
        ));
    }
    o.errors = match a.errors.as_deref() {
        None => None,
        Some("continue") => Some(1),
        Some("remount-ro") => Some(2),
        Some("panic") => Some(3),
        Some(other) => bail!("bad error behavior - {other}"),
    };
    o.uuid = match a.uuid.as_str() {
        "clear" | "null" => [0; 16],
        "random" => random_uuid()?,
        text => uuid(text).ok_or_else(|| anyhow!("could not parse UUID: {text}"))?,
    };
    o.hash_seed = random_uuid()?;
    o.now = match a.now {
        Some(now) => now,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs() as u32,
    };
    o.journal.wanted = a.journal || a.journal_options.is_some();
    journal_options(a, &mut o)?;
    extended(a, &mut o)?;
    Ok(o)
}

fn journal_options(a: &MkfsArgs, o: &mut Options) -> anyhow::Result<()> {
    let unit = u64::from(a.block_size.unwrap_or(1024));
    for word in a.journal_options.iter().flat_map(|list| list.split(',')) {
        let bad = || anyhow!("Bad journal options specified: {word}");
        match word.split_once('=') {
            Some(("size", n)) => o.journal.megabytes = Some(n.parse().map_err(|_| bad())?),
            Some(("fast_commit_size", n)) => {
                o.journal.fast_commit_kilobytes = Some(n.parse().map_err(|_| bad())?);
            }
            Some(("location", n)) => {
                let bytes = size(n, unit).ok_or_else(bad)?;
                o.journal.placement = JournalPlacement::At(bytes / unit);
            }
            _ => return Err(bad()),
        }
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

fn extended(a: &MkfsArgs, o: &mut Options) -> anyhow::Result<()> {
    for word in a.extended.iter().flat_map(|list| list.split(',')) {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let bad = || anyhow!("Bad option(s) specified: {word}");
        let on = || value.is_none_or(|v| v != "0");
        let number = || value.and_then(|v| v.parse::<u32>().ok()).ok_or_else(bad);
        match name {
            "stride" => o.stride = number()?.try_into().map_err(|_| bad())?,
            "stripe-width" | "stripe_width" => o.stripe_width = number()?,
            "resize" => {
                let unit = u64::from(a.block_size.unwrap_or(4096));
                let bytes = value.and_then(|v| size(v, unit)).ok_or_else(bad)?;
                o.resize = Some(bytes / unit);
            }
            "lazy_itable_init" => o.lazy_itable_init = Some(on()),
            // Nothing was in the journal's blocks: they are zero either way.
            "lazy_journal_init" | "discard" | "nodiscard" | "no_copy_xattrs" => {}
            "packed_meta_blocks" => o.packed_meta_blocks = on(),
            "num_backup_sb" => o.backups = Some(number()?),
            "mmp_update_interval" => o.mmp_interval = number()?.try_into().map_err(|_| bad())?,
            "test_fs" => o.test_fs = true,
            "hash_seed" => {
                let seed = value.and_then(uuid);
                o.hash_seed = seed.ok_or_else(|| anyhow!("Invalid hash seed: {word}"))?;
            }
            "root_owner" => {
                let owner = value.and_then(|v| v.split_once(':'));
                let owner = owner.and_then(|(u, g)| Some((u.parse().ok()?, g.parse().ok()?)));
                o.root_owner = owner.ok_or_else(|| anyhow!("Invalid root_owner: '{word}'"))?;
            }
            _ => return Err(bad()),
        }
    }
    Ok(())
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    if groups != [8, 4, 4, 4, 12] {
        return None;
    }
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b'-').collect();
    let mut bytes = [0; 16];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).ok()?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some(bytes)
}

fn uuid_text(uuid: &[u8; 16]) -> String {
    let hex: String = uuid.iter().map(|b| format!("{b:02x}")).collect();
    [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ]
    .join("-")
}

/// A UUID of version 4 from the system's random numbers.
fn random_uuid() -> anyhow::Result<[u8; 16]> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    Ok(bytes)
}
