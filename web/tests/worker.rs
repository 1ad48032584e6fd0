//! Runs in a real browser: `cargo xtask test --only wasm-tests`.
#![cfg(target_arch = "wasm32")]

use fslab_web::worker::envelope;
use fslab_web::worker::protocol::Request;
use js_sys::Array;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn a_request_survives_the_envelope() {
    let extras = Array::of1(&"a file would stand here".into());
    let sealed = envelope::seal(&Request::Ping, &extras, Array::new()).unwrap();
    let (request, unpacked): (Request, Array) = envelope::open(sealed.message).unwrap();
    assert_eq!(request, Request::Ping);
    assert_eq!(unpacked.length(), 1);
}

#[wasm_bindgen_test]
fn numbers_beyond_2_53_survive_the_envelope() {
    let sealed = envelope::seal(&u64::MAX, &Array::new(), Array::new()).unwrap();
    let (number, _): (u64, Array) = envelope::open(sealed.message).unwrap();
    assert_eq!(number, u64::MAX);
}
