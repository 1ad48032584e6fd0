//! Shapes of extent trees: as those that Linux 6.18 makes of the same calls.
//!
//! The truth was taken from files on `mke2fs -t ext4 -O ^has_journal`, mounted with
//! `nodelalloc,dioread_lock`, by `filefrag -v` and debugfs's `dump_extents`.

mod map_driver;

use fslab_engine::event::What;
use fslab_engine::kernel::map;
use fslab_engine::units::BlockNr;
use map_driver::{Act, KINDS, Kind, Lab};

const MIB: u64 = 1 << 20;
const SMALL: Kind = KINDS[2];
const LARGE: Kind = KINDS[3];

fn write(lblk: u32, len: u32) -> Act {
    Act::Map {
        lblk,
        len,
        unwritten: false,
        write: true,
    }
}

fn fallocate(lblk: u32, len: u32) -> Act {
    Act::Map {
        lblk,
        len,
        unwritten: true,
        write: false,
    }
}

/// `fallocate` of so many blocks, then one block written at each of these places.
fn zeroed(blocks: u32, at: &[u32]) -> Vec<(u32, u32, bool)> {
    let mut lab = Lab::new(LARGE, 16 * MIB, 2, 32);
    // Another file takes the gaps between the tables.
    lab.act(1, &write(0, 200));
    lab.act(0, &fallocate(0, blocks));
    assert_eq!(lab.extents(0).len(), 1);
    lab.act(0, &Act::Size { blocks });
    for &lblk in at {
        lab.act(0, &write(lblk, 1));
    }
    lab.check_by_e2fsck();
    lab.extents(0)
}

#[test]
fn short_unwritten_rests_are_zeroed_as_linux_does() {
    let (w, u) = (false, true);
    assert_eq!(zeroed(256, &[0]), [(0, 1, w), (1, 255, u)]);
    assert_eq!(zeroed(256, &[255]), [(0, 255, u), (255, 1, w)]);
    let middle = [(0, 100, u), (100, 1, w), (101, 155, u)];
    assert_eq!(zeroed(256, &[100]), middle);
    assert_eq!(zeroed(8, &[3]), [(0, 3, u), (3, 5, w)]);
    assert_eq!(zeroed(10, &[3]), [(0, 3, u), (3, 7, w)]);
    assert_eq!(zeroed(10, &[7]), [(0, 7, u), (7, 3, w)]);
    assert_eq!(zeroed(256, &[3]), [(0, 4, w), (4, 252, u)]);
    assert_eq!(zeroed(256, &[5, 6]), [(0, 7, w), (7, 249, u)]);
    let four = [
        (0, 8, w),
        (8, 12, u),
        (20, 1, w),
        (21, 9, u),
        (30, 1, w),
        (31, 225, u),
    ];
    assert_eq!(zeroed(256, &[5, 30, 20, 7]), four);
    assert_eq!(zeroed(256, &[7]), [(0, 7, u), (7, 1, w), (8, 248, u)]);
    assert_eq!(zeroed(256, &[8]), [(0, 8, u), (8, 1, w), (9, 247, u)]);
    assert_eq!(zeroed(256, &[248]), [(0, 248, u), (248, 8, w)]);
    let two = [(0, 247, u), (247, 1, w), (248, 1, u), (249, 7, w)];
    assert_eq!(zeroed(256, &[247, 249]), two);
}

/// The same with delayed allocation, the mount's default: contents are written into
/// unwritten blocks first, which are then converted; nothing is zeroed.
#[test]
fn at_the_end_of_io_extents_are_cut_to_the_block() {
    let converted = |blocks: u32, at: &[u32]| {
        let mut lab = Lab::new(LARGE, 16 * MIB, 2, 32);
        lab.act(1, &write(0, 200));
        lab.act(0, &fallocate(0, blocks));
        lab.act(0, &Act::Size { blocks });
        for &lblk in at {
            lab.act(0, &Act::Convert { lblk, len: 1 });
        }
        lab.check_by_e2fsck();
        lab.extents(0)
    };
    let (w, u) = (false, true);
    assert_eq!(converted(8, &[3]), [(0, 3, u), (3, 1, w), (4, 4, u)]);
    assert_eq!(converted(10, &[7]), [(0, 7, u), (7, 1, w), (8, 2, u)]);
    let two = [(0, 5, u), (5, 2, w), (7, 249, u)];
    assert_eq!(converted(256, &[5, 6]), two);
    let apart = [
        (0, 247, u),
        (247, 1, w),
        (248, 1, u),
        (249, 1, w),
        (250, 6, u),
    ];
    assert_eq!(converted(256, &[247, 249]), apart);
}

/// A file of which every other block is written, in some order.
fn every_other(blocks: u32, order: impl Fn(u32) -> u32) -> Lab {
    let mut lab = Lab::new(SMALL, 32 * MIB, 1, 32);
    for i in 0..blocks {
        let how = map::Create {
            root: true,
            ..map::Create::metadata()
        };
        let lblk = (order(i) * 2).into();
        let file = &mut lab.files[0];
        let got = map::map_blocks(&mut lab.vol, &mut file.0, lblk, 1, &how).unwrap();
        file.1.insert(lblk.0, (got.start.0, false));
    }
    lab
}

fn mixed(n: u32) -> impl Fn(u32) -> u32 {
    move |i| i * 389 % n
}

#[test]
fn nodes_are_split_where_linux_splits_them() {
    let up = every_other(700, |i| i).shape(0);
    let leaves = vec![84, 84, 84, 84, 84, 84, 84, 84, 28];
    assert_eq!(up, [vec![1], vec![9], leaves]);
    let down = every_other(700, |i| 699 - i).shape(0);
    let leaves = vec![36, 83, 83, 83, 83, 83, 83, 83, 83];
    assert_eq!(down, [vec![1], vec![9], leaves]);
    let both = |i: u32| {
        let by = i.div_ceil(2);
        if i % 2 == 1 { 350 + by } else { 350 - by }
    };
    let leaves = vec![60, 83, 83, 83, 84, 84, 84, 84, 55];
    assert_eq!(every_other(700, both).shape(0), [vec![1], vec![9], leaves]);
    let leaves = vec![78, 78, 78, 78, 77, 78, 78, 78, 77];
    let mix = every_other(700, mixed(700)).shape(0);
    assert_eq!(mix, [vec![1], vec![9], leaves]);
}

#[test]
fn so_are_inner_nodes() {
    let mut lab = every_other(5000, mixed(5000));
    let shape = lab.shape(0);
    assert_eq!(shape[..2], [vec![4], vec![25, 72, 12, 10]]);
    assert_eq!(shape[2].len(), 119);
    let first = [30, 39, 78, 64, 72, 21, 38, 57, 50, 70, 12, 78];
    assert_eq!(shape[2][..12], first);
    lab.check_by_e2fsck();
    lab.empty();
}

#[test]
fn punching_cutting_and_shifting_leave_the_nodes_that_linux_leaves() {
    let mut lab = every_other(701, mixed(701));
    lab.act(
        0,
        &Act::Remove {
            lblk: 300,
            len: 700,
        },
    );
    let leaves = vec![25, 69, 56, 3, 24, 81, 49, 44];
    assert_eq!(lab.shape(0), [vec![1], vec![8], leaves]);

    let mut lab = every_other(701, mixed(701));
    lab.act(
        0,
        &Act::Remove {
            lblk: 100,
            len: 10_000,
        },
    );
    assert_eq!(lab.shape(0), [vec![1], vec![2], vec![25, 25]]);

    let mut lab = every_other(701, mixed(701));
    lab.act(
        0,
        &Act::Collapse {
            lblk: 301,
            len: 100,
        },
    );
    lab.act(0, &Act::Insert { lblk: 500, len: 50 });
    let leaves = vec![
        25, 69, 57, 10, 61, 36, 41, 57, 4, 24, 41, 28, 24, 81, 49, 44,
    ];
    assert_eq!(lab.shape(0), [vec![1], vec![16], leaves]);
    lab.check_by_e2fsck();
}

/// 84 entries fit into a block of 1 KiB, 4 into the root.
#[test]
fn a_tree_grows_to_its_third_level_and_back() {
    let mut lab = Lab::new(SMALL, 96 * MIB, 1, 0);
    lab.act(
        0,
        &Act::Scatter {
            lblk: 0,
            step: 2,
            count: 30_000,
            unwritten: false,
            backwards: false,
        },
    );
    let depths = |lab: &mut Lab| -> Vec<u16> {
        let events = lab.events();
        let depth = |e: &What| match e {
            What::TreeDepth { depth, .. } => Some(*depth),
            _ => None,
        };
        events.iter().filter_map(depth).collect()
    };
    assert_eq!(depths(&mut lab), [1, 2, 3]);
    assert_eq!(lab.shape(0).len(), 4);
    lab.check_by_e2fsck();
    lab.act(
        0,
        &Act::Remove {
            lblk: 1001,
            len: 58_998,
        },
    );
    lab.check_by_e2fsck();
    lab.check_by_reader();
    lab.empty();
    assert_eq!(depths(&mut lab), [0]);
}

#[test]
fn extents_end_at_their_longest() {
    let mut lab = Lab::new(LARGE, 1024 * MIB, 1, 32);
    lab.act(0, &write(0, 70_000));
    lab.act(0, &fallocate(100_000, 70_000));
    for (_, len, unwritten) in lab.extents(0) {
        assert!(len <= if unwritten { 32_767 } else { 32_768 });
    }
    lab.act(
        0,
        &Act::Unwrite {
            lblk: 0,
            len: 70_000,
        },
    );
    lab.act(
        0,
        &Act::Convert {
            lblk: 100_000,
            len: 70_000,
        },
    );
    let longest = lab.extents(0).iter().map(|e| e.1).max();
    assert!(longest <= Some(32_768));
    lab.check_by_reader();
    lab.check_by_e2fsck();
    lab.empty();
}

#[test]
fn the_last_blocks_that_a_map_reaches_can_be_used_and_no_more() {
    for &kind in KINDS {
        let mut lab = Lab::new(kind, 16 * MIB, 1, 32);
        let end = map::max_blocks(&lab.vol, &lab.files[0].0);
        let last = (end - 1) as u32;
        lab.act(0, &write(last - 3, 4));
        assert_eq!(lab.files[0].1.len(), 4, "{}", kind.name);
        let how = map::Create::metadata();
        let file = &mut lab.files[0].0;
        let past = map::map_blocks(&mut lab.vol, file, (last + 1).into(), 1, &how);
        assert!(past.is_err());
        lab.check_by_reader();
        lab.empty();
    }
}

#[test]
fn every_block_of_a_map_is_listed() {
    for &kind in KINDS {
        let mut lab = Lab::new(kind, 32 * MIB, 1, 32);
        lab.act(
            0,
            &Act::Scatter {
                lblk: 5,
                step: 40,
                count: 2000,
                unwritten: false,
                backwards: true,
            },
        );
        let nodes = map::nodes(&mut lab.vol, &lab.files[0].0).unwrap();
        if kind.extents {
            let below: usize = lab.shape(0).iter().skip(1).map(Vec::len).sum();
            assert_eq!(nodes.len(), below, "{}", kind.name);
        }
        let mut all: Vec<BlockNr> = nodes.clone();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), nodes.len());
        let file = &lab.files[0].0;
        let per = u64::from(lab.vol.geometry().cluster_blocks);
        let sectors =
            (nodes.len() + lab.files[0].1.len()) as u64 * per * u64::from(kind.block / 512);
        assert_eq!(file.sectors(&lab.vol), sectors, "{}", kind.name);
    }
}
