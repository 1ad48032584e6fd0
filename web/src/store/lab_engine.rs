//! The Lab's hand on the worker.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use fslab_engine::device::measure::Measure;
use fslab_engine::view::lab::Window;
use js_sys::Array;

use super::engine::Engine;
use super::lab::{Chain, LabAction, LabState, LabView, lesson_text};
use super::plug::PlugAction;
use super::save::download_bytes;
use super::{Action, State};
use crate::owner_map::OwnerMap;
use crate::room::Room;
use crate::route::{LabPlace, LabSource};
use crate::worker::lab::{Export, LabAnswer, LabQuery, LabReply, LabRequest, Seek};
use crate::worker::protocol::{Answer, Request};

/// What the Lab has under way.
#[derive(Default)]
pub(super) struct LabHand {
    /// The number of the latest run.
    latest: Cell<u32>,
    /// The run that is shown.
    run: Cell<u32>,
    /// The run that was shown before.
    before: Cell<u32>,
    /// The run's text, to be run again after a failure.
    text: RefCell<Option<Rc<str>>>,
    /// An instant has been asked for and has not come: the number for its disk.
    going: Cell<Option<u32>>,
    /// The instant to ask for then.
    next: RefCell<Option<(Seek, bool)>>,
    /// Where a run is to be opened: as soon as it has got there.
    wanted: Cell<Option<u64>>,
    /// The plug is to be pulled there.
    wanted_pull: Cell<bool>,
    /// The state that is to be told then.
    wanted_state: Cell<Option<u32>>,
    /// The disk that has come ahead of its instant.
    arriving: RefCell<Arriving>,
    asked: RefCell<Vec<(u32, Asked)>>,
    chosen: Cell<Option<u32>>,
}

/// A disk that has come ahead of its instant.
#[derive(Default)]
struct Arriving {
    opened: Option<Answer>,
    mapped: Option<(Answer, Rc<OwnerMap>)>,
}

/// What an answer is for.
#[derive(Clone, PartialEq, Eq)]
enum Asked {
    Lanes,
    Samples,
    Chain,
    Flash,
    Measure,
    Log(u64),
    State,
    File(Export),
}

impl Engine {
    fn lab(&self) -> &LabHand {
        &self.inner().lab
    }

    fn act(&self, action: LabAction) {
        self.dispatch(Action::Lab(action));
    }

    /// Goes into the Lab: to where it was left, or to the first scenario.
    pub fn enter_lab(&self, state: &LabState) {
        self.dispatch(Action::Room(Room::Lab));
        if state.info().is_some() {
            return self.show_anew(state.event());
        }
        self.open_lab(LabPlace::default());
    }

    /// Opens what an address names.
    pub fn open_lab(&self, place: LabPlace) {
        self.dispatch(Action::Room(Room::Lab));
        let (lesson, text) = match &place.source {
            LabSource::Text(text) => (None, Ok(Rc::clone(text))),
            LabSource::Damaged(why) => (None, Err(format!("The link cannot be opened: {why}"))),
            LabSource::Lesson(name) => (
                Some(Rc::clone(name)),
                lesson_text(name).ok_or_else(|| format!("There is no scenario named “{name}”")),
            ),
        };
        let text = match text {
            Ok(text) => text,
            Err(why) => {
                self.open_lab(LabPlace::default());
                let words = format!("{why}. This is the first scenario instead");
                return self.act(LabAction::Note(Some(words.into())));
            }
        };
        self.act(LabAction::Lesson(lesson, Rc::clone(&text)));
        self.run_text(text, place.event);
        if let Some(state) = place.plug {
            self.lab().wanted_pull.set(true);
            self.lab().wanted_state.set(state);
        }
    }

    /// Records a run of a text, and shows it at an event, or at its start.
    pub fn run_text(&self, text: Rc<str>, event: Option<u64>) {
        let nr = self.begin_run(&text, None);
        self.lab().wanted.set(event);
        self.lab().wanted_pull.set(false);
        self.lab().wanted_state.set(None);
        self.say_lab(LabRequest::Run {
            run: nr,
            text: text.to_string(),
        });
    }

    /// Goes on from an instant as another run; with `text`, with its programs.
    pub fn fork(&self, from: u32, event: u64, text: Option<Rc<str>>, shown: &Rc<str>) {
        let nr = self.begin_run(text.as_ref().unwrap_or(shown), Some((from, event)));
        self.lab().wanted.set(None);
        self.say_lab(LabRequest::Fork {
            run: nr,
            from,
            event,
            text: text.map(|t| t.to_string()),
        });
    }

    fn begin_run(&self, text: &Rc<str>, parent: Option<(u32, u64)>) -> u32 {
        let lab = self.lab();
        let nr = lab.latest.get() + 1;
        lab.latest.set(nr);
        lab.before.set(lab.run.replace(nr));
        *lab.text.borrow_mut() = Some(Rc::clone(text));
        *lab.next.borrow_mut() = None;
        lab.asked.borrow_mut().clear();
        self.act(LabAction::Begin(nr, Rc::clone(text), parent));
        nr
    }

    /// Shows another of the runs.
    pub fn switch_run(&self, nr: u32, event: u64) {
        self.lab().run.set(nr);
        self.act(LabAction::Switch(nr));
        self.show_anew(event);
    }

    /// Stops recording.
    pub fn stop_recording(&self) {
        let run = self.lab().run.get();
        self.say_lab(LabRequest::Stop { run });
    }

    /// The file whose pages are to be told of.
    pub fn watch_file(&self, inode: Option<u32>) {
        self.lab().chosen.set(inode);
    }

    /// Shows an instant. While one is on its way only the latest wish is kept.
    pub fn seek(&self, to: Seek) {
        self.seek_with(to, false);
    }

    fn show_anew(&self, event: u64) {
        self.seek_with(Seek::Event(event), true);
    }

    fn seek_with(&self, to: Seek, anew: bool) {
        let lab = self.lab();
        if lab.going.get().is_some() {
            *lab.next.borrow_mut() = Some((to, anew));
            return;
        }
        let image = self.next_image();
        lab.going.set(Some(image));
        self.say_lab(LabRequest::Go {
            run: lab.run.get(),
            to,
            image,
            anew,
            chosen: lab.chosen.get(),
        });
    }

    /// Whether an instant is on its way.
    pub fn is_seeking(&self) -> bool {
        self.lab().going.get().is_some()
    }

    fn ask_lab(&self, asked: Asked, query: LabQuery) {
        let lab = self.lab();
        let ask = self.next_ask();
        let mut list = lab.asked.borrow_mut();
        // Of what is asked again and again only the latest answer counts.
        if !matches!(asked, Asked::Log(_)) {
            list.retain(|(_, other)| *other != asked);
        } else if list.iter().any(|(_, other)| *other == asked) {
            return;
        }
        list.push((ask, asked));
        drop(list);
        let run = lab.run.get();
        self.say_lab(LabRequest::Ask { run, ask, query });
    }

    /// Asks for a part of the timeline.
    pub fn ask_lanes(&self, window: Window) {
        self.ask_lab(Asked::Lanes, LabQuery::Lanes(window));
    }

    /// Asks for figures over time.
    pub fn ask_samples(&self, most: u32) {
        self.ask_lab(Asked::Samples, LabQuery::Samples { most });
    }

    /// Asks for the causes and effects of an event.
    pub fn ask_chain(&self, event: u64) {
        self.ask_lab(Asked::Chain, LabQuery::Chain { event });
    }

    /// Asks what followed from an event in flash.
    pub fn ask_flash(&self, event: u64) {
        self.ask_lab(Asked::Flash, LabQuery::Flash { event });
    }

    /// Has a device such as the run's measured.
    pub fn ask_measure(&self, what: Measure) {
        self.ask_lab(Asked::Measure, LabQuery::Measure(what));
    }

    /// Asks for a page of the log.
    pub fn ask_log(&self, from: u64, count: u32) {
        self.ask_lab(Asked::Log(from), LabQuery::Events { from, count });
    }

    /// Pulls the plug after an event.
    pub fn pull(&self, event: u64) {
        let run = self.lab().run.get();
        self.say_lab(LabRequest::Pull { run, event });
    }

    /// Looks at no more disks.
    pub fn enough(&self) {
        let run = self.lab().run.get();
        self.say_lab(LabRequest::Enough { run });
    }

    /// Asks for a state to be told.
    pub fn ask_state(&self, state: u32) {
        self.ask_lab(Asked::State, LabQuery::CrashState { state });
    }

    /// The state that a link leads to has been found: it is told.
    fn tell_wanted(&self, states: u64) {
        let wanted = self.lab().wanted_state.get();
        if let Some(state) = wanted.filter(|s| u64::from(*s) < states) {
            self.lab().wanted_state.set(None);
            // Who follows a link to a state is not asked what there may be.
            self.act(LabAction::Plug(PlugAction::Reveal));
            self.act(LabAction::Plug(PlugAction::Choose(Some(state))));
            self.ask_state(state);
        }
    }

    /// Shows the disk of a state in the pictures.
    pub fn open_state(&self, state: u32, recovered: bool) {
        let lab = self.lab();
        if lab.going.get().is_some() {
            return;
        }
        let image = self.next_image();
        lab.going.set(Some(image));
        self.act(LabAction::Plug(PlugAction::Open(Some((state, recovered)))));
        self.say_lab(LabRequest::OpenState {
            run: lab.run.get(),
            state,
            recovered,
            image,
        });
    }

    /// Shows the disk of an instant, whatever is shown now.
    pub fn show_again(&self, event: u64) {
        self.show_anew(event);
    }

    /// Saves something of the run.
    pub fn export(&self, what: Export) {
        self.ask_lab(Asked::File(what), LabQuery::Export(what));
    }

    fn say_lab(&self, request: LabRequest) {
        self.say(&Request::Lab(request));
    }

    /// Runs again what was run, after the worker was started anew.
    pub(super) fn restart_lab(&self, event: u64) {
        let lab = self.lab();
        lab.going.set(None);
        *lab.next.borrow_mut() = None;
        *lab.arriving.borrow_mut() = Arriving::default();
        lab.asked.borrow_mut().clear();
        let text = lab.text.borrow().clone();
        if let Some(text) = text {
            self.run_text(text, Some(event));
        }
    }

    /// Keeps an answer that belongs to an instant on its way; gives back one that does not.
    pub(super) fn keep_for_lab(
        &self,
        answer: Answer,
        map: Option<Rc<OwnerMap>>,
    ) -> Option<(Answer, Option<Rc<OwnerMap>>)> {
        let lab = self.lab();
        let Some(image) = lab.going.get() else {
            return Some((answer, map));
        };
        let mut arriving = lab.arriving.borrow_mut();
        match (&answer, map) {
            (Answer::Opened { image: nr, .. } | Answer::Refused { image: nr, .. }, _)
                if *nr == image =>
            {
                arriving.opened = Some(answer);
                None
            }
            (Answer::Mapped { image: nr, .. }, Some(map)) if *nr == image => {
                arriving.mapped = Some((answer, map));
                None
            }
            (Answer::Scanning { image: nr, .. }, _) if *nr == image => None,
            (_, map) => Some((answer, map)),
        }
    }

    pub(super) fn hear_lab(&self, answer: LabAnswer, extras: &Array) {
        match answer {
            LabAnswer::Reply { run, ask, reply } => {
                if run == self.lab().run.get() {
                    self.lab_reply(ask, reply, extras);
                }
            }
            LabAnswer::Shown { .. } => self.shown(answer),
            LabAnswer::Recorded {
                run, events, end, ..
            } => {
                self.act(LabAction::Told(Rc::new(answer)));
                self.recorded(run, events, end.is_some());
            }
            LabAnswer::Begun { run, first, .. } => {
                self.act(LabAction::Told(Rc::new(answer)));
                if run == self.lab().run.get() {
                    self.show_anew(first);
                }
            }
            LabAnswer::Field { ref field, .. } => {
                let states = field.states.len() as u64;
                self.act(LabAction::Told(Rc::new(answer)));
                self.tell_wanted(states);
            }
            LabAnswer::Refused { run, .. } => {
                self.act(LabAction::Told(Rc::new(answer)));
                self.refused(run);
            }
        }
    }

    /// What was shown before stays.
    fn refused(&self, run: u32) {
        let lab = self.lab();
        let before = lab.before.get();
        if run == lab.run.get() && before != 0 {
            lab.run.set(before);
            self.act(LabAction::Switch(before));
        }
    }

    /// Goes to the wanted event as soon as the recording has got there.
    fn recorded(&self, run: u32, events: u64, complete: bool) {
        let lab = self.lab();
        if run != lab.run.get() {
            return;
        }
        if let Some(wanted) = lab.wanted.get().filter(|w| *w < events || complete) {
            lab.wanted.set(None);
            self.show_anew(wanted);
            if lab.wanted_pull.take() {
                self.pull_and_show(wanted);
            }
        }
    }

    /// Pulls the plug, and shows what comes of it.
    pub fn pull_and_show(&self, event: u64) {
        self.act(LabAction::Show(LabView::Plug));
        self.pull(event);
    }

    fn shown(&self, answer: LabAnswer) {
        let lab = self.lab();
        let image = lab.going.take();
        let Arriving { opened, mapped } = std::mem::take(&mut *lab.arriving.borrow_mut());
        if let (Some(_), Some(image)) = (&opened, image) {
            self.take_image(image);
        }
        self.dispatch(Action::Instant {
            nr: image.unwrap_or(0),
            opened: opened.map(Box::new),
            mapped: mapped.map(|(answer, map)| (Box::new(answer), map)),
            told: Rc::new(answer),
        });
        let next = lab.next.borrow_mut().take();
        if let Some((to, anew)) = next {
            self.seek_with(to, anew);
        }
    }

    fn lab_reply(&self, ask: u32, reply: Result<LabReply, String>, extras: &Array) {
        let asked = {
            let mut list = self.lab().asked.borrow_mut();
            let Some(at) = list.iter().position(|(nr, _)| *nr == ask) else {
                return;
            };
            list.swap_remove(at).1
        };
        let reply = match reply {
            Ok(reply) => reply,
            Err(why) => return self.act(LabAction::Note(Some(why.into()))),
        };
        match (asked, reply) {
            (Asked::Lanes, LabReply::Lanes(lanes)) => self.act(LabAction::Lanes(Rc::new(lanes))),
            (Asked::Samples, LabReply::Samples(samples)) => {
                self.act(LabAction::Samples(Rc::new(samples)));
            }
            (Asked::Log(from), LabReply::Events(events)) => {
                self.act(LabAction::Log(from, Rc::new(events)));
            }
            (
                Asked::Chain,
                LabReply::Chain {
                    event,
                    causes,
                    effects,
                    more,
                },
            ) => {
                let chain = event.map(|event| {
                    Rc::new(Chain {
                        event,
                        causes,
                        effects,
                        more,
                    })
                });
                self.act(LabAction::Chain(chain));
            }
            (Asked::State, LabReply::CrashState(words)) => {
                self.act(LabAction::Plug(PlugAction::Words(Rc::new(*words))));
            }
            (Asked::Flash, LabReply::Flash(found)) => self.act(LabAction::Flash(Rc::new(found))),
            (Asked::Measure, LabReply::Measured(plot)) => {
                self.act(LabAction::Measured(Rc::new(plot)));
            }
            (Asked::File(what), LabReply::File) => save(what, extras),
            _ => {}
        }
    }
}

fn save(what: Export, extras: &Array) {
    let name = match what {
        Export::EventsText => "events.txt",
        Export::EventsJson => "events.jsonl",
        Export::Counters => "counters.csv",
        Export::Disk => "disk.img",
        Export::State(nr) => return download_bytes(&extras.get(0), &format!("state-{nr}.img")),
    };
    download_bytes(&extras.get(0), name);
}

impl State {
    /// An instant of a run is shown, with its disk where that is another than before.
    pub(super) fn instant(
        &mut self,
        nr: u32,
        opened: Option<Answer>,
        mapped: Option<(Answer, Rc<OwnerMap>)>,
        told: Rc<LabAnswer>,
    ) {
        if self.room != Room::Lab {
            return;
        }
        if let Some(opened) = opened {
            self.reopened(nr, opened);
        }
        if let Some((answer, map)) = mapped {
            self.hear(answer, Some(map));
        }
        self.lab.change(LabAction::Told(told));
    }
}
