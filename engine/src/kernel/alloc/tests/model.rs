//! Random allocating and freeing against a list of who has what.

use super::super::{self as alloc, Near};
use super::*;
use crate::kernel::{AllocatorKind, Errno};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
enum Step {
    /// File, block of the file, blocks.
    Take(u8, u16, u16),
    /// The same at the end of the file.
    Append(u8, u16),
    /// A block of metadata.
    Node(u8),
    /// Frees some of what a file has, by a number.
    Free(u8, u16),
    Close(u8),
    /// Frees all that a file has.
    Delete(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let file = 0u8..6;
    prop_oneof![
        3 => (file.clone(), any::<u16>(), 1u16..3000).prop_map(|(f, l, n)| Step::Take(f, l, n)),
        6 => (file.clone(), 1u16..20).prop_map(|(f, n)| Step::Append(f, n)),
        2 => (file.clone(), 100u16..2500).prop_map(|(f, n)| Step::Append(f, n)),
        2 => file.clone().prop_map(Step::Node),
        4 => (file.clone(), any::<u16>()).prop_map(|(f, n)| Step::Free(f, n)),
        2 => file.clone().prop_map(Step::Close),
        1 => file.prop_map(Step::Delete),
    ]
}

/// First block of a run in a file: where it is, how long.
type Mapped = BTreeMap<u32, (u64, u32)>;

/// Who has what.
struct Model {
    vol: Volume,
    files: Vec<(InodeInfo, Mapped)>,
    nodes: Vec<(u8, u64)>,
    /// Blocks in use by files.
    used: Vec<bool>,
}

impl Model {
    fn new(shape: &Shape, mount: &MountOptions) -> Self {
        let mut vol = volume(shape, mount);
        let files = (0..6)
            .map(|i| (file(&vol, 12 + i * 100), BTreeMap::new()))
            .collect();
        let mut used = vec![false; vol.geo.blocks as usize];
        for g in (0..vol.geo.groups).map(GroupNr) {
            let map = group::block_bitmap(&mut vol, g).expect("a sound bitmap");
            let start = vol.geo.group_start(g).0;
            for n in 0..vol.geo.group_len(g) {
                let bit = n / vol.geo.cluster_blocks;
                used[(start + u64::from(n)) as usize] = super::super::bits::test(&map, bit);
            }
        }
        Self {
            vol,
            files,
            nodes: Vec::new(),
            used,
        }
    }

    fn mark(&mut self, start: u64, len: u64, on: bool) {
        let per = u64::from(self.vol.geo.cluster_blocks);
        let (from, to) = (start - start % per, (start + len).next_multiple_of(per));
        for at in from..to.min(self.vol.geo.blocks) {
            assert_ne!(
                self.used[at as usize], on,
                "block {at} was handed out twice"
            );
            self.used[at as usize] = on;
        }
    }

    fn take(&mut self, f: u8, lblk: u32, len: u32) {
        let per = self.vol.geo.cluster_blocks;
        let lblk = lblk - lblk % per;
        let (inode, map) = &mut self.files[usize::from(f)];
        let left = map
            .range(..=lblk)
            .next_back()
            .map(|(&l, &(at, n))| (l, at, n));
        let right = map.range(lblk + 1..).next().map(|(&l, &(at, _))| (l, at));
        if left.is_some_and(|(l, _, n)| l + n > lblk) {
            return;
        }
        let most = right.map_or(u32::MAX, |(l, _)| l - lblk);
        let near = Near {
            left: left.map(|(l, at, n)| (Lblk(l + n - 1), BlockNr(at + u64::from(n) - 1))),
            right: right.map(|(l, at)| (Lblk(l), BlockNr(at))),
        };
        let mut want = want(lblk, len.min(most));
        if let Some((l, at, _)) = left {
            want.goal = BlockNr(at + u64::from(lblk - l));
        }
        let before = inode.sectors(&self.vol);
        let free = self.vol.free_clusters;
        match alloc::new_blocks_near(&mut self.vol, inode, &want, &near) {
            Ok((start, n)) => {
                assert!(n > 0 && n <= want.len);
                assert!(self.vol.data_blocks_valid(start, n.into()));
                let clusters = u64::from(n.div_ceil(per));
                let sectors = clusters * u64::from(per * self.vol.geo.block_size / 512);
                assert_eq!(inode.sectors(&self.vol) - before, sectors);
                // A cluster that was only asked for in part is the file's as a whole.
                let n = n.next_multiple_of(per);
                map.insert(lblk, (start.0, n));
                inode.size = inode
                    .size
                    .max(u64::from(lblk + n) * u64::from(self.vol.geo.block_size));
                self.mark(start.0, n.into(), true);
            }
            Err(e) => {
                assert_eq!(e, Errno::ENOSPC);
                assert!(
                    free <= self.vol.alloc.pool,
                    "no space, but {free} clusters are free"
                );
            }
        }
    }

    fn free(&mut self, f: u8, lblk: u32) {
        let (inode, map) = &mut self.files[usize::from(f)];
        if let Some((start, n)) = map.remove(&lblk) {
            alloc::free_blocks(&mut self.vol, inode, BlockNr(start), n.into(), false)
                .expect("freed");
            self.mark(start, n.into(), false);
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Take(f, lblk, n) => self.take(f, lblk.into(), n.into()),
            Step::Append(f, n) => {
                let map = &self.files[usize::from(f)].1;
                let end = map.iter().next_back().map_or(0, |(l, (_, n))| l + n);
                self.take(f, end, n.into());
            }
            Step::Node(f) => {
                let mut want = want(0, 1);
                want.reason = Reason::Metadata;
                let inode = &mut self.files[usize::from(f)].0;
                if let Ok((at, 1)) = alloc::new_blocks(&mut self.vol, inode, &want) {
                    self.mark(at.0, 1, true);
                    self.nodes.push((f, at.0));
                }
            }
            Step::Free(f, n) => {
                let map = &self.files[usize::from(f)].1;
                let key = map.keys().nth(usize::from(n) % map.len().max(1)).copied();
                if let Some(lblk) = key {
                    self.free(f, lblk);
                }
            }
            Step::Close(f) => {
                let inode = &mut self.files[usize::from(f)].0;
                alloc::discard_preallocations(&mut self.vol, inode);
            }
            Step::Delete(f) => self.delete(f),
        }
    }

    fn delete(&mut self, f: u8) {
        let keys: Vec<u32> = self.files[usize::from(f)].1.keys().copied().collect();
        for lblk in keys {
            self.free(f, lblk);
        }
        let nodes = std::mem::take(&mut self.nodes);
        for (owner, at) in nodes {
            if owner != f {
                self.nodes.push((owner, at));
                continue;
            }
            let inode = &mut self.files[usize::from(f)].0;
            alloc::free_blocks(&mut self.vol, inode, BlockNr(at), 1, true).expect("freed");
            self.mark(at, 1, false);
        }
        let inode = &mut self.files[usize::from(f)].0;
        inode.size = 0;
        alloc::discard_preallocations(&mut self.vol, inode);
        assert_eq!(inode.sectors(&self.vol), 0);
    }

    fn agrees(&mut self) {
        check_sums(&mut self.vol);
        for g in (0..self.vol.geo.groups).map(GroupNr) {
            let map = group::block_bitmap(&mut self.vol, g).expect("a sound bitmap");
            let start = self.vol.geo.group_start(g).0;
            for n in 0..self.vol.geo.group_len(g) {
                let bit = n / self.vol.geo.cluster_blocks;
                let at = start + u64::from(n);
                assert_eq!(
                    super::super::bits::test(&map, bit),
                    self.used[at as usize],
                    "block {at}"
                );
            }
        }
    }
}

fn run(shape: &Shape, kind: AllocatorKind, steps: &[Step]) {
    let mount = MountOptions {
        allocator: kind,
        ..MountOptions::default()
    };
    let mut model = Model::new(shape, &mount);
    let free = model.vol.free_clusters;
    for step in steps {
        model.step(step);
    }
    model.agrees();
    for f in 0..6 {
        model.delete(f);
    }
    model.agrees();
    assert_eq!(model.vol.free_clusters, free, "all is free again");
    assert_eq!(
        model.vol.alloc.groups.kept.count(),
        0,
        "nothing is kept for files that have gone"
    );
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn hands_out_what_is_free_once(
        shape in 0..shapes().len(),
        kind in prop::sample::select(vec![AllocatorKind::Auto, AllocatorKind::Multiblock, AllocatorKind::Ext2, AllocatorKind::ReuseFirst]),
        steps in prop::collection::vec(step(), 1..120),
    ) {
        run(&shapes()[shape], kind, &steps);
    }
}

/// Every block there is can be had, by any allocator, and then no more.
#[test]
fn fills_to_the_last_block() {
    for kind in [
        AllocatorKind::Multiblock,
        AllocatorKind::Ext2,
        AllocatorKind::ReuseFirst,
    ] {
        for shape in shapes().iter().filter(|s| s.2 < 100 * MIB) {
            let mount = MountOptions {
                allocator: kind,
                ..MountOptions::default()
            };
            let mut model = Model::new(shape, &mount);
            model.vol.alloc.pool = 0;
            let mut lblk = [0; 6];
            let mut f = 0;
            while model.vol.free_clusters > 0 {
                let before = model.vol.free_clusters;
                model.take(f, lblk[usize::from(f)], 37);
                assert!(
                    model.vol.free_clusters < before,
                    "{}: stuck at {before}",
                    shape.0
                );
                lblk[usize::from(f)] += 40;
                f = (f + 1) % 6;
            }
            model.agrees();
            let inode = &mut model.files[0].0;
            let more = alloc::new_blocks(&mut model.vol, inode, &want(1 << 20, 1));
            assert_eq!(more, Err(Errno::ENOSPC));
        }
    }
}
