//! Random reads on a disk with so many always waiting: what queue and order are worth.

use super::{Access, Disk, DiskError, DiskSpec, Order, SECTOR, Sweeping};
use crate::device::ftl::Random;
use serde::Serialize;

/// What to measure: uniform reads, each one replaced by another when it is done.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The disk.
    pub disk: DiskSpec,
    /// In which order.
    pub order: Order,
    /// Requests that wait, the one being served among them.
    pub depth: u32,
    /// How many are counted.
    pub requests: u32,
    /// Bytes of each, aligned to as many.
    pub bytes: u64,
    /// Where random numbers come from.
    pub seed: u64,
}

/// Means over all requests.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SweepOutcome {
    /// Requests counted.
    pub requests: u32,
    /// Requests a second.
    pub iops: f64,
    /// From being sent to being done, ms.
    pub resp_ms: f64,
    /// Moving the arm, ms.
    pub seek_ms: f64,
    /// Waiting for the sector, ms.
    pub rot_ms: f64,
    /// Passing of the sectors, ms.
    pub xfer_ms: f64,
    /// Cylinders.
    pub seek_cyls: f64,
    /// Share of requests whose rotational wait fell into each tenth of a turn.
    pub rot_tenths: [f64; 10],
}

#[derive(Default)]
struct Sums {
    response: u64,
    seek: u64,
    rotation: u64,
    transfer: u64,
    distance: u64,
    tenths: [u64; 10],
}

impl Sums {
    fn add(&mut self, a: &Access, response: u64, turn: u64) {
        self.response += response;
        self.seek += a.seek;
        self.rotation += a.rotation;
        self.transfer += a.transfer;
        self.distance += u64::from(a.distance);
        self.tenths[(a.rotation * 10 / turn).min(9) as usize] += 1;
    }
}

impl Sweep {
    /// 20,000 reads of 4 KiB.
    pub fn new(disk: DiskSpec, order: Order, depth: u32) -> Self {
        Self {
            disk,
            order,
            depth,
            requests: 20_000,
            bytes: 4096,
            seed: 1,
        }
    }

    /// Runs it.
    pub fn run(&self) -> Result<SweepOutcome, DiskError> {
        let mut disk = Disk::new(self.disk.clone())?;
        let count = self.bytes.div_ceil(SECTOR).max(1);
        let places = (disk.spec().sectors() / count).clamp(1, u64::from(u32::MAX)) as u32;
        let mut random = Random::new(self.seed);
        let mut another = || u64::from(random.below(places)) * count;
        let mut order = Sweeping::new(self.order);
        let wire = if order.in_drive() { 0 } else { self.disk.wire };
        let mut now = 0u64;
        let mut waiting: Vec<u64> = (0..self.depth.max(1)).map(|_| another()).collect();
        let mut sent = vec![0u64; waiting.len()];
        // The next request is chosen when the last one is done, before the host, told of
        // that, has sent another.
        let known = waiting.len().saturating_sub(1).max(1);
        let mut sums = Sums::default();
        for _ in 0..self.requests {
            let start = now + self.disk.command;
            let planned = start.saturating_sub(self.disk.late);
            let Some(i) = order.choose(&waiting[..known], &disk, planned) else {
                break;
            };
            let a = disk.access(start, waiting.remove(i), count);
            now = start + a.total() + wire;
            sums.add(&a, now - sent.remove(i), self.disk.turn());
            waiting.push(another());
            sent.push(now);
        }
        Ok(self.outcome(&sums, now))
    }

    fn outcome(&self, sums: &Sums, end: u64) -> SweepOutcome {
        let n = f64::from(self.requests.max(1));
        let ms = |ns: u64| ns as f64 / 1e6 / n;
        SweepOutcome {
            requests: self.requests,
            iops: n * 1e9 / end.max(1) as f64,
            resp_ms: ms(sums.response),
            seek_ms: ms(sums.seek),
            rot_ms: ms(sums.rotation),
            xfer_ms: ms(sums.transfer),
            seek_cyls: sums.distance as f64 / n,
            rot_tenths: sums.tenths.map(|t| t as f64 / n),
        }
    }
}
