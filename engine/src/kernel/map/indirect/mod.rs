//! The block maps of ext2 and ext3: twelve direct blocks, and blocks of block numbers.

mod allocate;
mod free;
mod table;

pub(super) use allocate::map_blocks;
pub(super) use free::remove;

use super::{Mapped, State};
use crate::kernel::{InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};
use table::{DIRECT, Route, Table};

/// What is at a block of the file.
pub(super) fn lookup(vol: &mut Volume, inode: &InodeInfo, lblk: u32, len: u32) -> Result<Mapped> {
    let end = u64::from(lblk) + u64::from(len);
    let hole = |next: u64| Mapped {
        lblk: Lblk(lblk),
        len: (next.min(end) - u64::from(lblk)) as u32,
        start: BlockNr(0),
        state: State::Hole,
        new: false,
    };
    let Some(route) = Route::to(table::per_block(vol), lblk.into()) else {
        return Ok(hole(end));
    };
    let (table, level) = descend(vol, inode, &route)?;
    if level == route.depth
        && let Some(start) = table.get(route.slot(level))
    {
        return run(vol, inode, &table, route.slot(level), start, lblk, len);
    }
    let mut search = Search {
        end,
        left: vol.geo.blocks,
    };
    let next = search.root(vol, inode, lblk.into())?;
    Ok(hole(next))
}

/// Follows a route as far as there are blocks: the table reached, and its level.
fn descend(vol: &mut Volume, inode: &InodeInfo, route: &Route) -> Result<(Table, usize)> {
    let mut table = Table::root(inode);
    for level in 0..route.depth {
        match table.get(route.slot(level)) {
            Some(at) => table = table::load(vol, inode, at)?,
            None => return Ok((table, level)),
        }
    }
    Ok((table, route.depth))
}

/// Blocks that lie together from a slot of a table on.
fn run(
    vol: &mut Volume,
    inode: &InodeInfo,
    table: &Table,
    slot: usize,
    start: u32,
    lblk: u32,
    len: u32,
) -> Result<Mapped> {
    let slots = table.data_slots();
    let mut n = 1;
    while n < len
        && slot + (n as usize) < slots
        && table.get(slot + n as usize) == start.checked_add(n)
        && start.checked_add(n).is_some()
    {
        n += 1;
    }
    let start = BlockNr(start.into());
    table::check_data(vol, inode, start, n.into())?;
    Ok(Mapped {
        lblk: Lblk(lblk),
        len: n,
        start,
        state: State::Written,
        new: false,
    })
}

/// Looks for the next block that is mapped.
struct Search {
    end: u64,
    /// Tables that may still be read.
    left: u64,
}

impl Search {
    /// Where the next block from `from` on is that is mapped, at most `end`.
    fn root(&mut self, vol: &mut Volume, inode: &InodeInfo, from: u64) -> Result<u64> {
        let root = Table::root(inode);
        for slot in from.min(DIRECT)..DIRECT {
            if root.get(slot as usize).is_some() {
                return Ok(slot.min(self.end));
            }
        }
        let per = table::per_block(vol);
        let (mut base, mut span) = (DIRECT, per);
        for level in 1..=3 {
            if base >= self.end {
                break;
            }
            if from < base + span
                && let Some(at) = root.get(DIRECT as usize + level - 1)
                && let Some(found) = self.below(vol, inode, at, level, base, from)?
            {
                return Ok(found.min(self.end));
            }
            base += span;
            span = span.saturating_mul(per);
        }
        Ok(self.end)
    }

    fn below(
        &mut self,
        vol: &mut Volume,
        inode: &InodeInfo,
        at: u32,
        level: usize,
        base: u64,
        from: u64,
    ) -> Result<Option<u64>> {
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
        for slot in from.saturating_sub(base) / span..per {
            let begin = base + slot * span;
            if begin >= self.end {
                break;
            }
            let Some(at) = table.get(slot as usize) else {
                continue;
            };
            if level == 1 {
                return Ok(Some(begin));
            }
            if let Some(found) = self.below(vol, inode, at, level - 1, begin, from)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// All blocks of block numbers, each before those below it.
pub(super) fn nodes(vol: &mut Volume, inode: &InodeInfo) -> Result<Vec<BlockNr>> {
    let root = Table::root(inode);
    let mut todo: Vec<(u32, usize)> = (1..=3)
        .rev()
        .filter_map(|level| Some((root.get(DIRECT as usize + level - 1)?, level)))
        .collect();
    let mut all = Vec::new();
    while let Some((at, level)) = todo.pop() {
        if all.len() as u64 > vol.geo.blocks {
            return Err(table::damage(
                vol,
                inode,
                at,
                "is met more often than there are blocks",
            ));
        }
        all.push(BlockNr(at.into()));
        let table = table::load(vol, inode, at)?;
        if level > 1 {
            let slots = (0..table.slots()).rev();
            todo.extend(slots.filter_map(|s| Some((table.get(s)?, level - 1))));
        }
    }
    Ok(all)
}

/// Blocks of the largest file: what the tables reach, and what `i_blocks` can count of
/// data and tables together.
pub(super) fn max_blocks(block_size: u32, huge: bool) -> u64 {
    let per = u64::from(block_size / 4);
    let reach = DIRECT + per + per * per + per * per * per;
    let tables = 1 + (1 + per) + (1 + per + per * per);
    let limit = if huge {
        (1 << 48) - 1
    } else {
        u64::from(u32::MAX) / u64::from(block_size / 512)
    };
    let most = if reach + tables <= limit {
        reach
    } else {
        limit - tables_for(limit, per)
    };
    most.min(u32::MAX.into())
}

/// Tables that so many blocks need.
fn tables_for(blocks: u64, per: u64) -> u64 {
    let mut left = blocks.saturating_sub(DIRECT + per);
    if left < per * per {
        return 1 + 1 + left.div_ceil(per);
    }
    left -= per * per;
    1 + (1 + per) + 1 + left.div_ceil(per) + left.div_ceil(per * per)
}
