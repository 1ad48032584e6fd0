//! Learning of an element's size.

use js_sys::Array;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::Closure;
use web_sys::{Element, ResizeObserver};
use yew::prelude::*;

/// Calls back with the element when it is there and whenever its size changes.
#[hook]
pub fn use_resize(node: &NodeRef, changed: Callback<Element>) {
    let node = node.clone();
    use_effect_with((), move |()| {
        let watch = node.cast::<Element>().and_then(|element| {
            changed.emit(element.clone());
            Watch::start(&element, changed)
        });
        move || drop(watch)
    });
}

struct Watch {
    observer: ResizeObserver,
    _call: Closure<dyn FnMut(Array)>,
}

impl Watch {
    fn start(element: &Element, changed: Callback<Element>) -> Option<Self> {
        let call = Closure::<dyn FnMut(Array)>::new({
            let element = element.clone();
            move |_| changed.emit(element.clone())
        });
        let observer = ResizeObserver::new(call.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self {
            observer,
            _call: call,
        })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}
