//! Whether an image is good: for e2fsck, for our own reader, for the kernel.

use super::{name, run, succeed, text};
use crate::exercise;
use fslab_engine::disk::FileReader;
use fslab_engine::ext4::read::Fs;
use std::path::Path;

pub fn for_e2fsck(image: &Path) -> Result<(), String> {
    succeed("e2fsck", &["-fn", name(image)]).map(drop)
}

pub fn for_our_reader(image: &Path) -> Result<(), String> {
    let fs = Fs::open(FileReader::open(image).unwrap()).map_err(|e| e.to_string())?;
    let map = exercise::map(&fs);
    match map.problems.iter().chain(fs.problems()).next() {
        Some(problem) => Err(format!("our reader: {problem}")),
        None => Ok(()),
    }
}

/// Mounts, writes, unmounts, in a mount namespace of its own.
const WRITE: &str = "d=$(mktemp -d); mount -o loop \"$1\" \"$d\" || { rmdir \"$d\"; exit 1; }; \
                     mkdir \"$d/dir\" && head -c 300000 /dev/zero > \"$d/dir/file\"; rc=$?; \
                     umount \"$d\" && rmdir \"$d\" && exit $rc";

fn write(image: &Path) -> Result<(), String> {
    let words = ["-m", "--propagation", "private", "sh", "-c", WRITE, "sh"];
    succeed("unshare", &[&words[..], &[name(image)]].concat()).map(drop)
}

/// Whether this process may mount images; says so where not.
pub fn can_mount() -> bool {
    let root = run("id", &["-u"]).stdout.starts_with(b"0\n");
    let can = root && Path::new("/dev/loop-control").exists();
    if !can {
        eprintln!("skipped: the kernel's part needs root and loop devices");
    }
    can
}

/// Lets the kernel write a file; `false` where it does not take such a filesystem even
/// when mke2fs made it, which is `theirs`.
pub fn for_the_kernel(theirs: &Path, ours: &Path) -> Result<bool, String> {
    if let Err(why) = write(ours) {
        return match write(theirs) {
            Ok(()) => Err(why),
            Err(_) => Ok(false),
        };
    }
    let done = run("e2fsck", &["-fn", name(ours)]);
    match done.status.success() {
        true => Ok(true),
        false => Err(format!("after writing: {}", text(&done))),
    }
}
