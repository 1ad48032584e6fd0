//! Pull the plug: every disk that a power cut could leave, and what becomes of each.
//!
//! [`Pending`] is the medium at an instant with the writes that may be lost; [`Judge`]
//! recovers a disk and asks what the scenario expects; [`Field`] goes through the disks.

mod bounded;
mod check;
mod field;
mod guide;
mod judge;
mod medium;
mod moments;
mod pending;
mod stream;

pub use bounded::{Workload, one_call};
pub use field::{Coverage, Field, State};
pub use guide::Guide;
pub use judge::{Condition, Judge, Verdict};
pub use medium::Decision;
pub use moments::{Moment, Watch, moments};
pub use pending::{Atom, Order, Pending, PendingWrite, Raw, Rules, SECTOR, Tear};
pub use stream::{Record, Stream, StreamError, taken};
