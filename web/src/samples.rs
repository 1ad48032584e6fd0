//! The samples: small images that come with the page.

use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, Response};

use crate::site;

/// An image that comes with the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Its name in the address.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// What there is to see in it.
    pub sentence: &'static str,
    /// Its file beside the page.
    pub file: &'static str,
}

/// The samples, the one for a first visit first.
pub const SAMPLES: &[Sample] = &[
    Sample {
        name: "small",
        title: "A small ext4",
        sentence: "Files whole, in pieces, with holes and deleted, in eight small groups; a directory with a hash tree, links, attributes, odd names",
        file: "assets/samples/small.img.xz",
    },
    Sample {
        name: "ext2",
        title: "ext2 from the nineties",
        sentence: "No journal, no extents, no checksums: a core dump found by single, double and triple indirect blocks",
        file: "assets/samples/ext2.img.xz",
    },
    Sample {
        name: "journal",
        title: "A journal in use",
        sentence: "Copied while it was mounted and busy: transactions that wait to be replayed, revoked blocks, a file deleted while open",
        file: "assets/samples/journal.img.xz",
    },
    Sample {
        name: "damaged",
        title: "A damaged one",
        sentence: "Its superblock is gone, two files claim one block, an extent leads past the end, and the bitmap is wrong in two places",
        file: "assets/samples/damaged.img.xz",
    },
];

/// The sample of a name.
pub fn find(name: &str) -> Option<&'static Sample> {
    SAMPLES.iter().find(|sample| sample.name == name)
}

/// Fetches a sample's file; the error is a sentence.
pub async fn fetch(sample: &Sample) -> Result<Blob, String> {
    let failed = |error: wasm_bindgen::JsValue| {
        format!(
            "The sample “{}” could not be fetched: {error:?}",
            sample.title
        )
    };
    let address = site::address_of(sample.file).map_err(failed)?;
    let window = gloo::utils::window();
    let response = JsFuture::from(window.fetch_with_str(&address))
        .await
        .map_err(failed)?;
    let response: Response = response.dyn_into().map_err(failed)?;
    if !response.ok() {
        return Err(format!(
            "The sample “{}” could not be fetched: the server says {}",
            sample.title,
            response.status()
        ));
    }
    let blob = JsFuture::from(response.blob().map_err(failed)?)
        .await
        .map_err(failed)?;
    blob.dyn_into().map_err(failed)
}
