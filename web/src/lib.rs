//! The fslab page.
//!
//! One wasm module serves both the page and its worker: `start` looks at the
//! global object it wakes up in and becomes one or the other.
#![forbid(unsafe_code)]

mod address;
pub mod app;
mod command;
pub mod fault;
mod format;
mod input;
pub mod kinds;
mod lab_command;
mod lessons;
pub mod owner_map;
mod room;
mod route;
pub mod samples;
mod scenario;
pub mod site;
mod store;
pub mod views;
pub mod worker;

use wasm_bindgen::JsCast as _;

/// Runs the page in a window, or the engine in a dedicated worker.
pub fn start() {
    console_error_panic_hook::set_once();
    let global = js_sys::global();
    if let Some(scope) = global.dyn_ref::<web_sys::DedicatedWorkerGlobalScope>() {
        worker::host::serve(scope);
    } else if global.is_instance_of::<web_sys::Window>() {
        fault::tell_of_panics();
        yew::Renderer::<app::App>::new().render();
    }
}
