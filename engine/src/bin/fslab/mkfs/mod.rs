//! `fslab mkfs`: makes a filesystem in a file, by mke2fs's options.

mod extended;
mod image;
pub mod number;
mod options;

use crate::out;
use anyhow::Context;
use clap::Args;
use fslab_engine::disk::CowDisk;
use fslab_engine::ext4::mkfs::{self, Made, Options};
use std::path::Path;

/// Options are text here: what is wrong with one is said in mke2fs's words. Of one given
/// twice the last counts.
#[derive(Args, Debug)]
#[command(args_override_self = true)]
pub struct MkfsArgs {
    /// Type: ext2, ext3 or ext4 (ext2 where left out)
    #[arg(short = 't', value_name = "TYPE", action = clap::ArgAction::Append)]
    fs_type: Vec<String>,
    /// Usage types, as small or largefile
    #[arg(short = 'T', value_name = "USAGE", action = clap::ArgAction::Append)]
    usage: Vec<String>,
    /// Bytes of a block; with a minus sign, at least so many
    #[arg(short = 'b', value_name = "BYTES", allow_hyphen_values = true)]
    block_size: Option<String>,
    /// Bytes of a cluster
    #[arg(short = 'C', value_name = "BYTES", allow_hyphen_values = true)]
    cluster_size: Option<String>,
    /// Blocks of a group
    #[arg(short = 'g', value_name = "BLOCKS", allow_hyphen_values = true)]
    blocks_per_group: Option<String>,
    /// Groups of a flex group
    #[arg(short = 'G', value_name = "GROUPS", allow_hyphen_values = true)]
    flex_groups: Option<String>,
    /// Bytes of the filesystem for each inode
    #[arg(short = 'i', value_name = "BYTES", allow_hyphen_values = true)]
    inode_ratio: Option<String>,
    /// Bytes of an inode
    #[arg(short = 'I', value_name = "BYTES", allow_hyphen_values = true)]
    inode_size: Option<String>,
    /// Inodes
    #[arg(short = 'N', value_name = "COUNT", allow_hyphen_values = true)]
    inodes: Option<String>,
    /// Percent of blocks reserved for the super-user
    #[arg(short = 'm', value_name = "PERCENT", allow_hyphen_values = true)]
    reserved: Option<String>,
    /// Label
    #[arg(short = 'L', value_name = "TEXT", default_value = "")]
    label: String,
    /// Where it was last mounted
    #[arg(short = 'M', value_name = "PATH", default_value = "")]
    last_mounted: String,
    /// Identity: a UUID, "random", "time" or "clear"
    #[arg(short = 'U', value_name = "UUID", default_value = "random")]
    uuid: String,
    /// What to do on an error: continue, remount-ro or panic
    #[arg(short = 'e', value_name = "WHAT")]
    errors: Option<String>,
    /// With a journal
    #[arg(short = 'j', overrides_with = "journal")]
    journal: bool,
    /// The journal: size=MIB, location=BLOCK, fast_commit_size=KIB
    #[arg(short = 'J', value_name = "LIST", action = clap::ArgAction::Append)]
    journal_options: Vec<String>,
    /// Features; ^ before one takes it away
    #[arg(short = 'O', value_name = "LIST", action = clap::ArgAction::Append)]
    features: Vec<String>,
    /// Extended options: stride, stripe_width, resize, lazy_itable_init, offset, …
    #[arg(short = 'E', value_name = "LIST")]
    extended: Option<String>,
    /// The same by its old name
    #[arg(short = 'R', value_name = "LIST", hide = true)]
    raid: Option<String>,
    /// Revision: 1, or 0 for the first
    #[arg(short = 'r', value_name = "REVISION", allow_hyphen_values = true)]
    revision: Option<String>,
    /// Who made it: linux, freebsd, lites or a number
    #[arg(short = 'o', value_name = "OS")]
    creator_os: Option<String>,
    /// With sparse superblocks or (0) without; the old form of -O sparse_super
    #[arg(short = 's', value_name = "0|1", hide = true)]
    sparse: Option<String>,
    /// Say nothing
    #[arg(short = 'q')]
    quiet: bool,
    /// Go on where a type is not known; else ignored, as nothing is asked
    #[arg(short = 'F', action = clap::ArgAction::Count)]
    force: u8,
    /// Write nothing, only say what would be made
    #[arg(short = 'n')]
    dry: bool,
    /// Accepted and ignored, as are -D and -K
    #[arg(short = 'v', hide = true)]
    verbose: bool,
    #[arg(short = 'D', hide = true)]
    direct: bool,
    #[arg(short = 'K', hide = true)]
    keep: bool,
    /// Where the journal goes: default, largest-of-three or first-free
    #[arg(long, value_name = "WHERE")]
    journal_placement: Option<String>,
    /// The time to take for now, seconds since 1970
    #[arg(long, value_name = "SECONDS")]
    now: Option<u32>,
    /// The file to make, or to make anew: what was in it is lost
    file: String,
    /// Blocks, or a size as 64M; the file's own where left out
    size: Option<String>,
}

pub fn run(a: &MkfsArgs) -> anyhow::Result<()> {
    let path = Path::new(&a.file);
    let asked = options::asked(a)?;
    let (options, offset) = (&asked.options, asked.offset);
    let made = mkfs::plan(options, asked.bytes)?;
    // mke2fs's only words with -q.
    for warning in &made.warnings {
        out::note(warning);
    }
    if a.dry {
        return say(&made, options);
    }
    let mut disk = CowDisk::new(asked.bytes);
    let made = mkfs::mkfs(options, &mut disk, asked.bytes)?;
    image::export(&disk, path, offset).with_context(|| a.file.clone())?;
    if a.quiet { Ok(()) } else { say(&made, options) }
}

fn say(made: &Made, options: &Options) -> anyhow::Result<()> {
    use std::io::Write;
    let mut text = format!(
        "Creating filesystem with {} {}k blocks and {} inodes\nFilesystem UUID: {}\n",
        made.blocks,
        made.block_size / 1024,
        made.inodes,
        number::uuid_text(&options.uuid),
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
