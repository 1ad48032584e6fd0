//! What a visitor can do in the Lab: part of [`crate::command::Command`].

use std::rc::Rc;

use fslab_engine::view::lab::Axis;

use crate::store::{LabAction, LabPane, LabView, SPEEDS, State, Store};
use crate::views::pick;
use crate::worker::lab::Seek;

/// Something that a visitor can do in the Lab.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LabCommand {
    /// Records a run of the text.
    Run,
    /// Plays, or stops.
    Play,
    /// A step back.
    Back,
    /// A step on.
    On,
    /// Many steps back.
    FarBack,
    /// Many steps on.
    FarOn,
    /// To the first event.
    Start,
    /// To the last event.
    End,
    /// To the event before that is sought.
    FindBack,
    /// To the next event that is sought.
    FindOn,
    /// Says what is sought.
    Find,
    /// Plays slower.
    Slower,
    /// Plays faster.
    Faster,
    /// The timeline goes by events, or by time.
    Axis,
    /// Goes on from here as another run.
    Fork,
    /// Marks the instant.
    Bookmark,
    /// To the next mark.
    NextBookmark,
    /// Goes into the editor.
    Edit,
    /// Gives a picture the whole stage.
    Full,
    /// Stops recording.
    Stop,
    /// Copies a link to here.
    Share,
    /// Cuts the power here.
    Pull,
    /// Shows a picture, or takes it away.
    View(LabView),
}

/// Steps of a far step.
const FAR: i64 = 20;

impl LabCommand {
    /// Every command.
    pub const ALL: [Self; 33] = [
        Self::Run,
        Self::Play,
        Self::Back,
        Self::On,
        Self::FarBack,
        Self::FarOn,
        Self::Start,
        Self::End,
        Self::FindBack,
        Self::FindOn,
        Self::Find,
        Self::Slower,
        Self::Faster,
        Self::Axis,
        Self::Fork,
        Self::Bookmark,
        Self::NextBookmark,
        Self::Edit,
        Self::Full,
        Self::Stop,
        Self::Share,
        Self::Pull,
        Self::View(LabView::Blocks),
        Self::View(LabView::Files),
        Self::View(LabView::Memory),
        Self::View(LabView::Extents),
        Self::View(LabView::Journal),
        Self::View(LabView::Device),
        Self::View(LabView::Events),
        Self::View(LabView::Figures),
        Self::View(LabView::Groups),
        Self::View(LabView::Plug),
        Self::View(LabView::Medium),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "Run",
            Self::Play => "Play",
            Self::Back => "Step back",
            Self::On => "Step",
            Self::FarBack => "20 steps back",
            Self::FarOn => "20 steps",
            Self::Start => "To the start",
            Self::End => "To the end",
            Self::FindBack => "Find previous",
            Self::FindOn => "Find next",
            Self::Find => "Breakpoint",
            Self::Slower => "Slower",
            Self::Faster => "Faster",
            Self::Axis => "By time",
            Self::Fork => "Fork here",
            Self::Bookmark => "Bookmark",
            Self::NextBookmark => "Next bookmark",
            Self::Edit => "Edit",
            Self::Full => "Full stage",
            Self::Stop => "Stop recording",
            Self::Share => "Share link",
            Self::Pull => "Pull the plug",
            Self::View(view) => view.name(),
        }
    }

    /// What it does, in a phrase.
    pub fn help(self) -> &'static str {
        match self {
            Self::Run => "Record a run of the workload as it is in the editor",
            Self::Play => "Play on from here, or stop",
            Self::Back => "Go one step back",
            Self::On => "Go one step on",
            Self::FarBack => "Go 20 steps back",
            Self::FarOn => "Go 20 steps on",
            Self::Start => "Go to the first event",
            Self::End => "Go to the last event",
            Self::FindBack => "Go back to the event before for which the condition holds",
            Self::FindOn => "Go on to the next event for which the condition holds",
            Self::Find => "Say at what events to stop, as commit, error or inode=12",
            Self::Slower => "Play slower",
            Self::Faster => "Play faster",
            Self::Axis => "Lay the timeline out by events, or by simulated time",
            Self::Fork => "Go on from here as another run, with the programs in the editor",
            Self::Bookmark => "Mark this event, or take its mark away",
            Self::NextBookmark => "Go to the next marked event",
            Self::Edit => "Write in the workload; Escape leaves it",
            Self::Full => "Give the first picture the whole stage, or show several again",
            Self::Stop => "Stop recording; what was recorded stays",
            Self::Share => "Copy a link to this scenario at this event",
            Self::Pull => "Cut the power here, and look at every disk that this could leave",
            Self::View(view) => view.help(),
        }
    }

    /// Its key (see [`crate::command::Command::key`]), with what is held down for it.
    pub fn key(self) -> (&'static str, &'static str) {
        match self {
            Self::Run => ("Ctrl+Enter", "Ctrl Enter"),
            Self::Play => ("Space", "Space"),
            Self::Back => ("ArrowLeft", "←"),
            Self::On => ("ArrowRight", "→"),
            Self::FarBack => ("Shift+ArrowLeft", "Shift ←"),
            Self::FarOn => ("Shift+ArrowRight", "Shift →"),
            Self::Start => ("Home", "Home"),
            Self::End => ("End", "End"),
            Self::FindBack => ("Ctrl+ArrowLeft", "Ctrl ←"),
            Self::FindOn => ("Ctrl+ArrowRight", "Ctrl →"),
            Self::Find => ("", "/"),
            Self::Slower => ("Minus", "-"),
            Self::Faster => ("Equal", "+"),
            Self::Axis => ("KeyT", "T"),
            Self::Fork => ("KeyF", "F"),
            Self::Bookmark => ("KeyB", "B"),
            Self::NextBookmark => ("Shift+KeyB", "Shift B"),
            Self::Edit => ("KeyE", "E"),
            Self::Full => ("KeyZ", "Z"),
            Self::Stop => ("KeyX", "X"),
            Self::Share => ("KeyL", "L"),
            Self::Pull => ("KeyP", "P"),
            Self::View(view) => view.key(),
        }
    }

    /// Whether it does something as things stand.
    pub fn is_possible(self, state: &State) -> bool {
        let lab = &state.lab;
        let shown = lab.frame.is_some() && lab.info().is_some();
        match self {
            Self::Run | Self::Edit => true,
            Self::Stop => lab.info().is_some_and(|run| run.ending.is_none()),
            Self::NextBookmark => !lab.bookmarks.is_empty(),
            Self::Slower => lab.speed > 0,
            Self::Faster => lab.speed + 1 < SPEEDS.len(),
            Self::Share => lab.info().is_some(),
            _ => shown,
        }
    }

    /// Does it.
    pub fn run(self, store: &Store) {
        let (lab, engine) = (&store.state.lab, &store.engine);
        let act = |action| store.lab(action);
        let event = lab.event();
        match self {
            Self::Run => engine.run_text(Rc::clone(&lab.text), None),
            Self::Play => act(LabAction::Play(!lab.playing)),
            Self::Back => pace(store, -1),
            Self::On => pace(store, 1),
            Self::FarBack => pace(store, -FAR),
            Self::FarOn => pace(store, FAR),
            Self::Start => go(store, lab.info().map_or(0, |run| run.first)),
            Self::End => go(store, lab.info().map_or(0, |run| run.end.saturating_sub(1))),
            Self::FindBack => find(store, true),
            Self::FindOn => find(store, false),
            Self::Find => pick::focus_soon("condition"),
            Self::Slower => act(LabAction::Speed(lab.speed.saturating_sub(1))),
            Self::Faster => act(LabAction::Speed(lab.speed + 1)),
            Self::Axis => act(LabAction::Axis(match lab.axis {
                Axis::Events => Axis::Time,
                Axis::Time => Axis::Events,
            })),
            Self::Fork => fork(store),
            Self::Bookmark => act(LabAction::Bookmark(event)),
            Self::NextBookmark => {
                let later = lab.bookmarks.range(event + 1..).next();
                if let Some(mark) = later.or_else(|| lab.bookmarks.first()) {
                    go(store, *mark);
                }
            }
            Self::Edit => {
                act(LabAction::Pane(LabPane::Workload));
                pick::focus_soon("workload");
            }
            Self::Full => act(LabAction::Full(match lab.full {
                Some(_) => None,
                None => lab.views.first().copied(),
            })),
            Self::Stop => engine.stop_recording(),
            Self::Share => share(store),
            Self::Pull => {
                stop(store);
                engine.pull_and_show(event);
            }
            Self::View(view) => act(LabAction::View(view)),
        }
    }
}

fn stop(store: &Store) {
    if store.state.lab.playing {
        store.lab(LabAction::Play(false));
    }
}

/// Goes to an event.
pub fn go(store: &Store, event: u64) {
    stop(store);
    store.engine.seek(Seek::Event(event));
}

fn pace(store: &Store, by: i64) {
    stop(store);
    store.engine.seek(Seek::Steps(store.state.lab.event(), by));
}

/// What is sought where nothing was said.
pub const USUAL: &str = "commit";

/// Goes to the next (or previous) event that is sought.
pub fn find(store: &Store, back: bool) {
    stop(store);
    let lab = &store.state.lab;
    let words = match lab.find.trim() {
        "" => USUAL,
        words => words,
    };
    store.engine.seek(Seek::Where {
        from: lab.event(),
        back,
        words: words.to_owned(),
    });
}

fn fork(store: &Store) {
    stop(store);
    let lab = &store.state.lab;
    let Some(run) = lab.info() else { return };
    let text = lab.is_edited().then(|| Rc::clone(&lab.text));
    store.engine.fork(run.nr, lab.event(), text, &run.text);
}

/// Puts the address, which leads to here, where it can be pasted from.
fn share(store: &Store) {
    let address = crate::address::absolute(&store.state);
    let words = match address {
        Ok(address) => {
            let clipboard = gloo::utils::window().navigator().clipboard();
            // A browser that does not allow it leaves the address, which says the same.
            let _ = clipboard.write_text(&address);
            "The link to this event is copied; the address says the same".to_owned()
        }
        Err(why) => why,
    };
    store.lab(LabAction::Note(Some(words.into())));
}

impl LabView {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Blocks => "Blocks",
            Self::Files => "Files",
            Self::Memory => "In memory",
            Self::Extents => "File’s blocks",
            Self::Journal => "Journal",
            Self::Device => "Device",
            Self::Events => "Events",
            Self::Figures => "Figures",
            Self::Groups => "Groups",
            Self::Plug => "Power cut",
            Self::Medium => "Inside the device",
        }
    }

    /// What it shows.
    pub fn help(self) -> &'static str {
        match self {
            Self::Blocks => "Who owns each block of the disk",
            Self::Files => "The tree of files, with what is dirty",
            Self::Memory => "Contents that only memory has, and those without an address",
            Self::Extents => "The tree that leads from the chosen file to its blocks",
            Self::Journal => "The log as a ring, and its transactions",
            Self::Device => "The device’s queue, cache and arm, and what is not safe",
            Self::Events => "Every event as a line",
            Self::Figures => "Counters over time",
            Self::Groups => "A row for each block group",
            Self::Plug => "The disks that a power cut could leave",
            Self::Medium => "Platters and arm, or flash page by page, or a card’s segments",
        }
    }

    fn key(self) -> (&'static str, &'static str) {
        match self {
            Self::Blocks => ("Digit1", "1"),
            Self::Files => ("Digit2", "2"),
            Self::Memory => ("Digit3", "3"),
            Self::Extents => ("Digit4", "4"),
            Self::Journal => ("Digit5", "5"),
            Self::Device => ("Digit6", "6"),
            Self::Events => ("Digit7", "7"),
            Self::Figures => ("Digit8", "8"),
            Self::Groups => ("Digit9", "9"),
            Self::Plug => ("KeyC", "C"),
            Self::Medium => ("Digit0", "0"),
        }
    }
}
