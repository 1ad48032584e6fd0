//! What the page says of a fault of its own. What draws the page may be the very thing
//! that failed, so this is written into the document without it.

use std::panic::PanicHookInfo;

use wasm_bindgen::JsValue;

/// Has the visitor told of a panic in the page, after which it draws no more.
pub fn tell_of_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        // Where even this fails, the console has it.
        let _ = show(&words(panic));
    }));
}

fn words(panic: &PanicHookInfo<'_>) -> String {
    let words = panic.payload_as_str().unwrap_or("a fault without words");
    match panic.location() {
        Some(at) => format!("{words} ({}, line {})", at.file(), at.line()),
        None => words.into(),
    }
}

/// Says at the top of the page that it stopped, and why; once.
pub fn show(why: &str) -> Result<(), JsValue> {
    let document = gloo::utils::document();
    if document.query_selector(".fault")?.is_some() {
        return Ok(());
    }
    let banner = document.create_element("div")?;
    banner.set_class_name("banner bad fault");
    banner.set_attribute("role", "alert")?;
    let text = document.create_element("p")?;
    text.set_text_content(Some(&format!(
        "This page stopped, by a fault of its own: {why}. Reload it to go on where you were"
    )));
    banner.append_child(&text)?;
    // It leaves the place in the address behind, which may be what the page stopped at.
    let anew = document.create_element("a")?;
    anew.set_class_name("link");
    anew.set_attribute("href", "./")?;
    anew.set_text_content(Some("Start anew"));
    banner.append_child(&anew)?;
    gloo::utils::body().prepend_with_node_1(&banner)
}
