//! Which group a new inode goes to. Directories at the top are spread, those below stay
//! near their parent unless it is too full (Orlov's way, as ext4 has it); anything else
//! goes beside its directory. Described in the kernel's
//! `Documentation/filesystems/ext4/allocators.rst`.

use super::blocks::flex_size;
use super::flex::{Count, Sum};
use crate::ext4::layout::InodeFlags;
use crate::ext4::read::{HashVersion, name_hash};
use crate::kernel::{DirPolicy, InodeInfo, Result, Volume};
use crate::units::{GroupNr, InodeNr};

const ROOT: InodeNr = InodeNr(2);
/// A flex group with more than so many per cent of its blocks free is good enough for the
/// old policy.
const FREE_PERCENT: u64 = 10;

/// Whether a directory's subdirectories are to be spread.
pub(super) fn is_top(dir: &InodeInfo) -> bool {
    dir.nr == ROOT || dir.has(InodeFlags::TOPDIR)
}

/// The group where the search for a free inode begins; `None` where there is none.
pub(super) fn group_for(
    vol: &mut Volume,
    parent: InodeNr,
    is_dir: bool,
    topdir: bool,
    name: &[u8],
) -> Result<Option<GroupNr>> {
    if vol.options.dir_policy == DirPolicy::Old && flex_size(vol) > 1 {
        return in_old_way(vol, parent);
    }
    if !is_dir {
        return beside(vol, parent);
    }
    if topdir {
        if let Some(flex) = spread(vol, name)
            && let Some(g) = in_flex(vol, flex)?
        {
            return Ok(Some(g));
        }
        return fallback(vol, parent);
    }
    near(vol, parent)
}

fn home(vol: &Volume, inode: InodeNr) -> GroupNr {
    vol.geo.inode_home(inode).0
}

fn free_inodes(vol: &mut Volume, g: u32) -> Result<u32> {
    if g >= vol.geo.groups || vol.alloc.has_mark(GroupNr(g), super::State::BAD_INODES) {
        return Ok(0);
    }
    Ok(vol.desc(GroupNr(g))?.free_inodes())
}

/// The first group of a flex group that has free inodes.
fn in_flex(vol: &mut Volume, flex: u32) -> Result<Option<GroupNr>> {
    let size = flex_size(vol);
    let first = flex.saturating_mul(size);
    for g in first..first.saturating_add(size).min(vol.geo.groups) {
        if size == 1 || free_inodes(vol, g)? > 0 {
            return Ok(Some(GroupNr(g)));
        }
    }
    Ok(None)
}

/// Of flex groups that have more than the mean free, the one with fewest directories; the
/// name decides where the search begins.
fn spread(vol: &Volume, name: &[u8]) -> Option<u32> {
    let counts = &vol.alloc.counts;
    let n = counts.len().max(1);
    let seed = vol.sb.hash_seed();
    let half_md4 = HashVersion::HalfMd4 { unsigned: false };
    let hash = name_hash(half_md4, seed, name).map_or(0, |h| h.0);
    let inodes = vol.alloc.sums.free_inodes.get() / u64::from(n);
    let clusters = vol.alloc.sums.free_clusters.get() / u64::from(n);
    let mut least = u64::from(vol.geo.inodes_per_group);
    let mut best = None;
    for flex in ring(hash % n, n) {
        let c = counts.get(flex);
        let room = c.free_inodes > 0 && c.free_inodes >= inodes && c.free_clusters >= clusters;
        if room && c.dirs < least {
            least = c.dirs;
            best = Some(flex);
        }
    }
    best
}

fn ring(start: u32, n: u32) -> impl Iterator<Item = u32> {
    (start..n).chain(0..start.min(n))
}

/// The first flex group from the parent's on (or from where its last inode went) that is
/// not much fuller than the mean.
fn near(vol: &mut Volume, parent: InodeNr) -> Result<Option<GroupNr>> {
    let size = flex_size(vol);
    let n = vol.alloc.counts.len().max(1);
    let sums = vol.alloc.sums;
    let mean = |sum: Sum| sum.get() / u64::from(n);
    let per_group = u64::from(vol.geo.inodes_per_group);
    let inodes = per_group * u64::from(size);
    let clusters = u64::from(super::group::clusters_per_group(vol)) * u64::from(size);
    let max_dirs = mean(sums.dirs) + inodes / 16;
    let min_inodes = mean(sums.free_inodes).saturating_sub(inodes / 4).max(1);
    let min_clusters = mean(sums.free_clusters).saturating_sub(clusters / 4);
    let last = vol.alloc.last_groups.get(&parent.0).copied();
    let start = last.unwrap_or(home(vol, parent).0) / size;
    let fits = |c: Count| {
        c.dirs < max_dirs && c.free_inodes >= min_inodes && c.free_clusters >= min_clusters
    };
    let found = ring(start % n, n).find(|&flex| fits(vol.alloc.counts.get(flex)));
    if let Some(flex) = found
        && let Some(g) = in_flex(vol, flex)?
    {
        return Ok(Some(g));
    }
    fallback(vol, parent)
}

/// The first group from the parent's on with the mean number of free inodes, else with any.
fn fallback(vol: &mut Volume, parent: InodeNr) -> Result<Option<GroupNr>> {
    let groups = vol.geo.groups;
    let start = home(vol, parent).0 % groups;
    let mean = (vol.alloc.sums.free_inodes.get() / u64::from(groups)).min(u32::MAX.into()) as u32;
    for least in [mean.max(1), 1] {
        for g in ring(start, groups) {
            if free_inodes(vol, g)? >= least {
                return Ok(Some(GroupNr(g)));
            }
        }
        if mean == 0 {
            break;
        }
    }
    Ok(None)
}

/// For what is no directory: the parent's flex group, then where its last inode went, then
/// as a directory below the top would go.
fn beside(vol: &mut Volume, parent: InodeNr) -> Result<Option<GroupNr>> {
    let size = flex_size(vol);
    let own = home(vol, parent).0;
    if size == 1 {
        return beside_in_group(vol, parent, own);
    }
    let last = vol.alloc.last_groups.get(&parent.0).copied();
    for g in [Some(own), last].into_iter().flatten() {
        if let Some(g) = in_flex(vol, g / size)? {
            return Ok(Some(g));
        }
    }
    near(vol, parent)
}

/// Without flex groups: the parent's group; then, by a quadratic hash of the parent's
/// number, so that files of a directory stay together, a group with free inodes and
/// blocks; then any with free inodes.
fn beside_in_group(vol: &mut Volume, parent: InodeNr, own: u32) -> Result<Option<GroupNr>> {
    let groups = u64::from(vol.geo.groups);
    if has_both(vol, own)? {
        return Ok(Some(GroupNr(own)));
    }
    let mut g = (u64::from(own) + u64::from(parent.0)) % groups;
    let mut step = 1;
    while step < groups {
        g = (g + step) % groups;
        if has_both(vol, g as u32)? {
            return Ok(Some(GroupNr(g as u32)));
        }
        step <<= 1;
    }
    for g in ring((own + 1) % vol.geo.groups, vol.geo.groups) {
        if free_inodes(vol, g)? > 0 {
            return Ok(Some(GroupNr(g)));
        }
    }
    Ok(None)
}

fn has_both(vol: &mut Volume, g: u32) -> Result<bool> {
    Ok(free_inodes(vol, g)? > 0 && vol.desc(GroupNr(g))?.free_blocks() > 0)
}

/// As before 2009, directories and files alike: the parent's flex group while a tenth of
/// it is free, the one before it, then the first such, then the one with most free.
fn in_old_way(vol: &mut Volume, parent: InodeNr) -> Result<Option<GroupNr>> {
    let size = flex_size(vol);
    let blocks = u64::from(super::group::clusters_per_group(vol)) * u64::from(size);
    let counts = vol.alloc.counts.clone();
    let good = |c: Count| c.free_inodes > 0 && c.free_clusters * 100 / blocks.max(1) > FREE_PERCENT;
    let own = home(vol, parent).0 / size;
    let close = [Some(own), own.checked_sub(1)].into_iter().flatten();
    let found = close
        .chain(0..counts.len())
        .find(|&flex| good(counts.get(flex)));
    let most = || {
        (0..counts.len())
            .filter(|&flex| counts.get(flex).free_inodes > 0)
            .max_by_key(|&flex| (counts.get(flex).free_clusters, std::cmp::Reverse(flex)))
    };
    match found.or_else(most) {
        Some(flex) => in_flex(vol, flex),
        None => Ok(None),
    }
}
