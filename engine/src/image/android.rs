//! Android sparse images (`simg`), read in place.
//!
//! Format: `libsparse/sparse_format.h` of the Android Open Source Project. A header of
//! 28 bytes, then chunks, each with a header of 12 bytes: raw data, a 32-bit value to
//! fill with, "don't care" (read as zeros here), or a CRC (not verified: it would take
//! reading everything). All numbers are little-endian.

use super::Medium;
use crate::disk::{Cached, ReadAt, ReadError, check_range};
use std::fmt;

const MAGIC: u32 = 0xed26_ff3a;
/// Most chunks that are followed; real images have some thousands.
const CHUNKS_MAX: u32 = 1 << 24;
/// Most entries of the index; past that it keeps every second and its stride doubles.
const INDEX_MAX: usize = 1 << 16;

/// Why an Android sparse image cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AndroidError {
    /// The header does not hold together.
    #[error("the Android sparse image's header is not usable: {0}")]
    Header(String),
    /// A format that is not known.
    #[error("this Android sparse image has version {0}; version 1 is the one that is known")]
    Version(u16),
    /// Unreadable.
    #[error("the Android sparse image's header could not be read: {0}")]
    Read(#[from] ReadError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// At this byte of the file.
    Raw(u64),
    Fill([u8; 4]),
    Nothing,
}

#[derive(Clone, Copy, Debug)]
struct Chunk {
    /// First block of the expanded image.
    block: u32,
    blocks: u32,
    content: Content,
    /// Where the next chunk's header lies in the file.
    next: u64,
}

/// An Android sparse image as the image it stands for.
///
/// Memory: an index of at most 65,536 entries (1 MiB) and 64 KiB of cached headers,
/// whatever the image.
pub struct AndroidSparse {
    file: Medium,
    headers: Cached<Medium>,
    chunk_header: u16,
    block_size: u32,
    /// Blocks of the expanded image.
    blocks: u32,
    /// Chunks whose content is known: those before the first damage.
    chunks: u32,
    /// First block that no readable chunk describes, and what was found there.
    broken: Option<(u32, String)>,
    /// Every `stride`-th chunk: its first block and its header's place in the file.
    index: Vec<(u32, u64)>,
    stride: u32,
}

impl fmt::Debug for AndroidSparse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AndroidSparse")
            .field("block_size", &self.block_size)
            .field("blocks", &self.blocks)
            .field("chunks", &self.chunks)
            .field("broken", &self.broken)
            .finish_non_exhaustive()
    }
}

impl AndroidSparse {
    /// Whether `medium` begins with the magic number.
    #[must_use]
    pub fn detect(medium: &dyn ReadAt) -> bool {
        let mut head = [0; 4];
        medium.read_at(0, &mut head).is_ok() && u32::from_le_bytes(head) == MAGIC
    }

    /// Reads the header and walks the chunks' headers, whose damage does not hinder
    /// opening: what lies before it can be read.
    pub fn open(file: Medium) -> Result<Self, AndroidError> {
        let mut h = [0; 28];
        file.read_at(0, &mut h)?;
        let (u16_at, u32_at) = (|at| le16(&h, at), |at| le32(&h, at));
        if u16_at(4) != 1 {
            return Err(AndroidError::Version(u16_at(4)));
        }
        let (header, chunk_header, block_size) = (u16_at(8), u16_at(10), u32_at(12));
        if header < 28 || chunk_header < 12 || block_size == 0 || block_size % 4 != 0 {
            return Err(AndroidError::Header(format!(
                "header of {header} bytes (28 expected), chunk headers of {chunk_header} (12 expected), blocks of {block_size} (a multiple of 4 expected)"
            )));
        }
        let mut it = Self {
            headers: Cached::new(file.clone(), 4096, 16),
            file,
            chunk_header,
            block_size,
            blocks: u32_at(16),
            chunks: 0,
            broken: None,
            index: Vec::new(),
            stride: 1,
        };
        it.walk(header.into(), u32_at(20));
        Ok(it)
    }

    /// What is wrong or peculiar with the image, in words.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        self.broken.as_ref().map(|(block, what)| {
            format!(
                "{what}; what lies from byte {} of the image on cannot be read",
                u64::from(*block) * u64::from(self.block_size)
            )
        })
    }

    /// How many chunks were followed.
    #[must_use]
    pub fn chunks(&self) -> u32 {
        self.chunks
    }

    /// Goes over all chunk headers, builds the index, finds the first damage.
    fn walk(&mut self, first: u64, chunks: u32) {
        let (mut at, mut block) = (first, 0);
        for nr in 0..chunks {
            let chunk = if nr < CHUNKS_MAX {
                self.chunk(at, block)
            } else {
                Err(format!("only {CHUNKS_MAX} chunks are followed"))
            };
            match chunk {
                Ok(chunk) => {
                    self.remember(nr, block, at);
                    if chunk.next > self.file.len() {
                        self.cut_off(nr, &chunk);
                        return;
                    }
                    at = chunk.next;
                    block = chunk.block + chunk.blocks;
                }
                Err(what) => {
                    self.broken = Some((
                        block,
                        format!("chunk {nr} of {chunks}, at byte {at} of the file: {what}"),
                    ));
                    return;
                }
            }
            self.chunks = nr + 1;
        }
        if block < self.blocks {
            self.broken = Some((
                block,
                format!(
                    "the {chunks} chunks describe {block} of the {} blocks of {} bytes",
                    self.blocks, self.block_size
                ),
            ));
        }
    }

    /// Marks where the data of `chunk` ends with the file.
    fn cut_off(&mut self, nr: u32, chunk: &Chunk) {
        let there = match chunk.content {
            Content::Raw(data) => self.file.len().saturating_sub(data),
            _ => 0,
        };
        let whole = u32::try_from(there / u64::from(self.block_size)).unwrap_or(u32::MAX);
        self.chunks = nr + 1;
        self.broken = Some((
            chunk.block.saturating_add(whole),
            format!(
                "the file ends at byte {}, within chunk {nr}",
                self.file.len()
            ),
        ));
    }

    fn remember(&mut self, nr: u32, block: u32, at: u64) {
        if !nr.is_multiple_of(self.stride) {
            return;
        }
        if self.index.len() >= INDEX_MAX {
            let mut keep = false;
            self.index.retain(|_| {
                keep = !keep;
                keep
            });
            self.stride = self.stride.saturating_mul(2);
            if !nr.is_multiple_of(self.stride) {
                return;
            }
        }
        self.index.push((block, at));
    }

    /// The chunk whose header lies at byte `at` of the file and which begins at `block`.
    fn chunk(&self, at: u64, block: u32) -> Result<Chunk, String> {
        let mut h = [0; 12];
        self.headers
            .read_at(at, &mut h)
            .map_err(|e| e.to_string())?;
        let (kind, blocks, total) = (le16(&h, 0), le32(&h, 4), le32(&h, 8));
        let data = at + u64::from(self.chunk_header);
        let bytes = u64::from(blocks) * u64::from(self.block_size);
        let (content, len, blocks) = match kind {
            0xcac1 => (Content::Raw(data), bytes, blocks),
            0xcac2 => {
                let mut fill = [0; 4];
                self.headers
                    .read_at(data, &mut fill)
                    .map_err(|e| e.to_string())?;
                (Content::Fill(fill), 4, blocks)
            }
            0xcac3 => (Content::Nothing, 0, blocks),
            0xcac4 => (Content::Nothing, 4, 0),
            _ => return Err(format!("unknown kind {kind:#06x}")),
        };
        if u64::from(total) != u64::from(self.chunk_header) + len {
            return Err(format!(
                "its size is given as {total} bytes, {} expected",
                u64::from(self.chunk_header) + len
            ));
        }
        match block.checked_add(blocks) {
            Some(end) if end <= self.blocks => Ok(Chunk {
                block,
                blocks,
                content,
                next: data + len,
            }),
            _ => Err(format!(
                "its {blocks} blocks from {block} on reach past the image's {}",
                self.blocks
            )),
        }
    }

    /// The chunk that holds `block`, or what hinders knowing it.
    fn find(&self, block: u32) -> Result<Chunk, String> {
        if let Some((from, what)) = &self.broken
            && block >= *from
        {
            return Err(what.clone());
        }
        let slot = self.index.partition_point(|&(first, _)| first <= block);
        let (mut first, mut at) = match slot.checked_sub(1).and_then(|i| self.index.get(i)) {
            Some(&entry) => entry,
            None => return Err(format!("no chunk holds block {block}")),
        };
        // Chunks without blocks (CRCs) share their first block with the next one, so
        // the walk may have to pass the stride by their number: `chunks` bounds it.
        for _ in 0..=self.chunks {
            let chunk = self.chunk(at, first)?;
            if block < chunk.block + chunk.blocks {
                return Ok(chunk);
            }
            first = chunk.block + chunk.blocks;
            at = chunk.next;
        }
        Err(format!("no chunk holds block {block}"))
    }

    /// Fills `buf` from within one chunk, from byte `skip` of it on.
    fn read_chunk(&self, chunk: &Chunk, skip: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        match chunk.content {
            Content::Raw(at) => self.file.read_at(at + skip, buf)?,
            Content::Fill(fill) => {
                for (i, slot) in buf.iter_mut().enumerate() {
                    *slot = fill[((skip + i as u64) % 4) as usize];
                }
            }
            Content::Nothing => buf.fill(0),
        }
        Ok(())
    }
}

impl ReadAt for AndroidSparse {
    fn len(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.block_size)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.len())?;
        let size = u64::from(self.block_size);
        let (mut at, mut rest) = (offset, buf);
        while !rest.is_empty() {
            let block = u32::try_from(at / size).unwrap_or(u32::MAX);
            let chunk = self.find(block).map_err(|reason| ReadError::Medium {
                offset: at,
                wanted: rest.len() as u64,
                reason,
            })?;
            let start = u64::from(chunk.block) * size;
            let end = start + u64::from(chunk.blocks) * size;
            let n = usize::try_from(end - at)
                .unwrap_or(usize::MAX)
                .min(rest.len());
            let (now, later) = rest.split_at_mut(n);
            self.read_chunk(&chunk, at - start, now)?;
            at += n as u64;
            rest = later;
        }
        Ok(())
    }

    fn next_data(&self, offset: u64) -> u64 {
        let size = u64::from(self.block_size);
        let mut at = offset;
        // Each turn passes a chunk; a few are enough to be useful.
        for _ in 0..1024 {
            if at >= self.len() {
                break;
            }
            match self.find(u32::try_from(at / size).unwrap_or(u32::MAX)) {
                Ok(chunk)
                    if matches!(
                        chunk.content,
                        Content::Nothing | Content::Fill([0, 0, 0, 0])
                    ) =>
                {
                    at = (u64::from(chunk.block) + u64::from(chunk.blocks)) * size;
                }
                _ => break,
            }
        }
        at
    }
}

fn le16(h: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([h[at], h[at + 1]])
}

fn le32(h: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([h[at], h[at + 1], h[at + 2], h[at + 3]])
}
