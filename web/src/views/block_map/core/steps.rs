//! Where the keys move the focus to.

use super::plan::Plan;
use super::raster::Level;
use crate::owner_map::OwnerMap;

/// A move of the focus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// To the square at the left or right.
    Across(bool),
    /// To the square above or below.
    Along(bool),
    /// To where something else begins.
    Run(bool),
    /// To the next group, or the one before.
    Group(bool),
    /// To the tile above or below.
    Tile(bool),
    /// To the first block.
    First,
    /// To the last.
    Last,
}

/// Where a step leads; it never leaves the map.
pub fn step(plan: &Plan, map: &OwnerMap, level: Level, from: u64, step: Step) -> u64 {
    let geometry = &plan.geometry;
    let last = geometry.blocks.saturating_sub(1);
    let first = geometry.start(0);
    let to = match (step, level) {
        (Step::First, _) => first,
        (Step::Last, _) => last,
        // From afar the squares are groups.
        (Step::Across(on) | Step::Run(on) | Step::Group(on), Level::Groups)
        | (Step::Group(on), _) => group(plan, from, on),
        (Step::Along(on) | Step::Tile(on), Level::Groups) | (Step::Tile(on), _) => {
            tile(plan, from, on)
        }
        (Step::Across(true), _) => from + 1,
        (Step::Across(false), _) => from.saturating_sub(1),
        (Step::Along(on), _) => row(plan, from, on),
        (Step::Run(on), _) => run(map, from, on),
    };
    to.clamp(first, last.max(first))
}

/// The same place in the next group; from inside the group, back to its first block.
fn group(plan: &Plan, from: u64, on: bool) -> u64 {
    let geometry = &plan.geometry;
    let now = geometry.group_of(from);
    if on && now + 1 < geometry.groups {
        geometry.start(now + 1)
    } else if on {
        from
    } else if from > geometry.start(now) {
        geometry.start(now)
    } else {
        geometry.start(now.saturating_sub(1))
    }
}

fn tile(plan: &Plan, from: u64, on: bool) -> u64 {
    let geometry = &plan.geometry;
    let Some((now, index)) = geometry.place(from) else {
        return from;
    };
    let Some(group) = neighbour(plan, now, on) else {
        return from;
    };
    let most = geometry.len(group).saturating_sub(1);
    geometry.start(group) + index.min(most)
}

fn row(plan: &Plan, from: u64, on: bool) -> u64 {
    let geometry = &plan.geometry;
    let Some((now, index)) = geometry.place(from) else {
        return from;
    };
    if on && index + plan.cells < geometry.len(now) {
        return from + plan.cells;
    }
    if !on && index >= plan.cells {
        return from - plan.cells;
    }
    // Over the edge, into the tile there.
    let Some(group) = neighbour(plan, now, on) else {
        return from;
    };
    let column = index % plan.cells;
    let most = geometry.len(group).saturating_sub(1);
    let index = if on {
        column.min(most)
    } else {
        let row = most / plan.cells * plan.cells;
        let index = row + column;
        if index > most {
            index.saturating_sub(plan.cells)
        } else {
            index
        }
    };
    geometry.start(group) + index.min(most)
}

fn neighbour(plan: &Plan, group: u64, on: bool) -> Option<u64> {
    let columns = plan.x.count;
    if on {
        Some(group + columns).filter(|&group| group < plan.geometry.groups)
    } else {
        group.checked_sub(columns)
    }
}

fn run(map: &OwnerMap, from: u64, on: bool) -> u64 {
    let after = map.starts.partition_point(|&start| start <= from as f64);
    let row = if on {
        Some(after)
    } else {
        // The start of this run, or of the one before if that is where we are.
        after.checked_sub(1).map(|row| {
            let here = map.row(row).is_some_and(|run| run.start == from);
            if here { row.saturating_sub(1) } else { row }
        })
    };
    row.and_then(|row| map.row(row))
        .map_or(from, |run| run.start)
}
