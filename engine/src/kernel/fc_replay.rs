//! Replay of ext4's fast commits: what changed, told by inode and name, is done again.
//!
//! As in Linux it follows the replay of the log and comes before the mount: without a
//! journal, straight to the device. A crash in the middle starts it anew, and doing it
//! twice comes to the same.

use super::create::{LINK_MAX, entry_type};
use super::{Errno, InodeInfo, Mount, Result, alloc, dir, map};
use crate::ext4::journal::{FcTag, FcValue, Journal as Log};
use crate::ext4::layout::{FcInode, FcTagHead, InodeFlags};
use crate::ext4::{Place, Problem};
use crate::units::{BlockNr, InodeNr, Lblk};
use std::collections::BTreeSet;

/// First byte of `i_block`, first byte after it.
const I_BLOCK: usize = 0x28;
const I_GENERATION: usize = 0x64;

/// The tags that are to be replayed.
pub(super) fn tags(log: &Log) -> &[FcTag] {
    let area = log.fast_commits();
    area.and_then(|a| a.tags.get(..a.replayed))
        .unwrap_or_default()
}

/// A range of a file, as a tag gives it.
struct Range {
    lblk: u32,
    start: BlockNr,
    len: u32,
    unwritten: bool,
}

impl Mount {
    /// Replays the fast commits of a log onto what its transactions left. There is no
    /// journal yet: everything goes home.
    pub(super) fn replay_fast_commits(&mut self, log: &Log) -> Result<()> {
        let mut changed = BTreeSet::new();
        // What files get is theirs from the start: nodes of maps take other blocks.
        for tag in tags(log) {
            if let FcValue::AddRange { start, len, .. } = &tag.value {
                alloc::mark_blocks(&mut self.vol, BlockNr(*start), (*len).into())?;
            }
        }
        for tag in tags(log) {
            self.replay_tag(log, tag, &mut changed)?;
        }
        for nr in changed {
            self.mark_used(nr)?;
            self.count_subdirectories(nr)?;
        }
        self.write_back_everything()?;
        self.vol.sync_buffers()?;
        self.vol.flush()
    }

    fn replay_tag(
        &mut self,
        log: &Log,
        tag: &FcTag,
        changed: &mut BTreeSet<InodeNr>,
    ) -> Result<()> {
        match &tag.value {
            FcValue::AddRange {
                ino,
                lblk,
                start,
                len,
                unwritten,
            } => {
                changed.insert(InodeNr(*ino));
                let range = Range {
                    lblk: *lblk,
                    start: BlockNr(*start),
                    len: *len,
                    unwritten: *unwritten,
                };
                self.replay_add_range(InodeNr(*ino), &range)
            }
            FcValue::DelRange { ino, lblk, len } => {
                changed.insert(InodeNr(*ino));
                self.replay_del_range(InodeNr(*ino), *lblk, *len)
            }
            FcValue::Create { parent, ino, name } => {
                changed.insert(InodeNr(*ino));
                changed.insert(InodeNr(*parent));
                self.replay_create(InodeNr(*parent), InodeNr(*ino), name)
            }
            FcValue::Link { parent, ino, name } => {
                changed.insert(InodeNr(*parent));
                self.replay_link(InodeNr(*parent), InodeNr(*ino), name)
            }
            FcValue::Unlink { parent, ino, name } => {
                changed.insert(InodeNr(*parent));
                self.replay_unlink(InodeNr(*parent), InodeNr(*ino), name)
            }
            FcValue::Inode { ino, bytes } => {
                changed.insert(InodeNr(*ino));
                let raw = logged_inode(self, log, tag, *bytes)?;
                self.replay_inode(InodeNr(*ino), &raw)
            }
            FcValue::Pad | FcValue::Tail { .. } | FcValue::Head { .. } => Ok(()),
        }
    }

    /// The inode gets what was logged, all but the map of its blocks: ranges tell that.
    fn replay_inode(&mut self, nr: InodeNr, logged: &[u8]) -> Result<()> {
        let mut inode = self.vol.read_inode(nr)?;
        let mode = u16::from_le_bytes([logged[0], logged[1]]);
        alloc::mark_inode(&mut self.vol, nr, mode)?;
        let raw = &mut inode.raw.0;
        let end = logged.len().min(raw.len());
        raw[..I_BLOCK].copy_from_slice(&logged[..I_BLOCK]);
        raw[I_GENERATION..end].copy_from_slice(&logged[I_GENERATION..end]);
        let mut inode = InodeInfo::new(&self.vol, nr, inode.raw.0);
        if inode.has(InodeFlags::EXTENTS) {
            let block = inode.i_block();
            if block[..2] != crate::ext4::layout::EXTENT_MAGIC.to_le_bytes() {
                map::init(&self.vol, &mut inode);
            }
        } else if inode.has(InodeFlags::INLINE_DATA) {
            inode.raw.0[I_BLOCK..I_GENERATION].copy_from_slice(&logged[I_BLOCK..I_GENERATION]);
        }
        self.count_blocks(&mut inode)?;
        self.vol.write_inode(&mut inode)?;
        self.inodes.forget(nr);
        Ok(())
    }

    /// Its blocks are counted anew: maps here may have other nodes than before the crash.
    fn count_blocks(&mut self, inode: &mut InodeInfo) -> Result<()> {
        if !inode.has(InodeFlags::EXTENTS) {
            return Ok(());
        }
        let per = u64::from(self.vol.geo.cluster_blocks);
        let mut blocks = map::nodes(&mut self.vol, inode)?.len() as u64 * per;
        let mut clusters = BTreeSet::new();
        for (start, len) in self.runs(inode)? {
            for at in (start.0 / per..).take_while(|c| c * per < start.0 + u64::from(len)) {
                clusters.insert(at);
            }
        }
        blocks += clusters.len() as u64 * per;
        if inode.raw.file_acl().0 != 0 {
            blocks += per;
        }
        inode.raw.set_i_blocks_lo(0);
        inode.raw.set_i_blocks_high(0);
        inode.add_blocks(&self.vol, blocks.cast_signed());
        Ok(())
    }

    /// The runs of blocks that a file has.
    fn runs(&mut self, inode: &InodeInfo) -> Result<Vec<(BlockNr, u32)>> {
        let (mut at, end) = (0, map::max_blocks(&self.vol, inode));
        let mut all = Vec::new();
        while at < end {
            let run = map::lookup(&mut self.vol, inode, Lblk(at as u32), u32::MAX)?;
            if run.state != map::State::Hole {
                all.push((run.start, run.len));
            }
            at += u64::from(run.len.max(1));
        }
        Ok(all)
    }

    /// What an inode has is marked as used.
    fn mark_used(&mut self, nr: InodeNr) -> Result<()> {
        let mut inode = self.vol.read_inode(nr)?;
        if inode.links() == 0 || !inode.has(InodeFlags::EXTENTS) {
            return Ok(());
        }
        for (start, len) in self.runs(&inode)? {
            alloc::mark_blocks(&mut self.vol, start, len.into())?;
        }
        for at in map::nodes(&mut self.vol, &inode)? {
            alloc::mark_blocks(&mut self.vol, at, 1)?;
        }
        let acl = inode.raw.file_acl();
        if acl.0 != 0 {
            alloc::mark_blocks(&mut self.vol, acl, 1)?;
        }
        self.count_blocks(&mut inode)?;
        self.vol.write_inode(&mut inode)
    }

    /// Fast commits do not log directories' own inodes: how many links one has follows from
    /// what is in it. Linux does not count anew, and leaves that to e2fsck.
    fn count_subdirectories(&mut self, nr: InodeNr) -> Result<()> {
        let mut inode = self.vol.read_inode(nr)?;
        if !inode.is_dir() || inode.links() == 0 {
            return Ok(());
        }
        let mut links = 2u16;
        for entry in dir::entries(&mut self.vol, &inode)? {
            let dots = entry.name == b"." || entry.name == b"..";
            if !dots && self.vol.read_inode(entry.inode)?.is_dir() {
                links = links.saturating_add(1);
            }
        }
        let links = if links > LINK_MAX { 1 } else { links };
        if links != inode.links() {
            inode.raw.set_i_links_count(links);
            self.vol.write_inode(&mut inode)?;
            self.inodes.forget(nr);
        }
        Ok(())
    }

    fn replay_add_range(&mut self, nr: InodeNr, range: &Range) -> Result<()> {
        let mut inode = self.inodes.take(&mut self.vol, nr)?;
        let done = self.place_range(&mut inode, range);
        let written = self.vol.write_inode(&mut inode);
        self.inodes.forget(nr);
        done.and(written)
    }

    fn place_range(&mut self, inode: &mut InodeInfo, range: &Range) -> Result<()> {
        if !inode.uses_extents() {
            return Err(self.damaged(inode.nr, "gets a range, but has no extents"));
        }
        let (mut done, vol) = (0, &mut self.vol);
        while done < range.len {
            let lblk = range.lblk.checked_add(done).ok_or(Errno::EFSCORRUPTED)?;
            let want = range.start.plus(done.into());
            let here = map::lookup(vol, inode, Lblk(lblk), range.len - done)?;
            let len = here.len.clamp(1, range.len - done);
            let same = here.state != map::State::Hole && here.start == want;
            if !same {
                let end = u64::from(lblk) + u64::from(len);
                map::remove(vol, inode, lblk.into(), end)?;
                alloc::mark_blocks(vol, want, len.into())?;
                map::place(vol, inode, Lblk(lblk), want, len, range.unwritten)?;
            } else if range.unwritten {
                map::mark_unwritten(vol, inode, Lblk(lblk), len)?;
            } else {
                map::convert_unwritten(vol, inode, Lblk(lblk), len)?;
            }
            done += len;
        }
        Ok(())
    }

    fn replay_del_range(&mut self, nr: InodeNr, lblk: u32, len: u32) -> Result<()> {
        let mut inode = self.inodes.take(&mut self.vol, nr)?;
        let from = u64::from(lblk);
        let done = map::remove(&mut self.vol, &mut inode, from, from + u64::from(len));
        let written = self.vol.write_inode(&mut inode);
        self.inodes.forget(nr);
        done.and(written)
    }

    fn replay_create(&mut self, parent: InodeNr, nr: InodeNr, name: &[u8]) -> Result<()> {
        let mut inode = self.vol.read_inode(nr)?;
        if inode.is_dir() {
            let end = map::max_blocks(&self.vol, &inode);
            map::remove(&mut self.vol, &mut inode, 0, end)?;
            dir::init(&mut self.vol, &mut inode, parent)?;
        }
        // The inode's own tag brings the right number later, where it is another.
        inode.raw.set_i_links_count(1);
        self.vol.write_inode(&mut inode)?;
        self.inodes.forget(nr);
        self.enter_name(parent, &inode, name)
    }

    fn replay_link(&mut self, parent: InodeNr, nr: InodeNr, name: &[u8]) -> Result<()> {
        let mut inode = self.vol.read_inode(nr)?;
        self.enter_name(parent, &inode, name)?;
        inode.raw.set_i_links_count(inode.links().saturating_add(1));
        self.vol.write_inode(&mut inode)?;
        self.inodes.forget(nr);
        Ok(())
    }

    /// A name that is there already, by an earlier replay, is as good as a new one.
    fn enter_name(&mut self, parent: InodeNr, inode: &InodeInfo, name: &[u8]) -> Result<()> {
        let now = self.vol.time();
        let at = self.inodes.get(&mut self.vol, parent)?;
        if !at.is_dir() {
            return Err(self.damaged(parent, "gets a name, but is no directory"));
        }
        if dir::lookup(&mut self.vol, at, name)?.is_none() {
            dir::add(&mut self.vol, at, name, inode.nr, entry_type(inode))?;
            at.touch(now);
        }
        self.vol.write_inode(at)
    }

    /// A name goes only where it leads to the inode that the tag tells.
    fn replay_unlink(&mut self, parent: InodeNr, nr: InodeNr, name: &[u8]) -> Result<()> {
        let now = self.vol.time();
        let at = self.inodes.get(&mut self.vol, parent)?;
        if !at.is_dir() {
            return Err(self.damaged(parent, "loses a name, but is no directory"));
        }
        let found = dir::lookup(&mut self.vol, at, name)?;
        if found.is_none_or(|f| f.inode != nr) {
            return Ok(());
        }
        dir::remove(&mut self.vol, at, name)?;
        at.touch(now);
        self.vol.write_inode(at)?;
        let mut inode = self.vol.read_inode(nr)?;
        // An empty directory is removed with its name.
        let removed = inode.is_dir() && dir::is_empty(&mut self.vol, &inode)?;
        let links = if removed {
            0
        } else {
            inode.links().saturating_sub(1)
        };
        inode.raw.set_i_links_count(links);
        self.vol.write_inode(&mut inode)?;
        inode.orphan = inode.links() == 0;
        if inode.orphan {
            self.inodes.insert(inode);
            return self.evict(nr);
        }
        self.inodes.forget(nr);
        Ok(())
    }

    fn damaged(&mut self, nr: InodeNr, words: &str) -> Errno {
        let words = format!("{words} by a fast commit");
        self.vol.corrupt(Problem::other(Place::Inode(nr), words))
    }
}

/// The bytes of an inode that its tag holds.
fn logged_inode(m: &Mount, log: &Log, tag: &FcTag, bytes: u32) -> Result<Vec<u8>> {
    let holder = m.vol.log_dev.as_ref().unwrap_or(&m.vol.dev);
    let block = log.log().block(&**holder, tag.block);
    let block = block.map_err(|_| Errno::EIO)?;
    let from = tag.offset as usize + FcTagHead::SIZE + FcInode::SIZE;
    let raw = block.get(from..from.saturating_add(bytes as usize));
    // The reader takes no tag with less than an inode's first 128 bytes.
    let raw = raw
        .filter(|raw| raw.len() >= 128)
        .ok_or(Errno::EFSCORRUPTED)?;
    Ok(raw.to_vec())
}
