//! Mounting what is damaged, and changing it: calls fail in words, nothing panics, nothing
//! runs for ever.

mod oracle;

use fslab_engine::device::{Overlaid, Ram};
use fslab_engine::disk::{CowDisk, FileReader, ReadAt, WriteAt};
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::kernel::xattr::SetFlags;
use fslab_engine::kernel::{
    Caller, ErrorsBehaviour, FallocateMode as Mode, Fd, Mount, MountOptions, OpenFlags, Result,
    Whence,
};
use fslab_engine::units::SimTime;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::OnceLock;

const LEN: u64 = 8 << 20;

/// Calls of every kind, on what [`filled`] made and beside it. Each may fail.
fn exercise(mount: &mut Mount) {
    let who = Caller::root();
    mount.vol.events.now = SimTime(1_000_000_000);
    for path in [
        &b"/"[..],
        b"/d",
        b"/d/f",
        b"/many",
        b"/many/n7",
        b"/link",
        b"/sparse",
        b"/deep",
    ] {
        look(mount, &who, path);
    }
    let _ = one_of_each(mount, &who);
    for n in 0..40 {
        let _ = mount.unlink(&who, format!("/many/n{n}").as_bytes());
    }
    let _ = mount.sync();
    let _ = mount.advance(SimTime(100_000_000_000));
    let _ = mount.statfs();
    let _ = mount.fitrim(0, u64::MAX, 0);
}

fn look(mount: &mut Mount, who: &Caller, path: &[u8]) {
    let _ = mount.lstat(who, path);
    let _ = mount.readlink(who, path);
    if let Ok(names) = mount.listxattr(who, path, false) {
        for name in names {
            let _ = mount.getxattr(who, path, &name, false);
        }
    }
    let Ok(fd) = mount.open(who, path, OpenFlags::empty(), 0) else {
        return;
    };
    let _ = mount.read(fd, 1 << 20);
    let _ = mount.getdents(fd);
    let _ = mount.fiemap(fd, 0, 1 << 30, true);
    let _ = mount.lseek(fd, 0, Whence::Data);
    let _ = mount.lseek(fd, 0, Whence::Hole);
    let _ = mount.close(fd);
}

fn one_of_each(mount: &mut Mount, who: &Caller) -> Result<()> {
    let flags = OpenFlags::RDWR | OpenFlags::CREAT;
    for path in [&b"/d/f"[..], b"/sparse", b"/new", b"/deep"] {
        if let Ok(fd) = mount.open(who, path, flags, 0o644) {
            change(mount, fd);
            let _ = mount.close(fd);
        }
    }
    let _ = mount.mkdir(who, b"/d/sub", 0o755);
    let _ = mount.symlink(who, &[b'x'; 300], b"/d/long");
    let _ = mount.link(who, b"/d/f", b"/many/linked");
    let _ = mount.rename(who, b"/many/n9", b"/d/moved", 0);
    let _ = mount.rename(who, b"/d", b"/many/d", 0);
    let _ = mount.rename(who, b"/many/n1", b"/many/n2", 2);
    let _ = mount.setxattr(who, b"/many", b"user.a", &[7; 900], SetFlags::empty(), true);
    let _ = mount.removexattr(who, b"/many/d/f", b"user.big", true);
    let _ = mount.truncate(who, b"/sparse", 5000);
    for n in 0..200 {
        let fd = mount.open(who, format!("/many/added-{n}").as_bytes(), flags, 0o600)?;
        mount.write(fd, &[1; 100])?;
        mount.close(fd)?;
    }
    mount.unlink(who, b"/sparse")?;
    mount.rmdir(who, b"/many/d/sub")
}

fn change(mount: &mut Mount, fd: Fd) {
    let _ = mount.pwrite(fd, &[2; 9000], 3000);
    for (mode, at, len) in [
        (Mode::empty(), 20_000, 40_000),
        (Mode::PUNCH_HOLE | Mode::KEEP_SIZE, 2048, 4096),
        (Mode::ZERO_RANGE, 8192, 8192),
        (Mode::COLLAPSE_RANGE, 4096, 4096),
        (Mode::INSERT_RANGE, 4096, 8192),
    ] {
        let _ = mount.fallocate(fd, mode, at, len);
    }
    let _ = mount.fsync(fd);
    let _ = mount.ftruncate(fd, 100_000);
}

/// Filesystems of several kinds with something of everything in them.
fn filled() -> &'static [CowDisk] {
    static MADE: OnceLock<Vec<CowDisk>> = OnceLock::new();
    MADE.get_or_init(|| {
        let kinds: [(FsType, Option<u32>, &[&str]); 5] = [
            (FsType::Ext2, Some(1024), &[]),
            (FsType::Ext3, Some(1024), &["dir_index"]),
            (FsType::Ext4, Some(1024), &[]),
            (FsType::Ext4, Some(4096), &["^has_journal"]),
            (FsType::Ext4, Some(1024), &["^has_journal", "bigalloc"]),
        ];
        kinds.iter().map(|k| fill(k.0, k.1, k.2)).collect()
    })
}

fn fill(fs_type: FsType, block_size: Option<u32>, features: &[&str]) -> CowDisk {
    let mut disk = CowDisk::new(LEN);
    let options = Options {
        fs_type,
        block_size,
        features: features.iter().map(ToString::to_string).collect(),
        uuid: [3; 16],
        hash_seed: [5; 16],
        ..Options::default()
    };
    mkfs(&options, &mut disk, LEN).unwrap();
    let mut mount = Mount::mount(Box::new(Ram::new(disk)), MountOptions::default()).unwrap();
    let who = Caller::root();
    let flags = OpenFlags::RDWR | OpenFlags::CREAT;
    for dir in ["/d", "/many"] {
        mount.mkdir(&who, dir.as_bytes(), 0o755).unwrap();
    }
    let mut write = |path: &str, at: u64, bytes: &[u8]| {
        let fd = mount.open(&who, path.as_bytes(), flags, 0o644).unwrap();
        mount.pwrite(fd, bytes, at).unwrap();
        mount.fsync(fd).unwrap();
        mount.close(fd).unwrap();
    };
    write("/d/f", 0, &[1; 50_000]);
    write("/sparse", 3_000_000, &[1; 50_000]);
    for i in 0..60 {
        write("/deep", i * 20_000, &[i as u8 + 1; 3000]);
    }
    for n in 0..150 {
        write(&format!("/many/n{n}"), 0, &[n as u8; 10]);
    }
    mount.symlink(&who, b"d/f", b"/link").unwrap();
    let big = vec![9; 700];
    let _ = mount.setxattr(&who, b"/d/f", b"user.big", &big, SetFlags::empty(), true);
    let (device, done) = mount.unmount();
    done.unwrap();
    device
        .as_any()
        .downcast_ref::<Ram>()
        .unwrap()
        .disk()
        .clone()
}

/// Which bytes to damage: a place among those that hold anything, and what to put there.
fn damage() -> impl Strategy<Value = Vec<(u32, u8, bool)>> {
    proptest::collection::vec((any::<u32>(), any::<u8>(), any::<bool>()), 1..12)
}

fn spoil(disk: &mut CowDisk, wounds: &[(u32, u8, bool)]) {
    let runs: Vec<(u64, u64)> = disk.data().collect();
    let total: u64 = runs.iter().map(|r| r.1).sum();
    for &(place, byte, start) in wounds {
        let mut at = u64::from(place) % total;
        for &(offset, len) in &runs {
            if at < len {
                // The beginnings of blocks hold the heads of most structures.
                let at = if start {
                    (offset + at) / 1024 * 1024 + u64::from(byte % 32)
                } else {
                    offset + at
                };
                let _ = disk.write_at(at.min(disk.len() - 1), &[byte]);
                break;
            }
            at -= len;
        }
    }
}

fn mount_and_exercise(disk: CowDisk, errors: ErrorsBehaviour) {
    let options = MountOptions {
        errors: Some(errors),
        ..MountOptions::default()
    };
    if let Ok(mut mount) = Mount::mount(Box::new(Ram::new(disk)), options) {
        exercise(&mut mount);
        let _ = mount.unmount();
    }
}

/// So many damaged images, or as many as `FSLAB_DAMAGED` says.
fn cases() -> u32 {
    let asked = std::env::var("FSLAB_DAMAGED").ok();
    asked.and_then(|n| n.parse().ok()).unwrap_or(192)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn random_damage_never_panics(kind in 0usize..5, wounds in damage(), go_on: bool) {
        let mut disk = filled()[kind].clone();
        spoil(&mut disk, &wounds);
        let errors = if go_on { ErrorsBehaviour::Continue } else { ErrorsBehaviour::RemountRo };
        mount_and_exercise(disk, errors);
    }
}

#[test]
fn the_sound_ones_can_be_exercised() {
    for disk in filled() {
        let mut mount =
            Mount::mount(Box::new(Ram::new(disk.clone())), MountOptions::default()).unwrap();
        exercise(&mut mount);
        let (_, done) = mount.unmount();
        assert_eq!(done, Ok(()));
    }
}

/// With `errors=remount-ro` nothing is written after the first damage that was met.
#[test]
fn damage_makes_it_read_only() {
    let mut disk = filled()[3].clone();
    let who = Caller::root();
    let mut mount =
        Mount::mount(Box::new(Ram::new(disk.clone())), MountOptions::default()).unwrap();
    let ino = mount.lstat(&who, b"/d").unwrap().ino;
    let inode = mount.inode(ino).unwrap();
    let run =
        fslab_engine::kernel::map::lookup(&mut mount.vol, &inode, fslab_engine::units::Lblk(0), 1)
            .unwrap();
    disk.write_at(run.start.0 * 4096 + 4, &[1, 0]).unwrap();
    for (errors, read_only) in [
        (ErrorsBehaviour::RemountRo, true),
        (ErrorsBehaviour::Continue, false),
    ] {
        let options = MountOptions {
            errors: Some(errors),
            ..MountOptions::default()
        };
        let mut mount = Mount::mount(Box::new(Ram::new(disk.clone())), options).unwrap();
        assert!(mount.lstat(&who, b"/d/f").is_err());
        let made = mount.mkdir(&who, b"/new", 0o755);
        let expected = if read_only {
            Err(fslab_engine::kernel::Errno::EROFS)
        } else {
            Ok(())
        };
        assert_eq!(made, expected);
    }
}

/// e2fsprogs' own damaged images.
#[test]
fn the_images_of_e2fsprogs_never_panic() {
    let Some(images) = oracle::shared::images() else {
        return;
    };
    for image in images {
        let Ok(path) = image.unpacked() else { continue };
        let Ok(reader) = FileReader::open(&path) else {
            continue;
        };
        let options = MountOptions {
            errors: Some(ErrorsBehaviour::Continue),
            ..MountOptions::default()
        };
        let device = Overlaid::new(Arc::new(reader));
        if let Ok(mut mount) = Mount::mount(Box::new(device), options) {
            exercise(&mut mount);
            let _ = mount.unmount();
        }
    }
}

/// A first superblock whose checksum does not hold is not mounted, sound backups or not: as
/// the real kernel says of the same image. A backup's flags would leave the journal out.
#[test]
fn a_mount_takes_no_backup_of_the_superblock() {
    use std::os::unix::fs::FileExt;
    let mut disk = CowDisk::new(64 << 20);
    let options = Options {
        fs_type: FsType::Ext4,
        block_size: Some(1024),
        ..Options::default()
    };
    mkfs(&options, &mut disk, 64 << 20).unwrap();
    // s_mnt_count: nothing else depends on it.
    let mut byte = [0];
    disk.read_at(1024 + 0x34, &mut byte).unwrap();
    disk.write_at(1024 + 0x34, &[byte[0] ^ 1]).unwrap();
    let ours = Mount::mount(Box::new(Ram::new(disk.clone())), MountOptions::default());
    let words = ours.unwrap_err().to_string();
    assert!(words.starts_with("The superblock has checksum"), "{words}");
    if let Err(why) = oracle::available() {
        return oracle::skipped(&why).unwrap_or(());
    }
    let dir = tempfile::tempdir().unwrap();
    let (image, at) = (dir.path().join("image"), dir.path().join("mount"));
    let file = std::fs::File::create(&image).unwrap();
    file.set_len(disk.len()).unwrap();
    for (start, len) in disk.data() {
        let mut bytes = vec![0; len as usize];
        disk.read_at(start, &mut bytes).unwrap();
        file.write_all_at(&bytes, start).unwrap();
    }
    std::fs::create_dir_all(&at).unwrap();
    assert!(oracle::while_mounted(&image, &at, "true", &[]).is_err());
    // The image itself is one that the kernel takes.
    file.write_all_at(&byte, 1024 + 0x34).unwrap();
    oracle::while_mounted(&image, &at, "true", &[]).unwrap();
}
