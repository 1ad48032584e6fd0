//! Expanding compressed images: gzip, zstd and xz, a bounded step at a time.
//!
//! Memory, in all: the content that is not zero up to [`Limits::max_data`] (in pieces
//! of 64 KiB), a 64 KiB input buffer, a 64 KiB output buffer, and the decoder's window:
//! 32 KiB for gzip; for zstd at most twice [`ZSTD_WINDOW_MAX`]; for xz at most
//! [`XZ_MEMORY_MAX_KIB`], and 16 bytes a block for its index (real files have a block
//! every few MiB; a hostile one may have a block every 16 bytes of input, so that this
//! stays within about twice the input's length).

mod gzip;
mod source;
mod store;
mod xz;
mod zstd;

pub use store::{PIECE_BYTES, SparseBytes};
pub use xz::XZ_MEMORY_MAX_KIB;
pub use zstd::ZSTD_WINDOW_MAX;

use crate::disk::{ReadAt, ReadError};
use serde::Serialize;
use source::Source;
use std::fmt;
use std::rc::Rc;
use store::{Full, Store};

/// A way of compressing that can be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// RFC 1952, one or more members.
    Gzip,
    /// RFC 8878, one or more frames.
    Zstd,
    /// The .xz format 1.2.1, one or more streams.
    Xz,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::Gzip => "gzip",
            Format::Zstd => "zstd",
            Format::Xz => "xz",
        })
    }
}

impl Format {
    /// Recognises a compressed container by its first bytes.
    #[must_use]
    pub fn detect(medium: &dyn ReadAt) -> Option<Self> {
        let mut head = [0; 6];
        let n = medium.len().min(6) as usize;
        medium.read_at(0, &mut head[..n]).ok()?;
        match head {
            [0x1f, 0x8b, 8, ..] => Some(Format::Gzip),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Format::Zstd),
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some(Format::Zstd),
            [0xfd, b'7', b'z', b'X', b'Z', 0] => Some(Format::Xz),
            _ => None,
        }
    }
}

/// What a compressed image may expand to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Length of the expanded content, bytes.
    pub max_len: u64,
    /// Bytes of it kept in memory: pieces of 64 KiB that are not all zero.
    pub max_data: u64,
}

impl Default for Limits {
    /// 64 GiB of length, 1 GiB of content other than zero.
    fn default() -> Self {
        Self {
            max_len: 64 << 30,
            max_data: 1 << 30,
        }
    }
}

/// How much of it is there all the same.
fn readable(produced: u64) -> String {
    match produced {
        0 => "nothing that it holds can be read".into(),
        n => format!("the first {n} bytes that it holds can be read"),
    }
}

/// Why expanding stopped before the end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// The input ends too early.
    #[error(
        "the {format} data ends at byte {at} of the file, before it is complete; {}",
        readable(*.produced)
    )]
    Truncated {
        /// The container.
        format: Format,
        /// Byte of the input.
        at: u64,
        /// Bytes that came out before.
        produced: u64,
    },
    /// The input is not what the format demands.
    #[error(
        "the {format} data is damaged at byte {at} of the file ({reason}); {}",
        readable(*.produced)
    )]
    Corrupt {
        /// The container.
        format: Format,
        /// Byte of the input.
        at: u64,
        /// What was found and expected.
        reason: String,
        /// Bytes that came out before.
        produced: u64,
    },
    /// A decompression bomb, by length.
    #[error(
        "the {format} data expands to more than the limit of {limit} bytes (reached at byte {at} of the file); {}",
        readable(*.produced)
    )]
    TooLong {
        /// The container.
        format: Format,
        /// [`Limits::max_len`].
        limit: u64,
        /// Byte of the input.
        at: u64,
        /// Bytes that came out before.
        produced: u64,
    },
    /// A decompression bomb, by memory.
    #[error(
        "the {format} data expands to more than the limit of {limit} bytes that are not zero (reached at byte {at} of the file); {}",
        readable(*.produced)
    )]
    TooMuchData {
        /// The container.
        format: Format,
        /// [`Limits::max_data`].
        limit: u64,
        /// Byte of the input.
        at: u64,
        /// Bytes that came out before.
        produced: u64,
    },
    /// The system gave no more memory.
    #[error(
        "there is not enough memory to expand the {format} data further (at byte {at} of the file); {}",
        readable(*.produced)
    )]
    OutOfMemory {
        /// The container.
        format: Format,
        /// Byte of the input.
        at: u64,
        /// Bytes that came out before.
        produced: u64,
    },
    /// The compressed file itself could not be read.
    #[error("the {format} data could not be read further: {source}")]
    Read {
        /// The container.
        format: Format,
        /// What the medium said.
        source: ReadError,
    },
}

/// Why a decoder stopped; the place is the source's position unless it knows better.
enum Stop {
    Truncated,
    Corrupt(String),
    Full(Full),
    Read(ReadError),
}

impl From<ReadError> for Stop {
    fn from(e: ReadError) -> Self {
        Stop::Read(e)
    }
}

impl From<Full> for Stop {
    fn from(e: Full) -> Self {
        Stop::Full(e)
    }
}

/// A decoder whose `step` uses at most 128 KiB of input or some 256 KiB of output.
trait Decoder {
    /// Moves some bytes from source to store; `true` when the stream is complete.
    fn step(&mut self, source: &mut Source, store: &mut Store) -> Result<bool, Stop>;

    /// Something to tell about the input once it is complete.
    fn note(&self) -> Option<String> {
        None
    }
}

/// How far expanding has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// Bytes of the input used.
    pub consumed: u64,
    /// Length of the input, bytes.
    pub input_len: u64,
    /// Bytes that came out.
    pub produced: u64,
    /// Nothing more will come: complete, failed or at a limit.
    pub done: bool,
}

/// What an [`Expander`] got out of its input.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// The content, or the part that came out before the error.
    pub content: SparseBytes,
    /// Why it is not all.
    pub error: Option<ExpandError>,
    /// Something worth telling that is no error, such as bytes after the end.
    pub note: Option<String>,
}

/// Expands a compressed medium in steps. It is cancelled by dropping it, or by calling
/// [`Expander::finish`] early, which keeps what has come out.
pub struct Expander {
    format: Format,
    source: Source,
    store: Store,
    decoder: Box<dyn Decoder>,
    error: Option<ExpandError>,
    done: bool,
}

impl fmt::Debug for Expander {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Expander")
            .field("format", &self.format)
            .field("progress", &self.progress())
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

impl Expander {
    /// Prepares to expand `medium`, which holds `format`. Reads nothing yet.
    #[must_use]
    pub fn new(medium: Rc<dyn ReadAt>, format: Format, limits: Limits) -> Self {
        let decoder: Box<dyn Decoder> = match format {
            Format::Gzip => Box::new(gzip::Gzip::new()),
            Format::Zstd => Box::new(zstd::Zstd::new()),
            Format::Xz => Box::new(xz::Xz::new()),
        };
        Self {
            format,
            source: Source::new(medium),
            store: Store::new(limits),
            decoder,
            error: None,
            done: false,
        }
    }

    /// The container being expanded.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Works until `budget_bytes` of input are used or of output made in this call
    /// (passing it by at most 256 KiB), or all is done. A budget of 0 does the least
    /// that makes progress. After `done` it does nothing.
    pub fn step(&mut self, budget_bytes: u64) -> Progress {
        let (from_in, from_out) = (self.source.position(), self.store.len());
        while !self.done {
            match self.decoder.step(&mut self.source, &mut self.store) {
                Ok(done) => self.done = done,
                Err(stop) => {
                    self.done = true;
                    self.error = Some(self.explain(stop));
                }
            }
            let used = self.source.position() - from_in;
            let made = self.store.len().saturating_sub(from_out);
            if used.max(made) >= budget_bytes {
                break;
            }
        }
        self.progress()
    }

    /// How far it has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            consumed: self.source.position(),
            input_len: self.source.len(),
            produced: self.store.len(),
            done: self.done,
        }
    }

    /// The content, as far as it has come out.
    #[must_use]
    pub fn finish(self) -> Expanded {
        let at = self.source.position();
        let (content, full) = self.store.finish();
        let produced = content.len();
        let error = self
            .error
            .or_else(|| full.map(|f| f.into_error(self.format, at, produced)));
        Expanded {
            content,
            error: error.map(|e| e.with_produced(produced)),
            note: self.decoder.note(),
        }
    }

    fn explain(&self, stop: Stop) -> ExpandError {
        let (format, at, produced) = (self.format, self.source.position(), self.store.len());
        match stop {
            Stop::Truncated => ExpandError::Truncated {
                format,
                at,
                produced,
            },
            Stop::Corrupt(reason) => ExpandError::Corrupt {
                format,
                at,
                reason,
                produced,
            },
            Stop::Full(full) => full.into_error(format, at, produced),
            Stop::Read(source) => ExpandError::Read { format, source },
        }
    }
}

impl ExpandError {
    /// The same error, with the final count of readable bytes.
    fn with_produced(mut self, now: u64) -> Self {
        match &mut self {
            Self::Truncated { produced, .. }
            | Self::Corrupt { produced, .. }
            | Self::TooLong { produced, .. }
            | Self::TooMuchData { produced, .. }
            | Self::OutOfMemory { produced, .. } => *produced = now,
            Self::Read { .. } => {}
        }
        self
    }
}
