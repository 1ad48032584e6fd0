//! The form of a message in JavaScript: `[body, extras]`.

use js_sys::Array;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsValue;

/// A message made ready for `postMessage`.
#[derive(Debug)]
pub struct Envelope {
    pub message: JsValue,
    /// The extras whose ownership moves to the receiver.
    pub transfer: Array,
}

/// Packs `body` together with values that serde cannot carry; those in
/// `transfer` must also be among `extras`, or be part of them.
pub fn seal<T: Serialize>(
    body: &T,
    extras: &Array,
    transfer: Array,
) -> Result<Envelope, serde_wasm_bindgen::Error> {
    // Any u64 may stand in a damaged image; as a plain number those above 2^53
    // would be refused.
    let serializer =
        serde_wasm_bindgen::Serializer::new().serialize_large_number_types_as_bigints(true);
    let body = body.serialize(&serializer)?;
    Ok(Envelope {
        message: Array::of2(&body, extras).into(),
        transfer,
    })
}

/// Unpacks what `seal` made, as it arrives in `MessageEvent::data`.
pub fn open<T: DeserializeOwned>(
    message: JsValue,
) -> Result<(T, Array), serde_wasm_bindgen::Error> {
    let parts = Array::from(&message);
    let body = serde_wasm_bindgen::from_value(parts.get(0))?;
    Ok((body, Array::from(&parts.get(1))))
}
