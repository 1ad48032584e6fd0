//! A disk: its zones, its arm, and where on the platters each request lies.

use crate::device::hdd::{DiskSpec, SECTOR};
use crate::device::{AtWork, Drive, HddSpec, Mechanism};
use crate::units::SimTime;
use serde::{Deserialize, Serialize};

/// Most requests, and most runs of the cache, that are placed.
const PLACES: usize = 128;
/// A whole turn.
const TURN: u64 = 1_000_000;

/// A disk at an instant.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DiskView {
    /// What it is.
    pub name: String,
    /// Turns a minute.
    pub rpm: u32,
    /// Surfaces.
    pub heads: u32,
    /// Cylinders.
    pub cylinders: u64,
    /// Where the arm is: cylinder.
    pub arm: u64,
    /// How far the platters have turned, in millionths of a turn.
    pub turned: u64,
    /// The order in which the queue is served, as scenarios have it.
    pub order: String,
    /// Zones from the outer edge inwards.
    pub zones: Vec<ZoneView>,
    /// Where the partition lies: its first and last cylinder.
    pub partition: (u64, u64),
    /// The request at work.
    pub at_work: Option<PlaceView>,
    /// Requests that wait, the next to come first.
    pub queue: Vec<PlaceView>,
    /// Runs of bytes in the cache that the medium has not.
    pub cached: Vec<PlaceView>,
}

/// Cylinders whose tracks have as many sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ZoneView {
    /// First cylinder.
    pub first: u64,
    /// Last cylinder.
    pub last: u64,
    /// Sectors of a track.
    pub sectors: u32,
}

/// Where bytes lie on the platters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlaceView {
    /// The request; `None` for bytes of the cache.
    pub request: Option<u64>,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// Cylinder of the first.
    pub cylinder: u64,
    /// Surface.
    pub head: u32,
    /// When in a turn it passes under the head, in millionths of a turn.
    pub angle: u64,
    /// The event that it follows from.
    pub cause: Option<u64>,
}

/// Where a byte is: cylinder, surface, angle.
type Locate<'a> = Box<dyn Fn(u64) -> (u64, u32, u64) + 'a>;

pub(super) fn disk(drive: &Drive, now: SimTime) -> DiskView {
    let size = crate::disk::ReadAt::len(drive.contents());
    let mut view = match drive.mechanism() {
        Mechanism::Disk { disk, order, .. } => DiskView {
            arm: disk.cylinder().into(),
            cylinders: disk.cylinders().into(),
            order: format!("{:?}", order.order).to_lowercase(),
            ..real(disk.spec())
        },
        Mechanism::Hdd {
            spec,
            cylinders,
            head,
        } => DiskView {
            arm: *head,
            cylinders: *cylinders,
            ..simple(spec, *cylinders)
        },
        Mechanism::Ram | Mechanism::Flash(_) => return DiskView::default(),
    };
    let turn = 60_000_000_000 / u64::from(view.rpm.max(1));
    view.turned = (now.0 % turn.max(1)).saturating_mul(TURN) / turn.max(1);
    let locate = locate(drive.mechanism());
    let start = drive.start();
    let place = |request, offset: u64, len, cause| {
        let (cylinder, head, angle) = locate(offset.saturating_add(start));
        PlaceView {
            request,
            offset,
            len,
            cylinder,
            head,
            angle,
            cause,
        }
    };
    let cause = |c: Option<crate::event::EventId>| c.map(|c| c.0);
    view.queue = drive
        .waiting()
        .filter(|r| r.len > 0)
        .take(PLACES)
        .map(|r| place(Some(r.request), r.offset, r.len, cause(r.cause)))
        .collect();
    view.at_work = drive.at_work().and_then(|(work, _)| match work {
        AtWork::Request(r) if r.len > 0 => {
            Some(place(Some(r.request), r.offset, r.len, cause(r.cause)))
        }
        AtWork::Request(_) => None,
        AtWork::Destage(offset, len) => Some(place(None, offset, len, None)),
    });
    let runs = drive.cached_runs(PLACES);
    view.cached = runs
        .into_iter()
        .map(|(offset, len)| place(None, offset, len, None))
        .collect();
    let last = start.saturating_add(size.saturating_sub(1));
    view.partition = (locate(start).0, locate(last).0);
    view
}

fn real(spec: &DiskSpec) -> DiskView {
    let zones = spec.zones.iter().map(|z| ZoneView {
        first: z.first.into(),
        last: z.last.into(),
        sectors: z.sectors,
    });
    DiskView {
        name: spec.words.clone(),
        rpm: spec.rpm,
        heads: spec.heads,
        zones: zones.collect(),
        ..DiskView::default()
    }
}

fn simple(spec: &HddSpec, cylinders: u64) -> DiskView {
    DiskView {
        name: format!("a disk of one zone, {} rpm", spec.rpm),
        rpm: spec.rpm,
        heads: spec.heads,
        order: "fcfs".into(),
        zones: vec![ZoneView {
            first: 0,
            last: cylinders.saturating_sub(1),
            sectors: (spec.sectors_per_cylinder / spec.heads.max(1)).max(1),
        }],
        ..DiskView::default()
    }
}

fn locate(mechanism: &Mechanism) -> Locate<'_> {
    match mechanism {
        Mechanism::Disk { disk, .. } => Box::new(|byte| {
            let spec = disk.spec();
            let place = spec.place(byte / SECTOR);
            let turn = spec.turn().max(1);
            let angle = spec.angle(place).saturating_mul(TURN) / turn;
            (place.cylinder.into(), place.head, angle)
        }),
        Mechanism::Hdd {
            spec, cylinders, ..
        } => Box::new(|byte| {
            let per_cylinder = u64::from(spec.sectors_per_cylinder.max(1));
            let per_track = (per_cylinder / u64::from(spec.heads.max(1))).max(1);
            let sector = byte / SECTOR;
            let cylinder = (sector / per_cylinder).min(cylinders.saturating_sub(1));
            let head = (sector % per_cylinder / per_track) as u32;
            (cylinder, head, sector % per_track * TURN / per_track)
        }),
        Mechanism::Ram | Mechanism::Flash(_) => Box::new(|_| (0, 0, 0)),
    }
}
