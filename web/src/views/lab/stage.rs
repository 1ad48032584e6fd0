//! The middle: one to four pictures of the visitor's choice.

use yew::prelude::*;

use super::device::DevicePicture;
use super::device_inside::Inside;
use super::events::Events;
use super::figures::Figures;
use super::journal::RingPicture;
use super::memory::Memory;
use super::plug::PlugPicture;
use crate::command::Command;
use crate::format;
use crate::lab_command::LabCommand;
use crate::store::{LabView, Stage as ImageStage, Store, use_store};
use crate::views::files::Files;
use crate::views::groups::Groups;
use crate::views::header::CommandButton;
use crate::views::map_picture::MapPicture;
use crate::views::tree::Tree;

/// The choice of pictures, and the pictures.
#[component]
pub fn Stage() -> Html {
    let store = use_store();
    let lab = &store.state.lab;
    let shown = lab.shown();
    let button = |view: LabView| {
        html! {
            <CommandButton command={Command::Lab(LabCommand::View(view))} pressed={shown.contains(&view)} />
        }
    };
    html! {
        <div class="stage">
            <div class="choice" role="group" aria-label="Pictures">
                { for LabView::ALL.into_iter().map(button) }
                <CommandButton command={Command::Lab(LabCommand::Full)} pressed={lab.full.is_some()}
                    words={if lab.full.is_some() { "Several" } else { "Full stage" }} class={classes!("last")} />
            </div>
            <div class={classes!("pictures", "lab-pictures", format!("n{}", shown.len()))}>
                if lab.frame.is_none() {
                    { empty(&store) }
                } else {
                    { for shown.iter().map(|view| picture(&store, *view)) }
                }
            </div>
        </div>
    }
}

/// What there is before the first instant.
fn empty(store: &Store) -> Html {
    let lab = &store.state.lab;
    if lab.mistakes.is_empty() {
        return html! { <p class="hint" aria-busy="true">{ "Setting up the machine…" }</p> };
    }
    html! {
        <div class="hint bad" role="alert">
            { "The scenario cannot be run: what is wrong is marked in it" }
        </div>
    }
}

fn picture(store: &Store, view: LabView) -> Html {
    let of_disk = matches!(
        view,
        LabView::Blocks | LabView::Files | LabView::Extents | LabView::Groups
    );
    if of_disk && store.state.opened().is_none() {
        let words = match &store.state.image.stage {
            ImageStage::Refused { message, .. } => format::sentence(message),
            _ => "Reading…".into(),
        };
        return html! { <section class="picture" key={view.word()}><p class="hint">{ words }</p></section> };
    }
    html! {
        <div class={classes!("slot", view.word())} key={view.word()}>
            { match view {
                LabView::Blocks => html! { <><MapPicture /><super::memory::Waiting /></> },
                LabView::Files => html! {
                    <section class="picture" aria-label="Files"><h2>{ "Files" }</h2><Files /></section>
                },
                LabView::Memory => html! { <Memory /> },
                LabView::Extents => html! { <Tree /> },
                LabView::Journal => html! { <RingPicture /> },
                LabView::Device => html! { <DevicePicture /> },
                LabView::Events => html! { <Events /> },
                LabView::Figures => html! { <Figures /> },
                LabView::Groups => html! { <Groups /> },
                LabView::Plug => html! { <PlugPicture /> },
                LabView::Medium => html! { <Inside /> },
            } }
        </div>
    }
}
