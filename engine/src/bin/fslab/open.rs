//! From the name on the command line to an opened filesystem.

use crate::args::{Replay, Source};
use crate::out;
use anyhow::{Context, bail};
use fslab_engine::disk::FileReader;
use fslab_engine::ext4::journal::{Journal, JournalHome, Overlay};
use fslab_engine::ext4::read::{Fs, SuperblockAt};
use fslab_engine::image::{self, Identity, Kind, Limits, Medium, Opened, PartitionTable};
use std::path::Path;
use std::rc::Rc;

/// An opened filesystem.
pub type Image = Fs<Medium>;

/// Opens what the command line names; what is odd about it is said on stderr.
pub fn open(source: &Source) -> anyhow::Result<Image> {
    open_image(&source.image, source.how.superblock, &source.how.replay)
}

/// Opens a filesystem by name, as it is or as a replay of its journal would leave it.
pub fn open_image(
    name: &str,
    superblock: Option<SuperblockAt>,
    replay: &Replay,
) -> anyhow::Result<Image> {
    let (medium, identity) = medium(name)?;
    let open = |medium| filesystem(medium, superblock, &identity).with_context(|| escaped(name));
    let fs = open(medium.clone())?;
    if !replay.replayed {
        out::problems(fs.problems());
        return Ok(fs);
    }
    let (journal, log) = journal_of(&fs, replay.external.as_deref())?;
    out::problems(journal.problems());
    let map = journal.replay_map();
    match map.len() {
        0 => out::note("a replay would change nothing"),
        1 => out::note("shown as a replay would leave it, with 1 block changed"),
        n => out::note(format!(
            "shown as a replay would leave it, with {n} blocks changed"
        )),
    }
    // The superblock may be among what is replayed.
    let fs = open(Rc::new(Overlay::new(medium, log, map)))?;
    out::problems(fs.problems());
    Ok(fs)
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
fn journal_of(fs: &Image, external: Option<&str>) -> anyhow::Result<(Journal, Medium)> {
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

/// The bytes of the filesystem that a name means, and what they are.
pub fn medium(name: &str) -> anyhow::Result<(Medium, Identity)> {
    let (file, partition) = split(name);
    let reader = FileReader::open(Path::new(file)).with_context(|| escaped(file))?;
    let opened = image::open(Rc::new(reader), Limits::default()).with_context(|| escaped(file))?;
    for layer in &opened.layers {
        out::note(&layer.text);
        layer.notes.iter().for_each(out::note);
    }
    out::problems(&opened.problems);
    choose(opened, partition).with_context(|| escaped(file))
}

fn escaped(name: &str) -> String {
    fslab_engine::view::escape(name.as_bytes())
}

/// Splits a partition's number off, unless a file has the whole name.
fn split(name: &str) -> (&str, Option<u32>) {
    if Path::new(name).exists() {
        return (name, None);
    }
    let number = name
        .rsplit_once(':')
        .and_then(|(file, digits)| Some((file, digits.parse().ok()?)));
    match number {
        Some((file, number)) => (file, Some(number)),
        None => (name, None),
    }
}

/// The partition asked for; without one, the image as a whole or its only ext partition.
fn choose(opened: Opened, partition: Option<u32>) -> anyhow::Result<(Medium, Identity)> {
    if let Some(number) = partition {
        let identity = opened.identify_partition(number)?;
        return Ok((Rc::new(opened.partition(number)?), identity));
    }
    let Some(table) = opened
        .table
        .as_ref()
        .filter(|_| opened.identity.kind != Kind::Ext)
    else {
        return Ok((opened.content, opened.identity));
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
        return Ok((Rc::new(opened.partition(only)?), identity));
    }
    list(&opened, table);
    match ext.len() {
        0 => bail!("none of its partitions holds ext2, ext3 or ext4"),
        n => bail!(
            "{n} of its partitions hold ext2, ext3 or ext4; say which, as IMG:{}",
            ext[0]
        ),
    }
}

/// Lists the partitions on stderr.
fn list(opened: &Opened, table: &PartitionTable) {
    const MOST: usize = 128;
    for p in table.partitions.iter().take(MOST) {
        let held = opened.identify_partition(p.number);
        let held = held.map_or_else(|_| "cannot be read", |identity| identity.name);
        let name = escaped(&p.name);
        let what = if p.container { "container" } else { held };
        out::note(format!(
            "{:3}  {:>10}  {what}  {}  {name}",
            p.number,
            out::size(p.len_bytes),
            p.type_name
        ));
        if !p.note.is_empty() {
            out::note(format!("     {}", p.note));
        }
    }
    if table.partitions.len() > MOST {
        out::note(format!(
            "{} more partitions, not listed",
            table.partitions.len() - MOST
        ));
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
