//! What the page hears of a worker that fails: `cargo xtask test --only wasm-tests`.
#![cfg(target_arch = "wasm32")]

use std::cell::RefCell;
use std::rc::Rc;

use fslab_web::worker::link::Link;
use fslab_web::worker::protocol::Answer;
use js_sys::{Array, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{Blob, BlobPropertyBag, Url};
use yew::Callback;

wasm_bindgen_test_configure!(run_in_browser);

/// The address of a worker's script.
fn script(text: &str) -> String {
    let options = BlobPropertyBag::new();
    options.set_type("text/javascript");
    let parts = Array::of1(&JsValue::from(text));
    let blob = Blob::new_with_str_sequence_and_options(&parts, &options).unwrap();
    Url::create_object_url_with_blob(&blob).unwrap()
}

async fn wait(milliseconds: i32) {
    let promise = Promise::new(&mut |done, _| {
        let window = web_sys::window().unwrap();
        window
            .set_timeout_with_callback_and_timeout_and_arguments_0(&done, milliseconds)
            .unwrap();
    });
    JsFuture::from(promise).await.unwrap();
}

/// What is heard of a worker within a second.
async fn heard(address: &str) -> Vec<Answer> {
    let heard: Rc<RefCell<Vec<Answer>>> = Rc::default();
    let ears = Rc::clone(&heard);
    let link = Link::start_at(
        address,
        Callback::from(move |(answer, _)| ears.borrow_mut().push(answer)),
    );
    let link = link.unwrap();
    for _ in 0..20 {
        wait(50).await;
        if !heard.borrow().is_empty() {
            // Whatever may follow.
            wait(100).await;
            break;
        }
    }
    drop(link);
    heard.take()
}

fn failure(answers: &[Answer]) -> &str {
    match answers {
        [Answer::Failed { message }] => message,
        other => panic!("{other:?}"),
    }
}

#[wasm_bindgen_test]
async fn a_worker_that_throws_has_failed() {
    let answers = heard(&script("setTimeout(() => { throw new Error('no more'); })")).await;
    assert!(failure(&answers).contains("no more"), "{answers:?}");
}

#[wasm_bindgen_test]
async fn a_worker_that_traps_has_failed_once() {
    // A module of one function that is `unreachable`: what a panic ends in.
    let text = "const code = new Uint8Array([0,97,115,109,1,0,0,0, 1,4,1,96,0,0, 3,2,1,0, \
        7,5,1,1,102,0,0, 10,5,1,3,0,0,11]);
        const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code));
        onmessage = () => {};
        setInterval(() => exports.f(), 10);";
    let answers = heard(&script(text)).await;
    assert!(failure(&answers).contains("out of memory"), "{answers:?}");
}

#[wasm_bindgen_test]
async fn a_worker_that_cannot_be_loaded_has_failed() {
    let answers = heard("/there-is-no-such-worker.js").await;
    // The runner of these tests has a wrapper around workers, with words of its own.
    let words = failure(&answers);
    assert!(
        words.contains("loaded") || words.contains("fetch"),
        "{words}"
    );
}

#[wasm_bindgen_test]
async fn a_worker_that_speaks_another_language_has_failed() {
    let answers = heard(&script("postMessage([{ Sing: 'la' }, []])")).await;
    assert!(
        failure(&answers).contains("could not be read"),
        "{answers:?}"
    );
}
