//! The timeline of a run: as many marks as there is room for.

use super::spans::{CallSpan, Point, RequestSpan, Story, TransactionSpan};
use crate::event::Io;
use serde::{Deserialize, Serialize};

/// What goes from left to right.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Axis {
    /// Events: each takes the same room.
    #[default]
    Events,
    /// Simulated time.
    Time,
}

/// The part of a run that is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Window {
    /// The axis.
    pub axis: Axis,
    /// Its part: events, or ns. `to` may be past the end.
    pub from: u64,
    /// One past its last place.
    pub to: u64,
    /// Columns of pixels.
    pub columns: u32,
}

/// What a span is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum SpanKind {
    /// A call.
    Call,
    /// The call `sleep`.
    Sleep,
    /// A call that failed.
    Failed,
    /// A transaction that takes changes.
    Running,
    /// A transaction on its way to the log.
    Committing,
    /// A request to read.
    Read,
    /// A request to write.
    Write,
    /// A request to write through the cache.
    WriteFua,
    /// A request to discard.
    Discard,
    /// A flush.
    Flush,
}

/// Something that lasted.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Span {
    /// Where it began, on the axis.
    pub from: u64,
    /// Where it ended.
    pub to: u64,
    /// The event that it began with.
    pub event: u64,
    /// What it is.
    pub kind: SpanKind,
    /// A word or two; empty where several are drawn as one.
    pub words: String,
    /// How many are drawn as one.
    pub count: u32,
}

/// A row of the timeline.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LaneView {
    /// Its name.
    pub name: String,
    /// What is on it, from left to right.
    pub spans: Vec<Span>,
}

/// What is in memory only, at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Level {
    /// The place on the axis.
    pub at: u64,
    /// Dirty pages.
    pub dirty: u64,
    /// Promised clusters.
    pub delayed: u64,
    /// Blocks of metadata in a transaction that runs.
    pub uncommitted: u64,
    /// Writes that are not safe.
    pub unstable: u64,
}

/// What a mark stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum MarkKind {
    /// A commit is complete.
    Commit,
    /// A flush is complete.
    Flush,
    /// Something went wrong.
    Error,
}

/// Something worth going to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mark {
    /// The place on the axis.
    pub at: u64,
    /// The event.
    pub event: u64,
    /// What it stands for.
    pub kind: MarkKind,
}

/// A part of a run, drawn.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Lanes {
    /// What was asked for, with its end inside the run.
    pub window: Window,
    /// The whole run on the axis: first, one past the last.
    pub whole: (u64, u64),
    /// A lane of calls for each process.
    pub calls: Vec<LaneView>,
    /// Transactions.
    pub journal: LaneView,
    /// Requests.
    pub device: LaneView,
    /// What is in memory only.
    pub levels: Vec<Level>,
    /// Marks.
    pub marks: Vec<Mark>,
}

impl Story {
    /// The timeline of a part of the run.
    pub fn lanes(&self, asked: Window) -> Lanes {
        let whole = match asked.axis {
            Axis::Events => (self.first, self.end.0.max(self.first + 1)),
            Axis::Time => (0, self.end.1.max(1)),
        };
        let to = asked.to.min(whole.1).max(whole.0 + 1);
        let window = Window {
            from: asked.from.clamp(whole.0, to - 1),
            to,
            columns: asked.columns.clamp(1, 8192),
            ..asked
        };
        let draw = Drawing {
            window,
            end: whole.1,
        };
        Lanes {
            window,
            whole,
            calls: self.call_lanes(&draw),
            journal: LaneView {
                name: "Journal".into(),
                spans: draw.join(self.transactions.iter().flat_map(|t| draw.transaction(t))),
            },
            device: LaneView {
                name: "Device".into(),
                spans: draw.join(self.requests.iter().filter_map(|r| draw.request(r))),
            },
            levels: self.levels(&draw),
            marks: self.marks(&draw),
        }
    }

    fn call_lanes(&self, draw: &Drawing) -> Vec<LaneView> {
        let lane = |(pid, name): (&u32, &String)| LaneView {
            name: name.clone(),
            spans: draw.join(
                self.calls
                    .iter()
                    .filter(|c| c.pid == *pid)
                    .filter_map(|c| draw.call(c)),
            ),
        };
        self.processes.iter().map(lane).collect()
    }

    /// The highest of each column, so that nothing short is lost.
    fn levels(&self, draw: &Drawing) -> Vec<Level> {
        let mut out: Vec<(u64, Level)> = Vec::new();
        let before = self
            .samples
            .partition_point(|s| draw.place(s.at) < draw.window.from);
        for s in &self.samples[before.saturating_sub(1)..] {
            let at = draw.place(s.at);
            if at >= draw.window.to {
                break;
            }
            let level = Level {
                at,
                dirty: s.dirty,
                delayed: s.delayed,
                uncommitted: s.uncommitted,
                unstable: s.unstable,
            };
            let column = draw.column(at);
            match out.last_mut() {
                Some((last, top)) if *last == column => {
                    // The last in a column says how it goes on; the highest is what counts.
                    let dirty = top.dirty.max(level.dirty);
                    *top = Level { dirty, ..level };
                }
                _ => out.push((column, level)),
            }
        }
        out.into_iter().map(|(_, level)| level).collect()
    }

    fn marks(&self, draw: &Drawing) -> Vec<Mark> {
        let commits = self.transactions.iter().filter_map(|t| t.committed);
        let flushes = self.requests.iter().filter(|r| r.kind == Io::Flush);
        let flushes = flushes.filter_map(|r| r.to);
        let all = [
            (MarkKind::Commit, draw.points(&mut commits.into_iter())),
            (MarkKind::Flush, draw.points(&mut flushes.into_iter())),
            (
                MarkKind::Error,
                draw.points(&mut self.errors.iter().copied()),
            ),
        ];
        let marks = |(kind, points): (MarkKind, Vec<Point>)| {
            let mark = move |p: Point| Mark {
                at: draw.place(p),
                event: p.0,
                kind,
            };
            points.into_iter().map(mark).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(marks).collect()
    }
}

/// How a run is laid on pixels.
struct Drawing {
    window: Window,
    end: u64,
}

impl Drawing {
    fn place(&self, (event, ns): Point) -> u64 {
        match self.window.axis {
            Axis::Events => event,
            Axis::Time => ns,
        }
    }

    fn column(&self, at: u64) -> u64 {
        let w = &self.window;
        let into = u128::from(at.saturating_sub(w.from)) * u128::from(w.columns);
        (into / u128::from((w.to - w.from).max(1))) as u64
    }

    fn span(
        &self,
        from: Point,
        to: Option<Point>,
        kind: SpanKind,
        words: impl FnOnce() -> String,
    ) -> Option<Span> {
        let (a, b) = (self.place(from), to.map_or(self.end, |p| self.place(p)));
        (a < self.window.to && b >= self.window.from).then(|| Span {
            from: a,
            to: b,
            event: from.0,
            kind,
            words: words(),
            count: 1,
        })
    }

    fn call(&self, c: &CallSpan) -> Option<Span> {
        let kind = match () {
            () if c.failed => SpanKind::Failed,
            () if c.text.starts_with("sleep(") => SpanKind::Sleep,
            () => SpanKind::Call,
        };
        self.span(c.from, c.to, kind, || c.text.to_string())
    }

    fn transaction(&self, t: &TransactionSpan) -> Vec<Span> {
        let words = || t.tid.to_string();
        let running = self.span(t.from, t.locked, SpanKind::Running, words);
        let committing = t
            .locked
            .and_then(|at| self.span(at, t.committed, SpanKind::Committing, words));
        running.into_iter().chain(committing).collect()
    }

    fn request(&self, r: &RequestSpan) -> Option<Span> {
        let kind = match r.kind {
            Io::Read => SpanKind::Read,
            Io::Write => SpanKind::Write,
            Io::WriteFua => SpanKind::WriteFua,
            Io::Discard => SpanKind::Discard,
            Io::Flush => SpanKind::Flush,
        };
        let from = r.from?;
        self.span(from, r.to, kind, || format!("request {}", r.request))
            .map(|mut s| {
                s.event = r.queued.0;
                if r.kind != Io::Flush {
                    s.words = format!("{}, {} KiB", s.words, r.sectors / 2);
                }
                s
            })
    }

    /// Spans that share a column and a kind are drawn as one.
    fn join(&self, spans: impl Iterator<Item = Span>) -> Vec<Span> {
        let mut out: Vec<Span> = Vec::new();
        for span in spans {
            let column = self.column(span.from);
            match out.last_mut() {
                Some(last)
                    if last.kind == span.kind
                        && self.column(last.to) >= column
                        && self.column(span.to) <= column + 1
                        && self.column(last.to) <= self.column(last.from) + 1 =>
                {
                    last.to = last.to.max(span.to);
                    last.count += span.count;
                    last.words.clear();
                }
                _ => out.push(span),
            }
        }
        out
    }

    /// At most one point a column.
    fn points(&self, points: &mut dyn Iterator<Item = Point>) -> Vec<Point> {
        let mut out: Vec<Point> = Vec::new();
        for p in points {
            let at = self.place(p);
            let inside = (self.window.from..self.window.to).contains(&at);
            let new = out
                .last()
                .is_none_or(|last| self.column(self.place(*last)) != self.column(at));
            if inside && new {
                out.push(p);
            }
        }
        out
    }
}
