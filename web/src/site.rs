//! Where the page's own files are.
//!
//! The site must work under any path of any host, and `dist` puts its files in
//! a folder named by their contents. So nothing here knows a path: everything
//! is found relative to the script that started the page.

use wasm_bindgen::{JsCast as _, JsValue};

/// The `id` of that script in `index.html`.
const BOOT_ID: &str = "boot";

/// The address of a file that stands beside the boot script, such as
/// `worker.js` or `assets/samples/small.img.xz`.
pub fn address_of(file: &str) -> Result<String, JsValue> {
    let boot = web_sys::window()
        .and_then(|window| window.document())
        .and_then(|document| document.get_element_by_id(BOOT_ID))
        .and_then(|element| element.dyn_into::<web_sys::HtmlScriptElement>().ok())
        .ok_or_else(|| JsValue::from_str("The page has no script with the id “boot”."))?;
    Ok(web_sys::Url::new_with_base(file, &boot.src())?.href())
}
