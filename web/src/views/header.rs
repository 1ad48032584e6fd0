//! The bar on top: rooms, what is open, and what can always be done.

use yew::prelude::*;

use super::lab::LabTools;
use super::progress::Progress;
use crate::command::Command;
use crate::format;
use crate::room::Room;
use crate::samples;
use crate::store::{Opened, Saving, Source, State, Store, use_store};

#[derive(Properties, PartialEq, Debug)]
pub struct Props {
    /// The room one is in.
    pub room: Room,
}

/// The bar on top.
#[component]
pub fn Header(props: &Props) -> Html {
    let store = use_store();
    html! {
        <header class="bar">
            <h1>{ "fslab" }</h1>
            <nav aria-label="Rooms">
                { for Room::ALL.iter().map(|&room| door(&store, room, room == props.room)) }
            </nav>
            <p class="what">{ what(&store.state) }</p>
            <div class="tools">
                if let Some(saving) = &store.state.saving {
                    <SaveLine saving={saving.clone()} />
                }
                { match props.room {
                    Room::Explore => html! {
                        <><CommandButton command={Command::Samples} /><CommandButton command={Command::Open} /></>
                    },
                    Room::Lab => html! { <LabTools /> },
                } }
                <CommandButton command={Command::Help} />
            </div>
        </header>
    }
}

/// The way to a room.
fn door(store: &Store, room: Room, here: bool) -> Html {
    let to = store.clone();
    let onclick = Callback::from(move |event: MouseEvent| {
        event.prevent_default();
        Command::Room(room).run(&to);
    });
    let href = match room {
        Room::Explore => "#explore",
        Room::Lab => "#lab",
    };
    html! {
        <a {href} aria-current={here.then_some("page")} {onclick}>{ room.name() }</a>
    }
}

/// The name and nature of what is open.
fn what(state: &State) -> Html {
    if state.room == Room::Lab {
        return match state.lab.info() {
            Some(run) => html! {
                <>
                    <span class="name">{ &run.title }</span>
                    if let Some(opened) = state.opened() {
                        <span class="nature">{ format!(" · {}", nature(opened)) }</span>
                    }
                </>
            },
            None => html! {},
        };
    }
    let Some(source) = &state.image.source else {
        return html! {};
    };
    let name = match source {
        Source::Sample(name) => match samples::find(name) {
            Some(sample) => sample.title.to_owned(),
            None => format!("sample {name}"),
        },
        Source::File { name, .. } => name.clone(),
        Source::Run => String::new(),
    };
    let nature = state.opened().map(|opened| nature(opened));
    html! {
        <>
            <span class="name">{ name }</span>
            if let Some(nature) = nature { <span class="nature">{ format!(" · {nature}") }</span> }
        </>
    }
}

fn nature(opened: &Opened) -> String {
    let s = &opened.summary;
    let mut words = vec![
        s.kind.clone(),
        format::bytes(s.blocks.saturating_mul(s.block_size.into())),
        format!("{} blocks", format::bytes(s.block_size.into())),
    ];
    if let Some(partition) = opened.partition {
        words.insert(0, format!("partition {partition}"));
    }
    if opened.replayed {
        words.push("as after replay".into());
    }
    words.join(", ")
}

#[derive(Properties, PartialEq, Debug)]
struct SaveProps {
    saving: Saving,
}

#[component]
fn SaveLine(props: &SaveProps) -> Html {
    let store = use_store();
    let saving = &props.saving;
    if let Some(why) = &saving.failed {
        let drop = Callback::from(move |_| store.engine.stop_saving());
        return html! {
            <div class="progress bad" role="alert">
                <span>{ format!("{} was not saved: {}", saving.name, why) }</span>
                <button type="button" onclick={drop}>{ "Dismiss" }</button>
            </div>
        };
    }
    let words = format!("Saving {}", format::percent(saving.done, saving.of));
    html! { <Progress label="Saving" done={saving.done} of={saving.of} {words} cancel=true /> }
}

#[derive(Properties, PartialEq, Debug)]
pub struct ButtonProps {
    /// What it does.
    pub command: Command,
    /// Other words than the command's name.
    #[prop_or_default]
    pub words: Option<AttrValue>,
    /// Classes.
    #[prop_or_default]
    pub class: Classes,
    /// Whether the command's effect is in force, for those that can be.
    #[prop_or_default]
    pub pressed: Option<bool>,
}

/// A button for a command; its tip tells what it does and its key.
#[component]
pub fn CommandButton(props: &ButtonProps) -> Html {
    let store = use_store();
    let command = props.command;
    let possible = command.is_possible(&store.state);
    let words = props.words.clone();
    let words = words.unwrap_or_else(|| {
        AttrValue::Static(match command {
            Command::Help => "?",
            _ => command.name(),
        })
    });
    let label = (command == Command::Help).then_some("Commands and keys");
    let run = Callback::from(move |_| command.run(&store));
    html! {
        <button type="button" class={props.class.clone()} disabled={!possible} onclick={run}
            aria-label={label} aria-pressed={props.pressed.map(|on| on.to_string())}
            title={format!("{} ({})", command.help(), command.key().1)}>{ words }</button>
    }
}
