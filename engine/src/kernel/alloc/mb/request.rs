//! What is asked of the multiblock allocator, made larger so that a file that grows stays
//! in one piece.

use super::Run;
use crate::event::Reason;
use crate::kernel::alloc::blocks;
use crate::kernel::alloc::blocks::{Near, Want};
use crate::kernel::{InodeInfo, Volume};
use crate::units::{BlockNr, InodeNr};

/// How far a search has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Status {
    Looking,
    Found,
    /// The best so far must do.
    Enough,
}

/// A request. Lengths are in clusters, `lblk` and `start` are blocks of the file.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) inode: InodeNr,
    pub(super) lblk: u32,
    pub(super) len: u32,
    /// The goal's group, and bit in it.
    pub(super) goal: (u32, u32),
    /// Try the goal itself first: an extent would grow.
    pub(super) try_goal: bool,
    /// What a normalised request begins with.
    pub(super) start: u32,
    pub(super) goal_len: u32,
    pub(super) whole_len: u32,
    /// Contents of a regular file.
    pub(super) data: bool,
    /// A large file: blocks follow those of the last large file.
    pub(super) stream: bool,
    /// A small file: it shares a preallocation.
    pub(super) small: bool,
    /// Nothing is to be kept.
    pub(super) no_prealloc: bool,
    /// Order of the request, where it is a power of two and more than one.
    pub(super) order: u32,
    pub(super) best: Option<Run>,
    pub(super) found: u32,
    pub(super) status: Status,
}

/// Largest number of blocks in a file.
const MAX_LBLK: u64 = 0xFFFF_FFFF;

impl Ask {
    pub(super) fn new(vol: &Volume, inode: &InodeInfo, want: &Want, goal: BlockNr) -> Self {
        let per = vol.geo.cluster_blocks;
        let most = super::super::group::clusters_per_group(vol);
        let len = want.len.div_ceil(per).clamp(1, most.max(1));
        let goal = place(vol, goal);
        let mut ask = Self {
            inode: inode.nr,
            lblk: want.lblk.0 & !(per - 1),
            len,
            goal,
            try_goal: false,
            start: want.lblk.0 & !(per - 1),
            goal_len: len,
            whole_len: len,
            data: want.reason == Reason::Data && inode.is_file(),
            stream: false,
            small: false,
            no_prealloc: false,
            order: 0,
            best: None,
            found: 0,
            status: Status::Looking,
        };
        if ask.data {
            ask.classify(vol, inode);
        }
        ask
    }

    fn end(&self, vol: &Volume) -> u64 {
        u64::from(self.lblk) + u64::from(self.len) * u64::from(vol.geo.cluster_blocks)
    }

    /// Small files share; files that nobody has open any more need nothing kept.
    fn classify(&mut self, vol: &Volume, inode: &InodeInfo) {
        let size = inode.size.div_ceil(vol.geo.block_size.into());
        let end = self.end(vol);
        let shares = vol.options.mb_group_prealloc > 0
            && end.max(size) <= u64::from(vol.options.mb_stream_req);
        let closed = end == size && inode.opens == 0;
        self.small = shares;
        self.stream = !shares && !closed;
        self.no_prealloc = !shares && closed || inode.alloc.as_asked;
    }

    /// Makes the request as large as what should be kept.
    pub(super) fn normalize(&mut self, vol: &Volume, inode: &InodeInfo, near: &Near) {
        if !self.data || self.no_prealloc {
            return;
        }
        if self.small {
            let per = vol.geo.cluster_blocks;
            let mut len = (vol.options.mb_group_prealloc / per).max(32);
            if vol.alloc.stripe > 1 {
                len = len.next_multiple_of(vol.alloc.stripe.div_ceil(per));
            }
            let most = super::super::group::clusters_per_group(vol);
            self.goal_len = len.min(most).max(self.len);
            self.whole_len = self.goal_len;
            return;
        }
        let (start, end) = self.window(vol, inode, near);
        let per = u64::from(vol.geo.cluster_blocks);
        self.start = start as u32;
        self.goal_len = (end - start).div_ceil(per) as u32;
        self.whole_len = self.goal_len;
        self.merge(vol, near, start, end);
    }

    /// The blocks of the file that it would be good to allocate at once.
    fn window(&self, vol: &Volume, inode: &InodeInfo, near: &Near) -> (u64, u64) {
        let (lblk, per) = (u64::from(self.lblk), u64::from(vol.geo.cluster_blocks));
        let end = self.end(vol);
        let size = inode.size.max(end * u64::from(vol.geo.block_size));
        let (mut start, len) = suggest(size, lblk, u64::from(self.len) * per, vol.geo.block_size);
        let group = u64::from(vol.geo.blocks_per_group);
        start = start.max(lblk - lblk % group);
        let mut stop = (start + len).min(MAX_LBLK);
        if let Some((l, _)) = near.left {
            start = start.max(u64::from(l.0) + 1);
        }
        if let Some((r, _)) = near.right {
            stop = stop.min(r.0.into());
        }
        stop = stop.min(start + group);
        let kept = &vol.alloc.groups.kept;
        if let Some((at, pa)) = kept.at_or_before(self.inode, self.lblk) {
            start = start.max(u64::from(at) + u64::from(pa.run.len) * per);
        }
        if let Some((at, _)) = kept.after(self.inode, self.lblk) {
            stop = stop.min(at.into());
        }
        // Whole clusters, the first of them the one that is asked for at the latest.
        start = (start - start % per).min(lblk);
        (start, stop.max(lblk + per).next_multiple_of(per))
    }

    /// Aims so that a neighbour's extent grows.
    fn merge(&mut self, vol: &Volume, near: &Near, start: u64, end: u64) {
        let mut aim = None;
        if let Some((r, at)) = near.right
            && u64::from(r.0) == end
        {
            aim = at.0.checked_sub(end - start).map(BlockNr);
        }
        if let Some((l, at)) = near.left
            && u64::from(l.0) + 1 == start
        {
            aim = Some(at.plus(1));
        }
        if let Some(at) = aim.filter(|at| vol.geo.holds(*at, 1)) {
            self.goal = place(vol, at);
            self.try_goal = true;
        }
    }

    /// Clusters that the group's length allows: a goal is never longer than a group.
    pub(super) fn clamp(&mut self, most: u32) {
        self.goal_len = self.goal_len.clamp(1, most.max(1));
        self.whole_len = self.goal_len;
    }
}

/// A block's group and bit; the filesystem's first where there is no such block.
fn place(vol: &Volume, at: BlockNr) -> (u32, u32) {
    blocks::place(vol, at).map_or((0, 0), |(g, bit)| (g.0, bit))
}

/// First block and length that suit a file of `size` bytes: powers of two up to 1 MiB from
/// the file's start, then aligned pieces of 2, 4 and 8 MiB.
fn suggest(size: u64, lblk: u64, len: u64, block: u32) -> (u64, u64) {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    let block = u64::from(block);
    let steps = [16, 32, 64, 128, 256, 512, 1024];
    if let Some(step) = steps.into_iter().map(|k| k * KIB).find(|&s| size <= s) {
        return (0, step.div_ceil(block));
    }
    // The largest chunk that buddies of this block size know, KiB.
    let chunk = 2 * block;
    let aligned = |bytes: u64| {
        let blocks = (bytes / block).max(1);
        (lblk - lblk % blocks, blocks)
    };
    if size <= 4 * MIB || chunk <= 2 * KIB {
        aligned(2 * MIB)
    } else if size <= 8 * MIB || chunk <= 4 * KIB {
        aligned(4 * MIB)
    } else if len <= 8 * MIB / block || chunk <= 8 * KIB {
        aligned(8 * MIB)
    } else {
        (lblk, len)
    }
}

#[cfg(test)]
mod tests {
    use super::suggest;

    /// The steps as `Documentation/filesystems/ext4` and the design's experiment F4 have
    /// them: 16 KiB to 1 MiB from the start, then 2, 4 and 8 MiB, aligned.
    #[test]
    fn requests_grow_with_the_file() {
        assert_eq!(suggest(100, 0, 1, 4096), (0, 4));
        assert_eq!(suggest(17 << 10, 4, 1, 4096), (0, 8));
        assert_eq!(suggest(1 << 20, 4, 1, 4096), (0, 256));
        assert_eq!(suggest(3 << 20, 600, 1, 4096), (512, 512));
        assert_eq!(suggest(7 << 20, 1030, 1, 4096), (1024, 1024));
        assert_eq!(suggest(5 << 30, 2050, 128, 4096), (2048, 2048));
        assert_eq!(suggest(5 << 30, 2050, 4096, 4096), (2048, 2048));
        assert_eq!(suggest(5 << 30, 5000, 9000, 8192), (5000, 9000));
        assert_eq!(suggest(5 << 30, 5000, 1, 1024), (4096, 2048));
    }
}
