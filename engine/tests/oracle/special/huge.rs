//! A filesystem of 17 TiB, for block numbers of more than 32 bits.

use super::super::cache::skipped;
use super::super::kernel;
use super::bench::{Bench, Done};
use super::{Build, Expect, SpecialImage};
use crate::oracle::truth::Truth;
use serde_json::{Value, json};

/// ext4 itself cannot hold a file of that size; tmpfs can, sparse.
const TMPFS: &str = "/dev/shm";

pub fn image(build: Build) -> Option<SpecialImage> {
    let folder = match tempfile::tempdir_in(TMPFS) {
        Ok(folder) => folder,
        Err(error) => return skipped(&format!("{TMPFS}: {error}")),
    };
    let bench = Bench::new(folder.path());
    if let Err(error) = super::super::cache::blank(&bench.image, 17 << 40) {
        return skipped(&format!("no sparse file of 17 TiB in {TMPFS}: {error}"));
    }
    let expect = build(&bench).unwrap_or_else(|why| panic!("{why}"));
    Some(SpecialImage {
        path: bench.image,
        expect,
        _kept: Some(folder),
    })
}

/// Directories spread over all groups; of the files in them some are beyond
/// block 2^32, as are their inodes and these groups' bitmaps.
pub fn high_halves(bench: &Bench) -> Done<Expect> {
    // Without a journal, backups and flexible groups nothing is written per
    // group, and each group's tables are its own.
    let features =
        "^has_journal,^resize_inode,^flex_bg,sparse_super2,64bit,uninit_bg,^metadata_csum";
    let words = format!(
        "-t ext4 -b 4096 -N 2300000 -E lazy_itable_init=1,nodiscard,num_backup_sb=0 -O {features}"
    );
    bench.mkfs(17 << 20, &words)?;
    let mount = bench.image.with_file_name("mnt");
    std::fs::create_dir(&mount).map_err(|error| error.to_string())?;
    let request = json!({
        "image": bench.image, "mnt": mount, "options": "noinit_itable", "block_size": 4096,
        "standard": false, "extra": ["spread"],
    });
    kernel::ask::<Value>("fill.py", &request)?;
    let truth: Truth = kernel::ask("walk.py", &request)?;
    let mut expect = Expect::opened("files beyond block 2^32");
    let mut beyond = 0;
    for (path, ino, entry) in truth.entries() {
        let Some(hash) = entry.sha256.as_ref() else {
            continue;
        };
        let high = truth.extents.get(&ino).into_iter().flatten();
        beyond += high.filter(|extent| extent.physical >> 32 != 0).count();
        expect
            .contents
            .insert(super::super::truth::Bytes(path.to_vec()), hash.clone());
    }
    (beyond > 0)
        .then_some(expect)
        .ok_or_else(|| "no file came beyond block 2^32".to_owned())
}
