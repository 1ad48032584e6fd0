//! Recovery at a mount: journals that the real kernel left come out as the kernel's own
//! mount leaves them.

mod oracle;
mod recovery_support;

use fslab_engine::device::{Device, Op, Overlaid, Request};
use fslab_engine::disk::{CowDisk, Data, FileReader, ReadAt};
use fslab_engine::ext4::journal::Journal;
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::ext4::read::Fs;
use fslab_engine::kernel::{Caller, Mount, MountOptions};
use oracle::BUSY;
use recovery_support::{
    clean, mounted_once, over, overlaid, same_as_kernels, same_groups, write_changes,
};

/// Issue "The journal", Shows 2.
#[test]
fn busy_images_are_recovered_as_by_the_kernel() {
    let mut seen = 0;
    for busy in BUSY {
        let Some(image) = oracle::busy_image(busy) else {
            return;
        };
        let what = busy.name;
        let ours = mounted_once(over(&image.path)).unwrap_or_else(|e| panic!("{what}: {e}"));
        same_as_kernels(ours.clone(), &image.after, what);
        same_groups(ours.clone(), &image.after, what);
        clean(&ours, &image.path, what);
        seen += 1;
    }
    eprintln!("{seen} busy images");
}

/// What Linux 6 does with the journals of e2fsprogs' tests, seen by mounting them.
const SHARED: &[(&str, bool)] = &[
    ("j_corrupt_commit_tid", true),
    ("j_corrupt_descr_tid", true),
    // A copy with a wrong checksum: Linux and e2fsck replay the rest. Then Linux fails the
    // mount; e2fsck counts it as recovered with an error noted.
    ("j_corrupt_journal_block", false),
    ("j_corrupt_revoke_csum", true),
    // Both refuse.
    ("j_corrupt_revoke_rcount", false),
    // Linux refuses; e2fsck -y is told to go on all the same, which no mount is.
    ("j_corrupt_sb_csum", false),
    // Linux refuses; e2fsck -y makes a new journal.
    ("j_corrupt_sb_magic", false),
    ("j_recover_csum2_32bit", true),
    ("j_recover_csum2_64bit", true),
    ("j_recover_csum3_64bit", true),
    // Without their journal's device.
    (
        "j_corrupt_ext_jnl_sb_block.j_corrupt_ext_jnl_sb_block.img",
        false,
    ),
    (
        "j_corrupt_ext_jnl_sb_csum.j_corrupt_ext_jnl_sb_csum.img",
        false,
    ),
    // Devices that hold a journal and nothing else.
    ("j_ext_dumpe2fs", false),
    (
        "j_corrupt_ext_jnl_sb_block.j_corrupt_ext_jnl_sb_block.img.jnl",
        false,
    ),
    (
        "j_corrupt_ext_jnl_sb_csum.j_corrupt_ext_jnl_sb_csum.img.jnl",
        false,
    ),
];

/// Issue "The journal", Shows 3: the same blocks as after `e2fsck -y -E journal_only`, or
/// the same refusal.
#[test]
fn e2fsprogs_journals_are_recovered_as_by_e2fsck() {
    let Some(images) = oracle::shared::images() else {
        return;
    };
    let all = images.iter().filter(|i| i.name.starts_with("j_"));
    assert_eq!(all.count(), SHARED.len());
    for (name, mounts) in SHARED {
        let image = images.iter().find(|i| i.name == *name).unwrap();
        let path = image.unpacked().unwrap();
        let found = Mount::mount(Box::new(over(&path)), MountOptions::default());
        match found {
            Err(why) => {
                eprintln!("{name}: {why}");
                assert!(!mounts, "{name}: {why}");
                assert!(!why.to_string().is_empty());
            }
            Ok(mount) => {
                assert!(mounts, "{name} was mounted");
                let differ = differ_from_e2fscks(&path, &overlaid(mount.vol.device()));
                assert!(differ.is_empty(), "{name}: {differ:?} differ");
                mount.unmount().1.unwrap();
            }
        }
    }
}

/// Blocks that are not as e2fsck's replay leaves them, besides the superblocks of the
/// filesystem and of the journal, which a mount marks.
fn differ_from_e2fscks(image: &std::path::Path, ours: &Overlaid) -> Vec<u64> {
    let (_folder, copy) = oracle::scratch_copy(image).unwrap();
    let words = ["-y", "-E", "journal_only"].map(std::ffi::OsStr::new);
    let mut words = words.to_vec();
    words.push(copy.as_os_str());
    oracle::output(&mut oracle::limited(60, "e2fsck", &words)).unwrap();
    let theirs = FileReader::open(&copy).unwrap();
    let fs = Fs::open(ours.clone()).unwrap();
    let log = Journal::open(&fs).unwrap();
    let size = fs.geometry().block_size as usize;
    let marked = [1024 / size as u64, log.log().physical(0).unwrap().0];
    let (mut a, mut b) = (vec![0; size], vec![0; size]);
    let mut different = Vec::new();
    for block in (0..fs.geometry().blocks).filter(|b| !marked.contains(b)) {
        theirs.read_at(block * size as u64, &mut a).unwrap();
        ours.read_at(block * size as u64, &mut b).unwrap();
        if a != b {
            different.push(block);
        }
    }
    different
}

/// A fixed course of pseudo-random numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n.max(1)
    }
}

/// Bytes of the journal's blocks that mean something: where each begins.
fn places(device: &Overlaid) -> Vec<u64> {
    let fs = Fs::open(device.clone()).unwrap();
    let journal = Journal::open(&fs).unwrap();
    let log = journal.log();
    let mut blocks = vec![0; 8];
    for b in journal.transactions().iter().flat_map(|t| &t.blocks) {
        blocks.push(b.block);
    }
    if let Some(area) = journal.fast_commits() {
        blocks.extend((0..16).map(|_| area.first));
    }
    blocks.iter().filter_map(|b| log.offset(*b)).collect()
}

fn damage(device: &mut Overlaid, places: &[u64], r: &mut Random) {
    let odd = [0u32, 1, 2, 0x7FFF_FFFF, 0x8000_0000, u32::MAX];
    for _ in 0..1 + r.below(3) {
        let place = places[r.below(places.len() as u64) as usize];
        let within = if r.below(2) == 0 { 96 } else { 1020 };
        let bytes = match r.below(3) {
            0 => odd[r.below(6) as usize].to_be_bytes(),
            1 => [0, 0, 0, r.below(256) as u8],
            _ => (r.below(1 << 32) as u32).to_be_bytes(),
        };
        let data = vec![(Data::Bytes(bytes.to_vec().into()), 4)];
        let request = Request {
            op: Op::Write { data, fua: false },
            offset: place + r.below(within) / 4 * 4,
            len: 4,
            cause: None,
        };
        device.submit(request).unwrap();
    }
}

/// Every mount of a damaged journal ends, with or without an error, and says something.
fn damaged_journals(name: &str, whole: &Overlaid, rounds: u64) {
    let places = places(whole);
    let mut r = Random(7);
    let (mut mounted, mut refused) = (0, 0);
    for _ in 0..rounds {
        let mut device = whole.clone();
        damage(&mut device, &places, &mut r);
        match Mount::mount(Box::new(device), MountOptions::default()) {
            Ok(mount) => {
                mounted += 1;
                let _ = mount.unmount();
            }
            Err(why) => {
                refused += 1;
                assert!(!why.to_string().is_empty());
            }
        }
    }
    eprintln!("{name}: {mounted} mounted, {refused} refused");
}

fn damage_rounds() -> u64 {
    std::env::var("FSLAB_DAMAGE_ROUNDS").map_or(60, |n| n.parse().unwrap())
}

#[test]
fn damage_to_the_kernels_journals_never_panics() {
    let names = [
        "ext3",
        "no-csum",
        "wrapped-1k",
        "csum-v1",
        "orphan-file",
        "fast-commit",
    ];
    for busy in BUSY.iter().filter(|b| names.contains(&b.name)) {
        let Some(image) = oracle::busy_image(busy) else {
            return;
        };
        damaged_journals(busy.name, &over(&image.path), damage_rounds());
    }
}

/// A journal of fslab's own with transactions that are not home.
fn dirty(fs_type: FsType) -> Overlaid {
    const LEN: u64 = 16 << 20;
    let mut disk = CowDisk::new(LEN);
    let mut options = Options {
        fs_type,
        block_size: Some(1024),
        ..Options::default()
    };
    options.journal.megabytes = Some(1);
    mkfs(&options, &mut disk, LEN).unwrap();
    let device = Overlaid::new(std::sync::Arc::new(disk));
    let mut m = Mount::mount(Box::new(device), MountOptions::default()).unwrap();
    let who = Caller::root();
    for n in 0..30 {
        let dir = format!("/d{n}");
        m.mkdir(&who, dir.as_bytes(), 0o755).unwrap();
        let target = vec![b'x'; 100];
        m.symlink(&who, &target, format!("{dir}/link").as_bytes())
            .unwrap();
        if n > 5 {
            m.unlink(&who, format!("/d{}/link", n - 3).as_bytes())
                .unwrap();
            m.rmdir(&who, format!("/d{}", n - 3).as_bytes()).unwrap();
        }
        m.commit().unwrap();
    }
    overlaid(m.vol.device())
}

#[test]
fn damage_to_our_journals_never_panics() {
    for (name, fs_type) in [("ext3", FsType::Ext3), ("ext4", FsType::Ext4)] {
        let whole = dirty(fs_type);
        assert!(mounted_once(whole.clone()).is_ok());
        damaged_journals(name, &whole, damage_rounds());
    }
}

/// A filesystem with its journal on another device, run here, cut off and recovered by
/// fslab and by e2fsck alike; both clean afterwards.
#[test]
fn an_external_journal_runs_and_is_recovered() {
    let Some(image) = oracle::image_named("external-journal") else {
        return;
    };
    let log_path = image.journal.as_ref().unwrap();
    let none = Mount::mount(Box::new(over(&image.path)), MountOptions::default());
    assert!(none.unwrap_err().to_string().contains("device of its own"));
    let mount = |fs: &Overlaid, log: &Overlaid| {
        let (fs, log) = (Box::new(fs.clone()), Box::new(log.clone()));
        Mount::mount_with_journal(fs, log, MountOptions::default())
    };
    // A filesystem is no journal.
    assert!(mount(&over(&image.path), &over(&image.path)).is_err());
    let mut m = mount(&over(&image.path), &over(log_path)).unwrap();
    let who = Caller::root();
    for n in 0..20 {
        m.mkdir(&who, format!("/external-{n}").as_bytes(), 0o755)
            .unwrap();
        m.commit().unwrap();
    }
    let fs = overlaid(m.vol.device());
    let log = overlaid(m.vol.log_device().unwrap());
    let unmounted = |m: Mount| {
        let (devices, done) = m.unmount_both();
        done.unwrap();
        let journal = devices.journal.unwrap();
        (overlaid(&*devices.filesystem), overlaid(&*journal))
    };
    let whole = unmounted(m);
    let cut = unmounted(mount(&fs, &log).unwrap());
    for ((fs, log), dirty) in [(whole, false), (cut, false), ((fs, log), true)] {
        let (_one, fs_copy) = oracle::scratch_copy(&image.path).unwrap();
        let (_two, log_copy) = oracle::scratch_copy(log_path).unwrap();
        write_changes(&fs, &fs_copy);
        write_changes(&log, &log_copy);
        if dirty {
            let words = [
                "-fy",
                "-j",
                log_copy.to_str().unwrap(),
                fs_copy.to_str().unwrap(),
            ];
            let out = oracle::output(&mut oracle::limited(60, "e2fsck", &words)).unwrap();
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            assert!(text.contains("recovering journal"), "{text}");
        }
        let checked = oracle::fsck_with_journal(&fs_copy, &log_copy, 60).unwrap();
        assert_eq!(checked.code, Some(0), "{}", checked.output);
        let fs = Fs::open(FileReader::open(&fs_copy).unwrap()).unwrap();
        let root = fs.inode(fslab_engine::units::InodeNr(2)).unwrap();
        let made = fs.read_dir(&root).0;
        let made = made.iter().filter(|e| e.name.starts_with(b"external-"));
        assert_eq!(made.count(), 20);
    }
}
