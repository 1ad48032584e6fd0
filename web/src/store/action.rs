use std::rc::Rc;

use fslab_engine::view::DirView;

use super::{Data, LabAction, Pane, Saving, Selection, Stage, View};
use crate::kinds::KindSet;
use crate::owner_map::OwnerMap;
use crate::room::Room;
use crate::route::Address;
use crate::worker::lab::LabAnswer;
use crate::worker::protocol::{Answer, Query};

/// Something that changes what the page shows.
#[derive(Clone, Debug)]
pub enum Action {
    /// An image is being opened: all that was shown of the one before goes.
    Open {
        /// Its number.
        nr: u32,
        /// Where it comes from, and the place in it to go to.
        at: Address,
        /// How far it is: opening, or waiting for the visitor's file.
        stage: Stage,
    },
    /// The image is closed.
    Close {
        /// Number of the image to come.
        nr: u32,
    },
    /// Goes to a place in the image, all at once.
    Place(Address),
    /// The worker told something.
    Told {
        /// What.
        answer: Answer,
        /// The map that came with it.
        map: Option<Rc<OwnerMap>>,
    },
    /// An image cannot be had at all.
    Refused {
        /// Its number.
        nr: u32,
        /// Why, in a sentence.
        message: String,
    },
    /// A question was answered.
    Replied {
        /// The question.
        query: Query,
        /// The answer, or why there is none.
        reply: Result<Rc<Data>, Rc<str>>,
    },
    /// A page of a directory came.
    Listed {
        /// The directory.
        dir: u32,
        /// The page's first row.
        from: u64,
        /// The page, or why there is none.
        page: Result<Rc<DirView>, Rc<str>>,
    },
    /// A directory was closed in the tree of files.
    Unlist {
        /// The directory.
        dir: u32,
    },
    /// What was read of the image holds no longer.
    Forget,
    /// Something was chosen.
    Select(Selection),
    /// Kinds of blocks to show.
    Filter(KindSet),
    /// A picture to show.
    Show(View),
    /// What a narrow screen shows.
    Pane(Pane),
    /// A file being saved.
    Saving(Option<Saving>),
    /// The engine stopped.
    Failed(String),
    /// The engine was started anew.
    Restarted,
    /// Whether to greet a new visitor.
    Welcome(bool),
    /// The list of commands opens or closes.
    Help(bool),
    /// Another room.
    Room(Room),
    /// Something of the Lab.
    Lab(LabAction),
    /// An instant of a run came.
    Instant {
        /// The number of its disk.
        nr: u32,
        /// The disk, where it is another than before.
        opened: Option<Box<Answer>>,
        /// Who owns its blocks.
        mapped: Option<(Box<Answer>, Rc<OwnerMap>)>,
        /// The instant itself.
        told: Rc<LabAnswer>,
    },
}
