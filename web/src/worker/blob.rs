//! A file of the visitor's, read piece by piece.

use fslab_engine::disk::{Cached, ReadAt, ReadError};
use fslab_engine::image::Medium;
use js_sys::Uint8Array;
use std::rc::Rc;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Blob, DomException, FileReaderSync};

/// Bytes that are read at once: a read of 256 KiB costs little more than one of 4 KiB.
const PIECE: u32 = 256 << 10;
/// Pieces that are kept: 16 MiB.
const PIECES: usize = 64;

/// A `Blob`, read with the browser's synchronous reader, which only workers have.
struct BlobReader {
    blob: Blob,
    reader: FileReaderSync,
    len: u64,
}

/// A file as a medium, behind a bounded cache.
pub fn medium(blob: Blob) -> Result<Medium, JsValue> {
    // A length is a whole number that JavaScript keeps exactly.
    let len = blob.size() as u64;
    let reader = FileReaderSync::new()?;
    let inner = BlobReader { blob, reader, len };
    Ok(Rc::new(Cached::new(inner, PIECE, PIECES)))
}

impl ReadAt for BlobReader {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        let wanted = buf.len() as u64;
        let end = offset.saturating_add(wanted);
        if end > self.len {
            let len = self.len;
            return Err(ReadError::PastEnd {
                offset,
                wanted,
                len,
            });
        }
        let failed = |reason| ReadError::Medium {
            offset,
            wanted,
            reason,
        };
        let slice = self
            .blob
            .slice_with_f64_and_f64(offset as f64, end as f64)
            .map_err(|e| failed(words(&e)))?;
        let buffer = self
            .reader
            .read_as_array_buffer(&slice)
            .map_err(|e| failed(words(&e)))?;
        let bytes = Uint8Array::new(&buffer);
        if u64::from(bytes.length()) != wanted {
            return Err(failed("the file is shorter than it was".into()));
        }
        bytes.copy_to(buf);
        Ok(())
    }
}

/// What the browser says of a failed read, in words.
fn words(error: &JsValue) -> String {
    match error
        .dyn_ref::<DomException>()
        .map(|e| (e.name(), e.message()))
    {
        Some((name, _)) if name == "NotReadableError" || name == "NotFoundError" => {
            "the file has changed or gone since it was chosen; choose it again".into()
        }
        Some((_, message)) => message,
        None => format!("{error:?}"),
    }
}
