//! Bytes at offsets. Knows no filesystem.

mod cache;
mod cow;
mod window;

pub use cache::Cached;
pub use cow::{CowDisk, Data, WriteAt, pattern_byte};
pub use window::Window;

/// Why bytes could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
pub enum ReadError {
    /// The read reaches past the end of the medium.
    #[error("bytes {offset} to {end} lie past the end of the image, which has {len} bytes", end = offset.saturating_add(*wanted))]
    PastEnd {
        /// First byte asked for.
        offset: u64,
        /// How many bytes were asked for.
        wanted: u64,
        /// Length of the medium, bytes.
        len: u64,
    },
    /// The medium itself failed (the operating system's or browser's words).
    #[error("reading {wanted} bytes at {offset} failed: {reason}")]
    Medium {
        /// First byte asked for.
        offset: u64,
        /// How many bytes were asked for.
        wanted: u64,
        /// What the medium said.
        reason: String,
    },
}

/// A medium that can be read at any byte offset, without a position of its own.
pub trait ReadAt {
    /// Length of the medium, bytes.
    fn len(&self) -> u64;

    /// Fills `buf` with the bytes at `offset`, or fails without a partial result.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError>;

    /// Whether the medium has no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first byte at or after `offset` that may be other than zero, where the medium
    /// knows (a sparse file's data). Default: `offset` itself.
    fn next_data(&self, offset: u64) -> u64 {
        offset
    }
}

impl std::fmt::Debug for dyn ReadAt + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a medium of {} bytes", self.len())
    }
}

/// Checks a range against a medium's length.
pub(crate) fn check_range(offset: u64, wanted: u64, len: u64) -> Result<(), ReadError> {
    match offset.checked_add(wanted) {
        Some(end) if end <= len => Ok(()),
        _ => Err(ReadError::PastEnd {
            offset,
            wanted,
            len,
        }),
    }
}

impl ReadAt for [u8] {
    fn len(&self) -> u64 {
        <[u8]>::len(self) as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, ReadAt::len(self))?;
        let start = offset as usize;
        buf.copy_from_slice(&self[start..start + buf.len()]);
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        self.as_slice().read_at(offset, buf)
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<R: ReadAt + ?Sized> ReadAt for $pointer {
            fn len(&self) -> u64 {
                (**self).len()
            }

            fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
                (**self).read_at(offset, buf)
            }

            fn next_data(&self, offset: u64) -> u64 {
                (**self).next_data(offset)
            }
        }
    )*};
}

forward!(&R, Box<R>, std::rc::Rc<R>, std::sync::Arc<R>);

/// A file of the operating system, read by `pread`, for the command line and tests.
#[cfg(unix)]
#[derive(Debug)]
pub struct FileReader {
    file: std::fs::File,
    len: u64,
}

#[cfg(unix)]
impl FileReader {
    /// Opens `path` for reading. The length of a block device is found by seeking.
    pub fn open(path: &std::path::Path) -> std::io::Result<Self> {
        use std::io::Seek;
        let mut file = std::fs::File::open(path)?;
        let len = file.seek(std::io::SeekFrom::End(0))?;
        Ok(Self { file, len })
    }
}

#[cfg(unix)]
impl ReadAt for FileReader {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        use std::os::unix::fs::FileExt;
        let wanted = buf.len() as u64;
        check_range(offset, wanted, self.len)?;
        self.file
            .read_exact_at(buf, offset)
            .map_err(|e| ReadError::Medium {
                offset,
                wanted,
                reason: e.to_string(),
            })
    }
}
