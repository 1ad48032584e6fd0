//! What a call did to flash.

use crate::event::{Event, What};
use crate::recording::Recording;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How far behind an event its effects are looked for: pages go out seconds later.
const LOOK: u64 = 20_000;
/// Most runs of pages, and most blocks, that are told.
const LISTED: usize = 256;

/// What followed in flash from an event.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FlashEffects {
    /// The event.
    pub event: u64,
    /// Pages programmed with what was written.
    pub written: u64,
    /// Pages moved for it.
    pub moved: u64,
    /// Blocks erased for it.
    pub erased: u64,
    /// Runs of physical pages that were programmed: first, how many, whether they were moved.
    pub pages: Vec<(u64, u32, bool)>,
    /// Blocks that were erased.
    pub blocks: Vec<u32>,
    /// The run goes on behind what was looked at.
    pub more: bool,
}

/// What followed in flash from an event, itself or by what followed from it.
pub fn flash_effects(recording: &Recording, event: u64) -> FlashEffects {
    let to = event.saturating_add(LOOK).min(recording.len());
    let events = recording.events(event.saturating_add(1), to, LOOK as usize);
    FlashEffects {
        more: to < recording.len(),
        ..followed(event, &events)
    }
}

fn followed(event: u64, events: &[Event]) -> FlashEffects {
    let mut family = BTreeSet::from([event]);
    let mut found = FlashEffects {
        event,
        ..FlashEffects::default()
    };
    for e in events {
        if !e.cause.is_some_and(|c| family.contains(&c.0)) {
            continue;
        }
        family.insert(e.id.0);
        match e.what {
            What::FlashProgrammed {
                page, from, len, ..
            } => {
                match from {
                    None => found.written += u64::from(len),
                    Some(_) => found.moved += u64::from(len),
                }
                if found.pages.len() < LISTED {
                    found.pages.push((page, len, from.is_some()));
                }
            }
            What::FlashErased { block } => {
                found.erased += 1;
                if found.blocks.len() < LISTED {
                    found.blocks.push(block);
                }
            }
            _ => {}
        }
    }
    found
}
