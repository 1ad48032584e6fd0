//! A drive: a queue, a volatile write cache, a medium that takes its time.
//!
//! What is read shows every request's effect at once; what a power cut would leave is told
//! by [`Drive::stable`] and [`Drive::unstable`].

mod history;
mod mechanism;

pub use history::{FlashTotals, Origin};
pub use mechanism::{HddSpec, Mechanism};

use history::{Causes, History};

use super::flash::{Deed, FlashError, Touch};
use super::{Counters, Device, DeviceError, DeviceEvent, Happening, Op, Queued, Request};
use crate::disk::{CowDisk, Data, ReadAt, ReadError};
use crate::event::{EventId, Io};
use crate::units::SimTime;
use std::collections::VecDeque;
use std::sync::Arc;

/// The cache keeps what it holds in pieces of so many bytes.
const PIECE: u64 = 4096;
/// Most bytes that the cache writes to the medium at once.
const DESTAGE: u64 = 1 << 20;
/// Requests that a disk chooses from: as many as a drive takes (SATA's NCQ).
const TAGS: usize = 32;
/// A drive begins to empty its cache when it has been idle for so long, ns.
const IDLE: u64 = 20_000_000;

/// A write that was accepted and is not known to be on the medium.
#[derive(Clone, Debug)]
pub struct Unstable {
    /// The request.
    pub request: u64,
    /// First byte.
    pub offset: u64,
    /// What was written, each piece with its length in bytes.
    pub data: Arc<[(Data, u64)]>,
    /// How many flushes were queued before it.
    pub epoch: u64,
    /// It has to be on the medium when it is done.
    pub fua: bool,
    /// The event that it follows from.
    pub cause: Option<EventId>,
}

impl Unstable {
    /// Its first byte, and the one behind its last.
    fn range(&self) -> (u64, u64) {
        let len: u64 = self.data.iter().map(|(_, n)| n).sum();
        (self.offset, self.offset.saturating_add(len))
    }
}

/// A request in the queue.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its number.
    pub request: u64,
    /// What it asks.
    pub kind: Io,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u64,
    /// The event that it follows from.
    pub cause: Option<EventId>,
}

/// What a drive is at.
#[derive(Clone, Copy, Debug)]
pub enum AtWork {
    /// A request.
    Request(Waiting),
    /// It writes a piece of its cache to the medium: first byte, bytes.
    Destage(u64, u64),
}

/// What is being done.
#[derive(Clone, Debug)]
enum Work {
    /// A request, as a whole.
    Request(Waiting),
    /// Pieces of the cache, each an offset and a length, go to the medium, for a flush, for
    /// room, or because there is time.
    Destage {
        pieces: Vec<(u64, u64)>,
        cause: Option<EventId>,
    },
}

/// A drive.
#[derive(Clone, Debug)]
pub struct Drive {
    contents: CowDisk,
    stable: CowDisk,
    /// Writes that a power cut may take, by request.
    unstable: imbl::OrdMap<u64, Unstable>,
    epoch: u64,
    /// Writes that came to be safe.
    settled: u64,
    mechanism: Mechanism,
    /// Where on the medium the drive's first byte is.
    start: u64,
    /// Why the medium writes no more.
    failed: Option<FlashError>,
    /// Bytes of the write cache; `None`: there is none.
    cache: Option<u64>,
    /// A flush is said to be done at once, and makes nothing safe; nor does FUA.
    lies: bool,
    /// Pieces in the cache that the medium has not, by number.
    dirty: imbl::OrdSet<u64>,
    queue: VecDeque<Waiting>,
    work: Option<(Work, SimTime)>,
    /// Requests that are not done.
    open: imbl::OrdSet<u64>,
    fresh: Vec<Queued>,
    next: u64,
    now: SimTime,
    idle_since: SimTime,
    counters: Counters,
    /// Bytes written that are kept as such: patterns and zeros cost nothing.
    kept_bytes: u64,
    /// Of flash: where each page comes from.
    history: History,
}

impl Drive {
    /// A drive with these contents, all of them on the medium. `cache`: bytes of its
    /// volatile write cache.
    pub fn new(contents: CowDisk, mechanism: Mechanism, cache: Option<u64>) -> Self {
        Self {
            stable: contents.clone(),
            contents,
            unstable: imbl::OrdMap::new(),
            epoch: 0,
            settled: 0,
            mechanism,
            start: 0,
            failed: None,
            cache: cache.filter(|&c| c >= PIECE),
            lies: false,
            dirty: imbl::OrdSet::new(),
            queue: VecDeque::new(),
            work: None,
            open: imbl::OrdSet::new(),
            fresh: Vec::new(),
            next: 0,
            now: SimTime(0),
            idle_since: SimTime(0),
            counters: Counters::default(),
            kept_bytes: 0,
            history: History::default(),
        }
    }

    /// The same as a partition that begins `start` bytes into the medium.
    #[must_use]
    pub fn starting_at(mut self, start: u64) -> Self {
        self.start = start;
        self
    }

    /// The same with a write cache that flushes and FUA do nothing to.
    #[must_use]
    pub fn lying(mut self, lies: bool) -> Self {
        self.lies = lies && self.cache.is_some();
        self
    }

    /// Where on the medium the drive's first byte is.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// What reads see.
    pub fn contents(&self) -> &CowDisk {
        &self.contents
    }

    /// What is known to be on the medium.
    pub fn stable(&self) -> &CowDisk {
        &self.stable
    }

    /// Writes, oldest first, that may or may not survive a power cut now.
    pub fn unstable(&self) -> impl ExactSizeIterator<Item = &Unstable> {
        self.unstable.values()
    }

    /// Writes that came to be safe so far.
    pub fn settled(&self) -> u64 {
        self.settled
    }

    /// Writes, oldest first, of which any may be on the medium now, and none has to be.
    /// What waits behind a flush or a write with FUA that is not done is not among them: it
    /// has not begun, and whoever asked for that would not have gone on before it was done.
    pub fn exposed(&self) -> impl Iterator<Item = &Unstable> {
        let waits_for = |r: &&Waiting| matches!(r.kind, Io::Flush | Io::WriteFua);
        let at_work = match &self.work {
            Some((Work::Request(r), _)) => Some(r),
            _ => None,
        };
        let all = at_work.into_iter().chain(&self.queue).filter(waits_for);
        let first = all.map(|r| r.request).min().unwrap_or(u64::MAX);
        self.unstable
            .values()
            .filter(move |w| w.request <= first || !self.open.contains(&w.request))
    }

    /// Requests in the queue, the one at work among them.
    pub fn queue_len(&self) -> usize {
        let at_work = matches!(self.work, Some((Work::Request(_), _)));
        self.queue.len() + usize::from(at_work)
    }

    /// Requests that wait, the next first.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = &Waiting> {
        self.queue.iter()
    }

    /// What it is at, and when that will be done.
    pub fn at_work(&self) -> Option<(AtWork, SimTime)> {
        let (work, done) = self.work.as_ref()?;
        let work = match work {
            Work::Request(r) => AtWork::Request(*r),
            // Several pieces are told as one, from the first to the last.
            Work::Destage { pieces, .. } => {
                let from = pieces.first().map_or(0, |p| p.0);
                let to = pieces.last().map_or(from, |p| p.0 + p.1);
                AtWork::Destage(from, to - from)
            }
        };
        Some((work, *done))
    }

    /// Bytes of the write cache; `None`: there is none.
    pub fn cache_size(&self) -> Option<u64> {
        self.cache
    }

    /// Flushes queued so far.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Bytes in the write cache that the medium has not.
    pub fn cached_bytes(&self) -> u64 {
        self.dirty.len() as u64 * PIECE
    }

    /// Bytes written so far that memory has to hold.
    pub fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// What moves.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// Where the contents of a logical page of flash come from, if they were written since
    /// the start.
    pub fn origin(&self, logical: u64) -> Option<Origin> {
        self.history.origin(logical)
    }

    /// How often a block of flash was erased since the start.
    pub fn erases(&self, block: u32) -> u32 {
        self.history.erases(block)
    }

    /// What was done to flash since the start.
    pub fn flash_totals(&self) -> FlashTotals {
        self.history.totals()
    }

    /// Bytes in the cache that the medium has not, as runs of offset and length, ascending,
    /// at most so many.
    pub fn cached_runs(&self, most: usize) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for piece in &self.dirty {
            let full = runs.len() >= most;
            match runs.last_mut() {
                Some((at, len)) if *at + *len == piece * PIECE => *len += PIECE,
                _ if full => break,
                _ => runs.push((piece * PIECE, PIECE)),
            }
        }
        runs
    }

    fn begin(&mut self, told: &mut Vec<Happening>) {
        if self.work.is_some() {
            return;
        }
        let at = self.choose();
        let Some(&next) = self.queue.get(at) else {
            return;
        };
        if let Some(piece) = self.must_destage(&next) {
            return self.destage(piece, next.cause, told);
        }
        self.queue.remove(at);
        told.push(Happening {
            what: DeviceEvent::Started(next.request),
            cause: next.cause,
        });
        let time = self.service(&next, told);
        let done = SimTime(self.now.0.saturating_add(time));
        self.work = Some((Work::Request(next), done));
    }

    /// Which of the queue is next: none passes a flush or a discard, and of the others the
    /// medium chooses.
    fn choose(&mut self) -> usize {
        if !self.mechanism.reorders() || self.queue.len() < 2 {
            return 0;
        }
        let free = |r: &&Waiting| !matches!(r.kind, Io::Flush | Io::Discard);
        let waiting: Vec<u64> = self
            .queue
            .iter()
            .take(TAGS)
            .take_while(free)
            .map(|r| r.offset.saturating_add(self.start))
            .collect();
        self.mechanism.choose(self.now, &waiting)
    }

    /// The piece of the cache that has to go to the medium before a request can be done.
    fn must_destage(&self, next: &Waiting) -> Option<u64> {
        let cache = self.cache?;
        if (self.mechanism.is_protected() || self.lies) && next.kind == Io::Flush {
            return None;
        }
        match next.kind {
            Io::Flush => self.next_dirty(),
            Io::Write | Io::WriteFua | Io::Discard
                if self.is_cached(next.kind)
                    && self.cached_bytes().saturating_add(next.len) > cache =>
            {
                self.next_dirty()
            }
            _ => None,
        }
    }

    /// The dirty piece that the arm meets next on its way up, or the first of all.
    fn next_dirty(&self) -> Option<u64> {
        let from = self.mechanism.position() / PIECE;
        self.dirty
            .range(from..)
            .next()
            .or_else(|| self.dirty.get_min())
            .copied()
    }

    /// Begins to write dirty pieces: a run of them, or all that lie in one unit of the medium.
    fn destage(&mut self, first: u64, cause: Option<EventId>, told: &mut Vec<Happening>) {
        let pieces = match self.mechanism.unit() {
            unit if unit > PIECE => self.in_one_unit(first, unit),
            _ => self.a_run(first),
        };
        let causes = self.history.leave(&pieces, cause);
        let time = self.touch(Touch::Write, &pieces, &causes, told);
        let done = SimTime(self.now.0.saturating_add(time));
        self.work = Some((Work::Destage { pieces, cause }, done));
    }

    fn a_run(&mut self, first: u64) -> Vec<(u64, u64)> {
        let mut end = first;
        while end - first < DESTAGE / PIECE && self.dirty.contains(&end) {
            self.dirty.remove(&end);
            end += 1;
        }
        vec![(first * PIECE, (end - first) * PIECE)]
    }

    /// Takes the dirty pieces that begin in the unit of the medium in which `first` does.
    fn in_one_unit(&mut self, first: u64, unit: u64) -> Vec<(u64, u64)> {
        let nr = (first * PIECE + self.start) / unit;
        let bounds = |n: u64| (n * unit).saturating_sub(self.start).div_ceil(PIECE);
        let (from, to) = (bounds(nr).min(first), bounds(nr + 1).max(first + 1));
        let found: Vec<u64> = self.dirty.range(from..to).copied().collect();
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for piece in found {
            self.dirty.remove(&piece);
            match runs.last_mut() {
                Some((offset, len)) if *offset + *len == piece * PIECE => *len += PIECE,
                _ => runs.push((piece * PIECE, PIECE)),
            }
        }
        runs
    }

    /// Has the medium do something; tells how long it takes and what is done inside.
    fn touch(
        &mut self,
        touch: Touch,
        pieces: &[(u64, u64)],
        causes: &Causes,
        told: &mut Vec<Happening>,
    ) -> u64 {
        let moved: Vec<(u64, u64)> = pieces
            .iter()
            .map(|(offset, len)| (offset.saturating_add(self.start), *len))
            .collect();
        let mut deeds: Vec<Deed> = Vec::new();
        let done = self.mechanism.touch(self.now, touch, &moved, &mut deeds);
        if let Mechanism::Flash(flash) = &self.mechanism {
            let page = flash.page();
            let cause_of = |deed: &Deed| causes.of_deed(deed, page, self.start);
            for deed in &deeds {
                self.history.note(deed, cause_of(deed), self.now);
            }
            let tell = |what, cause| told.push(Happening { what, cause });
            super::flash::tell(&deeds, cause_of, tell);
        }
        done.unwrap_or_else(|e| {
            self.failed = Some(e);
            self.mechanism.by_cache(0)
        })
    }

    /// How long a request takes, ns, from now on.
    fn service(&mut self, r: &Waiting, told: &mut Vec<Happening>) -> u64 {
        let whole = [(r.offset, r.len)];
        let causes = Causes::one(r.cause);
        match r.kind {
            Io::Flush => self.mechanism.by_cache(0),
            Io::Discard => {
                self.forget(r);
                self.touch(Touch::Discard, &whole, &causes, told)
            }
            Io::Write | Io::WriteFua
                if self.is_cached(r.kind) && r.len <= self.cache.unwrap_or(0) =>
            {
                self.mechanism.by_cache(r.len)
            }
            Io::Read if self.all_dirty(r.offset, r.len) => self.mechanism.by_cache(r.len),
            Io::Read => self.touch(Touch::Read, &whole, &causes, told),
            Io::Write | Io::WriteFua => self.touch(Touch::Write, &whole, &causes, told),
        }
    }

    /// Whether what a write brings waits in the cache.
    fn is_cached(&self, kind: Io) -> bool {
        self.cache.is_some() && (kind != Io::WriteFua || self.lies)
    }

    /// What is given up as a whole need not be written to flash any more.
    fn forget(&mut self, r: &Waiting) {
        if self.mechanism.unit() == 0 {
            return;
        }
        let (first, end) = (r.offset.div_ceil(PIECE), (r.offset + r.len) / PIECE);
        let gone: Vec<u64> = self.dirty.range(first..end.max(first)).copied().collect();
        for piece in gone {
            self.dirty.remove(&piece);
        }
    }

    fn all_dirty(&self, offset: u64, len: u64) -> bool {
        let (first, end) = (offset / PIECE, offset.saturating_add(len).div_ceil(PIECE));
        self.dirty.range(first..end).count() as u64 == end - first
    }

    fn complete(&mut self, r: &Waiting) {
        self.open.remove(&r.request);
        match r.kind {
            Io::Read => {}
            Io::Flush if self.lies => {}
            Io::Write | Io::Discard | Io::WriteFua if self.is_cached(r.kind) => {
                let (first, end) = (r.offset / PIECE, (r.offset + r.len).div_ceil(PIECE));
                let whole = r.len > self.cache.unwrap_or(0) || r.kind == Io::Discard;
                for piece in (first..end).filter(|_| !whole) {
                    self.dirty.insert(piece);
                    if matches!(self.mechanism, Mechanism::Flash(_)) {
                        self.history.cached(piece, r.cause);
                    }
                }
                if self.mechanism.is_protected() {
                    self.settle_one(r.request);
                }
            }
            Io::Write | Io::WriteFua | Io::Discard => self.settle_one(r.request),
            Io::Flush => self.settle_before(r.request),
        }
    }

    /// A write is on the medium. Older ones to the same bytes, still in the cache, do not
    /// come after it; nor do those that are older than these and share bytes with them.
    fn settle_one(&mut self, request: u64) {
        if !self.unstable.contains_key(&request) {
            return;
        }
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut settled: Vec<Unstable> = Vec::new();
        let mut at = Some(request);
        while let Some(w) = at.and_then(|at| self.unstable.get(&at)) {
            let (from, to) = w.range();
            let meets = taken.iter().any(|t| t.0 < to && from < t.1);
            if w.request == request || meets {
                taken.push((from, to));
                settled.push(w.clone());
            }
            at = self.unstable.range(..w.request).next_back().map(|e| *e.0);
        }
        for w in settled.iter().rev() {
            self.unstable.remove(&w.request);
            self.settled += 1;
            apply(&mut self.stable, w);
        }
    }

    /// No flush will ever make anything safe: what the cache has written to the medium is.
    fn settle_clean(&mut self) {
        let is_clean = |w: &Unstable| {
            let (from, to) = w.range();
            let mut dirty = self.dirty.range(from / PIECE..to.div_ceil(PIECE));
            !self.open.contains(&w.request) && dirty.next().is_none()
        };
        let done: Vec<u64> = self
            .unstable
            .values()
            .filter(|w| is_clean(w))
            .map(|w| w.request)
            .collect();
        for request in done {
            self.settle_one(request);
        }
    }

    /// A flush is done: everything accepted before it is on the medium.
    fn settle_before(&mut self, request: u64) {
        while let Some(first) = self
            .unstable
            .keys()
            .next()
            .copied()
            .filter(|r| *r < request)
        {
            if let Some(w) = self.unstable.remove(&first) {
                self.settled += 1;
                apply(&mut self.stable, &w);
            }
        }
    }

    fn accept(&mut self, request: u64, op: Op, r: &Waiting) -> Result<(), ReadError> {
        let (data, fua) = match op {
            Op::Write { data, fua } => (data, fua),
            Op::Discard => (vec![(Data::Zero, r.len)], false),
            Op::Flush => {
                self.epoch += 1;
                return Ok(());
            }
            Op::Read => return Ok(()),
        };
        let write = Unstable {
            request,
            offset: r.offset,
            data: data.into(),
            epoch: self.epoch,
            fua,
            cause: r.cause,
        };
        let kept = |(data, _): &(Data, u64)| match data {
            Data::Bytes(bytes) => bytes[..].len() as u64,
            Data::Zero | Data::Pattern { .. } => 0,
        };
        self.kept_bytes += write.data.iter().map(kept).sum::<u64>();
        apply(&mut self.contents, &write);
        self.unstable.insert(request, write);
        Ok(())
    }
}

/// Puts a write on a disk. Its range was checked when it was accepted.
fn apply(disk: &mut CowDisk, write: &Unstable) {
    let mut at = write.offset;
    for (piece, n) in write.data.iter() {
        let _ = disk.write_data(at, *n, piece);
        at = at.saturating_add(*n);
    }
}

impl ReadAt for Drive {
    fn len(&self) -> u64 {
        ReadAt::len(&self.contents)
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        self.contents.read_at(offset, buf)
    }

    fn next_data(&self, offset: u64) -> u64 {
        self.contents.next_data(offset)
    }
}

impl Device for Drive {
    fn submit(&mut self, request: Request) -> Result<(), DeviceError> {
        let whole = ReadAt::len(&self.contents);
        request.check(whole)?;
        let past = request.past_end(whole);
        let Request {
            op,
            offset,
            len,
            cause,
        } = request;
        let kind = op.kind();
        if let (Some(why), Io::Write | Io::WriteFua) = (&self.failed, kind) {
            return Err(DeviceError::Failed(why.clone()));
        }
        let waiting = Waiting {
            request: self.next,
            kind,
            offset,
            len,
            cause,
        };
        self.counters.count(kind, len);
        self.accept(self.next, op, &waiting).map_err(|_| past)?;
        self.fresh.push(Queued {
            request: self.next,
            kind,
            offset,
            len,
            cause,
        });
        self.open.insert(self.next);
        self.queue.push_back(waiting);
        self.next += 1;
        Ok(())
    }

    fn counters(&self) -> Counters {
        self.counters
    }

    fn boxed_clone(&self) -> Box<dyn Device> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn std::any::Any {
        self
    }

    fn next_event(&self) -> Option<SimTime> {
        if let Some((_, done)) = &self.work {
            return Some(*done);
        }
        if !self.queue.is_empty() {
            return Some(self.now);
        }
        let idle = SimTime(self.idle_since.0.saturating_add(IDLE));
        (!self.dirty.is_empty()).then_some(idle.max(self.now))
    }

    fn advance(&mut self, to: SimTime) -> Vec<Happening> {
        let mut told = Vec::new();
        let Some(at) = self.next_event().filter(|at| *at <= to) else {
            self.now = self.now.max(to);
            return told;
        };
        // What was at work ended when it ended; what waited begins now.
        self.now = self.now.max(if self.work.is_some() { at } else { to });
        match self.work.take() {
            Some((Work::Request(r), _)) => {
                self.complete(&r);
                told.push(Happening {
                    what: DeviceEvent::Completed(r.request),
                    cause: r.cause,
                });
                self.idle_since = self.now;
            }
            Some((Work::Destage { pieces, cause }, _)) => {
                told.extend(pieces.iter().map(|&(offset, len)| Happening {
                    what: DeviceEvent::Destaged(offset, len),
                    cause,
                }));
                if self.lies {
                    self.settle_clean();
                }
            }
            None => {}
        }
        self.begin(&mut told);
        let rested = self.now.0 >= self.idle_since.0.saturating_add(IDLE);
        if self.work.is_none()
            && self.queue.is_empty()
            && rested
            && let Some(piece) = self.next_dirty()
        {
            self.destage(piece, None, &mut told);
        }
        told
    }

    fn take_queued(&mut self) -> Vec<Queued> {
        std::mem::take(&mut self.fresh)
    }

    fn outstanding(&self, from: u64, to: u64) -> bool {
        self.open.range(from..to).next().is_some()
    }

    fn next_request(&self) -> u64 {
        self.next
    }
}
