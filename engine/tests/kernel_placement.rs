//! Where blocks and inodes go, beside where the real kernel puts them: ten workloads on
//! the same image. Needs root, for loop devices and mounts; run with `--ignored`.

use fslab_engine::device::{Device, Ram};
use fslab_engine::disk::{CowDisk, FileReader, ReadAt};
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::ext4::read::Fs;
use fslab_engine::kernel::{Caller, FallocateMode, Fd, Mount, MountOptions, OpenFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Command;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

#[derive(Clone, Debug)]
enum Step {
    Mkdir(String),
    Open(u32, String),
    Write(u32, u64, u64),
    Fsync(u32),
    Falloc(u32, u64, u64),
    Close(u32),
    Sync,
    Unlink(String),
}

use Step::{Close, Falloc, Fsync, Mkdir, Open, Sync, Unlink, Write as Put};

fn line(step: &Step) -> String {
    match step {
        Mkdir(p) => format!("mkdir\t{p}"),
        Open(f, p) => format!("open\t{f}\t{p}"),
        Put(f, at, n) => format!("write\t{f}\t{at}\t{n}"),
        Fsync(f) => format!("fsync\t{f}"),
        Falloc(f, at, n) => format!("falloc\t{f}\t{at}\t{n}"),
        Close(f) => format!("close\t{f}"),
        Sync => "sync".into(),
        Unlink(p) => format!("unlink\t{p}"),
    }
}

/// The same numbers every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % n
    }
}

fn whole(script: &mut Vec<Step>, nr: u32, path: String, len: u64) {
    script.push(Open(nr, path));
    script.push(Put(nr, 0, len));
    script.push(Close(nr));
}

type Workload = (&'static str, Vec<Step>);

fn workloads() -> Vec<Workload> {
    vec![
        ("sequential", sequential()),
        ("interleaved writers", interleaved(64 * KIB, 512, 32)),
        ("small files in directories", small_files()),
        ("random writes with fsync", random_writes()),
        ("append log", append_log()),
        ("fallocate", fallocated()),
        ("files of all sizes", all_sizes(None)),
        ("filled, half deleted, filled", aged()),
        ("interleaved small appends", interleaved(4 * KIB, 400, 4)),
        ("deep tree", deep_tree()),
    ]
}

fn sequential() -> Vec<Step> {
    let mut s = vec![Open(0, "big".into())];
    s.extend((0..200).map(|i| Put(0, i * MIB, MIB)));
    s.extend([Sync, Close(0)]);
    s
}

fn interleaved(piece: u64, pieces: u64, sync_every: u64) -> Vec<Step> {
    let mut s: Vec<Step> = (0..4).map(|f| Open(f, format!("writer{f}"))).collect();
    for i in 0..pieces {
        s.extend((0..4).map(|f| Put(f, i * piece, piece)));
        if i % sync_every == sync_every - 1 {
            s.push(Sync);
        }
    }
    s.push(Sync);
    s.extend((0..4).map(Close));
    s
}

fn small_files() -> Vec<Step> {
    let mut dice = Dice(3);
    let mut s = Vec::new();
    for d in 0..20 {
        s.push(Mkdir(format!("dir{d}")));
    }
    for i in 0..1000 {
        whole(
            &mut s,
            i,
            format!("dir{}/file{i}", i % 20),
            100 + dice.below(40 * KIB),
        );
        if i % 200 == 199 {
            s.push(Sync);
        }
    }
    s.push(Sync);
    s
}

fn random_writes() -> Vec<Step> {
    let mut dice = Dice(4);
    let mut s = vec![Open(0, "database".into())];
    for _ in 0..400 {
        s.extend([Put(0, dice.below(16384) * 4 * KIB, 4 * KIB), Fsync(0)]);
    }
    s.push(Close(0));
    s
}

fn append_log() -> Vec<Step> {
    let mut s = vec![Open(0, "log".into()), Open(1, "other".into())];
    for i in 0..1500 {
        s.extend([Put(0, i * 700, 700), Fsync(0)]);
        if i % 10 == 0 {
            s.extend([Put(1, i * 700, 7000), Fsync(1)]);
        }
    }
    s.extend([Close(0), Close(1)]);
    s
}

fn fallocated() -> Vec<Step> {
    let mut s = Vec::new();
    for f in 0..10 {
        s.push(Open(f, format!("image{f}")));
        s.push(Falloc(f, 0, (1 + u64::from(f) * 7) * MIB));
    }
    s.push(Sync);
    s.extend((0..10).map(Close));
    s
}

fn all_sizes(seed: Option<u64>) -> Vec<Step> {
    let mut dice = Dice(seed.unwrap_or(5));
    let mut s = vec![Mkdir("files".into())];
    for i in 0..300 {
        let most = [20 * KIB, 300 * KIB, 5 * MIB][dice.below(3) as usize];
        whole(&mut s, i, format!("files/f{i}"), 1 + dice.below(most));
        if i % 30 == 29 {
            s.push(Sync);
        }
    }
    s.push(Sync);
    s
}

fn aged() -> Vec<Step> {
    let mut s = all_sizes(Some(6));
    s.extend((0..300).step_by(2).map(|i| Unlink(format!("files/f{i}"))));
    s.push(Sync);
    let mut dice = Dice(7);
    for i in 300..450 {
        whole(&mut s, i, format!("files/f{i}"), 1 + dice.below(2 * MIB));
        if i % 30 == 29 {
            s.push(Sync);
        }
    }
    s.push(Sync);
    s
}

fn deep_tree() -> Vec<Step> {
    let mut s = Vec::new();
    let mut nr = 0;
    for a in 0..8 {
        s.push(Mkdir(format!("top{a}")));
        for b in 0..8 {
            s.push(Mkdir(format!("top{a}/mid{b}")));
            for c in 0..8 {
                whole(&mut s, nr, format!("top{a}/mid{b}/f{c}"), 9000);
                nr += 1;
            }
        }
    }
    s.push(Sync);
    s
}

/// What is compared: of all files, extents (pieces that lie together), groups of blocks,
/// groups of inodes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Placed {
    files: usize,
    pieces: usize,
    groups: BTreeMap<u64, u64>,
    inode_groups: BTreeMap<u32, u32>,
}

fn placed<R: ReadAt>(fs: &Fs<R>, script: &[Step]) -> Placed {
    let geo = *fs.geometry();
    let mut out = Placed {
        files: 0,
        pieces: 0,
        groups: BTreeMap::new(),
        inode_groups: BTreeMap::new(),
    };
    let mut seen = BTreeSet::new();
    for step in script {
        let (path, file) = match step {
            Open(_, p) => (p, true),
            Mkdir(p) => (p, false),
            _ => continue,
        };
        if !seen.insert(path) {
            continue;
        }
        let Ok(inode) = fs.resolve(path.as_bytes()) else {
            continue;
        };
        let (g, _) = geo.inode_home(inode.nr);
        *out.inode_groups.entry(g.0).or_default() += 1;
        if !file {
            continue;
        }
        out.files += 1;
        let mut end = None;
        for r in fs.runs(&inode).runs {
            if end != Some((r.lblk.0, r.start.0)) {
                out.pieces += 1;
            }
            end = Some((r.lblk.0 + r.len, r.start.0 + u64::from(r.len)));
            let group = (r.start.0 - geo.first_data_block) / u64::from(geo.blocks_per_group);
            *out.groups.entry(group).or_default() += u64::from(r.len);
        }
    }
    out
}

fn ext4(block: u32, features: &[&str]) -> Options {
    let mut features: Vec<String> = features.iter().map(|f| (*f).into()).collect();
    features.push("^has_journal".into());
    Options {
        fs_type: FsType::Ext4,
        block_size: Some(block),
        features,
        uuid: *b"fslab placement!",
        hash_seed: *b"fslab placement!",
        now: 1_700_000_000,
        ..Options::default()
    }
}

fn image(options: &Options, bytes: u64) -> CowDisk {
    let mut disk = CowDisk::new(bytes);
    mkfs(options, &mut disk, bytes).expect("mkfs");
    disk
}

fn in_fslab(disk: CowDisk, script: &[Step], options: MountOptions) -> Box<dyn Device> {
    let who = Caller::root();
    let mut m = Mount::mount(Box::new(Ram::new(disk)), options).expect("mount");
    let mut fds: BTreeMap<u32, Fd> = BTreeMap::new();
    for step in script {
        match step {
            Mkdir(p) => m.mkdir(&who, p.as_bytes(), 0o755).expect("mkdir"),
            Open(f, p) => {
                let flags = OpenFlags::RDWR | OpenFlags::CREAT;
                fds.insert(*f, m.open(&who, p.as_bytes(), flags, 0o644).expect("open"));
            }
            Put(f, at, n) => _ = m.pwrite_pattern(fds[f], *n, *at, 1, 0).expect("write"),
            Fsync(f) => m.fsync(fds[f]).expect("fsync"),
            Falloc(f, at, n) => m
                .fallocate(fds[f], FallocateMode::empty(), *at, *n)
                .expect("fallocate"),
            Close(f) => m.close(fds.remove(f).expect("open")).expect("close"),
            Sync => m.sync().expect("sync"),
            Unlink(p) => m.unlink(&who, p.as_bytes()).expect("unlink"),
        }
    }
    let (dev, done) = m.unmount();
    done.expect("unmount");
    dev
}

fn in_linux(dir: &Path, disk: &CowDisk, script: &[Step], options: &str) {
    let image = dir.join("image");
    let mut file = File::create(&image).expect("a file");
    file.set_len(disk.len()).expect("its length");
    for (at, len) in disk.data() {
        let mut bytes = vec![0; len as usize];
        disk.read_at(at, &mut bytes).expect("inside");
        file.seek(SeekFrom::Start(at)).expect("seek");
        file.write_all(&bytes).expect("write");
    }
    drop(file);
    let lines: Vec<String> = script.iter().map(line).collect();
    let steps = dir.join("script");
    std::fs::write(&steps, lines.join("\n")).expect("written");
    let job = serde_json::json!({
        "image": image, "mountpoint": dir.join("mnt"), "script": steps, "options": options,
    });
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/placement/run.py");
    let done = Command::new("timeout")
        .args([
            "-k",
            "2",
            "300",
            "unshare",
            "-m",
            "--propagation",
            "private",
        ])
        .args(["python3", "-B", program, &job.to_string()])
        .output()
        .expect("python3");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
}

fn groups(map: &BTreeMap<u64, u64>) -> String {
    let all: Vec<String> = map.iter().map(|(g, n)| format!("{g}:{n}")).collect();
    all.join(" ")
}

/// A row of the table; whether it is near enough: pieces and groups within 25 %, or three.
fn compare(name: &str, disk: &CowDisk, script: &[Step], mount: MountOptions, words: &str) -> bool {
    let dev = in_fslab(disk.clone(), script, mount);
    let ours = placed(&Fs::open(&*dev).expect("ours"), script);
    let dir = tempfile::tempdir().expect("a directory");
    in_linux(dir.path(), disk, script, words);
    let reader = FileReader::open(&dir.path().join("image")).expect("theirs");
    let theirs = placed(&Fs::open(reader).expect("theirs"), script);
    println!(
        "{name}: {} files, pieces {} (Linux {}), groups {} (Linux {}), inode groups {} (Linux {})",
        ours.files,
        ours.pieces,
        theirs.pieces,
        ours.groups.len(),
        theirs.groups.len(),
        ours.inode_groups.len(),
        theirs.inode_groups.len(),
    );
    if ours.groups != theirs.groups {
        let (a, b) = (groups(&ours.groups), groups(&theirs.groups));
        println!("   ours   {a}\n   Linux  {b}");
    }
    if ours.inode_groups != theirs.inode_groups {
        let (a, b) = (&ours.inode_groups, &theirs.inode_groups);
        println!("   inodes {a:?}\n   Linux  {b:?}");
    }
    let near = |a: usize, b: usize| a.abs_diff(b) <= (b / 4).max(3);
    near(ours.pieces, theirs.pieces) && near(ours.groups.len(), theirs.groups.len())
}

fn compare_all(options: &Options, bytes: u64, mount: &MountOptions, words: &str) {
    let only = std::env::var("WORKLOAD").unwrap_or_default();
    let disk = image(options, bytes);
    let mut bad = Vec::new();
    for (name, script) in workloads().iter().filter(|w| w.0.contains(&only)) {
        if !compare(name, &disk, script, mount.clone(), words) {
            bad.push(*name);
        }
    }
    assert!(bad.is_empty(), "not as the kernel does: {bad:?}");
}

#[test]
#[ignore = "needs root, loop devices and some minutes"]
fn blocks_go_where_the_kernel_puts_them() {
    compare_all(&ext4(4096, &[]), 8 << 30, &MountOptions::default(), "");
}

#[test]
#[ignore = "needs root, loop devices and some minutes"]
fn in_blocks_of_1_kib() {
    compare_all(&ext4(1024, &[]), 2 << 30, &MountOptions::default(), "");
}

#[test]
#[ignore = "needs root, loop devices and some minutes"]
fn without_flex_groups() {
    compare_all(
        &ext4(4096, &["^flex_bg"]),
        4 << 30,
        &MountOptions::default(),
        "",
    );
}

#[test]
#[ignore = "needs root, loop devices and some minutes"]
fn in_clusters() {
    let options = Options {
        cluster_size: Some(65536),
        ..ext4(4096, &["bigalloc"])
    };
    // fslab's writes do not delay blocks where there are clusters.
    let mount = MountOptions {
        delalloc: Some(false),
        ..MountOptions::default()
    };
    compare_all(&options, 8 << 30, &mount, "nodelalloc");
}

#[test]
#[ignore = "needs root, loop devices and some minutes"]
fn on_stripes() {
    let mount = MountOptions {
        stripe: Some(96),
        ..MountOptions::default()
    };
    compare_all(&ext4(4096, &[]), 8 << 30, &mount, "stripe=96");
}

#[test]
#[ignore = "needs root, loop devices and some minutes"]
fn without_delayed_allocation() {
    let mount = MountOptions {
        delalloc: Some(false),
        ..MountOptions::default()
    };
    compare_all(&ext4(4096, &[]), 8 << 30, &mount, "nodelalloc");
}

/// Most of it is full when the workload begins.
#[test]
#[ignore = "needs root, loop devices and some minutes"]
fn when_little_is_left() {
    let disk = image(&ext4(4096, &[]), 1 << 30);
    let mut script = vec![Open(9000, "ballast".into())];
    script.extend([Falloc(9000, 0, 600 * MIB), Sync, Close(9000)]);
    script.extend(aged());
    assert!(compare(
        "aged, nearly full",
        &disk,
        &script,
        MountOptions::default(),
        ""
    ));
}
