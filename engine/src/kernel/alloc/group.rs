//! One group's bitmaps, counts and marks, on disk.

use super::{State, bits};
use crate::event::Meta;
use crate::ext4::layout::{GroupDesc, GroupFlags, RoCompat};
use crate::ext4::{Place, Problem, checksum};
use crate::kernel::buffer::Block;
use crate::kernel::{Errno, Result, Volume};
use crate::units::{BlockNr, GroupNr, InodeNr};

/// Low and high half of a count in a descriptor.
fn halves(n: u32) -> (u16, u16) {
    ((n & 0xFFFF) as u16, (n >> 16) as u16)
}

macro_rules! set_halves {
    ($vol:expr, $desc:expr, $low:ident, $high:ident, $n:expr) => {{
        let (low, high) = halves($n);
        $desc.$low(low);
        if $vol.geo.desc_size >= 64 {
            $desc.$high(high);
        }
    }};
}

type Desc = GroupDesc<[u8; 64]>;

/// Sets a descriptor's free clusters.
pub(super) fn set_free_blocks(vol: &Volume, d: &mut Desc, n: u32) {
    set_halves!(
        vol,
        d,
        set_bg_free_blocks_count_lo,
        set_bg_free_blocks_count_hi,
        n
    );
}

/// Sets a descriptor's free inodes.
pub(super) fn set_free_inodes(vol: &Volume, d: &mut Desc, n: u32) {
    set_halves!(
        vol,
        d,
        set_bg_free_inodes_count_lo,
        set_bg_free_inodes_count_hi,
        n
    );
}

/// Sets a descriptor's directories.
pub(super) fn set_used_dirs(vol: &Volume, d: &mut Desc, n: u32) {
    set_halves!(
        vol,
        d,
        set_bg_used_dirs_count_lo,
        set_bg_used_dirs_count_hi,
        n
    );
}

/// Sets the inodes at the end of a group's table that were never used.
pub(super) fn set_itable_unused(vol: &Volume, d: &mut Desc, n: u32) {
    set_halves!(vol, d, set_bg_itable_unused_lo, set_bg_itable_unused_hi, n);
}

/// Puts the block bitmap's checksum into a descriptor.
pub(super) fn sum_blocks(vol: &Volume, d: &mut Desc, map: &[u8]) {
    if let Some(sum) = bitmap_sum(vol, map, clusters_per_group(vol)) {
        set_halves!(
            vol,
            d,
            set_bg_block_bitmap_csum_lo,
            set_bg_block_bitmap_csum_hi,
            sum
        );
    }
}

/// Puts the inode bitmap's checksum into a descriptor.
pub(super) fn sum_inodes(vol: &Volume, d: &mut Desc, map: &[u8]) {
    if let Some(sum) = bitmap_sum(vol, map, vol.geo.inodes_per_group) {
        set_halves!(
            vol,
            d,
            set_bg_inode_bitmap_csum_lo,
            set_bg_inode_bitmap_csum_hi,
            sum
        );
    }
}

fn bitmap_sum(vol: &Volume, map: &[u8], bits: u32) -> Option<u32> {
    let used = map.get(..bits as usize / 8)?;
    vol.has_csum()
        .then(|| checksum::bitmap(vol.seed, used, vol.geo.desc_size.into()))
}

/// Clusters of a whole group.
pub(super) fn clusters_per_group(vol: &Volume) -> u32 {
    vol.geo.blocks_per_group / vol.geo.cluster_blocks
}

/// Whether marks of groups that are not initialised count.
pub(super) fn has_uninit(vol: &Volume) -> bool {
    vol.has_ro_compat(RoCompat::GDT_CSUM) || vol.has_csum()
}

/// The block bitmap of a group in which only the filesystem's own blocks are in use.
fn initial_blocks(vol: &Volume, g: GroupNr) -> Vec<u8> {
    let mut map = vec![0; vol.block_size()];
    let start = vol.geo.group_start(g).0;
    let end = start + u64::from(vol.geo.group_len(g));
    let per = u64::from(vol.geo.cluster_blocks);
    let first = vol.zones().partition_point(|z| z.1 <= start);
    for z in vol.zones()[first..].iter().take_while(|z| z.0 < end) {
        let from = (z.0.max(start) - start) / per;
        let to = (z.1.min(end) - start).div_ceil(per);
        bits::fill(&mut map, from as u32, (to - from) as u32, true);
    }
    let used = vol.geo.clusters_in(g);
    bits::fill(&mut map, used, u32::MAX - used, true);
    map
}

/// Whether every block that is the filesystem's own is marked in a group's bitmap.
fn marks_own(vol: &Volume, g: GroupNr, map: &[u8]) -> bool {
    let own = initial_blocks(vol, g);
    own.iter().zip(map).all(|(o, m)| o & !m == 0)
}

/// A group's block bitmap, as the disk has it or would have it.
pub(super) fn block_bitmap(vol: &mut Volume, g: GroupNr) -> Result<Block> {
    if vol.alloc.has_mark(g, State::BAD_BLOCKS) {
        return Err(Errno::EFSCORRUPTED);
    }
    let d = vol.desc(g)?;
    if has_uninit(vol) && d.flags().contains(GroupFlags::BLOCK_UNINIT) {
        return Ok(initial_blocks(vol, g).into());
    }
    let at = d.block_bitmap();
    check_place(vol, g, at, Place::BlockBitmap(g), State::BAD_BLOCKS)?;
    let map = vol.block(at)?;
    if !vol.alloc.has_mark(g, State::BLOCKS_CHECKED) {
        let sum = bitmap_sum(vol, &map, clusters_per_group(vol));
        if sum.is_some_and(|s| s != stored(vol, d.block_bitmap_csum())) {
            let place = Place::BlockBitmap(g);
            return Err(bad(vol, g, place, State::BAD_BLOCKS, NO_SUM));
        }
        let free = bits::zeros(&map, vol.geo.clusters_in(g));
        if free != d.free_blocks() {
            let words = format!(
                "has {free} free clusters where the descriptor says {}",
                d.free_blocks()
            );
            return Err(bad(
                vol,
                g,
                Place::BlockBitmap(g),
                State::BAD_BLOCKS,
                &words,
            ));
        }
        if !marks_own(vol, g, &map) {
            let words = "does not mark all of the filesystem's own blocks";
            return Err(bad(vol, g, Place::BlockBitmap(g), State::BAD_BLOCKS, words));
        }
        vol.alloc.mark(g, State::BLOCKS_CHECKED);
    }
    Ok(map)
}

const NO_SUM: &str = "has a checksum that does not hold";

/// A stored checksum, of which a short descriptor has only the low half.
fn stored(vol: &Volume, sum: u32) -> u32 {
    if vol.geo.desc_size >= 64 {
        sum
    } else {
        sum & 0xFFFF
    }
}

/// Notes that a bitmap is not to be trusted: its group is passed over from now on, and
/// what it has free counts no more.
fn bad(vol: &mut Volume, g: GroupNr, place: Place, mark: u8, words: &str) -> Errno {
    if let Ok(d) = vol.desc(g)
        && !vol.alloc.has_mark(g, mark)
    {
        if mark == State::BAD_BLOCKS {
            vol.free_clusters = vol.free_clusters.saturating_sub(d.free_blocks().into());
        } else {
            vol.free_inodes = vol.free_inodes.saturating_sub(d.free_inodes());
        }
    }
    vol.alloc.mark(g, mark);
    vol.corrupt(Problem::other(place, words))
}

fn check_place(vol: &mut Volume, g: GroupNr, at: BlockNr, place: Place, mark: u8) -> Result<()> {
    if vol.geo.holds(at, 1) {
        return Ok(());
    }
    Err(bad(vol, g, place, mark, "would be where no block is"))
}

/// A group's inode bitmap, as the disk has it or would have it.
pub(super) fn inode_bitmap(vol: &mut Volume, g: GroupNr) -> Result<Block> {
    if vol.alloc.has_mark(g, State::BAD_INODES) {
        return Err(Errno::EFSCORRUPTED);
    }
    let d = vol.desc(g)?;
    let count = vol.geo.inodes_per_group;
    if has_uninit(vol) && d.flags().contains(GroupFlags::INODE_UNINIT) {
        let mut map = vec![0; vol.block_size()];
        bits::fill(&mut map, count, u32::MAX - count, true);
        return Ok(map.into());
    }
    let at = d.inode_bitmap();
    let place = Place::InodeBitmap(g);
    check_place(vol, g, at, place, State::BAD_INODES)?;
    let map = vol.block(at)?;
    if !vol.alloc.has_mark(g, State::INODES_CHECKED) {
        let sum = bitmap_sum(vol, &map, count);
        if sum.is_some_and(|s| s != stored(vol, d.inode_bitmap_csum())) {
            return Err(bad(vol, g, place, State::BAD_INODES, NO_SUM));
        }
        vol.alloc.mark(g, State::INODES_CHECKED);
    }
    Ok(map)
}

/// Makes sure that a group's block bitmap is on disk, not only to be computed; gives the
/// descriptor, in which the mark is gone.
pub(super) fn settle_blocks(vol: &mut Volume, g: GroupNr) -> Result<Desc> {
    let mut d = vol.desc(g)?;
    if !has_uninit(vol) || !d.flags().contains(GroupFlags::BLOCK_UNINIT) {
        return Ok(d);
    }
    let map = initial_blocks(vol, g);
    let at = d.block_bitmap();
    check_place(vol, g, at, Place::BlockBitmap(g), State::BAD_BLOCKS)?;
    vol.fresh(at, Meta::BlockBitmap, InodeNr(0))?
        .copy_from_slice(&map);
    let mut flags = d.flags();
    flags.remove(GroupFlags::BLOCK_UNINIT);
    d.set_bg_flags(flags.bits());
    let free = bits::zeros(&map, vol.geo.clusters_in(g));
    let before = u64::from(d.free_blocks());
    vol.free_clusters = (vol.free_clusters + u64::from(free)).saturating_sub(before);
    set_free_blocks(vol, &mut d, free);
    sum_blocks(vol, &mut d, &map);
    vol.alloc.mark(g, State::BLOCKS_CHECKED);
    Ok(d)
}

/// Takes (`on`) or gives back clusters of a group: bitmap, descriptor, counts. All of them
/// must have been the other way.
pub(super) fn mark_clusters(
    vol: &mut Volume,
    g: GroupNr,
    bit: u32,
    len: u32,
    on: bool,
) -> Result<()> {
    let map = block_bitmap(vol, g)?;
    let end = bit.saturating_add(len);
    let other = if on {
        bits::next_one(&map, bit, end)
    } else {
        bits::next_zero(&map, bit, end)
    };
    drop(map);
    if other < end || end > vol.geo.clusters_in(g) {
        let at = vol
            .geo
            .group_start(g)
            .plus(u64::from(other) * u64::from(vol.geo.cluster_blocks));
        let words = if on {
            "was about to be taken, but is in use"
        } else {
            "was freed, but is free"
        };
        return Err(bad(vol, g, Place::Block(at), State::BAD_BLOCKS, words));
    }
    let mut d = settle_blocks(vol, g)?;
    let at = d.block_bitmap();
    let count = clusters_per_group(vol);
    let (seed, size, has_csum) = (vol.seed, usize::from(vol.geo.desc_size), vol.has_csum());
    let map = vol.change(at, Meta::BlockBitmap, InodeNr(0))?;
    bits::fill(map, bit, len, on);
    let sum = map
        .get(..count as usize / 8)
        .filter(|_| has_csum)
        .map(|used| checksum::bitmap(seed, used, size));
    if let Some(sum) = sum {
        set_halves!(
            vol,
            d,
            set_bg_block_bitmap_csum_lo,
            set_bg_block_bitmap_csum_hi,
            sum
        );
    }
    let free = if on {
        d.free_blocks().saturating_sub(len)
    } else {
        d.free_blocks().saturating_add(len)
    };
    set_free_blocks(vol, &mut d, free);
    vol.free_clusters = if on {
        vol.free_clusters.saturating_sub(len.into())
    } else {
        vol.free_clusters.saturating_add(len.into())
    };
    vol.alloc.count_clusters(g, len, on);
    if !on {
        vol.alloc.unmark(g, State::TRIMMED);
    }
    vol.set_desc(g, &d)
}
