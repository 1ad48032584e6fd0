//! Pictures of a machine at an instant, and of a run as a whole, as plain data.

mod device;
mod events;
mod frame;
mod journal;
mod lanes;
mod medium;
mod memory;
mod spans;
pub(in crate::view) mod words;

pub use device::{DeviceView, RequestView, UnstableView};
pub use events::{EventView, Lane, event_text, event_view, kind_words, lane_of};
pub use frame::{Frame, OpenRow, ProcessView, frame};
pub use journal::{LogView, Stage, TransactionView};
pub use lanes::{Axis, LaneView, Lanes, Level, Mark, MarkKind, Span, SpanKind, Window};
pub use medium::{
    BlockState, BlockView, CardView, Colouring, DiskView, FlashEffects, FlashKind, FlashView,
    MediumView, Move, OpenView, Owned, PageFacts, PageRun as FlashRun, PageState as FlashState,
    PlaceView, Tone, ZoneView, flash_effects,
};
pub use memory::{FileView, PageRun, PageState};
pub use spans::Story;
pub use words::event_words;
