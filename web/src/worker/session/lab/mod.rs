//! Runs: recorded in slices, shown at an instant, asked about.

mod crash;
mod export;
mod questions;
mod seek;

use std::rc::Rc;
use std::sync::Arc;

use fslab_engine::event::{Event, What};
use fslab_engine::kernel::Version;
use fslab_engine::machine::Machine;
use fslab_engine::recording::{Instant, Recording};
use fslab_engine::units::InodeNr;
use fslab_engine::view::lab::{self, Story};

use super::{Answer, Extra, Say, Session, Work, plain};
use crate::scenario;
use crate::worker::lab::{Ending, LabAnswer, LabRequest, Mistake};

/// Events recorded between two looks at the clock.
const BATCH: u64 = 500;
/// Runs that are kept; the one that was longest not looked at goes first.
const RUNS: usize = 4;
/// Blocks of a disk whose owners are found at once, when it is shown.
const AT_ONCE: u64 = 65_536;
/// Mistakes of programs that are told.
const MISTAKES: usize = 32;

/// The runs there are.
#[derive(Debug, Default)]
pub(super) struct Lab {
    runs: Vec<Run>,
    /// The run that is being recorded.
    recording: Option<u32>,
    /// What is shown: run, version of its disk.
    shown: Option<(u32, Version)>,
    next_word: f64,
    /// The instant at which the plug was pulled.
    pulled: Option<crash::Pulled>,
}

/// A run, as far as it was recorded.
#[derive(Debug)]
struct Run {
    nr: u32,
    recording: Recording,
    story: Story,
    mistakes: Vec<Mistake>,
    /// Where one looked last: scrubbing goes on from there.
    last: Option<Instant>,
}

impl Run {
    fn new(nr: u32, recording: Recording) -> Self {
        let story = Story::new(recording.first(), recording.head(), recording.opening());
        Self {
            nr,
            recording,
            story,
            mistakes: Vec::new(),
            last: None,
        }
    }

    /// Goes on recording; whether there is more to come.
    fn record(&mut self) -> bool {
        let (story, mistakes) = (&mut self.story, &mut self.mistakes);
        self.recording
            .record_watched(BATCH, &mut |machine, events| {
                story.note(machine, events);
                mistakes.extend(events.iter().filter_map(|e| mistake(machine, e)));
                mistakes.truncate(MISTAKES);
            })
    }

    fn recorded(&self, end: Option<Ending>) -> LabAnswer {
        LabAnswer::Recorded {
            run: self.nr,
            events: self.recording.len(),
            time_ns: self.recording.head().now().0,
            hash: self.recording.hash(),
            end,
            mistakes: self.mistakes.clone(),
        }
    }
}

/// Where in the scenario's text a process came to an end before its time.
fn mistake(machine: &Machine, event: &Event) -> Option<Mistake> {
    let What::ProcessFailed {
        line,
        column,
        words,
    } = &event.what
    else {
        return None;
    };
    let fslab_engine::event::Actor::Process(pid) = event.actor else {
        return None;
    };
    let process = machine.processes().iter().find(|p| p.pid() == pid)?;
    Some(Mistake {
        line: process.first_line() + line.saturating_sub(1),
        column: *column,
        len: 0,
        words: words.clone(),
    })
}

impl Session {
    pub(super) fn hear_lab(&mut self, request: LabRequest) -> Vec<Say> {
        match request {
            LabRequest::Run { run, text } => self.run(run, &text),
            LabRequest::Fork {
                run,
                from,
                event,
                text,
            } => self.fork(run, from, event, text.as_deref()),
            LabRequest::Stop { run } => self.stop(run),
            LabRequest::Drop { run } => {
                self.lab.drop_run(run);
                Vec::new()
            }
            LabRequest::Go {
                run,
                to,
                image,
                anew,
                chosen,
            } => self.go(run, &to, image, anew, chosen.map(InodeNr)),
            LabRequest::Pull { run, event } => self.pull(run, event),
            LabRequest::Enough { run } => self.enough(run),
            LabRequest::OpenState {
                run,
                state,
                recovered,
                image,
            } => self.open_state(run, state, recovered, image),
            LabRequest::Ask { run, ask, query } => {
                let (reply, extra) = match self.lab.answer(run, &query) {
                    Ok((reply, extra)) => (Ok(reply), extra),
                    Err(why) => (Err(why), Extra::None),
                };
                vec![(lab_answer(LabAnswer::Reply { run, ask, reply }), extra)]
            }
        }
    }

    fn run(&mut self, run: u32, text: &str) -> Vec<Say> {
        let recording = scenario::parse(text).and_then(|scenario| {
            Recording::new(Arc::new(scenario)).map_err(|why| vec![whole(&why)])
        });
        self.begin_run(run, recording)
    }

    fn fork(&mut self, run: u32, from: u32, event: u64, text: Option<&str>) -> Vec<Say> {
        let Some(parent) = self.lab.find(from) else {
            let mistakes = vec![whole("The run to go on from is no longer kept")];
            return vec![lab_say(LabAnswer::Refused { run, mistakes })];
        };
        let processes = text.map(scenario::parse).transpose();
        let recording = processes.map(|s| parent.recording.fork(event, s.map(|s| s.processes)));
        self.begin_run(run, recording)
    }

    fn begin_run(&mut self, run: u32, recording: Result<Recording, Vec<Mistake>>) -> Vec<Say> {
        let recording = match recording {
            Ok(recording) => recording,
            Err(mistakes) => return vec![lab_say(LabAnswer::Refused { run, mistakes })],
        };
        let scenario = recording.scenario();
        let begun = LabAnswer::Begun {
            run,
            title: scenario.title.clone(),
            about: scenario.about.clone(),
            show: scenario.show.clone(),
            first: recording.first(),
            size: scenario.device.size,
        };
        self.lab.add(Run::new(run, recording));
        vec![lab_say(begun)]
    }

    /// Whether a recording is under way.
    pub(super) fn is_recording(&self) -> bool {
        self.lab.recording.is_some()
    }

    /// Goes on recording until `until`.
    pub(super) fn record(&mut self, now: &dyn Fn() -> f64, until: f64) -> Vec<Say> {
        let Some(nr) = self.lab.recording else {
            return Vec::new();
        };
        let Some(run) = self.lab.runs.iter_mut().find(|r| r.nr == nr) else {
            self.lab.recording = None;
            return Vec::new();
        };
        loop {
            if !run.record() {
                self.lab.recording = None;
                let end = run.recording.end().map(Ending::Ended);
                return vec![lab_say(run.recorded(end))];
            }
            let time = now();
            if time < until {
                continue;
            }
            if time < self.lab.next_word {
                return Vec::new();
            }
            self.lab.next_word = time + super::WORDS;
            return vec![lab_say(run.recorded(None))];
        }
    }

    fn stop(&mut self, nr: u32) -> Vec<Say> {
        if self.lab.recording.take_if(|r| *r == nr).is_none() {
            return Vec::new();
        }
        let run = self.lab.find(nr);
        run.map(|r| lab_say(r.recorded(Some(Ending::Stopped))))
            .into_iter()
            .collect()
    }

    fn go(
        &mut self,
        nr: u32,
        to: &crate::worker::lab::Seek,
        image: u32,
        anew: bool,
        chosen: Option<InodeNr>,
    ) -> Vec<Say> {
        let Some(run) = self.lab.runs.iter_mut().find(|r| r.nr == nr) else {
            let problem = Some("This run is no longer kept: run it again".to_owned());
            return vec![shown(nr, None, false, problem)];
        };
        let event = match run.seek(to) {
            Ok(Some(event)) => event,
            Ok(None) => return vec![shown(nr, None, false, None)],
            Err(problem) => return vec![shown(nr, None, false, Some(problem))],
        };
        let instant = run.recording.at(event);
        let frame = lab::frame(&run.recording, &instant, chosen);
        let volume = &instant.machine.mount().vol;
        let state = (nr, volume.version());
        let seen = volume.seen();
        run.last = Some(instant);
        let opened = anew || self.lab.shown != Some(state);
        let mut says = Vec::new();
        if opened {
            says.extend(self.open_seen(image, Rc::new(seen)));
            self.lab.shown = Some(state);
        }
        // The frame comes last: the page then has everything that belongs to it.
        says.push(shown(nr, Some(Box::new(frame)), opened, None));
        says
    }

    /// Opens the disk of an instant, and finds every owner where that is quickly done.
    fn open_seen(&mut self, image: u32, disk: fslab_engine::image::Medium) -> Vec<Say> {
        *self = Self {
            image,
            base: Some(disk),
            lab: std::mem::take(&mut self.lab),
            ..Self::default()
        };
        let mut says = self.reopen();
        if self.fs.is_none() {
            return says;
        }
        says.extend(self.scan());
        let small = self
            .fs
            .as_ref()
            .is_some_and(|fs| fs.geometry().blocks <= AT_ONCE);
        if let Work::Scanning(scanning) = std::mem::take(&mut self.work) {
            let until = if small { f64::INFINITY } else { -1.0 };
            says.extend(self.scan_on(scanning, &|| 0.0, until));
        }
        says
    }
}

impl Lab {
    fn find(&self, nr: u32) -> Option<&Run> {
        self.runs.iter().find(|r| r.nr == nr)
    }

    /// Another image is open: none of a run's disks is shown.
    pub(super) fn forget_shown(&mut self) {
        self.shown = None;
    }

    fn add(&mut self, run: Run) {
        self.drop_run(run.nr);
        while self.runs.len() >= RUNS {
            let gone = self.runs.remove(0).nr;
            self.pulled.take_if(|p| p.run() == gone);
        }
        self.recording = Some(run.nr);
        self.next_word = 0.0;
        self.runs.push(run);
    }

    fn drop_run(&mut self, nr: u32) {
        self.runs.retain(|r| r.nr != nr);
        self.pulled.take_if(|p| p.run() == nr);
        self.recording.take_if(|r| *r == nr);
        self.shown.take_if(|s| s.0 == nr);
    }
}

fn whole(why: impl ToString) -> Mistake {
    Mistake {
        line: 0,
        column: 0,
        len: 0,
        words: why.to_string(),
    }
}

fn shown(run: u32, frame: Option<Box<lab::Frame>>, opened: bool, problem: Option<String>) -> Say {
    lab_say(LabAnswer::Shown {
        run,
        frame,
        opened,
        problem,
    })
}

fn lab_answer(answer: LabAnswer) -> Answer {
    Answer::Lab(Box::new(answer))
}

fn lab_say(answer: LabAnswer) -> Say {
    plain(lab_answer(answer))
}

#[cfg(test)]
mod tests;
