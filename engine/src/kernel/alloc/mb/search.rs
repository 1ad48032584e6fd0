//! The search for a free run: the goal itself, then groups by criteria that ask less and
//! less.

use super::Run;
use super::buddy::Buddy;
use super::groups::{Groups, fragment_order};
use super::request::{Ask, Status};
use crate::kernel::Volume;
use crate::kernel::alloc::blocks::{flex_size, packs_dirs};
use crate::units::GroupNr;
use std::sync::Arc;

/// Runs looked at before the best of them must do (`mb_max_to_scan`).
const MAX_TO_SCAN: u32 = 200;
/// Runs looked at although one is long enough (`mb_min_to_scan`).
const MIN_TO_SCAN: u32 = 10;
/// Shortest request that is sought by its order (`mb_order2_req`).
const ORDER2_REQ: u32 = 2;
/// Filesystems of fewer groups are walked through.
const LISTS_FROM: u32 = 16;
/// Groups tried one after another before lists are asked (`mb_max_linear_groups`).
const LINEAR: u32 = 4;
/// Orders by which a goal may shrink before groups are walked through
/// (`mb_best_avail_max_trim_order`).
const MAX_TRIM: u32 = 3;

/// What a group must have to be looked into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Criterion {
    /// A free chunk of the request's order.
    Power2,
    /// Free runs that are long enough in the mean.
    GoalFast,
    /// The same for a shorter goal.
    BestAvail,
    /// Enough free clusters.
    GoalSlow,
    /// Any.
    Any,
}

impl Criterion {
    const ALL: [Self; 5] = [
        Self::Power2,
        Self::GoalFast,
        Self::BestAvail,
        Self::GoalSlow,
        Self::Any,
    ];
}

/// Finds a run and takes it out of its buddy.
pub(super) fn search(vol: &mut Volume, ask: &mut Ask) -> Option<Run> {
    by_goal(vol, ask);
    if ask.status == Status::Looking {
        let order = ask.goal_len.ilog2();
        let orders = vol.alloc.groups.orders();
        if ask.goal_len.is_power_of_two() && order + 1 >= ORDER2_REQ && order < orders {
            ask.order = order;
        }
        if ask.stream {
            ask.goal.0 = vol.alloc.groups.stream;
        }
        by_criteria(vol, ask);
    }
    let found = ask.best.filter(|_| ask.status == Status::Found)?;
    let run = Run {
        len: found.len.min(ask.goal_len),
        ..found
    };
    if ask.stream {
        vol.alloc.groups.stream = run.group;
    }
    vol.alloc
        .groups
        .take(run.group, run.bit, run.len)
        .then_some(run)
}

fn by_criteria(vol: &mut Volume, ask: &mut Ask) {
    let skip = usize::from(ask.order == 0);
    for criterion in Criterion::ALL.into_iter().skip(skip) {
        scan_groups(vol, ask, criterion);
        if ask.status != Status::Looking {
            break;
        }
    }
    // Enough was looked at, or everything: the best of it.
    if ask.status != Status::Found && ask.best.is_some() {
        ask.status = Status::Found;
    }
}

fn buddy(vol: &mut Volume, g: u32) -> Option<Arc<Buddy>> {
    if !Groups::load(vol, g) {
        return None;
    }
    vol.alloc.groups.buddy(g).cloned()
}

/// Tries the goal itself.
fn by_goal(vol: &mut Volume, ask: &mut Ask) {
    let (g, bit) = ask.goal;
    if !ask.try_goal || vol.alloc.groups.free(g) == 0 {
        return;
    }
    let Some(b) = buddy(vol, g) else { return };
    let len = b.extent(bit, ask.goal_len);
    if len < ask.goal_len {
        return;
    }
    let stripe = vol.alloc.stripe;
    let one_stripe = stripe > 1 && ask.goal_len == stripe / vol.geo.cluster_blocks;
    let start =
        vol.geo.group_start(GroupNr(g)).0 + u64::from(bit) * u64::from(vol.geo.cluster_blocks);
    if !one_stripe || start.is_multiple_of(stripe.into()) {
        found(ask, Run { group: g, bit, len });
    }
}

fn found(ask: &mut Ask, run: Run) {
    ask.best = Some(run);
    ask.status = Status::Found;
}

/// Goes through groups that a criterion lets in.
fn scan_groups(vol: &mut Volume, ask: &mut Ask, criterion: Criterion) {
    let groups = vol.geo.groups;
    let start = if ask.goal.0 < groups { ask.goal.0 } else { 0 };
    if criterion >= Criterion::GoalSlow || groups < LISTS_FROM {
        if criterion != Criterion::BestAvail {
            walk(vol, ask, criterion, start, groups);
        }
        return;
    }
    walk(vol, ask, criterion, start, LINEAR.min(groups));
    if ask.status != Status::Looking {
        return;
    }
    let start = (start + LINEAR) % groups;
    let orders = vol.alloc.groups.orders();
    match criterion {
        Criterion::Power2 => {
            for order in ask.order..orders {
                by_list(vol, ask, criterion, start, |groups, from, end| {
                    groups.next_by_order(order, from, end)
                });
            }
        }
        Criterion::BestAvail => trim(vol, ask, start),
        _ => {
            for order in fragment_order(ask.goal_len, orders)..orders {
                by_list(vol, ask, criterion, start, |groups, from, end| {
                    groups.next_by_fragment(order, from, end)
                });
            }
        }
    }
}

/// Makes the goal smaller step by step, for a file's contents.
fn trim(vol: &mut Volume, ask: &mut Ask, start: u32) {
    if !ask.data {
        return;
    }
    let whole = ask.goal_len;
    let order = whole.ilog2();
    let mut least = order.saturating_sub(MAX_TRIM);
    let stripe = vol.alloc.stripe / vol.geo.cluster_blocks;
    if stripe > 0 && 1 << least < stripe {
        least = stripe.ilog2();
    }
    if 1 << least < ask.len {
        least = ask.len.ilog2() + 1;
    }
    for order in (least..=order).rev() {
        ask.goal_len = 1 << order;
        if stripe > 1 {
            ask.goal_len = ask.goal_len.next_multiple_of(stripe);
        }
        let list = fragment_order(ask.goal_len, vol.alloc.groups.orders());
        by_list(
            vol,
            ask,
            Criterion::BestAvail,
            start,
            |groups, from, end| groups.next_by_fragment(list, from, end),
        );
        if ask.status != Status::Looking {
            return;
        }
    }
    ask.goal_len = whole;
}

/// Groups with anything free, one after another, `count` of all from `start` on.
fn walk(vol: &mut Volume, ask: &mut Ask, criterion: Criterion, start: u32, count: u32) {
    let groups = vol.geo.groups;
    let end = start.saturating_add(count);
    let rest = end.saturating_sub(groups).min(start);
    for (from, to) in [(start, end.min(groups)), (0, rest)] {
        let next = |g: &Groups, from, end| g.next_nonfull(from, end);
        range(vol, ask, criterion, from, to, &next);
    }
}

/// Groups of a list, those from `start` on first.
fn by_list(
    vol: &mut Volume,
    ask: &mut Ask,
    criterion: Criterion,
    start: u32,
    next: impl Fn(&Groups, u32, u32) -> Option<u32>,
) {
    let groups = vol.geo.groups;
    for (from, to) in [(start, groups), (0, start)] {
        range(vol, ask, criterion, from, to, &next);
    }
}

fn range(
    vol: &mut Volume,
    ask: &mut Ask,
    criterion: Criterion,
    from: u32,
    to: u32,
    next: &impl Fn(&Groups, u32, u32) -> Option<u32>,
) {
    let mut from = from;
    while ask.status == Status::Looking {
        let Some(g) = next(&vol.alloc.groups, from, to) else {
            return;
        };
        scan_group(vol, ask, criterion, g);
        from = g + 1;
    }
}

fn scan_group(vol: &mut Volume, ask: &mut Ask, criterion: Criterion, g: u32) {
    let free = vol.alloc.groups.free(g);
    if free == 0 || criterion < Criterion::Any && free < ask.goal_len {
        return;
    }
    // The first group of a flex group is its directories'.
    if criterion == Criterion::Power2
        && ask.data
        && packs_dirs(vol)
        && g.is_multiple_of(flex_size(vol))
    {
        return;
    }
    let Some(b) = buddy(vol, g) else { return };
    let mean = b.free / b.fragments.max(1);
    match criterion {
        Criterion::Power2 => {
            if b.largest().is_some_and(|largest| largest >= ask.order) {
                simple(ask, g, &b);
            }
        }
        Criterion::GoalFast | Criterion::BestAvail if mean < ask.goal_len => {}
        _ => {
            if criterion < Criterion::GoalSlow {
                aligned(vol, ask, g, &b);
            }
            if ask.status == Status::Looking && b.free > 0 {
                complex(ask, g, &b, criterion);
            }
        }
    }
}

/// The first chunk of the smallest order that is enough.
fn simple(ask: &mut Ask, g: u32, b: &Buddy) {
    let chunk = (ask.order..super::buddy::MAX_ORDERS as u32)
        .find_map(|order| b.first_chunk(order).map(|bit| (bit, order)));
    if let Some((bit, order)) = chunk {
        ask.found += 1;
        let run = Run {
            group: g,
            bit,
            len: 1 << order,
        };
        found(ask, run);
    }
}

/// A whole stripe that begins where a stripe of the device begins.
fn aligned(vol: &Volume, ask: &mut Ask, g: u32, b: &Buddy) {
    let per = vol.geo.cluster_blocks;
    let stripe = vol.alloc.stripe;
    let len = stripe / per;
    if stripe < 2 || len == 0 || !ask.goal_len.is_multiple_of(len) {
        return;
    }
    let start = vol.geo.group_start(GroupNr(g)).0;
    let first = start.next_multiple_of(stripe.into()) - start;
    let mut bit = (first / u64::from(per)) as u32;
    let end = vol.geo.clusters_in(GroupNr(g));
    while bit < end {
        if b.extent(bit, len) >= len {
            ask.found += 1;
            return found(ask, Run { group: g, bit, len });
        }
        bit += len;
    }
}

/// Looks at free runs, one after another, and keeps the best.
fn complex(ask: &mut Ask, g: u32, b: &Buddy, criterion: Criterion) {
    let mut at = b.next_free(0);
    while let Some(bit) = at {
        if ask.status != Status::Looking {
            return;
        }
        if criterion < Criterion::GoalSlow {
            // In the mean, runs are long enough: short ones are not worth a look.
            let end = b.run_end(bit);
            if end - bit < ask.goal_len {
                at = b.next_free(end);
                continue;
            }
        }
        let len = b.extent(bit, ask.goal_len).max(1);
        measure(ask, Run { group: g, bit, len });
        at = b.next_free(bit + len);
    }
    limits(ask, true);
}

/// Weighs a run against the best so far: long enough, and no longer than needed.
fn measure(ask: &mut Ask, run: Run) {
    ask.found += 1;
    if run.len == ask.goal_len {
        return found(ask, run);
    }
    let better = match ask.best {
        None => {
            ask.best = Some(run);
            return;
        }
        Some(best) if best.len < ask.goal_len => run.len > best.len,
        Some(best) => run.len > ask.goal_len && run.len < best.len,
    };
    if better {
        ask.best = Some(run);
    }
    limits(ask, false);
}

/// Stops a search that has gone on for long, or has what it needs.
fn limits(ask: &mut Ask, group_done: bool) {
    if ask.status != Status::Looking {
        return;
    }
    if ask.found > MAX_TO_SCAN {
        ask.status = Status::Enough;
        return;
    }
    let enough = ask.best.is_some_and(|best| best.len >= ask.goal_len);
    if enough && (group_done || ask.found > MIN_TO_SCAN) {
        ask.status = Status::Found;
    }
}
