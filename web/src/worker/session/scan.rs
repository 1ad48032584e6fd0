//! The scan of who owns each block.

use super::*;
use fslab_engine::view::owners::{Scan, ScanOptions};

/// Claims held at once, at 24 bytes each: what a browser gives a page is bounded.
const CLAIMS: usize = 4 << 20;
/// Milliseconds between two maps of a scan under way.
const PREVIEW: f64 = 1000.0;
/// A map in between may take this part of the scan's time.
const SHARE: f64 = 0.1;

/// A scan under way.
#[derive(Debug)]
pub(super) struct Scanning {
    scan: Scan,
    /// When the next map may be sent; `None` before the first.
    next_preview: Option<f64>,
}

impl Session {
    pub(super) fn scan(&mut self) -> Vec<Say> {
        let Some(fs) = &self.fs else {
            return Vec::new();
        };
        let options = ScanOptions {
            names: true,
            most_claims: CLAIMS,
        };
        self.map = None;
        let scanning = Scanning {
            scan: Scan::new(fs, options),
            next_preview: None,
        };
        self.start(Work::Scanning(Box::new(scanning)));
        Vec::new()
    }

    pub(super) fn scan_on(
        &mut self,
        mut scanning: Box<Scanning>,
        now: &dyn Fn() -> f64,
        until: f64,
    ) -> Vec<Say> {
        let Some(fs) = &self.fs else {
            return Vec::new();
        };
        let mut progress = scanning.scan.step(fs);
        while !progress.is_finished() && now() < until {
            progress = scanning.scan.step(fs);
        }
        if progress.is_finished() {
            return vec![self.scanned(scanning.scan)];
        }
        let preview = scanning.preview(fs, now);
        self.work = Work::Scanning(scanning);
        if !self.word_is_due(now()) && preview.is_none() {
            return Vec::new();
        }
        let answer = Answer::Scanning {
            image: self.image,
            done: progress.done,
            of: progress.of,
            preview: preview.is_some(),
        };
        vec![(answer, preview.map_or(Extra::None, Extra::Map))]
    }

    fn scanned(&mut self, scan: Scan) -> Say {
        let Some(fs) = &self.fs else {
            return plain(Answer::Cancelled { image: self.image });
        };
        let (map, names) = scan.finish(fs);
        let answer = Answer::Mapped {
            image: self.image,
            problems: map.problems.clone(),
            more_problems: map.more_problems,
        };
        let runs = map.runs.clone();
        self.map = Some((map, names));
        (answer, Extra::Map(runs))
    }
}

impl Scanning {
    /// The map so far, when it is time for one.
    fn preview(&mut self, fs: &Fs<Medium>, now: &dyn Fn() -> f64) -> Option<Vec<MapRun>> {
        let start = now();
        let due = self.next_preview.is_none_or(|next| start >= next);
        if !self.scan.knows_free_space() || !due {
            return None;
        }
        let map = self.scan.preview(fs);
        let cost = now() - start;
        self.next_preview = Some(now() + PREVIEW.max(cost / SHARE));
        Some(map.runs)
    }
}
