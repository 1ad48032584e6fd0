//! A small filesystem with a few files whose maps are changed, beside a plain table that
//! says what each block of them must be.
#![allow(dead_code, reason = "each test takes what it needs")]

use fslab_engine::device::Ram;
use fslab_engine::disk::CowDisk;
use fslab_engine::event::{Reason, What};
use fslab_engine::ext4::Problem;
use fslab_engine::ext4::mkfs::{FsType, Options, mkfs};
use fslab_engine::ext4::read::{Fs, MapVisitor, NodeInfo};
use fslab_engine::kernel::map::{self, Create, State};
use fslab_engine::kernel::{Errno, InodeInfo, MountOptions, Volume, alloc};
use fslab_engine::units::{BlockNr, GroupNr, InodeNr, Lblk};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// A kind of filesystem.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub extents: bool,
    pub features: &'static str,
    pub block: u32,
    pub cluster: u32,
}

pub const KINDS: &[Kind] = &[
    kind("ext2, 1 KiB", false, "", 1024, 0),
    kind("ext2, 4 KiB", false, "", 4096, 0),
    kind("ext4, 1 KiB", true, "^has_journal", 1024, 0),
    kind("ext4, 4 KiB", true, "^has_journal", 4096, 0),
    kind(
        "ext4 without checksums, 1 KiB",
        true,
        "^has_journal,^metadata_csum,^64bit",
        1024,
        0,
    ),
    kind(
        "bigalloc, 1 KiB in 8",
        true,
        "^has_journal,bigalloc,^resize_inode",
        1024,
        8192,
    ),
    kind(
        "bigalloc, 4 KiB in 16",
        true,
        "^has_journal,bigalloc,^resize_inode",
        4096,
        16384,
    ),
];

const fn kind(
    name: &'static str,
    extents: bool,
    features: &'static str,
    block: u32,
    cluster: u32,
) -> Kind {
    Kind {
        name,
        extents,
        features,
        block,
        cluster,
    }
}

/// What is done to one of the files. Places and lengths are in blocks.
#[derive(Clone, Debug)]
pub enum Act {
    /// Allocates, as a write or as fallocate does it.
    Map {
        lblk: u32,
        len: u32,
        unwritten: bool,
        write: bool,
    },
    /// Allocates single blocks apart from each other.
    Scatter {
        lblk: u32,
        step: u32,
        count: u32,
        unwritten: bool,
        backwards: bool,
    },
    /// At the end of I/O.
    Convert {
        lblk: u32,
        len: u32,
    },
    /// Zero range.
    Unwrite {
        lblk: u32,
        len: u32,
    },
    /// Punch, or truncate where it goes to the end.
    Remove {
        lblk: u32,
        len: u32,
    },
    Collapse {
        lblk: u32,
        len: u32,
    },
    Insert {
        lblk: u32,
        len: u32,
    },
    /// The file is said to be so long, in blocks.
    Size {
        blocks: u32,
    },
    /// Everything is written and read again.
    Remount,
}

/// A block of a file: where it is, and whether it is unwritten.
type Model = BTreeMap<u32, (u64, bool)>;

pub struct Lab {
    pub vol: Volume,
    pub files: Vec<(InodeInfo, Model)>,
    kind: Kind,
    options: MountOptions,
    free: u64,
}

impl Lab {
    /// A filesystem whose free blocks hold what is not zeros.
    pub fn new(kind: Kind, bytes: u64, files: usize, max_zeroout_kb: u32) -> Self {
        let mut disk = CowDisk::new(bytes);
        let features = kind.features.split(',').filter(|f| !f.is_empty());
        let made = Options {
            fs_type: if kind.extents {
                FsType::Ext4
            } else {
                FsType::Ext2
            },
            block_size: Some(kind.block),
            cluster_size: (kind.cluster > 0).then_some(kind.cluster),
            features: features.map(String::from).collect(),
            lazy_itable_init: Some(false),
            uuid: [7; 16],
            ..Options::default()
        };
        mkfs(&made, &mut disk, bytes).unwrap();
        let disk = soil(disk);
        let options = MountOptions {
            max_zeroout_kb,
            ..MountOptions::default()
        };
        let mut vol = Volume::open(Box::new(Ram::new(disk)), options.clone()).unwrap();
        vol.events.keep(true);
        let mut all = Vec::new();
        for _ in 0..files {
            let nr = alloc::new_inode(&mut vol, None, 0x81A4, b"f").unwrap();
            let bytes = usize::from(vol.geometry().inode_size);
            let mut inode = InodeInfo::new(&vol, nr, vec![0; bytes].into());
            inode.raw.set_i_mode(0x81A4);
            inode.raw.set_i_links_count(1);
            if bytes > 128 {
                inode.raw.set_i_extra_isize(32);
            }
            map::init(&vol, &mut inode);
            vol.write_inode(&mut inode).unwrap();
            all.push((inode, Model::new()));
        }
        let free = alloc::statfs(&vol).free;
        Self {
            vol,
            files: all,
            kind,
            options,
            free,
        }
    }

    fn cluster(&self) -> u32 {
        (self.kind.cluster / self.kind.block).max(1)
    }

    /// Does something to a file, and checks that it came out right.
    pub fn act(&mut self, file: usize, act: &Act) {
        let n = file % self.files.len();
        let per = self.cluster();
        match *act {
            Act::Map {
                lblk,
                len,
                unwritten,
                write,
            } => self.map(n, lblk, len, unwritten, write),
            Act::Scatter {
                lblk,
                step,
                count,
                unwritten,
                backwards,
            } => {
                for i in 0..count {
                    let i = if backwards { count - 1 - i } else { i };
                    self.map(n, lblk + i * step, 1, unwritten, true);
                }
            }
            Act::Convert { lblk, len } => self.set_state(n, lblk, len, false),
            Act::Unwrite { lblk, len } => self.set_state(n, lblk, len, true),
            Act::Remove { lblk, len } => _ = self.remove(n, lblk, len),
            Act::Collapse { lblk, len } => {
                let (lblk, len) = (lblk / per * per, len.next_multiple_of(per));
                if self.kind.extents && self.remove(n, lblk, len) {
                    self.shift(n, lblk + len, -i64::from(len));
                }
            }
            Act::Insert { lblk, len } => {
                let (lblk, len) = (lblk / per * per, len.next_multiple_of(per));
                if self.kind.extents {
                    self.shift(n, lblk, i64::from(len));
                }
            }
            Act::Size { blocks } => {
                let size = u64::from(blocks) * u64::from(self.kind.block);
                self.files[n].0.set_disk_size(size);
            }
            Act::Remount => self.remount(),
        }
        self.compare(n);
    }

    fn map(&mut self, n: usize, lblk: u32, len: u32, unwritten: bool, write: bool) {
        let unwritten = unwritten && self.kind.extents;
        let how = Create {
            unwritten,
            reserved: false,
            root: true,
            reason: Reason::Data,
            write: write && !unwritten,
        };
        let (mut at, end) = (lblk, lblk + len);
        while at < end {
            let (inode, model) = &mut self.files[n];
            let got = match map::map_blocks(&mut self.vol, inode, Lblk(at), end - at, &how) {
                Ok(got) => got,
                Err(Errno::ENOSPC | Errno::EFBIG) => return,
                Err(e) => panic!("mapping {at} of {end}: {e}"),
            };
            assert_eq!(got.lblk.0, at);
            assert!(got.len > 0 && got.len <= end - at, "{got:?}");
            for i in 0..got.len {
                let place = got.start.0 + u64::from(i);
                let is_unwritten = got.state == State::Unwritten;
                let old = model.insert(at + i, (place, is_unwritten));
                if got.new {
                    assert_eq!(old, None, "block {} was there", at + i);
                    assert_eq!(is_unwritten, unwritten);
                } else {
                    let (before, was_unwritten) = old.expect("a block that is not new");
                    assert_eq!(place, before);
                    assert_eq!(is_unwritten, was_unwritten && !how.write);
                }
            }
            at += got.len;
        }
    }

    fn set_state(&mut self, n: usize, lblk: u32, len: u32, unwritten: bool) {
        let (inode, model) = &mut self.files[n];
        let done = if unwritten {
            map::mark_unwritten(&mut self.vol, inode, Lblk(lblk), len)
        } else {
            map::convert_unwritten(&mut self.vol, inode, Lblk(lblk), len)
        };
        if !self.kind.extents {
            let refused = unwritten.then_some(Errno::EOPNOTSUPP);
            assert_eq!(done.err(), refused);
            return;
        }
        let range = model.range_mut(lblk..lblk.saturating_add(len));
        match done {
            Ok(()) => range.for_each(|(_, b)| b.1 = unwritten),
            // Some of it was done.
            Err(Errno::ENOSPC) => {
                for (&l, b) in range {
                    let now = map::lookup(&mut self.vol, inode, Lblk(l), 1).unwrap();
                    b.1 = now.state == State::Unwritten;
                }
            }
            Err(e) => panic!("{e}"),
        }
    }

    fn remove(&mut self, n: usize, lblk: u32, len: u32) -> bool {
        let (inode, model) = &mut self.files[n];
        let (from, to) = (u64::from(lblk), u64::from(lblk) + u64::from(len));
        match map::remove(&mut self.vol, inode, from, to) {
            Ok(()) => model.retain(|&l, _| u64::from(l) < from || u64::from(l) >= to),
            Err(Errno::ENOSPC) => return false,
            Err(e) => panic!("removing {from} to {to}: {e}"),
        }
        true
    }

    fn shift(&mut self, n: usize, from: u32, by: i64) {
        let (inode, model) = &mut self.files[n];
        match map::shift(&mut self.vol, inode, from.into(), by) {
            Ok(()) => {
                let moved = |l: u32| {
                    if l < from {
                        l
                    } else {
                        (i64::from(l) + by) as u32
                    }
                };
                *model = model.iter().map(|(&l, &b)| (moved(l), b)).collect();
            }
            Err(Errno::ENOSPC) => {}
            Err(e) => panic!("shifting {from} by {by}: {e}"),
        }
    }

    /// Holds a file's map against the table. Unwritten blocks beside written ones may have
    /// been zeroed.
    fn compare(&mut self, n: usize) {
        let (inode, model) = &mut self.files[n];
        let (mut at, end) = (0u32, model.keys().last().map_or(5, |l| l.saturating_add(5)));
        let mut seen = 0;
        while at < end {
            let got = map::lookup(&mut self.vol, inode, Lblk(at), end - at).unwrap();
            assert!(got.len > 0 && got.len <= end - at && got.lblk.0 == at);
            if got.state == State::Hole {
                let next = model.range(at..).next().map_or(end, |(&l, _)| l);
                assert_eq!(at + got.len, next.min(end), "the end of a hole from {at}");
                at += got.len;
                continue;
            }
            for i in 0..got.len {
                let block = model.get_mut(&(at + i));
                let block = block.unwrap_or_else(|| panic!("block {} is mapped", at + i));
                assert_eq!(block.0, got.start.0 + u64::from(i), "block {}", at + i);
                let unwritten = got.state == State::Unwritten;
                if block.1 != unwritten {
                    assert!(!unwritten, "block {} became unwritten", at + i);
                    assert!(is_zero(&self.vol, block.0), "block {} is stale", at + i);
                    block.1 = false;
                }
                seen += 1;
            }
            at += got.len;
        }
        assert_eq!(seen, model.len());
    }

    /// Writes everything to the device.
    pub fn sync(&mut self) {
        for (inode, model) in &mut self.files {
            let blocks = model.keys().last().map_or(0, |l| u64::from(*l) + 1);
            let least = blocks * u64::from(self.kind.block);
            if inode.disk_size() < least {
                inode.set_disk_size(least);
            }
            self.vol.write_inode(inode).unwrap();
        }
        self.vol.commit_super().unwrap();
        self.vol.sync_buffers().unwrap();
    }

    fn remount(&mut self) {
        self.sync();
        let free = alloc::statfs(&self.vol).free;
        let dev = self.vol.device().boxed_clone();
        self.vol = Volume::open(dev, self.options.clone()).unwrap();
        assert_eq!(alloc::statfs(&self.vol).free, free);
        for n in 0..self.files.len() {
            let nr = self.files[n].0.nr;
            self.files[n].0 = self.vol.read_inode(nr).unwrap();
            self.compare(n);
        }
    }

    /// Our reader must see what the table says, and nothing wrong.
    pub fn check_by_reader(&mut self) {
        self.sync();
        let fs = Fs::open(self.vol.device()).unwrap();
        for (inode, model) in &self.files {
            let runs = fs.runs(&fs.inode(inode.nr).unwrap());
            assert_eq!(runs.problems, []);
            let mut seen = Model::new();
            for run in &runs.runs {
                for i in 0..run.len {
                    let at = run.start.0 + u64::from(i);
                    seen.insert(run.lblk.0 + i, (at, run.unwritten));
                }
            }
            assert!(seen == *model, "the reader sees another map");
        }
    }

    /// Removes everything: all blocks are free again, and the maps as at first.
    pub fn empty(&mut self) {
        for n in 0..self.files.len() {
            assert!(self.remove(n, 0, u32::MAX));
            self.compare(n);
            let inode = &self.files[n].0;
            assert_eq!(inode.sectors(&self.vol), 0);
            assert_eq!(map::nodes(&mut self.vol, inode).unwrap(), []);
            let mut fresh = inode.clone();
            map::init(&self.vol, &mut fresh);
            assert_eq!(inode.i_block(), fresh.i_block());
        }
        assert_eq!(alloc::statfs(&self.vol).free, self.free);
    }

    /// e2fsck must find nothing, once the files have names.
    pub fn check_by_e2fsck(&mut self) {
        if Command::new("e2fsck").arg("-V").output().is_err() {
            eprintln!("SKIPPED: there is no e2fsck here");
            return;
        }
        self.sync();
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        write_sparse(self.vol.device(), &image);
        for (inode, _) in &self.files {
            name(&image, inode.nr);
        }
        let out = Command::new("e2fsck").arg("-fn").arg(&image).output();
        let out = out.unwrap();
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.code() == Some(0), "{}: {text}", self.kind.name);
    }
}

fn name(image: &Path, nr: InodeNr) {
    let command = format!("ln <{nr}> file{nr}");
    let out = Command::new("debugfs")
        .args(["-w", "-R", &command])
        .arg(image)
        .output()
        .unwrap();
    assert!(out.status.success());
}

fn write_sparse(dev: &dyn fslab_engine::device::Device, to: &Path) {
    use std::os::unix::fs::FileExt;
    let file = std::fs::File::create(to).unwrap();
    file.set_len(dev.len()).unwrap();
    let mut bytes = vec![0; 1 << 16];
    let mut at = 0;
    while at < dev.len() {
        let n = (dev.len() - at).min(bytes.len() as u64) as usize;
        dev.read_at(at, &mut bytes[..n]).unwrap();
        if bytes[..n].iter().any(|&b| b != 0) {
            file.write_all_at(&bytes[..n], at).unwrap();
        }
        at += n as u64;
    }
}

fn is_zero(vol: &Volume, block: u64) -> bool {
    let size = u64::from(vol.geometry().block_size);
    let mut bytes = vec![0; size as usize];
    vol.device().read_at(block * size, &mut bytes).unwrap();
    bytes.iter().all(|&b| b == 0)
}

/// Fills all free blocks.
fn soil(mut disk: CowDisk) -> CowDisk {
    let fs = Fs::open(&disk).unwrap();
    let geo = *fs.geometry();
    let mut free = Vec::new();
    for g in fs.groups() {
        let bits = fs.block_bitmap(g).unwrap();
        let start = fs.geometry().group_start(GroupNr(g.0));
        for c in 0..geo.clusters_in(g) as usize {
            if bits[c / 8] & 1 << (c % 8) == 0 {
                let at = start.0 + c as u64 * u64::from(geo.cluster_blocks);
                free.push(BlockNr(at));
            }
        }
    }
    drop(fs);
    let size = u64::from(geo.block_size);
    for at in free {
        let len = u64::from(geo.cluster_blocks).min(geo.blocks - at.0) * size;
        disk.write_pattern(at.0 * size, len, 1, 0).unwrap();
    }
    disk
}

/// Entries of each node of a tree, by levels from the root down.
#[derive(Default)]
struct Shape(Vec<Vec<u32>>);

impl MapVisitor for Shape {
    fn node(&mut self, node: &NodeInfo) {
        if self.0.is_empty() {
            self.0 = vec![Vec::new(); usize::from(node.level) + 1];
        }
        let depth = self.0.len() - 1;
        self.0[depth - usize::from(node.level)].push(node.entries);
    }

    fn problem(&mut self, problem: Problem) {
        panic!("{problem}");
    }
}

impl Lab {
    /// Entries of each node of a file's map, by levels from the root down.
    pub fn shape(&mut self, n: usize) -> Vec<Vec<u32>> {
        self.sync();
        let fs = Fs::open(self.vol.device()).unwrap();
        let mut shape = Shape::default();
        fs.walk_map(&fs.inode(self.files[n].0.nr).unwrap(), &mut shape);
        shape.0
    }

    /// Extents of a file: first block, blocks, whether unwritten.
    pub fn extents(&mut self, n: usize) -> Vec<(u32, u32, bool)> {
        self.sync();
        let fs = Fs::open(self.vol.device()).unwrap();
        let runs = fs.runs(&fs.inode(self.files[n].0.nr).unwrap()).runs;
        runs.iter()
            .map(|r| (r.lblk.0, r.len, r.unwritten))
            .collect()
    }

    /// Everything that happened since the last time.
    pub fn events(&mut self) -> Vec<What> {
        let events = self.vol.events.take();
        events.into_iter().map(|e| e.what).collect()
    }
}
