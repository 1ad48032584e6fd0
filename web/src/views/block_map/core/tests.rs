//! Properties of the map at every zoom.

use std::ops::Range;

use fslab_engine::view::owners::{Flags, Kind};

use super::axis::Axis;
use super::camera::Camera;
use super::geometry::Geometry;
use super::highlight::{Highlight, blocks_of};
use super::layout::{Layout, Screen};
use super::palette::{Inks, Palette};
use super::raster::{Frame, Level, Scene, Scratch};
use super::shares::{Shares, Totals, WHOLE};
use super::steps::{Step, step};
use crate::kinds::KindSet;
use crate::owner_map::OwnerMap;

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

fn palette() -> Palette {
    Palette {
        // All different, and none of those below.
        kinds: std::array::from_fn(|i| [10 + i as u8, 100, 200]),
        ground: [1, 1, 1],
        ink: [2, 2, 2],
        soft: [3, 3, 3],
        line: [4, 4, 4],
        selection: [5, 5, 5],
        damage: [6, 6, 6],
    }
}

fn random_map(geometry: &Geometry, longest: u64, dice: &mut Dice) -> OwnerMap {
    let mut map = OwnerMap::default();
    let mut at = 0;
    while at < geometry.blocks {
        let len = (1 + dice.roll(longest)).min(geometry.blocks - at);
        let kind = dice.roll(Kind::COUNT as u64) as u8;
        push(&mut map, at, len as u32, kind, dice.roll(32) as u8);
        at += len;
    }
    map
}

fn push(map: &mut OwnerMap, start: u64, len: u32, kind: u8, flags: u8) {
    map.starts.push(start as f64);
    map.lengths.push(len);
    map.inodes.push(u32::from(kind > 7) * 12);
    map.kinds.push(kind);
    map.flags.push(flags);
}

struct Picture {
    pixels: Vec<u32>,
    level: Level,
}

fn paint(layout: &Layout, camera: Camera, map: &OwnerMap, inks: &Inks) -> Picture {
    let plan = layout.at(camera.cell);
    let mut shares = Shares::new(layout.geometry, inks.partial);
    shares.advance(map, usize::MAX);
    let (w, h) = (layout.screen.width as usize, layout.screen.height as usize);
    let mut pixels = vec![0; w * h];
    let scene = Scene {
        map,
        plan: &plan,
        camera,
        inks,
        shares: &shares,
        glyphs: None,
    };
    let level = scene.draw(&mut Frame::new(&mut pixels, w), &mut Scratch::default());
    Picture { pixels, level }
}

const SCREENS: [(f64, f64, f64); 4] = [
    (770.0, 330.0, 1.0),
    (390.0, 500.0, 3.0),
    (1400.0, 700.0, 2.0),
    (40.0, 30.0, 1.0),
];

fn geometries() -> Vec<Geometry> {
    vec![
        Geometry::new(64, 1, 8192, 1),
        Geometry::new(16_384, 0, 32_768, 16),
        Geometry::new(20_000, 1, 8192, 1),
        Geometry::new(40_000, 0, 2048, 16),
        Geometry::new(9_999, 0, 256, 4),
    ]
}

fn screen((width, height, unit): (f64, f64, f64)) -> Screen {
    Screen {
        width,
        height,
        unit,
    }
}

/// Cells from everything on the screen to a few.
fn zooms(layout: &Layout) -> Vec<f64> {
    let (least, most) = layout.zooms();
    (0..=14)
        .map(|i| layout.snap(least * (most / least).powf(f64::from(i) / 14.0)))
        .collect()
}

#[test]
fn everything_is_in_sight_at_first() {
    for geometry in geometries() {
        for size in SCREENS.map(screen).into_iter().take(3) {
            let layout = Layout::fitting(geometry, size);
            let plan = layout.at(layout.fit);
            assert!(
                plan.x.total() <= size.width && plan.y.total() <= size.height,
                "{layout:?}"
            );
            // And it makes some use of the room.
            let area = plan.x.total() * plan.y.total();
            assert!(
                area > 0.45 * size.width * size.height || layout.fit > 20.0,
                "{layout:?}"
            );
        }
    }
}

#[test]
fn a_block_is_where_it_is_found() {
    for geometry in geometries() {
        for size in SCREENS.map(screen) {
            let layout = Layout::fitting(geometry, size);
            for cell in zooms(&layout) {
                let plan = layout.at(cell);
                let mut dice = Dice(7);
                for _ in 0..200 {
                    let block = dice.roll(geometry.blocks);
                    let (x, y) = plan.corner(block).unwrap();
                    let middle = (x + cell / 2.0, y + cell / 2.0);
                    assert_eq!(plan.block_at(middle.0, middle.1), Some(block));
                }
            }
        }
    }
}

#[test]
fn groups_follow_each_other_and_never_overlap() {
    for geometry in geometries() {
        let layout = Layout::fitting(geometry, screen(SCREENS[0]));
        let plan = layout.at(layout.fit);
        for group in 1..geometry.groups {
            let (before, now) = (plan.tile(group - 1), plan.tile(group));
            let beside = now.1 == before.1 && now.0 >= before.0 + plan.x.size + 1.0;
            let below = now.1 >= before.1 + plan.y.size + 1.0 && now.0 == plan.tile(0).0;
            assert!(beside || below, "group {group} in {layout:?}");
        }
    }
}

/// Every pixel in the middle of a block has the colour of what the block is.
#[test]
fn every_block_in_sight_has_its_colour() {
    let mut dice = Dice(1);
    for geometry in geometries() {
        let map = random_map(&geometry, 40, &mut dice);
        let inks = palette().inks(KindSet::default(), false);
        for size in SCREENS.map(screen) {
            let layout = Layout::fitting(geometry, size);
            for cell in zooms(&layout) {
                check_colours(&layout, cell, &map, &inks, &mut dice);
            }
        }
    }
}

fn check_colours(layout: &Layout, cell: f64, map: &OwnerMap, inks: &Inks, dice: &mut Dice) {
    let at = (dice.roll(100_000) as f64, dice.roll(100_000) as f64);
    let camera = Camera {
        cell,
        x: at.0,
        y: at.1,
    }
    .clamped(layout);
    let picture = paint(layout, camera, map, inks);
    if picture.level != Level::Squares {
        return;
    }
    let plan = layout.at(cell);
    let (w, h) = (layout.screen.width as i64, layout.screen.height as i64);
    let mut seen = 0;
    for y in 0..h {
        for x in 0..w {
            let point = (camera.x + x as f64 + 0.5, camera.y + y as f64 + 0.5);
            let painted = picture.pixels[(y * w + x) as usize];
            let Some(block) = plan.block_at(point.0, point.1) else {
                assert_eq!(painted, inks.ground, "nothing is at {x}, {y} in {layout:?}");
                continue;
            };
            let rect = plan.rect(block, camera.origin()).unwrap();
            assert!((rect.x..rect.x + rect.w).contains(&x), "{rect:?} {x}");
            assert!((rect.y..rect.y + rect.h).contains(&y), "{rect:?} {y}");
            let run = map.at(block).unwrap();
            // Squares without marks, away from their gaps.
            let edge = x >= rect.x + rect.w - plan.gap() || y >= rect.y + rect.h - plan.gap();
            if run.flags.is_empty() && run.kind < Kind::Unowned && !edge {
                assert_eq!(
                    painted,
                    inks.fill(run.kind, run.flags),
                    "block {block} at {cell}"
                );
                seen += 1;
            }
        }
    }
    let _ = seen;
}

#[test]
fn in_the_pixel_of_several_blocks_the_rarest_shows() {
    let geometry = Geometry::new(32_768, 0, 32_768, 1);
    let mut map = OwnerMap::default();
    push(&mut map, 0, 1000, Kind::Data as u8, 0);
    push(&mut map, 1000, 1, Kind::Superblock as u8, 0);
    push(&mut map, 1001, 31_767, Kind::Free as u8, 0);
    let inks = palette().inks(KindSet::default(), false);
    // Half a pixel a block.
    let layout = Layout::fitting(geometry, screen((160.0, 70.0, 1.0)));
    assert!((0.34..1.0).contains(&layout.fit), "{layout:?}");
    let picture = paint(&layout, Camera::fit(&layout), &map, &inks);
    assert_eq!(picture.level, Level::Runs);
    let found = picture
        .pixels
        .contains(&inks.fill(Kind::Superblock, Flags::empty()));
    assert!(found, "the superblock vanished");
}

#[test]
fn a_filter_dims_what_it_does_not_name() {
    let only: KindSet = [Kind::Journal].into_iter().collect();
    let (all, some) = (
        palette().inks(KindSet::default(), false),
        palette().inks(only, false),
    );
    let of = |inks: &Inks, kind| inks.fill(kind, Flags::empty());
    assert_eq!(of(&all, Kind::Journal), of(&some, Kind::Journal));
    assert_ne!(of(&all, Kind::Data), of(&some, Kind::Data));
    assert!(some.rank(Kind::Journal, Flags::empty()) > some.rank(Kind::Superblock, Flags::empty()));
}

#[test]
fn a_tile_from_afar_is_filled_by_its_parts() {
    let geometry = Geometry::new(64 * 8192, 0, 8192, 1);
    let mut map = OwnerMap::default();
    for group in 0..64 {
        push(&mut map, group * 8192, 2048, Kind::InodeTable as u8, 0);
        push(&mut map, group * 8192 + 2048, 2048, Kind::Data as u8, 0);
        push(&mut map, group * 8192 + 4096, 4096, Kind::Free as u8, 0);
    }
    let inks = palette().inks(KindSet::default(), false);
    let layout = Layout::fitting(geometry, screen((300.0, 200.0, 1.0)));
    let picture = paint(&layout, Camera::fit(&layout), &map, &inks);
    assert_eq!(picture.level, Level::Groups);
    let count = |kind| {
        let ink = inks.fill(kind, Flags::empty());
        picture.pixels.iter().filter(|&&pixel| pixel == ink).count() as f64
    };
    let (table, data, free) = (
        count(Kind::InodeTable),
        count(Kind::Data),
        count(Kind::Free),
    );
    let all = table + data + free;
    assert!((table / all - 0.25).abs() < 0.03, "{table} of {all}");
    assert!((data / all - 0.25).abs() < 0.03, "{data} of {all}");
}

#[test]
fn shares_are_the_same_however_they_are_counted() {
    let mut dice = Dice(3);
    for geometry in geometries() {
        let map = random_map(&geometry, 5000, &mut dice);
        let mut once = Shares::new(geometry, false);
        once.advance(&map, usize::MAX);
        let mut slowly = Shares::new(geometry, false);
        while !slowly.is_complete() {
            slowly.advance(&map, 3);
        }
        let mut sum = [0; Kind::COUNT];
        for group in 0..geometry.groups {
            let share = once.get(group).unwrap();
            assert_eq!(Some(share), slowly.get(group));
            let whole: u32 = share.parts.iter().map(|&part| u32::from(part)).sum();
            let part = geometry.len(group) as f64 / geometry.most() as f64;
            let off = f64::from(whole) - part * f64::from(WHOLE);
            assert!(off.abs() <= Kind::COUNT as f64, "{whole}");
            for (sum, &part) in sum.iter_mut().zip(&share.parts) {
                *sum += u64::from(part > 0);
            }
        }
        let totals = Totals::of(&map);
        assert_eq!(totals.all(), geometry.blocks);
        for kind in Kind::ALL {
            assert_eq!(totals.get(*kind) > 0, sum[kind.index()] > 0, "{kind:?}");
        }
    }
}

#[test]
fn what_is_under_the_pointer_stays_there_in_a_zoom() {
    let mut dice = Dice(5);
    for geometry in geometries() {
        let layout = Layout::fitting(geometry, screen(SCREENS[0]));
        let all = zooms(&layout);
        for pair in all[6..].windows(2) {
            let camera = Camera {
                cell: pair[0],
                x: 400.0,
                y: 300.0,
            }
            .clamped(&layout);
            let point = (dice.roll(770) as f64, dice.roll(330) as f64);
            let plan = layout.at(pair[0]);
            let Some(block) = plan.block_at(camera.x + point.0, camera.y + point.1) else {
                continue;
            };
            let zoomed = camera.zoomed(&layout, pair[1], point, point);
            let after = layout.at(pair[1]);
            let (x, y) = after.corner(block).unwrap();
            // Unless the edge of the content holds it.
            let free = |at: f64, total: f64, seen: f64| at > 0.0 && at < total - seen;
            if free(zoomed.x, after.x.total(), 770.0) {
                assert!((-1.0..=pair[1] + 1.0).contains(&(zoomed.x + point.0 - x)));
            }
            if free(zoomed.y, after.y.total(), 330.0) {
                assert!((-1.0..=pair[1] + 1.0).contains(&(zoomed.y + point.1 - y)));
            }
        }
    }
}

#[test]
fn a_block_is_brought_in_sight() {
    let mut dice = Dice(9);
    for geometry in geometries() {
        let layout = Layout::fitting(geometry, screen(SCREENS[0]));
        for cell in zooms(&layout) {
            let block = dice.roll(geometry.blocks);
            let camera = Camera {
                cell,
                x: 0.0,
                y: 0.0,
            }
            .revealing(&layout, block);
            let rect = layout.at(cell).rect(block, camera.origin()).unwrap();
            assert!(rect.x >= 0 && rect.x + rect.w <= 770, "{rect:?}");
            assert!(rect.y >= 0 && rect.y + rect.h <= 330, "{rect:?}");
            assert_eq!(camera, camera.revealing(&layout, block));
        }
    }
}

#[test]
fn no_geometry_and_no_zoom_panics() {
    let hostile = [
        Geometry::new(0, 0, 0, 0),
        Geometry::new(1, 0, 1, 1),
        Geometry::new(u64::MAX, u32::MAX.into(), 1, u32::MAX),
        Geometry::new(u64::MAX, 0, u32::MAX, 1 << 31),
        Geometry::new(1 << 28, 0, 32_768, 16),
        Geometry::new(5, 5, 8, 3),
        Geometry::new(10_000, 9_000, 8, 3),
    ];
    let inks = palette().inks(KindSet::default(), true);
    let mut dice = Dice(11);
    let odd = [
        (0.0, 0.0, 1.0),
        (1.0, 1.0, 0.5),
        (3000.0, 2.0, 1.0),
        (300.0, 200.0, 1.0),
    ];
    for geometry in hostile {
        for size in odd.map(screen) {
            let layout = Layout::fitting(geometry, size);
            for cell in zooms(&layout) {
                let camera = Camera {
                    cell,
                    x: 1e12,
                    y: -5.0,
                }
                .clamped(&layout);
                let (w, h) = (size.width as usize, size.height as usize);
                let mut pixels = vec![0; w * h];
                let plan = layout.at(cell);
                let mut map = OwnerMap::default();
                push(&mut map, 3, 4, Kind::Journal as u8, 31);
                push(&mut map, 7, u32::MAX, Kind::Twice as u8, 31);
                let mut shares = Shares::new(geometry, true);
                shares.advance(&map, 1000);
                let scene = Scene {
                    map: &map,
                    plan: &plan,
                    camera,
                    inks: &inks,
                    shares: &shares,
                    glyphs: None,
                };
                scene.draw(&mut Frame::new(&mut pixels, w), &mut Scratch::default());
                let point = (dice.roll(1 << 40) as f64, dice.roll(3000) as f64);
                let _ = plan.block_at(point.0, point.1);
                for on in [true, false] {
                    for level in [Level::Groups, Level::Squares] {
                        for to in [
                            Step::Across(on),
                            Step::Along(on),
                            Step::Run(on),
                            Step::Group(on),
                            Step::Tile(on),
                            Step::Last,
                        ] {
                            let _ = step(&plan, &map, level, dice.roll(geometry.blocks), to);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn a_terabyte_is_laid_out_in_order() {
    let geometry = Geometry::new(1 << 28, 0, 32_768, 16);
    let layout = Layout::fitting(geometry, screen((770.0, 400.0, 1.0)));
    let plan = layout.at(layout.fit);
    assert_eq!(geometry.groups, 8192);
    assert!(plan.x.size >= 3.0 && plan.y.size >= 2.0, "{plan:?}");
    assert!(
        plan.x.total() <= 770.0 && plan.y.total() <= 400.0,
        "{layout:?} {plan:?}"
    );
    // Flex groups are not torn apart.
    assert_eq!(layout.columns % 16, 0);
}

#[test]
fn an_axis_finds_its_tiles() {
    let axis = Axis {
        count: 100,
        start: 30.0,
        size: 7.3,
        gap: 1.0,
        every: 16,
        extra: 3.0,
        end: 2.0,
    };
    for tile in 0..100 {
        let at = axis.at(tile);
        assert_eq!(axis.find(at + 0.001).map(|found| found.0), Some(tile));
        assert_eq!(axis.find(at + 7.299).map(|found| found.0), Some(tile));
        assert_eq!(axis.find(at + 7.4), None);
        assert_eq!(axis.tile_before(at + 7.4), tile);
        let point = axis.anchor(at + 3.0);
        assert!((axis.pixel(point) - at - 3.0).abs() < 1e-9);
    }
    assert_eq!(axis.tile_before(-5.0), 0);
    assert_eq!(axis.tile_before(1e18), 99);
}

#[test]
fn keys_move_by_block_row_run_and_group() {
    let geometry = Geometry::new(20_000, 1, 8192, 1);
    let layout = Layout::fitting(geometry, screen(SCREENS[0]));
    let plan = layout.at(layout.fit);
    let mut map = OwnerMap::default();
    push(&mut map, 0, 100, Kind::Data as u8, 0);
    push(&mut map, 100, 19_900, Kind::Free as u8, 0);
    let go = |from, to| step(&plan, &map, Level::Squares, from, to);
    assert_eq!(go(5, Step::Across(true)), 6);
    assert_eq!(go(0, Step::Across(false)), 0);
    assert_eq!(go(5, Step::Along(true)), 5 + plan.cells);
    assert_eq!(go(5 + plan.cells, Step::Along(false)), 5);
    assert_eq!(go(5, Step::Run(true)), 100);
    assert_eq!(go(150, Step::Run(false)), 100);
    assert_eq!(go(100, Step::Run(false)), 0);
    assert_eq!(go(5, Step::Group(true)), 8193);
    assert_eq!(go(9000, Step::Group(false)), 8193);
    assert_eq!(go(5, Step::Last), 19_999);
    assert_eq!(go(19_999, Step::Across(true)), 19_999);
    // Over a tile's edge and back.
    if plan.x.count == 1 {
        let below = go(8192, Step::Along(true));
        assert_eq!(geometry.group_of(below), 1);
        assert_eq!(go(below, Step::Along(false)), 8192);
    }
}

#[test]
fn an_inodes_blocks_are_found_and_joined() {
    let mut map = OwnerMap::default();
    push(&mut map, 0, 5, Kind::Free as u8, 0);
    push(&mut map, 5, 5, Kind::Data as u8, 0);
    push(&mut map, 10, 5, Kind::Data as u8, 1);
    push(&mut map, 15, 5, Kind::Free as u8, 0);
    push(&mut map, 20, 5, Kind::Data as u8, 0);
    let blocks = blocks_of(&map, 12);
    let expected: [Range<u64>; 2] = [5..15, 20..25];
    assert_eq!(&blocks[..], &expected);
    assert!(blocks_of(&map, 0).is_empty());
    let highlight = Highlight {
        blocks,
        ..Highlight::default()
    };
    assert_eq!(highlight.between(15, 20), &[]);
    assert_eq!(highlight.between(14, 21).len(), 2);
}
