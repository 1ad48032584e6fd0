//! Freeing blocks, and the tables that have nothing left.

use super::super::{cluster, meta};
use super::table::{self, DIRECT, Table};
use crate::event::What;
use crate::kernel::alloc;
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

/// Frees the blocks from `from` up to `to`.
pub(in super::super) fn remove(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    from: u64,
    to: u64,
) -> Result<()> {
    let root = Table::root(inode);
    let mut free = Free {
        from,
        to,
        left: vol.geo.blocks,
    };
    let direct = from.min(DIRECT) as usize..to.min(DIRECT) as usize;
    if !direct.is_empty() {
        let zeros = std::iter::repeat_n(0, direct.len());
        table::set(vol, inode, None, direct.start, zeros)?;
        free.data(vol, inode, &root, direct, 0)?;
    }
    let per = table::per_block(vol);
    let (mut base, mut span) = (DIRECT, per);
    for level in 1..=3 {
        let slot = DIRECT as usize + level - 1;
        if let Some(at) = root.get(slot)
            && free.overlaps(base, span)
            && free.table(vol, inode, at, level, base)?
        {
            table::set(vol, inode, None, slot, std::iter::once(0))?;
            meta::free(vol, inode, BlockNr(at.into()))?;
        }
        base += span;
        span = span.saturating_mul(per);
    }
    Ok(())
}

struct Free {
    from: u64,
    to: u64,
    /// Tables that may still be visited.
    left: u64,
}

impl Free {
    fn overlaps(&self, base: u64, span: u64) -> bool {
        base < self.to && base.saturating_add(span) > self.from
    }

    fn covers(&self, base: u64, span: u64) -> bool {
        base >= self.from && base.saturating_add(span) <= self.to
    }

    /// Frees what is below a table; whether it is empty now. One that goes as a whole is
    /// not changed.
    fn table(
        &mut self,
        vol: &mut Volume,
        inode: &mut InodeInfo,
        at: u32,
        level: usize,
        base: u64,
    ) -> Result<bool> {
        if self.left == 0 {
            return Err(table::damage(
                vol,
                inode,
                at,
                "is met more often than there are blocks",
            ));
        }
        self.left -= 1;
        let table = table::load(vol, inode, at)?;
        let per = table::per_block(vol);
        let span = per.pow(level as u32 - 1);
        let first = (self.from.saturating_sub(base) / span).min(per);
        let last = self.to.saturating_sub(base).div_ceil(span).min(per);
        let slots = first as usize..last as usize;
        let gone = if level == 1 {
            slots.clone().filter(|&s| table.get(s).is_some()).collect()
        } else {
            self.inner(vol, inode, &table, slots.clone(), level, base)?
        };
        let whole = self.covers(base, span * per);
        if !whole {
            for &slot in &gone {
                table::set(vol, inode, table.place(), slot, std::iter::once(0))?;
            }
        }
        if level == 1 {
            self.data(vol, inode, &table, slots, base)?;
        }
        drop(table);
        Ok(whole || table::load(vol, inode, at)?.is_empty())
    }

    /// Frees what is below slots of a table of tables, and gives those that lead to
    /// nothing now.
    fn inner(
        &mut self,
        vol: &mut Volume,
        inode: &mut InodeInfo,
        table: &Table,
        slots: std::ops::Range<usize>,
        level: usize,
        base: u64,
    ) -> Result<Vec<usize>> {
        let span = table::per_block(vol).pow(level as u32 - 1);
        let mut gone = Vec::new();
        for slot in slots {
            let Some(below) = table.get(slot) else {
                continue;
            };
            let base = base + slot as u64 * span;
            if self.table(vol, inode, below, level - 1, base)? {
                meta::free(vol, inode, BlockNr(below.into()))?;
                gone.push(slot);
            }
        }
        Ok(gone)
    }

    /// Frees the blocks that slots of a table name, those that lie together at once.
    fn data(
        &self,
        vol: &mut Volume,
        inode: &mut InodeInfo,
        table: &Table,
        slots: std::ops::Range<usize>,
        base: u64,
    ) -> Result<()> {
        let mut run: Option<(u64, u64, u64)> = None;
        for slot in slots {
            let Some(n) = table.get(slot).map(u64::from) else {
                continue;
            };
            let lblk = base + slot as u64;
            run = match run {
                Some((l, start, len)) if start + len == n && l + len == lblk => {
                    Some((l, start, len + 1))
                }
                other => {
                    if let Some(done) = other {
                        release(vol, inode, done)?;
                    }
                    Some((lblk, n, 1))
                }
            };
        }
        run.map_or(Ok(()), |done| release(vol, inode, done))
    }
}

fn release(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    (lblk, start, len): (u64, u64, u64),
) -> Result<()> {
    table::check_data(vol, inode, BlockNr(start), len)?;
    let nr = inode.nr;
    vol.events.emit(|| What::ExtentRemoved {
        inode: nr,
        lblk: Lblk(lblk as u32),
        len: len as u32,
    });
    let buffered = cluster::has_buffers(inode);
    alloc::free_blocks(vol, inode, BlockNr(start), len, buffered)
}
