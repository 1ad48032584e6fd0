//! Extent trees and block maps after many changes: as a plain table says, as our reader
//! sees them, and as e2fsck has them.

mod map_driver;

use fslab_engine::event::{Meta, Reason};
use fslab_engine::kernel::map::{self, Create};
use fslab_engine::kernel::{Errno, ErrorsBehaviour, InodeInfo, MountOptions, Volume, alloc};
use fslab_engine::units::Lblk;
use map_driver::{Act, KINDS, Lab};
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

/// A place in the file: mostly near the beginning, at times far away.
fn place() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => 0..64u32,
        4 => 0..700u32,
        1 => 0..70_000u32,
    ]
}

fn length() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 1..12u32, 2 => 1..300u32, 1 => 1..3000u32]
}

fn act() -> impl Strategy<Value = Act> {
    let at = || (place(), length());
    prop_oneof![
        5 => (place(), length(), any::<bool>(), any::<bool>())
            .prop_map(|(lblk, len, unwritten, write)| Act::Map { lblk, len, unwritten, write }),
        2 => (place(), 2..9u32, 1..400u32, any::<bool>(), any::<bool>())
            .prop_map(|(lblk, step, count, unwritten, backwards)| Act::Scatter {
                lblk, step, count, unwritten, backwards,
            }),
        3 => at().prop_map(|(lblk, len)| Act::Convert { lblk, len }),
        2 => at().prop_map(|(lblk, len)| Act::Unwrite { lblk, len }),
        4 => at().prop_map(|(lblk, len)| Act::Remove { lblk, len }),
        1 => at().prop_map(|(lblk, len)| Act::Collapse { lblk, len }),
        1 => at().prop_map(|(lblk, len)| Act::Insert { lblk, len }),
        1 => place().prop_map(|blocks| Act::Size { blocks }),
        1 => Just(Act::Remount),
    ]
}

fn run(kind: usize, bytes: u64, zeroout: u32, acts: &[(usize, Act)], e2fsck: bool) {
    let mut lab = Lab::new(KINDS[kind], bytes, 2, zeroout);
    for (file, act) in acts {
        lab.act(*file, act);
    }
    lab.check_by_reader();
    if e2fsck {
        lab.check_by_e2fsck();
    }
    lab.empty();
    lab.check_by_reader();
    if e2fsck {
        lab.check_by_e2fsck();
    }
}

fn cases(default: u32) -> ProptestConfig {
    let set = std::env::var("PROPTEST_CASES").ok();
    let cases = set.and_then(|n| n.parse().ok()).unwrap_or(default);
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn random_changes_are_as_the_table_says_and_clean(
        kind in 0..KINDS.len(),
        zeroout in prop_oneof![Just(0u32), Just(8), Just(32)],
        acts in proptest::collection::vec((0..2usize, act()), 1..40),
    ) {
        run(kind, 24 * MIB, zeroout, &acts, true);
    }

    #[test]
    fn so_they_are_where_space_runs_out(
        kind in 0..KINDS.len(),
        acts in proptest::collection::vec((0..2usize, act()), 1..60),
    ) {
        run(kind, 2 * MIB, 32, &acts, true);
    }
}

/// Bytes to be put somewhere into a map: which node, where in it, what.
type Damage = (prop::sample::Index, prop::sample::Index, u8);

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let byte = prop_oneof![Just(0u8), Just(1), Just(0xFF), any::<u8>()];
    let one = (
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        byte,
    );
    prop::collection::vec(one, 1..12)
}

/// Calls something of the map, whatever comes of it.
fn try_act(vol: &mut Volume, inode: &mut InodeInfo, act: &Act) -> Result<(), Errno> {
    let how = Create {
        unwritten: false,
        reserved: false,
        root: true,
        reason: Reason::Data,
        write: true,
    };
    match *act {
        Act::Map { lblk, len, .. } => map::map_blocks(vol, inode, Lblk(lblk), len, &how).map(drop),
        Act::Scatter { lblk, step, .. } => {
            map::lookup(vol, inode, Lblk(lblk), u32::MAX)?;
            map::nodes(vol, inode)?;
            map::map_blocks(vol, inode, Lblk(lblk + step), 1, &how).map(drop)
        }
        Act::Convert { lblk, len } => map::convert_unwritten(vol, inode, Lblk(lblk), len),
        Act::Unwrite { lblk, len } => map::mark_unwritten(vol, inode, Lblk(lblk), len),
        Act::Remove { lblk, len } => {
            map::remove(vol, inode, lblk.into(), u64::from(lblk) + u64::from(len))
        }
        Act::Collapse { lblk, len } => map::shift(vol, inode, lblk.into(), -i64::from(len)),
        Act::Insert { lblk, len } => map::shift(vol, inode, lblk.into(), len.into()),
        Act::Size { .. } | Act::Remount => Ok(()),
    }
}

/// A map with some nodes, that a byte here and there of is not what it should be.
fn damaged(kind: usize, damage: &[Damage], remount: bool) -> (Volume, InodeInfo) {
    let mut lab = Lab::new(KINDS[kind], 8 * MIB, 1, 32);
    let scatter = |lblk, unwritten| Act::Scatter {
        lblk,
        step: 3,
        count: 400,
        unwritten,
        backwards: false,
    };
    lab.act(0, &scatter(0, false));
    lab.act(0, &scatter(1, true));
    let Lab { vol, files, .. } = &mut lab;
    let inode = &mut files[0].0;
    let nodes = map::nodes(vol, inode).unwrap();
    for (node, place, byte) in damage {
        match node.index(nodes.len() + 1) {
            0 => {
                let mut root = inode.i_block();
                // Those that are in use are more worth it.
                root[place.index(28)] = *byte;
                inode.set_i_block(root);
            }
            n => {
                let kind = Meta::ExtentNode;
                let bytes = vol.change(nodes[n - 1], kind, inode.nr).unwrap();
                let at = place.index(bytes.len().min(200));
                bytes[at] = *byte;
            }
        }
    }
    let options = MountOptions {
        errors: Some(ErrorsBehaviour::Continue),
        ..MountOptions::default()
    };
    let mut inode = inode.clone();
    vol.write_inode(&mut inode).unwrap();
    if remount {
        vol.sync_buffers().unwrap();
        let vol = Volume::open(vol.device().boxed_clone(), options).unwrap();
        return (vol, inode);
    }
    (vol.clone(), inode)
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn damaged_maps_give_errors_and_no_more(
        kind in 0..KINDS.len(),
        damage in damage(),
        remount in any::<bool>(),
        acts in proptest::collection::vec(act(), 1..20),
    ) {
        let (mut vol, mut inode) = damaged(kind, &damage, remount);
        for act in &acts {
            let _ = try_act(&mut vol, &mut inode, act);
        }
        let _ = map::remove(&mut vol, &mut inode, 0, u64::MAX);
    }
}

/// A delayed block needs a promise where its cluster is neither there nor promised; the
/// promise is kept by the cluster, whichever of its blocks comes first.
#[test]
fn clusters_are_promised_once() {
    let mut lab = Lab::new(KINDS[5], 16 * MIB, 1, 32);
    let per = lab.vol.geometry().cluster_blocks;
    assert_eq!(per, 8);
    let Lab { vol, files, .. } = &mut lab;
    let inode = &mut files[0].0;
    let need = |vol: &mut Volume, inode: &InodeInfo, lblk| {
        map::reserve_needed(vol, inode, Lblk(lblk)).unwrap()
    };
    assert_eq!(need(vol, inode, 5), 1);
    alloc::reserve(vol, inode, 1).unwrap();
    let page = fslab_engine::kernel::Page {
        dirty: Some(fslab_engine::disk::Data::Zero),
        delayed: true,
        since: Default::default(),
    };
    inode.pages.put(Lblk(5), page.clone());
    assert_eq!(need(vol, inode, 6), 0);
    assert_eq!(need(vol, inode, 8), 1);
    let how = Create {
        unwritten: false,
        reserved: true,
        root: false,
        reason: Reason::Data,
        write: true,
    };
    let first = map::map_blocks(vol, inode, Lblk(5), 1, &how).unwrap();
    assert_eq!(inode.delayed, 0);
    inode.pages.remove(Lblk(5));
    assert_eq!(need(vol, inode, 7), 0);
    let second = map::map_blocks(vol, inode, Lblk(7), 1, &how).unwrap();
    assert_eq!(second.start.0, first.start.0 + 2);
    // A delayed block that relied on the cluster is promised another when it goes.
    inode.pages.put(Lblk(6), page);
    map::remove(vol, inode, 5, 8).unwrap();
    assert_eq!(inode.delayed, 1);
}
