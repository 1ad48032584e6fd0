//! The stream of writes and flushes of a fixed workload beside the one that the real kernel's
//! ext4 sends, recorded by `../shared/oracles/blkrec.py` (issue "The journal", Shows 4): the
//! same kinds in the same order in each transaction, and as many blocks of the journal.

#[allow(dead_code, reason = "other tests use the rest")]
mod recorder;

use fslab_engine::disk::{CowDisk, FileReader, ReadAt, WriteAt};
use fslab_engine::ext4::journal::{Journal, Log};
use fslab_engine::ext4::read::Fs;
use fslab_engine::kernel::{Caller, DataMode, Mount, MountOptions, OpenFlags};
use fslab_engine::units::BlockNr;
use recorder::{Recorder, Step, of};
use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const BLOCK: u64 = 4096;
/// What all files hold, so that contents are known wherever they turn up.
const CONTENT: u8 = 0xD7;

/// What a program does.
enum Call {
    Mkdir(&'static str),
    Write(String, usize, bool),
    Unlink(String),
    Rename(&'static str, &'static str),
    Sync,
}

fn workload() -> Vec<Call> {
    let file = |i: u32| format!("/d/f{i}");
    let mut all = vec![Call::Mkdir("/d")];
    all.extend((0..20).map(|i| Call::Write(file(i), 8192, false)));
    all.push(Call::Sync);
    all.push(Call::Write(file(0), 16384, true));
    all.extend((5..15).map(|i| Call::Unlink(file(i))));
    all.push(Call::Rename("/d/f1", "/d/g1"));
    all.push(Call::Sync);
    all.push(Call::Write("/big".into(), 1 << 20, true));
    all.push(Call::Write("/d/last".into(), 4096, true));
    all
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Data,
    Revoke,
    Descriptor,
    Copy,
    Commit,
    Super,
    Home,
    Flush,
}

/// A transaction: kinds in their order, neighbours joined, and how many blocks of each.
#[derive(Default, Debug)]
struct Seen {
    order: Vec<Kind>,
    blocks: BTreeMap<Kind, u32>,
}

/// Names what is written, a block at a time.
struct Namer {
    log: Log,
    seen: Vec<Seen>,
    now: Seen,
    /// The last transaction has its commit block; what makes that safe is still its own.
    ended: bool,
    after_super: bool,
    /// Contents go through the journal: outside it they are on their way home.
    journaled: bool,
}

impl Namer {
    fn kind(&self, at: u64, bytes: &[u8]) -> Kind {
        match self.log.of_physical(BlockNr(at)) {
            Some(n) if n == self.log.superblock_block() => Kind::Super,
            Some(_) => match bytes.first_chunk() {
                // The journal's magic number, then what the block is.
                Some([0xC0, 0x3B, 0x39, 0x98, 0, 0, 0, 1]) => Kind::Descriptor,
                Some([0xC0, 0x3B, 0x39, 0x98, 0, 0, 0, 2]) => Kind::Commit,
                Some([0xC0, 0x3B, 0x39, 0x98, 0, 0, 0, 5]) => Kind::Revoke,
                _ => Kind::Copy,
            },
            None if !self.journaled && bytes.iter().all(|&b| b == CONTENT) => Kind::Data,
            None => Kind::Home,
        }
    }

    /// Superblocks and what goes home are no part of a commit, nor the flush that goes with
    /// the journal's superblock.
    fn saw(&mut self, kind: Kind) {
        let with_super = std::mem::replace(&mut self.after_super, kind == Kind::Super);
        if matches!(kind, Kind::Super | Kind::Home) || with_super && kind == Kind::Flush {
            return;
        }
        if self.ended && kind != Kind::Flush {
            self.close();
            self.ended = false;
        }
        self.ended |= kind == Kind::Commit;
        *self.now.blocks.entry(kind).or_default() += 1;
        if self.now.order.last() != Some(&kind)
            && (kind != Kind::Flush || !self.now.order.is_empty())
        {
            self.now.order.push(kind);
        }
    }

    fn wrote(&mut self, offset: u64, bytes: &[u8]) {
        for (part, at) in bytes.chunks(BLOCK as usize).zip(offset / BLOCK..) {
            self.saw(self.kind(at, part));
        }
    }

    /// Linux's sync commits transactions without a block; they are left out.
    fn close(&mut self) {
        let t = std::mem::take(&mut self.now);
        if t.blocks.contains_key(&Kind::Descriptor) {
            self.seen.push(t);
        }
    }

    fn finish(mut self) -> Vec<Seen> {
        if self.ended {
            self.close();
        }
        self.seen
    }
}

fn namer<R: ReadAt>(medium: R, journaled: bool) -> Namer {
    let journal = Journal::open(&Fs::open(medium).unwrap()).unwrap();
    Namer {
        log: journal.log().clone(),
        seen: Vec::new(),
        now: Seen::default(),
        ended: false,
        after_super: false,
        journaled,
    }
}

fn by_fslab(base: &Path, data: DataMode) -> Vec<Seen> {
    let reader = FileReader::open(base).unwrap();
    let mut disk = CowDisk::new(reader.len());
    let mut bytes = vec![0; 1 << 20];
    for at in (0..reader.len()).step_by(1 << 20) {
        reader.read_at(at, &mut bytes).unwrap();
        disk.write_at(at, &bytes).unwrap();
    }
    let options = MountOptions {
        data,
        ..MountOptions::default()
    };
    let who = Caller::root();
    let mut m = Mount::mount(Box::new(Recorder::new(disk)), options).unwrap();
    for call in workload() {
        match call {
            Call::Mkdir(path) => m.mkdir(&who, path.as_bytes(), 0o755).unwrap(),
            Call::Write(path, len, fsync) => {
                let flags = OpenFlags::WRONLY | OpenFlags::CREAT;
                let fd = m.open(&who, path.as_bytes(), flags, 0o644).unwrap();
                m.write(fd, &vec![CONTENT; len]).unwrap();
                if fsync {
                    m.fsync(fd).unwrap();
                }
                m.close(fd).unwrap();
            }
            Call::Unlink(path) => m.unlink(&who, path.as_bytes()).unwrap(),
            Call::Rename(old, new) => m.rename(&who, old.as_bytes(), new.as_bytes(), 0).unwrap(),
            Call::Sync => m.sync().unwrap(),
        }
    }
    let recorder = of(m.vol.device());
    let mut namer = namer(recorder.base(), data == DataMode::Journal);
    for step in recorder.steps() {
        match step {
            Step::Write {
                offset,
                pieces,
                fua,
            } => {
                let mut all = Vec::new();
                for (data, len) in pieces {
                    let mut bytes = vec![0; *len as usize];
                    data.read(0, &mut bytes);
                    all.extend(bytes);
                }
                namer.wrote(*offset, &all);
                if *fua {
                    namer.saw(Kind::Flush);
                }
            }
            Step::Flush => namer.saw(Kind::Flush),
        }
    }
    namer.finish()
}

fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("timeout");
    let out = command.arg("60").arg(program).args(args).output();
    let out = out.map_err(|e| e.to_string())?;
    if out.status.success() {
        return Ok(String::from_utf8_lossy(&out.stdout).trim().to_string());
    }
    let why = String::from_utf8_lossy(&out.stderr);
    Err(format!("{program} {args:?}: {why}"))
}

fn on_the_real_one(at: &Path) -> Result<(), String> {
    let real = |path: &str| at.join(&path[1..]);
    let done = |e: std::io::Result<()>| e.map_err(|e| e.to_string());
    for call in workload() {
        done(match call {
            Call::Mkdir(path) => std::fs::create_dir(real(path)),
            Call::Write(path, len, fsync) => (|| {
                let mut options = std::fs::OpenOptions::new();
                let mut file = options
                    .write(true)
                    .create(true)
                    .truncate(false)
                    .open(real(&path))?;
                file.write_all(&vec![CONTENT; len])?;
                if fsync { file.sync_all() } else { Ok(()) }
            })(),
            Call::Unlink(path) => std::fs::remove_file(real(&path)),
            Call::Rename(old, new) => std::fs::rename(real(old), real(new)),
            Call::Sync => {
                run("sync", &["-f", &at.to_string_lossy()])?;
                Ok(())
            }
        })?;
    }
    Ok(())
}

/// The workload under the real kernel, on a recorded copy of an image.
fn by_kernel(dir: &Path, base: &Path, blkrec: &Path, mode: &str) -> Result<Vec<Seen>, String> {
    let path = |name: &str| dir.join(name);
    let text = |p: &Path| p.to_string_lossy().into_owned();
    let (image, fuse, mnt, log) = (path("copy"), path("fuse"), path("mnt"), path("log"));
    std::fs::copy(base, &image).map_err(|e| e.to_string())?;
    for p in [&fuse, &mnt] {
        std::fs::create_dir_all(p).map_err(|e| e.to_string())?;
    }
    let mut server = Command::new("python3");
    let server = server.arg(blkrec).arg(&image).arg(&fuse).arg(&log).spawn();
    let mut server = server.map_err(|e| e.to_string())?;
    let disk = fuse.join("disk.img");
    for _ in 0..200 {
        if disk.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let recorded = run("losetup", &["-f", "--show", &text(&disk)]).and_then(|device| {
        let options = format!("data={mode},commit=300");
        let mounted = run(
            "mount",
            &["-t", "ext4", "-o", &options, &device, &text(&mnt)],
        );
        let done = mounted.and_then(|_| {
            let done = on_the_real_one(&mnt);
            run("umount", &[&text(&mnt)]).and(done)
        });
        run("losetup", &["-d", &device]).and(done)
    });
    let unmounted = run("umount", &[&text(&fuse)]);
    if unmounted.is_err() {
        let _ = server.kill();
    }
    let _ = server.wait();
    recorded?;
    named(base, &log, mode == "journal")
}

fn named(base: &Path, log: &Path, journaled: bool) -> Result<Vec<Seen>, String> {
    let log = std::fs::read(log).map_err(|e| e.to_string())?;
    let mut namer = namer(
        FileReader::open(base).map_err(|e| e.to_string())?,
        journaled,
    );
    let mut rest = &log[..];
    while let Some((head, after)) = rest.split_at_checked(24) {
        let kind = u32::from_le_bytes(head[8..12].try_into().unwrap());
        let offset = u64::from_le_bytes(head[12..20].try_into().unwrap());
        let len = u32::from_le_bytes(head[20..24].try_into().unwrap()) as usize;
        rest = after;
        match kind {
            1 => {
                let (bytes, after) = rest.split_at_checked(len).ok_or("a short log")?;
                namer.wrote(offset, bytes);
                rest = after;
            }
            2 => namer.saw(Kind::Flush),
            _ => {}
        }
    }
    Ok(namer.finish())
}

fn journal_blocks(t: &Seen) -> u32 {
    let kinds = [Kind::Descriptor, Kind::Copy, Kind::Revoke, Kind::Commit];
    kinds.iter().filter_map(|k| t.blocks.get(k)).sum()
}

/// Says that this process has mounts of its own.
const APART: &str = "FSLAB_MOUNTS_APART";

/// Runs this test again where its mounts are nobody else's: tests at the same time take
/// copies of the mounts that there are, and would keep these from ending.
#[test]
fn streams_are_the_real_kernels() {
    if std::env::var_os(APART).is_some() {
        return streams();
    }
    let this = std::env::current_exe().unwrap();
    let again = Command::new("unshare")
        .args(["-m", "--propagation", "private"])
        .arg(this)
        .args(["--exact", "streams_are_the_real_kernels", "--nocapture"])
        .env(APART, "1")
        .output();
    match again {
        Ok(out) => {
            let text = String::from_utf8_lossy(&out.stderr);
            eprintln!("{text}");
            let not_allowed = text.starts_with("unshare:");
            assert!(out.status.success() || not_allowed, "see above");
        }
        Err(why) => eprintln!("skipped: unshare: {why}"),
    }
}

fn streams() {
    let shared = std::env::var_os("FSLAB_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let blkrec = [shared, "/work/shared".into()]
        .map(|s: PathBuf| s.join("oracles/blkrec.py"))
        .into_iter()
        .find(|p| p.exists());
    let there = Path::new("/dev/fuse").exists() && Path::new("/dev/loop-control").exists();
    let Some(blkrec) = blkrec.filter(|_| there) else {
        eprintln!("skipped: no FUSE, no loop devices or no blkrec.py");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().join("base");
    let file = std::fs::File::create(&base).unwrap();
    file.set_len(64 << 20).unwrap();
    // Whole pages of the device exist.
    file.write_all_at(&[0], 0).unwrap();
    let lazy = "lazy_itable_init=0,lazy_journal_init=0";
    let args = [
        "-q",
        "-F",
        "-t",
        "ext4",
        "-b",
        "4096",
        "-E",
        lazy,
        &base.to_string_lossy(),
    ];
    if let Err(why) = run("mke2fs", &args) {
        eprintln!("skipped: {why}");
        return;
    }
    let mut differ = Vec::new();
    for (mode, data) in [
        ("ordered", DataMode::Ordered),
        ("writeback", DataMode::Writeback),
        ("journal", DataMode::Journal),
    ] {
        let ours = by_fslab(&base, data);
        // With data=writeback the kernel's contents and commits race, and extents become
        // written in the transaction that happens to run then: one of its courses is ours.
        let tries = if data == DataMode::Writeback { 8 } else { 1 };
        let mut wrong = Vec::new();
        for _ in 0..tries {
            let theirs = match by_kernel(dir.path(), &base, &blkrec, mode) {
                Ok(seen) => seen,
                Err(why) => {
                    eprintln!("skipped: {why}");
                    return;
                }
            };
            wrong = differences(mode, &ours, &theirs);
            if wrong.is_empty() {
                break;
            }
        }
        differ.extend(wrong);
    }
    assert!(differ.is_empty(), "{differ:#?}");
}

/// Prints both, and says what is not the same.
fn differences(mode: &str, ours: &[Seen], theirs: &[Seen]) -> Vec<String> {
    let (mut differ, mut a, mut b) = (Vec::new(), 0, 0);
    for i in 0..ours.len().max(theirs.len()) {
        let side = |all: &[Seen]| {
            all.get(i).map_or(("none".into(), 0), |t| {
                (format!("{:?}", t.order), journal_blocks(t))
            })
        };
        let ((x, n), (y, m)) = (side(ours), side(theirs));
        eprintln!("{mode:<10} {i} fslab  {n:>4} {x}");
        eprintln!("{:<10} {i} Linux  {m:>4} {y}", "");
        if x != y {
            differ.push(format!("{mode}, transaction {i}: {x} {y}"));
        }
        (a, b) = (a + n, b + m);
    }
    eprintln!("{mode:<10} journal blocks: fslab {a}, Linux {b}");
    if a.abs_diff(b) * 10 > b {
        differ.push(format!("{mode}: {a} blocks of the journal, Linux has {b}"));
    }
    differ
}
