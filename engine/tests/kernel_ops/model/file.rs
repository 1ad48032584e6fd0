//! Contents: reading, writing, seeking, sizes.

use super::super::op::{Op, Whence, bits::*, pattern};
use super::super::outcome::Outcome;
use super::errno::*;
use super::node::{Body, Cell, NOW, NodeId, State};
use super::{Model, Open, Res, Verdict};
use std::collections::BTreeMap;

/// Every file's blocks.
pub type Cells = BTreeMap<u64, Cell>;

impl Model {
    pub fn fd(&self, slot: usize) -> Res<Open> {
        self.fds[slot].clone().ok_or(EBADF)
    }

    pub(super) fn contents(&mut self, op: &Op, got: &Outcome) -> Res<Verdict> {
        match op {
            Op::Read { slot, len } => {
                let open = match self.readable(*slot) {
                    // A position behind hashes is so large that adding to it fails first.
                    Err(EISDIR) if *got == Outcome::Failed(EINVAL) => return Ok(Verdict::Fine),
                    other => other?,
                };
                let (verdict, n) = self.read(&open, open.pos, *len, got);
                self.move_to(*slot, open.pos + n);
                Ok(verdict)
            }
            Op::Pread { slot, off, len } => {
                let open = self.readable(*slot)?;
                Ok(self.read(&open, *off, *len, got).0)
            }
            Op::Write { slot, len, seed } => {
                let open = self.fd(*slot)?;
                self.write(*slot, open.pos, *len, *seed, true, got)
            }
            Op::Pwrite {
                slot,
                off,
                len,
                seed,
            } => self.write(*slot, *off, *len, *seed, false, got),
            Op::Seek { slot, off, whence } => self.seek(*slot, *off, *whence, got),
            Op::Ftruncate { slot, len } => {
                let open = self.fd(*slot)?;
                if !self.node(open.node).is_file() || open.flags & (O_WRONLY | O_RDWR) == 0 {
                    return Err(EINVAL);
                }
                if self.node(open.node).has(FL_APPEND | FL_IMMUTABLE) {
                    return Err(EPERM);
                }
                self.set_size(open.node, *len)?;
                Ok(Verdict::Must(Outcome::Done))
            }
            Op::Truncate { path, len } => {
                let id = self.walk(path, true)?;
                if self.node(id).is_dir() {
                    return Err(EISDIR);
                }
                if self.node(id).has(FL_IMMUTABLE | FL_APPEND) {
                    return Err(EPERM);
                }
                self.set_size(id, *len)?;
                Ok(Verdict::Must(Outcome::Done))
            }
            Op::Fsync { slot } | Op::Fdatasync { slot } => {
                let open = self.fd(*slot)?;
                self.flush(open.node);
                Ok(Verdict::Must(Outcome::Done))
            }
            Op::Fiemap {
                slot,
                start,
                len,
                sync,
            } => self.fiemap(*slot, *start, *len, *sync, got),
            other => panic!("{other:?} is not one call on contents"),
        }
    }

    fn move_to(&mut self, slot: usize, pos: u64) {
        if let Some(open) = &mut self.fds[slot] {
            open.pos = pos;
        }
    }

    fn readable(&self, slot: usize) -> Res<Open> {
        let open = self.fd(slot)?;
        if open.flags & 3 == O_WRONLY {
            return Err(EBADF);
        }
        if self.node(open.node).is_dir() {
            return Err(EISDIR);
        }
        Ok(open)
    }

    fn read(&mut self, open: &Open, off: u64, len: u64, got: &Outcome) -> (Verdict, u64) {
        let block = self.limits.block_size;
        let node = self.node_mut(open.node);
        node.atime = NOW;
        let unsure = node.unsure;
        let Body::File { size, cells } = &node.body else {
            return (Verdict::Wrong("only files are read".to_owned()), 0);
        };
        let n = len.min(size.saturating_sub(off));
        if let (true, Outcome::Data(got)) = (unsure, got)
            && got.len() as u64 == n
        {
            return (Verdict::Fine, n);
        }
        let bytes = bytes(cells, block, off, n);
        (Verdict::Must(Outcome::Data(bytes)), n)
    }

    /// Most bytes of a file: by its map, not by `s_maxbytes` alone.
    pub fn max_bytes(&self) -> u64 {
        self.limits.max_bytes.min(self.limits.max_mapped)
    }

    fn write(
        &mut self,
        slot: usize,
        off: u64,
        len: u64,
        seed: u8,
        moves: bool,
        got: &Outcome,
    ) -> Res<Verdict> {
        let open = self.fd(slot)?;
        if open.flags & (O_WRONLY | O_RDWR) == 0 {
            return Err(EBADF);
        }
        let id = open.node;
        if self.node(id).has(FL_IMMUTABLE) {
            return Err(EPERM);
        }
        if len == 0 {
            return Ok(Verdict::Must(Outcome::Number(0)));
        }
        // O_APPEND wins over pwrite's offset, which POSIX has otherwise.
        let off = if open.flags & O_APPEND != 0 {
            self.node(id).size()
        } else {
            off
        };
        if off >= self.max_bytes() {
            return Err(EFBIG);
        }
        let mut n = len.min(self.max_bytes() - off);
        if let Outcome::Number(short) = got
            && *short < n
            && *short > 0
            && self.tight()
        {
            self.was_full = true;
            n = *short;
        }
        if *got == Outcome::Failed(ENOSPC) {
            return Err(ENOSPC);
        }
        let block = self.limits.block_size;
        let data = pattern(seed, len);
        let node = self.node_mut(id);
        node.mtime = NOW;
        let Body::File { size, cells } = &mut node.body else {
            return Err(EBADF);
        };
        put(cells, block, off, &data[..n as usize]);
        *size = (*size).max(off + n);
        if moves {
            self.move_to(slot, off + n);
        }
        if self.node(id).has(FL_SYNC) {
            self.flush(id);
        }
        Ok(Verdict::Must(Outcome::Number(n)))
    }

    /// Sets a file's size, as truncating does.
    pub fn set_size(&mut self, id: NodeId, len: u64) -> Res<()> {
        if len > self.limits.max_bytes || len > self.limits.max_mapped {
            return Err(EFBIG);
        }
        let block = self.limits.block_size;
        let node = self.node_mut(id);
        let Body::File { size, cells } = &mut node.body else {
            return Err(EINVAL);
        };
        if len <= *size {
            // Also takes what was allocated beyond the end.
            cells.split_off(&len.div_ceil(block));
            zero(cells, block, len, len.next_multiple_of(block));
        }
        *size = len;
        node.mtime = NOW;
        Ok(())
    }

    fn seek(&mut self, slot: usize, off: i64, whence: Whence, got: &Outcome) -> Res<Verdict> {
        let open = self.fd(slot)?;
        let node = self.node(open.node);
        let size = node.size();
        if node.is_dir() {
            // A directory's positions are its layout's affair; only the start is sure.
            return match (whence, off) {
                (Whence::Set, 0) => Ok(Verdict::Must(Outcome::Number(0))),
                _ => Ok(Verdict::Fine),
            };
        }
        let to = match whence {
            Whence::Set => off,
            Whence::Cur => open.pos.cast_signed().checked_add(off).ok_or(EINVAL)?,
            Whence::End => size.cast_signed().checked_add(off).ok_or(EINVAL)?,
            Whence::Data | Whence::Hole => {
                let verdict = self.seek_data(&open, off, whence == Whence::Hole, got)?;
                if let Outcome::Number(to) = got {
                    self.move_to(slot, *to);
                }
                return Ok(verdict);
            }
        };
        if to < 0 || to.cast_unsigned() > self.max_bytes() {
            return Err(EINVAL);
        }
        self.move_to(slot, to.cast_unsigned());
        Ok(Verdict::Must(Outcome::Number(to.cast_unsigned())))
    }

    /// Whether an answer to SEEK_DATA or SEEK_HOLE is one of those that can be right:
    /// of unwritten blocks, memory decides what they count as.
    fn seek_data(&self, open: &Open, off: i64, hole: bool, got: &Outcome) -> Res<Verdict> {
        let node = self.node(open.node);
        let Body::File { size, cells } = &node.body else {
            return Err(EINVAL);
        };
        if off < 0 || off.cast_unsigned() >= *size {
            return Err(ENXIO);
        }
        if node.unsure || self.limits.inline_data {
            return Ok(Verdict::Fine);
        }
        let off = off.cast_unsigned();
        let block = self.limits.block_size;
        let end = size.div_ceil(block);
        let may_be = |l: u64, want_hole: bool| match cells.get(&l).map(|c| c.state) {
            None => want_hole,
            Some(State::Unwritten) => true,
            // Linux counts delayed blocks as part of the hole before them in a file that
            // has indirect blocks.
            Some(State::Delayed) if !self.limits.extents => true,
            Some(_) if self.was_full => true,
            Some(_) => !want_hole,
        };
        let must_be = |l: u64, want_hole: bool| may_be(l, want_hole) && !may_be(l, !want_hole);
        let first = off / block;
        // Blocks that the answer passes over must not surely be what was looked for.
        let passes = |to: u64| {
            if hole {
                (first..to).all(|l| may_be(l, false))
            } else {
                cells
                    .range(first..to.max(first))
                    .all(|(l, _)| !must_be(*l, false))
            }
        };
        // Where a page holds more than its unwritten blocks, Linux answers with their end.
        let state = |l: u64| cells.get(&l).map(|c| c.state);
        let page_end =
            |l: u64| block < 4096 && l.checked_sub(1).and_then(state) == Some(State::Unwritten);
        let right = match got {
            Outcome::Number(to) if *to == *size && hole => passes(end),
            Outcome::Number(to) => {
                let at = to / block;
                let starts = *to == off || to % block == 0;
                *to >= off
                    && *to < *size
                    && starts
                    && (may_be(at, hole) || !hole && page_end(at))
                    && passes(at)
            }
            Outcome::Failed(ENXIO) => !hole && passes(end),
            _ => false,
        };
        if right {
            return Ok(Verdict::Fine);
        }
        let near: Vec<_> = cells.range(first.saturating_sub(1)..).take(6).collect();
        let near: Vec<_> = near.iter().map(|(l, c)| (**l, c.state)).collect();
        Ok(Verdict::Wrong(format!(
            "size {size}, blocks from there on: {near:?}"
        )))
    }

    /// All that is dirty reaches the disk.
    pub fn flush(&mut self, id: NodeId) {
        if let Some(Body::File { cells, .. }) = self.nodes.get_mut(&id).map(|n| &mut n.body) {
            for cell in cells.values_mut() {
                if cell.state != State::Unwritten {
                    cell.state = State::Written;
                }
            }
        }
    }

    pub fn flush_all(&mut self) {
        let ids: Vec<NodeId> = self.nodes.keys().copied().collect();
        ids.into_iter().for_each(|id| self.flush(id));
    }
}

/// Bytes of a file.
pub fn bytes(cells: &Cells, block: u64, off: u64, len: u64) -> Vec<u8> {
    let mut out = vec![0; len as usize];
    let end = off + len;
    for (l, cell) in cells.range(off / block..end.div_ceil(block)) {
        let Some(bytes) = &cell.bytes else { continue };
        let (from, to) = (off.max(l * block), end.min((l + 1) * block));
        let piece = &bytes[(from - l * block) as usize..(to - l * block) as usize];
        out[(from - off) as usize..(to - off) as usize].copy_from_slice(piece);
    }
    out
}

/// Writes bytes; what was a hole becomes delayed.
fn put(cells: &mut Cells, block: u64, off: u64, data: &[u8]) {
    let end = off + data.len() as u64;
    for l in off / block..end.div_ceil(block) {
        let new = Cell {
            state: State::Delayed,
            bytes: None,
        };
        let cell = cells.entry(l).or_insert(new);
        if cell.state == State::Unwritten {
            cell.state = State::UnwrittenDirty;
        }
        let (from, to) = (off.max(l * block), end.min((l + 1) * block));
        let bytes = cell.bytes.get_or_insert_with(|| vec![0; block as usize]);
        bytes[(from - l * block) as usize..(to - l * block) as usize]
            .copy_from_slice(&data[(from - off) as usize..(to - off) as usize]);
    }
}

/// Zeros bytes of blocks that are there.
pub fn zero(cells: &mut Cells, block: u64, from: u64, to: u64) {
    if from >= to {
        return;
    }
    for (l, cell) in cells.range_mut(from / block..to.div_ceil(block)) {
        if let Some(bytes) = &mut cell.bytes {
            let (from, to) = (from.max(l * block), to.min((l + 1) * block));
            bytes[(from - l * block) as usize..(to - l * block) as usize].fill(0);
        }
    }
}
