//! The feature sets that sequences run on, and the limits that follow from each.

use super::op::Time;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// A way of making a filesystem.
#[derive(Clone, Copy, Debug)]
pub struct Set {
    pub name: &'static str,
    /// The kernel's name for it.
    pub kind: &'static str,
    /// Words for mke2fs.
    pub mkfs: &'static str,
    pub block_size: u64,
    pub cluster_blocks: u32,
    pub mib: u64,
    pub inode_size: u32,
}

const BASE: Set = Set {
    name: "",
    kind: "ext4",
    mkfs: "",
    block_size: 4096,
    cluster_blocks: 1,
    mib: 32,
    inode_size: 256,
};

const fn large(name: &'static str, mkfs: &'static str) -> Set {
    Set { name, mkfs, ..BASE }
}

const fn small(name: &'static str, mkfs: &'static str) -> Set {
    Set {
        name,
        mkfs,
        block_size: 1024,
        mib: 20,
        ..BASE
    }
}

/// Every feature set of the reader's list that can be written.
pub const SETS: &[Set] = &[
    large("ext4", "-t ext4"),
    small("ext4-1k", "-t ext4"),
    Set {
        kind: "ext2",
        ..small("ext2-1k", "-t ext2")
    },
    Set {
        kind: "ext2",
        ..large("ext2-4k", "-t ext2")
    },
    Set {
        kind: "ext3",
        ..small("ext3-1k", "-t ext3")
    },
    Set {
        kind: "ext3",
        ..large("ext3-4k", "-t ext3")
    },
    Set {
        block_size: 2048,
        ..large("ext4-2k", "-t ext4")
    },
    small("no-extents", "-t ext4 -O ^extents,^64bit"),
    large("no-dir-index", "-t ext4 -O ^dir_index"),
    small("no-filetype", "-t ext4 -O ^filetype"),
    Set {
        inode_size: 128,
        ..small("inode-128", "-t ext4 -I 128")
    },
    Set {
        inode_size: 512,
        ..large("inode-512", "-t ext4 -I 512")
    },
    Set {
        cluster_blocks: 4,
        mib: 64,
        ..large("bigalloc", "-t ext4 -O bigalloc -C 16384")
    },
    Set {
        cluster_blocks: 8,
        ..small("bigalloc-1k", "-t ext4 -O bigalloc -C 8192")
    },
    large("ea-inode", "-t ext4 -O ea_inode"),
    // A transaction must have room for a value of 64 KiB: the kernel says ENOSPC else.
    Set {
        mib: 40,
        ..small("ea-inode-1k", "-t ext4 -O ea_inode -J size=16")
    },
    small("meta-bg", "-t ext4 -O meta_bg,^resize_inode -g 1024"),
    large("no-huge-file", "-t ext4 -O ^huge_file"),
    large("no-64bit", "-t ext4 -O ^64bit"),
    large("no-metadata-csum", "-t ext4 -O ^metadata_csum"),
    small("uninit-bg", "-t ext4 -O uninit_bg,^metadata_csum"),
    small("no-flex-bg", "-t ext4 -O ^flex_bg"),
    small("sparse-super2", "-t ext4 -O sparse_super2,^resize_inode"),
    small(
        "no-sparse-super",
        "-t ext4 -O ^sparse_super,^resize_inode -g 2048",
    ),
    large("no-extra-isize", "-t ext4 -O ^extra_isize"),
    large("no-journal", "-t ext4 -O ^has_journal"),
    small("large-dir", "-t ext4 -O large_dir"),
    large("csum-seed", "-t ext4 -O metadata_csum_seed"),
    large("orphan-file", "-t ext4 -O orphan_file"),
    small("no-dir-nlink", "-t ext4 -O ^dir_nlink,^large_file"),
    large("inline-data", "-t ext4 -O inline_data"),
];

const UUID: &str = "f51ab000-0000-4000-8000-00000000f51a";
const INODES: u64 = 2048;

/// What follows from a set, for the model.
#[derive(Clone, Debug)]
pub struct Limits {
    pub block_size: u64,
    pub cluster_blocks: u32,
    /// `s_maxbytes`.
    pub max_bytes: u64,
    /// What the map of a file can address.
    pub max_mapped: u64,
    pub extents: bool,
    pub filetype: bool,
    pub inline_data: bool,
    pub inodes: u64,
    /// Free in the empty filesystem.
    pub free_blocks: u64,
    /// Inodes have room for nanoseconds and more than 32 bits of seconds.
    pub long_times: bool,
}

impl Limits {
    pub fn cluster_size(&self) -> u64 {
        self.block_size * u64::from(self.cluster_blocks)
    }

    /// A time as the inode can hold it.
    pub fn time(&self, t: Time) -> Time {
        let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
        if !self.long_times {
            return (t.0.clamp(min, max), 0);
        }
        let max = (3 << 32) + max;
        match t.0 {
            s if s <= min => (min, 0),
            s if s >= max => (max, 0),
            _ => t,
        }
    }
}

impl Set {
    pub fn named(name: &str) -> &'static Set {
        SETS.iter()
            .find(|s| s.name == name)
            .expect("a set of the list")
    }

    /// What the model must know; `free_blocks` as the kernel says it.
    pub fn limits(&self, free_blocks: u64) -> Limits {
        let has = |word: &str| self.mkfs.contains(word);
        let extents = self.kind == "ext4" && !has("^extents");
        let huge = self.kind == "ext4" && !has("^huge_file");
        let bits = self.block_size.trailing_zeros();
        let max_bytes = max_bytes(bits, huge);
        Limits {
            block_size: self.block_size,
            cluster_blocks: self.cluster_blocks,
            max_bytes,
            max_mapped: if extents {
                max_bytes
            } else {
                max_mapped(bits, huge)
            },
            extents,
            filetype: !has("^filetype"),
            inline_data: has("inline_data"),
            inodes: INODES,
            free_blocks,
            long_times: self.inode_size > 128,
        }
    }

    /// The empty filesystem, made once by mke2fs and not to be changed.
    pub fn template(&self) -> Result<PathBuf, String> {
        static MAKING: Mutex<()> = Mutex::new(());
        let _one = MAKING.lock().map_err(|e| e.to_string())?;
        remove_old();
        let path = folder().join(format!("{}-{}.template", self.name, std::process::id()));
        if path.exists() {
            return Ok(path);
        }
        let half = path.with_extension("half");
        let file = File::create(&half).map_err(|e| e.to_string())?;
        file.set_len(self.mib << 20).map_err(|e| e.to_string())?;
        let block = self.block_size.to_string();
        let inodes = INODES.to_string();
        let hash = format!("hash_seed={UUID},lazy_itable_init=0");
        let mut mke2fs = Command::new("mke2fs");
        mke2fs.args([
            "-q", "-F", "-b", &block, "-N", &inodes, "-U", UUID, "-E", &hash,
        ]);
        mke2fs.args(self.mkfs.split(' ')).arg(&half);
        let done = mke2fs.output().map_err(|e| e.to_string())?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            return Err(format!("{}: {mke2fs:?}: {said}", self.name));
        }
        fs::rename(&half, &path).map_err(|e| e.to_string())?;
        Ok(path)
    }

    /// A copy of the empty filesystem.
    pub fn copy(&self, to: &Path) -> Result<(), String> {
        copy_sparse(&self.template()?, to)
    }
}

/// Copies what is not zeros.
pub fn copy_sparse(from: &Path, to: &Path) -> Result<(), String> {
    let copy = || -> std::io::Result<()> {
        use std::os::unix::fs::FileExt;
        let bytes = fs::read(from)?;
        let out = File::create(to)?;
        out.set_len(bytes.len() as u64)?;
        for (i, page) in bytes.chunks(4096).enumerate() {
            if page.iter().any(|b| *b != 0) {
                out.write_all_at(page, i as u64 * 4096)?;
            }
        }
        Ok(())
    };
    copy().map_err(|e| format!("{}: {e}", from.display()))
}

/// Where images are: in memory, where the machine has that.
pub fn folder() -> PathBuf {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() {
        memory.to_owned()
    } else {
        std::env::temp_dir()
    };
    let folder = folder.join("fslab-ops");
    let _ = fs::create_dir_all(&folder);
    folder
}

/// Templates stay when a process ends: those of an hour ago are nobody's.
fn remove_old() {
    let hour = std::time::Duration::from_secs(3600);
    for entry in fs::read_dir(folder()).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|m| m.modified()).ok();
        if age
            .and_then(|t| t.elapsed().ok())
            .is_some_and(|age| age > hour)
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// `s_maxbytes`: blocks have 32-bit numbers; without `huge_file`, sectors have.
fn max_bytes(bits: u32, huge: bool) -> u64 {
    let whole = u64::from(u32::MAX) << bits;
    let sectors = u64::from(u32::MAX) >> (bits - 9) << bits;
    if huge { whole } else { whole.min(sectors) }
}

/// Bytes that direct and indirect blocks lead to, where the map's own blocks count too.
fn max_mapped(bits: u32, huge: bool) -> u64 {
    let per = 1u64 << (bits - 2);
    let limit = if huge {
        (1 << 48) - 1
    } else {
        u64::from(u32::MAX) >> (bits - 9)
    };
    let all = 12 + per + per * per + per * per * per;
    let meta = 1 + (1 + per) + (1 + per + per * per);
    if all + meta <= limit {
        return all << bits;
    }
    let left = limit - 12 - per;
    let meta = if left < per * per {
        2 + left.div_ceil(per)
    } else {
        let left = left - per * per;
        3 + per + left.div_ceil(per) + left.div_ceil(per * per)
    };
    (limit - meta) << bits
}
