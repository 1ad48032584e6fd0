//! What is inside a device: plain data for a picture of a disk, of flash or of a card.

mod colouring;
mod disk;
mod effects;
mod flash;
mod layout;

pub use colouring::{Colouring, Owned, PageFacts, Tone};
pub use disk::{DiskView, PlaceView, ZoneView};
pub use effects::{FlashEffects, flash_effects};
pub use flash::{
    BlockState, BlockView, CardView, FlashKind, FlashView, Move, OpenView, PageRun, PageState,
};

use crate::device::Mechanism;
use crate::event::Event;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// What a device is made of, at an instant.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum MediumView {
    /// Memory: there is nothing to see.
    #[default]
    Ram,
    /// A disk that turns.
    Disk(DiskView),
    /// Flash.
    Flash(Box<FlashView>),
}

pub(super) fn medium(machine: &Machine, events: &[Event]) -> MediumView {
    let Some(drive) = machine.drive() else {
        return MediumView::Ram;
    };
    match drive.mechanism() {
        Mechanism::Ram => MediumView::Ram,
        Mechanism::Hdd { .. } | Mechanism::Disk { .. } => {
            MediumView::Disk(disk::disk(drive, machine.now()))
        }
        Mechanism::Flash(f) => MediumView::Flash(Box::new(flash::flash(drive, f, events))),
    }
}
