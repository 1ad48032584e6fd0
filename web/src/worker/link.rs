//! The page's side: starts the worker, sends requests, hands on the answers.

use js_sys::Array;
use serde::Serialize;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

use super::envelope;
use super::protocol::{Answer, Request};
use crate::site;

/// A running worker. Dropping it ends the worker, whatever it is doing.
#[derive(Debug)]
pub struct Link {
    worker: Worker,
    _receive: Closure<dyn FnMut(MessageEvent)>,
    _fail: Closure<dyn FnMut(ErrorEvent)>,
}

impl Link {
    /// Starts a worker; `on_answer` is called for each of its answers, and once
    /// with [`Answer::Failed`] if it panics.
    pub fn start(on_answer: Callback<(Answer, Array)>) -> Result<Self, JsValue> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let worker = Worker::new_with_options(&site::address_of("worker.js")?, &options)?;

        let receive = Closure::new({
            let on_answer = on_answer.clone();
            move |event: MessageEvent| on_answer.emit(read(event.data()))
        });
        let fail = Closure::new(move |event: ErrorEvent| {
            let message = event.message();
            on_answer.emit((Answer::Failed { message }, Array::new()));
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
    }
}

fn read(message: JsValue) -> (Answer, Array) {
    match envelope::open(message) {
        Ok(answer) => answer,
        Err(error) => {
            let message = format!("An answer could not be read: {error}.");
            (Answer::Failed { message }, Array::new())
        }
    }
}
