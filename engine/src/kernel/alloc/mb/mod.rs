//! ext4's multiblock allocator: a request is made larger than what was asked (`request`), a
//! free run is sought for it by buddies (`search`), and what was not asked for stays kept
//! for the same file or for other small ones (`prealloc`). What decides is described in
//! "Ext4 block and inode allocator improvements" (Kumar et al., OLS 2008) and in the
//! kernel's `Documentation/filesystems/ext4/allocators.rst`; limits are Linux 6.x's.

mod buddy;
mod groups;
mod prealloc;
mod request;
mod search;

pub(super) use groups::Groups;
pub(super) use prealloc::{discard_inode, discard_overlapping};

use super::blocks::{Near, Want};
use crate::kernel::{Errno, InodeInfo, Result, Volume};
use crate::units::{BlockNr, InodeNr, Lblk};
use prealloc::ForInode;
use request::Ask;

/// Clusters in a row, of one group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub(super) group: u32,
    pub(super) bit: u32,
    pub(super) len: u32,
}

impl Run {
    fn touches(&self, other: &Run) -> bool {
        self.group == other.group
            && self.bit < other.bit.saturating_add(other.len)
            && other.bit < self.bit.saturating_add(self.len)
    }
}

/// Finds clusters for a request: the buddies count them as used then, the disk not yet.
pub(super) fn find(
    vol: &mut Volume,
    inode: &InodeInfo,
    want: &Want,
    goal: BlockNr,
    near: &Near,
) -> Result<Run> {
    Groups::prepare(vol)?;
    let mut ask = Ask::new(vol, inode, want, goal);
    if let Some(run) = from_kept(vol, &ask) {
        return Ok(run);
    }
    ask.normalize(vol, inode, near);
    let most = super::group::clusters_per_group(vol);
    ask.clamp(most);
    // What is kept for others is given up once there is nothing else.
    let mut tries = 0;
    loop {
        if let Some(run) = search::search(vol, &mut ask.clone()) {
            return Ok(keep_rest(vol, &ask, run));
        }
        tries += 1;
        if tries > 3 || prealloc::discard_any(vol, ask.len) == 0 {
            return Err(Errno::ENOSPC);
        }
    }
}

fn from_kept(vol: &mut Volume, ask: &Ask) -> Option<Run> {
    if !ask.data {
        return None;
    }
    if let Some(run) = prealloc::use_inode(vol, ask.inode, Lblk(ask.lblk), ask.len) {
        return Some(run);
    }
    if !ask.small {
        return None;
    }
    let run = vol.alloc.groups.kept.use_small(ask.len, ask.goal)?;
    prealloc::trim_small(vol);
    Some(run)
}

/// Keeps what was found beyond the request, and gives the part that was asked for.
fn keep_rest(vol: &mut Volume, ask: &Ask, run: Run) -> Run {
    if run.len <= ask.len || !ask.data || ask.no_prealloc {
        let len = run.len.min(ask.len);
        let rest = Run {
            bit: run.bit + len,
            len: run.len - len,
            ..run
        };
        vol.alloc.groups.give(rest.group, rest.bit, rest.len);
        return Run { len, ..run };
    }
    if ask.small {
        prealloc::tell(vol, InodeNr(0), run, true);
        vol.alloc.groups.kept.keep_small(Run {
            bit: run.bit + ask.len,
            len: run.len - ask.len,
            ..run
        });
        prealloc::trim_small(vol);
        return Run {
            len: ask.len,
            ..run
        };
    }
    let lblk = place_in_file(vol, ask, run.len);
    let offset = (ask.lblk - lblk) / vol.geo.cluster_blocks;
    let len = ask.len.min(run.len - offset.min(run.len));
    let pa = ForInode {
        run,
        free: run.len - len,
    };
    prealloc::tell(vol, ask.inode, run, true);
    if pa.free > 0 {
        vol.alloc.groups.kept.keep(ask.inode, lblk, pa);
    }
    Run {
        bit: run.bit + offset,
        len,
        ..run
    }
}

/// Which block of the file the found run begins with. A shorter one than was sought lies
/// at the end of what was sought if the request is in it then, else at its beginning, else
/// with the request.
fn place_in_file(vol: &Volume, ask: &Ask, len: u32) -> u32 {
    if len >= ask.whole_len {
        return ask.start;
    }
    let per = u64::from(vol.geo.cluster_blocks);
    let (start, lblk) = (u64::from(ask.start), u64::from(ask.lblk));
    let end = start + u64::from(ask.whole_len) * per;
    let at_end = end - u64::from(len) * per;
    if lblk >= at_end {
        return at_end as u32;
    }
    if lblk + u64::from(ask.len) * per <= start + u64::from(len) * per {
        return ask.start;
    }
    ask.lblk
}
