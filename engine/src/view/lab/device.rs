//! The device: its queue, its cache, its arm, and what a power cut may take.

use crate::device::{AtWork, Drive, Mechanism, Unstable, Waiting};
use crate::event::Io;
use crate::machine::Machine;
use serde::{Deserialize, Serialize};

/// Most requests that are listed.
const QUEUE: usize = 128;
/// Most writes that are listed.
const UNSTABLE: usize = 256;

/// A request in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RequestView {
    /// Its number.
    pub request: u64,
    /// What it asks.
    pub kind: Io,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// The event that it follows from.
    pub cause: Option<u64>,
}

/// A write that a power cut may take or leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UnstableView {
    /// The request.
    pub request: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// How many flushes were queued before it.
    pub epoch: u64,
    /// Forced unit access.
    pub fua: bool,
    /// The event that it follows from.
    pub cause: Option<u64>,
}

/// A device.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DeviceView {
    /// Bytes.
    pub size: u64,
    /// It has an arm: cylinder that it is on, cylinders.
    pub arm: Option<(u64, u64)>,
    /// The request at work.
    pub at_work: Option<RequestView>,
    /// A piece of the cache on its way to the medium: first byte, bytes.
    pub destaging: Option<(u64, u64)>,
    /// When that will be done, ns.
    pub done_ns: Option<u64>,
    /// Requests that wait, the next first.
    pub queue: Vec<RequestView>,
    /// Requests beyond those.
    pub more_queue: u64,
    /// Bytes of the write cache; `None`: there is none.
    pub cache: Option<u64>,
    /// Bytes in it that the medium has not.
    pub cached: u64,
    /// Writes that are not known to be safe, oldest first.
    pub unstable: Vec<UnstableView>,
    /// Writes beyond those.
    pub more_unstable: u64,
    /// Flushes queued so far.
    pub epoch: u64,
}

pub(super) fn device(machine: &Machine) -> DeviceView {
    let size = machine.device().len();
    let Some(drive) = machine.drive() else {
        return DeviceView {
            size,
            ..DeviceView::default()
        };
    };
    let (at_work, destaging, done_ns) = at_work(drive);
    let (queue, unstable) = (drive.waiting(), drive.unstable());
    DeviceView {
        size,
        arm: match drive.mechanism() {
            Mechanism::Hdd {
                cylinders, head, ..
            } => Some((*head, *cylinders)),
            Mechanism::Disk { disk, .. } => Some((disk.cylinder().into(), disk.cylinders().into())),
            Mechanism::Ram | Mechanism::Flash(_) => None,
        },
        at_work,
        destaging,
        done_ns,
        more_queue: queue.len().saturating_sub(QUEUE) as u64,
        queue: queue.take(QUEUE).map(request).collect(),
        cache: drive.cache_size(),
        cached: drive.cached_bytes(),
        more_unstable: unstable.len().saturating_sub(UNSTABLE) as u64,
        unstable: unstable.take(UNSTABLE).map(write).collect(),
        epoch: drive.epoch(),
    }
}

type Working = (Option<RequestView>, Option<(u64, u64)>, Option<u64>);

fn at_work(drive: &Drive) -> Working {
    match drive.at_work() {
        None => (None, None, None),
        Some((AtWork::Request(r), done)) => (Some(request(&r)), None, Some(done.0)),
        Some((AtWork::Destage(offset, len), done)) => (None, Some((offset, len)), Some(done.0)),
        Some((AtWork::Tidy, done)) => (None, None, Some(done.0)),
    }
}

fn request(r: &Waiting) -> RequestView {
    RequestView {
        request: r.request,
        kind: r.kind,
        offset: r.offset,
        len: r.len,
        cause: r.cause.map(|c| c.0),
    }
}

fn write(w: &Unstable) -> UnstableView {
    UnstableView {
        request: w.request,
        offset: w.offset,
        len: w.data.iter().map(|(_, n)| n).sum(),
        epoch: w.epoch,
        fua: w.fua,
        cause: w.cause.map(|c| c.0),
    }
}
