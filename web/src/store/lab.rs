//! The Lab: the workload, its run, and the instant that is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fslab_engine::device::measure::Plot;
use fslab_engine::machine::Gauges;
use fslab_engine::view::lab::{Axis, EventView, FlashEffects, Frame, Lanes};

use super::plug::{Plug, PlugAction};
use crate::lessons::LESSONS;
use crate::worker::lab::{Ending, LabAnswer, Mistake};

/// A picture of the Lab.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LabView {
    /// The disks that a power cut here could leave: before all others where it is shown.
    Plug,
    /// The block map.
    Blocks,
    /// Files and the tree that leads to them.
    Files,
    /// What waits in memory.
    Memory,
    /// The tree of the chosen file’s blocks.
    Extents,
    /// The running journal.
    Journal,
    /// The device.
    Device,
    /// Every event.
    Events,
    /// Figures over time.
    Figures,
    /// The groups.
    Groups,
    /// What is inside the device.
    Medium,
}

impl LabView {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Blocks,
        Self::Files,
        Self::Memory,
        Self::Extents,
        Self::Journal,
        Self::Device,
        Self::Events,
        Self::Figures,
        Self::Groups,
        Self::Plug,
        Self::Medium,
    ];

    /// Most that are shown at once.
    pub const MOST: usize = 4;

    /// Its word in addresses and scenarios.
    pub fn word(self) -> &'static str {
        match self {
            Self::Blocks => "blocks",
            Self::Files => "files",
            Self::Memory => "memory",
            Self::Extents => "extents",
            Self::Journal => "journal",
            Self::Device => "device",
            Self::Events => "events",
            Self::Figures => "figures",
            Self::Groups => "groups",
            Self::Plug => "plug",
            Self::Medium => "medium",
        }
    }

    /// The picture of a word.
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.word() == word)
    }
}

/// What a narrow screen shows of the Lab.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum LabPane {
    /// The pictures.
    #[default]
    Stage,
    /// The selection and the step explained.
    Selection,
    /// The workload.
    Workload,
}

/// A run, as far as the page knows of it.
#[derive(Clone, PartialEq, Debug)]
pub struct RunInfo {
    /// Its number.
    pub nr: u32,
    /// The scenario's title.
    pub title: String,
    /// What one will see.
    pub about: String,
    /// The text that it was made from.
    pub text: Rc<str>,
    /// Its first event.
    pub first: u64,
    /// One past its last event so far.
    pub end: u64,
    /// Simulated time so far, ns.
    pub time_ns: u64,
    /// A hash of its events.
    pub hash: u64,
    /// Why it is complete; `None` while it is recorded.
    pub ending: Option<Ending>,
    /// The run and the event that it goes on from.
    pub parent: Option<(u32, u64)>,
}

/// What an event follows from, and what follows from it.
#[derive(Clone, PartialEq, Debug)]
pub struct Chain {
    /// The event.
    pub event: EventView,
    /// Its causes, the nearest first.
    pub causes: Vec<EventView>,
    /// Its effects.
    pub effects: Vec<EventView>,
    /// There are more effects.
    pub more: bool,
}

/// Everything that the Lab shows.
#[derive(Clone, Debug, Default)]
pub struct LabState {
    /// The scenario that the text began as, by its name.
    pub lesson: Option<Rc<str>>,
    /// The text in the editor.
    pub text: Rc<str>,
    /// What is wrong with it, by the last try to run it and by its programs' ends.
    pub mistakes: Rc<[Mistake]>,
    /// The runs, oldest first.
    pub runs: Rc<Vec<RunInfo>>,
    /// The number of the run that is shown.
    pub run: u32,
    /// The instant.
    pub frame: Option<Rc<Frame>>,
    /// It plays.
    pub playing: bool,
    /// How fast: an index into the speeds.
    pub speed: usize,
    /// What the timeline goes by.
    pub axis: Axis,
    /// The part of the axis that is shown; all where `None`.
    pub zoom: Option<(u64, u64)>,
    /// The timeline.
    pub lanes: Option<Rc<Lanes>>,
    /// Figures over time.
    pub samples: Rc<Vec<Gauges>>,
    /// The event that is explained, where it is not the instant's own.
    pub chosen: Option<u64>,
    /// The cause and effects of what is explained.
    pub chain: Option<Rc<Chain>>,
    /// What followed from it in flash.
    pub flash: Option<Rc<FlashEffects>>,
    /// What was measured of the device.
    pub measured: Option<Rc<Plot>>,
    /// Pages of the log of events, by their first events.
    pub log: Rc<BTreeMap<u64, Rc<Vec<EventView>>>>,
    /// What is sought.
    pub find: Rc<str>,
    /// What is to be said of the last search or step.
    pub note: Option<Rc<str>>,
    /// Marked events of the shown run.
    pub bookmarks: Rc<BTreeSet<u64>>,
    /// The pictures; empty before they are chosen.
    pub views: Vec<LabView>,
    /// The picture that has the whole stage.
    pub full: Option<LabView>,
    /// The narrow screen's.
    pub pane: LabPane,
    /// The menu of what can be saved is open.
    pub menu: bool,
    /// The pulled plug.
    pub plug: Plug,
}

/// Something that changes what the Lab shows.
#[derive(Clone, Debug)]
pub enum LabAction {
    /// The text is another.
    Text(Rc<str>),
    /// A scenario was chosen, whose text this is.
    Lesson(Option<Rc<str>>, Rc<str>),
    /// A run is asked for: its number, text, and what it goes on from.
    Begin(u32, Rc<str>, Option<(u32, u64)>),
    /// Another run is shown.
    Switch(u32),
    /// Plays or stops.
    Play(bool),
    /// How fast.
    Speed(usize),
    /// What the timeline goes by.
    Axis(Axis),
    /// The part of the timeline.
    Zoom(Option<(u64, u64)>),
    /// The worker told something.
    Told(Rc<LabAnswer>),
    /// A part of the timeline came.
    Lanes(Rc<Lanes>),
    /// Figures came.
    Samples(Rc<Vec<Gauges>>),
    /// Events came.
    Log(u64, Rc<Vec<EventView>>),
    /// A chain came.
    Chain(Option<Rc<Chain>>),
    /// What an event did to flash came.
    Flash(Rc<FlashEffects>),
    /// Something was measured of the device.
    Measured(Rc<Plot>),
    /// An event is to be explained.
    Choose(Option<u64>),
    /// What is sought.
    Find(Rc<str>),
    /// Something is to be said.
    Note(Option<Rc<str>>),
    /// Marks an event, or takes its mark away.
    Bookmark(u64),
    /// Shows a picture, or takes it away.
    View(LabView),
    /// Shows a picture that may be shown already.
    Show(LabView),
    /// Gives a picture the whole stage, or takes it away.
    Full(Option<LabView>),
    /// The narrow screen's.
    Pane(LabPane),
    /// Opens or closes the menu of what can be saved.
    Menu(bool),
    /// Something happens to the pulled plug.
    Plug(PlugAction),
}

/// Speeds, steps (or milliseconds of simulated time) a second.
pub const SPEEDS: [f64; 9] = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 500.0, 2000.0];
/// The speed at first.
const FIRST_SPEED: usize = 3;
/// Pages of the log that are kept.
const PAGES: usize = 64;

impl LabState {
    /// The run that is shown.
    pub fn info(&self) -> Option<&RunInfo> {
        self.runs.iter().find(|run| run.nr == self.run)
    }

    /// The run that a link can lead to, and the event in it: for a fork, where it began.
    pub fn root(&self) -> (Option<&RunInfo>, u64) {
        let (mut run, mut event) = (self.info(), self.event());
        while let Some((nr, at)) = run.and_then(|run| run.parent) {
            run = self.runs.iter().find(|other| other.nr == nr);
            event = at;
        }
        (run, event)
    }

    /// The event that is shown.
    pub fn event(&self) -> u64 {
        self.frame.as_ref().map_or(0, |frame| frame.event)
    }

    /// Whether the text is another than the shown run's.
    pub fn is_edited(&self) -> bool {
        self.info().is_some_and(|run| *run.text != *self.text)
    }

    /// The pictures that are shown.
    pub fn shown(&self) -> Vec<LabView> {
        match self.full {
            Some(view) => vec![view],
            None => self.views.clone(),
        }
    }

    pub(super) fn change(&mut self, action: LabAction) {
        match action {
            LabAction::Text(text) => self.edit(text),
            LabAction::Lesson(lesson, text) => {
                self.lesson = lesson;
                self.edit(text);
            }
            LabAction::Begin(nr, text, parent) => self.begin(nr, text, parent),
            LabAction::Switch(nr) => {
                self.run = nr;
                self.forget_pictures();
            }
            LabAction::Play(on) => {
                self.playing = on;
                self.note = None;
            }
            LabAction::Speed(speed) => self.speed = speed.min(SPEEDS.len() - 1),
            LabAction::Axis(axis) => {
                self.axis = axis;
                self.zoom = None;
            }
            LabAction::Zoom(zoom) => self.zoom = zoom,
            LabAction::Told(answer) => self.hear(&answer),
            LabAction::Lanes(lanes) => self.lanes = Some(lanes),
            LabAction::Samples(samples) => self.samples = samples,
            LabAction::Log(from, events) => self.keep(from, events),
            LabAction::Chain(chain) => self.chain = chain,
            LabAction::Flash(effects) => self.flash = Some(effects),
            LabAction::Measured(plot) => self.measured = Some(plot),
            LabAction::Choose(event) => self.chosen = event,
            LabAction::Find(words) => {
                self.find = words;
                self.note = None;
            }
            LabAction::Note(note) => self.note = note,
            LabAction::Bookmark(event) => {
                let marks = Rc::make_mut(&mut self.bookmarks);
                if !marks.remove(&event) {
                    marks.insert(event);
                }
            }
            LabAction::View(view) => self.toggle(view),
            LabAction::Show(view) => {
                if !self.shown().contains(&view) {
                    self.toggle(view);
                }
            }
            LabAction::Full(view) => self.full = view,
            LabAction::Pane(pane) => self.pane = pane,
            LabAction::Menu(on) => self.menu = on,
            LabAction::Plug(action) => self.plug.change(action),
        }
    }

    fn edit(&mut self, text: Rc<str>) {
        self.text = text;
        self.mistakes = Rc::default();
    }

    fn begin(&mut self, nr: u32, text: Rc<str>, parent: Option<(u32, u64)>) {
        if self.run == 0 {
            self.speed = FIRST_SPEED;
        }
        if self.views.is_empty() {
            self.views = vec![
                LabView::Blocks,
                LabView::Memory,
                LabView::Journal,
                LabView::Device,
            ];
        }
        let runs = Rc::make_mut(&mut self.runs);
        // The worker keeps four.
        if runs.len() >= 4 {
            runs.remove(0);
        }
        runs.push(RunInfo {
            nr,
            title: String::new(),
            about: String::new(),
            text,
            first: 0,
            end: 0,
            time_ns: 0,
            hash: 0,
            ending: None,
            parent,
        });
        self.run = nr;
        self.mistakes = Rc::default();
        self.forget_pictures();
    }

    /// Another room is gone to: nothing goes on here.
    pub(super) fn leave(&mut self) {
        self.playing = false;
        self.menu = false;
    }

    /// Drops what belongs to the run that was shown.
    fn forget_pictures(&mut self) {
        self.playing = false;
        self.zoom = None;
        self.lanes = None;
        self.samples = Rc::default();
        self.chosen = None;
        self.chain = None;
        self.flash = None;
        self.measured = None;
        self.log = Rc::default();
        self.note = None;
        self.bookmarks = Rc::default();
        self.plug = Plug::default();
    }

    fn keep(&mut self, from: u64, events: Rc<Vec<EventView>>) {
        let log = Rc::make_mut(&mut self.log);
        if log.len() >= PAGES {
            // The one farthest away is looked at last.
            let far = log.keys().copied().max_by_key(|at| at.abs_diff(from));
            far.and_then(|at| log.remove(&at));
        }
        log.insert(from, events);
    }

    fn toggle(&mut self, view: LabView) {
        if self.full.is_some() {
            self.full = Some(view);
            return;
        }
        if let Some(at) = self.views.iter().position(|v| *v == view) {
            if self.views.len() > 1 {
                self.views.remove(at);
            }
            return;
        }
        if self.views.len() >= LabView::MOST {
            self.views.pop();
        }
        self.views.push(view);
        self.views.sort_unstable();
    }

    fn info_mut(&mut self, nr: u32) -> Option<&mut RunInfo> {
        let runs = Rc::make_mut(&mut self.runs);
        runs.iter_mut().find(|run| run.nr == nr)
    }

    fn hear(&mut self, answer: &LabAnswer) {
        match answer {
            LabAnswer::Begun {
                run,
                title,
                about,
                show,
                first,
                ..
            } => {
                if let Some(info) = self.info_mut(*run) {
                    (info.title, info.about) = (title.clone(), about.clone());
                    (info.first, info.end) = (*first, *first);
                }
                let wanted: Vec<LabView> =
                    show.iter().filter_map(|w| LabView::of_word(w)).collect();
                if *run == self.run && !wanted.is_empty() {
                    self.views = wanted;
                    self.views.truncate(LabView::MOST);
                }
            }
            LabAnswer::Refused { run, mistakes } => {
                if *run == self.run {
                    self.mistakes = mistakes.as_slice().into();
                }
                Rc::make_mut(&mut self.runs).retain(|info| info.nr != *run);
            }
            LabAnswer::Recorded {
                run,
                events,
                time_ns,
                hash,
                end,
                mistakes,
            } => {
                if *run == self.run && !self.is_edited() {
                    self.mistakes = mistakes.as_slice().into();
                }
                if let Some(info) = self.info_mut(*run) {
                    (info.end, info.time_ns, info.hash) = (*events, *time_ns, *hash);
                    info.ending = *end;
                }
            }
            LabAnswer::Shown {
                run,
                frame,
                problem,
                ..
            } => {
                if *run != self.run {
                    return;
                }
                match frame {
                    Some(frame) => {
                        let moved = self.event() != frame.event;
                        self.frame = Some(Rc::new((**frame).clone()));
                        if moved {
                            self.chosen = None;
                            self.note = None;
                        }
                    }
                    None => {
                        let words = problem.as_deref().unwrap_or("There is none that way");
                        self.note = Some(words.into());
                        self.playing = false;
                    }
                }
            }
            LabAnswer::Field { run, field, more } => {
                if *run == self.run {
                    let field = Rc::new((**field).clone());
                    self.plug.change(PlugAction::Field(field, *more));
                }
            }
            LabAnswer::Reply { .. } => {}
        }
    }
}

/// The text of a scenario that comes with the page.
pub fn lesson_text(name: &str) -> Option<Rc<str>> {
    let lesson = LESSONS.iter().find(|lesson| lesson.name == name)?;
    Some(lesson.text.into())
}
