//! How far something is, with a way to stop it.

use yew::prelude::*;

use crate::command::Command;
use crate::store::use_store;

#[derive(Properties, PartialEq)]
pub struct Props {
    /// What is under way.
    pub label: AttrValue,
    /// Steps done.
    pub done: u64,
    /// Steps in all; 0 if unknown.
    pub of: u64,
    /// How far it is, in words.
    pub words: AttrValue,
    /// Whether it can be stopped.
    #[prop_or_default]
    pub cancel: bool,
}

/// A bar, words and a button.
#[component]
pub fn Progress(props: &Props) -> Html {
    let store = use_store();
    let part = if props.of == 0 {
        0.0
    } else {
        (props.done as f64 / props.of as f64).min(1.0)
    };
    let stop = Callback::from(move |_| Command::Cancel.run(&store));
    html! {
        <div class="progress">
            <progress aria-label={props.label.clone()} value={part.to_string()} max="1" />
            <span class="figure">{ &props.words }</span>
            if props.cancel {
                <button type="button" onclick={stop} title="Cancel (X)">{ "Cancel" }</button>
            }
        </div>
    }
}
