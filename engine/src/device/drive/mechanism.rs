//! How long the medium takes.

use crate::device::flash::{Deed, Flash, FlashError, Touch};
use crate::device::hdd::{Disk, Sweeping};
use crate::units::SimTime;

const SECTOR: u64 = 512;
/// What memory takes for a request, ns: about what a fast SSD's queue does.
const RAM_REQUEST: u64 = 10_000;
/// What a disk's electronics take for a command, ns.
const COMMAND: u64 = 50_000;
/// A byte on the wire between host and disk, ns: 100 MB/s, as SATA disks of the 2000s had.
const WIRE_BYTE: u64 = 10;

/// A disk that turns, in its simplest honest form: one zone.
#[derive(Clone, PartialEq, Debug)]
pub struct HddSpec {
    /// Turns a minute.
    pub rpm: u32,
    /// Sectors (512 bytes) of a cylinder, all surfaces together.
    pub sectors_per_cylinder: u32,
    /// Surfaces: a cylinder is so many tracks.
    pub heads: u32,
    /// Seek of one cylinder, ns.
    pub seek_track: SimTime,
    /// Seek over a third of the disk, ns: what makers call average.
    pub seek_average: SimTime,
    /// Seek from end to end, ns.
    pub seek_full: SimTime,
}

impl Default for HddSpec {
    /// A 7200 rpm desktop disk of the 2000s.
    fn default() -> Self {
        Self {
            rpm: 7200,
            sectors_per_cylinder: 4000,
            heads: 4,
            seek_track: SimTime(800_000),
            seek_average: SimTime(8_500_000),
            seek_full: SimTime(18_000_000),
        }
    }
}

/// What moves, or does not.
#[derive(Clone, PartialEq, Debug)]
pub enum Mechanism {
    /// Every request takes the same short time.
    Ram,
    /// Platters and an arm.
    Hdd {
        /// Its measures.
        spec: HddSpec,
        /// Cylinders.
        cylinders: u64,
        /// Where the arm is: cylinder.
        head: u64,
    },
    /// A disk with zones, whose queue is served in an order.
    Disk {
        /// The disk.
        disk: Disk,
        /// The order.
        order: Sweeping,
        /// Where the last access ended: byte.
        last: u64,
    },
    /// Flash.
    Flash(Box<Flash>),
}

impl Mechanism {
    /// A disk with zones.
    pub fn disk(disk: Disk, order: Sweeping) -> Self {
        Self::Disk {
            disk,
            order,
            last: 0,
        }
    }

    /// Flash.
    pub fn flash(flash: Flash) -> Self {
        Self::Flash(Box::new(flash))
    }

    /// Whether the cache survives a power cut.
    pub(super) fn is_protected(&self) -> bool {
        match self {
            Self::Flash(f) => matches!(&**f, Flash::Ssd(d) if d.spec().protected),
            _ => false,
        }
    }

    /// Bytes that are best written together; 0: whatever lies together.
    pub(super) fn unit(&self) -> u64 {
        match self {
            Self::Flash(f) => f.unit(),
            _ => 0,
        }
    }

    /// Which of the waiting requests, given by their first bytes, is next.
    pub(super) fn choose(&mut self, now: SimTime, waiting: &[u64]) -> usize {
        let Self::Disk { disk, order, .. } = self else {
            return 0;
        };
        let sectors: Vec<u64> = waiting.iter().map(|at| at / SECTOR).collect();
        let start = now.0.saturating_add(disk.spec().command);
        let planned = start.saturating_sub(disk.spec().late);
        order.choose(&sectors, disk, planned).unwrap_or(0)
    }

    /// Whether requests may be served in another order than theirs.
    pub(super) fn reorders(&self) -> bool {
        matches!(self, Self::Disk { .. })
    }

    /// Reads or writes pieces of bytes from `now` on, or gives them up; what it takes, ns.
    pub(super) fn touch(
        &mut self,
        now: SimTime,
        touch: Touch,
        pieces: &[(u64, u64)],
        deeds: &mut Vec<Deed>,
    ) -> Result<u64, FlashError> {
        if let Self::Flash(flash) = self {
            return flash.access(touch, pieces, deeds);
        }
        if touch == Touch::Discard {
            return Ok(self.by_cache(0));
        }
        let mut time = 0u64;
        for &(offset, len) in pieces {
            let at = SimTime(now.0.saturating_add(time));
            time = time.saturating_add(self.access(at, offset, len));
        }
        Ok(time)
    }

    /// A disk of `len` bytes with its arm at the outer edge.
    pub fn hdd(spec: HddSpec, len: u64) -> Self {
        let per_cylinder = u64::from(spec.sectors_per_cylinder.max(1)) * SECTOR;
        Self::Hdd {
            spec,
            cylinders: len.div_ceil(per_cylinder).max(1),
            head: 0,
        }
    }

    /// Erased blocks of flash.
    pub fn free_blocks(&self) -> u64 {
        match self {
            Self::Flash(f) => f.free_blocks(),
            _ => 0,
        }
    }

    /// Where the arm is: cylinder.
    pub fn head(&self) -> u64 {
        match self {
            Self::Ram => 0,
            Self::Hdd { head, .. } => *head,
            Self::Disk { disk, .. } => disk.cylinder().into(),
            Self::Flash(_) => 0,
        }
    }

    /// The byte from which the arm goes on.
    pub(super) fn position(&self) -> u64 {
        match self {
            Self::Ram => 0,
            Self::Hdd { spec, head, .. } => head * u64::from(spec.sectors_per_cylinder) * SECTOR,
            Self::Disk { last, .. } => *last,
            Self::Flash(_) => 0,
        }
    }

    /// What bytes to or from the cache take, ns.
    pub(super) fn by_cache(&self, len: u64) -> u64 {
        match self {
            Self::Ram => RAM_REQUEST,
            Self::Hdd { .. } => COMMAND + len.saturating_mul(WIRE_BYTE),
            Self::Disk { disk, .. } => disk.spec().command + len.saturating_mul(WIRE_BYTE),
            Self::Flash(flash) => flash.by_cache(len),
        }
    }

    /// What bytes on the medium take from `now` on, ns; the arm is there afterwards.
    fn access(&mut self, now: SimTime, offset: u64, len: u64) -> u64 {
        if let Self::Disk { disk, order, last } = self {
            let (first, end) = (offset / SECTOR, offset.saturating_add(len).div_ceil(SECTOR));
            let command = disk.spec().command;
            let wire = if order.in_drive() {
                0
            } else {
                disk.spec().wire
            };
            *last = offset.saturating_add(len);
            let done = disk.access(now.0.saturating_add(command), first, end - first);
            return (command + wire).saturating_add(done.total());
        }
        let Self::Hdd {
            spec,
            cylinders,
            head,
        } = self
        else {
            return RAM_REQUEST;
        };
        let per_cylinder = u64::from(spec.sectors_per_cylinder.max(1));
        let per_track = (per_cylinder / u64::from(spec.heads.max(1))).max(1);
        let (first, sectors) = (offset / SECTOR, len.div_ceil(SECTOR));
        let to = (first / per_cylinder).min(*cylinders - 1);
        let seek = seek_time(spec, *cylinders, head.abs_diff(to));
        let arrived = now.0.saturating_add(COMMAND + seek);
        let turn = turn_time(spec);
        // Tracks are skewed so that a transfer goes on over their ends without a wait.
        let under = arrived % turn;
        let wanted = (first % per_track).saturating_mul(turn) / per_track;
        let wait = (wanted + turn - under) % turn;
        let transfer = sectors.saturating_mul(turn) / per_track;
        let last = first.saturating_add(sectors.saturating_sub(1));
        *head = (last / per_cylinder).min(*cylinders - 1);
        (COMMAND + seek + wait).saturating_add(transfer)
    }
}

/// A turn, ns.
fn turn_time(spec: &HddSpec) -> u64 {
    60_000_000_000 / u64::from(spec.rpm.max(1))
}

/// A seek over `distance` cylinders, ns: with the square root of the distance up to a third
/// of the disk, along a line beyond, through the three times that are given (Ruemmler and
/// Wilkes, "An introduction to disk drive modeling", 1994).
fn seek_time(spec: &HddSpec, cylinders: u64, distance: u64) -> u64 {
    if distance == 0 {
        return 0;
    }
    let (track, average, full) = (spec.seek_track.0, spec.seek_average.0, spec.seek_full.0);
    let third = (cylinders / 3).max(2);
    if distance <= third {
        let part = (distance - 1).saturating_mul(1_000_000).isqrt();
        let whole = (third - 1).saturating_mul(1_000_000).isqrt().max(1);
        return track + average.saturating_sub(track).saturating_mul(part) / whole;
    }
    let rest = cylinders.saturating_sub(third).max(1);
    average
        + full
            .saturating_sub(average)
            .saturating_mul(distance - third)
            / rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk() -> Mechanism {
        Mechanism::hdd(HddSpec::default(), 3000 * 4000 * SECTOR)
    }

    #[test]
    fn seeks_go_through_the_makers_figures() {
        let spec = HddSpec::default();
        assert_eq!(seek_time(&spec, 3000, 0), 0);
        assert_eq!(seek_time(&spec, 3000, 1), spec.seek_track.0);
        assert_eq!(seek_time(&spec, 3000, 1000), spec.seek_average.0);
        assert_eq!(seek_time(&spec, 3000, 3000), spec.seek_full.0);
        assert!(seek_time(&spec, 3000, 250) < seek_time(&spec, 3000, 251));
    }

    #[test]
    fn a_sector_comes_round_once_a_turn() {
        // Written again as soon as it is done, a sector has just gone by: 60 s / 7200 =
        // 8.333333 ms less nothing, since command and transfer fall into the same turn.
        let mut m = disk();
        let first = m.access(SimTime(0), 0, SECTOR);
        let second = m.access(SimTime(first), 0, SECTOR);
        assert_eq!(second, 8_333_333);
    }

    #[test]
    fn a_track_passes_in_a_turn() {
        // A track is 1000 sectors; a transfer of one from its start takes one turn.
        let mut m = disk();
        let one = m.access(SimTime(0), 0, SECTOR);
        let mut m = disk();
        let all = m.access(SimTime(0), 0, 1000 * SECTOR);
        assert_eq!(all - one, 8_333_333 - 8_333_333 / 1000);
    }
}
