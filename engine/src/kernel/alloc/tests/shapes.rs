//! How what is allocated lies: the multiblock allocator's habits, and those of the others.

use super::super as alloc;
use super::*;
use crate::event::What;
use crate::kernel::{AllocatorKind, Errno};

fn gib() -> Shape {
    ("6 GiB", options(FsType::Ext4, 4096, &[]), 6144 * MIB)
}

/// Runs of blocks that a file has, joined.
fn runs(all: &[(u64, u32)]) -> Vec<(u64, u32)> {
    let mut out: Vec<(u64, u32)> = Vec::new();
    for &(at, n) in all {
        match out.last_mut() {
            Some(last) if last.0 + u64::from(last.1) == at => last.1 += n,
            _ => out.push((at, n)),
        }
    }
    out
}

/// Writes `len` blocks of a file from a block on; gives where they are.
fn write(
    vol: &mut Volume,
    inode: &mut InodeInfo,
    from: u32,
    len: u32,
    last: Option<u64>,
) -> Vec<(u64, u32)> {
    let (mut lblk, mut out, mut last) = (from, Vec::new(), last);
    while lblk < from + len {
        let mut want = want(lblk, from + len - lblk);
        want.reserved = inode.delayed > 0;
        if let Some(at) = last {
            want.goal = BlockNr(at);
        }
        let (at, n) = alloc::new_blocks(vol, inode, &want).expect("space");
        out.push((at.0, n));
        lblk += n;
        last = Some(at.0 + u64::from(n));
    }
    out
}

/// Experiment F4: 5 GiB in 4 KiB pages by delayed allocation, written back 128 blocks at a
/// time: about 640 inode preallocations of 2048 blocks.
#[test]
fn five_gib_take_640_preallocations() {
    let mut vol = volume(&gib(), &MountOptions::default());
    vol.events.keep(true);
    let mut inode = file(&vol, 12);
    inode.size = 5 << 30;
    alloc::reserve(&mut vol, &mut inode, 1_310_720).expect("space");
    let (mut all, mut last) = (Vec::new(), None);
    for lblk in (0..1_310_720).step_by(128) {
        let more = write(&mut vol, &mut inode, lblk, 128, last);
        last = more.last().map(|(at, n)| at + u64::from(*n));
        all.extend(more);
    }
    let events = vol.events.take();
    let made = |e: &What| matches!(e, What::Preallocated { len: 2048, .. });
    let made = events.iter().filter(|e| made(&e.what)).count();
    assert!(
        (627..=653).contains(&made),
        "{made} preallocations of 2048 blocks"
    );
    let taken = events
        .iter()
        .filter(|e| matches!(e.what, What::Allocated { .. }))
        .count();
    assert!((10_240..10_445).contains(&taken), "{taken} allocations");
    let runs = runs(&all);
    assert!(runs.len() <= 90, "{} runs", runs.len());
}

/// Files that grow side by side stay in large pieces.
#[test]
fn interleaved_writers_do_not_mix() {
    let mut vol = volume(&gib(), &MountOptions::default());
    let mut files: Vec<_> = (0..4)
        .map(|i| (file(&vol, 12 + i), Vec::new(), None))
        .collect();
    for step in 0..512 {
        for (inode, all, last) in &mut files {
            let from = step * 16;
            inode.size = u64::from(from + 16) * 4096;
            let more = write(&mut vol, inode, from, 16, *last);
            *last = more.last().map(|(at, n)| at + u64::from(*n));
            all.extend(more);
        }
    }
    for (inode, all, _) in &mut files {
        let n = runs(all).len();
        assert!(n <= 24, "{n} runs for 32 MiB");
        alloc::discard_preallocations(&mut vol, inode);
    }
    check_sums(&mut vol);
    assert_eq!(vol.alloc.groups.kept.count(), 0);
}

/// ext3's windows keep writers apart.
#[test]
fn windows_keep_writers_apart() {
    let mut vol = volume(&shapes()[14], &MountOptions::default());
    let mut files: Vec<_> = (0..4)
        .map(|i| (file(&vol, 12 + i), Vec::new(), None))
        .collect();
    for lblk in 0..2000 {
        for (inode, all, last) in &mut files {
            let more = write(&mut vol, inode, lblk, 1, *last);
            *last = more.last().map(|(at, n)| at + u64::from(*n));
            all.extend(more);
        }
    }
    for (inode, all, _) in &mut files {
        let n = runs(all).len();
        assert!(n <= 12, "{n} runs for 2000 blocks, one at a time");
        alloc::discard_preallocations(&mut vol, inode);
    }
    check_sums(&mut vol);
}

/// Small files lie side by side, in preallocations that they share, and not in the first
/// group of a flex group.
#[test]
fn small_files_share() {
    let mut vol = volume(&gib(), &MountOptions::default());
    let mut all = Vec::new();
    for i in 0..500 {
        let mut inode = file(&vol, 100 + i);
        inode.size = 8000;
        all.extend(write(&mut vol, &mut inode, 0, 2, None));
        alloc::discard_preallocations(&mut vol, &mut inode);
    }
    let runs = runs(&all);
    assert!(
        runs.len() <= 2,
        "{} runs for 1000 blocks: {runs:?}",
        runs.len()
    );
    let g = vol.geo.group_of(BlockNr(runs[0].0));
    assert_eq!(g, Some(GroupNr(1)));
    check_sums(&mut vol);
}

/// Blocks that follow the last one extend it.
#[test]
fn appends_continue() {
    let mut vol = volume(&gib(), &MountOptions::default());
    let mut inode = file(&vol, 12);
    let (mut all, mut last) = (Vec::new(), None);
    for lblk in 0..600 {
        inode.size = u64::from(lblk + 1) * 4096;
        let more = write(&mut vol, &mut inode, lblk, 1, last);
        last = more.last().map(|(at, n)| at + u64::from(*n));
        all.extend(more);
    }
    let runs = runs(&all);
    assert!(runs.len() <= 4, "{runs:?}");
}

/// With a stripe, what is kept begins and ends with stripes.
#[test]
fn stripes_are_kept_whole() {
    let mount = MountOptions {
        stripe: Some(48),
        ..MountOptions::default()
    };
    let mut vol = volume(&gib(), &mount);
    let mut inode = file(&vol, 12);
    inode.size = 4096;
    let at = write(&mut vol, &mut inode, 0, 1, None);
    assert_eq!(at[0].0 % 48, 0, "{at:?}");
}

/// What others have preallocated is given up before there is no space.
#[test]
fn preallocations_do_not_eat_the_last_space() {
    let mut vol = volume(&shapes()[0], &MountOptions::default());
    vol.alloc.pool = 0;
    for i in 0..20 {
        let mut inode = file(&vol, 12 + i);
        inode.size = 3 * MIB;
        write(&mut vol, &mut inode, 0, 1, None);
    }
    assert!(vol.alloc.groups.kept.total() > 10_000);
    let mut inode = file(&vol, 100);
    let mut lblk = 0;
    while let Ok((_, n)) = alloc::new_blocks(&mut vol, &mut inode, &want(lblk, 1000)) {
        lblk += n;
    }
    assert_eq!(vol.free_clusters, 0);
    check_sums(&mut vol);
}

/// Reserved blocks are for root; promises count as taken.
#[test]
fn promises_and_reserved_blocks() {
    let mut vol = volume(&shapes()[2], &MountOptions::default());
    let mut inode = file(&vol, 12);
    let free = vol.free_clusters;
    let root = vol.sb.reserved_blocks_count();
    let pool = (vol.geo.blocks / 50).min(4096);
    assert!(root > 0);
    vol.privileged = false;
    let anyone = (free - root - pool) as u32;
    assert_eq!(
        alloc::reserve(&mut vol, &mut inode, anyone + 1),
        Err(Errno::ENOSPC)
    );
    alloc::reserve(&mut vol, &mut inode, anyone).expect("space");
    let s = alloc::statfs(&vol);
    assert_eq!((s.free, s.available), (root + pool, 0));
    let mut unpromised = want(0, 1);
    unpromised.root = false;
    assert_eq!(
        alloc::new_blocks(&mut vol, &mut inode, &unpromised),
        Err(Errno::ENOSPC)
    );
    vol.privileged = true;
    alloc::reserve(&mut vol, &mut inode, root as u32).expect("root's");
    assert_eq!(alloc::reserve(&mut vol, &mut inode, 1), Err(Errno::ENOSPC));
    let mut promised = want(0, 100);
    promised.reserved = true;
    let (_, n) = alloc::new_blocks(&mut vol, &mut inode, &promised).expect("promised");
    assert_eq!(inode.delayed, anyone + root as u32 - n);
    let left = inode.delayed;
    alloc::release(&mut vol, &mut inode, left);
    assert_eq!((inode.delayed, vol.reserved_clusters), (0, 0));
}

/// The lowest blocks first, whatever the goal.
#[test]
fn reuse_first_reuses() {
    let mount = MountOptions {
        allocator: AllocatorKind::ReuseFirst,
        ..MountOptions::default()
    };
    let mut vol = volume(&gib(), &mount);
    let mut inode = file(&vol, 12);
    let first = alloc::new_blocks(&mut vol, &mut inode, &want(0, 10)).expect("space");
    alloc::new_blocks(&mut vol, &mut inode, &want(10, 10)).expect("space");
    alloc::free_blocks(&mut vol, &mut inode, first.0, 10, false).expect("freed");
    let mut far = want(20, 10);
    far.goal = BlockNr(1_000_000);
    assert_eq!(alloc::new_blocks(&mut vol, &mut inode, &far), Ok(first));
}

#[test]
fn trim_tells_what_is_free() {
    for i in [0, 6, 11] {
        let mut vol = volume(&shapes()[i], &MountOptions::default());
        let mut inode = file(&vol, 12);
        write(&mut vol, &mut inode, 0, 1000, None);
        let told = alloc::trim(&mut vol, 0, u64::MAX, 0).expect("trimmed");
        let free = vol.free_clusters * u64::from(vol.geo.cluster_blocks);
        let size = u64::from(vol.geo.block_size);
        assert!(
            told <= free * size && told + 64 * size >= free * size,
            "{told} of {free} blocks"
        );
        assert_eq!(vol.device().counters().discarded_bytes, told);
        assert_eq!(alloc::trim(&mut vol, 0, u64::MAX, 0), Ok(0), "it is known");
        let past = shapes()[i].2;
        assert_eq!(alloc::trim(&mut vol, past, 1, 0), Err(Errno::EINVAL));
    }
}

/// A volume's clone goes its own way.
#[test]
fn clones_are_independent() {
    let mut vol = volume(&shapes()[0], &MountOptions::default());
    let mut inode = file(&vol, 12);
    write(&mut vol, &mut inode, 0, 100, None);
    let mut other = (vol.clone(), inode.clone());
    let a = write(&mut vol, &mut inode, 100, 500, None);
    let b = write(&mut other.0, &mut other.1, 100, 500, None);
    assert_eq!(a, b, "the same from the same state");
    check_sums(&mut vol);
    check_sums(&mut other.0);
}
