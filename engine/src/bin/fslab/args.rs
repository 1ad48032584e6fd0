//! The command line.

use clap::{Args, Parser, Subcommand};
use fslab_engine::ext4::read::SuperblockAt;
use std::ffi::OsString;

/// Look inside ext2, ext3 and ext4 images, make them and change them
///
/// IMG is a file or device: a filesystem, a disk with partitions (IMG:2 chooses the second),
/// or either of them compressed, as qcow2 or as an Android sparse image. Looking never writes
/// to it. Commands that change something take a plain image of a filesystem, and change it only
/// when all went well.
#[derive(Parser, Debug)]
#[command(name = "fslab", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  fslab ls -i x.img /etc            the names in a directory, with their inodes
  fslab extents x.img /etc/passwd   where a file's blocks are
  fslab stat x.img '<12>'           an inode by its number, in quotes for the shell
  fslab search x.img block 5000     whose a block is
  fslab blocks x.img 1 --hex        the same, with every field and byte in it
  fslab cat x.img /etc/passwd       what is in a file";

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Show the filesystem at a glance
    Info(InfoArgs),
    /// List directories
    Ls(LsArgs),
    /// Write a file's contents to standard output
    Cat(CatArgs),
    /// Explain an inode
    Stat(StatArgs),
    /// Show where a file's blocks are, as a tree
    Extents(ExtentsArgs),
    /// Show what every block is
    Map(MapArgs),
    /// Show the journal: its transactions, and what a replay would do
    Journal(JournalArgs),
    /// Explain blocks: whose they are, and every field in them
    Blocks(BlocksArgs),
    /// List the block groups
    Groups(GroupsArgs),
    /// Find what a path or number names
    Search(SearchArgs),
    /// Make an empty filesystem in a file, by mke2fs's options
    Mkfs(Box<crate::mkfs::MkfsArgs>),
    /// Write a file's contents, from a file or standard input
    Write(crate::change::WriteArgs),
    /// Remove files, and with -r directories
    Rm(crate::change::RmArgs),
    /// Make directories
    Mkdir(crate::change::MkdirArgs),
    /// Remove empty directories
    Rmdir(crate::change::RmdirArgs),
    /// Make a link
    Ln(crate::change::LnArgs),
    /// Rename
    Mv(crate::change::MvArgs),
    /// Set permissions
    Chmod(crate::change::ChmodArgs),
    /// Set owner and group
    Chown(crate::change::ChownArgs),
    /// Give a file a length
    Truncate(crate::change::TruncateArgs),
    /// Preallocate, punch, zero, collapse or insert a range of a file
    Fallocate(crate::change::FallocateArgs),
    /// Set or remove an extended attribute
    Setfattr(crate::change::SetfattrArgs),
    /// Measure the simulated devices on their own
    Device(crate::device::DeviceArgs),
    /// Run a scenario and tell what came of it
    Run(crate::run::RunArgs),
    /// Pull the plug of a run and tell what every disk that this could leave becomes
    Crash(crate::crash::CrashArgs),
    /// Turn a scenario into a share link, or a link back into its scenario
    Link(crate::link::LinkArgs),
    /// Turn a recording of a real program into a scenario
    Import(crate::import::ImportArgs),
}

/// What to open, and how to show it.
#[derive(Args, Debug)]
pub struct Source {
    /// Image, with the partition's number where it is a whole disk
    #[arg(value_name = "IMG[:PARTITION]")]
    pub image: OsString,

    #[command(flatten)]
    pub how: How,
}

#[derive(Args, Debug)]
pub struct How {
    /// Which superblock to go by: "primary", or "backup:GROUP:BLOCKSIZE" as "backup:1:4096"
    #[arg(long, value_name = "WHICH", value_parser = superblock)]
    pub superblock: Option<SuperblockAt>,

    #[command(flatten)]
    pub replay: Replay,

    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct Replay {
    /// Look at it as it would be after the journal's replay; the image is left alone
    #[arg(long)]
    pub replayed: bool,

    /// The journal, where the filesystem keeps it on another device
    #[arg(long, value_name = "IMG[:PARTITION]")]
    pub external: Option<OsString>,
}

#[derive(Args, Debug)]
pub struct JournalArgs {
    #[command(flatten)]
    pub source: Source,
    /// Show every copy of this block that the journal still holds
    #[arg(long, value_name = "N")]
    pub block: Option<u64>,
    /// Search the log for older transactions as well
    #[arg(long)]
    pub history: bool,
    /// Tell every block of the log, and what a replay does with it
    #[arg(long)]
    pub blocks: bool,
    /// Show the fields of the journal's superblock (with --block: of each copy) as well
    #[arg(long)]
    pub fields: bool,
}

#[derive(Args, Debug)]
pub struct InfoArgs {
    #[command(flatten)]
    pub source: Source,
    /// Show every field of the superblock as well
    #[arg(long)]
    pub fields: bool,
}

#[derive(Args, Debug)]
pub struct LsArgs {
    #[command(flatten)]
    pub source: Source,
    /// Path from the root, or an inode as '<12>'
    #[arg(default_value = "/")]
    pub path: String,
    /// List directories below as well
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// Show inode numbers
    #[arg(short, long)]
    pub inode: bool,
}

#[derive(Args, Debug)]
pub struct CatArgs {
    /// Image, with the partition's number where it is a whole disk
    #[arg(value_name = "IMG[:PARTITION]")]
    pub image: OsString,
    /// Path from the root, or an inode as '<12>'
    #[arg(required_unless_present = "inode", conflicts_with = "inode")]
    pub path: Option<String>,
    /// The inode to read, whatever it is
    #[arg(long, value_name = "N")]
    pub inode: Option<u32>,
    /// Which superblock to go by: "primary", or "backup:GROUP:BLOCKSIZE"
    #[arg(long, value_name = "WHICH", value_parser = superblock)]
    pub superblock: Option<SuperblockAt>,
    #[command(flatten)]
    pub replay: Replay,
}

#[derive(Args, Debug)]
pub struct StatArgs {
    #[command(flatten)]
    pub source: Source,
    /// Path from the root (a symbolic link is not followed), or an inode as '<12>'
    pub path: String,
    /// Show every field of the inode as well
    #[arg(long)]
    pub fields: bool,
}

#[derive(Args, Debug)]
pub struct ExtentsArgs {
    #[command(flatten)]
    pub source: Source,
    /// Path from the root (a symbolic link is not followed), or an inode as '<12>'
    pub path: String,
}

#[derive(Args, Debug)]
pub struct MapArgs {
    #[command(flatten)]
    pub source: Source,
    /// List every run of blocks: first-last, kind, inode
    #[arg(long)]
    pub runs: bool,
    /// Tell owners by path as well (with --runs)
    #[arg(long, requires = "runs")]
    pub names: bool,
}

#[derive(Args, Debug)]
pub struct BlocksArgs {
    #[command(flatten)]
    pub source: Source,
    /// Blocks: a number, or the first and last of several as 10-20; at most 4096 in all
    #[arg(required = true, value_name = "N[-M]", value_parser = range)]
    pub blocks: Vec<(u64, u64)>,
    /// Show the bytes as well (with --json: give them)
    #[arg(long)]
    pub hex: bool,
}

#[derive(Args, Debug)]
pub struct GroupsArgs {
    #[command(flatten)]
    pub source: Source,
    /// The groups to list, as 10-20; all where none is given
    #[arg(value_name = "N[-M]", value_parser = range)]
    pub groups: Option<(u64, u64)>,
}

#[derive(Args, Debug)]
pub struct SearchArgs {
    #[command(flatten)]
    pub source: Source,
    /// A path that starts with /, "inode 12", "<12>", "block 34", "group 5", or a number
    #[arg(required = true, num_args = 1..)]
    pub text: Vec<String>,
}

fn superblock(text: &str) -> Result<SuperblockAt, String> {
    let expected =
        || "expected \"primary\" or \"backup:GROUP:BLOCKSIZE\", as \"backup:1:4096\"".to_string();
    let parts: Vec<&str> = text.split(':').collect();
    match parts[..] {
        ["primary"] => Ok(SuperblockAt::Primary),
        ["backup", group, size] => {
            let group: u32 = group.parse().map_err(|_| expected())?;
            let block_size: u32 = size.parse().map_err(|_| expected())?;
            if group == 0 {
                return Err("group 0 holds the primary; backups are in groups from 1".into());
            }
            if !(1024..=65536).contains(&block_size) || !block_size.is_power_of_two() {
                return Err("block sizes are powers of two from 1024 to 65536".into());
            }
            Ok(SuperblockAt::Backup { group, block_size })
        }
        _ => Err(expected()),
    }
}

fn range(text: &str) -> Result<(u64, u64), String> {
    let number = |digits: &str| {
        digits
            .parse::<u64>()
            .map_err(|_| format!("\"{digits}\" is not a number"))
    };
    let (from, to) = match text.split_once('-') {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (number(text)?, number(text)?),
    };
    if from > to {
        return Err(format!("{from} is past {to}"));
    }
    Ok((from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn superblocks_and_ranges() {
        let backup = SuperblockAt::Backup {
            group: 1,
            block_size: 4096,
        };
        assert_eq!(superblock("backup:1:4096"), Ok(backup));
        assert_eq!(superblock("primary"), Ok(SuperblockAt::Primary));
        assert!(superblock("backup:0:4096").is_err());
        assert!(superblock("backup:1:4097").is_err());
        assert!(superblock("backup").is_err());
        assert_eq!(range("10-20"), Ok((10, 20)));
        assert_eq!(range("7"), Ok((7, 7)));
        assert!(range("20-10").is_err());
        assert!(range("-1").is_err());
    }
}
