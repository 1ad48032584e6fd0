//! Whether an image is good: for e2fsck, for our own reader, for the kernel.

use super::{name, run, succeed, text};
use crate::exercise;
use fslab_engine::disk::{FileReader, ReadAt, Window};
use fslab_engine::ext4::read::Fs;
use std::path::Path;

/// An image as e2fsck takes one that begins past a file's first byte.
fn shifted(image: &Path, offset: u64) -> String {
    format!("{}?offset={offset}", name(image))
}

pub fn for_e2fsck(image: &Path, offset: u64) -> Result<(), String> {
    succeed("e2fsck", &["-fn", &shifted(image, offset)]).map(drop)
}

pub fn for_our_reader(image: &Path, offset: u64) -> Result<(), String> {
    let file = FileReader::open(image).unwrap();
    let len = file.len() - offset;
    let fs = Fs::open(Window::new(file, offset, len)).map_err(|e| e.to_string())?;
    let map = exercise::map(&fs);
    match map.problems.iter().chain(fs.problems()).next() {
        Some(problem) => Err(format!("our reader: {problem}")),
        None => Ok(()),
    }
}

/// Mounts, writes, unmounts, in a mount namespace of its own.
const WRITE: &str = concat!(
    include_str!("../loop_mount.sh"),
    r#"
    d=$(mktemp -d); loop_mount "$1" "$d" "" "$2" || { rmdir "$d"; exit 1; }
    mkdir "$d/dir" && head -c 300000 /dev/zero > "$d/dir/file"; rc=$?
    umount "$d" && rmdir "$d" && exit $rc"#
);

fn write(image: &Path, offset: u64) -> Result<(), String> {
    let words = ["-m", "--propagation", "private", "sh", "-c", WRITE, "sh"];
    let offset = offset.to_string();
    let words = [&words[..], &[name(image), &offset]].concat();
    succeed("unshare", &words).map(drop)
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
pub fn for_the_kernel(theirs: &Path, ours: &Path, offset: u64) -> Result<bool, String> {
    if let Err(why) = write(ours, offset) {
        return match write(theirs, offset) {
            Ok(()) => Err(why),
            Err(_) => Ok(false),
        };
    }
    let done = run("e2fsck", &["-fn", &shifted(ours, offset)]);
    match done.status.success() {
        true => Ok(true),
        false => Err(format!("after writing: {}", text(&done))),
    }
}
