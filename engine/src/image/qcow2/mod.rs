//! QEMU's qcow2 images, versions 2 and 3, read in place.
//!
//! Format: `docs/interop/qcow2.txt` of QEMU. All numbers are big-endian. Guest clusters
//! are found through two levels of tables; a cluster is stored as it is, compressed
//! (deflate or zstd), or not at all (zeros). e2image's `-Q` writes version 2.
//!
//! Not read: backing files, encryption, external data files. Snapshots are passed over:
//! the current state is what one sees.

mod compressed;
mod map;

use super::Medium;
use crate::disk::{Cached, ReadAt, ReadError, check_range};
use std::cell::RefCell;
use std::fmt;

const MAGIC: [u8; 4] = *b"QFI\xfb";
/// Cached table pieces: 4 KiB each, 2 MiB in all.
const TABLE_PIECES: usize = 512;

/// Why a qcow2 image cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Qcow2Error {
    /// Something the format has that is not read here.
    #[error("this qcow2 image {what}, which fslab does not read; {advice}")]
    Unsupported {
        /// Completes "this qcow2 image …".
        what: String,
        /// What to do.
        advice: String,
    },
    /// The header contradicts itself or the file.
    #[error("the qcow2 header is not usable: {0}")]
    Header(String),
    /// Unreadable.
    #[error("the qcow2 header could not be read: {0}")]
    Read(#[from] ReadError),
}

/// How clusters are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Deflate,
    Zstd,
}

/// The part of the header that reading needs.
#[derive(Clone, Debug)]
struct Header {
    version: u32,
    cluster_bits: u32,
    /// Length of the guest's disk, bytes.
    size: u64,
    l1_entries: u32,
    l1_offset: u64,
    snapshots: u32,
    compression: Compression,
    /// L2 entries are 16 bytes and tell of 32 parts of a cluster each.
    extended_l2: bool,
    /// Marked as not closed properly, or as corrupt.
    marks: Vec<&'static str>,
}

/// A qcow2 image as the disk it stands for.
///
/// Memory: 2 MiB of cached table pieces and at most 4 MiB of expanded clusters, while a
/// cluster expands that much again; whatever the image.
pub struct Qcow2 {
    file: Medium,
    tables: Cached<Medium>,
    header: Header,
    expanded: RefCell<compressed::Recent>,
}

impl fmt::Debug for Qcow2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qcow2")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl Qcow2 {
    /// Whether `medium` begins with the magic number (of any version of QCOW).
    #[must_use]
    pub fn detect(medium: &dyn ReadAt) -> bool {
        let mut head = [0; 4];
        medium.read_at(0, &mut head).is_ok() && head == MAGIC
    }

    /// Reads and checks the header. Damage in the tables shows when it is read.
    pub fn open(file: Medium) -> Result<Self, Qcow2Error> {
        let header = Header::read(&file)?;
        Ok(Self {
            tables: Cached::new(file.clone(), 4096, TABLE_PIECES),
            file,
            expanded: RefCell::new(compressed::Recent::new(1 << header.cluster_bits)),
            header,
        })
    }

    /// The format's version, 2 or 3.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.header.version
    }

    /// Size of a cluster, bytes.
    #[must_use]
    pub fn cluster_bytes(&self) -> u64 {
        1 << self.header.cluster_bits
    }

    /// What the reader of the image should know, in words.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self
            .header
            .marks
            .iter()
            .map(|mark| format!("The qcow2 image is marked as {mark}"))
            .collect();
        if self.header.snapshots > 0 {
            notes.push(format!(
                "The qcow2 image holds {} snapshot{}; shown is its current state",
                self.header.snapshots,
                if self.header.snapshots == 1 { "" } else { "s" }
            ));
        }
        notes
    }
}

impl Header {
    fn read(file: &Medium) -> Result<Self, Qcow2Error> {
        let mut h = [0; 112];
        let n = file.len().min(112) as usize;
        if n < 72 {
            return Err(Qcow2Error::Header(format!(
                "the file has {n} bytes, a header 72"
            )));
        }
        file.read_at(0, &mut h[..n])?;
        let version = be32(&h, 4);
        if !(2..=3).contains(&version) {
            return Err(unsupported(
                &format!("has version {version}"),
                "versions 2 and 3 are read: convert it with `qemu-img convert -O raw`",
            ));
        }
        refuse(&h)?;
        let mut header = Self {
            version,
            cluster_bits: be32(&h, 20),
            size: be64(&h, 24),
            l1_entries: be32(&h, 36),
            l1_offset: be64(&h, 40),
            snapshots: be32(&h, 60),
            compression: Compression::Deflate,
            extended_l2: false,
            marks: Vec::new(),
        };
        if version == 3 {
            header.features(&h)?;
        }
        header.check(file.len())?;
        Ok(header)
    }

    /// The incompatible features of version 3 and what hangs on them.
    fn features(&mut self, h: &[u8; 112]) -> Result<(), Qcow2Error> {
        let bits = be64(h, 72);
        if bits & 1 != 0 {
            self.marks.push("not closed properly (dirty)");
        }
        if bits & 2 != 0 {
            self.marks.push("corrupt");
        }
        if bits & 4 != 0 {
            return Err(unsupported(
                "keeps its data in another file (external data file)",
                "open that file instead: it is a raw image",
            ));
        }
        self.extended_l2 = bits & 16 != 0;
        if bits & !0x1f != 0 {
            return Err(unsupported(
                &format!("has unknown incompatible features ({:#x})", bits & !0x1f),
                "convert it with `qemu-img convert -O raw`",
            ));
        }
        // The field exists in headers longer than 104 bytes; bit 3 says it is not 0.
        let kind = if be32(h, 100) > 104 { h[104] } else { 0 };
        self.compression = match kind {
            0 => Compression::Deflate,
            1 => Compression::Zstd,
            _ => {
                return Err(unsupported(
                    &format!("is compressed by method {kind}"),
                    "convert it with `qemu-img convert -O raw`",
                ));
            }
        };
        Ok(())
    }

    fn check(&self, file_len: u64) -> Result<(), Qcow2Error> {
        let bad = |what: String| Err(Qcow2Error::Header(what));
        let least = if self.extended_l2 { 14 } else { 9 };
        if !(least..=21).contains(&self.cluster_bits) {
            return bad(format!(
                "clusters of 2^{} bytes; 2^{least} to 2^21 expected",
                self.cluster_bits
            ));
        }
        if self.size > i64::MAX as u64 {
            return bad(format!("a size of {} bytes; 2^63 is too much", self.size));
        }
        let needed = self.size.div_ceil(self.bytes_per_l1_entry());
        if u64::from(self.l1_entries) < needed {
            return bad(format!(
                "its first table has {} entries; {} bytes take {needed}",
                self.l1_entries, self.size
            ));
        }
        let l1_end = self.l1_offset.checked_add(u64::from(self.l1_entries) * 8);
        if l1_end.is_none_or(|end| end > file_len) {
            return bad(format!(
                "its first table, {} entries at byte {}, reaches past the end of the file of {file_len} bytes",
                self.l1_entries, self.l1_offset
            ));
        }
        Ok(())
    }

    fn cluster(&self) -> u64 {
        1 << self.cluster_bits
    }

    fn l2_entry_bytes(&self) -> u64 {
        if self.extended_l2 { 16 } else { 8 }
    }

    fn l2_entries(&self) -> u64 {
        self.cluster() / self.l2_entry_bytes()
    }

    /// Guest bytes that an L1 entry stands for: at most 2^39.
    fn bytes_per_l1_entry(&self) -> u64 {
        self.cluster() * self.l2_entries()
    }
}

/// Refuses what needs another file or a key.
fn refuse(h: &[u8; 112]) -> Result<(), Qcow2Error> {
    if be64(h, 8) != 0 {
        return Err(unsupported(
            "builds on a backing file",
            "merge both with `qemu-img convert -O raw`",
        ));
    }
    match be32(h, 32) {
        0 => Ok(()),
        method => Err(unsupported(
            match method {
                1 => "is encrypted (AES)",
                2 => "is encrypted (LUKS)",
                _ => "is encrypted",
            },
            "decrypt it with `qemu-img convert`, which asks for the key",
        )),
    }
}

fn unsupported(what: &str, advice: &str) -> Qcow2Error {
    Qcow2Error::Unsupported {
        what: what.to_owned(),
        advice: advice.to_owned(),
    }
}

impl ReadAt for Qcow2 {
    fn len(&self) -> u64 {
        self.header.size
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.header.size)?;
        let (mut at, mut rest) = (offset, buf);
        while !rest.is_empty() {
            let extent = self.extent(at, rest.len() as u64)?;
            let n = usize::try_from(extent.len)
                .unwrap_or(usize::MAX)
                .clamp(1, rest.len());
            let (now, later) = rest.split_at_mut(n);
            self.fetch(at, extent.place, now)?;
            at += n as u64;
            rest = later;
        }
        Ok(())
    }

    fn next_data(&self, offset: u64) -> u64 {
        self.skip_holes(offset)
    }
}

fn be32(h: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([h[at], h[at + 1], h[at + 2], h[at + 3]])
}

fn be64(h: &[u8], at: usize) -> u64 {
    u64::from(be32(h, at)) << 32 | u64::from(be32(h, at + 4))
}
