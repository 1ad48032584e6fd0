//! The truth about an image that the kernel does not mount: by debugfs alone.

use super::debugfs::Debugfs;
use super::stat::{Stat, stats};
use super::tools::sha256;
use super::truth::{Bytes, Entry, Extent, Sample, Truth};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

const ROOT: u32 = 2;
/// EXT4_INLINE_DATA_FL.
const INLINE: u32 = 0x1000_0000;
/// Longer files are compared by pieces.
const WHOLE: u64 = 16 << 20;
const PIECE: u64 = 64 << 10;

/// Walks the tree by `ls`, `stat`, `ea_get`. Not for encrypted directories,
/// whose names debugfs does not print as they are.
pub fn truth_by_debugfs(image: &Path) -> Result<Truth, String> {
    let names = names(image)?;
    let set: BTreeSet<u32> = names.values().copied().collect();
    let inodes: Vec<u32> = set.into_iter().collect();
    let (header, groups) = super::groups::dumpe2fs(image)?;
    let mut truth = Truth {
        names,
        header,
        groups,
        ..Truth::default()
    };
    let found: BTreeMap<u32, Stat> = inodes.iter().copied().zip(stats(image, &inodes)?).collect();
    let source = Contents::open(image, truth.block_size())?;
    let mut xattrs = xattrs(image, &found)?;
    for (ino, stat) in found {
        let mut entry = stat.entry.clone();
        entry.xattrs = xattrs.remove(&ino).unwrap_or_default();
        source.describe(ino, &stat, &mut entry)?;
        if entry.is_file() || entry.is_dir() {
            truth.extents.insert(ino, stat.extents);
        }
        truth.inodes.insert(ino, entry);
    }
    Ok(truth)
}

/// Every path, one level of directories after another.
fn names(image: &Path) -> Result<BTreeMap<Bytes, u32>, String> {
    let mut names = BTreeMap::from([(Bytes(b"/".to_vec()), ROOT)]);
    let mut level = vec![(Vec::new(), ROOT)];
    while !level.is_empty() {
        let commands: Vec<String> = level
            .iter()
            .map(|(_, ino)| format!("ls -p <{ino}>"))
            .collect();
        let answers = Debugfs::new(image).ask(&commands)?;
        let mut next = Vec::new();
        for ((path, _), answer) in level.iter().zip(answers) {
            for (name, ino, mode) in listed(&answer)? {
                let full = [path, &b"/"[..], name].concat();
                if mode & 0o170_000 == 0o040_000 {
                    next.push((full.clone(), ino));
                }
                names.insert(Bytes(full), ino);
            }
        }
        level = next;
    }
    Ok(names)
}

/// Name, inode and mode.
type Listed<'a> = (&'a [u8], u32, u32);

/// `/11/040700/0/0/lost+found//`: a name may hold anything but a slash.
fn listed(answer: &[u8]) -> Result<Vec<Listed<'_>>, String> {
    let mut out = Vec::new();
    let mut fields = answer.split(|&byte| byte == b'/').skip(1);
    while let Some(ino) = fields.next() {
        let rest: Option<Vec<&[u8]>> = (0..5).map(|_| fields.next()).collect();
        let rest = rest.ok_or("ls -p: a line is cut short")?;
        // What stands between the last slash of a line and the first of the next.
        fields.next();
        let number = |text, radix| {
            let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
            u32::from_str_radix(text, radix).map_err(|error| format!("ls -p: {text}: {error}"))
        };
        let (name, ino) = (rest[3], number(ino, 10)?);
        // Inode 0: an entry that is free.
        if ino != 0 && name != b"." && name != b".." {
            out.push((name, ino, number(rest[0], 8)?));
        }
    }
    Ok(out)
}

type Attributes = BTreeMap<Bytes, Bytes>;

fn xattrs(image: &Path, found: &BTreeMap<u32, Stat>) -> Result<BTreeMap<u32, Attributes>, String> {
    let with: Vec<u32> = found
        .iter()
        .filter(|(_, stat)| stat.has_xattrs)
        .map(|(ino, _)| *ino)
        .collect();
    let commands: Vec<String> = with.iter().map(|ino| format!("ea_list <{ino}>")).collect();
    let lists = Debugfs::new(image).ask(&commands)?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let file = |index: usize| folder.path().join(index.to_string());
    let mut wanted = Vec::new();
    for (ino, list) in with.iter().zip(&lists) {
        for line in String::from_utf8_lossy(list).lines() {
            let name = line
                .strip_prefix("  ")
                .and_then(|line| line.split_once(" ("));
            if let Some((name, _)) = name.filter(|(name, _)| *name != "system.data") {
                wanted.push((*ino, name.to_owned()));
            }
        }
    }
    let get = |(index, (ino, name)): (usize, &(u32, String))| {
        format!("ea_get -f {} <{ino}> {name}", file(index).display())
    };
    let commands: Vec<String> = wanted.iter().enumerate().map(get).collect();
    Debugfs::new(image).ask(&commands)?;
    let mut out: BTreeMap<u32, Attributes> = BTreeMap::new();
    for (index, (ino, name)) in wanted.into_iter().enumerate() {
        let value =
            std::fs::read(file(index)).map_err(|error| format!("ea_get {name}: {error}"))?;
        let acl = name.starts_with("system.posix_acl_");
        let value = if acl { no_ids(value) } else { value };
        out.entry(ino)
            .or_default()
            .insert(Bytes(name.into_bytes()), Bytes(value));
    }
    Ok(out)
}

/// debugfs says 0 where an ACL's entry has no id, the kernel 2^32 - 1.
fn no_ids(mut acl: Vec<u8>) -> Vec<u8> {
    for entry in acl[4..].chunks_exact_mut(8) {
        if !matches!(entry[0], 2 | 8) {
            entry[4..].fill(0xFF);
        }
    }
    acl
}

/// Contents, read from the image by the extents that debugfs gives.
struct Contents<'a> {
    image: &'a Path,
    file: File,
    block_size: u64,
}

impl<'a> Contents<'a> {
    fn open(image: &'a Path, block_size: u64) -> Result<Self, String> {
        let file = File::open(image).map_err(|error| error.to_string())?;
        Ok(Self {
            image,
            file,
            block_size,
        })
    }

    fn describe(&self, ino: u32, stat: &Stat, entry: &mut Entry) -> Result<(), String> {
        let size = entry.size;
        if entry.mode & 0o170_000 == 0o120_000 {
            let target = match &stat.fast_target {
                Some(target) => target.clone(),
                None => self.read(&stat.extents, size, 0, size)?,
            };
            entry.target = Some(Bytes(target));
        } else if entry.is_file() && entry.flags & INLINE != 0 {
            // Of less than 60 bytes debugfs gives 60.
            let mut bytes = self.inline(ino)?;
            bytes.truncate(usize::try_from(size).unwrap_or(usize::MAX));
            entry.sha256 = Some(sha256(&bytes));
        } else if entry.is_file() && size <= WHOLE {
            entry.sha256 = Some(sha256(&self.read(&stat.extents, size, 0, size)?));
        } else if entry.is_file() {
            entry.samples = self.samples(&stat.extents, size)?;
        }
        Ok(())
    }

    fn inline(&self, ino: u32) -> Result<Vec<u8>, String> {
        let out = tempfile::NamedTempFile::new().map_err(|error| error.to_string())?;
        let command = format!("dump <{ino}> {}", out.path().display());
        Debugfs::new(self.image).ask_one(&command)?;
        std::fs::read(out.path()).map_err(|error| error.to_string())
    }

    fn samples(&self, extents: &[Extent], size: u64) -> Result<Vec<Sample>, String> {
        let mut places = BTreeSet::from([0, size / 2, size - 4096]);
        for extent in extents.iter().filter(|extent| !extent.unwritten) {
            let start = extent.logical * self.block_size;
            let end = (start + extent.len * self.block_size).min(size);
            places.extend((start..end).step_by(PIECE as usize));
        }
        let sample = |place: u64| {
            let length = PIECE.min(size - place);
            let bytes = self.read(extents, size, place, length)?;
            Ok(Sample(place, length, sha256(&bytes)))
        };
        places.into_iter().map(sample).collect()
    }

    /// `length` bytes at `offset` of a file of `size` bytes.
    fn read(
        &self,
        extents: &[Extent],
        size: u64,
        offset: u64,
        length: u64,
    ) -> Result<Vec<u8>, String> {
        let end = size.min(offset + length);
        let mut out = vec![0; (end - offset) as usize];
        for extent in extents.iter().filter(|extent| !extent.unwritten) {
            let start = extent.logical * self.block_size;
            let from = start.max(offset);
            let to = (start + extent.len * self.block_size).min(end);
            if from < to {
                let place = extent.physical * self.block_size + (from - start);
                let part = &mut out[(from - offset) as usize..(to - offset) as usize];
                self.file
                    .read_exact_at(part, place)
                    .map_err(|error| error.to_string())?;
            }
        }
        Ok(out)
    }
}
