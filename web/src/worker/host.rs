//! The worker's side: receives requests, asks the engine, answers.

use js_sys::Array;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::Closure;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use super::envelope;
use super::protocol::{Answer, Request};

/// Answers every message from now on.
pub fn serve(scope: &DedicatedWorkerGlobalScope) {
    let receive = Closure::<dyn FnMut(MessageEvent)>::new({
        let scope = scope.clone();
        move |event: MessageEvent| match envelope::open::<Request>(event.data()) {
            Ok((request, _extras)) => post(&scope, &answer(request)),
            Err(error) => post(&scope, &unreadable(&error)),
        }
    });
    scope.set_onmessage(Some(receive.as_ref().unchecked_ref()));
    // Lives as long as the worker does.
    receive.forget();
}

/// What the engine says to `request`.
pub fn answer(request: Request) -> Answer {
    match request {
        Request::Ping => Answer::Pong {
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        _ => Answer::Failed {
            message: "The worker cannot do this yet.".into(),
        },
    }
}

fn unreadable(error: &serde_wasm_bindgen::Error) -> Answer {
    Answer::Failed {
        message: format!("The worker could not read a message: {error}."),
    }
}

fn post(scope: &DedicatedWorkerGlobalScope, answer: &Answer) {
    let sent = envelope::seal(answer, &Array::new(), Array::new())
        .map_err(Into::into)
        .and_then(|sealed| scope.post_message_with_transfer(&sealed.message, &sealed.transfer));
    if let Err(error) = sent {
        // Thrown errors reach the page through the worker's error event.
        wasm_bindgen::throw_val(error);
    }
}
