//! The engine runs in a worker; this is all of the way there and back.
//!
//! How a message passes: `link` (in the page) turns a [`protocol::Request`] into
//! a JavaScript value with serde-wasm-bindgen and posts the array
//! `[body, extras]`. `web/js/worker.js` keeps what arrives before the wasm is
//! ready and hands it over then, so nothing is lost and nobody has to wait for a
//! greeting. `host` (in the worker) reads the body, answers with
//! [`protocol::Answer`] in the same form, and `link` calls the page back.
//!
//! `extras` holds what serde cannot carry: `File` and `Blob` (cloned by
//! reference), `ArrayBuffer` and `OffscreenCanvas` (moved, if also named in the
//! transfer list). This is why the worker is a plain `web_sys::Worker`.

pub mod blob;
pub mod envelope;
pub mod host;
pub mod lab;
pub mod link;
pub mod protocol;
pub mod session;
