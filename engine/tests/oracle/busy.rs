//! Copies of images that the kernel has mounted and is working on: a journal to
//! read, a log to replay, orphans.

use super::cache::{available, blank, cached, copy_sparse, skipped};
use super::image::complete;
use super::journal::{Transaction, logdump};
use super::kernel;
use super::tools::run;
use super::truth::Truth;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// How to make one.
#[derive(Clone, Copy, Debug)]
pub struct Busy {
    pub name: &'static str,
    pub mkfs: &'static str,
    pub block_size: u32,
    pub mount: &'static str,
    /// Transactions; about fifty blocks each.
    pub rounds: u32,
    /// Whether to leave open files without a name. Not with fast commits: this
    /// kernel then refuses to replay what it wrote.
    pub orphans: bool,
}

/// A dirty image and what becomes of it.
#[derive(Debug)]
pub struct BusyImage {
    pub busy: &'static Busy,
    pub path: PathBuf,
    /// `debugfs -R "logdump -a"`.
    pub transactions: Vec<Transaction>,
    /// What the kernel showed of the tree without replaying, if it would.
    pub before: Option<Truth>,
    /// The same image after the kernel replayed it, and what it holds then.
    pub recovered: PathBuf,
    pub after: Truth,
}

const fn busy(name: &'static str, mkfs: &'static str, mount: &'static str) -> Busy {
    Busy {
        name,
        mkfs,
        block_size: 4096,
        mount,
        rounds: 6,
        orphans: true,
    }
}

const PLAIN: &str = "-t ext4 -O ^metadata_csum,^64bit";

pub static BUSY: &[Busy] = &[
    busy("ordered", "-t ext4", ""),
    busy("writeback", "-t ext4", "data=writeback"),
    busy("journal", "-t ext4", "data=journal"),
    busy("no-64bit", "-t ext4 -O ^64bit", ""),
    busy("no-csum", PLAIN, ""),
    busy("no-csum-64bit", "-t ext4 -O ^metadata_csum,64bit", ""),
    busy("csum-v1", PLAIN, "journal_checksum"),
    busy(
        "async-commit",
        PLAIN,
        "journal_checksum,journal_async_commit,data=writeback",
    ),
    busy(
        "async-commit-v3",
        "-t ext4",
        "journal_async_commit,data=writeback",
    ),
    busy("ext3", "-t ext3", ""),
    busy("ext3-journal", "-t ext3", "data=journal"),
    busy("orphan-file", "-t ext4 -O orphan_file", ""),
    Busy {
        orphans: false,
        ..busy("fast-commit", "-t ext4 -O fast_commit -J size=8", "")
    },
    Busy {
        block_size: 1024,
        rounds: 60,
        ..busy("wrapped-1k", "-t ext4 -J size=1", "")
    },
    Busy {
        block_size: 1024,
        rounds: 40,
        ..busy("wrapped-data-1k", "-t ext4 -J size=1", "data=journal")
    },
];

/// A busy copy; panics when it can be made here but was not.
pub fn busy_image(busy: &'static Busy) -> Option<BusyImage> {
    if let Err(why) = available() {
        return skipped(&why);
    }
    Some(made(busy).unwrap_or_else(|why| panic!("{why}")))
}

fn made(busy: &'static Busy) -> Result<BusyImage, String> {
    let description = format!("{busy:?} {}", include_str!("busy.rs"));
    let folder = cached(&format!("busy-{}", busy.name), &description, |folder| {
        build(busy, folder)
    })?;
    let read = |name: &str| {
        let text = std::fs::read(folder.join(name)).map_err(|error| error.to_string())?;
        serde_json::from_slice::<Truth>(&text).map_err(|error| error.to_string())
    };
    let path = folder.join("image.img");
    Ok(BusyImage {
        busy,
        transactions: logdump(&path)?,
        before: read("before.json").ok(),
        after: read("after.json")?,
        recovered: folder.join("recovered.img"),
        path,
    })
}

fn build(busy: &Busy, folder: &Path) -> Result<(), String> {
    let (image, mount) = (folder.join("image.img"), folder.join("mnt"));
    let (live, recovered) = (folder.join("live.img"), folder.join("recovered.img"));
    std::fs::create_dir(&mount).map_err(|error| error.to_string())?;
    blank(&live, 32 << 20)?;
    let words = format!("-q -F -b {} {}", busy.block_size, busy.mkfs);
    let mut words: Vec<_> = words.split_whitespace().map(std::ffi::OsStr::new).collect();
    words.push(live.as_os_str());
    run("mke2fs", &words)?;
    let request = |image: &Path, options: &str| {
        json!({
            "image": image, "mnt": mount, "options": options, "copy": folder.join("image.img"),
            "block_size": busy.block_size, "rounds": busy.rounds,
            "orphans": busy.orphans,
        })
    };
    kernel::ask::<Value>("busy.py", &request(&live, busy.mount))?;
    std::fs::remove_file(&live).map_err(|error| error.to_string())?;
    copy_sparse(&image, &recovered)?;
    kernel::ask::<Value>("replay.py", &request(&recovered, busy.mount))?;
    let before = kernel::ask::<Truth>("walk.py", &request(&image, "noload"));
    let mut after: Truth = kernel::ask("walk.py", &request(&recovered, ""))?;
    complete(&mut after, &recovered)?;
    let write = |name: &str, truth: &Truth| {
        let text = serde_json::to_vec(truth).map_err(|error| error.to_string())?;
        std::fs::write(folder.join(name), text).map_err(|error| error.to_string())
    };
    if let Ok(before) = before {
        write("before.json", &before)?;
    }
    write("after.json", &after)
}
