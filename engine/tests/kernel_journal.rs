//! The journal under power cuts: the disk at every step of a run, recovered by fslab, by
//! e2fsck and by the real kernel, is the same tree and clean.

mod oracle;
#[allow(dead_code, reason = "other tests use the rest")]
mod recorder;

use fslab_engine::device::Ram;
use fslab_engine::disk::{CowDisk, ReadAt};
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::ext4::read::Fs;
use fslab_engine::kernel::{Caller, DataMode, Errno, Mount, MountError, MountOptions, OpenFlags};
use fslab_engine::units::{InodeNr, SimTime};
use oracle::{available, fsck, limited, output, skipped, while_mounted};
use recorder::{Cut, Random, Recorder, of};
use std::collections::BTreeMap;
use std::os::unix::fs::FileExt;
use std::path::Path;

const LEN: u64 = 24 << 20;

/// A filesystem and how it is mounted.
#[derive(Clone, Copy, Debug)]
struct Setting {
    name: &'static str,
    fs_type: FsType,
    block_size: u32,
    features: &'static [&'static str],
    data: DataMode,
    delalloc: bool,
    csum: bool,
    asynchronous: bool,
}

const ORDERED: Setting = Setting {
    name: "ext4 ordered",
    fs_type: FsType::Ext4,
    block_size: 4096,
    features: &[],
    data: DataMode::Ordered,
    delalloc: true,
    csum: false,
    asynchronous: false,
};

const SETTINGS: &[Setting] = &[
    ORDERED,
    Setting {
        name: "ext4 1k",
        block_size: 1024,
        ..ORDERED
    },
    Setting {
        name: "ext3 ordered",
        fs_type: FsType::Ext3,
        block_size: 1024,
        delalloc: false,
        ..ORDERED
    },
    Setting {
        name: "ext4 writeback",
        data: DataMode::Writeback,
        ..ORDERED
    },
    Setting {
        name: "ext4 data=journal",
        data: DataMode::Journal,
        block_size: 1024,
        ..ORDERED
    },
    Setting {
        name: "ext4 no metadata_csum, v1",
        features: &["^metadata_csum", "^64bit"],
        csum: true,
        ..ORDERED
    },
    Setting {
        name: "ext4 async",
        asynchronous: true,
        csum: true,
        ..ORDERED
    },
    Setting {
        name: "ext4 async v1",
        features: &["^metadata_csum", "^64bit"],
        data: DataMode::Writeback,
        asynchronous: true,
        csum: true,
        ..ORDERED
    },
    Setting {
        name: "ext4 alloc on commit",
        data: DataMode::AllocOnCommit,
        ..ORDERED
    },
];

fn make(s: &Setting) -> Mount {
    let mut disk = CowDisk::new(LEN);
    let mut options = Options {
        fs_type: s.fs_type,
        block_size: Some(s.block_size),
        features: s.features.iter().map(ToString::to_string).collect(),
        uuid: [3; 16],
        hash_seed: [5; 16],
        ..Options::default()
    };
    options.journal.megabytes = Some(if s.block_size == 1024 { 1 } else { 4 });
    mkfs(&options, &mut disk, LEN).unwrap();
    let options = MountOptions {
        data: s.data,
        delalloc: Some(s.delalloc),
        journal_checksum: s.csum,
        journal_async_commit: s.asynchronous,
        ..MountOptions::default()
    };
    Mount::mount(Box::new(Recorder::new(disk)), options).unwrap()
}

/// One random call.
fn call(m: &mut Mount, r: &mut Random) -> Result<(), Errno> {
    let who = Caller::root();
    let dir = |r: &mut Random| format!("/d{}", r.below(4));
    let file = |r: &mut Random| format!("/d{}/f{}", r.below(4), r.below(25));
    match r.below(16) {
        0 => m.mkdir(&who, dir(r).as_bytes(), 0o755),
        1 => m.rmdir(&who, dir(r).as_bytes()),
        2 | 3 => m.unlink(&who, file(r).as_bytes()),
        4 => m.rename(&who, file(r).as_bytes(), file(r).as_bytes(), 0),
        5 => m.link(&who, file(r).as_bytes(), file(r).as_bytes()),
        6 => m.truncate(&who, file(r).as_bytes(), r.below(60_000)),
        7 => m.symlink(
            &who,
            &vec![b'x'; 1 + r.below(200) as usize],
            file(r).as_bytes(),
        ),
        8 => {
            let now = m.now().0;
            m.advance(SimTime(now + r.below(4_000_000_000)))
        }
        n => {
            let flags = OpenFlags::RDWR | OpenFlags::CREAT;
            let fd = m.open(&who, file(r).as_bytes(), flags, 0o644)?;
            let bytes = vec![1 + r.below(255) as u8; 1 + r.below(20_000) as usize];
            m.pwrite(fd, &bytes, r.below(4) * r.below(40_000))?;
            if n == 9 {
                m.fsync(fd)?;
            }
            m.close(fd)
        }
    }
}

/// The disks that a power cut could leave at each step of a run: once with all that was
/// written, once with what the device has made stable and a choice of the rest.
fn disks(s: &Setting, seed: u64, calls: u32) -> Vec<CowDisk> {
    let mut m = make(s);
    let mut r = Random(seed);
    let mut chosen = Random(!seed);
    let mut all = Vec::new();
    let recorder = of(m.vol.device());
    let mut cut = Cut::new(recorder.base().clone(), s.block_size.into());
    cut.follow(recorder.steps());
    let mut seen = recorder.steps().len();
    let mut take = |m: &Mount| {
        let recorder = of(m.vol.device());
        if std::mem::replace(&mut seen, recorder.steps().len()) != recorder.steps().len() {
            cut.follow(recorder.steps());
            all.push(recorder.disk().clone());
            all.push(cut.disk(&mut chosen));
        }
    };
    for _ in 0..calls {
        let _ = call(&mut m, &mut r);
        take(&m);
        if r.below(3) == 0 {
            let mut more = m.start_commit().unwrap();
            while more {
                take(&m);
                more = m.step_commit().unwrap();
                if r.below(3) == 0 {
                    let _ = call(&mut m, &mut r);
                }
            }
        }
    }
    all
}

/// What a person sees of a filesystem: paths, modes, links, sizes, contents.
type Tree = BTreeMap<Vec<u8>, (u16, u16, u64, String)>;

fn tree<R: ReadAt>(medium: R) -> Tree {
    let fs = Fs::open(medium).unwrap();
    assert_eq!(fs.problems(), &[]);
    let mut tree = Tree::new();
    let mut todo = vec![(Vec::new(), InodeNr(2))];
    while let Some((path, nr)) = todo.pop() {
        let inode = fs.inode(nr).unwrap();
        let dir = inode.i_mode() & 0xF000 == 0x4000;
        let mut contents = String::new();
        if dir {
            let (entries, problems) = fs.read_dir(&inode);
            assert_eq!(problems, []);
            for e in entries
                .into_iter()
                .filter(|e| e.name != b"." && e.name != b"..")
            {
                todo.push(([&path[..], b"/", &e.name].concat(), e.inode));
            }
        } else if inode.i_mode() & 0xF000 == 0x8000 {
            let content = fs.content(&inode);
            assert_eq!(content.problems(), &[]);
            let mut bytes = vec![0; inode.size() as usize];
            fs.read_content(&content, 0, &mut bytes).unwrap();
            contents = oracle::sha256(&bytes);
        } else {
            contents = format!("{:?}", fs.symlink_target(&inode));
        }
        tree.insert(
            path,
            (
                inode.i_mode(),
                inode.i_links_count(),
                if dir { 0 } else { inode.size() },
                contents,
            ),
        );
    }
    tree
}

fn save(disk: &CowDisk, path: &Path) {
    let file = std::fs::File::create(path).unwrap();
    file.set_len(disk.len()).unwrap();
    for (at, len) in disk.data() {
        let mut bytes = vec![0; len as usize];
        disk.read_at(at, &mut bytes).unwrap();
        file.write_all_at(&bytes, at).unwrap();
    }
}

/// A folder in memory, where the system has such a place.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// The disk as a mount and an unmount of fslab's leave it.
fn recovered(disk: &CowDisk) -> Result<CowDisk, MountError> {
    let mount = Mount::mount(Box::new(Ram::new(disk.clone())), MountOptions::default())?;
    let (device, done) = mount.unmount();
    done?;
    let ram: &Ram = device.as_any().downcast_ref().unwrap();
    Ok(ram.disk().clone())
}

fn clean(path: &Path, what: &str) {
    let checked = fsck(path, 20).unwrap();
    assert_eq!(checked.code, Some(0), "{what}: {checked:?}");
}

/// e2fsck may replay, clear orphans and count anew, and nothing else.
fn by_e2fsck(path: &Path, what: &str) {
    let out = output(&mut limited(
        20,
        "e2fsck",
        &["-fy".as_ref(), path.as_os_str()],
    ))
    .unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let code = out.status.code().unwrap();
    // The superblock's counts are not journaled, by Linux neither: a mount counts anew.
    let lines: Vec<&str> = text.lines().collect();
    let counts = |line: &str| {
        let start = |what| line.starts_with(what);
        start("Free blocks count wrong (") || start("Free inodes count wrong (")
    };
    let more = lines
        .windows(2)
        .any(|two| two[1].contains("? yes") && !counts(two[0]));
    assert!(code <= 1 && !more, "{what}: {code} {text}");
}

fn by_kernel(path: &Path, dir: &Path) -> Result<(), String> {
    let at = dir.join("mount");
    std::fs::create_dir_all(&at).unwrap();
    while_mounted(path, &at, "true", &[])
}

/// With checksums v3 nothing tells an asynchronous commit block whose transaction did not
/// arrive from one whose copies were damaged later: the mount fails. So does the kernel's.
fn refused_alike(s: &Setting, disk: &CowDisk, why: &MountError, dir: &Path, what: &str) {
    let torn = matches!(why, MountError::DamagedCopies { .. });
    assert!(s.asynchronous && torn, "{what}: {why}");
    let path = dir.join("image");
    save(disk, &path);
    assert!(by_kernel(&path, dir).is_err(), "{what}: the kernel mounts");
}

fn all_agree(s: &Setting, seed: u64, calls: u32, kernel_every: usize) -> usize {
    let dir = in_memory();
    let disks = disks(s, seed, calls);
    let count = disks.len();
    for (i, disk) in disks.iter().enumerate() {
        let what = format!("{}, seed {seed}, disk {i} of {count}", s.name);
        let ours = match recovered(disk) {
            Ok(ours) => ours,
            Err(why) => {
                refused_alike(s, disk, &why, dir.path(), &what);
                continue;
            }
        };
        let expected = tree(ours.clone());
        let path = dir.path().join("image");
        save(&ours, &path);
        clean(&path, &what);
        save(disk, &path);
        by_e2fsck(&path, &what);
        clean(&path, &what);
        let reader = fslab_engine::disk::FileReader::open(&path).unwrap();
        assert!(tree(reader) == expected, "{what}: e2fsck's tree differs");
        if i % kernel_every == 0 {
            save(disk, &path);
            by_kernel(&path, dir.path()).unwrap_or_else(|e| panic!("{what}: {e}"));
            let reader = fslab_engine::disk::FileReader::open(&path).unwrap();
            assert!(
                tree(reader) == expected,
                "{what}: the kernel's tree differs"
            );
        }
    }
    count
}

/// Issue "The journal", Shows 1: `FSLAB_CRASH_RUNS` runs of each setting, together more
/// than 2,000 instants; the first seed is `FSLAB_CRASH_SEED`, so that a long course may be
/// done in parts.
fn every_instant(nth: usize) {
    if let Err(why) = available() {
        return skipped::<()>(&why).unwrap_or(());
    }
    let number = |name: &str, or| std::env::var(name).map_or(or, |n| n.parse().unwrap());
    let runs = number("FSLAB_CRASH_RUNS", RUNS);
    let first = number("FSLAB_CRASH_SEED", 0);
    let s = &SETTINGS[nth];
    let mut instants = 0;
    for seed in first..first + runs {
        instants += all_agree(s, seed, 60, 5);
        if (seed - first + 1).is_multiple_of(RUNS) {
            eprintln!("{}: {instants} instants, up to seed {seed}", s.name);
        }
    }
    eprintln!("{}: {instants} instants", s.name);
    // All settings together: 2,000 and more.
    assert!(instants as u64 >= 250 * runs / RUNS, "{instants} instants");
}

/// Runs of each setting where nobody asks for more.
const RUNS: u64 = 8;

macro_rules! every_instant {
    ($($name:ident = $nth:literal;)*) => {
        $(#[test] fn $name() { every_instant($nth); })*

        #[test]
        fn every_setting_has_its_test() {
            let all = [$($nth),*];
            assert_eq!(all.to_vec(), (0..SETTINGS.len()).collect::<Vec<_>>());
        }
    };
}

every_instant! {
    every_instant_ordered = 0;
    every_instant_of_1k_blocks = 1;
    every_instant_of_ext3 = 2;
    every_instant_writeback = 3;
    every_instant_journaled_data = 4;
    every_instant_without_metadata_csum = 5;
    every_instant_async_commit = 6;
    every_instant_async_commit_v1 = 7;
    every_instant_alloc_on_commit = 8;
}
