//! New blocks: the tables on the way first, then the blocks themselves; what leads to
//! them is set last.

use super::super::{Create, Mapped, State, cluster, meta};
use super::table::{self, Route, Table};
use crate::event::{Meta, What};
use crate::kernel::alloc::{self, Near, Want};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, Lblk};

pub(in super::super) fn map_blocks(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    lblk: u32,
    len: u32,
    how: &Create,
) -> Result<Mapped> {
    let per = table::per_block(vol);
    let route = Route::to(per, lblk.into()).ok_or(Errno::EFBIG)?;
    let (table, level) = super::descend(vol, inode, &route)?;
    let slot = route.slot(level);
    if level == route.depth
        && let Some(start) = table.get(slot)
    {
        return super::run(vol, inode, &table, slot, start, lblk, len);
    }
    let goal = near(vol, inode, &table, slot);
    let count = room(&table, &route, level, per, len);
    let place = table.place();
    drop(table);
    let tables = new_tables(vol, inode, route.depth - level, goal, lblk)?;
    let want = Want {
        goal: tables.last().copied().unwrap_or(goal),
        lblk: Lblk(lblk),
        len: count,
        reason: how.reason,
        reserved: how.reserved,
        root: how.root,
    };
    let (start, got) = match new_data(vol, inode, &want) {
        Ok(found) => found,
        Err(e) => {
            give_back(vol, inode, tables)?;
            return Err(e);
        }
    };
    splice(vol, inode, place, &route, level, &tables, start, got)?;
    let nr = inode.nr;
    vol.events.emit(|| What::ExtentInserted {
        inode: nr,
        lblk: Lblk(lblk),
        len: got,
        start,
        unwritten: false,
    });
    Ok(Mapped {
        lblk: Lblk(lblk),
        len: got,
        start,
        state: State::Written,
        new: true,
    })
}

/// The best place: at the nearest block before it in the same table, else at the table,
/// else where the inode is.
fn near(vol: &Volume, inode: &InodeInfo, table: &Table, slot: usize) -> BlockNr {
    let before = (0..slot).rev().find_map(|s| table.get(s));
    match (before, table.place()) {
        (Some(n), _) => BlockNr(n.into()),
        (None, Some(at)) => at,
        (None, None) => alloc::goal_for(vol, inode),
    }
}

/// Blocks that can be added at once: up to the end of their table, or to the next that is
/// there.
fn room(table: &Table, route: &Route, level: usize, per: u64, len: u32) -> u32 {
    let slot = route.slot(route.depth);
    if level < route.depth {
        return (per - slot as u64).min(len.into()) as u32;
    }
    let slots = slot..table.data_slots();
    let free = slots
        .take(len as usize)
        .take_while(|&s| table.get(s).is_none());
    free.count() as u32
}

/// Blocks for tables, all or none, each after the one before.
fn new_tables(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    count: usize,
    mut goal: BlockNr,
    lblk: u32,
) -> Result<Vec<BlockNr>> {
    let mut tables = Vec::with_capacity(count);
    for _ in 0..count {
        match meta::allocate(vol, inode, goal, lblk) {
            Ok(at) => {
                tables.push(at);
                goal = at;
            }
            Err(e) => {
                give_back(vol, inode, tables)?;
                return Err(e);
            }
        }
    }
    if tables.iter().any(|at| at.0 > u32::MAX.into()) {
        give_back(vol, inode, tables)?;
        return Err(Errno::ENOSPC);
    }
    Ok(tables)
}

fn give_back(vol: &mut Volume, inode: &mut InodeInfo, tables: Vec<BlockNr>) -> Result<()> {
    for at in tables {
        meta::free(vol, inode, at)?;
    }
    Ok(())
}

/// Blocks for contents: their numbers must fit into 32 bits.
fn new_data(vol: &mut Volume, inode: &mut InodeInfo, want: &Want) -> Result<(BlockNr, u32)> {
    let (start, got) = alloc::new_blocks_near(vol, inode, want, &Near::default())?;
    let got = got.min(want.len);
    if start.0 + u64::from(got) > 1 << 32 {
        alloc::free_blocks(vol, inode, start, got.into(), cluster::has_buffers(inode))?;
        return Err(Errno::ENOSPC);
    }
    Ok((start, got))
}

/// Fills the new tables, each with the way to the next, the last with the blocks, and sets
/// what leads to the first.
#[allow(clippy::too_many_arguments)]
fn splice(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    place: Option<BlockNr>,
    route: &Route,
    level: usize,
    tables: &[BlockNr],
    start: BlockNr,
    len: u32,
) -> Result<()> {
    let first = start.0 as u32;
    let mut blocks = Some((first..=u32::MAX).take(len as usize));
    for (i, &at) in tables.iter().enumerate().rev() {
        vol.fresh(at, Meta::Indirect, inode.nr)?;
        let slot = route.slot(level + 1 + i);
        match (tables.get(i + 1), blocks.take()) {
            (None, Some(blocks)) => table::set(vol, inode, Some(at), slot, blocks)?,
            (next, _) => {
                let next = next.map(|n| n.0 as u32);
                table::set(vol, inode, Some(at), slot, next.into_iter())?;
            }
        }
    }
    let slot = route.slot(level);
    match (tables.first(), blocks) {
        (Some(at), _) => table::set(vol, inode, place, slot, std::iter::once(at.0 as u32)),
        (None, blocks) => table::set(vol, inode, place, slot, blocks.into_iter().flatten()),
    }
}
