//! A filesystem of 17 TiB, for block numbers of more than 32 bits.

use super::super::cache::{blank, skipped};
use super::super::kernel;
use super::super::tools::{limited, output};
use super::super::truth::{Bytes, Truth};
use super::bench::{Bench, Done};
use super::{Build, Expect, SpecialImage};
use serde_json::{Value, json};

/// ext4 itself cannot hold a file of that size; tmpfs can, sparse.
const TMPFS: &str = "/dev/shm";
const BLOCK: u64 = 4096;
/// Somewhere in a group past 2^32 that is not its bitmaps or inodes.
const FAR: u64 = (1 << 32) + 1_000_000;
/// The first inode whose group is past block 2^32, with 32 inodes a group.
const FAR_INODE: u32 = (1 << 17) * 32;
/// Directories are spread by a hash of their names.
const SEED: &str = "f51ab000-0000-4000-8000-00000000f51a";

pub fn image(build: Build) -> Option<SpecialImage> {
    let folder = match tempfile::tempdir_in(TMPFS) {
        Ok(folder) => folder,
        Err(error) => return skipped(&format!("{TMPFS}: {error}")),
    };
    let bench = Bench::new(folder.path());
    if let Err(error) = blank(&bench.image, 17 << 40) {
        return skipped(&format!("no sparse file of 17 TiB in {TMPFS}: {error}"));
    }
    let expect = build(&bench).unwrap_or_else(|why| panic!("{why}"));
    Some(SpecialImage {
        path: bench.image,
        expect,
        _kept: Some(folder),
    })
}

/// The kernel spreads directories over all groups, so that some inode tables are
/// past block 2^32; two files' blocks are then moved there.
pub fn high_halves(bench: &Bench) -> Done<Expect> {
    // Without journal, backups and flexible groups, nothing is written for each
    // group, and each group's tables are its own.
    let features =
        "^has_journal,^resize_inode,^flex_bg,sparse_super2,64bit,uninit_bg,^metadata_csum";
    let extended = format!("lazy_itable_init=1,nodiscard,num_backup_sb=0,hash_seed={SEED}");
    let words = format!("-t ext4 -b 4096 -N 2300000 -E {extended} -O {features}");
    bench.mkfs(17 << 20, &words)?;
    let mount = bench.image.with_file_name("mnt");
    std::fs::create_dir(&mount).map_err(|error| error.to_string())?;
    let request = json!({
        "image": bench.image, "mnt": mount, "options": "noinit_itable", "block_size": BLOCK,
        "standard": false, "extra": ["spread"],
    });
    kernel::ask::<Value>("fill.py", &request)?;
    move_far(bench, "far-001/file", FAR)?;
    move_far(bench, "far-004/file", FAR + 100)?;
    repair_counts(bench)?;
    let truth: Truth = kernel::ask("walk.py", &request)?;
    if !truth.inodes.keys().any(|&ino| ino >= FAR_INODE) {
        return Err("no inode is past block 2^32".to_owned());
    }
    let mut expect = Expect::opened("files and inodes past block 2^32");
    for (path, _, entry) in truth.entries() {
        if let Some(hash) = entry.sha256.clone() {
            expect.contents.insert(Bytes(path.to_vec()), hash);
        }
    }
    Ok(expect)
}

/// Moves a file of one extent to blocks from `to` on.
fn move_far(bench: &Bench, name: &str, to: u64) -> Done {
    let (_, stat) = bench.stat(name)?;
    let [extent] = stat.extents[..] else {
        return Err(format!("{name} has {} extents", stat.extents.len()));
    };
    let length = usize::try_from(extent.len * BLOCK).map_err(|error| error.to_string())?;
    let bytes = bench.bytes(extent.physical * BLOCK, length)?;
    bench.patch(to * BLOCK, &bytes)?;
    // In the inode after the header: logical, length and high half, low half.
    let (high, low) = (to >> 32, to & 0xFFFF_FFFF);
    let commands = [
        format!("sif {name} block[4] {:#x}", high << 16 | extent.len),
        format!("sif {name} block[5] {low:#x}"),
    ];
    bench
        .debugfs(&commands.each_ref().map(String::as_str))
        .map(drop)
}

/// Bitmaps and counts follow from the inodes.
fn repair_counts(bench: &Bench) -> Done {
    let words = ["-fy".as_ref(), bench.image.as_os_str()];
    let done = output(&mut limited(60, "e2fsck", &words))?;
    let said = || String::from_utf8_lossy(&done.stdout).into_owned();
    let repaired = matches!(done.status.code(), Some(0 | 1));
    repaired.then_some(()).ok_or_else(said)
}
