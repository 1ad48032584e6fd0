//! Contents in memory: which pages are dirty, which have no address yet.

use crate::kernel::{InodeInfo, Page};
use crate::machine::Machine;
use crate::units::InodeNr;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Most files that are shown.
const FILES: usize = 32;
/// Most runs of pages of a file.
const RUNS: usize = 256;
/// Most pages that are looked at for that.
const PAGES: usize = 65_536;

/// What becomes of a page's contents if the power fails, by where they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum PageState {
    /// The device was sent the same.
    Clean,
    /// On the way to the device.
    Writing,
    /// Newer than the device's; its block is known.
    Dirty,
    /// Newer than the device's, and without a block: only promised one.
    Delayed,
}

/// Pages next to each other in the same state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageRun {
    /// The first.
    pub first: u32,
    /// How many.
    pub len: u32,
    /// Their state.
    pub state: PageState,
}

/// A file in memory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FileView {
    /// Its inode.
    pub inode: u32,
    /// Bytes as calls see it.
    pub size: u64,
    /// Bytes that the disk may know of.
    pub disk_size: u64,
    /// Names.
    pub links: u16,
    /// Descriptors that refer to it.
    pub opens: u32,
    /// Dirty pages.
    pub dirty: u32,
    /// Blocks that are only promised.
    pub delayed: u32,
    /// When the oldest dirty page became so, ns.
    pub since_ns: Option<u64>,
    /// Its pages, in order.
    pub pages: Vec<PageRun>,
    /// There are more pages than those.
    pub more: bool,
}

/// Files of which memory has something that matters, dirty ones first, and how many more.
pub(super) fn files(machine: &Machine, chosen: Option<InodeNr>) -> (Vec<FileView>, u64) {
    let mount = machine.mount();
    let flying: Vec<_> = mount.in_flight().collect();
    let mut wanted: Vec<InodeNr> = chosen.into_iter().collect();
    wanted.extend(mount.dirty_inodes());
    wanted.extend(flying.iter().map(|f| f.0));
    wanted.extend(mount.open_files().map(|f| f.inode));
    let mut seen = BTreeSet::new();
    wanted.retain(|nr| seen.insert(*nr));
    let more = wanted.len().saturating_sub(FILES) as u64;
    let view = |nr: &InodeNr| {
        let inode = mount.cached_inode(*nr).filter(|i| !i.is_dir())?;
        let runs: Vec<(u32, u32)> = flying
            .iter()
            .filter(|f| f.0 == *nr)
            .map(|f| (f.1.0, f.2))
            .collect();
        Some(file(inode, &runs))
    };
    (wanted.iter().take(FILES).filter_map(view).collect(), more)
}

fn file(inode: &InodeInfo, flying: &[(u32, u32)]) -> FileView {
    let mut pages: Vec<PageRun> = Vec::new();
    let mut more = false;
    for (seen, (lblk, page)) in inode.pages.range(0, u64::MAX).enumerate() {
        let state = state(page, lblk.0, flying);
        let joins = |last: &&mut PageRun| last.state == state && last.first + last.len == lblk.0;
        if let Some(last) = pages.last_mut().filter(joins) {
            last.len += 1;
            continue;
        }
        if pages.len() == RUNS || seen >= PAGES {
            more = true;
            break;
        }
        pages.push(PageRun {
            first: lblk.0,
            len: 1,
            state,
        });
    }
    FileView {
        inode: inode.nr.0,
        size: inode.size,
        disk_size: inode.disk_size(),
        links: inode.links(),
        opens: inode.opens,
        dirty: inode.pages.dirty_count(),
        delayed: inode.delayed,
        since_ns: inode.pages.oldest_dirty().map(|t| t.0),
        pages,
        more,
    }
}

fn state(page: &Page, lblk: u32, flying: &[(u32, u32)]) -> PageState {
    let flies = |(first, len): &(u32, u32)| lblk >= *first && lblk - first < *len;
    match &page.dirty {
        Some(_) if page.delayed => PageState::Delayed,
        Some(_) => PageState::Dirty,
        None if flying.iter().any(flies) => PageState::Writing,
        None => PageState::Clean,
    }
}
