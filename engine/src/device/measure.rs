//! What a device is measured by, as plots: flashbench's probes, a disk's seek curve and
//! queue, the write amplification of flash against its spare space.

use super::flash::{Card, CardSpec, Flash, FlashError, SsdSpec, probe};
use super::ftl::wa::Experiment;
use super::ftl::{FtlConfig, FtlError, Policy, theory};
use super::hdd::{DiskError, DiskSpec, Order, Sweep};
use serde::{Deserialize, Serialize};

/// Something to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Measure {
    /// flashbench -a.
    Align,
    /// flashbench --open-au.
    OpenSegments,
    /// flashbench --find-fat.
    FindFat,
    /// The arm's time by distance.
    SeekCurve,
    /// Requests a second by the queue's depth.
    QueueDepth,
    /// Write amplification by spare space.
    WriteAmplification,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Align,
        Self::OpenSegments,
        Self::FindFat,
        Self::SeekCurve,
        Self::QueueDepth,
        Self::WriteAmplification,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Align => "Reads across boundaries (flashbench -a)",
            Self::OpenSegments => "Open segments (flashbench --open-au)",
            Self::FindFat => "FAT area (flashbench --find-fat)",
            Self::SeekCurve => "Seek curve",
            Self::QueueDepth => "Queue depth",
            Self::WriteAmplification => "Write amplification by spare space",
        }
    }

    /// What one reads from it.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Align => {
                "Where crossing a boundary costs more, a page, a pair of pages or a segment ends"
            }
            Self::OpenSegments => {
                "With more segments in turns than can be open, small blocks fall by orders of magnitude"
            }
            Self::FindFat => {
                "Segments that take small writes at random as well as large ones are made for a FAT"
            }
            Self::SeekCurve => {
                "The arm's time grows with the root of the distance, then along a line"
            }
            Self::QueueDepth => {
                "The more requests wait, the more there is to choose from: what each order makes of it"
            }
            Self::WriteAmplification => {
                "Pages programmed for each written, uniform at random: points measured, dashes theory"
            }
        }
    }
}

/// A plot.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Plot {
    /// What was measured.
    pub what: Measure,
    /// What goes to the right, with its unit.
    pub x: String,
    /// What goes up, with its unit.
    pub y: String,
    /// Whether steps to the right, and upwards, are factors.
    pub log: (bool, bool),
    /// The lines.
    pub lines: Vec<PlotLine>,
}

/// A line of a plot.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlotLine {
    /// What it is.
    pub name: String,
    /// It is what theory says.
    pub theory: bool,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

// No value of a point is other than itself: they are counts, rates and times.
impl Eq for Plot {}
impl Eq for PlotLine {}

/// What is measured, and on what.
#[derive(Clone, Debug)]
pub enum Subject<'s> {
    /// A disk.
    Disk(&'s DiskSpec),
    /// An SSD.
    Ssd(&'s SsdSpec),
    /// A card.
    Card(&'s CardSpec),
}

/// Why nothing was measured.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MeasureError {
    /// Not on such a device.
    #[error("this is not measured on such a device")]
    Other,
    /// The flash.
    #[error(transparent)]
    Flash(#[from] FlashError),
    /// The layer.
    #[error(transparent)]
    Ftl(#[from] FtlError),
    /// The disk.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Subject<'_> {
    /// What can be measured on it.
    pub fn measures(&self) -> Vec<Measure> {
        match self {
            Self::Disk(_) => vec![Measure::QueueDepth, Measure::SeekCurve],
            Self::Ssd(_) => vec![Measure::WriteAmplification, Measure::Align],
            Self::Card(_) => vec![Measure::OpenSegments, Measure::Align, Measure::FindFat],
        }
    }

    /// Measures something.
    pub fn measure(&self, what: Measure) -> Result<Plot, MeasureError> {
        match (self, what) {
            (Self::Disk(d), Measure::SeekCurve) => Ok(seek_curve(d)),
            (Self::Disk(d), Measure::QueueDepth) => queue_depth(d),
            (Self::Ssd(s), Measure::WriteAmplification) => write_amplification(s),
            (Self::Ssd(s), Measure::Align) => {
                let mut flash = Flash::Ssd(super::flash::Ssd::new((*s).clone())?);
                align(&mut flash)
            }
            (Self::Card(c), Measure::Align) => align(&mut card(c)?),
            (Self::Card(c), Measure::OpenSegments) => open_segments(c),
            (Self::Card(c), Measure::FindFat) => find_fat(c),
            _ => Err(MeasureError::Other),
        }
    }
}

fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> PlotLine {
    PlotLine {
        name: name.into(),
        theory: false,
        points,
    }
}

/// Cards are measured at a size that has room for flashbench's places.
fn card(spec: &CardSpec) -> Result<Flash, FlashError> {
    let size = spec.segment.saturating_mul(96).max(spec.size);
    let spec = CardSpec {
        size: size.min(1 << 36),
        ..spec.clone()
    };
    Ok(Flash::Card(Card::new(spec)?))
}

fn align(flash: &mut Flash) -> Result<Plot, MeasureError> {
    let rows = probe::align(flash, 1024)?;
    let points = |of: fn(&probe::AlignRow) -> f64| {
        let rows = rows.iter().rev();
        rows.map(|r| (r.align as f64, of(r))).collect()
    };
    Ok(Plot {
        what: Measure::Align,
        x: "boundary, bytes".into(),
        y: "µs".into(),
        log: (true, false),
        lines: vec![
            line("before", points(|r| r.pre_us)),
            line("across", points(|r| r.on_us)),
            line("behind", points(|r| r.post_us)),
        ],
    })
}

fn rates(rows: &[probe::RateRow]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = rows.iter().map(|r| (r.block as f64, r.mb_per_s)).collect();
    points.reverse();
    points
}

fn by_block(what: Measure, lines: Vec<PlotLine>) -> Plot {
    Plot {
        what,
        x: "block, bytes".into(),
        y: "MB/s".into(),
        log: (true, true),
        lines,
    }
}

/// Smallest block of the probes of writing, bytes.
const LEAST: u64 = 16 << 10;

fn open_segments(spec: &CardSpec) -> Result<Plot, MeasureError> {
    let mut lines = Vec::new();
    for n in 1..=(spec.open.saturating_add(1)).clamp(2, 6) {
        let rows = probe::open_au(&mut card(spec)?, spec.segment, n, LEAST)?;
        let name = if n == 1 {
            "1 segment".into()
        } else {
            format!("{n} segments")
        };
        lines.push(line(name, rates(&rows)));
    }
    Ok(by_block(Measure::OpenSegments, lines))
}

fn find_fat(spec: &CardSpec) -> Result<Plot, MeasureError> {
    let rows = probe::find_fat(&mut card(spec)?, spec.segment, 6, LEAST)?;
    let of = |nr: u32| -> Vec<probe::RateRow> {
        let mine = rows.iter().filter(|r| r.segments == nr);
        mine.cloned().collect()
    };
    let mut lines = Vec::new();
    for nr in 0..6 {
        let rows = of(nr);
        if !rows.is_empty() {
            lines.push(line(format!("segment {nr}"), rates(&rows)));
        }
    }
    Ok(by_block(Measure::FindFat, lines))
}

fn seek_curve(spec: &DiskSpec) -> Plot {
    let last = spec.zones.last().map_or(1, |z| z.last.max(1));
    let steps = 240u64;
    let at = |i: u64| 1 + (u64::from(last) - 1) * i * i / (steps * steps);
    let mut points: Vec<(f64, f64)> = (0..=steps)
        .map(|i| {
            let distance = at(i) as u32;
            (f64::from(distance), spec.seek.time(distance) as f64 / 1e6)
        })
        .collect();
    points.dedup_by(|a, b| a.0 == b.0);
    Plot {
        what: Measure::SeekCurve,
        x: "cylinders".into(),
        y: "ms".into(),
        log: (false, false),
        lines: vec![line("seek", points)],
    }
}

fn queue_depth(spec: &DiskSpec) -> Result<Plot, MeasureError> {
    let orders = [
        ("FCFS", Order::Fcfs),
        ("LOOK", Order::Look),
        ("C-LOOK", Order::CLook),
        ("SSTF", Order::Sstf),
        ("SPTF", Order::Sptf),
    ];
    let mut lines = Vec::new();
    for (name, order) in orders {
        let mut points = Vec::new();
        for depth in [1, 2, 4, 8, 16, 32] {
            let mut sweep = Sweep::new(spec.clone(), order, depth);
            sweep.requests = 1000;
            points.push((f64::from(depth), sweep.run()?.iops));
        }
        lines.push(line(name, points));
    }
    Ok(Plot {
        what: Measure::QueueDepth,
        x: "requests waiting".into(),
        y: "requests a second".into(),
        log: (true, false),
        lines,
    })
}

/// Blocks of the layer on which write amplification is measured, and their pages at most.
const BLOCKS: u32 = 512;
const PAGES: u32 = 64;

fn write_amplification(spec: &SsdSpec) -> Result<Plot, MeasureError> {
    let pages = spec.ftl.pages_per_block.clamp(4, PAGES);
    let percents = [4u32, 6, 8, 10, 14, 18, 24, 32, 40];
    let (mut measured, mut expected) = (Vec::new(), Vec::new());
    for percent in percents {
        let mut config = FtlConfig::new(BLOCKS, pages, percent * 10_000);
        config.policy = spec.ftl.policy;
        config.two_frontiers = spec.ftl.two_frontiers;
        let a = config.physical_pages() as f64 / f64::from(config.logical_pages.max(1));
        let theory = match config.policy {
            Policy::Greedy => Some(theory::greedy(a, f64::from(pages))),
            Policy::Fifo => Some(theory::fifo(a)),
            Policy::Random => Some(theory::random(a)),
            Policy::DChoices(_) | Policy::CostBenefit => None,
        };
        let experiment = Experiment {
            config,
            skew: None,
            warm: 4,
            rounds: 2,
        };
        measured.push((f64::from(percent), experiment.run()?.write_amplification));
        expected.extend(theory.map(|t| (f64::from(percent), t)));
    }
    let mut lines = vec![line("measured", measured)];
    if !expected.is_empty() {
        lines.push(PlotLine {
            name: "theory".into(),
            theory: true,
            points: expected,
        });
    }
    Ok(Plot {
        what: Measure::WriteAmplification,
        x: "spare space, % of all".into(),
        y: "pages programmed for one written".into(),
        log: (false, false),
        lines,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::hdd::drive;

    #[test]
    fn everything_gives_points() {
        let (disk, ssd) = (
            drive("barracuda").unwrap(),
            SsdSpec::named("mlc", 16 << 20).unwrap(),
        );
        let card = CardSpec::named("card", 32 << 20).unwrap();
        let mut done = 0;
        for subject in [
            Subject::Disk(&disk),
            Subject::Ssd(&ssd),
            Subject::Card(&card),
        ] {
            for what in subject.measures() {
                let plot = subject.measure(what).unwrap();
                done += 1;
                for l in &plot.lines {
                    assert!(l.points.len() >= 5, "{what:?}: {l:?}");
                    assert!(l.points.is_sorted_by(|a, b| a.0 < b.0), "{what:?}: {l:?}");
                    assert!(l.points.iter().all(|p| p.1.is_finite()), "{what:?}");
                }
            }
        }
        assert_eq!(done, 7);
    }

    /// Theory is of endless blocks; of 512 the measured lie within 10 % of it.
    #[test]
    fn amplification_lies_along_theory() {
        let mut spec = SsdSpec::named("mlc", 16 << 20).unwrap();
        spec.ftl.two_frontiers = false;
        let plot = Subject::Ssd(&spec)
            .measure(Measure::WriteAmplification)
            .unwrap();
        let [measured, theory] = &plot.lines[..] else {
            panic!()
        };
        for (m, t) in measured.points.iter().zip(&theory.points) {
            assert!((m.1 / t.1 - 1.0).abs() < 0.1, "{m:?} {t:?}");
        }
    }

    /// One segment writes small blocks as fast as it can; one more than can be open is far
    /// slower, as flashbench shows on the card of LWN.
    #[test]
    fn open_segments_fall_off() {
        let card = CardSpec::named("card", 32 << 20).unwrap();
        let plot = Subject::Card(&card).measure(Measure::OpenSegments).unwrap();
        let smallest = |n: usize| plot.lines[n].points[0].1;
        assert!(smallest(0) > 20.0 * smallest(1), "{plot:?}");
    }
}
