//! The engine gives the same answers natively and as wasm.
//!
//! Every test here runs in both: with the native tests and, in a browser, with
//! the wasm tests. A test file of the engine that uses nothing but its public
//! interface can be run as wasm too by naming it here as a module
//! (`#[path = "../../engine/tests/….rs"] mod …;`), with both attributes on each
//! of its tests.

use fslab_engine::ext4::checksum;

#[cfg(target_arch = "wasm32")]
wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_browser);

#[cfg_attr(target_arch = "wasm32", wasm_bindgen_test::wasm_bindgen_test)]
#[cfg_attr(not(target_arch = "wasm32"), test)]
fn crc32c_is_the_standard_one() {
    // The published check value, without the final inversion that ext4 leaves out.
    assert_eq!(!checksum::crc32c(!0, b"123456789"), 0xE306_9283);
}
