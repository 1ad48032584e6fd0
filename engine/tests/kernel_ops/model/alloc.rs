//! Blocks: `fallocate` and FIEMAP.

use super::super::op::bits::*;
use super::super::outcome::{Outcome, extent_flags};
use super::errno::*;
use super::file::{Cells, zero};
use super::node::{Body, Cell, NOW, State};
use super::{Model, Res, Verdict};

/// Linux counts memory in pages of this size.
const PAGE: u64 = 4096;

impl Model {
    pub fn fallocate(&mut self, slot: usize, mode: u32, off: u64, len: u64) -> Res<()> {
        let open = self.fd(slot)?;
        let id = open.node;
        if len == 0 || (off | len) >> 63 != 0 {
            return Err(EINVAL);
        }
        // One way at a time; KEEP_SIZE goes with allocating, zeroing and punching, and
        // punching not without it.
        match mode {
            0 | KEEP_SIZE | COLLAPSE_RANGE | INSERT_RANGE | ZERO_RANGE => {}
            m if m == ZERO_RANGE | KEEP_SIZE || m == PUNCH_HOLE | KEEP_SIZE => {}
            _ => return Err(EOPNOTSUPP),
        }
        if open.flags & (O_WRONLY | O_RDWR) == 0 {
            return Err(EBADF);
        }
        let node = self.node(id);
        if mode & !KEEP_SIZE != 0 && node.has(FL_APPEND) || node.has(FL_IMMUTABLE) {
            return Err(EPERM);
        }
        if off.saturating_add(len) > self.limits.max_bytes {
            return Err(EFBIG);
        }
        // From here on the file counts as modified, also where nothing is done.
        if self.node(id).is_file() {
            self.node_mut(id).mtime = NOW;
        }
        if mode & PUNCH_HOLE == 0 && !self.limits.extents {
            return Err(EOPNOTSUPP);
        }
        let (block, cluster) = (self.limits.block_size, self.limits.cluster_size());
        let max = self.limits.max_bytes;
        let node = self.node_mut(id);
        let Body::File { size, cells } = &mut node.body else {
            return Err(EISDIR);
        };
        let end = off + len;
        match mode & !KEEP_SIZE {
            0 => {
                allocate(cells, off / block, end.div_ceil(block));
                if mode & KEEP_SIZE == 0 && end > *size {
                    *size = end;
                }
            }
            ZERO_RANGE => {
                allocate(cells, off / block, end.div_ceil(block));
                zero(cells, block, off, end);
                for l in off.div_ceil(block)..end / block {
                    cells.insert(
                        l,
                        Cell {
                            state: State::Unwritten,
                            bytes: None,
                        },
                    );
                }
                if mode & KEEP_SIZE == 0 && end > *size {
                    *size = end;
                }
            }
            PUNCH_HOLE => {
                // Nothing is there beyond the page that the end is in.
                let end = if end > *size {
                    size.next_multiple_of(PAGE)
                } else {
                    end
                };
                if off < *size {
                    zero(cells, block, off, end);
                    for l in off.div_ceil(block)..end / block {
                        cells.remove(&l);
                    }
                }
            }
            COLLAPSE_RANGE => {
                if !off.is_multiple_of(cluster) || !len.is_multiple_of(cluster) || end >= *size {
                    return Err(EINVAL);
                }
                dirty_to_disk(cells, off.min(off / PAGE * PAGE) / block);
                let later = cells.split_off(&(end / block));
                cells.split_off(&(off / block));
                cells.extend(later.into_iter().map(|(l, c)| (l - len / block, c)));
                *size -= len;
            }
            _ => {
                if !off.is_multiple_of(cluster) || !len.is_multiple_of(cluster) {
                    return Err(EINVAL);
                }
                if len > max - *size {
                    return Err(EFBIG);
                }
                if off >= *size {
                    return Err(EINVAL);
                }
                dirty_to_disk(cells, off.min(off / PAGE * PAGE) / block);
                let later = cells.split_off(&(off / block));
                cells.extend(later.into_iter().map(|(l, c)| (l + len / block, c)));
                *size += len;
            }
        }
        if node.has(FL_SYNC) {
            self.flush(id);
        }
        Ok(())
    }

    /// Whether a file's extents are those that it must have.
    pub(super) fn fiemap(
        &mut self,
        slot: usize,
        start: u64,
        len: u64,
        sync: bool,
        got: &Outcome,
    ) -> Res<Verdict> {
        let open = self.fd(slot)?;
        if len == 0 {
            return Err(EINVAL);
        }
        if start >= self.limits.max_bytes.min(self.limits.max_mapped) {
            return match got {
                Outcome::Failed(e) if [EFBIG, EINVAL].contains(e) => Ok(Verdict::Fine),
                Outcome::Extents(none) if none.is_empty() => Ok(Verdict::Fine),
                _ => Err(EFBIG),
            };
        }
        if !self.node(open.node).is_file() {
            return Ok(match got {
                Outcome::Extents(_) => Verdict::Fine,
                _ => Verdict::Wrong("a directory has extents".to_owned()),
            });
        }
        if sync {
            self.flush(open.node);
        }
        let node = self.node(open.node);
        let Outcome::Extents(extents) = got else {
            return Ok(Verdict::Wrong("extents must come".to_owned()));
        };
        // A write that found no more room leaves blocks that it took and could not fill,
        // where blocks are mapped by indirect ones.
        let left_over = self.was_full && !self.limits.extents;
        if node.unsure || left_over || self.limits.inline_data {
            return Ok(Verdict::Fine);
        }
        let Body::File { cells, .. } = &node.body else {
            return Err(EINVAL);
        };
        let block = self.limits.block_size;
        let (first, end) = (start / block, start.saturating_add(len).div_ceil(block));
        let mut left: Vec<(u64, State)> = cells
            .range(first..end)
            .map(|(l, c)| (*l, c.state))
            .collect();
        left.reverse();
        // Linux takes delayed blocks for a part of the hole before them where blocks are
        // mapped by indirect ones.
        let may_lack = |state: State| !self.limits.extents && !sync && state == State::Delayed;
        for e in extents {
            if e.logical % block != 0 || e.len % block != 0 {
                return Ok(Verdict::Wrong(format!("{e:?} is not made of blocks")));
            }
            for l in (e.logical / block).max(first)..(e.logical + e.len).div_ceil(block).min(end) {
                while left
                    .last()
                    .is_some_and(|(n, state)| *n < l && may_lack(*state))
                {
                    left.pop();
                }
                let Some((want, state)) = left.pop() else {
                    return Ok(Verdict::Wrong(format!("block {l} is a hole")));
                };
                if want != l {
                    return Ok(Verdict::Wrong(format!(
                        "block {want} ({state:?}) comes before {l}"
                    )));
                }
                let flags = e.flags & extent_flags::STATE;
                let right = match state {
                    _ if self.was_full => true,
                    State::Written => flags == 0 || !sync,
                    State::Unwritten => flags == extent_flags::UNWRITTEN,
                    State::Delayed => flags & extent_flags::DELALLOC != 0 || !sync,
                    State::UnwrittenDirty => true,
                };
                if !right {
                    return Ok(Verdict::Wrong(format!(
                        "block {l} is {state:?}, not {flags:#x}"
                    )));
                }
            }
        }
        left.retain(|(_, state)| !may_lack(*state));
        Ok(match left.pop() {
            Some((l, state)) => Verdict::Wrong(format!("block {l} ({state:?}) is not told")),
            None => Verdict::Fine,
        })
    }
}

/// Blocks for what has none.
fn allocate(cells: &mut Cells, from: u64, to: u64) {
    for l in from..to {
        let cell = cells.entry(l).or_insert(Cell {
            state: State::Unwritten,
            bytes: None,
        });
        if cell.state == State::Delayed {
            cell.state = State::UnwrittenDirty;
        }
    }
}

/// Moving blocks writes what is dirty from there on first.
fn dirty_to_disk(cells: &mut Cells, from: u64) {
    for (_, cell) in cells.range_mut(from..) {
        if cell.state != State::Unwritten {
            cell.state = State::Written;
        }
    }
}
