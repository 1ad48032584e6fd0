//! The inode cache.

use super::buffer::Table;
use super::{Errno, InodeInfo, Result, Volume};
use crate::ext4::layout::FileType;
use crate::ext4::{Place, Problem};
use crate::units::InodeNr;
use std::sync::Arc;

/// Inodes in memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Inodes {
    table: Table<u32, Arc<InodeInfo>>,
    /// Those with dirty pages.
    dirty: imbl::OrdSet<u32>,
}

impl Inodes {
    /// An inode, read where it is not in memory. A deleted one is damage: whoever asks
    /// found its number in a directory.
    pub(super) fn get(&mut self, vol: &mut Volume, nr: InodeNr) -> Result<&mut InodeInfo> {
        if !self.table.contains_key(&nr.0) {
            let inode = vol.read_inode(nr)?;
            check(vol, &inode)?;
            self.table.insert(nr.0, Arc::new(inode));
        }
        self.loaded(nr)
    }

    /// An inode that is in memory.
    pub(super) fn loaded(&mut self, nr: InodeNr) -> Result<&mut InodeInfo> {
        let inode = self.table.get_mut(&nr.0).ok_or(Errno::EIO)?;
        Ok(Arc::make_mut(inode))
    }

    /// An inode for reading.
    pub(super) fn peek(&mut self, vol: &mut Volume, nr: InodeNr) -> Result<Arc<InodeInfo>> {
        if let Some(inode) = self.table.get(&nr.0) {
            return Ok(inode.clone());
        }
        self.get(vol, nr)?;
        self.table.get(&nr.0).cloned().ok_or(Errno::EIO)
    }

    /// An inode, if it is in memory.
    pub(super) fn cached(&self, nr: InodeNr) -> Option<&Arc<InodeInfo>> {
        self.table.get(&nr.0)
    }

    /// Puts a new inode in.
    pub(super) fn insert(&mut self, inode: InodeInfo) {
        self.note_dirty(&inode);
        self.table.insert(inode.nr.0, Arc::new(inode));
    }

    /// Takes an inode out, to be put back by [`Inodes::insert`] or given up.
    pub(super) fn take(&mut self, vol: &mut Volume, nr: InodeNr) -> Result<InodeInfo> {
        self.get(vol, nr)?;
        let inode = self.table.remove(&nr.0).ok_or(Errno::EIO)?;
        Ok(Arc::unwrap_or_clone(inode))
    }

    /// Gives an inode up.
    pub(super) fn forget(&mut self, nr: InodeNr) {
        self.table.remove(&nr.0);
        self.dirty.remove(&nr.0);
    }

    /// Remembers whether an inode has dirty pages.
    pub(super) fn note_dirty(&mut self, inode: &InodeInfo) {
        self.mark_dirty(inode.nr, inode.pages.dirty_count() > 0);
    }

    /// Remembers whether an inode has dirty pages.
    pub(super) fn mark_dirty(&mut self, nr: InodeNr, dirty: bool) {
        if !dirty {
            self.dirty.remove(&nr.0);
        } else if !self.dirty.contains(&nr.0) {
            self.dirty.insert(nr.0);
        }
    }

    /// Whether any inode has dirty pages.
    pub(super) fn any_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Dirty pages of all inodes.
    pub(super) fn dirty_pages(&self) -> u64 {
        let count = |nr: &u32| self.table.get(nr).map_or(0, |i| i.pages.dirty_count());
        self.dirty.iter().map(|nr| u64::from(count(nr))).sum()
    }

    /// Inodes with dirty pages, by their numbers.
    pub(super) fn dirty(&self) -> Vec<InodeNr> {
        self.dirty.iter().map(|&n| InodeNr(n)).collect()
    }

    /// Inodes that match, by their numbers.
    pub(super) fn matching(&self, which: impl Fn(&InodeInfo) -> bool) -> Vec<InodeNr> {
        let mut all: Vec<InodeNr> = self
            .table
            .values()
            .filter(|i| which(i))
            .map(|i| i.nr)
            .collect();
        all.sort_unstable();
        all
    }
}

/// Refuses an inode that no directory may name.
fn check(vol: &mut Volume, inode: &InodeInfo) -> Result<()> {
    let place = Place::Inode(inode.nr);
    if inode.links() == 0 && !inode.orphan {
        return Err(vol.corrupt(Problem::other(place, "is named, but deleted")));
    }
    if inode.file_type() == FileType::Unknown {
        let mode = inode.raw.i_mode();
        return Err(vol.corrupt(Problem::value(
            place,
            "i_mode",
            mode,
            "a type that ext4 knows",
        )));
    }
    let size = usize::from(vol.geo.inode_size);
    let extra = usize::from(inode.raw.i_extra_isize());
    if size > 128 && (extra > size - 128 || !extra.is_multiple_of(4)) {
        let most = format!("a multiple of 4, at most {}", size - 128);
        return Err(vol.corrupt(Problem::value(place, "i_extra_isize", extra as u64, most)));
    }
    if inode.raw.size() > i64::MAX as u64 {
        let size = inode.raw.size();
        return Err(vol.corrupt(Problem::value(place, "i_size", size, "less than 2^63")));
    }
    Ok(())
}
