//! A file's contents on their way to the visitor's disk.

use js_sys::Array;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use crate::worker::protocol::Query;

/// Bytes asked for at once.
const PIECE: u64 = 4 << 20;

/// How long the browser may take to begin its download, in milliseconds.
const GRACE: u32 = 60_000;

/// How far a save is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Saving {
    /// The file.
    pub inode: u32,
    /// The name that it is saved by.
    pub name: String,
    /// Bytes that have come.
    pub done: u64,
    /// Bytes in all.
    pub of: u64,
    /// Why it stopped short, in a sentence.
    pub failed: Option<String>,
}

/// A save under way: the pieces that have come.
pub(super) struct Job {
    saving: Saving,
    pieces: Array,
}

impl Job {
    pub(super) fn new(inode: u32, name: String, size: u64) -> Self {
        Self {
            saving: Saving {
                inode,
                name,
                done: 0,
                of: size,
                failed: None,
            },
            pieces: Array::new(),
        }
    }

    pub(super) fn progress(&self) -> Saving {
        self.saving.clone()
    }

    /// The piece to ask for; `None` once all are there.
    pub(super) fn next(&self) -> Option<Query> {
        let left = self.saving.of.saturating_sub(self.saving.done);
        (left > 0).then(|| Query::Bytes {
            nr: self.saving.inode,
            offset: self.saving.done,
            len: left.min(PIECE) as u32,
        })
    }

    pub(super) fn add(&mut self, piece: JsValue, len: u32) {
        if len == 0 {
            return self.fail(format!(
                "The file ends after {} bytes, though its size is {}",
                self.saving.done, self.saving.of
            ));
        }
        // As a blob, so that the browser may keep it elsewhere than in memory.
        match Blob::new_with_buffer_source_sequence(&Array::of1(&piece)) {
            Ok(blob) => {
                self.pieces.push(&blob);
                self.saving.done += u64::from(len);
            }
            Err(error) => self.fail(format!("The browser does not keep the bytes: {error:?}")),
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        self.saving.failed = Some(why);
    }

    /// Hands the file to the browser's downloads.
    pub(super) fn finish(self) -> Result<(), Saving> {
        download(&self.pieces, &self.saving.name).map_err(|error| Saving {
            failed: Some(format!("The browser does not save it: {error:?}")),
            ..self.saving
        })
    }
}

/// Saves bytes or a text that are in memory as a whole.
pub fn download_bytes(bytes: &JsValue, name: &str) {
    let done = Blob::new_with_buffer_source_sequence(&Array::of1(bytes))
        .and_then(|blob| download(&Array::of1(&blob), name));
    if let Err(error) = done {
        // The browser tells the visitor by itself what it does not allow.
        web_sys::console::warn_1(&error);
    }
}

fn download(pieces: &Array, name: &str) -> Result<(), JsValue> {
    // Without a type, Chromium looks at the bytes and saves "services" as "services.txt".
    let options = BlobPropertyBag::new();
    options.set_type("application/octet-stream");
    let blob = Blob::new_with_blob_sequence_and_options(pieces, &options)?;
    let address = Url::create_object_url_with_blob(&blob)?;
    let document = gloo::utils::document();
    let anchor: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    anchor.set_href(&address);
    anchor.set_download(name);
    anchor.click();
    gloo::timers::callback::Timeout::new(GRACE, move || {
        // That it is gone already is no harm.
        let _ = Url::revoke_object_url(&address);
    })
    .forget();
    Ok(())
}
