//! The page's root.

use std::rc::Rc;

use yew::prelude::*;

use crate::worker::link::Link;
use crate::worker::protocol::{Answer, Request};

#[component]
pub fn App() -> Html {
    let status = use_state(|| String::from("Starting the engine…"));
    // Held for as long as the page lives: dropping the link ends the worker.
    let link = use_mut_ref(|| None::<Rc<Link>>);

    use_effect_with((), {
        let status = status.clone();
        move |()| match Link::start(Callback::from({
            let status = status.clone();
            move |answer: Answer| status.set(describe(&answer))
        })) {
            Ok(started) => {
                started.send(&Request::Ping);
                *link.borrow_mut() = Some(Rc::new(started));
            }
            Err(error) => status.set(format!("The engine did not start: {error:?}")),
        }
    });

    html! {
        <>
            <header><h1>{ "fslab" }</h1></header>
            <main><p role="status">{ (*status).clone() }</p></main>
        </>
    }
}

fn describe(answer: &Answer) -> String {
    match answer {
        Answer::Pong { version } => format!("Engine {version} is ready"),
        Answer::Failed { message } => format!("The engine stopped: {message}"),
    }
}
