//! The pulled plug: the field of states, and what the visitor does with it.

use std::collections::BTreeSet;
use std::rc::Rc;

use fslab_engine::view::crash::{FieldView, StateWords};

/// What is known of the instant at which the plug was pulled.
#[derive(Clone, Debug, Default)]
pub struct Plug {
    /// The disks that this could leave.
    pub field: Option<Rc<FieldView>>,
    /// There is more to come.
    pub more: bool,
    /// What the visitor thinks can be found: classes by their place, the last of them being
    /// "something else".
    pub guess: BTreeSet<u32>,
    /// What can be found is shown.
    pub revealed: bool,
    /// Only states of this outcome are shown.
    pub filter: Option<u32>,
    /// The state that is told of.
    pub chosen: Option<u32>,
    /// It, told.
    pub words: Option<Rc<StateWords>>,
    /// The state whose disk the pictures show, and whether after its recovery.
    pub open: Option<(u32, bool)>,
}

/// Something that happens to the pulled plug.
#[derive(Clone, Debug)]
pub enum PlugAction {
    /// More of the field came.
    Field(Rc<FieldView>, bool),
    /// The visitor thinks that this can be found, or no longer.
    Guess(u32),
    /// What can be found is to be shown.
    Reveal,
    /// Only states of an outcome are to be shown.
    Filter(Option<u32>),
    /// A state is to be told of.
    Choose(Option<u32>),
    /// A state was told.
    Words(Rc<StateWords>),
    /// The pictures show the disk of a state, or of the run again.
    Open(Option<(u32, bool)>),
}

impl Plug {
    pub(super) fn change(&mut self, action: PlugAction) {
        match action {
            PlugAction::Field(field, more) => {
                let event = |f: &Option<Rc<FieldView>>| f.as_ref().map(|f| f.event);
                let new = Some(field);
                if event(&self.field) != event(&new) {
                    *self = Self::default();
                }
                (self.field, self.more) = (new, more);
            }
            PlugAction::Guess(class) => {
                if !self.guess.remove(&class) {
                    self.guess.insert(class);
                }
            }
            PlugAction::Reveal => self.revealed = true,
            PlugAction::Filter(outcome) => {
                self.filter = outcome.filter(|o| self.filter != Some(*o));
            }
            PlugAction::Choose(state) => {
                self.chosen = state;
                self.words = None;
            }
            PlugAction::Words(words) => self.words = Some(words),
            PlugAction::Open(open) => self.open = open,
        }
    }

    /// Whether a guess is asked for before anything is shown.
    pub fn asks(&self) -> bool {
        let classes = self.field.as_ref().is_some_and(|f| !f.classes.is_empty());
        classes && !self.revealed
    }
}
