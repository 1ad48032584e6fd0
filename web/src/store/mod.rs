//! What the page knows, and the one way in which that changes.
//!
//! [`State`] holds everything that is shown. It changes only by an [`Action`]; the
//! [`Engine`] sends actions when the worker tells something, views send them when the
//! visitor does something. Views take both from the context [`Store`].

mod action;
mod engine;
mod handle;
mod image;
mod lab;
mod lab_engine;
mod map;
mod plug;
mod replies;
mod save;
mod selection;
mod state;

pub use action::Action;
pub use engine::Engine;
pub use handle::{Fetched, Store, StoreProvider, use_query, use_store};
pub use image::{ImageState, Opened, Partitions, Source, Stage};
pub use lab::{LabAction, LabPane, LabState, LabView, RunInfo, SPEEDS};
pub use map::MapState;
pub use plug::PlugAction;
pub use replies::{Data, Dirs, Replies};
pub use save::{Saving, download_bytes};
pub use selection::{Focus, Selection};
pub use state::{Health, Pane, State, View};
