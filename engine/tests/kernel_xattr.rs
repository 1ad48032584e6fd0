//! Attributes that fslab's kernel set, judged by e2fsck and read by the real kernel.

mod kernel_bench;

use fslab_engine::kernel::xattr::{self, SetFlags};
use fslab_engine::kernel::{Errno, InodeInfo, Volume, dir};
use fslab_engine::units::InodeNr;
use kernel_bench::{Image, Kind, fill_up, fsck, link, make, new_inode, save, with_mount};
use std::collections::BTreeMap;

const KINDS: &[Kind] = &[
    Kind::new(&[], 1024),
    Kind::new(&[], 4096),
    Kind {
        inode_size: 128,
        ..Kind::new(&["^metadata_csum"], 1024)
    },
    Kind {
        inode_size: 1024,
        ..Kind::new(&["ea_inode"], 4096)
    },
    Kind::new(&["ea_inode", "^metadata_csum"], 1024),
    Kind::new(&["^extent,^64bit,^flex_bg", "ea_inode"], 1024),
    Kind::new(&["bigalloc", "ea_inode"], 4096),
    Kind::new(&["^has_journal"], 65536),
];

/// A small random generator (SplitMix64), the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % n
    }

    fn name(&mut self) -> Vec<u8> {
        match self.below(10) {
            0..6 => format!("user.{}", self.below(12)).into_bytes(),
            6 => format!("trusted.{}", self.below(4)).into_bytes(),
            7 => format!("security.{}", self.below(4)).into_bytes(),
            8 => format!("user.ä{}", self.below(3)).into_bytes(),
            _ => {
                let mut name = format!("user.{}", self.below(3)).into_bytes();
                name.resize(6 + self.below(249) as usize, b'x');
                name
            }
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let len = match self.below(20) {
            0..12 => self.below(60),
            12..19 => self.below(700),
            _ => self.below(65_537),
        };
        vec![self.below(2) as u8; len as usize]
    }
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

const FILES: usize = 12;

struct Bench {
    vol: Volume,
    inodes: Vec<InodeInfo>,
    models: Vec<Model>,
}

impl Bench {
    fn new(kind: Kind) -> Self {
        let mut vol = make(kind, 32);
        let mut inodes = Vec::new();
        for n in 0..FILES {
            let is_dir = n % 4 == 0;
            let mut inode = new_inode(&mut vol, if is_dir { 0o40755 } else { 0o100_644 });
            if is_dir {
                inode.raw.set_i_links_count(2);
                dir::init(&mut vol, &mut inode, InodeNr(2)).unwrap();
            }
            link(&mut vol, &format!("{n}"), &mut inode);
            inodes.push(inode);
        }
        Self {
            vol,
            inodes,
            models: vec![Model::new(); FILES],
        }
    }

    fn step(&mut self, random: &mut Random) {
        let file = random.below(FILES as u64) as usize;
        let name = random.name();
        let (inode, model) = (&mut self.inodes[file], &mut self.models[file]);
        let flags = SetFlags::empty();
        if random.below(10) < 7 {
            let value = random.value();
            match xattr::set(&mut self.vol, inode, &name, Some(&value), flags) {
                Ok(()) => {
                    model.insert(name, value);
                }
                Err(e) => assert_eq!(e, Errno::ENOSPC),
            }
        } else if model.remove(&name).is_some() {
            xattr::set(&mut self.vol, inode, &name, None, SetFlags::REPLACE).unwrap();
        }
    }

    /// Judged by e2fsck, and as the kernel reads and changes it.
    fn check(&mut self, kind: Kind) {
        let Some(image) = self.judge(kind) else {
            return;
        };
        if with_mount(&image.path(), "rw", CHANGE).is_some() {
            fsck(&image.path(), &format!("{kind:?}, after the kernel"));
        }
    }

    /// Judged by e2fsck, and as the kernel reads it.
    fn judge(&mut self, kind: Kind) -> Option<Image> {
        for inode in &mut self.inodes {
            self.vol.write_inode(inode).unwrap();
        }
        let image = Image::new();
        save(&mut self.vol, &image.path());
        fsck(&image.path(), &format!("{kind:?}"));
        let listed = with_mount(&image.path(), "ro", LIST)?;
        let mut expected = Vec::new();
        for (file, model) in self.models.iter().enumerate() {
            for (name, value) in model {
                expected.push(format!("{file} {} {}", hex(name), hex(value)));
            }
        }
        expected.sort();
        let listed: Vec<&str> = listed.lines().collect();
        assert_eq!(listed.len(), expected.len(), "{kind:?}");
        for (l, e) in listed.iter().zip(&expected) {
            assert_eq!(l, e, "{kind:?}");
        }
        Some(image)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

const LIST: &str = r#"
import os
lines = []
for f in os.listdir(b"."):
    if f in (b"lost+found", b"hog"): continue
    for name in os.listxattr(f):
        value = os.getxattr(f, name)
        lines.append("%s %s %s" % (f.decode(), os.fsencode(name).hex(), value.hex()))
for line in sorted(lines): print(line)
"#;

const CHANGE: &str = r#"
import os
for i, f in enumerate(sorted(os.listdir(b"."))):
    for j, name in enumerate(os.listxattr(f)):
        if j % 3 == 0: os.removexattr(f, name)
        if j % 3 == 1: os.setxattr(f, name, b"by the kernel")
    try: os.setxattr(f, "user.new", b"x" * 300)
    except OSError as e: assert e.errno == 28, e
for f in os.listdir(b"."):
    if os.path.isfile(f): os.unlink(f)
"#;

#[test]
fn random_attributes_are_sound_for_e2fsck_and_the_kernel() {
    for (seed, &kind) in KINDS.iter().enumerate() {
        let mut random = Random(seed as u64);
        let mut bench = Bench::new(kind);
        for _ in 0..1500 {
            bench.step(&mut random);
        }
        bench.check(kind);
    }
}

/// Without space, attributes that do not fit are refused and all others stay.
#[test]
fn a_full_filesystem_leaves_sound_attributes() {
    for kind in [KINDS[0], KINDS[4], KINDS[5]] {
        for leave in 0..12 {
            let mut random = Random(leave);
            let mut bench = Bench::new(kind);
            for _ in 0..100 {
                bench.step(&mut random);
            }
            fill_up(&mut bench.vol, leave);
            for _ in 0..100 {
                bench.step(&mut random);
            }
            bench.judge(kind);
        }
    }
}

/// Deleting gives everything back.
#[test]
fn what_is_released_is_free_for_e2fsck() {
    for (seed, &kind) in KINDS.iter().enumerate() {
        let mut random = Random(100 + seed as u64);
        let mut bench = Bench::new(kind);
        for _ in 0..300 {
            bench.step(&mut random);
        }
        for file in 0..FILES {
            let inode = &mut bench.inodes[file];
            xattr::release(&mut bench.vol, inode).unwrap();
            // The body's attributes go with the inode, which stays here.
            let body = 128 + usize::from(inode.raw.i_extra_isize());
            inode.raw.0.get_mut(body..).unwrap_or_default().fill(0);
            bench.models[file].clear();
        }
        bench.check(kind);
    }
}

/// The kernel's own blocks and value inodes are read, changed and left sound.
#[test]
fn attributes_that_the_kernel_set_are_changed() {
    const MAKE: &str = r#"
import os
for i in range(20):
    name = "f%d" % i
    os.mknod(name)
    os.setxattr(name, "user.same", b"s" * 400)
    os.setxattr(name, "user.long", b"l" * (5000 if i % 2 else 500))
    os.setxattr(name, "trusted.\u00e4", b"%d" % (i % 3))
"#;
    for kind in [Kind::new(&[], 4096), Kind::new(&["ea_inode"], 4096)] {
        let image = Image::new();
        save(&mut make(kind, 16), &image.path());
        let program = if kind.features.is_empty() {
            MAKE.replace("5000", "2500")
        } else {
            MAKE.to_string()
        };
        if with_mount(&image.path(), "rw", &program).is_none() {
            return;
        }
        let mut vol = kernel_bench::open(&image.path());
        let root = vol.read_inode(InodeNr(2)).unwrap();
        for i in 0..20 {
            let name = format!("f{i}");
            let found = dir::lookup(&mut vol, &root, name.as_bytes()).unwrap();
            let mut inode = vol.read_inode(found.unwrap().inode).unwrap();
            let same = xattr::get(&mut vol, &inode, b"user.same").unwrap();
            assert_eq!(same, [b's'; 400]);
            let long = xattr::get(&mut vol, &inode, b"user.long").unwrap();
            assert!(long.iter().all(|&b| b == b'l') && long.len() >= 500);
            let third = xattr::get(&mut vol, &inode, "trusted.ä".as_bytes()).unwrap();
            assert_eq!(third, format!("{}", i % 3).as_bytes());
            let flags = SetFlags::empty();
            match i % 4 {
                0 => xattr::set(&mut vol, &mut inode, b"user.long", None, flags).unwrap(),
                1 => xattr::set(&mut vol, &mut inode, b"user.same", Some(&long), flags)
                    .or_else(|e| if e == Errno::ENOSPC { Ok(()) } else { Err(e) })
                    .unwrap(),
                2 => xattr::set(&mut vol, &mut inode, b"user.more", Some(b"m"), flags).unwrap(),
                _ => xattr::set(&mut vol, &mut inode, b"user.same", Some(b""), flags).unwrap(),
            }
            vol.write_inode(&mut inode).unwrap();
        }
        save(&mut vol, &image.path());
        fsck(&image.path(), &format!("{kind:?}"));
        with_mount(&image.path(), "rw", CHANGE);
        fsck(&image.path(), &format!("{kind:?}, after the kernel"));
    }
}

/// ACLs as calls give them to the kernel and get them from it.
#[test]
fn acls_are_those_that_the_kernel_reads() {
    let rule = |tag: u16, perm: u16, id: u32| {
        [
            &tag.to_le_bytes()[..],
            &perm.to_le_bytes(),
            &id.to_le_bytes(),
        ]
        .concat()
    };
    let acl = |rules: &[Vec<u8>]| [&2u32.to_le_bytes()[..], &rules.concat()].concat();
    let none = !0u32;
    let value = acl(&[
        rule(1, 7, none),
        rule(2, 5, 1000),
        rule(2, 4, 1001),
        rule(4, 5, none),
        rule(8, 6, 100),
        rule(16, 7, none),
        rule(32, 0, none),
    ]);
    let mut vol = make(Kind::new(&[], 4096), 16);
    let mut inode = new_inode(&mut vol, 0o40755);
    inode.raw.set_i_links_count(2);
    dir::init(&mut vol, &mut inode, InodeNr(2)).unwrap();
    let flags = SetFlags::empty();
    for name in ["system.posix_acl_access", "system.posix_acl_default"] {
        xattr::set(&mut vol, &mut inode, name.as_bytes(), Some(&value), flags).unwrap();
    }
    link(&mut vol, "d", &mut inode);
    let mut child = new_inode(&mut vol, 0o100_666);
    xattr::acl_inherit(&mut vol, &inode, &mut child, 0o022).unwrap();
    link(&mut vol, "ours", &mut child);
    let image = Image::new();
    save(&mut vol, &image.path());
    fsck(&image.path(), "ACLs");
    const LIST: &str = r#"
import os
for name in ("access", "default"): print(os.getxattr("d", "system.posix_acl_" + name).hex())
print(oct(os.stat("d").st_mode))
os.close(os.open("d/theirs", os.O_CREAT | os.O_WRONLY, 0o666))
for f in ("ours", "d/theirs"):
    print(os.getxattr(f, "system.posix_acl_access").hex(), oct(os.stat(f).st_mode))
"#;
    let Some(listed) = with_mount(&image.path(), "rw", LIST) else {
        return;
    };
    let lines: Vec<&str> = listed.lines().collect();
    assert_eq!(lines[..3], [&hex(&value), &hex(&value), "0o40770"]);
    assert_eq!(
        lines[3], lines[4],
        "what the kernel lets a new file inherit"
    );
}
