//! Published experiments on the kernel's side: F3, F4, F5, M1 of `shared/experiments`.
//! The expected values are those that its README gives.

use fslab_engine::device::Ram;
use fslab_engine::disk::CowDisk;
use fslab_engine::event::What;
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::kernel::{
    Caller, Errno, FallocateMode as Mode, Fd, Mount, MountOptions, OpenFlags,
};

const MIB: u64 = 1 << 20;
const ALL: u64 = u64::MAX >> 1;

fn mounted(bytes: u64, options: MountOptions) -> Mount {
    let mut disk = CowDisk::new(bytes);
    let how = Options {
        fs_type: FsType::Ext4,
        uuid: [7; 16],
        hash_seed: [9; 16],
        ..Options::default()
    };
    mkfs(&how, &mut disk, bytes).unwrap();
    Mount::mount(Box::new(Ram::new(disk)), options).unwrap()
}

fn create(mount: &mut Mount, path: &str) -> Fd {
    let flags = OpenFlags::RDWR | OpenFlags::CREAT;
    mount
        .open(&Caller::root(), path.as_bytes(), flags, 0o644)
        .unwrap()
}

/// F3: fallocate that does not hide what was there.
#[test]
fn f3_no_hide_stale_is_for_a_group_and_for_files() {
    let stale = Mode::NO_HIDE_STALE;
    let options = MountOptions {
        nohide_stale_gid: Some(1000),
        ..MountOptions::default()
    };
    let mut mount = mounted(64 * MIB, options);
    let member = Caller {
        gid: 1000,
        ..Caller::root()
    };
    let flags = OpenFlags::RDWR | OpenFlags::CREAT;
    let fd = mount.open(&member, b"file", flags, 0o644).unwrap();
    let both = stale | Mode::KEEP_SIZE;
    assert_eq!(mount.fallocate(fd, both, 0, MIB), Err(Errno::EOPNOTSUPP));
    let stranger = create(&mut mount, "file");
    assert_eq!(mount.fallocate(stranger, stale, 0, MIB), Err(Errno::EACCES));
    let dir = mount.open(&member, b"/", OpenFlags::DIRECTORY, 0).unwrap();
    assert_eq!(mount.fallocate(dir, stale, 0, MIB), Err(Errno::ENODEV));

    assert_eq!(mount.fallocate(fd, stale, 0, MIB), Ok(()));
    let extents = mount.fiemap(fd, 0, ALL, true).unwrap();
    let unwritten = fslab_engine::kernel::FiemapFlags::UNWRITTEN;
    assert!(!extents.is_empty() && extents.iter().all(|e| !e.flags.contains(unwritten)));
    assert_eq!(mount.fstat(fd).unwrap().size, MIB);

    // Without the mount option nobody may.
    let mut mount = mounted(64 * MIB, MountOptions::default());
    let fd = create(&mut mount, "file");
    assert_eq!(mount.fallocate(fd, stale, 0, MIB), Err(Errno::EOPNOTSUPP));
}

/// F4: what delayed allocation asks of the allocator for 5 GiB written in pages of 4 KiB
/// and written back 128 blocks at a time.
#[test]
fn f4_few_allocations_for_many_reservations() {
    const BLOCKS: u64 = 5 << 30 >> 12;
    let options = MountOptions {
        writeback_blocks: 128,
        ..MountOptions::default()
    };
    let mut mount = mounted(8 << 30, options);
    mount.vol.events.keep(true);
    let fd = create(&mut mount, "file");
    let (mut reserved, mut allocated, mut kept) = (0u64, 0u64, 0u64);
    let mut count = |mount: &mut Mount| {
        for event in mount.take_events() {
            match event.what {
                What::Reserved { blocks, .. } => {
                    assert_eq!(blocks, 1);
                    reserved += 1;
                }
                What::Allocated {
                    reason: fslab_engine::event::Reason::Data,
                    ..
                } => allocated += 1,
                What::Preallocated { inode, .. } if inode.0 != 0 => kept += 1,
                _ => {}
            }
        }
    };
    for at in 0..BLOCKS / 4096 {
        assert_eq!(
            mount.write_pattern(fd, 16 * MIB, 1, at * 16 * MIB),
            Ok(16 * MIB)
        );
        count(&mut mount);
    }
    mount.fsync(fd).unwrap();
    count(&mut mount);
    let near = |n: u64, wanted: u64| n.abs_diff(wanted) * 50 <= wanted;
    assert_eq!(reserved, 1_310_720);
    assert!(near(allocated, 10_240), "{allocated} allocations");
    assert!(near(kept, 640), "{kept} preallocations");
}

/// F5: a swap file may have no unwritten extents.
#[test]
fn f5_swapon_refuses_unwritten_extents() {
    let root = Caller::root();
    let mut mount = mounted(64 * MIB, MountOptions::default());
    let fd = create(&mut mount, "swap");
    mount.fallocate(fd, Mode::empty(), 0, MIB).unwrap();
    // mkswap writes its header into the first page.
    let mut header = vec![0; 4096];
    header[4086..].copy_from_slice(b"SWAPSPACE2");
    mount.pwrite(fd, &header, 0).unwrap();
    mount.fsync(fd).unwrap();
    assert_eq!(mount.swapon(&root, b"swap"), Err(Errno::EINVAL));
    for page in 1..MIB / 4096 {
        mount.pwrite(fd, &vec![0; 4096], page * 4096).unwrap();
    }
    mount.fsync(fd).unwrap();
    assert_eq!(mount.swapon(&root, b"swap"), Ok(()));
}

/// M1: a copy that goes by FIEMAP, of a file just written.
#[test]
fn m1_a_copy_by_fiemap_before_and_after_the_fix() {
    for misses in [true, false] {
        let options = MountOptions {
            fiemap_misses_delayed: misses,
            ..MountOptions::default()
        };
        let mut mount = mounted(64 * MIB, options);
        let (from, to) = (create(&mut mount, "from"), create(&mut mount, "to"));
        let contents: Vec<u8> = (0..100_000u32).map(|i| (i % 251 + 1) as u8).collect();
        mount.write(from, &contents).unwrap();
        for e in mount.fiemap(from, 0, ALL, false).unwrap() {
            let bytes = mount.pread(from, e.length, e.logical).unwrap();
            mount.pwrite(to, &bytes, e.logical).unwrap();
        }
        mount.ftruncate(to, contents.len() as u64).unwrap();
        let copy = mount.pread(to, contents.len() as u64, 0).unwrap();
        assert_eq!(copy == contents, !misses);
        assert_eq!(copy.iter().all(|&b| b == 0), misses);
    }
}
