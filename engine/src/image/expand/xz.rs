//! xz (the .xz file format, version 1.2.1), by lzma-rust2's decoder that does no I/O.

use super::source::Source;
use super::store::Store;
use super::{Decoder, Stop};
use lzma_rust2::{Action, Status, XzStream};
use std::io::ErrorKind;

/// Memory that a block's dictionary may ask for, KiB: `xz -9` takes 65 MiB, and larger
/// ones must be asked for on purpose.
pub const XZ_MEMORY_MAX_KIB: u32 = 256 * 1024;
const OUT: usize = 64 * 1024;

pub(super) struct Xz {
    stream: XzStream,
    out: Vec<u8>,
}

impl Xz {
    pub fn new() -> Self {
        Self {
            stream: XzStream::new_mem_limit(true, XZ_MEMORY_MAX_KIB),
            out: vec![0; OUT],
        }
    }
}

impl Decoder for Xz {
    fn step(&mut self, source: &mut Source, store: &mut Store) -> Result<bool, Stop> {
        let input = source.peek()?;
        let at_end = input.is_empty();
        let action = if at_end { Action::Finish } else { Action::Run };
        let (in_before, out_before) = (self.stream.total_in(), self.stream.total_out());
        let result = self.stream.process(input, &mut self.out, action);
        let used = (self.stream.total_in() - in_before) as usize;
        let made = (self.stream.total_out() - out_before) as usize;
        source.consume(used);
        store.write(&self.out[..made.min(OUT)])?;
        match result {
            Ok(r) if r.status == Status::StreamEnd => Ok(true),
            Ok(_) if used == 0 && made == 0 => Err(if at_end {
                Stop::Truncated
            } else {
                Stop::Corrupt("the compressed data does not go on".into())
            }),
            Ok(_) => Ok(false),
            Err(e) => Err(match e.kind() {
                ErrorKind::UnexpectedEof => Stop::Truncated,
                ErrorKind::OutOfMemory => Stop::Corrupt(format!(
                    "it asks for {} KiB of memory; the limit is {XZ_MEMORY_MAX_KIB} KiB",
                    self.stream.memory_usage().unwrap_or(u32::MAX)
                )),
                _ => Stop::Corrupt(e.to_string()),
            }),
        }
    }
}
