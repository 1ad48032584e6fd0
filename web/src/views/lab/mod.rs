//! The room for runs: a workload, the machine that runs it, and the time it takes.

mod device;
mod device_card;
mod device_disk;
mod device_flash;
mod device_inside;
mod device_map;
mod editor;
mod events;
mod figures;
mod highlight;
mod journal;
mod memory;
mod now;
mod paint;
mod player;
mod plug;
mod stage;
mod timeline;
mod tools;
mod transport;
mod workload;

pub use tools::LabTools;

use fslab_engine::view::lab::{Axis, MediumView, Window};
use gloo::timers::callback::Timeout;
use yew::prelude::*;

use self::now::Now;
use self::player::use_player;
use self::stage::Stage;
use self::timeline::Timeline;
use self::transport::Transport;
use self::workload::Workload;
use super::selection::SelectionColumn;
use crate::store::{Focus, LabAction, LabPane, LabView, Store, use_store};

/// Samples of the figures that are asked for.
const SAMPLES: u32 = 400;
/// How long an instant has to rest before its causes are looked for, ms.
const REST: u32 = 120;

/// The room.
#[component]
pub fn Lab() -> Html {
    let store = use_store();
    use_player(&store);
    use_questions(&store);
    let lab = &store.state.lab;
    let chosen = store.state.selection.focus() != Focus::Filesystem;
    html! {
        <>
            <main class={classes!("lab", pane_class(lab.pane))} id="main">
                <Workload />
                <Stage />
                <div class={classes!("side", "explained", chosen.then_some("both"))}>
                    <Now />
                    if chosen { <SelectionColumn /> }
                </div>
            </main>
            <section class="time" aria-label="Time">
                <Transport />
                <Timeline />
            </section>
            <Panes />
        </>
    }
}

fn pane_class(pane: LabPane) -> &'static str {
    match pane {
        LabPane::Stage => "pane-stage",
        LabPane::Selection => "pane-selection",
        LabPane::Workload => "pane-workload",
    }
}

/// Asks for what the pictures lack.
#[hook]
fn use_questions(store: &Store) {
    let lab = &store.state.lab;
    // What is in memory of the chosen file is told with the instant.
    let inode = store.state.selection.inode;
    {
        let (store, event) = (store.clone(), lab.event());
        use_effect_with(inode, move |inode| {
            store.engine.watch_file(*inode);
            if store.state.lab.frame.is_some() && !store.state.lab.playing {
                store.engine.seek(crate::worker::lab::Seek::Event(event));
            }
        });
    }
    // Figures, as far as the run is recorded.
    let end = lab.info().map_or(0, |run| run.end);
    let figures = lab.shown().contains(&LabView::Figures);
    {
        let engine = store.engine.clone();
        use_effect_with((lab.run, end, figures), move |&(_, end, figures)| {
            if figures && end > 0 {
                engine.ask_samples(SAMPLES);
            }
        });
    }
    // Causes and effects, once the instant rests.
    let about = lab.chosen.unwrap_or(lab.event());
    let rests = !lab.playing && lab.frame.is_some();
    let store = store.clone();
    let flash = lab.shown().contains(&LabView::Medium)
        && lab
            .frame
            .as_ref()
            .is_some_and(|f| matches!(f.medium, MediumView::Flash(_)));
    {
        let store = store.clone();
        use_effect_with(
            (lab.run, about, rests && flash, end),
            move |&(_, about, asks, _)| {
                let timer = asks.then(|| Timeout::new(REST, move || store.engine.ask_flash(about)));
                move || drop(timer)
            },
        );
    }
    use_effect_with(
        (lab.run, about, rests, end),
        move |&(_, about, rests, _)| {
            let timer = rests.then(|| Timeout::new(REST, move || store.engine.ask_chain(about)));
            move || drop(timer)
        },
    );
}

/// The part of the axis that is shown.
fn window(store: &Store, columns: u32) -> Option<Window> {
    let lab = &store.state.lab;
    let run = lab.info()?;
    let whole = match lab.axis {
        Axis::Events => (run.first, run.end),
        Axis::Time => (0, run.time_ns),
    };
    let (from, to) = lab.zoom.unwrap_or(whole);
    Some(Window {
        axis: lab.axis,
        from,
        to: to.max(from + 1),
        columns,
    })
}

/// The narrow screen's way from one part of the room to another.
#[component]
fn Panes() -> Html {
    let store = use_store();
    let button = |(pane, name): (LabPane, &'static str)| {
        let (to, on) = (store.clone(), store.state.lab.pane == pane);
        let onclick = Callback::from(move |_| to.lab(LabAction::Pane(pane)));
        html! {
            <button type="button" aria-current={on.then_some("true")} {onclick}>{ name }</button>
        }
    };
    let all = [
        (LabPane::Stage, "Pictures"),
        (LabPane::Selection, "Explained"),
        (LabPane::Workload, "Workload"),
    ];
    html! { <nav class="panes three" aria-label="Parts of the room">{ for all.into_iter().map(button) }</nav> }
}
