//! The workloads that `cargo xtask bench files` times: on fslab's kernel, or by the same
//! calls on a directory of the real one.
//!
//!     workloads fslab IMAGE-BYTES
//!     workloads real DIRECTORY
//!     workloads memory IMAGE-BYTES
//!
//! The first two print a line for each: its name and its nanoseconds. The third prints the
//! bytes of memory that a file costs, its contents being a pattern.
#![forbid(unsafe_code)]

use fslab_engine::device::Ram;
use fslab_engine::disk::CowDisk;
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::kernel::{Caller, Errno, Mount, MountOptions, OpenFlags};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

/// What both can do.
trait System {
    fn mkdir(&mut self, path: &str);
    fn write(&mut self, path: &str, bytes: &[u8]);
    fn unlink(&mut self, path: &str);
    fn rmdir(&mut self, path: &str);
    fn sync(&mut self);
}

struct Fslab(Mount);

impl Fslab {
    fn new(bytes: u64, features: &[&str]) -> Self {
        let mut disk = CowDisk::new(bytes);
        let options = Options {
            fs_type: FsType::Ext4,
            features: features.iter().map(ToString::to_string).collect(),
            uuid: [7; 16],
            hash_seed: [9; 16],
            ..Options::default()
        };
        mkfs(&options, &mut disk, bytes).expect("a filesystem can be made");
        let mount = Mount::mount(Box::new(Ram::new(disk)), MountOptions::default());
        Self(mount.expect("it can be mounted"))
    }
}

fn done<T>(result: Result<T, Errno>, what: &str) -> T {
    result.unwrap_or_else(|e| panic!("{what}: {e}"))
}

impl System for Fslab {
    fn mkdir(&mut self, path: &str) {
        done(self.0.mkdir(&Caller::root(), path.as_bytes(), 0o755), path);
    }

    fn write(&mut self, path: &str, bytes: &[u8]) {
        let flags = OpenFlags::WRONLY | OpenFlags::CREAT | OpenFlags::TRUNC;
        let fd = done(
            self.0.open(&Caller::root(), path.as_bytes(), flags, 0o644),
            path,
        );
        done(self.0.write(fd, bytes), path);
        done(self.0.close(fd), path);
    }

    fn unlink(&mut self, path: &str) {
        done(self.0.unlink(&Caller::root(), path.as_bytes()), path);
    }

    fn rmdir(&mut self, path: &str) {
        done(self.0.rmdir(&Caller::root(), path.as_bytes()), path);
    }

    fn sync(&mut self) {
        done(self.0.sync(), "sync");
    }
}

struct Real(PathBuf);

impl System for Real {
    fn mkdir(&mut self, path: &str) {
        fs::create_dir(self.0.join(path)).expect(path);
    }

    fn write(&mut self, path: &str, bytes: &[u8]) {
        let mut file = fs::File::create(self.0.join(path)).expect(path);
        file.write_all(bytes).expect(path);
    }

    fn unlink(&mut self, path: &str) {
        fs::remove_file(self.0.join(path)).expect(path);
    }

    fn rmdir(&mut self, path: &str) {
        fs::remove_dir(self.0.join(path)).expect(path);
    }

    fn sync(&mut self) {
        let status = std::process::Command::new("sync")
            .arg("-f")
            .arg(&self.0)
            .status();
        assert!(status.expect("sync runs").success());
    }
}

/// Calls that are timed together.
type Workload = fn(&mut dyn System);

const DIRS: u32 = 100;
const FILES: u32 = 1000;

fn create(s: &mut dyn System) {
    let bytes = [0x5A; 4096];
    for d in 0..DIRS {
        s.mkdir(&format!("d{d}"));
        for f in 0..FILES {
            s.write(&format!("d{d}/file{f}"), &bytes);
        }
    }
    s.sync();
}

fn delete(s: &mut dyn System) {
    for d in 0..DIRS {
        for f in 0..FILES {
            s.unlink(&format!("d{d}/file{f}"));
        }
        s.rmdir(&format!("d{d}"));
    }
    s.sync();
}

/// A tree as of sources: directories in directories, files of many sizes.
fn tree(s: &mut dyn System) {
    let bytes: Vec<u8> = (0..1 << 18)
        .map(|i: u32| (i.wrapping_mul(31) >> 3) as u8)
        .collect();
    let mut size = 1u32;
    s.mkdir("t");
    for a in 0..10 {
        s.mkdir(&format!("t/a{a}"));
        for b in 0..10 {
            s.mkdir(&format!("t/a{a}/b{b}"));
            for f in 0..200 {
                // A fixed course through sizes, most of them small.
                size = size.wrapping_mul(1_103_515_245).wrapping_add(12345);
                let len = (size >> 16 & 0x7FFF) >> (size >> 8 & 7);
                let len = if f % 50 == 0 { 1 << 18 } else { len };
                s.write(&format!("t/a{a}/b{b}/source-{f}.c"), &bytes[..len as usize]);
            }
        }
    }
    s.sync();
}

/// Bytes of memory that this process has (Linux: `/proc/self/statm`, second number, pages
/// of 4096 bytes).
fn resident() -> u64 {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux tells it");
    let pages = text.split(' ').nth(1).and_then(|n| n.parse::<u64>().ok());
    pages.expect("a number") * 4096
}

/// What a file of one block costs once it is written.
fn memory(bytes: u64) {
    // A journal keeps old copies of metadata, which are contents of the disk.
    let mut system = Fslab::new(bytes, &["^has_journal"]);
    let before = resident();
    let who = Caller::root();
    let flags = OpenFlags::WRONLY | OpenFlags::CREAT;
    for d in 0..DIRS {
        system.mkdir(&format!("d{d}"));
        for f in 0..FILES {
            let path = format!("d{d}/file{f}");
            let fd = done(system.0.open(&who, path.as_bytes(), flags, 0o644), &path);
            done(system.0.write_pattern(fd, 4096, f.into(), 0), &path);
            done(system.0.close(fd), &path);
        }
    }
    system.sync();
    println!(
        "bytes of memory for a file\t{}",
        (resident() - before) / u64::from(DIRS * FILES)
    );
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let mut system: Box<dyn System> = match args.iter().map(String::as_str).collect::<Vec<_>>()[1..]
    {
        ["fslab", bytes] => Box::new(Fslab::new(bytes.parse().expect("a number of bytes"), &[])),
        ["real", dir] => Box::new(Real(dir.into())),
        ["memory", bytes] => return memory(bytes.parse().expect("a number of bytes")),
        _ => panic!("workloads fslab BYTES | workloads real DIRECTORY | workloads memory BYTES"),
    };
    let all: [(&str, Workload); 3] = [
        ("create 100,000 files, sync", create),
        ("delete them, sync", delete),
        ("a tree of 20,000 files, sync", tree),
    ];
    for (name, run) in all {
        let start = Instant::now();
        run(&mut *system);
        println!("{name}\t{}", start.elapsed().as_nanos());
    }
}
