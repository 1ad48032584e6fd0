//! Flash: blocks, pages as runs, what was moved in this step.

use super::layout::Layout;
use crate::device::Drive;
use crate::device::flash::Flash;
use crate::event::{Event, What};
use serde::{Deserialize, Serialize};

/// Most pages of flash that are looked at one by one; of larger flash blocks are told only.
const PAGES: u64 = 1 << 16;
/// Most blocks that are told of; of more, several are told as one.
const BLOCKS: u32 = 4096;
/// Most moves and erases of a step that are told.
const MOVES: usize = 256;

/// What kind of flash.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum FlashKind {
    /// A page map.
    #[default]
    Ssd,
    /// A map of blocks.
    BlockMapped,
    /// A card: its blocks are segments.
    Card,
}

/// What a block is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum BlockState {
    /// Erased.
    Free,
    /// Being filled; of a card, the new place of an open segment.
    Open,
    /// Filled.
    Full,
    /// The old place of a segment that is open.
    Old,
    /// Of a card's FAT area.
    Fat,
    /// Broken.
    Bad,
}

/// What a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PageState {
    /// Nothing was programmed since the last erase.
    Erased,
    /// It holds what the host last wrote.
    Valid,
    /// What it holds is out of date.
    Stale,
    /// It is broken.
    Bad,
}

/// Flash at an instant.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FlashView {
    /// What kind.
    pub kind: FlashKind,
    /// What it is called.
    pub name: String,
    /// Bytes of a page.
    pub page: u64,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Physical blocks.
    pub blocks: u32,
    /// Pages that the host sees.
    pub logical_pages: u64,
    /// Where on the medium the partition begins, bytes.
    pub start: u64,
    /// Dies, across which a block lies.
    pub dies: u32,
    /// Blocks told as one.
    pub grain: u32,
    /// The blocks, in order.
    pub each: Vec<BlockView>,
    /// The pages, in order, where there are not too many.
    pub runs: Vec<PageRun>,
    /// Of a card: its segments.
    pub card: Option<CardView>,
    /// Pages moved in this step.
    pub moves: Vec<Move>,
    /// Blocks erased in this step.
    pub erased: Vec<u32>,
    /// Pages programmed since the start.
    pub programmed: u64,
    /// Of those, pages copied.
    pub copied: u64,
    /// Blocks erased since the start.
    pub erases: u64,
    /// Pages programmed for each that the host wrote, in thousandths.
    pub amplification: u64,
    /// Erased blocks.
    pub free_blocks: u64,
    /// Blocks that broke.
    pub bad_blocks: u64,
    /// Pages of the map read and written for want of memory.
    pub map_traffic: (u64, u64),
    /// Parts of the partition, in bytes, that a power cut may take: offset and length.
    pub unsafe_bytes: Vec<(u64, u64)>,
}

/// A block, or several.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlockView {
    /// The first one.
    pub first: u32,
    /// What it is; of several, what most wants to be seen.
    pub state: BlockState,
    /// Pages that hold what the host last wrote.
    pub valid: u32,
    /// Pages that hold what is out of date.
    pub stale: u32,
    /// Erases; of several, the most.
    pub erases: u32,
    /// Which kind of data: 1 where it is hot.
    pub stream: u8,
    /// The logical block or segment that it holds.
    pub logical: Option<u32>,
}

/// Pages that follow each other and come from the same write.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageRun {
    /// First physical page.
    pub first: u32,
    /// How many.
    pub len: u32,
    /// What they are.
    pub state: PageState,
    /// First logical page.
    pub logical: Option<u64>,
    /// The event that they were written because of; `None`: before the run began.
    pub cause: Option<u64>,
    /// When they were programmed first, ns; `None`: before the run began.
    pub at_ns: Option<u64>,
    /// How often they were copied since.
    pub moves: u32,
}

/// A card's segments.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CardView {
    /// Bytes of a segment.
    pub segment: u64,
    /// Segments that can be open at a time.
    pub most_open: u32,
    /// Segments of the FAT area.
    pub fat: u32,
    /// Open ones: the one used longest ago first.
    pub open: Vec<OpenView>,
}

/// A segment that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct OpenView {
    /// Which.
    pub segment: u32,
    /// Where its contents are.
    pub old: u32,
    /// Where new pages go.
    pub new: u32,
    /// Pages programmed there.
    pub fill: u32,
    /// It is of the FAT area.
    pub fat: bool,
}

/// Pages that were copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Move {
    /// First physical page that was read.
    pub from: u64,
    /// First physical page that was programmed.
    pub to: u64,
    /// How many.
    pub len: u32,
}

pub(super) fn flash(drive: &Drive, flash: &Flash, events: &[Event]) -> FlashView {
    let layout = Layout::of(flash);
    let totals = drive.flash_totals();
    let (blocks, per_block) = (layout.blocks(), layout.pages_per_block().max(1));
    let pages = u64::from(blocks) * u64::from(per_block);
    let runs = match pages <= PAGES {
        true => runs(drive, &layout),
        false => Vec::new(),
    };
    let grain = blocks.div_ceil(BLOCKS).max(1);
    let each = each(drive, &layout, &runs, grain);
    let (moves, erased) = moved(events);
    let unsafe_bytes = drive.unstable().take(MOVES).map(|w| {
        let len: u64 = w.data.iter().map(|d| d.1).sum();
        (w.offset, len)
    });
    let mut view = FlashView {
        page: flash.page(),
        pages_per_block: per_block,
        blocks,
        logical_pages: layout.logical_pages(),
        start: drive.start(),
        dies: 1,
        grain,
        bad_blocks: each.iter().filter(|b| b.state == BlockState::Bad).count() as u64,
        each,
        runs,
        moves,
        erased,
        programmed: totals.programmed,
        copied: totals.copied,
        erases: totals.erases,
        amplification: totals.amplification(),
        free_blocks: flash.free_blocks(),
        unsafe_bytes: unsafe_bytes.collect(),
        ..FlashView::default()
    };
    named(&mut view, flash);
    view
}

fn named(view: &mut FlashView, flash: &Flash) {
    match flash {
        Flash::Ssd(d) => {
            view.name.clone_from(&d.spec().words);
            view.dies = d.spec().dies;
            view.bad_blocks = d.ftl().stats().bad_blocks.into();
            view.map_traffic = (d.stats().map_reads, d.stats().map_writes);
        }
        Flash::BlockMapped(_) => {
            view.kind = FlashKind::BlockMapped;
            view.name = "a first-generation SSD: a map of erase blocks".into();
        }
        Flash::Card(d) => {
            view.kind = FlashKind::Card;
            view.name.clone_from(&d.spec().words);
            let old = |nr: u32| d.segments().get(nr as usize).map_or(0, |s| s.physical);
            let open = d.open().map(|o| OpenView {
                segment: o.segment,
                old: old(o.segment),
                new: o.new,
                fill: o.fill,
                fat: d.is_fat(o.segment),
            });
            view.card = Some(CardView {
                segment: d.spec().segment,
                most_open: d.spec().open,
                fat: d.spec().fat_segments,
                open: open.collect(),
            });
        }
    }
}

fn runs(drive: &Drive, layout: &Layout<'_>) -> Vec<PageRun> {
    let per_block = layout.pages_per_block();
    let mut runs: Vec<PageRun> = Vec::new();
    for block in 0..layout.blocks() {
        for page in 0..per_block {
            let (state, logical) = layout.page(block, page);
            let origin = logical.and_then(|l| drive.origin(l));
            let next = PageRun {
                first: block * per_block + page,
                len: 1,
                state,
                logical,
                cause: origin.and_then(|o| o.cause).map(|c| c.0),
                at_ns: origin.map(|o| o.at.0),
                moves: origin.map_or(0, |o| o.moves),
            };
            match runs.last_mut() {
                Some(last) if page > 0 && goes_on(last, &next) => last.len += 1,
                _ => runs.push(next),
            }
        }
    }
    runs
}

fn goes_on(last: &PageRun, next: &PageRun) -> bool {
    last.state == next.state
        && last.logical.map(|l| l + u64::from(last.len)) == next.logical
        && (last.cause, last.at_ns, last.moves) == (next.cause, next.at_ns, next.moves)
}

fn each(drive: &Drive, layout: &Layout<'_>, runs: &[PageRun], grain: u32) -> Vec<BlockView> {
    let per_block = layout.pages_per_block().max(1);
    let mut counted = vec![(0u32, 0u32); layout.blocks().div_ceil(grain) as usize];
    for run in runs {
        let at = run.first / per_block / grain;
        if let Some((valid, stale)) = counted.get_mut(at as usize) {
            *valid += if run.state == PageState::Valid {
                run.len
            } else {
                0
            };
            *stale += if run.state == PageState::Stale {
                run.len
            } else {
                0
            };
        }
    }
    let one = |(i, (valid, stale)): (u32, (u32, u32))| {
        let first = i * grain;
        let all = first..(first + grain).min(layout.blocks());
        let held = layout.block(first);
        let states = all.clone().map(|nr| layout.block(nr).state);
        let (valid, stale) = match (runs.is_empty(), layout) {
            (true, Layout::Ssd(d)) => {
                let blocks = d.ftl().blocks().get(all.start as usize..all.end as usize);
                let blocks = blocks.unwrap_or_default();
                let valid: u32 = blocks.iter().map(|b| u32::from(b.valid)).sum();
                let filled: u32 = blocks.iter().map(|b| u32::from(b.filled)).sum();
                (valid, filled.saturating_sub(valid))
            }
            _ => (valid, stale),
        };
        let worn = |nr| match layout {
            Layout::Ssd(d) => d.ftl().blocks().get(nr as usize).map_or(0, |b| b.erases),
            _ => drive.erases(nr),
        };
        BlockView {
            first,
            state: states.max().unwrap_or(held.state),
            valid,
            stale,
            erases: all.map(worn).max().unwrap_or(0),
            stream: held.stream,
            logical: held.logical,
        }
    };
    (0..).zip(counted).map(one).collect()
}

fn moved(events: &[Event]) -> (Vec<Move>, Vec<u32>) {
    let (mut moves, mut erased) = (Vec::new(), Vec::new());
    for e in events {
        match e.what {
            What::FlashProgrammed {
                page,
                from: Some(from),
                len,
                ..
            } if moves.len() < MOVES => moves.push(Move {
                from,
                to: page,
                len,
            }),
            What::FlashErased { block } if erased.len() < MOVES => erased.push(block),
            _ => {}
        }
    }
    (moves, erased)
}
