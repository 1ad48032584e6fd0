//! Everything that the page shows.

use std::rc::Rc;

use fslab_engine::ext4::Problem;
use yew::Reducible;

use super::image::Partitions;
use super::{
    Action, Dirs, ImageState, LabState, MapState, Opened, Replies, Saving, Selection, Source, Stage,
};
use crate::kinds::KindSet;
use crate::owner_map::OwnerMap;
use crate::room::Room;
use crate::route::Address;
use crate::worker::protocol::{Answer, Query};

/// A picture, at full size, or several.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum View {
    /// The block map, the tree of the chosen file's blocks, and the groups.
    #[default]
    Overview,
    /// The block map.
    Map,
    /// The tree of the chosen file's blocks.
    Tree,
    /// The group table.
    Groups,
    /// The journal.
    Journal,
    /// What is wrong.
    Problems,
    /// The superblock.
    Superblock,
    /// The chosen file's contents.
    Contents,
    /// An older version of the chosen block beside the current one.
    Compare,
}

/// What a narrow screen shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Pane {
    /// The stage.
    #[default]
    Stage,
    /// The tree of files.
    Files,
    /// The selection explained.
    Selection,
    /// The other pictures.
    More,
}

/// Whether the engine is there.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Health {
    /// It is.
    #[default]
    Well,
    /// It stopped, for this reason.
    Failed(String),
}

/// Everything that the page shows.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Grows with every change.
    version: u64,
    /// Whether the engine is there.
    pub health: Health,
    /// The image.
    pub image: ImageState,
    /// Who owns each block of it.
    pub map: MapState,
    /// Replies to questions.
    pub replies: Rc<Replies>,
    /// Pages of directories.
    pub dirs: Rc<Dirs>,
    /// What is chosen.
    pub selection: Selection,
    /// Kinds of blocks to show; empty for all.
    pub filter: KindSet,
    /// The picture.
    pub view: View,
    /// The narrow screen's.
    pub pane: Pane,
    /// How far the search of the journal is that a reply waits for: blocks done, and in all.
    pub searching: Option<(u64, u64)>,
    /// A file being saved.
    pub saving: Option<Saving>,
    /// The sample was opened for a visitor who asked for nothing yet.
    pub welcome: bool,
    /// The list of commands is open.
    pub help: bool,
    /// The room one is in.
    pub room: Room,
    /// What the Lab shows.
    pub lab: LabState,
}

impl State {
    pub(super) fn version(&self) -> u64 {
        self.version
    }

    /// The open filesystem.
    pub fn opened(&self) -> Option<&Rc<Opened>> {
        match &self.image.stage {
            Stage::Open(opened) => Some(opened),
            _ => None,
        }
    }

    /// Everything found wrong so far: by opening, then by the scan.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        let opened = self.opened().map(|o| o.summary.problems.iter());
        opened.into_iter().flatten().chain(self.map.problems())
    }

    fn change(&mut self, action: Action) {
        match action {
            Action::Open { nr, at, stage } => {
                self.room = Room::Explore;
                self.begin(ImageState {
                    nr,
                    family: nr,
                    source: at.source.clone(),
                    stage,
                    partition: at.partition,
                    replayed: at.replayed,
                });
                self.place(&at);
            }
            Action::Close { nr } => {
                self.room = Room::Explore;
                self.begin(ImageState {
                    nr,
                    family: nr,
                    ..ImageState::default()
                });
            }
            Action::Place(at) => self.place(&at),
            Action::Told { answer, map } => self.hear(answer, map),
            Action::Refused { nr, message } => {
                if nr == self.image.nr {
                    self.image.stage = Stage::Refused {
                        message,
                        advice: None,
                    };
                }
            }
            Action::Replied { query, reply } => {
                if query == Query::Journal {
                    self.searching = None;
                }
                Rc::make_mut(&mut self.replies).put(query, reply);
            }
            Action::Listed { dir, from, page } => {
                Rc::make_mut(&mut self.dirs).put(dir, from, page);
            }
            Action::Unlist { dir } => Rc::make_mut(&mut self.dirs).forget(dir),
            Action::Forget => self.forget(),
            Action::Select(selection) => {
                self.selection = selection;
                self.leave_compare();
            }
            Action::Filter(filter) => self.filter = filter,
            Action::Show(view) => {
                self.view = view;
                self.pane = Pane::Stage;
            }
            Action::Pane(pane) => self.pane = pane,
            Action::Saving(saving) => self.saving = saving,
            Action::Failed(message) => self.health = Health::Failed(message),
            Action::Restarted => self.health = Health::Well,
            Action::Welcome(on) => self.welcome = on,
            Action::Help(on) => self.help = on,
            Action::Room(room) => self.enter(room),
            Action::Lab(action) => self.lab.change(action),
            Action::Instant {
                nr,
                opened,
                mapped,
                told,
            } => {
                let mapped = mapped.map(|(answer, map)| (*answer, map));
                self.instant(nr, opened.map(|o| *o), mapped, told);
            }
        }
    }

    /// Drops all that was of the image before, at once.
    fn begin(&mut self, image: ImageState) {
        self.forget();
        self.image = image;
        self.selection = Selection::default();
        self.view = View::default();
        self.pane = Pane::default();
        self.filter = KindSet::default();
        self.welcome = false;
    }

    fn enter(&mut self, room: Room) {
        if room == self.room {
            return;
        }
        // What is open belongs to the room that is left.
        let nr = self.image.nr;
        self.begin(ImageState {
            nr,
            family: nr,
            ..ImageState::default()
        });
        self.room = room;
        self.lab.leave();
    }

    /// The disk that is open is another now, in another state: what was read of the one
    /// before stays until it has been read again.
    pub(super) fn reopened(&mut self, nr: u32, answer: Answer) {
        let same = self.image.source == Some(Source::Run);
        let family = if same { self.image.family } else { nr };
        if !same {
            self.forget();
        }
        self.image = ImageState {
            nr,
            family,
            source: Some(Source::Run),
            stage: Stage::Opening,
            partition: None,
            replayed: false,
        };
        match answer {
            Answer::Opened {
                layers, summary, ..
            } => {
                self.image.stage = Stage::Open(Rc::new(Opened {
                    layers,
                    partition: None,
                    replayed: false,
                    summary: *summary,
                }));
                Rc::make_mut(&mut self.replies).all_stale();
            }
            Answer::Refused {
                message, advice, ..
            } => self.image.stage = Stage::Refused { message, advice },
            _ => {}
        }
    }

    fn place(&mut self, at: &Address) {
        self.selection = at.selection;
        self.view = at.view;
        self.filter = at.filter;
    }

    /// Drops all that was read of the image.
    fn forget(&mut self) {
        self.map = MapState::None;
        self.replies = Rc::default();
        self.dirs = Rc::default();
        self.saving = None;
        self.searching = None;
    }

    /// A block that was chosen before its owner was known has one now.
    fn adopt_owner(&mut self) {
        let Selection {
            inode: None,
            block: Some(block),
            ..
        } = self.selection
        else {
            return;
        };
        let run = self.map.map().and_then(|map| map.at(block));
        self.selection.inode = run.and_then(|run| run.inode);
    }

    /// The comparison has a subject only while an old version is chosen.
    fn leave_compare(&mut self) {
        if self.view == View::Compare && self.selection.version.is_none() {
            self.view = View::Overview;
        }
    }

    pub(super) fn hear(&mut self, answer: Answer, map: Option<Rc<OwnerMap>>) {
        if image_of(&answer).is_some_and(|nr| nr != self.image.nr) {
            return;
        }
        match answer {
            Answer::Failed { message } => self.health = Health::Failed(message),
            Answer::Expanding {
                done, of, produced, ..
            } => self.image.stage = Stage::Expanding { done, of, produced },
            Answer::Partitions {
                layers,
                table,
                rows,
                notes,
                ..
            } => {
                self.image.stage = Stage::Partitions(Rc::new(Partitions {
                    layers,
                    table,
                    rows,
                    notes,
                }));
            }
            Answer::Opened {
                layers,
                partition,
                replayed,
                summary,
                ..
            } => {
                self.forget();
                self.image.partition = partition;
                self.image.replayed = replayed;
                self.image.stage = Stage::Open(Rc::new(Opened {
                    layers,
                    partition,
                    replayed,
                    summary: *summary,
                }));
            }
            Answer::Refused {
                message, advice, ..
            } => self.image.stage = Stage::Refused { message, advice },
            Answer::Cancelled { .. } => {
                if self.opened().is_some() {
                    self.map.cancel();
                } else {
                    self.image.stage = Stage::Cancelled;
                }
            }
            Answer::Searching { done, of, .. } => self.searching = Some((done, of)),
            Answer::Scanning { done, of, .. } => self.map.advance(done, of, map),
            Answer::Mapped {
                problems,
                more_problems,
                ..
            } => {
                if let Some(map) = map {
                    self.map = MapState::complete(map, problems, more_problems);
                    Rc::make_mut(&mut self.replies).owners_known();
                    self.adopt_owner();
                }
            }
            Answer::Pong { .. } | Answer::Reply { .. } | Answer::Lab(_) => {}
        }
    }
}

/// The image that an answer speaks of.
fn image_of(answer: &Answer) -> Option<u32> {
    match answer {
        Answer::Pong { .. } | Answer::Failed { .. } | Answer::Lab(_) => None,
        Answer::Expanding { image, .. }
        | Answer::Partitions { image, .. }
        | Answer::Opened { image, .. }
        | Answer::Refused { image, .. }
        | Answer::Cancelled { image }
        | Answer::Scanning { image, .. }
        | Answer::Searching { image, .. }
        | Answer::Mapped { image, .. }
        | Answer::Reply { image, .. } => Some(*image),
    }
}

impl Reducible for State {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        let mut next = (*self).clone();
        next.version += 1;
        next.change(action);
        Rc::new(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(nr: u32) -> Action {
        Action::Open {
            nr,
            at: Address::parse("#s=small"),
            stage: Stage::Opening,
        }
    }

    #[test]
    fn answers_of_an_image_no_longer_shown_are_dropped() {
        let mut state = State::default();
        state.change(opening(1));
        state.change(opening(2));
        state.change(Action::Told {
            answer: Answer::Refused {
                image: 1,
                message: "no".into(),
                advice: None,
            },
            map: None,
        });
        assert_eq!(state.image.stage, Stage::Opening);
    }

    #[test]
    fn a_new_image_takes_the_old_ones_selection_away() {
        let mut state = State::default();
        state.change(opening(1));
        state.change(Action::Select(Selection::inode(12)));
        state.change(Action::Show(View::Journal));
        state.change(opening(2));
        assert_eq!(state.selection, Selection::default());
        assert_eq!(state.view, View::Overview);
    }
}
