//! The block map alone, on a made-up filesystem: to look at it, and to measure it.
//!
//! What is shown stands in the address: `#blocks=2000000&runs=200000`. Keys: `blocks`,
//! `group` (blocks of one), `first`, `flex`, `runs` (about so many), `full` (percent in
//! use), `inode` (one to choose), `block` (one to choose), `partial=1`, `damage=1`.

use std::collections::HashMap;
use std::rc::Rc;

use fslab_engine::view::owners::{Flags, Kind};
use fslab_web::kinds::KindSet;
use fslab_web::owner_map::OwnerMap;
use fslab_web::views::block_map::{BlockMap, Geometry, Highlight, Legend, Totals, blocks_of};
use yew::prelude::*;

fn main() {
    console_error_panic_hook::set_once();
    yew::Renderer::<Demo>::new().render();
}

/// What the address asks for.
struct Wishes(HashMap<String, u64>);

impl Wishes {
    fn read() -> Self {
        let hash = gloo::utils::window().location().hash().unwrap_or_default();
        let pairs = hash.trim_start_matches('#').split('&');
        Self(
            pairs
                .filter_map(|pair| pair.split_once('='))
                .filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?)))
                .collect(),
        )
    }

    fn get(&self, key: &str, otherwise: u64) -> u64 {
        self.0.get(key).copied().unwrap_or(otherwise)
    }
}

#[component]
fn Demo() -> Html {
    let wishes = use_memo((), |()| Wishes::read());
    let geometry = Geometry::new(
        wishes.get("blocks", 16_384),
        wishes.get("first", 0),
        wishes.get("group", 32_768) as u32,
        wishes.get("flex", 16) as u32,
    );
    let map = use_memo((), |()| make(&geometry, &wishes));
    let totals = use_memo((), |()| Totals::of(&map));
    let filter = use_state(KindSet::default);
    let highlight = use_state(|| Highlight {
        block: wishes.0.get("block").copied(),
        blocks: blocks_of(&map, wishes.get("inode", 0) as u32),
        group: None,
    });
    let on_select = {
        let (map, highlight) = (map.clone(), highlight.clone());
        Callback::from(move |block| {
            let inode = map.at(block).and_then(|run| run.inode);
            highlight.set(Highlight {
                block: Some(block),
                blocks: blocks_of(&map, inode.unwrap_or(0)),
                group: None,
            });
        })
    };
    let on_group = {
        let highlight = highlight.clone();
        Callback::from(move |group| {
            highlight.set(Highlight {
                group: Some(group),
                ..Highlight::default()
            });
        })
    };
    let on_filter = {
        let filter = filter.clone();
        Callback::from(move |to| filter.set(to))
    };
    let partial = wishes.get("partial", 0) == 1;
    html! {
        <section class="picture map" style="display:flex;flex-direction:column;height:100dvh">
            <Legend totals={*totals} filter={*filter} {on_filter} {partial} />
            <BlockMap {geometry} map={Rc::clone(&map)} {partial} filter={*filter}
                highlight={(*highlight).clone()} {on_select} {on_group} />
        </section>
    }
}

/// Numbers that look random (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides.max(1)
    }
}

/// A map being made, in the order of blocks.
struct Maker<'a> {
    map: OwnerMap,
    at: u64,
    end: u64,
    dice: Dice,
    wishes: &'a Wishes,
    inode: u32,
}

impl Maker<'_> {
    fn push(&mut self, len: u64, kind: Kind, inode: u32, flags: Flags) {
        let len = len.min(self.end - self.at);
        if len > 0 {
            self.map.starts.push(self.at as f64);
            self.map.lengths.push(len as u32);
            self.map.inodes.push(inode);
            self.map.kinds.push(kind as u8);
            self.map.flags.push(flags.bits());
            self.at += len;
        }
    }

    fn plain(&mut self, len: u64, kind: Kind) {
        self.push(len, kind, 0, Flags::empty());
    }

    /// What mke2fs puts in front of the first group of a flex group.
    fn metadata(&mut self, group: u64, geometry: &Geometry) {
        let backup = group > 0;
        let flags = if backup {
            Flags::BACKUP
        } else {
            Flags::empty()
        };
        let has_super = group < 2 || [3, 5, 7, 9, 25, 27, 49, 81].contains(&group);
        if has_super {
            self.push(1, Kind::Superblock, 0, flags);
            self.push((geometry.groups / 128).max(1), Kind::Descriptors, 0, flags);
            self.plain((geometry.per_group / 160).max(1), Kind::ReservedDescriptors);
        }
        if group.is_multiple_of(geometry.flex) {
            let groups = geometry.flex.min(geometry.groups - group);
            self.plain(groups, Kind::BlockBitmap);
            self.plain(groups, Kind::InodeBitmap);
            self.plain(groups * (geometry.per_group / 64), Kind::InodeTable);
        }
        if group == geometry.groups / 2 {
            self.push(
                (geometry.blocks / 32).clamp(64, 32_768),
                Kind::Journal,
                8,
                Flags::empty(),
            );
        }
    }

    fn file(&mut self, longest: u64, full: u64) {
        if self.dice.roll(100) >= full {
            let len = 1 + self.dice.roll(2 * longest);
            return self.plain(len, Kind::Free);
        }
        self.inode += u32::from(self.dice.roll(3) > 0);
        let (kind, len) = match self.dice.roll(60) {
            0..=5 => (Kind::Directory, 1),
            6 => (Kind::Htree, 1),
            7..=9 => (Kind::ExtentIndex, 1),
            10 => (Kind::Indirect, 1),
            11 => (Kind::Xattr, 1),
            12 => (Kind::Symlink, 1),
            13 => (Kind::Internal, 1 + self.dice.roll(6)),
            14 if self.wishes.get("damage", 0) == 1 => (Kind::Twice, 1 + self.dice.roll(3)),
            15 if self.wishes.get("damage", 0) == 1 => (Kind::Unowned, 1 + self.dice.roll(3)),
            _ => (Kind::Data, 1 + self.dice.roll(2 * longest)),
        };
        let flags = match (kind, self.dice.roll(40)) {
            (Kind::Data, 0..=2) => Flags::UNWRITTEN,
            (Kind::Data, 3) => Flags::SLACK,
            (Kind::Data | Kind::Xattr, 4) => Flags::SHARED,
            (Kind::Data, 5) if self.wishes.get("damage", 0) == 1 => Flags::MARKED_FREE,
            _ => Flags::empty(),
        };
        let inode = if matches!(kind, Kind::Twice | Kind::Unowned) {
            0
        } else {
            self.inode
        };
        self.push(len, kind, inode, flags);
    }
}

fn make(geometry: &Geometry, wishes: &Wishes) -> OwnerMap {
    let runs = wishes.get("runs", 300).max(1);
    let longest = (geometry.blocks / runs).max(1);
    let mut maker = Maker {
        map: OwnerMap::default(),
        at: 0,
        end: geometry.blocks,
        dice: Dice(wishes.get("seed", 1)),
        wishes,
        inode: 11,
    };
    maker.plain(geometry.first, Kind::Boot);
    for group in 0..geometry.groups {
        let end = geometry.end(group);
        if maker.at >= end {
            continue;
        }
        maker.end = end;
        // Some groups are full, some are not.
        let full = wishes.get("full", 55) * (50 + maker.dice.roll(80)) / 100;
        maker.metadata(group, geometry);
        while maker.at < end {
            maker.file(longest, full);
        }
    }
    maker.map
}
