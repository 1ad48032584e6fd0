//! What there is before an image is open: the way to one, and what became of the last.

use std::rc::Rc;

use yew::prelude::*;

use super::pick;
use super::progress::Progress;
use crate::format;
use crate::route::Address;
use crate::samples;
use crate::store::{ImageState, Partitions, Source, Stage, use_store};

/// The start: drop zone and samples, under what is to be said of the image.
#[component]
pub fn Start() -> Html {
    let store = use_store();
    html! {
        <main class="start" id="main">
            { news(&store.state.image) }
            <section class="ways" aria-label="Open an image">
                <DropZone />
                <Samples />
            </section>
        </main>
    }
}

#[component]
fn DropZone() -> Html {
    html! {
        <div class="drop-zone">
            <h2>{ "An image of your own" }</h2>
            <p>
                { "Drop a file anywhere on this page: a raw image, a whole disk with \
                   partitions, qcow2, Android sparse, or any of these as gzip, zstd or xz" }
            </p>
            <button type="button" class="main-button" onclick={|_| pick::open_dialog()}>
                { "Choose a file…" }
            </button>
            <p class="soft">{ "It is read here, piece by piece, and never leaves this machine" }</p>
        </div>
    }
}

#[component]
fn Samples() -> Html {
    let store = use_store();
    let row = |sample: &'static samples::Sample| {
        let engine = store.engine.clone();
        let open = Callback::from(move |_| {
            engine.open_address(Address {
                source: Some(Source::Sample(sample.name.into())),
                ..Address::default()
            });
        });
        html! {
            <li>
                <button type="button" class="sample" onclick={open}>
                    <span class="title">{ sample.title }</span>
                    <span class="soft">{ sample.sentence }</span>
                </button>
            </li>
        }
    };
    html! {
        <div class="samples">
            <h2>{ "Samples" }</h2>
            <ul>{ for samples::SAMPLES.iter().map(row) }</ul>
        </div>
    }
}

/// What is to be said of the image that was asked for.
fn news(image: &ImageState) -> Html {
    let name = match &image.source {
        Some(Source::Sample(name)) => samples::find(name).map_or("the sample", |s| s.title),
        Some(Source::File { name, .. }) => name,
        Some(Source::Run) | None => "",
    }
    .to_owned();
    match &image.stage {
        Stage::Nothing | Stage::Open(_) => html! {
            <section class="news">
                <h2 class="big">{ "See inside an ext2, ext3 or ext4 filesystem" }</h2>
                <p>
                    { "Every block and who owns it, every file and where its bytes lie, \
                       what the journal would bring back, and what is broken" }
                </p>
            </section>
        },
        Stage::Wanted => html! {
            <section class="news">
                <h2 class="big">{ format!("Choose {name} to go on where the address leads") }</h2>
                <p>{ "A page may not open a file by itself, neither after a reload nor from a link: choose it or drop it here" }</p>
            </section>
        },
        Stage::Opening => html! {
            <section class="news" aria-busy="true">
                <h2 class="big">{ format!("Opening {name}…") }</h2>
            </section>
        },
        Stage::Expanding { done, of, produced } => html! {
            <section class="news" aria-busy="true">
                <h2 class="big">{ format!("Expanding {name}…") }</h2>
                <Progress label="Expanding" done={*done} of={*of} cancel=true
                    words={format!("{} out of {} so far", format::bytes(*produced), format::bytes(*done))} />
            </section>
        },
        Stage::Partitions(table) => html! { <PartitionTable table={Rc::clone(table)} {name} /> },
        Stage::Refused { message, advice } => html! {
            <section class="news refused" role="alert">
                <h2 class="big">{ format!("{name} cannot be opened") }</h2>
                <p>{ format::sentence(message) }</p>
                if let Some(advice) = advice {
                    <p>{ format::sentence(advice) }</p>
                }
            </section>
        },
        Stage::Cancelled => html! {
            <section class="news" role="status">
                <h2 class="big">{ format!("Expanding {name} was cancelled") }</h2>
            </section>
        },
    }
}

#[derive(Properties, PartialEq)]
struct TableProps {
    table: Rc<Partitions>,
    name: String,
}

/// The partitions of a disk, to choose one of.
#[component]
fn PartitionTable(props: &TableProps) -> Html {
    let store = use_store();
    let table = &props.table;
    let row = |row: &crate::worker::protocol::PartitionRow| {
        let engine = store.engine.clone();
        let number = row.number;
        let open = Callback::from(move |_| engine.choose(number));
        html! {
            <tr>
                <td class="figure">{ number }</td>
                <td>
                    if row.readable {
                        <button type="button" class="link" onclick={open}>
                            { format!("Open partition {number}") }
                        </button>
                    } else {
                        <span class="soft">{ "fslab does not read it" }</span>
                    }
                </td>
                <td>{ &row.content }</td>
                <td class="figure">{ format::bytes(row.len) }</td>
                <td class="figure">{ format::grouped(row.start) }</td>
                <td class="soft">{ &row.words }</td>
            </tr>
        }
    };
    html! {
        <section class="news">
            <h2 class="big">{ format!("{} holds {}", props.name, partitions(table)) }</h2>
            if !table.layers.is_empty() {
                <p class="soft">{ table.layers.join(", then ") }</p>
            }
            { for table.notes.iter().map(|note| html! { <p>{ format::sentence(note) }</p> }) }
            <div class="scroll-x">
                <table class="plain partitions">
                    <thead><tr>
                        <th class="figure">{ "No." }</th><th></th><th>{ "Content" }</th>
                        <th class="figure">{ "Size" }</th><th class="figure">{ "First byte" }</th><th>{ "Type" }</th>
                    </tr></thead>
                    <tbody>{ for table.rows.iter().map(row) }</tbody>
                </table>
            </div>
        </section>
    }
}

fn partitions(table: &Partitions) -> String {
    format!(
        "{} ({})",
        format::count(table.rows.len() as u64, "partition"),
        table.table
    )
}
