//! What the bytes of an image are, by the marks that formats carry.
//!
//! Sources of the marks: libblkid of util-linux and the `magic` database of file(1).
//!
//! Memory: one buffer of 64 KiB; a few dozen reads of some bytes, and at most 1 MiB to
//! see whether the beginning is all zero.

mod checks;
mod ext;
mod signatures;

use crate::disk::ReadAt;
use serde::Serialize;
use signatures::{BEFORE_EXT, SIGNATURES, Signature};

/// How many bytes are looked at before an image is called all zero.
pub const ZEROS_LOOKED_AT: u64 = 1 << 20;

/// The broad kind of what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// ext2, ext3 or ext4: the superblock's magic number is there.
    Ext,
    /// A journal that an ext3 or ext4 filesystem keeps on a device of its own.
    ExtJournal,
    /// No bytes at all.
    Empty,
    /// Zeros, as far as was looked ([`ZEROS_LOOKED_AT`]).
    Zeros,
    /// A filesystem that fslab does not read.
    Filesystem,
    /// A layer that holds filesystems: encryption, RAID, volumes, swap.
    Volume,
    /// The file format of a virtual disk, a backup or a forensic image.
    DiskImage,
    /// Compressed or packed files.
    Archive,
    /// Another kind of file.
    File,
    /// Readable text.
    Text,
    /// Nothing that is known.
    Unknown,
}

/// What the bytes are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Identity {
    /// The broad kind.
    pub kind: Kind,
    /// A short name for programs, such as `xfs`.
    pub id: &'static str,
    /// A name for people, to stand in a sentence: "an XFS filesystem".
    pub name: &'static str,
    /// What it is and, where fslab does not read it, what to do.
    pub sentence: String,
    /// Whether the first 512 bytes belong to it, so that 55 AA there is no partition table.
    #[serde(skip)]
    first_sector: bool,
}

impl Identity {
    fn new(kind: Kind, id: &'static str, name: &'static str, advice: &str) -> Self {
        Self {
            kind,
            id,
            name,
            sentence: format!("This is {name}{advice}"),
            first_sector: false,
        }
    }

    /// Whether what was found uses the first sector itself.
    #[must_use]
    pub fn owns_first_sector(&self) -> bool {
        self.first_sector
    }
}

/// Says what `medium` holds by its marks. Bytes that cannot be read count as missing.
#[must_use]
pub fn identify(medium: &dyn ReadAt) -> Identity {
    if medium.is_empty() {
        return Identity::new(
            Kind::Empty,
            "empty",
            "an empty file",
            ": it has no bytes at all",
        );
    }
    let peek = Peek { medium };
    find(BEFORE_EXT, &peek)
        .or_else(|| ext::superblock(&peek, ext::Trust::Plausible))
        .or_else(|| find(SIGNATURES, &peek))
        .or_else(|| ext::superblock(&peek, ext::Trust::Magic))
        .or_else(|| checks::zeros(&peek))
        .or_else(|| checks::text(&peek))
        .unwrap_or_else(|| unknown(medium))
}

fn unknown(medium: &dyn ReadAt) -> Identity {
    let mut it = Identity::new(
        Kind::Unknown,
        "unknown",
        "something unknown",
        ": no mark of a filesystem, a partition table or a common file was found",
    );
    // Nothing was found because nothing could be looked at.
    if let Err(why) = medium.read_at(0, &mut [0]) {
        it.sentence = format!("The beginning of this cannot be read: {why}");
    }
    it
}

fn find(table: &[Signature], peek: &Peek<'_>) -> Option<Identity> {
    table.iter().find(|s| s.matches(peek)).map(named)
}

fn named(signature: &Signature) -> Identity {
    let mut it = Identity::new(
        signature.kind,
        signature.id,
        signature.name,
        &advice(signature),
    );
    it.first_sector = signature.marks.iter().any(|&(at, _)| at < 446)
        || matches!(signature.kind, Kind::File | Kind::Archive);
    it
}

fn advice(signature: &Signature) -> String {
    match (signature.advice, signature.kind) {
        ("", Kind::Filesystem) => "; fslab reads ext2, ext3 and ext4".to_owned(),
        ("", Kind::DiskImage) => {
            "; convert it with `qemu-img convert -O raw` and open the result".to_owned()
        }
        ("", Kind::Archive) => "; unpack it and open the image inside".to_owned(),
        ("", _) => ", not a disk image".to_owned(),
        (advice, _) => format!("; {advice}"),
    }
}

/// Reads small pieces; what cannot be read is not there.
struct Peek<'a> {
    medium: &'a dyn ReadAt,
}

impl Peek<'_> {
    fn len(&self) -> u64 {
        self.medium.len()
    }

    fn bytes<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let mut out = [0; N];
        self.medium.read_at(at, &mut out).ok()?;
        Some(out)
    }

    fn has(&self, at: u64, mark: &[u8]) -> bool {
        let mut out = [0; 64];
        match out.get_mut(..mark.len()) {
            Some(out) => self.medium.read_at(at, out).is_ok() && out == mark,
            None => false,
        }
    }

    fn le16(&self, at: u64) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    fn le32(&self, at: u64) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }
}

impl Signature {
    fn matches(&self, peek: &Peek<'_>) -> bool {
        self.marks.iter().all(|&(at, mark)| peek.has(at, mark))
            && self.check.is_none_or(|check| check(peek))
    }
}
