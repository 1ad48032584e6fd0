//! How far the map of owners is.

use std::rc::Rc;

use fslab_engine::ext4::Problem;

use crate::owner_map::{Damage, Owned, OwnerMap};

/// The map of who owns each block, and how far it is.
#[derive(Clone, Debug, Default)]
pub enum MapState {
    /// Nothing is known.
    #[default]
    None,
    /// The scan is under way.
    Scanning {
        /// Steps done.
        done: u64,
        /// Steps in all.
        of: u64,
        /// What is known so far.
        preview: Option<Rc<OwnerMap>>,
        /// The visitor stopped it.
        cancelled: bool,
    },
    /// All is known.
    Complete(Rc<Complete>),
}

/// A finished map.
#[derive(Clone, Debug)]
pub struct Complete {
    map: Rc<OwnerMap>,
    problems: Vec<Problem>,
    more_problems: u64,
    damage: Vec<(Owned, Damage)>,
    more_damage: u64,
}

/// Most damaged runs that are listed.
const MOST_DAMAGE: usize = 500;

impl MapState {
    pub(super) fn complete(map: Rc<OwnerMap>, problems: Vec<Problem>, more: u64) -> Self {
        let mut damaged = map.damaged();
        let damage = damaged.by_ref().take(MOST_DAMAGE).collect();
        let more_damage = damaged.count() as u64;
        Self::Complete(Rc::new(Complete {
            map,
            problems,
            more_problems: more,
            damage,
            more_damage,
        }))
    }

    pub(super) fn advance(&mut self, done: u64, of: u64, map: Option<Rc<OwnerMap>>) {
        let preview = map.or_else(|| self.map().cloned());
        *self = Self::Scanning {
            done,
            of,
            preview,
            cancelled: false,
        };
    }

    pub(super) fn cancel(&mut self) {
        match self {
            Self::Scanning { cancelled, .. } => *cancelled = true,
            Self::None => {
                *self = Self::Scanning {
                    done: 0,
                    of: 0,
                    preview: None,
                    cancelled: true,
                };
            }
            Self::Complete(_) => {}
        }
    }

    /// The map, as far as it is known.
    pub fn map(&self) -> Option<&Rc<OwnerMap>> {
        match self {
            Self::None => None,
            Self::Scanning { preview, .. } => preview.as_ref(),
            Self::Complete(complete) => Some(&complete.map),
        }
    }

    /// Whether all is known.
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Complete(_))
    }

    /// What the scan found wrong.
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Complete(complete) => &complete.problems,
            _ => &[],
        }
    }

    /// Blocks with damage by who owns them.
    pub fn damage(&self) -> &[(Owned, Damage)] {
        match self {
            Self::Complete(complete) => &complete.damage,
            _ => &[],
        }
    }

    /// Problems and damage beyond those listed.
    pub fn more_problems(&self) -> u64 {
        match self {
            Self::Complete(complete) => complete.more_problems + complete.more_damage,
            _ => 0,
        }
    }
}
