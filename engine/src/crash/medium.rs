//! A medium after a power cut that has not been looked at yet: whether a part of a write
//! reached it is decided when it is read.
//!
//! So two disks that differ only in what nobody reads are one state, and all states are
//! found by going back to the last decision and taking the other one (the idea of Korat:
//! Boyapati, Khurshid, Marinov, ISSTA 2002).

use super::guide::Guide;
use super::pending::{Atom, Order, Pending, SECTOR};
use crate::device::{Counters, Device, DeviceError, Op, Request};
use crate::disk::{Data, ReadAt, ReadError, check_range};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// A part of a write, and whether it reached the medium.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Decision {
    /// Which.
    pub atom: Atom,
    /// Whether it did.
    pub kept: bool,
}

/// Decides when asked, and remembers.
#[derive(Debug)]
struct Chooser {
    guide: Guide,
    order: Order,
    known: BTreeMap<Atom, bool>,
    /// What was decided, in order; what followed from it is not among them.
    path: Vec<Decision>,
    /// The newest part that was kept, the oldest that was lost.
    edges: (Option<Atom>, Option<Atom>),
}

impl Chooser {
    fn keeps(&mut self, atom: Atom) -> bool {
        if let Some(&known) = self.known.get(&atom) {
            return known;
        }
        if self.order == Order::Kept {
            let (newest, oldest) = self.edges;
            if newest.is_some_and(|kept| atom <= kept) {
                return true;
            }
            if oldest.is_some_and(|lost| atom >= lost) {
                return false;
            }
        }
        let kept = self.guide.keeps(atom, self.path.len());
        self.known.insert(atom, kept);
        self.path.push(Decision { atom, kept });
        let (newest, oldest) = &mut self.edges;
        if kept {
            *newest = (*newest).max(Some(atom));
        } else {
            *oldest = Some(oldest.map_or(atom, |o| o.min(atom)));
        }
        kept
    }
}

/// The medium, and what recovery and those who look at it write on it.
#[derive(Clone, Debug)]
pub(super) struct CutMedium {
    pending: Arc<Pending>,
    chooser: Rc<RefCell<Chooser>>,
    /// Sectors written since: the bytes that hold them, and where in these.
    over: imbl::OrdMap<u64, (Arc<[u8]>, usize)>,
    counters: Counters,
}

impl CutMedium {
    /// A medium whose parts are kept as `guide` says when they are read.
    pub(super) fn new(pending: Arc<Pending>, guide: Guide) -> Self {
        let chooser = Chooser {
            guide,
            order: pending.rules().order,
            known: BTreeMap::new(),
            path: Vec::new(),
            edges: (None, None),
        };
        Self {
            pending,
            chooser: Rc::new(RefCell::new(chooser)),
            over: imbl::OrdMap::new(),
            counters: Counters::default(),
        }
    }

    /// What was decided so far, in order, as all who share the medium asked.
    pub(super) fn path(&self) -> Vec<Decision> {
        self.chooser.borrow().path.clone()
    }

    fn below(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        let mut chooser = self.chooser.borrow_mut();
        self.pending
            .read(offset, buf, &mut |atom| chooser.keeps(atom))
    }

    fn write(&mut self, mut offset: u64, data: &[(Data, u64)]) -> Result<(), ReadError> {
        for (piece, len) in data {
            let mut bytes = vec![0; *len as usize];
            piece.read(0, &mut bytes);
            self.put(offset, bytes)?;
            offset += len;
        }
        Ok(())
    }

    fn put(&mut self, offset: u64, mut bytes: Vec<u8>) -> Result<(), ReadError> {
        let skip = offset % SECTOR;
        let end = offset + bytes.len() as u64;
        if skip != 0 || !end.is_multiple_of(SECTOR) {
            // The superblock may be written by itself, but never less than sectors of it.
            let whole = offset - skip;
            let mut all = vec![0; (end.next_multiple_of(SECTOR) - whole) as usize];
            self.read_at(whole, &mut all)?;
            all[skip as usize..][..bytes.len()].copy_from_slice(&bytes);
            bytes = all;
        }
        let first = offset / SECTOR;
        let shared: Arc<[u8]> = bytes.into();
        for nr in 0..shared[..].len() as u64 / SECTOR {
            let at = (nr * SECTOR) as usize;
            self.over.insert(first + nr, (shared.clone(), at));
        }
        Ok(())
    }
}

impl ReadAt for CutMedium {
    fn len(&self) -> u64 {
        ReadAt::len(self.pending.stable())
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> Result<(), ReadError> {
        check_range(offset, buf.len() as u64, self.len())?;
        let end = offset + buf.len() as u64;
        let (first, last) = (offset / SECTOR, end.div_ceil(SECTOR));
        // What was written since hides what lies below: that is not asked for.
        let mut at = offset;
        for (&nr, (bytes, from)) in self.over.range(first..last) {
            let (start, stop) = ((nr * SECTOR).max(offset), ((nr + 1) * SECTOR).min(end));
            if at < start {
                self.below(
                    at,
                    &mut buf[(at - offset) as usize..(start - offset) as usize],
                )?;
            }
            let skip = from + (start - nr * SECTOR) as usize;
            let part = &bytes[skip..skip + (stop - start) as usize];
            buf[(start - offset) as usize..(stop - offset) as usize].copy_from_slice(part);
            at = stop;
        }
        if at < end {
            self.below(at, &mut buf[(at - offset) as usize..])?;
        }
        Ok(())
    }
}

impl Device for CutMedium {
    fn submit(&mut self, request: Request) -> Result<(), DeviceError> {
        request.check(self.len())?;
        self.counters.count(request.op.kind(), request.len);
        let done = match &request.op {
            Op::Write { data, .. } => self.write(request.offset, data),
            Op::Discard => self.write(request.offset, &[(Data::Zero, request.len)]),
            Op::Read | Op::Flush => Ok(()),
        };
        done.map_err(|_| request.past_end(self.len()))
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
}
