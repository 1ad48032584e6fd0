//! Damaged bitmaps and descriptors are noted, and nothing panics.

use super::super::{self as alloc};
use super::*;
use crate::disk::{ReadAt, WriteAt};
use crate::kernel::{AllocatorKind, ErrorsBehaviour};
use proptest::prelude::*;

/// Blocks of descriptors and bitmaps.
fn victims(vol: &mut Volume) -> Vec<u64> {
    let mut all = vec![vol.geo.first_data_block + 1];
    for g in (0..vol.geo.groups).map(GroupNr) {
        let d = vol.desc(g).expect("a descriptor");
        all.extend([d.block_bitmap().0, d.inode_bitmap().0]);
    }
    all
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn damage_does_not_panic(
        shape in 0..shapes().len(),
        kind in prop::sample::select(vec![AllocatorKind::Multiblock, AllocatorKind::Ext2, AllocatorKind::ReuseFirst]),
        hits in prop::collection::vec((any::<u16>(), any::<u16>(), any::<u8>()), 1..80),
        steps in prop::collection::vec((any::<u8>(), any::<u32>(), 1u32..4000), 1..60),
    ) {
        let shape = &shapes()[shape];
        let mut disk = CowDisk::new(shape.2);
        mkfs(&shape.1, &mut disk, shape.2).expect(shape.0);
        let mut sound = volume(shape, &MountOptions::default());
        let size = u64::from(sound.geo.block_size);
        let victims = victims(&mut sound);
        for (block, byte, value) in hits {
            let block = victims[usize::from(block) % victims.len()];
            let at = block * size + u64::from(byte) % size;
            if at < disk.len() {
                disk.write_at(at, &[value]).expect("inside");
            }
        }
        let mount = MountOptions {
            allocator: kind,
            errors: Some(ErrorsBehaviour::Continue),
            ..MountOptions::default()
        };
        let Ok(mut vol) = Volume::open(Box::new(Ram::new(disk)), mount) else { return Ok(()) };
        let mut inode = file(&vol, 12);
        let root = file(&vol, 2);
        let mut had = Vec::new();
        for (what, n, len) in steps {
            match what % 7 {
                0..=2 => {
                    if let Ok((start, n)) = alloc::new_blocks(&mut vol, &mut inode, &want(n >> 8, len)) {
                        prop_assert!(vol.data_blocks_valid(start, n.into()));
                        had.push((start, n));
                    }
                }
                3 => {
                    let run = if what & 8 == 0 { had.pop() } else { Some((BlockNr(n.into()), len)) };
                    if let Some((start, n)) = run {
                        let _ = alloc::free_blocks(&mut vol, &mut inode, start, n.into(), what & 16 != 0);
                    }
                }
                4 => _ = alloc::new_inode(&mut vol, Some(&root), if what & 8 == 0 { 0x41ED } else { 0x81A4 }, b"n"),
                5 => _ = alloc::free_inode(&mut vol, InodeNr(n % 20_000), what & 8 == 0),
                _ => {
                    alloc::discard_preallocations(&mut vol, &mut inode);
                    let _ = alloc::trim(&mut vol, 0, u64::MAX, 0);
                    let _ = alloc::statfs(&vol);
                }
            }
        }
    }
}
