//! The calls of an editor's save under many mounts, on the real kernel (its writes recorded
//! by `../shared/oracles/blkrec.py`) and on fslab: what a power cut can leave of the real
//! stream is among what fslab shows.

#[allow(dead_code, reason = "other tests use the rest")]
mod crash_support;

use crash_support::{SECRET, explored, moments, outcomes, parse};
use fslab_engine::crash::{Field, Judge, Stream, taken};
use fslab_engine::disk::FileReader;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

/// A mount: what it is called, how the filesystem is made, how it is mounted.
const MOUNTS: [(&str, &str, &str); 8] = [
    ("ext3", "", "data=ordered"),
    ("ext3", "", "data=writeback"),
    ("ext3", "", "data=journal"),
    ("ext4", "", "data=ordered"),
    ("ext4", "", "data=writeback,dioread_lock"),
    ("ext4", "", "data=journal"),
    ("ext4", "", "nodelalloc"),
    ("ext4", "", "noauto_da_alloc"),
];

/// The calls: in fslab's language, and for Python.
const PROGRAMS: [(&str, &str, &str); 4] = [
    (
        "open, write, fsync, close, rename",
        "fd = open(\"/tmp\", O_CREAT | O_WRONLY | O_TRUNC)\nwrite(fd, NEW)\nfsync(fd)\nclose(fd)\nrename(\"/tmp\", \"/file\")",
        "fd = os.open(at + '/tmp', os.O_CREAT | os.O_WRONLY | os.O_TRUNC)\nos.write(fd, new)\nos.fsync(fd)\nos.close(fd)\nos.rename(at + '/tmp', at + '/file')",
    ),
    (
        "open, write, close, rename",
        "fd = open(\"/tmp\", O_CREAT | O_WRONLY | O_TRUNC)\nwrite(fd, NEW)\nclose(fd)\nrename(\"/tmp\", \"/file\")",
        "fd = os.open(at + '/tmp', os.O_CREAT | os.O_WRONLY | os.O_TRUNC)\nos.write(fd, new)\nos.close(fd)\nos.rename(at + '/tmp', at + '/file')",
    ),
    (
        "open, fsync, close, rename",
        "fd = open(\"/tmp\", O_CREAT | O_WRONLY | O_TRUNC)\nfsync(fd)\nclose(fd)\nrename(\"/tmp\", \"/file\")",
        "fd = os.open(at + '/tmp', os.O_CREAT | os.O_WRONLY | os.O_TRUNC)\nos.fsync(fd)\nos.close(fd)\nos.rename(at + '/tmp', at + '/file')",
    ),
    (
        "open with O_TRUNC, write, close",
        "fd = open(\"/file\", O_WRONLY | O_TRUNC)\nwrite(fd, NEW)\nclose(fd)",
        "fd = os.open(at + '/file', os.O_WRONLY | os.O_TRUNC)\nos.write(fd, new)\nos.close(fd)",
    ),
];

/// Free blocks hold another file's bytes; commits come every second, and everything is
/// written three seconds after the calls.
fn scenario(kind: &str, options: &str, calls: &str) -> String {
    // `/begun` is there, and safe, before the calls are made.
    let (old, new) = ("repeat(\"O\", 5000)", "repeat(\"N\", 5000)");
    let outcomes = outcomes("/file", old, new, "not exists(\"/begun\")");
    format!(
        r#"fslab = 1
[device]
size = "16M"
[mkfs]
options = "-t {kind} -b 1024 -J size=1"
[mount]
options = "{options},commit=1"
{outcomes}
[[process]]
program = '''
NEW = repeat("N", 5000)
fd = open("/file", O_CREAT | O_WRONLY)
write(fd, repeat("O", 5000))
close(fd)
{SECRET}
close(open("/begun", O_CREAT | O_WRONLY))
sync()
{calls}
sleep(3s)
sync()
'''
"#
    )
}

fn python(calls: &str) -> String {
    format!(
        r#"
import os, sys, time
at = sys.argv[1]
new = b'N' * 5000
def write(path, data):
    fd = os.open(at + path, os.O_CREAT | os.O_WRONLY, 0o644)
    os.write(fd, data)
    os.close(fd)
def sync():
    fd = os.open(at, os.O_RDONLY)
    import ctypes
    ctypes.CDLL(None).syncfs(fd)
    os.close(fd)
write('/file', b'O' * 5000)
fd = os.open(at + '/secret', os.O_CREAT | os.O_WRONLY, 0o644)
try:
    while True:
        os.write(fd, b'S' * 65536)
except OSError:
    pass
os.close(fd)
sync()
os.unlink(at + '/secret')
sync()
write('/begun', b'')
sync()
{calls}
time.sleep(3)
sync()
"#
    )
}

type Found = BTreeSet<String>;

fn names(field: &Field, into: &mut Found) {
    for s in field.states() {
        let v = &field.verdicts()[s.verdict as usize];
        let name = match v.class {
            Some(class) => field.judge().classes[class as usize].name.clone(),
            None => "unmountable".into(),
        };
        if name != "before" {
            into.insert(name);
        }
    }
}

/// What needs a commit of jbd2's timer at the one moment between the allocation of blocks
/// and the end of their write: Linux meets it now and then. That fslab shows it too, with a
/// commit there, is in `kernel_crash.rs`: C1 and C2 "today", with commits anywhere.
fn by_chance(options: &str) -> Found {
    let unwritten = ["data=ordered", "noauto_da_alloc"].contains(&options);
    unwritten.then(|| "zeros".to_owned()).into_iter().collect()
}

fn by_fslab(text: &str) -> Found {
    let mut found = Found::new();
    for moment in moments(parse(text)) {
        names(&explored(moment, 2000), &mut found);
    }
    found
}

fn by_stream(text: &str, base: &Path, log: &Path) -> Result<Found, String> {
    let scenario = parse(text);
    let bytes = std::fs::read(log).map_err(|e| e.to_string())?;
    let stream = Stream::parse(&bytes).map_err(|e| e.to_string())?;
    let base = FileReader::open(base).map_err(|e| e.to_string())?;
    let base = taken(&base).map_err(|e| e.to_string())?;
    let judge = Arc::new(Judge::of(&scenario));
    let mut found = Found::new();
    let mut instants = 0;
    let done = stream.instants(base, scenario.rules, |_, pending| {
        let mut field = Field::new(Arc::new(pending), judge.clone(), 500);
        while field.explore(500) {}
        names(&field, &mut found);
        instants += 1;
    });
    done.map_err(|e| e.to_string())?;
    assert!(instants > 5, "the stream has {instants} instants");
    Ok(found)
}

fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let out = Command::new(program).args(args).output();
    let out = out.map_err(|e| format!("{program}: {e}"))?;
    match out.status.success() {
        true => Ok(String::from_utf8_lossy(&out.stdout).trim().to_owned()),
        false => Err(format!(
            "{program}: {}",
            String::from_utf8_lossy(&out.stderr)
        )),
    }
}

/// A recorded device over a copy of an image, mounted; everything is undone in the end.
struct Recorded {
    dir: PathBuf,
    server: Child,
    device: Option<String>,
    mounted: bool,
}

impl Recorded {
    fn new(dir: &Path, blkrec: &Path) -> Result<Self, String> {
        let path = |name: &str| dir.join(name);
        std::fs::copy(path("base"), path("copy")).map_err(|e| e.to_string())?;
        for name in ["fuse", "mnt"] {
            std::fs::create_dir_all(path(name)).map_err(|e| e.to_string())?;
        }
        let args = [path("copy"), path("fuse"), path("log")];
        let server = Command::new("python3").arg(blkrec).args(args).spawn();
        Ok(Self {
            dir: dir.into(),
            server: server.map_err(|e| e.to_string())?,
            device: None,
            mounted: false,
        })
    }

    fn mount(&mut self, kind: &str, options: &str) -> Result<(), String> {
        let disk = self.dir.join("fuse/disk.img");
        for _ in 0..200 {
            if disk.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let device = run("losetup", &["-f", "--show", &disk.to_string_lossy()])?;
        self.device = Some(device.clone());
        let at = self.dir.join("mnt");
        run(
            "mount",
            &["-t", kind, "-o", options, &device, &at.to_string_lossy()],
        )?;
        self.mounted = true;
        Ok(())
    }
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let text = |name: &str| self.dir.join(name).to_string_lossy().into_owned();
        if self.mounted {
            let _ = run("umount", &[&text("mnt")]);
        }
        if let Some(device) = &self.device {
            let _ = run("losetup", &["-d", device]);
        }
        if run("umount", &[&text("fuse")]).is_err() {
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// The calls on the real kernel; the stream is in `log` afterwards.
fn record(dir: &Path, blkrec: &Path, kind: &str, options: &str, calls: &str) -> Result<(), String> {
    let base = dir.join("base").to_string_lossy().into_owned();
    run("truncate", &["-s", "16M", &base])?;
    run(
        "mke2fs",
        &["-q", "-t", kind, "-b", "1024", "-J", "size=1", &base],
    )?;
    let mut recorded = Recorded::new(dir, blkrec)?;
    recorded.mount(kind, &format!("{options},commit=1"))?;
    let at = dir.join("mnt").to_string_lossy().into_owned();
    run("python3", &["-c", &python(calls), &at]).map(|_| ())
}

/// Says that this process has mounts of its own.
const APART: &str = "FSLAB_MOUNTS_APART";

/// Runs this test again where its mounts are nobody else's.
#[test]
fn what_the_kernel_can_leave_fslab_shows() {
    if std::env::var_os(APART).is_some() {
        return compare();
    }
    let this = std::env::current_exe().unwrap();
    let again = Command::new("unshare")
        .args(["-m", "--propagation", "private"])
        .arg(this)
        .args([
            "--exact",
            "what_the_kernel_can_leave_fslab_shows",
            "--nocapture",
        ])
        .env(APART, "1")
        .output();
    match again {
        Ok(out) => {
            let text = String::from_utf8_lossy(&out.stderr);
            eprintln!("{}{text}", String::from_utf8_lossy(&out.stdout));
            let not_allowed = text.starts_with("unshare:");
            assert!(out.status.success() || not_allowed, "see above");
        }
        Err(why) => eprintln!("skipped: unshare: {why}"),
    }
}

fn compare() {
    let shared = std::env::var_os("FSLAB_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    let blkrec = [shared, "/work/shared".into()]
        .map(|s: PathBuf| s.join("oracles/blkrec.py"))
        .into_iter()
        .find(|p| p.exists());
    let there = Path::new("/dev/fuse").exists() && run("losetup", &["--version"]).is_ok();
    let Some(blkrec) = blkrec.filter(|_| there) else {
        eprintln!("skipped: no FUSE, no loop devices or no blkrec.py");
        return;
    };
    let all: Vec<_> = MOUNTS
        .iter()
        .flat_map(|m| PROGRAMS.iter().map(move |p| (*m, *p)))
        .collect();
    let mut compared = 0;
    // The real ones sleep most of the time: many at once.
    for some in all.chunks(8) {
        let recorded: Vec<_> = std::thread::scope(|scope| {
            let all: Vec<_> = some
                .iter()
                .map(|((kind, _, options), (_, _, calls))| {
                    let blkrec = &blkrec;
                    scope.spawn(move || {
                        let dir = tempfile::tempdir().unwrap();
                        let done = record(dir.path(), blkrec, kind, options, calls);
                        (dir, done)
                    })
                })
                .collect();
            all.into_iter().map(|t| t.join().unwrap()).collect()
        });
        for (((kind, _, options), (name, calls, _)), (dir, done)) in some.iter().zip(recorded) {
            if let Err(why) = done {
                eprintln!("skipped: {kind} {options}: {why}");
                continue;
            }
            let text = scenario(kind, options, calls);
            let (base, log) = (dir.path().join("base"), dir.path().join("log"));
            let theirs = by_stream(&text, &base, &log).unwrap();
            let ours = by_fslab(&text);
            let only_ours: Vec<_> = ours.difference(&theirs).collect();
            let allowed: Found = ours.union(&by_chance(options)).cloned().collect();
            eprintln!("{kind} {options:<28} {name:<36} Linux {theirs:?}, only fslab {only_ours:?}");
            assert!(
                theirs.is_subset(&allowed),
                "{kind} {options} {name}: {theirs:?}, {ours:?}"
            );
            compared += 1;
        }
    }
    eprintln!("{compared} of {} compared", all.len());
}
