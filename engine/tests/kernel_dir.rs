//! Directories that fslab's kernel made, judged by e2fsck and read by the real kernel.

mod kernel_bench;

use fslab_engine::ext4::layout::InodeFlags;
use fslab_engine::kernel::{Errno, InodeInfo, Volume, alloc, dir};
use fslab_engine::units::InodeNr;
use kernel_bench::{Image, Kind, fill_up, fsck, link, make, new_inode, save, with_mount};
use std::collections::BTreeSet;

const KINDS: &[Kind] = &[
    Kind::new(&[], 1024),
    Kind {
        hash: 2,
        unsigned: true,
        ..Kind::new(&[], 4096)
    },
    Kind {
        hash: 0,
        ..Kind::new(&["^metadata_csum"], 1024)
    },
    Kind::new(&["^metadata_csum", "^filetype"], 4096),
    Kind::new(&["^dir_index"], 1024),
    Kind::new(&["^extent,^64bit,^flex_bg", "^metadata_csum"], 1024),
    Kind::new(&["large_dir"], 1024),
    Kind::new(&["bigalloc"], 4096),
    Kind::new(&["^has_journal"], 65536),
    Kind::new(&["^has_journal", "^metadata_csum"], 65536),
];

/// A small random generator (SplitMix64), the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A name of any length, of any bytes but zero and the slash.
    fn name(&mut self) -> Vec<u8> {
        let len = match self.below(4) {
            0 => 1 + self.below(255),
            _ => 1 + self.below(40),
        };
        let byte = |r: u64| match (r % 255) as u8 + 1 {
            b'/' => b'!',
            b => b,
        };
        let name: Vec<u8> = (0..len).map(|_| byte(self.next())).collect();
        if matches!(&name[..], b"." | b"..") {
            return b"dot".to_vec();
        }
        name
    }
}

struct Bench {
    vol: Volume,
    dir: InodeInfo,
    file: InodeInfo,
    names: BTreeSet<Vec<u8>>,
}

impl Bench {
    fn new(kind: Kind) -> Self {
        let mut vol = make(kind, 32);
        let mut dir = new_inode(&mut vol, 0o40755);
        dir.raw.set_i_links_count(2);
        dir::init(&mut vol, &mut dir, InodeNr(2)).unwrap();
        link(&mut vol, "dir", &mut dir);
        let mut file = new_inode(&mut vol, 0o100_644);
        link(&mut vol, "file", &mut file);
        Self {
            vol,
            dir,
            file,
            names: BTreeSet::new(),
        }
    }

    fn add(&mut self, name: Vec<u8>) {
        if self.names.insert(name.clone()) {
            dir::add(&mut self.vol, &mut self.dir, &name, self.file.nr, 1).unwrap();
        }
    }

    fn remove(&mut self, name: &[u8]) {
        if self.names.remove(name) {
            dir::remove(&mut self.vol, &mut self.dir, name)
                .unwrap()
                .unwrap();
        }
    }

    /// Judged by e2fsck, and as the kernel lists and changes it.
    fn check(&mut self, kind: Kind) {
        let Some(image) = self.judge(kind) else {
            return;
        };
        // The kernel finds each, adds, removes, and leaves a sound directory.
        if with_mount(&image.path(), "rw", CHANGE).is_some() {
            fsck(&image.path(), &format!("{kind:?}, after the kernel"));
        }
    }

    /// Judged by e2fsck, and as the kernel lists it.
    fn judge(&mut self, kind: Kind) -> Option<Image> {
        let links = self.names.len() as u16 + 1;
        self.file.raw.set_i_links_count(links);
        self.vol.write_inode(&mut self.file).unwrap();
        self.vol.write_inode(&mut self.dir).unwrap();
        let image = Image::new();
        save(&mut self.vol, &image.path());
        fsck(&image.path(), &format!("{kind:?}"));
        let listed = with_mount(&image.path(), "ro", LIST)?;
        // In the same order, too.
        let ours = dir::entries(&mut self.vol, &self.dir).unwrap();
        let names = ours.iter().map(|e| &e.name[..]);
        let ours: Vec<String> = names
            .filter(|n| !matches!(*n, b"." | b".."))
            .map(hex)
            .collect();
        let mut listed: Vec<&str> = listed.lines().collect();
        assert!(listed == ours, "{kind:?}");
        listed.sort_unstable();
        let expected: Vec<String> = self.names.iter().map(|n| hex(n)).collect();
        assert_eq!(listed, expected, "{kind:?}");
        Some(image)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

const LIST: &str = r#"
import os
for name in os.listdir(b"dir"): print(name.hex())
"#;

const CHANGE: &str = r#"
import os
for i, name in enumerate(sorted(os.listdir(b"dir"))):
    assert os.path.samefile(b"dir/" + name, b"file")
    if i % 3 == 0: os.unlink(b"dir/" + name)
for i in range(2000): os.link("file", "dir/by the kernel %d" % i)
"#;

#[test]
fn random_names_are_sound_for_e2fsck_and_the_kernel() {
    for (seed, &kind) in KINDS.iter().enumerate() {
        let mut random = Random(seed as u64);
        let mut bench = Bench::new(kind);
        for round in 0..6 {
            for _ in 0..800 {
                let name = random.name();
                bench.add(name);
            }
            let names: Vec<_> = bench.names.iter().cloned().collect();
            for name in names {
                if random.below(3) == 0 && round % 2 == 1 {
                    bench.remove(&name);
                }
            }
        }
        bench.check(kind);
    }
}

#[test]
fn deep_trees_are_sound_for_e2fsck_and_the_kernel() {
    for (features, count) in [(&[][..], 20_000u32), (&["large_dir"][..], 60_000)] {
        let kind = Kind::new(features, 1024);
        let mut bench = Bench::new(kind);
        for n in 0..count {
            bench.add(format!("{n:0100}").into_bytes());
        }
        bench.check(kind);
    }
}

/// Without space, names that do not fit are refused and all others stay.
#[test]
fn a_full_filesystem_leaves_sound_directories() {
    for leave in 0..6 {
        for names_before in [0, 900] {
            let kind = Kind::new(&[], 1024);
            let mut bench = Bench::new(kind);
            let name = |n: u32| format!("{n:0150}").into_bytes();
            for n in 0..names_before {
                bench.add(name(n));
            }
            fill_up(&mut bench.vol, leave);
            for n in names_before.. {
                match dir::add(&mut bench.vol, &mut bench.dir, &name(n), bench.file.nr, 1) {
                    Ok(()) => bench.names.insert(name(n)),
                    Err(e) => {
                        assert_eq!(e, Errno::ENOSPC);
                        break;
                    }
                };
            }
            for n in 0..300 {
                let added = dir::add(
                    &mut bench.vol,
                    &mut bench.dir,
                    &name(n + 5000),
                    bench.file.nr,
                    1,
                );
                if added.is_ok() {
                    bench.names.insert(name(n + 5000));
                }
            }
            bench.judge(kind);
        }
    }
}

/// Directories that the kernel keeps inside inodes: read, changed there, and moved to
/// blocks when they grow.
#[test]
fn inline_directories_of_the_kernel_are_read_and_changed() {
    const MAKE: &str = r#"
import os
for i in range(12):
    os.mkdir("d%d" % i)
    for j in range(i): os.mknod("d%d/file%d" % (i, j))
os.setxattr("d3", "user.x", b"beside the contents")
"#;
    const LIST: &str = r#"
import os
for i in range(12):
    print(i, *sorted(os.listdir("d%d" % i)))
"#;
    let image = Image::new();
    save(
        &mut make(Kind::new(&["inline_data"], 4096), 16),
        &image.path(),
    );
    if with_mount(&image.path(), "rw", MAKE).is_none() {
        return;
    }
    let mut vol = kernel_bench::open(&image.path());
    let root = vol.read_inode(InodeNr(2)).unwrap();
    let mut expected = Vec::new();
    let mut inline = 0;
    for i in 0..12u32 {
        let name = format!("d{i}");
        let found = dir::lookup(&mut vol, &root, name.as_bytes())
            .unwrap()
            .unwrap();
        let mut inode = vol.read_inode(found.inode).unwrap();
        inline += u32::from(inode.has(InodeFlags::INLINE_DATA));
        let listed = dir::entries(&mut vol, &inode).unwrap();
        assert_eq!(listed.len() as u32, i + 2);
        assert_eq!(dir::is_empty(&mut vol, &inode), Ok(i == 0));
        let parent = dir::lookup(&mut vol, &inode, b"..").unwrap().unwrap();
        assert_eq!(parent.inode, InodeNr(2));
        let mut names: BTreeSet<String> = (0..i).map(|j| format!("file{j}")).collect();
        if i % 3 == 0 {
            // One name less, and another for its file.
            if let Some(gone) = names.pop_last() {
                let gone = dir::remove(&mut vol, &mut inode, gone.as_bytes())
                    .unwrap()
                    .unwrap();
                let new = format!("a longer name for it {i}");
                dir::add(&mut vol, &mut inode, new.as_bytes(), gone.inode, 1).unwrap();
                names.insert(new);
            }
        } else if i % 3 == 1 {
            for j in 0..i {
                let name = format!("file{j}");
                let gone = dir::remove(&mut vol, &mut inode, name.as_bytes())
                    .unwrap()
                    .unwrap();
                // The file itself goes with its name.
                let mut file = vol.read_inode(gone.inode).unwrap();
                file.raw.set_i_links_count(0);
                file.raw.set_i_dtime(1_700_000_000);
                vol.write_inode(&mut file).unwrap();
                alloc::free_inode(&mut vol, gone.inode, false).unwrap();
            }
            names.clear();
        }
        vol.write_inode(&mut inode).unwrap();
        let names: String = names.iter().map(|n| format!(" {n}")).collect();
        expected.push(format!("{i}{names}"));
    }
    assert!(inline > 6, "the kernel keeps them inside inodes");
    save(&mut vol, &image.path());
    fsck(&image.path(), "inline directories");
    if let Some(listed) = with_mount(&image.path(), "ro", LIST) {
        assert_eq!(listed.lines().collect::<Vec<_>>(), expected);
    }
}

#[test]
#[ignore = "a measurement"]
fn how_long_a_hundred_thousand_names_take() {
    let mut bench = Bench::new(Kind::new(&[], 4096));
    let names: Vec<Vec<u8>> = (0..100_000)
        .map(|n| format!("file{n}").into_bytes())
        .collect();
    let start = std::time::Instant::now();
    for name in &names {
        dir::add(&mut bench.vol, &mut bench.dir, name, bench.file.nr, 1).unwrap();
    }
    let added = start.elapsed();
    for name in &names {
        dir::lookup(&mut bench.vol, &bench.dir, name)
            .unwrap()
            .unwrap();
    }
    let found = start.elapsed() - added;
    for name in &names {
        dir::remove(&mut bench.vol, &mut bench.dir, name)
            .unwrap()
            .unwrap();
    }
    let removed = start.elapsed() - added - found;
    eprintln!("added in {added:?}, found in {found:?}, removed in {removed:?}");
}
