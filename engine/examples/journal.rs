//! What `cargo xtask bench journal` times.
//!
//!     journal commits
//!     journal recover IMAGE
//!
//! Each prints a line: the nanoseconds of a commit; the bytes that went home and the
//! nanoseconds of the mount that brought them there, the image being in memory.
#![forbid(unsafe_code)]

use fslab_engine::device::{Device, Ram};
use fslab_engine::disk::{CowDisk, FileReader, ReadAt, WriteAt};
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::kernel::{Caller, Mount, MountOptions, OpenFlags};
use std::path::Path;
use std::time::Instant;

/// Commits of a run.
const COMMITS: u32 = 20_000;
const BYTES: u64 = 256 << 20;
/// Bytes of the image that are copied at a time.
const PIECE: u64 = 1 << 20;

/// A file grows by a block and is synced, again and again.
fn commits() {
    let mut disk = CowDisk::new(BYTES);
    let options = Options {
        fs_type: FsType::Ext4,
        uuid: [7; 16],
        hash_seed: [9; 16],
        ..Options::default()
    };
    mkfs(&options, &mut disk, BYTES).expect("a filesystem can be made");
    let mount = Mount::mount(Box::new(Ram::new(disk)), MountOptions::default());
    let mut mount = mount.expect("it can be mounted");
    let flags = OpenFlags::WRONLY | OpenFlags::CREAT;
    let fd = mount.open(&Caller::root(), b"/file", flags, 0o644);
    let fd = fd.expect("a file can be made");
    let block = [0xA5; 4096];
    let begun = Instant::now();
    for _ in 0..COMMITS {
        mount.write(fd, &block).expect("there is room");
        mount.fsync(fd).expect("it can be synced");
    }
    println!("{}", begun.elapsed().as_nanos() / u128::from(COMMITS));
}

/// An image in memory, its holes left out.
fn read(path: &Path) -> CowDisk {
    let file = FileReader::open(path).expect("the image can be read");
    let mut disk = CowDisk::new(file.len());
    let mut bytes = vec![0; PIECE as usize];
    let mut at = 0;
    while at < file.len() {
        let n = PIECE.min(file.len() - at);
        let piece = &mut bytes[..n as usize];
        file.read_at(at, piece).expect("the image can be read");
        for (block, from) in piece.chunks(4096).zip((at..).step_by(4096)) {
            if block.iter().any(|b| *b != 0) {
                disk.write_at(from, block).expect("it has this size");
            }
        }
        at += n;
    }
    disk
}

fn recover(path: &Path) {
    let device: Box<dyn Device> = Box::new(Ram::new(read(path)));
    let begun = Instant::now();
    let mount = Mount::mount(device, MountOptions::default()).expect("it is recovered");
    let took = begun.elapsed().as_nanos();
    let written = mount.vol.device().counters().written_bytes;
    println!("{written}\t{took}");
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["commits"] => commits(),
        ["recover", path] => recover(Path::new(path)),
        _ => {
            eprintln!("usage: journal commits | journal recover IMAGE");
            std::process::exit(2);
        }
    }
}
