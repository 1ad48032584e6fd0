//! Questions on a run.

use fslab_engine::event::Event;
use fslab_engine::machine::Gauges;
use fslab_engine::recording::Recording;
use fslab_engine::view::lab::{EventView, event_view, flash_effects};

use super::{Extra, Lab};
use crate::worker::lab::{Export, LabQuery, LabReply};

/// Most events of one answer.
const EVENTS: u32 = 1000;
/// Causes that are followed back.
const CAUSES: usize = 12;
/// Effects that are told, and events that are looked through for them.
const EFFECTS: usize = 200;
const LOOK: u64 = 20_000;

type Replied = Result<(LabReply, Extra), String>;

impl Lab {
    pub(super) fn answer(&mut self, nr: u32, query: &LabQuery) -> Replied {
        match query {
            LabQuery::CrashState { state } => {
                let told = self.tell_state(nr, *state)?;
                return Ok((LabReply::CrashState(Box::new(told)), Extra::None));
            }
            LabQuery::Export(Export::State(state)) => {
                let bytes = self.state_bytes(nr, *state)?;
                return Ok((LabReply::File, Extra::Bytes(bytes)));
            }
            _ => {}
        }
        let run = self.find(nr).ok_or("This run is no longer kept")?;
        let recording = &run.recording;
        let reply = match query {
            LabQuery::Events { from, count } => {
                let count = (*count).min(EVENTS);
                let to = from.saturating_add(count.into());
                let events = recording.events(*from, to, count as usize);
                LabReply::Events(events.iter().map(event_view).collect())
            }
            LabQuery::Chain { event } => chain(recording, *event),
            LabQuery::Flash { event } => LabReply::Flash(flash_effects(recording, *event)),
            LabQuery::Lanes(window) => LabReply::Lanes(run.story.lanes(*window)),
            LabQuery::Samples { most } => {
                LabReply::Samples(thinned(recording.samples(), *most as usize))
            }
            LabQuery::CrashState { .. } => return Err("Nothing was asked".into()),
            LabQuery::Export(what) => {
                return Ok((LabReply::File, Extra::Bytes(run.export(*what)?)));
            }
        };
        Ok((reply, Extra::None))
    }
}

fn one(recording: &Recording, nr: u64) -> Option<Event> {
    recording.events(nr, nr.saturating_add(1), 1).pop()
}

fn chain(recording: &Recording, nr: u64) -> LabReply {
    let event = one(recording, nr);
    let mut causes: Vec<EventView> = Vec::new();
    let mut next = event.as_ref().and_then(|e| e.cause);
    while let Some(cause) = next.and_then(|id| one(recording, id.0))
        && causes.len() < CAUSES
    {
        // A cause comes before its effect: nothing goes around in circles.
        next = cause.cause.filter(|c| c.0 < cause.id.0);
        causes.push(event_view(&cause));
    }
    let to = nr.saturating_add(LOOK).min(recording.len());
    let mut effects: Vec<EventView> = recording
        .events(nr.saturating_add(1), to, LOOK as usize)
        .iter()
        .filter(|e| e.cause.is_some_and(|c| c.0 == nr))
        .take(EFFECTS + 1)
        .map(event_view)
        .collect();
    let more = effects.len() > EFFECTS;
    effects.truncate(EFFECTS);
    LabReply::Chain {
        event: event.as_ref().map(event_view),
        causes,
        effects,
        more,
    }
}

/// At most so many samples, the last among them.
fn thinned(samples: &[Gauges], most: usize) -> Vec<Gauges> {
    let every = samples.len().div_ceil(most.max(2)).max(1);
    let mut out: Vec<Gauges> = samples.iter().step_by(every).copied().collect();
    if let Some(last) = samples.last()
        && out.last() != Some(last)
    {
        out.push(*last);
    }
    out
}
