//! From the name on the command line to an opened filesystem.

use crate::args::{Replay, Source};
use crate::{out, partitions};
use anyhow::{Context, anyhow, bail};
use fslab_engine::disk::FileReader;
use fslab_engine::ext4::journal::{Journal, JournalHome, Overlay};
use fslab_engine::ext4::read::{Fs, SuperblockAt};
use fslab_engine::image::{self, Identity, Kind, Limits, Medium, Opened, PartitionTable};
use fslab_engine::view;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::rc::Rc;

/// An opened filesystem.
pub type Image = Fs<Medium>;

/// What a name leads to.
pub enum Whole {
    /// A filesystem; with the fast commits that are left out, where it is shown as after a
    /// replay.
    Fs(Image, Option<u64>),
    /// A disk, of whose partitions none is meant more than the others.
    Disk(Disk),
}

/// A disk with a partition table.
pub struct Disk {
    pub opened: Opened,
    pub table: PartitionTable,
    /// Numbers of the partitions that hold ext2, ext3 or ext4.
    pub ext: Vec<u32>,
}

/// Opens what the command line names; what is odd about it is said on stderr.
pub fn open(source: &Source) -> anyhow::Result<Image> {
    open_image(&source.image, source.how.superblock, &source.how.replay)
}

/// Opens a filesystem by name, as it is or as a replay of its journal would leave it.
pub fn open_image(
    name: &OsStr,
    superblock: Option<SuperblockAt>,
    replay: &Replay,
) -> anyhow::Result<Image> {
    let (medium, identity) = medium(name)?;
    Ok(replayed(name, medium, &identity, superblock, replay)?.0)
}

/// Opens a filesystem, or gives the partitions where it is not clear which.
pub fn open_or_list(source: &Source) -> anyhow::Result<Whole> {
    let how = &source.how;
    let (medium, identity) = match look(&source.image)? {
        Choice::One(medium, identity) => (medium, identity),
        Choice::Several(disk) => return Ok(Whole::Disk(disk)),
    };
    let (fs, left_out) = replayed(
        &source.image,
        medium,
        &identity,
        how.superblock,
        &how.replay,
    )?;
    Ok(Whole::Fs(fs, left_out))
}

/// A filesystem as the options want it; and the fast commits that a replay left out.
fn replayed(
    name: &OsStr,
    medium: Medium,
    identity: &Identity,
    superblock: Option<SuperblockAt>,
    replay: &Replay,
) -> anyhow::Result<(Image, Option<u64>)> {
    let open = |medium| filesystem(medium, superblock, identity).with_context(|| escaped(name));
    let fs = open(medium.clone())?;
    if !replay.replayed {
        out::problems(fs.problems());
        return Ok((fs, None));
    }
    let (journal, log) = journal_of(&fs, replay.external.as_deref())?;
    out::problems(journal.problems());
    let map = journal.replay_map();
    match map.len() as u64 {
        0 => out::note("a replay would change nothing"),
        n => out::note(format!(
            "shown as a replay would leave it, with {} changed",
            out::count(n, "block")
        )),
    }
    let left_out = view::fast_commits_left_out(&journal);
    match left_out {
        0 => {}
        1 => out::note("1 fast commit after that is not applied"),
        n => out::note(format!("{n} fast commits after that are not applied")),
    }
    // The superblock may be among what is replayed.
    let fs = open(Rc::new(Overlay::new(medium, log, map)))?;
    out::problems(fs.problems());
    Ok((fs, Some(left_out)))
}

/// Opens a journal, with the medium that it is on: that of a filesystem, which comes with
/// it, or one in an image of its own.
pub fn open_journal(source: &Source) -> anyhow::Result<(Option<Image>, Journal, Medium)> {
    let (bytes, identity) = medium(&source.image)?;
    let name = || escaped(&source.image);
    if identity.kind == Kind::ExtJournal {
        let journal = Journal::open_device::<_, Medium>(&bytes, None).with_context(name)?;
        return Ok((None, journal, bytes));
    }
    let fs = filesystem(bytes, source.how.superblock, &identity).with_context(name)?;
    out::problems(fs.problems());
    let (journal, log) = journal_of(&fs, source.how.replay.external.as_deref())?;
    Ok((Some(fs), journal, log))
}

/// The journal of a filesystem, and the medium that it is on.
fn journal_of(fs: &Image, external: Option<&OsStr>) -> anyhow::Result<(Journal, Medium)> {
    match (Journal::home(fs), external) {
        (JournalHome::Device(_), Some(name)) => {
            let (device, _) = medium(name)?;
            let journal = Journal::open_device(&device, Some(fs)).with_context(|| escaped(name))?;
            Ok((journal, device))
        }
        (JournalHome::Device(_), None) => {
            bail!("the journal of this filesystem is on another device; name it with --external")
        }
        (_, Some(_)) => bail!("this filesystem has no journal on another device"),
        (_, None) => Ok((Journal::open(fs)?, fs.medium().clone())),
    }
}

/// What there is to choose from, and what was chosen.
enum Choice {
    One(Medium, Identity),
    Several(Disk),
}

/// The bytes of the filesystem that a name means, and what they are.
pub fn medium(name: &OsStr) -> anyhow::Result<(Medium, Identity)> {
    match look(name)? {
        Choice::One(medium, identity) => Ok((medium, identity)),
        Choice::Several(disk) => {
            partitions::lines(&disk).iter().for_each(out::note);
            Err(unclear(&disk)).with_context(|| escaped(split(name).0))
        }
    }
}

fn look(name: &OsStr) -> anyhow::Result<Choice> {
    let (file, partition) = split(name);
    let look = || {
        seekable(Path::new(file))?;
        let reader = FileReader::open(Path::new(file))?;
        let opened = image::open(Rc::new(reader), Limits::default())?;
        for layer in &opened.layers {
            out::note(&layer.text);
            layer.notes.iter().for_each(out::note);
        }
        out::problems(&opened.problems);
        choose(opened, partition)
    };
    look().with_context(|| escaped(file))
}

/// Refuses what cannot be read here and there, before opening it, which would wait for a
/// pipe's other end.
fn seekable(file: &Path) -> anyhow::Result<()> {
    let kind = std::fs::metadata(file)?.file_type();
    if kind.is_dir() {
        bail!("this is a directory; an image is a file or a device");
    }
    if kind.is_fifo() || kind.is_socket() || kind.is_char_device() {
        bail!(
            "this is {}, which can only be read from start to end; save it as a file first",
            if kind.is_fifo() {
                "a pipe"
            } else if kind.is_socket() {
                "a socket"
            } else {
                "a character device"
            }
        );
    }
    Ok(())
}

fn escaped(name: &OsStr) -> String {
    view::escape(name.as_bytes())
}

/// Splits a partition's number off, unless a file has the whole name.
fn split(name: &OsStr) -> (&OsStr, Option<u32>) {
    if Path::new(name).exists() {
        return (name, None);
    }
    let bytes = name.as_bytes();
    let colon = bytes.iter().rposition(|&b| b == b':');
    let number = colon.and_then(|at| {
        let digits = std::str::from_utf8(bytes.get(at + 1..)?).ok()?;
        Some((OsStr::from_bytes(&bytes[..at]), digits.parse().ok()?))
    });
    match number {
        Some((file, number)) => (file, Some(number)),
        None => (name, None),
    }
}

/// The partition asked for; without one, the image as a whole or its only ext partition.
fn choose(opened: Opened, partition: Option<u32>) -> anyhow::Result<Choice> {
    if let Some(number) = partition {
        let identity = opened.identify_partition(number)?;
        return Ok(Choice::One(Rc::new(opened.partition(number)?), identity));
    }
    let Some(table) = opened
        .table
        .clone()
        .filter(|_| opened.identity.kind != Kind::Ext)
    else {
        return Ok(Choice::One(opened.content, opened.identity));
    };
    table.notes.iter().for_each(out::note);
    let ext: Vec<u32> = table
        .partitions
        .iter()
        .filter(|p| !p.container)
        .map(|p| p.number)
        .filter(|&n| {
            opened
                .identify_partition(n)
                .is_ok_and(|i| i.kind == Kind::Ext)
        })
        .collect();
    if let [only] = ext[..] {
        out::note(format!(
            "partition {only} is the only one with ext2, ext3 or ext4"
        ));
        let identity = opened.identify_partition(only)?;
        return Ok(Choice::One(Rc::new(opened.partition(only)?), identity));
    }
    Ok(Choice::Several(Disk { opened, table, ext }))
}

/// Why none of a disk's partitions is taken.
pub fn unclear(disk: &Disk) -> anyhow::Error {
    match disk.ext[..] {
        [] => anyhow!("none of its partitions holds ext2, ext3 or ext4"),
        [first, ..] => anyhow!(
            "{} of its partitions hold ext2, ext3 or ext4; say which, as IMG:{first}",
            disk.ext.len()
        ),
    }
}

fn filesystem(
    medium: Medium,
    at: Option<SuperblockAt>,
    identity: &Identity,
) -> anyhow::Result<Image> {
    if let Some(at) = at {
        return Ok(Fs::open_at(medium, at)?);
    }
    match identity.kind {
        Kind::Ext => Ok(Fs::open(medium)?),
        // Only zeros or unknown bytes where the superblock should be: a backup may be left.
        Kind::Zeros | Kind::Unknown => match Fs::open(medium) {
            Ok(fs) => Ok(fs),
            Err(_) => bail!("{}", identity.sentence),
        },
        _ => bail!("{}", identity.sentence),
    }
}
