//! Pulling the plug: the field of states of one instant, explored in slices.

use std::rc::Rc;
use std::sync::Arc;

use fslab_engine::crash::{Field, Moment};
use fslab_engine::image::Medium;
use fslab_engine::view::crash::{StateWords, Teller, field, state};
use fslab_engine::view::lab;

use super::{Lab, Say, Session, export, lab_say, shown};
use crate::worker::lab::LabAnswer;

/// States of one instant that are looked at, at most.
const STATES: usize = 5_000;
/// Disks looked at between two looks at the clock.
const BATCH: usize = 2;

/// An instant at which the plug was pulled.
#[derive(Debug)]
pub(super) struct Pulled {
    run: u32,
    event: u64,
    time_ns: u64,
    field: Field,
    teller: Teller,
    /// There is more to look at.
    more: bool,
}

impl Pulled {
    pub(super) fn run(&self) -> u32 {
        self.run
    }

    fn say(&self) -> Say {
        lab_say(LabAnswer::Field {
            run: self.run,
            field: Box::new(field(&self.field, self.event, self.time_ns)),
            more: self.more,
        })
    }
}

impl Session {
    pub(super) fn pull(&mut self, run: u32, event: u64) -> Vec<Say> {
        self.lab.next_word = 0.0;
        self.lab.pulled = self.lab.pulled_at(run, event);
        self.lab.pulled.iter().map(Pulled::say).collect()
    }

    pub(super) fn enough(&mut self, run: u32) -> Vec<Say> {
        let Some(pulled) = self.lab.pulled.as_mut().filter(|p| p.run == run) else {
            return Vec::new();
        };
        pulled.more = false;
        vec![pulled.say()]
    }

    /// Whether disks are being looked at.
    pub(in super::super) fn is_exploring(&self) -> bool {
        self.lab.pulled.as_ref().is_some_and(|p| p.more)
    }

    /// Looks at more disks until `until`.
    pub(in super::super) fn explore(&mut self, now: &dyn Fn() -> f64, until: f64) -> Vec<Say> {
        let Some(pulled) = self.lab.pulled.as_mut().filter(|p| p.more) else {
            return Vec::new();
        };
        let time = loop {
            pulled.more = pulled.field.explore(BATCH);
            let time = now();
            if !pulled.more || time >= until {
                break time;
            }
        };
        if pulled.more && time < self.lab.next_word {
            return Vec::new();
        }
        // A field of thousands takes its time to be told: less often than other progress.
        self.lab.next_word = time + 4.0 * super::super::WORDS;
        vec![pulled.say()]
    }

    pub(super) fn open_state(
        &mut self,
        run: u32,
        state: u32,
        recovered: bool,
        image: u32,
    ) -> Vec<Say> {
        let (frame, disk) = match self.lab.state_disk(run, state, recovered) {
            Ok(found) => found,
            Err(problem) => return vec![shown(run, None, false, Some(problem))],
        };
        let mut says = self.open_seen(image, disk);
        // No instant has this disk.
        self.lab.shown = None;
        says.push(shown(run, Some(Box::new(frame)), true, None));
        says
    }
}

impl Lab {
    fn pulled_at(&self, nr: u32, event: u64) -> Option<Pulled> {
        let recording = &self.find(nr)?.recording;
        let instant = recording.at(event);
        let moment = Moment::of(&instant.machine)?;
        let teller = Teller::new(recording, instant.event, &instant.machine, &moment.pending);
        Some(Pulled {
            run: nr,
            event: instant.event,
            time_ns: moment.time_ns,
            field: Field::new(Arc::new(moment.pending), Arc::new(moment.judge), STATES),
            teller,
            more: true,
        })
    }

    fn pulled_of(&mut self, run: u32) -> Result<&mut Pulled, String> {
        let pulled = self.pulled.as_mut().filter(|p| p.run == run);
        pulled.ok_or_else(|| "The plug is not pulled in this run".into())
    }

    pub(super) fn tell_state(&mut self, run: u32, nr: u32) -> Result<StateWords, String> {
        let pulled = self.pulled_of(run)?;
        let told = state(&mut pulled.field, &pulled.teller, nr);
        told.ok_or_else(|| format!("There is no state {nr}"))
    }

    pub(super) fn state_bytes(&mut self, run: u32, nr: u32) -> Result<Vec<u8>, String> {
        let pulled = self.pulled_of(run)?;
        let disk = pulled.field.disk(nr);
        export::whole(&disk.ok_or_else(|| format!("There is no state {nr}"))?)
    }

    /// The frame of the instant, and the disk of a state.
    fn state_disk(
        &mut self,
        run: u32,
        nr: u32,
        recovered: bool,
    ) -> Result<(lab::Frame, Medium), String> {
        let pulled = self.pulled_of(run)?;
        let event = pulled.event;
        let none = || format!("There is no state {nr}");
        let disk: Medium = match recovered {
            false => Rc::new(pulled.field.disk(nr).ok_or_else(none)?),
            true => {
                let seen = pulled.field.recovered(nr).ok_or_else(none)?;
                Rc::new(seen.map_err(|e| format!("It cannot be mounted: {e}"))?)
            }
        };
        let of = self.find(run).ok_or("This run is no longer kept")?;
        let instant = of.recording.at(event);
        Ok((lab::frame(&of.recording, &instant, None), disk))
    }
}
