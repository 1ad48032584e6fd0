//! Inodes: taken once, given back, and where directories and files go.

use super::super::{self as alloc, flex::Counts};
use super::*;
use crate::kernel::{DirPolicy, Errno};
use proptest::prelude::*;
use std::collections::BTreeMap;

const DIR: u16 = 0x41ED;
const FILE: u16 = 0x81A4;

fn dir(vol: &Volume, nr: u32) -> InodeInfo {
    let mut inode = file(vol, nr);
    inode.raw.set_i_mode(DIR);
    inode
}

fn check(vol: &mut Volume) {
    check_sums(vol);
    let fresh = Counts::of(vol).expect("descriptors");
    if vol.alloc.counts.len() > 0 {
        assert_eq!(fresh.list(), vol.alloc.counts.list());
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn hands_out_what_is_free_once(
        shape in 0..shapes().len(),
        old: bool,
        steps in prop::collection::vec((0u8..3, any::<u16>()), 1..300),
    ) {
        let dir_policy = if old { DirPolicy::Old } else { DirPolicy::Packed };
        let mount = MountOptions { dir_policy, ..MountOptions::default() };
        let mut vol = volume(&shapes()[shape], &mount);
        let (free, dirs) = (vol.free_inodes, vol.dirs);
        let mut has = BTreeMap::new();
        has.insert(2u32, true);
        for (what, n) in steps {
            let pick = |only_dirs: bool| {
                let fits: Vec<u32> = has.iter().filter(|(_, d)| !only_dirs || **d).map(|(i, _)| *i).collect();
                fits[usize::from(n) % fits.len()]
            };
            if what == 2 {
                let nr = pick(false);
                if nr != 2 {
                    let is_dir = has.remove(&nr) == Some(true);
                    alloc::free_inode(&mut vol, InodeNr(nr), is_dir).expect("freed");
                }
                continue;
            }
            let parent = dir(&vol, pick(true));
            let mode = if what == 0 { DIR } else { FILE };
            let name = n.to_string();
            match alloc::new_inode(&mut vol, Some(&parent), mode, name.as_bytes()) {
                Ok(nr) => {
                    prop_assert!(nr.0 >= vol.geo.first_inode && nr.0 <= vol.geo.inodes);
                    prop_assert_eq!(has.insert(nr.0, what == 0), None, "inode {} twice", nr);
                }
                Err(e) => {
                    prop_assert_eq!(e, Errno::ENOSPC);
                    prop_assert_eq!(vol.free_inodes, 0);
                }
            }
        }
        check(&mut vol);
        for (nr, is_dir) in has.into_iter().filter(|(nr, _)| *nr != 2) {
            alloc::free_inode(&mut vol, InodeNr(nr), is_dir).expect("freed");
        }
        check(&mut vol);
        prop_assert_eq!((vol.free_inodes, vol.dirs), (free, dirs));
    }
}

/// All inodes can be had; then there is no space.
#[test]
fn takes_the_last_inode() {
    for features in [&["^flex_bg"][..], &[]] {
        let shape = (
            "few inodes",
            Options {
                inodes: Some(400),
                ..options(FsType::Ext4, 1024, features)
            },
            64 * MIB,
        );
        let mut vol = volume(&shape, &MountOptions::default());
        let root = dir(&vol, 2);
        let free = vol.free_inodes;
        for _ in 0..free {
            alloc::new_inode(&mut vol, Some(&root), FILE, b"x").expect("there are some");
        }
        assert_eq!(
            alloc::new_inode(&mut vol, Some(&root), FILE, b"x"),
            Err(Errno::ENOSPC)
        );
        assert_eq!(
            alloc::new_inode(&mut vol, Some(&root), DIR, b"x"),
            Err(Errno::ENOSPC)
        );
        check(&mut vol);
    }
}

/// Top directories are spread over flex groups, into the first group of each; what is
/// below them stays in their flex group, files too, with blocks from the second group on.
#[test]
fn spreads_top_directories() {
    let shape = (
        "16 flex groups",
        Options {
            flex_groups: Some(4),
            ..options(FsType::Ext4, 1024, &[])
        },
        512 * MIB,
    );
    let mut vol = volume(&shape, &MountOptions::default());
    let root = dir(&vol, 2);
    let mut used = std::collections::BTreeSet::new();
    for i in 0..16 {
        let name = format!("dir{i}");
        let nr = alloc::new_inode(&mut vol, Some(&root), DIR, name.as_bytes()).expect("space");
        let g = vol.geo.inode_home(nr).0;
        assert_eq!(g.0 % 4, 0, "the first group of a flex group");
        used.insert(g.0);
        let top = dir(&vol, nr.0);
        let below = alloc::new_inode(&mut vol, Some(&top), DIR, b"below").expect("space");
        assert_eq!(vol.geo.inode_home(below).0, g);
        let f = alloc::new_inode(&mut vol, Some(&top), FILE, b"file").expect("space");
        assert_eq!(vol.geo.inode_home(f).0, g);
        let goal = alloc::goal_for(&vol, &file(&vol, f.0));
        assert_eq!(vol.geo.group_of(goal).map(|o| o.0), Some(g.0 + 1));
    }
    assert!(
        used.len() >= 12,
        "spread over {} of 16 flex groups",
        used.len()
    );
    check(&mut vol);
}

/// The old policy fills the flex group of the parent first, and files' blocks go where
/// their inodes are.
#[test]
fn old_policy_stays_with_the_parent() {
    let shape = (
        "16 flex groups",
        Options {
            flex_groups: Some(4),
            ..options(FsType::Ext4, 1024, &[])
        },
        512 * MIB,
    );
    let mount = MountOptions {
        dir_policy: DirPolicy::Old,
        ..MountOptions::default()
    };
    let mut vol = volume(&shape, &mount);
    let root = dir(&vol, 2);
    for i in 0..16 {
        let name = format!("dir{i}");
        let nr = alloc::new_inode(&mut vol, Some(&root), DIR, name.as_bytes()).expect("space");
        assert_eq!(vol.geo.inode_home(nr).0, GroupNr(0));
        let goal = alloc::goal_for(&vol, &file(&vol, nr.0));
        assert_eq!(vol.geo.group_of(goal), Some(GroupNr(0)));
    }
}

#[test]
fn a_double_free_is_damage() {
    let mut vol = volume(&shapes()[0], &MountOptions::default());
    let root = dir(&vol, 2);
    let nr = alloc::new_inode(&mut vol, Some(&root), FILE, b"x").expect("space");
    alloc::free_inode(&mut vol, nr, false).expect("freed");
    assert_eq!(
        alloc::free_inode(&mut vol, nr, false),
        Err(Errno::EFSCORRUPTED)
    );
    assert_eq!(
        alloc::free_inode(&mut vol, InodeNr(2), true),
        Err(Errno::EFSCORRUPTED)
    );
    assert_eq!(vol.sb.s_error_count(), 2);
}
