//! A disk that turns: zones, skew, a seek curve, heads, and the order in which requests are
//! served. Times are in nanoseconds, all arithmetic is in integers.

mod drives;
mod order;
mod sweep;

pub use drives::{NAMES, drive};
pub use order::{Order, Sweeping};
pub use sweep::{Sweep, SweepOutcome};

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Bytes of a sector.
pub const SECTOR: u64 = 512;

/// Cylinders whose tracks have as many sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Zone {
    /// First cylinder.
    pub first: u32,
    /// Last cylinder.
    pub last: u32,
    /// Sectors of a track.
    pub sectors: u32,
    /// By how many sectors a track's beginning lags behind that of the track before it.
    pub track_skew: u32,
    /// The same where the next track is on the next cylinder.
    pub cylinder_skew: u32,
}

/// How long the arm takes for a distance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeekCurve {
    /// Measured: cylinders and µs, ascending; in between along lines.
    Measured(Arc<[(u32, u32)]>),
    /// a + b·√d below `knee` cylinders, c + e·d from there on; ns.
    Formula {
        /// Begin of the root.
        a: u64,
        /// Factor of the root.
        b: u64,
        /// Where the line begins.
        knee: u32,
        /// Begin of the line.
        c: u64,
        /// Slope of the line, ns a cylinder.
        e: u64,
    },
}

impl SeekCurve {
    /// Time for a distance, ns.
    pub fn time(&self, distance: u32) -> u64 {
        if distance == 0 {
            return 0;
        }
        match self {
            Self::Measured(points) => measured(points, distance),
            Self::Formula { a, b, knee, c, e } => {
                let d = u64::from(distance);
                if distance < *knee {
                    // The root in thousandths.
                    a + b * (d * 1_000_000).isqrt() / 1000
                } else {
                    c + e * d
                }
            }
        }
    }
}

/// Along the line between the two points around `distance`; past the last, along the last
/// two.
fn measured(points: &[(u32, u32)], distance: u32) -> u64 {
    let after = points.partition_point(|p| p.0 < distance);
    let after = after.min(points.len().saturating_sub(1));
    let (Some(&right), Some(&left)) = (points.get(after), points.get(after.max(1) - 1)) else {
        return 0;
    };
    let ns = |us: u32| i64::from(us) * 1000;
    if right.0 == left.0 {
        return ns(right.1) as u64;
    }
    let slope = ns(right.1) - ns(left.1);
    let run = i64::from(right.0) - i64::from(left.0);
    let at = i64::from(distance) - i64::from(left.0);
    (ns(left.1) + slope * at / run).max(0) as u64
}

/// A drive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DiskSpec {
    /// Short name.
    pub name: String,
    /// What it is.
    pub words: String,
    /// Where its numbers come from.
    pub source: String,
    /// Turns a minute.
    pub rpm: u32,
    /// Surfaces.
    pub heads: u32,
    /// Zones from the outer edge inwards. Cylinders between two hold spare sectors.
    pub zones: Arc<[Zone]>,
    /// Sectors that the host sees, where they are fewer than the zones hold: the others are
    /// spare.
    pub shown: Option<u64>,
    /// What passes under the head behind a read, up to the track's end, is kept until the
    /// arm is needed again. Off where nobody asks: the tables were measured without.
    pub track_buffer: bool,
    /// The arm.
    pub seek: SeekCurve,
    /// From one surface of a cylinder to another, ns.
    pub head_switch: u64,
    /// What the electronics take before the arm moves, ns.
    pub command: u64,
    /// By how much the arm starts later than the drive takes for granted when it chooses the
    /// request that is soonest reached, ns: some sectors have just gone by then.
    pub late: u64,
    /// What passes between a request's end on the medium and the next one's begin, where
    /// the host sends them one by one, ns.
    pub wire: u64,
}

/// Why a disk cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DiskError {
    /// It does not turn.
    #[error("a disk turns at least once a minute")]
    Still,
    /// Nothing to write on.
    #[error("a disk has at least one surface and one zone")]
    Nothing,
    /// A zone is impossible.
    #[error("zone {0} is empty, or does not lie behind the one before it")]
    Zone(usize),
    /// There is no drive of this name.
    #[error("there is no drive \"{0}\"; there are {names}", names = NAMES.join(", "))]
    Unknown(String),
}

impl DiskSpec {
    /// Whether such a disk can be.
    pub fn check(&self) -> Result<(), DiskError> {
        if self.rpm == 0 {
            return Err(DiskError::Still);
        }
        if self.heads == 0 || self.zones.is_empty() {
            return Err(DiskError::Nothing);
        }
        let mut next = 0;
        for (i, z) in self.zones.iter().enumerate() {
            if z.sectors == 0 || z.first < next || z.last < z.first || z.last == u32::MAX {
                return Err(DiskError::Zone(i));
            }
            next = z.last + 1;
        }
        Ok(())
    }

    /// A turn, ns.
    pub fn turn(&self) -> u64 {
        60_000_000_000 / u64::from(self.rpm.max(1))
    }

    fn zone_sectors(&self, z: &Zone) -> u64 {
        u64::from(z.last - z.first + 1) * u64::from(self.heads) * u64::from(z.sectors)
    }

    /// Sectors that the host sees.
    pub fn sectors(&self) -> u64 {
        let all: u64 = self.zones.iter().map(|z| self.zone_sectors(z)).sum();
        self.shown.map_or(all, |shown| shown.min(all))
    }

    /// Where a sector is. Past the end it is the last one.
    pub fn place(&self, sector: u64) -> Place {
        let mut left = sector.min(self.sectors().saturating_sub(1));
        let mut zone = 0;
        for (i, z) in self.zones.iter().enumerate() {
            zone = i;
            if left < self.zone_sectors(z) {
                break;
            }
            left -= self.zone_sectors(z);
        }
        let z = &self.zones[zone];
        let per_track = u64::from(z.sectors);
        let per_cylinder = per_track * u64::from(self.heads);
        let nth = left / per_cylinder;
        Place {
            zone,
            cylinder: z.first + nth as u32,
            head: (left % per_cylinder / per_track) as u32,
            sector: (left % per_track) as u32,
        }
    }

    /// When, in a turn, a sector's beginning passes under the head, ns.
    pub fn angle(&self, at: Place) -> u64 {
        let z = &self.zones[at.zone];
        let heads = u64::from(self.heads);
        let a_cylinder = (heads - 1) * u64::from(z.track_skew) + u64::from(z.cylinder_skew);
        let skew = u64::from(at.cylinder - z.first) * a_cylinder
            + u64::from(at.head) * u64::from(z.track_skew);
        let place = (u64::from(at.sector) + skew) % u64::from(z.sectors);
        place * self.turn() / u64::from(z.sectors)
    }
}

/// A sector on the medium.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Number of the zone.
    pub zone: usize,
    /// Cylinder.
    pub cylinder: u32,
    /// Surface.
    pub head: u32,
    /// Sector of the track.
    pub sector: u32,
}

/// What passed under the head behind a read, and will as long as the arm stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrackBuffer {
    /// First sector in it.
    from: u64,
    /// The sector up to which it had been read at `at`.
    read: u64,
    at: u64,
    /// The sector behind the track's last.
    end: u64,
    /// What a sector takes to pass, ns.
    sector: u64,
}

impl TrackBuffer {
    /// When these sectors are all in it, if they are or will be.
    pub fn ready(&self, first: u64, end: u64) -> Option<u64> {
        let inside = self.from <= first && end <= self.end;
        let ahead = end.saturating_sub(self.read).saturating_mul(self.sector);
        inside.then(|| self.at.saturating_add(ahead))
    }
}

/// What an access took, ns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// Moving the arm or changing the surface.
    pub seek: u64,
    /// Waiting for the sector to come round.
    pub rotation: u64,
    /// The sectors pass, with the changes of track among them.
    pub transfer: u64,
    /// Cylinders that the arm moved over to get there.
    pub distance: u32,
}

impl Access {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.seek + self.rotation + self.transfer
    }
}

/// A disk with its arm somewhere. Its platters turn by the clock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Disk {
    spec: Arc<DiskSpec>,
    cylinder: u32,
    head: u32,
}

impl Disk {
    /// A disk with its arm at the outer edge.
    pub fn new(spec: DiskSpec) -> Result<Self, DiskError> {
        spec.check()?;
        Ok(Self {
            spec: Arc::new(spec),
            cylinder: 0,
            head: 0,
        })
    }

    /// What it is.
    pub fn spec(&self) -> &DiskSpec {
        &self.spec
    }

    /// Where the arm is.
    pub fn cylinder(&self) -> u32 {
        self.cylinder
    }

    /// Cylinders.
    pub fn cylinders(&self) -> u32 {
        self.spec
            .zones
            .last()
            .map_or(0, |z| z.last.saturating_add(1))
    }

    fn move_time(&self, from: (u32, u32), to: (u32, u32)) -> u64 {
        let switch = if from.1 == to.1 {
            0
        } else {
            self.spec.head_switch
        };
        self.spec.seek.time(from.0.abs_diff(to.0)).max(switch)
    }

    /// Seek and rotation, should the arm start at `now`.
    pub fn positioning(&self, now: u64, sector: u64) -> (u64, u64) {
        let to = self.spec.place(sector);
        let seek = self.move_time((self.cylinder, self.head), (to.cylinder, to.head));
        (seek, self.wait(now.saturating_add(seek), to))
    }

    fn wait(&self, now: u64, to: Place) -> u64 {
        let turn = self.spec.turn();
        (self.spec.angle(to) + turn - now % turn) % turn
    }

    /// Reads or writes `count` sectors, the arm starting at `now`.
    pub fn access(&mut self, now: u64, sector: u64, count: u64) -> Access {
        let place = self.spec.place(sector);
        let distance = self.cylinder.abs_diff(place.cylinder);
        let (seek, rotation) = self.positioning(now, sector);
        (self.cylinder, self.head) = (place.cylinder, place.head);
        let begin = now.saturating_add(seek + rotation);
        let end = self.transfer(begin, sector, count);
        Access {
            seek,
            rotation,
            transfer: end - begin,
            distance,
        }
    }

    /// What is read on behind sectors that were read by `now`, where the drive does so.
    pub fn read_on(&self, now: u64, first: u64, end: u64) -> Option<TrackBuffer> {
        let last = self.spec.place(end.checked_sub(1)?);
        let sectors = u64::from(self.spec.zones.get(last.zone)?.sectors.max(1));
        let nth = u64::from(last.sector);
        self.spec.track_buffer.then(|| TrackBuffer {
            from: first.max((end - 1).saturating_sub(nth)),
            read: end,
            at: now,
            end: end.saturating_add(sectors.saturating_sub(nth + 1)),
            sector: self.spec.turn() / sectors,
        })
    }

    /// Sectors pass from `begin` on; tells when the last one has.
    fn transfer(&mut self, begin: u64, sector: u64, count: u64) -> u64 {
        let turn = self.spec.turn();
        let (mut at, end) = (
            sector,
            sector.saturating_add(count).min(self.spec.sectors()),
        );
        let mut now = begin;
        while at < end {
            let place = self.spec.place(at);
            if at > sector {
                let (from, to) = ((self.cylinder, self.head), (place.cylinder, place.head));
                now += self.move_time(from, to);
                now += self.wait(now, place);
                (self.cylinder, self.head) = to;
            }
            let track = u64::from(self.spec.zones[place.zone].sectors);
            let n = (track - u64::from(place.sector)).min(end - at);
            now += n * turn / track;
            at += n;
        }
        now
    }
}
