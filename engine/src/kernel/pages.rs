//! The page cache of one file, in units of a block.

use crate::disk::Data;
use crate::units::{Lblk, SimTime};
use smallvec::SmallVec;
use std::sync::Arc;

/// Blocks of a chunk, which is what clones share.
const CHUNK: u32 = 256;

/// One block of a file's contents in memory.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its contents, where the disk has others. A clean page's are read from the disk.
    pub dirty: Option<Data>,
    /// It has no block on disk yet, but the promise of one.
    pub delayed: bool,
    /// When it became dirty.
    pub since: SimTime,
}

/// All blocks of a file that are in memory.
#[derive(Clone, Debug, Default)]
pub struct Pages {
    /// By their numbers. Most files have one, so that no tree is worth its first node.
    chunks: SmallVec<[(u32, Arc<Chunk>); 1]>,
    dirty: u32,
}

/// Pages by their blocks. A single one needs no list of its own.
type Chunk = SmallVec<[(u32, Page); 1]>;

impl Pages {
    fn chunk(&self, lblk: Lblk) -> Result<usize, usize> {
        self.chunks.binary_search_by_key(&(lblk.0 / CHUNK), |c| c.0)
    }

    /// A page.
    pub fn get(&self, lblk: Lblk) -> Option<&Page> {
        let chunk = &self.chunks[self.chunk(lblk).ok()?].1;
        let at = chunk.binary_search_by_key(&lblk.0, |p| p.0).ok()?;
        Some(&chunk[at].1)
    }

    /// Puts a page in the place of what was there.
    pub fn put(&mut self, lblk: Lblk, page: Page) {
        let place = self.chunk(lblk).unwrap_or_else(|at| {
            self.chunks.insert(at, (lblk.0 / CHUNK, Arc::default()));
            at
        });
        let chunk = Arc::make_mut(&mut self.chunks[place].1);
        self.dirty += u32::from(page.dirty.is_some());
        match chunk.binary_search_by_key(&lblk.0, |p| p.0) {
            Ok(at) => {
                self.dirty -= u32::from(chunk[at].1.dirty.is_some());
                chunk[at].1 = page;
            }
            Err(at) => chunk.insert(at, (lblk.0, page)),
        }
    }

    /// Takes a page out.
    pub fn remove(&mut self, lblk: Lblk) -> Option<Page> {
        let place = self.chunk(lblk).ok()?;
        let chunk = &mut self.chunks[place].1;
        let at = chunk.binary_search_by_key(&lblk.0, |p| p.0).ok()?;
        let (_, page) = Arc::make_mut(chunk).remove(at);
        if chunk.is_empty() {
            self.chunks.remove(place);
        }
        self.dirty -= u32::from(page.dirty.is_some());
        Some(page)
    }

    /// Marks a page as written; its contents, where it was dirty.
    pub fn clean(&mut self, lblk: Lblk) -> Option<Data> {
        let place = self.chunk(lblk).ok()?;
        let chunk = &mut self.chunks[place].1;
        let at = chunk.binary_search_by_key(&lblk.0, |p| p.0).ok()?;
        let page = &mut Arc::make_mut(chunk)[at].1;
        let data = page.dirty.take()?;
        page.delayed = false;
        self.dirty -= 1;
        Some(data)
    }

    /// When the page that has been dirty for longest became so.
    pub fn oldest_dirty(&self) -> Option<SimTime> {
        let pages = self.chunks.iter().flat_map(|(_, c)| c.iter());
        pages
            .filter(|(_, p)| p.dirty.is_some())
            .map(|(_, p)| p.since)
            .min()
    }

    /// Dirty pages.
    pub fn dirty_count(&self) -> u32 {
        self.dirty
    }

    /// Pages from `from` up to, not including, `to`, in order.
    pub fn range(&self, from: u64, to: u64) -> impl Iterator<Item = (Lblk, &Page)> {
        let first = (from / u64::from(CHUNK)).min(u64::from(u32::MAX)) as u32;
        let place = self.chunks.partition_point(|c| c.0 < first);
        self.chunks[place..]
            .iter()
            .flat_map(|(_, chunk)| chunk.iter())
            .skip_while(move |(n, _)| u64::from(*n) < from)
            .take_while(move |(n, _)| u64::from(*n) < to)
            .map(|(n, page)| (Lblk(*n), page))
    }

    /// The first dirty page at or after `from`.
    pub fn next_dirty(&self, from: u64) -> Option<(Lblk, &Page)> {
        self.range(from, u64::MAX).find(|(_, p)| p.dirty.is_some())
    }
}
