//! What the page asks of a run and what it is told: the Lab's part of the protocol.
//!
//! Every run has a number, chosen by the page; forks are runs of their own. The disk of a
//! run at an instant is opened like any image, under a number that the page sends along.

use fslab_engine::machine::{End, Gauges};
use fslab_engine::view::crash::{FieldView, StateWords};
use fslab_engine::view::lab::{EventView, FlashEffects, Frame, Lanes, Window};
use serde::{Deserialize, Serialize};

/// What the page asks of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabRequest {
    /// Records a scenario's run.
    Run {
        /// The run's number.
        run: u32,
        /// The scenario's text.
        text: String,
    },
    /// Goes on from an instant of a run, as another.
    Fork {
        /// The new run's number.
        run: u32,
        /// The run to go on from.
        from: u32,
        /// The event.
        event: u64,
        /// A text whose programs take the place of those there were.
        text: Option<String>,
    },
    /// Stops recording; what was recorded stays.
    Stop {
        /// The run's number.
        run: u32,
    },
    /// Forgets a run.
    Drop {
        /// The run's number.
        run: u32,
    },
    /// Shows an instant. Answers with [`LabAnswer::Shown`]; where the disk is another than
    /// the one that is open, that is opened first, as `image`.
    Go {
        /// The run's number.
        run: u32,
        /// Which instant.
        to: Seek,
        /// The number for the disk.
        image: u32,
        /// Open the disk whether it changed or not.
        anew: bool,
        /// A file to tell of whatever is in memory of it.
        chosen: Option<u32>,
    },
    /// Pulls the plug after an event: answers with [`LabAnswer::Field`] again and again as
    /// more of the disks that this could leave are looked at.
    Pull {
        /// The run's number.
        run: u32,
        /// The event.
        event: u64,
    },
    /// Looks at no more disks of that instant; what was found stays.
    Enough {
        /// The run's number.
        run: u32,
    },
    /// Opens the disk of a state that pulling the plug could leave, as `image`. Answers with
    /// [`LabAnswer::Shown`] of the instant before.
    OpenState {
        /// The run's number.
        run: u32,
        /// The state.
        state: u32,
        /// As recovery leaves it; else as the power cut does.
        recovered: bool,
        /// The number for the disk.
        image: u32,
    },
    /// Asks something; the answer carries `ask`.
    Ask {
        /// The run's number.
        run: u32,
        /// The question's number.
        ask: u32,
        /// The question.
        query: LabQuery,
    },
}

/// An instant of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Seek {
    /// An event.
    Event(u64),
    /// A time, ns.
    Time(u64),
    /// The last event up to a time, but at least the next step after an event.
    OnBy {
        /// From this event.
        from: u64,
        /// The time, ns.
        to_ns: u64,
    },
    /// So many steps after (or before) the step of an event.
    Steps(u64, i64),
    /// The next (or previous) event of which words hold.
    Where {
        /// From this event.
        from: u64,
        /// Backwards.
        back: bool,
        /// `recording::Condition`'s words.
        words: String,
    },
}

/// A question on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabQuery {
    /// Some events, at most 1000.
    Events {
        /// The first.
        from: u64,
        /// How many.
        count: u32,
    },
    /// What an event follows from, and what follows from it.
    Chain {
        /// The event.
        event: u64,
    },
    /// What followed from an event in flash.
    Flash {
        /// The event.
        event: u64,
    },
    /// A part of the timeline.
    Lanes(Window),
    /// Figures over time, at most so many samples.
    Samples {
        /// How many.
        most: u32,
    },
    /// A state of the field, told.
    CrashState {
        /// Its number.
        state: u32,
    },
    /// A file to be saved; its bytes are the answer's first extra.
    Export(Export),
}

/// What can be saved of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Export {
    /// Every event as a line for people.
    EventsText,
    /// Every event as a line of JSON.
    EventsJson,
    /// Figures over time.
    Counters,
    /// The disk at the instant that is shown.
    Disk,
    /// The disk of a state of the field, before its recovery.
    State(u32),
}

/// What the page is told of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabAnswer {
    /// The machine is set up, and the recording goes on.
    Begun {
        /// The run's number.
        run: u32,
        /// The scenario's title.
        title: String,
        /// What one will see.
        about: String,
        /// What it wants shown.
        show: Vec<String>,
        /// The number of its first event.
        first: u64,
        /// Bytes of its disk.
        size: u64,
    },
    /// The scenario cannot be run.
    Refused {
        /// The run's number.
        run: u32,
        /// Why, and where.
        mistakes: Vec<Mistake>,
    },
    /// How far the recording is.
    Recorded {
        /// The run's number.
        run: u32,
        /// One past the last event.
        events: u64,
        /// Simulated time, ns.
        time_ns: u64,
        /// A hash of all events.
        hash: u64,
        /// It is complete: why it ended; `Stopped` by the visitor.
        end: Option<Ending>,
        /// Processes that stopped by a mistake of their programs, or by a call that failed.
        mistakes: Vec<Mistake>,
    },
    /// An instant is shown.
    Shown {
        /// The run's number.
        run: u32,
        /// The instant; `None` where a search found none.
        frame: Option<Box<Frame>>,
        /// The disk was opened under the number that came with the request.
        opened: bool,
        /// Why nothing could be sought, in a sentence.
        problem: Option<String>,
    },
    /// The disks that pulling the plug could leave, as far as they were looked at.
    Field {
        /// The run's number.
        run: u32,
        /// The field.
        field: Box<FieldView>,
        /// There is more to come.
        more: bool,
    },
    /// The answer to a question.
    Reply {
        /// The run's number.
        run: u32,
        /// The question's number.
        ask: u32,
        /// The answer, or a sentence on why there is none.
        reply: Result<LabReply, String>,
    },
}

/// Why a recording is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// By itself, or at a limit.
    Ended(End),
    /// The visitor stopped it.
    Stopped,
}

/// The answer to a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum LabReply {
    /// Events.
    Events(Vec<EventView>),
    /// What an event follows from, the first cause last; what follows from it.
    Chain {
        /// The event itself.
        event: Option<EventView>,
        /// Its causes.
        causes: Vec<EventView>,
        /// Its effects.
        effects: Vec<EventView>,
        /// There are more effects than those.
        more: bool,
    },
    /// What followed in flash.
    Flash(FlashEffects),
    /// A part of the timeline.
    Lanes(Lanes),
    /// Figures.
    Samples(Vec<Gauges>),
    /// A state of the field.
    CrashState(Box<StateWords>),
    /// Bytes come along.
    File,
}

/// Something wrong in a scenario's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mistake {
    /// Line, from 1; 0 where it is about the whole.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Characters.
    pub len: u32,
    /// A sentence.
    pub words: String,
}
