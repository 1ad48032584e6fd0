//! The page's side: starts the worker, sends requests, hands on the answers.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::Array;
use serde::Serialize;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{ErrorEvent, Event, MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

use super::envelope;
use super::protocol::{Answer, Request};
use crate::site;

/// A running worker. Dropping it ends the worker, whatever it is doing.
///
/// A worker that fails does no more: it is ended, and nothing is heard of it after its
/// one [`Answer::Failed`]. To go on, start another and open what was open again.
#[derive(Debug)]
pub struct Link {
    worker: Worker,
    _receive: Closure<dyn FnMut(MessageEvent)>,
    _fail: Closure<dyn FnMut(Event)>,
}

impl Link {
    /// Starts a worker; `on_answer` is called for each of its answers, and once
    /// with [`Answer::Failed`] if it panics, runs out of memory or cannot be loaded.
    pub fn start(on_answer: Callback<(Answer, Array)>) -> Result<Self, JsValue> {
        Self::start_at(&site::address_of("worker.js")?, on_answer)
    }

    /// The same with a worker's script at `address`.
    pub fn start_at(address: &str, on_answer: Callback<(Answer, Array)>) -> Result<Self, JsValue> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(address, &options)?;

        let ears = Ears {
            worker: worker.clone(),
            failed: Rc::default(),
            on_answer,
        };
        let receive = Closure::new({
            let ears = ears.clone();
            move |event: MessageEvent| ears.hear(read(event.data()))
        });
        let fail = Closure::new(move |event: Event| {
            let message = words(&event);
            ears.hear((Answer::Failed { message }, Array::new()));
        });
        worker.set_onmessage(Some(receive.as_ref().unchecked_ref()));
        worker.set_onerror(Some(fail.as_ref().unchecked_ref()));
        Ok(Self {
            worker,
            _receive: receive,
            _fail: fail,
        })
    }

    /// Sends a request that is all data.
    pub fn send(&self, request: &Request) {
        self.send_with(request, &Array::new(), Array::new());
    }

    /// Sends a request with values that serde cannot carry (see `worker`).
    pub fn send_with<T: Serialize>(&self, request: &T, extras: &Array, transfer: Array) {
        let sent = envelope::seal(request, extras, transfer)
            .map_err(Into::into)
            .and_then(|sealed| {
                self.worker
                    .post_message_with_transfer(&sealed.message, &sealed.transfer)
            });
        if let Err(error) = sent {
            // Only a value that cannot be cloned gets here: a fault of ours.
            wasm_bindgen::throw_val(error);
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.worker.terminate();
        // What is already on its way must find nobody: the closures go too.
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
    }
}

/// Where a worker's answers and its failure arrive.
#[derive(Clone)]
struct Ears {
    worker: Worker,
    failed: Rc<Cell<bool>>,
    on_answer: Callback<(Answer, Array)>,
}

impl Ears {
    fn hear(&self, answer: (Answer, Array)) {
        // A panic is told twice: by the worker in its words, then by the browser.
        if self.failed.get() {
            return;
        }
        if matches!(answer.0, Answer::Failed { .. }) {
            self.failed.set(true);
            self.worker.terminate();
        }
        self.on_answer.emit(answer);
    }
}

fn read(message: JsValue) -> (Answer, Array) {
    match envelope::open(message) {
        Ok(answer) => answer,
        Err(error) => {
            let message = format!("an answer could not be read: {error}");
            (Answer::Failed { message }, Array::new())
        }
    }
}

/// What an error event tells. One of a script that could not be loaded tells nothing.
fn words(event: &Event) -> String {
    let message = event
        .dyn_ref::<ErrorEvent>()
        .map_or_else(String::new, ErrorEvent::message);
    // What a wasm module says that has no memory left, and after a panic, when its own
    // words have come before.
    let trapped = ["unreachable", "out of bounds", "Maximum call stack"]
        .iter()
        .any(|trap| message.contains(trap));
    match message.as_str() {
        "" => "its files could not be loaded".into(),
        _ if trapped => format!("it ran out of memory, or into a fault of its own ({message})"),
        _ => message,
    }
}
