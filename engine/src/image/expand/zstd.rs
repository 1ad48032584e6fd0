//! Zstandard (RFC 8878): frames one after the other, skippable ones passed over.

use super::source::{Shortage, Source};
use super::store::Store;
use super::{Decoder, Stop};
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::io::Read;

/// The largest window a frame may ask for, bytes: what `zstd --ultra -22` and
/// `zstd --long` use at most without a further option.
pub const ZSTD_WINDOW_MAX: u64 = 128 << 20;

/// A last, empty, raw block and room for a checksum: fed to a decoder that failed, so
/// that it hands out what its window still holds.
const LAST_BLOCK: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Bytes taken from the decoder in a step.
const OUT: usize = 64 * 1024;

pub(super) struct Zstd {
    decoder: FrameDecoder,
    out: Vec<u8>,
    in_frame: bool,
    /// Why the frame's blocks end early; told once the window is drained.
    failed: Option<Stop>,
    first: bool,
    note: Option<String>,
}

impl Zstd {
    pub fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(ZSTD_WINDOW_MAX);
        Self {
            decoder,
            out: vec![0; OUT],
            in_frame: false,
            failed: None,
            first: true,
            note: None,
        }
    }

    /// Reads a frame's header; `true` when there is no further frame.
    fn header(&mut self, source: &mut Source) -> Result<bool, Stop> {
        if source.peek()?.is_empty() && !self.first {
            return Ok(true);
        }
        let start = source.position();
        use FrameDecoderError as E;
        match self.decoder.reset(&mut *source) {
            Ok(()) => self.in_frame = true,
            Err(E::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                if u64::from(length) > source.len() - source.position() {
                    source.skip(length.into());
                    return Err(Stop::Truncated);
                }
                source.skip(length.into());
            }
            Err(E::ReadFrameHeaderError(ReadFrameHeaderError::BadMagicNumber(magic)))
                if !self.first =>
            {
                if magic != 0 || !source.rest_is_zero()? {
                    self.note = Some(format!(
                        "The bytes from {start} on lie behind the end of the zstd data and were ignored"
                    ));
                }
                return Ok(true);
            }
            Err(E::WindowSizeTooBig { requested, max }) => {
                return Err(Stop::Corrupt(format!(
                    "it asks for a window of {requested} bytes of memory; the limit is {max}"
                )));
            }
            Err(E::DictNotProvided { dict_id }) => {
                return Err(Stop::Corrupt(format!(
                    "it was compressed with dictionary {dict_id}, which is not in the file"
                )));
            }
            Err(e) => return Err(failed(source, start, &e)),
        }
        self.first = false;
        Ok(false)
    }

    /// Decodes a block, of which at most 128 KiB come out.
    fn block(&mut self, source: &mut Source) {
        let start = source.position();
        let one = || BlockDecodingStrategy::UptoBlocks(1);
        if let Err(e) = self.decoder.decode_blocks(&mut *source, one()) {
            self.failed = Some(failed(source, start, &e));
            // What the window holds came out before the damage.
            let _ = self
                .decoder
                .decode_blocks(&mut LAST_BLOCK.as_slice(), one());
        }
    }

    /// Takes a piece of what the decoder holds; `false` when there is none.
    fn drain(&mut self, store: &mut Store) -> Result<bool, Stop> {
        let n = self
            .decoder
            .read(&mut self.out)
            .map_err(|e| Stop::Corrupt(e.to_string()))?;
        store.write(&self.out[..n])?;
        Ok(n > 0)
    }

    /// The frame's blocks are all decoded and taken.
    fn end(&mut self) -> Result<(), Stop> {
        self.in_frame = false;
        match self.failed.take() {
            Some(stop) => Err(stop),
            None => self.verify(),
        }
    }

    fn verify(&self) -> Result<(), Stop> {
        let (told, found) = (
            self.decoder.get_checksum_from_data(),
            self.decoder.get_calculated_checksum(),
        );
        match (told, found) {
            (Some(told), Some(found)) if told != found => Err(Stop::Corrupt(format!(
                "the checksum of the content is {found:08x}, the file says {told:08x}"
            ))),
            _ => Ok(()),
        }
    }
}

/// Names a failure of the decoder in the frame header or block that starts at `start`.
fn failed(source: &Source, start: u64, error: &FrameDecoderError) -> Stop {
    match source.shortage() {
        Some(Shortage::End) => Stop::Truncated,
        Some(Shortage::Failed(e)) => Stop::Read(e.clone()),
        None => Stop::Corrupt(format!("in the block that starts at byte {start}: {error}")),
    }
}

impl Decoder for Zstd {
    fn step(&mut self, source: &mut Source, store: &mut Store) -> Result<bool, Stop> {
        if !self.in_frame {
            return self.header(source);
        }
        if self.drain(store)? {
            return Ok(false);
        }
        if self.failed.is_some() || self.decoder.is_finished() {
            self.end()?;
        } else {
            self.block(source);
        }
        Ok(false)
    }

    fn note(&self) -> Option<String> {
        self.note.clone()
    }
}
