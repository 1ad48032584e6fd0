//! The order in which waiting requests are served.

use super::Disk;
use serde::{Deserialize, Serialize};

/// Which request is next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// First come, first served.
    #[default]
    Fcfs,
    /// On in one direction as long as there is any, then back.
    Look,
    /// Upwards as long as there is any, then from the lowest.
    CLook,
    /// The nearest.
    Sstf,
    /// The one whose first sector is under the head soonest: known inside the drive only.
    Sptf,
}

/// An order at work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sweeping {
    /// The order.
    pub order: Order,
    downwards: bool,
    /// The sector that was served last.
    at: u64,
}

impl Sweeping {
    /// An order that begins at sector 0.
    pub fn new(order: Order) -> Self {
        Self {
            order,
            ..Self::default()
        }
    }

    /// Whether the drive chooses: then requests lie in it, and the wire costs no time.
    pub fn in_drive(&self) -> bool {
        self.order == Order::Sptf
    }

    /// Chooses one of the waiting requests, given by their first sectors; tells its place.
    /// `now`: when the arm would start.
    pub fn choose(&mut self, waiting: &[u64], disk: &Disk, now: u64) -> Option<usize> {
        let chosen = match self.order {
            Order::Fcfs => (!waiting.is_empty()).then_some(0),
            Order::Look => self.look(waiting),
            Order::CLook => self.upwards(waiting).or_else(|| lowest(waiting)),
            Order::Sstf => least(waiting, |&s| s.abs_diff(self.at)),
            Order::Sptf => least(waiting, |&s| {
                let (seek, rotation) = disk.positioning(now, s);
                seek + rotation
            }),
        };
        if let Some(&sector) = chosen.and_then(|i| waiting.get(i)) {
            self.at = sector;
        }
        chosen
    }

    fn upwards(&self, waiting: &[u64]) -> Option<usize> {
        least(waiting, |&s| s.checked_sub(self.at).unwrap_or(u64::MAX))
            .filter(|&i| waiting[i] >= self.at)
    }

    fn down(&self, waiting: &[u64]) -> Option<usize> {
        least(waiting, |&s| self.at.checked_sub(s).unwrap_or(u64::MAX))
            .filter(|&i| waiting[i] <= self.at)
    }

    fn look(&mut self, waiting: &[u64]) -> Option<usize> {
        let on = |s: &Self| match s.downwards {
            true => s.down(waiting),
            false => s.upwards(waiting),
        };
        if let Some(i) = on(self) {
            return Some(i);
        }
        self.downwards = !self.downwards;
        on(self)
    }
}

fn lowest(waiting: &[u64]) -> Option<usize> {
    least(waiting, |&s| s)
}

/// The place of the least; the earliest of several.
fn least(waiting: &[u64], key: impl Fn(&u64) -> u64) -> Option<usize> {
    (0..waiting.len()).min_by_key(|&i| key(&waiting[i]))
}
