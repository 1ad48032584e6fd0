//! The worker's side: hands requests to the session, posts its answers, and keeps its
//! work going in slices between messages.

use std::cell::RefCell;
use std::rc::Rc;

use fslab_engine::view::owners::MapRun;
use js_sys::{Array, Float64Array, Uint8Array, Uint32Array};
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Blob, DedicatedWorkerGlobalScope, MessageChannel, MessageEvent, MessagePort};

use super::protocol::{Answer, Request};
use super::session::{Extra, Say, Session};
use super::{blob, envelope};

/// Milliseconds of work between two looks at the messages.
const SLICE: f64 = 10.0;

/// Answers every message from now on.
pub fn serve(scope: &DedicatedWorkerGlobalScope) {
    tell_of_panics();
    let host = Rc::new(Host::new(scope));
    let receive = Closure::<dyn FnMut(MessageEvent)>::new({
        let host = host.clone();
        move |event: MessageEvent| host.hear(event.data())
    });
    let turn = Closure::<dyn FnMut(MessageEvent)>::new({
        let host = host.clone();
        move |_| host.go_on()
    });
    scope.set_onmessage(Some(receive.as_ref().unchecked_ref()));
    host.turns
        .set_onmessage(Some(turn.as_ref().unchecked_ref()));
    // They live as long as the worker does.
    receive.forget();
    turn.forget();
}

/// Has the page told of a panic in its own words: after it, the worker does no more.
fn tell_of_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        before(panic);
        let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
        let message = match panic.location() {
            Some(at) => format!("{} ({}, line {})", words(panic), at.file(), at.line()),
            None => words(panic).into(),
        };
        let sealed = envelope::seal(&Answer::Failed { message }, &Array::new(), Array::new());
        // If even this fails, the error event that follows tells the page.
        if let Ok(sealed) = sealed {
            let _ = scope.post_message(&sealed.message);
        }
    }));
}

fn words<'a>(panic: &'a std::panic::PanicHookInfo<'_>) -> &'a str {
    panic.payload_as_str().unwrap_or("a fault without words")
}

struct Host {
    scope: DedicatedWorkerGlobalScope,
    session: RefCell<Session>,
    /// A message sent here comes back after those that wait, without a timer's delay.
    next: MessagePort,
    turns: MessagePort,
}

impl Host {
    fn new(scope: &DedicatedWorkerGlobalScope) -> Self {
        let channel = MessageChannel::new().unwrap_or_else(|error| wasm_bindgen::throw_val(error));
        Self {
            scope: scope.clone(),
            session: RefCell::default(),
            next: channel.port1(),
            turns: channel.port2(),
        }
    }

    fn hear(&self, message: JsValue) {
        let says = match envelope::open::<Request>(message) {
            Ok((request, extras)) => self.ask(request, extras.get(0)),
            Err(error) => vec![failed(format!("a message could not be read: {error}"))],
        };
        self.post_all(says);
    }

    fn ask(&self, request: Request, file: JsValue) -> Vec<Say> {
        let medium = match file.dyn_into::<Blob>().map(blob::medium) {
            Ok(Ok(medium)) => Some(medium),
            Ok(Err(error)) => {
                return vec![failed(format!(
                    "the browser gives no access to files: {error:?}"
                ))];
            }
            Err(_) => None,
        };
        let mut session = self.session.borrow_mut();
        let was_busy = session.is_busy();
        let says = session.hear(request, medium);
        if session.is_busy() && !was_busy {
            self.take_turn();
        }
        says
    }

    fn go_on(&self) {
        let clock = self.scope.performance();
        let now = || clock.as_ref().map_or(0.0, web_sys::Performance::now);
        let mut session = self.session.borrow_mut();
        let says = session.work(&now, SLICE);
        if session.is_busy() {
            self.take_turn();
        }
        drop(session);
        self.post_all(says);
    }

    fn take_turn(&self) {
        if let Err(error) = self.next.post_message(&JsValue::NULL) {
            wasm_bindgen::throw_val(error);
        }
    }

    fn post_all(&self, says: Vec<Say>) {
        for (answer, extra) in says {
            let extras = extras(&extra);
            let sent = envelope::seal(&answer, &extras, buffers(&extras))
                .map_err(Into::into)
                .and_then(|s| {
                    self.scope
                        .post_message_with_transfer(&s.message, &s.transfer)
                });
            if let Err(error) = sent {
                // Thrown errors reach the page through the worker's error event.
                wasm_bindgen::throw_val(error);
            }
        }
    }
}

fn failed(message: String) -> Say {
    (Answer::Failed { message }, Extra::None)
}

/// What goes with an answer, as JavaScript's own.
fn extras(extra: &Extra) -> Array {
    match extra {
        Extra::None => Array::new(),
        Extra::Map(runs) => columns(runs),
        Extra::Bytes(bytes) => Array::of1(&Uint8Array::from(bytes.as_slice()).buffer()),
    }
}

/// A map as five typed arrays; see [`Answer::Mapped`].
fn columns(runs: &[MapRun]) -> Array {
    let starts: Vec<f64> = runs.iter().map(|r| r.start as f64).collect();
    let lens: Vec<u32> = runs.iter().map(|r| r.len).collect();
    let inodes: Vec<u32> = runs.iter().map(|r| r.inode).collect();
    let kinds: Vec<u8> = runs.iter().map(|r| r.kind as u8).collect();
    let flags: Vec<u8> = runs.iter().map(|r| r.flags.bits()).collect();
    Array::of5(
        &Float64Array::from(&starts[..]),
        &Uint32Array::from(&lens[..]),
        &Uint32Array::from(&inodes[..]),
        &Uint8Array::from(&kinds[..]),
        &Uint8Array::from(&flags[..]),
    )
}

/// The buffers behind extras: their ownership moves, so that nothing is copied.
fn buffers(extras: &Array) -> Array {
    let buffer = |value: JsValue| match value.dyn_ref::<js_sys::Object>() {
        Some(view) if js_sys::ArrayBuffer::is_view(view) => {
            js_sys::Reflect::get(view, &"buffer".into()).unwrap_or(JsValue::NULL)
        }
        _ => value,
    };
    extras
        .iter()
        .map(buffer)
        .filter(|b| b.is_instance_of::<js_sys::ArrayBuffer>())
        .collect()
}
