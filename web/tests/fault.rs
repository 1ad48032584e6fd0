//! What the page says after a fault of its own, in a real browser:
//! `cargo xtask test --only wasm-tests`.
#![cfg(target_arch = "wasm32")]

use fslab_web::fault;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn a_fault_is_told_once_and_as_text() {
    fault::show("<b>index out of bounds</b>").unwrap();
    fault::show("and another that follows from it").unwrap();
    let document = gloo::utils::document();
    assert_eq!(document.query_selector_all(".fault").unwrap().length(), 1);
    let said = document.query_selector("[role=alert] p").unwrap().unwrap();
    let text = said.text_content().unwrap();
    assert!(text.contains("<b>index out of bounds</b>"), "{text}");
    let way = document.query_selector(".fault a").unwrap().unwrap();
    assert_eq!(way.get_attribute("href").as_deref(), Some("./"));
}
