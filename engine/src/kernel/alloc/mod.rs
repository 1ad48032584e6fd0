//! What is free, and who gets it.

mod bits;
mod blocks;
mod flex;
mod group;
mod inodes;
mod mb;
mod orlov;
mod replay;
mod simple;
mod space;
#[cfg(test)]
mod tests;
mod window;

pub use blocks::{Near, Want, free_blocks, goal_for, new_blocks, new_blocks_near, release_freed};
pub use inodes::{free_inode, new_inode};
pub(super) use replay::{mark_blocks, mark_inode};
pub use space::{Statfs, release, reserve, statfs, trim};

use super::{AllocatorKind, InodeInfo, MountOptions, Volume};
use crate::ext4::layout::{Incompat, Superblock};
use crate::ext4::read::Geometry;
use crate::units::GroupNr;

/// What the allocators keep of the whole filesystem.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Marks of each group.
    marks: imbl::Vector<u8>,
    /// Clusters that only the kernel itself may use, for what it cannot refuse.
    pool: u64,
    /// Which allocator; never `Auto`.
    kind: AllocatorKind,
    /// Blocks of a stripe; 0 for none.
    stripe: u32,
    groups: mb::Groups,
    windows: window::Windows,
    /// Shortest run, clusters, that the last FITRIM told the device of.
    trimmed_min: u64,
    /// Free inodes and clusters of flex groups.
    counts: flex::Counts,
    /// The sums that the search for a directory's group goes by.
    sums: flex::Sums,
    /// Where a directory's last new inode went (`i_last_alloc_group`).
    last_groups: imbl::OrdMap<u32, u32>,
}

impl State {
    /// The block bitmap was found sound.
    const BLOCKS_CHECKED: u8 = 1;
    /// The inode bitmap was found sound.
    const INODES_CHECKED: u8 = 2;
    /// The block bitmap is damaged: nothing is taken from the group.
    const BAD_BLOCKS: u8 = 4;
    /// The inode bitmap is damaged.
    const BAD_INODES: u8 = 8;
    /// The device knows of all that is free.
    const TRIMMED: u8 = 16;

    pub(super) fn new(sb: &Superblock<Box<[u8]>>, geo: &Geometry, options: &MountOptions) -> Self {
        let kind = match options.allocator {
            AllocatorKind::Auto if sb.incompat().contains(Incompat::EXTENTS) => {
                AllocatorKind::Multiblock
            }
            AllocatorKind::Auto => AllocatorKind::Ext2,
            kind => kind,
        };
        Self {
            kind,
            stripe: stripe(sb, geo, options),
            groups: mb::Groups::default(),
            windows: window::Windows::default(),
            trimmed_min: 0,
            counts: flex::Counts::default(),
            sums: flex::Sums::default(),
            last_groups: imbl::OrdMap::new(),
            marks: std::iter::repeat_n(0, geo.groups as usize).collect(),
            pool: space::pool(sb, geo),
        }
    }

    fn has_mark(&self, g: GroupNr, mark: u8) -> bool {
        self.marks.get(g.0 as usize).is_some_and(|m| m & mark != 0)
    }

    fn mark(&mut self, g: GroupNr, mark: u8) {
        if let Some(m) = self.marks.get_mut(g.0 as usize) {
            *m |= mark;
        }
        if mark == Self::BAD_BLOCKS {
            self.groups.lose(g.0);
            self.groups.forget_kept(g.0);
        }
    }

    fn unmark(&mut self, g: GroupNr, mark: u8) {
        if let Some(m) = self.marks.get_mut(g.0 as usize) {
            *m &= !mark;
        }
    }

    fn is_bad(&self, g: GroupNr) -> bool {
        self.has_mark(g, Self::BAD_BLOCKS)
    }
}

/// Blocks of a stripe: what the mount says, else the superblock's stripe or, where that is
/// too long, its stride.
fn stripe(sb: &Superblock<Box<[u8]>>, geo: &Geometry, options: &MountOptions) -> u32 {
    let known = [
        options.stripe.unwrap_or(0),
        sb.s_raid_stripe_width(),
        sb.s_raid_stride().into(),
    ];
    let fits = |n: &u32| *n > 0 && *n <= geo.blocks_per_group;
    let stripe = known.into_iter().find(fits).unwrap_or(0);
    if stripe > 1 && stripe.is_multiple_of(geo.cluster_blocks) {
        stripe
    } else {
        0
    }
}

/// What the allocators keep of an inode.
#[derive(Clone, Debug, Default)]
pub struct OfInode {
    /// Requests are not to be made larger, and nothing is to be kept (fallocate).
    pub as_asked: bool,
}

/// Gives back what was preallocated for an inode: when it is closed, cut or forgotten.
pub fn discard_preallocations(vol: &mut Volume, inode: &mut InodeInfo) {
    mb::discard_inode(vol, inode.nr);
    vol.alloc.windows.discard(inode.nr);
}
